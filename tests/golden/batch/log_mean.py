import numpy as np

# inputs: (np.array([1.0, 2.0, 3.0, 0.5]), np.array([1.0, 5.0, 3.0, 0.1])),
# in_axes: (0, 0)


def log_mean(x, y):
    """Logarithmic mean of two positive numbers."""
    ratio = x / y
    if np.abs(ratio - 1.0) < 1e-6:
        mean = 0.5 * (x + y)  # the limit as x tends to y
    else:
        mean = (x - y) / np.log(ratio)
    return mean
# output


from overt.runtime import batched, guard, not_


@batched(in_axes=(0, 0))
def log_mean_batched(x, y):  # x, y: batch on axis 0
    """Logarithmic mean of two positive numbers."""
    ratio = x / y
    mask = np.abs(ratio - 1.0) < 1e-6
    mean = 0.5 * (x + y)  # the limit as x tends to y
    safe_ratio = guard(not_(mask), ratio)
    return np.where(mask, mean, (x - y) / np.log(safe_ratio))
