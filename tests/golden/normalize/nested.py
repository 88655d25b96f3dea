import numpy as np

# inputs: (1.0, 2), (3.0, 1)


def nested(a, n=2, *, shift=0.5):
    """Keeps its text."""
    # above
    def inner(v, scale=2.0):
        return v * scale + a  # beside

    f = lambda v: inner(v) - shift
    for i in range(n):
        a, shift = f(a), a
    parts = [np.sin(v) for v in (a, shift) if v > 0]
    return inner(a), sum(parts)
# output


def nested(a, n=2, *, shift=0.5):
    """Keeps its text."""

    # above
    def inner(a, v, scale=2.0):
        return v * scale + a  # beside

    def f(a, shift, v):
        return inner(a, v) - shift

    for i in range(n):
        a, shift = f(a, shift, a), a
    parts = [np.sin(v) for v in (a, shift) if v > 0]
    return inner(a, a), sum(parts)
