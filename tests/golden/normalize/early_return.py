# inputs: (3.0,), (-3.0,), (1.0,)


def early_return(x):
    if x > 2.0:
        return x * 2.0
    if x < -2.0:
        return -x
    y = x**2
    return y + x
# output


def early_return(x):
    if x > 2.0:
        result = x * 2.0
    elif x < -2.0:
        result = -x
    else:
        y = x**2
        result = y + x
    return result
