"""Functions made where a variable of the function around them has no value yet."""

import numpy
import pytest

import overt
import overt.numpy as np


def decay(rate, end=None):
    if end is not None:
        bound = np.maximum

    def schedule(count):
        value = rate**count
        if end is not None:
            value = bound(value, end)
        return value

    return schedule


def stepped(schedule):
    def step(x, grads):
        return {name: value - schedule(2.0) * grads[name] for name, value in x.items()}

    return step


def test_a_variable_never_set():
    plain, ended = decay(0.5), decay(0.5, 0.2)
    for count, wanted in ((1.0, 0.5), (2.0, 0.25), (3.0, 0.125)):
        assert overt.jit(plain)(count) == wanted
        assert overt.jit(ended)(count) == pytest.approx(max(wanted, 0.2))
        slope = numpy.log(0.5) * wanted
        for transform in (overt.grad, lambda f: overt.jit(overt.grad(f))):
            numpy.testing.assert_allclose(transform(plain)(count), slope, rtol=1e-6)
    numpy.testing.assert_array_equal(overt.vmap(plain)(np.array([0.0, 1.0])), [1.0, 0.5])
    step = overt.jit(stepped(plain))
    for _ in range(2):
        numpy.testing.assert_allclose(step({"w": 1.0}, {"w": 2.0})["w"], 0.5)
    total = overt.jit(lambda x: overt.lax.fori_loop(0, 3, lambda i, c: c + plain(c), x))
    numpy.testing.assert_allclose(total(1.0), 1.5 + 0.5**1.5 + 0.5 ** (1.5 + 0.5**1.5), rtol=1e-6)


def test_a_variable_set_later():
    def around():
        def read(x):
            try:
                return x * factor
            except NameError:
                return x

        def set_factor(value):
            nonlocal factor
            factor = value

        if around is None:
            factor = 0.0
        return read, set_factor

    def unread():
        def read(x):
            return x * factor if ready else x

        def get_ready(value):
            nonlocal factor, ready
            factor, ready = value, True

        ready = False
        if ready:
            factor = 0.0
        return read, get_ready

    read, get_ready = unread()
    compiled, batched = overt.jit(read), overt.vmap(read)
    assert compiled(3.0) == 3.0
    assert batched(np.ones(1))[0] == 1.0
    get_ready(2.0)
    assert compiled(3.0) == 6.0
    assert batched(np.ones(1))[0] == 2.0
    get_ready(5.0)
    assert compiled(3.0) == 15.0
    assert overt.grad(read)(3.0) == 5.0


def test_a_variable_that_is_missing_is_said():
    def around(x):
        def inner(y):
            return y * factor

        if x is None:
            factor = 2.0
        return inner(x)

    for transform in (overt.grad, overt.jit):
        with pytest.raises(NameError, match="factor"):
            transform(around)(1.0)


def test_what_a_nested_function_does_not_read_need_not_be_set() -> None:
    def by_argument(x):
        def inner(y):
            return y * 2 if y is not None else w

        if x is None:
            w = 1.0
        return inner(x)

    def by_mode(x, mode):
        def inner(y):
            if mode == "plain":
                return y * k
            return y * k + w

        k = 3.0
        if mode == "squared":
            w = x * x
        return inner(2.0 * x)

    cases = [
        (by_argument, (1.0,), 2.0),
        (by_mode, (1.0, "plain"), 6.0),
        (by_mode, (1.0, "squared"), 8.0),
    ]
    for f, (x, *rest), slope in cases:
        run = lambda x, f=f, rest=rest: f(x, *rest)
        assert float(overt.grad(run)(x)) == slope
        assert float(overt.grad(f)(x, *rest)) == slope
        assert float(overt.jit(overt.grad(run))(x)) == slope
        assert float(overt.jvp(run, (x,), (1.0,))[1]) == slope
