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
        x_bar = total_bar - total_bar * a / x / x
    # reverse
    x_bar_bar = 1.0
    a_bar_bar = 1.0
    a_bar = 0.0
    saved_bars = Saved()
    for x, total_bar in saved_1.reversed():
        ratio = total_bar * a / x
        ratio_bar = -(x_bar_bar / x)
        product_bar = ratio_bar / x
        a_bar = a_bar + product_bar * total_bar
        x_bar = x_bar_bar * ratio / x / x - ratio_bar * ratio / x
        saved_bars.push(x_bar - a_bar_bar * total_bar / x / x)
        x_bar_bar = 0.5 * (x_bar_bar + product_bar * a + a_bar_bar / x)
    x_bar = 0.0
    for x, x_bar_1 in zip(saved.reversed(), saved_bars.reversed()):  # undoes while_loop_twice.py:6
        total_bar = 0.5 * x_bar
        a_bar = a_bar + total_bar / x
        x_bar = add(total_bar - total_bar * a / x / x, x_bar_1)
    return add(a_bar, x_bar)
