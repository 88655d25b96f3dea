import numpy as np

# inputs: (np.array([-1.2, 1.0]), np.array([2.15, 0.88]), -5.4), (np.ones(2), np.ones(2), -1.0)


def rosenbrock(x):
    return (1.0 - x[0]) ** 2 + 100.0 * (x[1] - x[0] ** 2) ** 2


def line_search(x, direction, slope):
    start = rosenbrock(x)
    step = 1.0
    while step > 1e-4:
        trial = rosenbrock(x + step * direction)
        if trial <= start + 1e-4 * step * slope:  # enough decrease
            break
        step = 0.5 * step
    return step
# output


from overt.runtime import if_else, while_loop


def line_search_lifted(x, direction, slope):
    start = rosenbrock(x)
    step = 1.0

    def test(step, stopped):
        return step > 1e-4

    def body(step, stopped):
        trial = rosenbrock(x + step * direction)
        stopped = trial <= start + 1e-4 * step * slope  # enough decrease
        step = if_else(stopped, lambda: step, lambda: 0.5 * step)
        return step, stopped

    step, stopped = while_loop(test, body, (step, False), until=1)
    return step
