import numpy as np

# inputs: (np.ones(3),), (np.zeros(3),), (-2.0 * np.ones(3),)


def early_return(x):
    total = np.sum(x)
    if total > 2.0:
        return x * 2.0
    if total < -2.0:
        return np.sin(x) - total
    y = x**2
    return y + total
# output


from overt.runtime import cond


def early_return_lifted(x):
    total = np.sum(x)

    def then(x, total):
        return x * 2.0

    def orelse(x, total):
        def then(x, total):
            return np.sin(x) - total

        def orelse(x, total):
            y = x**2
            return y + total

        return cond(total < -2.0, then, orelse, (x, total))

    return cond(total > 2.0, then, orelse, (x, total))
