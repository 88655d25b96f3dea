import numpy as np


def bounce(v, h, steps):
    for _ in range(steps):
        h = h + 0.1 * v
        v = v - 0.981
        if h < 0.0:  # below the floor
            h = -h
            v = -0.8 * v
    return h * h


# argnums: (0, 1)
# inputs: (2.0, 1.0, 9), (2.0, 1.0, 2)
# output


from overt.runtime import Saved


def bounce_grad(v, h, steps):
    # forward
    saved = Saved()
    for _ in range(steps):  # branch_in_loop.py:5
        h = h + 0.1 * v
        v = v - 0.981
        h_below = h < 0.0
        saved.push(h_below)
        if h_below:  # below the floor
            h = -h
            v = -0.8 * v
    # reverse
    h_bar = 2.0 * h
    v_bar = 0.0
    for h_below in saved.reversed():  # undoes branch_in_loop.py:5
        if h_below:
            v_bar = -0.8 * v_bar
            h_bar = -h_bar
        v_bar = v_bar + 0.1 * h_bar
    return v_bar, h_bar
