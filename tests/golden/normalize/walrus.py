# inputs: (2.0, 1.0), (2.0, 9.0)


def walrus(x, limit):
    if (square := x * x) > limit:
        x = square - (half := square / 2) + half
    while (x := x / 2) > 0.5:
        limit = limit + x
    return x, limit, square
# output


def walrus(x, limit):
    square = x * x
    if square > limit:
        half = square / 2
        x = square - half + half
    x = x / 2
    while x > 0.5:
        limit = limit + x
        x = x / 2
    return x, limit, square
