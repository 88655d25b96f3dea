# inputs: (0.4,), (1.1,)


def shared_variables(x):
    best, calls = 0.0, 0

    def visit(v):
        nonlocal best, calls
        calls += 1
        if v > best:
            best = v * x

    while x < 2.0:
        visit(3.0 - x)
        x = x * 1.5
    return best * calls
# output


def shared_variables(x):
    best, calls = 0.0, 0

    def visit(x, best, calls, v):
        calls = calls + 1
        if v > best:
            best = v * x
        return best, calls

    while x < 2.0:
        best, calls = visit(x, best, calls, 3.0 - x)
        x = x * 1.5
    return best * calls
