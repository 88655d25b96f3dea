import numpy as np

# inputs: (np.array([0.3, 3.0, 1.2]), np.array([2, 0, 5])),
# in_axes: (0, 0)


def helpers(x, n):
    pair = (x, 1.0)
    for i in range(n):
        if pair[0] > 2.0:
            break
        pair = (pair[0] * 1.5, pair[1] + i)
    if pair[0] > 1.0 and pair[1] > 1.0:
        pair = pair[::-1]
    return max(pair[0], 0.5) * x
# output


from overt.runtime import batched, for_loop, if_else, loop_range, max_


@batched(in_axes=(0, 0))
def helpers_batched(x, n):  # x, n: batch on axis 0
    pair = x, 1.0

    def body(i, pair, stopped):
        stopped = pair[0] > 2.0
        pair = if_else(stopped, lambda: pair, lambda: (pair[0] * 1.5, pair[1] + i))
        return pair, stopped

    pair, stopped = for_loop(loop_range(n), body, (pair, False), until=1)
    pair = if_else((pair[0] > 1.0) & (pair[1] > 1.0), lambda: pair[::-1], lambda: pair)
    return max_(pair[0], 0.5) * x
