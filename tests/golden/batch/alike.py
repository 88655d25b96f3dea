import numpy as np

# inputs: (np.arange(12.0).reshape(4, 3), np.ones((2, 3)), 3),
# in_axes: (0, None, None)


def alike(x, w, n):
    h = w @ x
    if n > 2:  # the same in every lane
        h = h * n
    for i in range(n):
        if x.shape[0] > i:
            h = h + x[i]
    return np.max(h)
# output


from overt.runtime import batched


@batched(in_axes=(0, None, None))
def alike_batched(x, w, n):  # x: batch on axis 0
    h = w @ x
    if n > 2:  # the same in every lane
        h = h * n
    for i in range(n):
        if x.shape[0] > i:
            h = h + x[i]
    return np.max(h)
