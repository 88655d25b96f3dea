import numpy as np


# inputs: (2.5,), (9.0,)
def newton_sqrt(a):
    x = a
    while np.abs(x * x - a) > 1e-6 * a:
        x = 0.5 * (x + a / x)      # Heron's step
    return x
# output


def newton_sqrt_jvp(a, a_dot):
    x = a
    x_dot = a_dot
    while np.abs(x * x - a) > 1e-6 * a:
        ratio = a / x
        x_dot = 0.5 * (x_dot + a_dot / x - x_dot * ratio / x)
        x = 0.5 * (x + ratio)  # Heron's step
    return x, x_dot
