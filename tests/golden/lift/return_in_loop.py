# inputs: ([0.3, 1.7, 0.2],), ([0.1, 0.2, 0.3],)


def return_in_loop(xs):
    total = 0.0
    for x in xs:
        if x < 0:
            continue
        total = total + x**2
        if x > 1.0:
            return total * x
    else:
        total = total * 10.0
    return total
# output


from overt.runtime import cond, for_loop, Undefined


def return_in_loop_lifted(xs):
    returned = False
    total = 0.0

    def body(x, returned, total, result):
        def then(returned, total, x, result):
            return returned, total, result

        def orelse(returned, total, x, result):
            total = total + x**2

            def then(returned, total, x, result):
                result = total * x
                return True, result

            def orelse(returned, total, x, result):
                return returned, result

            returned, result = cond(x > 1.0, then, orelse, (returned, total, x, result))
            return returned, total, result

        return cond(x < 0, then, orelse, (returned, total, x, result))

    returned, total, result = for_loop(xs, body, (returned, total, Undefined), until=0)

    def then(total, result):
        return result

    def orelse(total, result):
        total = total * 10.0
        return total

    return cond(returned, then, orelse, (total, result))
