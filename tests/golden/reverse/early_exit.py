import numpy as np


def march(x, limit):
    total = 0.0
    for k in range(20):
        total = total + np.sin(x * k)
        if total > limit:
            break
    return total * x


# inputs: (0.3, 1.5), (0.3, 99.0)
# output


import overt.numpy as np
from overt.runtime import Saved


def march_grad(x, limit):
    # forward
    total = 0.0
    saved = Saved()
    for k in range(20):  # early_exit.py:6
        saved.push(k)
        total = total + np.sin(x * k)
        stopped = total > limit
        if stopped:
            break
    # reverse
    total_bar = x
    x_bar = total
    for k in saved.reversed():  # undoes early_exit.py:6
        x_bar = x_bar + total_bar * np.cos(x * k) * k
    return x_bar
