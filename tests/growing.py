"""A class with `+=` of its own; in a module that has one, every `+=` may be its."""


class Growing:
    """A sum that changes itself."""

    def __init__(self, x):
        self.x = x

    def __add__(self, o):
        return Growing(self.x + o.x)

    def __iadd__(self, o):
        self.x = self.x + 2 * o.x
        return self


def grown_in_place(x):
    total = Growing(x)
    for k in range(3):
        total += Growing(k * x)
    return (total + Growing(x * x)).x
