# inputs: (1.0, {}), (3.0, {})


class Tally:
    count = 0


def effects(x, options):
    tally = Tally()
    for key in ("a", "b"):
        x = x * options.get(key, 2.0)
        tally.count += 1
    if tally.count > 5:
        raise ValueError("too many")
    assert x > 0, f"{x} is too small"
    while x < 50.0:
        print(f"x = {x:.1f}")
        x = x * x
    return x * tally.count
# output


from overt.runtime import check, formatted, print_, raise_if, while_loop


def effects_lifted(x, options):
    tally = Tally()
    for key in ("a", "b"):
        x = x * options.get(key, 2.0)
        tally.count = tally.count + 1
    raise_if(tally.count > 5, ValueError, lambda: ("too many",))
    check(x > 0, formatted("{} is too small", x))

    def test(x):
        return x < 50.0

    def body(x):
        print_(formatted("x = {:.1f}", x))
        return x * x

    x = while_loop(test, body, x)
    return x * tally.count
