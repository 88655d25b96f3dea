import numpy as np


def prefix(x):
    for i in range(1, len(x)):
        x[i] += 0.9 * x[i - 1]
    return np.sum(x**2)


# inputs: (np.array([1.0, -2.0, 0.5]),),
# output


from overt.runtime import add, erase, place, Saved, set_item, taken


def prefix_grad(x):
    # forward
    x_1 = x
    saved = Saved()
    for i in range(1, len(x)):  # store.py:5
        total = x_1[i] + 0.9 * x_1[i - 1]
        saved = saved.pushed(x_1, i, total)
        x_1 = set_item(x_1, i, total)
    # reverse
    x_bar = 2 * x_1
    for x, i, total in saved.reversed():  # undoes store.py:5
        total_bar = taken(x_bar, i, total)
        x_bar = add(erase(x_bar, i), place(0.9 * total_bar, x, i - 1))
        x_bar = add(x_bar, place(total_bar, x, i))
    return x_bar
