# inputs: (0.5, 1.0, "sum"), (2.0, -1.0, "mean"), (-1.0, 20.0, "sum")


def truth(x, y, mode):
    if 0.0 < x <= 1.0 and not y < 0:
        return x * y
    scale = 2.0 if x > 1.0 or y > 10.0 else x
    if mode == "sum" and x is not None:
        scale = scale + 1.0
    return max(scale, y) + (y if len(mode) > 3 else -y)
# output


from overt.runtime import and_, cond, if_else, max_, not_, or_


def truth_lifted(x, y, mode):
    def then(x, y, mode):
        return x * y

    def orelse(x, y, mode):
        scale = if_else(or_(x > 1.0, lambda: y > 10.0), lambda: 2.0, lambda: x)
        if mode == "sum" and x is not None:
            scale = scale + 1.0
        return max_(scale, y) + (y if len(mode) > 3 else -y)

    return cond(
        and_(and_(0.0 < x, lambda: x <= 1.0), lambda: not_(y < 0)), then, orelse, (x, y, mode)
    )
