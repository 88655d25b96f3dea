import numpy as np


# inputs: (np.array([0.5, 2.0, -1.0]), 4),
# in_axes: (0, None)


def bounce(v, steps):
    h = 1.0
    for _ in range(steps):
        h = h + 0.5 * v
        v = v - 4.0
        if h < 0.0:
            v = -0.8 * v
            h = -h
    return h
# output


import overt.numpy as np
from overt.runtime import batched


@batched(in_axes=(0, None))
def bounce_batched(v, steps):  # v: batch on axis 0
    h = 1.0
    for _ in range(steps):
        h = h + 0.5 * v
        v = v - 4.0
        mask = h < 0.0
        v = np.where(mask, -0.8 * v, v)
        h = np.where(mask, -h, h)
    return h
