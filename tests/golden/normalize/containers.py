# inputs: ({"w": 2.0}, [1.0, 2.0]), ({"w": 3.0, "b": 1.0}, [4.0])


def containers(params, xs):
    params = dict(params)
    xs = list(xs)
    params["w"] *= xs[0]
    params.update(b=0.5)
    xs.append(params["w"])
    xs[:1] = [7.0, 8.0]
    last = xs.pop()
    a, *rest = xs
    return params, xs, last, a, rest
# output


from overt.runtime import appended, at, changed, popped, set_item


def containers(params, xs):
    params = dict(params)
    xs = list(xs)
    params = set_item(params, "w", params["w"] * xs[0])
    params = changed(params, "update", {"b": 0.5})
    xs = appended(xs, params["w"])
    xs = set_item(xs, at[:1], [7.0, 8.0])
    last, xs = popped(xs, "pop")
    a, *rest = xs
    return params, xs, last, a, rest
