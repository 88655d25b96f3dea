import numpy as np


def newton_sqrt(a):
    x = a
    while np.abs(x * x - a) > 1e-12 * a:
        x = 0.5 * (x + a / x)
    return x


# order: 2
# inputs: (2.0,), (7.5,)
# output


import overt.numpy as np
from overt.runtime import add, Saved


def newton_sqrt_grad_grad(a):
    # forward
    x = a
    saved = Saved()
    while np.abs(x * x - a) > 1e-12 * a:  # while_loop_twice.py:6
        saved.push(x)
        x = 0.5 * (x + a / x)
    x_bar = np.ones_like(x)
    saved_1 = Saved()
    for x in saved.reversed():  # undoes while_loop_twice.py:6
        total_bar = 0.5 * x_bar
        saved_1.push(x, total_bar)
        x_bar = total_bar - total_bar * a / x**2
    # reverse
    x_bar_bar = 1.0
    a_bar_bar = 1.0
    a_bar = 0.0
    saved_bars = Saved()
    for x, total_bar in saved_1.reversed():
        x_squared = x**2
        product_bar = -(x_bar_bar / x_squared)
        a_bar = a_bar + product_bar * total_bar
        x_bar = 2 * x_bar_bar * (total_bar * a) / x_squared**2 * x
        saved_bars.push(x_bar - a_bar_bar * total_bar / x_squared)
        x_bar_bar = 0.5 * (x_bar_bar + product_bar * a + a_bar_bar / x)
    x_bar = 0.0
    for x, x_bar_1 in zip(saved.reversed(), saved_bars.reversed()):  # undoes while_loop_twice.py:6
        total_bar = 0.5 * x_bar
        a_bar = a_bar + total_bar / x
        x_bar = add(total_bar - total_bar * a / x**2, x_bar_1)
    return add(a_bar, x_bar)
