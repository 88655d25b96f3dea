import numpy as np

# inputs: (np.array([0.4, -1.2, 0.9, -0.3]),), (np.array([3.0, 2.0, 1.0, 0.5]),)


def stores(x):
    flips = 0
    for i in range(4):
        if x[i] < 0:
            x[i] = -0.5 * x[i]
            flips += 1
    history = []
    for step in (1, 2):
        history.append(x[step] * flips)
    return x, history
# output


from overt.runtime import appended, cond, for_loop, loop_range, set_item


def stores_lifted(x):
    flips = 0

    def body(i, x, flips):
        def then(x, flips, i):
            x = set_item(x, i, -0.5 * x[i])
            flips = flips + 1
            return x, flips

        def orelse(x, flips, i):
            return x, flips

        return cond(x[i] < 0, then, orelse, (x, flips, i))

    x, flips = for_loop(loop_range(4), body, (x, flips))
    history = []
    for step in (1, 2):
        history = appended(history, x[step] * flips)
    return x, history
