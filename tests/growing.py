"""Classes with `+=` and `__setattr__` of their own: in a module that has one, each may be its."""


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


class Watched:
    """A class that does something when a field is stored."""

    def __init__(self, x):
        self.x = x

    def __setattr__(self, name, value):
        object.__setattr__(self, name, 2 * value)


def hooks(x):
    w = Watched(x)
    w.x = w.x + 1.0
    return w.x * x
