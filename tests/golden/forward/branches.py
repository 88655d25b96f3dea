import numpy as np


# inputs: (0.7, 0.4), (0.3, 0.4), (-0.3, 0.4)
def branches(x, y):
    if x > y:
        z = np.sin(x) * y  # above
    elif x > 0:
        z = x**2
    else:
        z = y
    return z * x, y
# output


import overt.numpy as np


def branches_jvp(x, y, x_dot, y_dot):
    if x > y:
        sin_x = np.sin(x)
        z = sin_x * y  # above
        z_dot = x_dot * np.cos(x) * y + y_dot * sin_x
    elif x > 0:
        z = x**2
        z_dot = 2 * x_dot * x
    else:
        z = y
        z_dot = y_dot
    return (z * x, y), (z_dot * x + x_dot * z, y_dot)
