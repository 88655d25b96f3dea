import numpy as np

# inputs: (1.0, -3.0, 2.0), (2.0, 1.0, 3.0)


def parabola_low(a, b, c):
    """Where a parabola comes closest to zero, and its distance from zero."""
    disc = b * b - 4.0 * a * c
    if disc >= 0.0:
        x = (-b + np.sqrt(disc)) / (2.0 * a)
        height = 0.0
    else:
        x = -b / (2.0 * a)
        height = -disc / (4.0 * a)
    return x, height
# output


from overt.runtime import cond


def parabola_low_lifted(a, b, c):
    """Where a parabola comes closest to zero, and its distance from zero."""
    disc = b * b - 4.0 * a * c

    def then(a, b, disc):
        x = (-b + np.sqrt(disc)) / (2.0 * a)
        return x, 0.0

    def orelse(a, b, disc):
        x = -b / (2.0 * a)
        height = -disc / (4.0 * a)
        return x, height

    return cond(disc >= 0.0, then, orelse, (a, b, disc))
