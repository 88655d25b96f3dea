import numpy as np


def prefix(x):
    for i in range(1, len(x)):
        x[i] += 0.9 * x[i - 1]
    return np.sum(x**2)


# inputs: (np.array([1.0, -2.0, 0.5]),),
# output


from overt.runtime import add_at, Saved, set_item, withdrawn


def prefix_grad(x):
    # forward
    x_new = x
    saved = Saved()
    for i in range(1, len(x)):  # store.py:5
        total = x_new[i] + 0.9 * x_new[i - 1]
        saved.push(i, total)
        x_new = set_item(x_new, i, total)
    # reverse
    x_bar = 2 * x_new
    for i, total in saved.reversed():  # undoes store.py:5
        total_bar, x_bar = withdrawn(x_bar, i, total)
        x_bar = add_at(add_at(x_bar, i - 1, 0.9 * total_bar), i, total_bar)
    return x_bar
