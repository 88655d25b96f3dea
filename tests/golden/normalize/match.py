# inputs: (2.0, "square"), (2.0, "third"), (2.0, ("scale", 3.0)), (2.0, None)


def dispatch(x, kind):
    match kind:
        case "square":
            return x**2
        case "cube" | "third":
            y = x**3
        case ("scale", k) if k > 1:
            y = x * k
        case _:
            y = x
    return y + 1.0
# output


from overt.runtime import is_sequence


def dispatch(x, kind):
    if kind == "square":
        result = x**2
    else:
        if kind == "cube" or kind == "third":
            y = x**3
        elif (is_sequence(kind) and len(kind) == 2 and kind[0] == "scale") and kind[1] > 1:
            k = kind[1]
            y = x * k
        else:
            y = x
        result = y + 1.0
    return result
