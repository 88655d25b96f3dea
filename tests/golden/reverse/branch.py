import numpy as np


def piecewise(x):
    if x < 3.0:
        return 3.0 * x**2
    return np.sin(x) - 4.0 * x


# inputs: (2.0,), (4.0,)
# output


import overt.numpy as np


def piecewise_grad(x):
    # forward
    x_below = x < 3.0
    if x_below:
        result = 3.0 * x**2
    else:
        result = np.sin(x) - 4.0 * x
    # reverse
    result_bar = np.ones_like(result)
    if x_below:
        x_bar = 6.0 * result_bar * x
    else:
        x_bar = result_bar * np.cos(x) - 4.0 * result_bar
    return x_bar
