import numpy as np


def outer(a, x):
    def scale(v):
        return a * np.sin(v) + x

    return scale(x) * scale(2.0 * x)


# argnums: (0, 1)
# inputs: (0.6, 0.4),
# output


import overt.numpy as np
from overt.runtime import sum_to


def scale(a, x, v):
    return a * np.sin(v) + x


def scale_bwd(a, x, v, out_bar):
    return sum_to(out_bar * np.sin(v), a), sum_to(out_bar, x), sum_to(out_bar * a * np.cos(v), v)


def outer_grad(a, x):
    # forward
    product = 2.0 * x
    # reverse
    a_bar, x_bar, product_bar = scale_bwd(a, x, product, scale(a, x, x))
    a_bar_1, x_bar_1, x_bar_2 = scale_bwd(a, x, x, scale(a, x, product))
    return a_bar + a_bar_1, x_bar + 2.0 * product_bar + x_bar_1 + x_bar_2
