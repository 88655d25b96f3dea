import numpy as np


def filtered(xs, decay):
    state = np.zeros(2)
    for x in xs:
        state = decay * state + np.tanh(x)
    return np.sum(state)


# argnums: (0, 1)
# inputs: (np.array([[0.1, 0.2], [0.3, 0.4], [0.5, -0.6]]), 0.7),
# output


import overt.numpy as np
from overt.runtime import rows, Saved, sum_to, zeros_like_tree


def filtered_grad(xs, decay):
    # forward
    state = np.zeros(2)
    saved = Saved()
    for x in xs:  # rows_of_an_array.py:6
        tanh_x = np.tanh(x)
        saved.push(state, x, tanh_x)
        state = decay * state + tanh_x
    # reverse
    state_bar = np.full_like(state, 1.0)
    decay_bar = zeros_like_tree(decay)
    xs_bars = Saved()
    for state, x, tanh_x in saved.reversed():  # undoes rows_of_an_array.py:6
        decay_bar = decay_bar + sum_to(state_bar * state, decay)
        xs_bars.push(sum_to(state_bar * (1 - tanh_x**2), x))
        state_bar = sum_to(state_bar * decay, state)
    return rows(xs_bars, xs), decay_bar
