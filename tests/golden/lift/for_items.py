import numpy as np

# inputs: (np.arange(3.0), np.ones(3), 2), (np.ones(3), np.arange(3.0), 3)


def for_items(xs, ys, n):
    total = 0.0
    for i, (x, y) in enumerate(zip(xs, ys), start=2):
        total += i * x * y
    for k in reversed(range(n)):
        last = total * k
        total = total + xs[k]
    return total, last
# output


from overt.runtime import for_loop, loop_enumerate, loop_range, loop_reversed, loop_zip, Undefined


def for_items_lifted(xs, ys, n):
    total = 0.0

    def body(item, total):
        i, (x, y) = item
        return total + i * x * y

    total = for_loop(loop_enumerate(loop_zip(xs, ys), start=2), body, total)

    def body(k, total, last):
        last = total * k
        total = total + xs[k]
        return total, last

    return for_loop(loop_reversed(loop_range(n)), body, (total, Undefined("last")))
