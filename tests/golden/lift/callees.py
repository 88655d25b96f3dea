import math

import numpy as np

# inputs: (1.5, np.sin, [0.5, 2.0]), (-0.5, np.cos, [1.0])


def leaky(x):
    return x if x > 0 else 0.1 * x


def straight(x):
    return np.sin(x) * math.pi


def callees(x, f, xs):
    def twice(v):
        return leaky(leaky(v))

    y = twice(x) + straight(x) + f(x)
    return y + sum(map(leaky, xs)) + np.array([x, y]).max()
# output


import overt.numpy as np
from overt.runtime import if_else, lifted


def leaky_lifted(x):
    return if_else(x > 0, lambda: x, lambda: 0.1 * x)


def callees_lifted(x, f, xs):
    def twice(v):
        return leaky_lifted(leaky_lifted(v))

    y = twice(x) + straight(x) + lifted(f)(x)
    return y + sum(map(leaky_lifted, xs)) + np.array([x, y]).max()
