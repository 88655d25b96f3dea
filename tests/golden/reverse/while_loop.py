import numpy as np


def newton_sqrt(a):
    x = a
    while np.abs(x * x - a) > 1e-6 * a:
        x = 0.5 * (x + a / x)      # Heron's step
    return x


# inputs: (2.0,), (7.5,)
# output


import overt.numpy as np
from overt.runtime import Saved


def newton_sqrt_grad(a):
    # forward
    x = a
    saved = Saved()
    while np.abs(x * x - a) > 1e-6 * a:  # while_loop.py:6
        saved.push(x)
        x = 0.5 * (x + a / x)  # Heron's step
    # reverse
    x_bar = np.ones_like(x)
    a_bar = 0.0
    for x in saved.reversed():  # undoes while_loop.py:6
        total_bar = 0.5 * x_bar
        a_bar = a_bar + total_bar / x
        x_bar = total_bar - total_bar * a / x / x
    return a_bar + x_bar
