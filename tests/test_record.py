"""Derivatives at run time: recorded and dual values, custom rules, cotangents of any type."""

import collections
import dataclasses
import doctest
import functools

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import overt.runtime.numpy as np
from overt.runtime import custom, derivatives, dual, parts, record
from overt.runtime.batching import vmap_call
from overt.runtime.config import config
from overt.runtime.custom import custom_gradient, custom_jvp, custom_vjp
from overt.runtime.derivatives import add, materialize, sum_to, zeros_like_tree
from overt.runtime.dual import jvp_call
from overt.runtime.errors import OvertError
from overt.runtime.primitive import Primitive, composite
from overt.runtime.record import vjp_call


@pytest.fixture(autouse=True, scope="module")
def double_precision():
    config.update("overt_enable_x64", True)
    yield
    config.update("overt_enable_x64", False)


@pytest.mark.parametrize("module", [custom, derivatives, dual, parts, record])
def test_examples_in_docstrings(module):
    assert doctest.testmod(module).failed == 0


def grad(f):
    def slope(*args):
        out, pullback = vjp_call(f, *args)
        return pullback(np.ones_like(out))[0]

    return slope


def differences(f, x, v, h=1e-5):
    return (numpy.asarray(f(x + h * v)) - numpy.asarray(f(x - h * v))) / (2 * h)


def close(a, b, tolerance=1e-7):
    numpy.testing.assert_allclose(numpy.asarray(a), numpy.asarray(b), tolerance, tolerance)


def swirl(x):
    y = np.sin(x) @ np.reshape(x, (-1, 1)) * x[1]
    z = np.where(x > 0.2, np.exp(x), x**3)
    return np.sum(np.cumsum(y * z)) + np.max(x) * np.prod(x + 2.0)


X = numpy.array([0.3, -0.4, 1.1])
V = numpy.array([0.7, 0.2, -0.5])


def test_first_order():
    expected = differences(swirl, X, V)
    close(grad(swirl)(X) @ V, expected)
    close(jvp_call(swirl, (X,), (V,))[1], expected)


def test_second_order_in_every_nesting():
    hvp = differences(grad(swirl), X, V)
    close(jvp_call(grad(swirl), (X,), (V,))[1], hvp, 1e-6)
    close(grad(lambda x: grad(swirl)(x) @ V)(X), hvp, 1e-6)
    close(grad(lambda x: jvp_call(swirl, (x,), (V,))[1])(X), hvp, 1e-6)
    twice = jvp_call(lambda x: jvp_call(swirl, (x,), (V,))[1], (X,), (V,))[1]
    close(twice, hvp @ V, 1e-6)


def test_lanes_inside_and_outside():
    rows = numpy.stack([X, X * 0.5 + 0.1])
    slopes = numpy.stack([grad(swirl)(x) for x in rows])
    close(vmap_call(grad(swirl), (rows,)), slopes)
    close(grad(lambda xs: np.sum(vmap_call(swirl, (xs,))))(rows), slopes)
    weights = grad(lambda w: np.sum(vmap_call(lambda x: swirl(x * w), (rows,))))(1.0)
    close(weights, differences(lambda w: sum(swirl(x * w) for x in rows), 1.0, 1.0), 1e-6)
    per_lane = vmap_call(lambda x, w: grad(lambda w: swirl(x * w))(w), (rows, 1.0), (0, None))
    assert per_lane.shape == (2,)
    close(np.sum(per_lane), weights)


def test_no_confusion_between_levels():
    inner = lambda x: grad(lambda y: x + y)(1.0)  # noqa: E731
    close(grad(lambda x: x * inner(x))(2.0), 1.0)
    close(
        jvp_call(lambda x: x * jvp_call(lambda y: x + y, (1.0,), (1.0,))[1], (2.0,), (1.0,))[1], 1
    )


def test_broadcast_and_dtypes():
    b = numpy.float32(0.5)
    _, pullback = vjp_call(lambda x, b: np.sum(x * b + np.ones((2, 3))), X, b)
    x_bar, b_bar = pullback(1.0)
    close(x_bar, numpy.full(3, 1.0))
    assert b_bar.dtype == numpy.float32 and b_bar.shape == ()
    close(b_bar, 2 * X.sum())


def test_trees_and_integers():
    def f(p, n):
        return {"out": p["w"] * n, "n": n + 1}, "aux"

    out, pullback, aux = vjp_call(f, {"w": 2.0, "k": 3, "v": X}, 4, has_aux=True)
    assert aux == "aux" and int(out["n"]) == 5
    p_bar, n_bar = pullback({"out": 1.0, "n": None})
    assert float(p_bar["w"]) == 4.0 and p_bar["k"] is None and n_bar is None
    close(p_bar["v"], numpy.zeros(3))
    out, out_dot = jvp_call(lambda x, n: (x * n, n), (2.0, 3), (1.0, None))
    assert float(out_dot[0]) == 3.0 and out_dot[1] is None


def test_complex_values_follow_jax():
    jax = pytest.importorskip("jax")
    z, w = 0.3 + 0.8j, numpy.array([1.0 - 0.5j, 0.2j])
    with jax.enable_x64(True):
        for name in ("sin", "exp", "real", "imag", "abs", "conj", "square"):
            f = lambda z, np, name=name: getattr(np, name)(z * w)  # noqa: E731
            out, pullback = vjp_call(lambda z, f=f: f(z, np), z)
            expected, jax_pullback = jax.vjp(lambda z, f=f: f(z, jax.numpy), z)
            g = numpy.asarray(expected) * 0 + (0.7 if expected.dtype.kind == "f" else 0.7 - 0.2j)
            close(pullback(g)[0], jax_pullback(jax.numpy.asarray(g))[0])
            ours = jvp_call(lambda z, f=f: f(z, np), (z,), (1.0 + 2.0j,))
            theirs = jax.jvp(lambda z, f=f: f(z, jax.numpy), (z,), (1.0 + 2.0j,))
            close(ours[1], theirs[1])


def test_control_flow_on_values():
    def f(x):
        while x < 10.0:
            x = x * 1.7
        return x if x > 12 else x**2

    close(grad(f)(1.1), differences(f, 1.1, 1.0))
    with pytest.raises(TypeError, match="would lose its derivative"):
        grad(lambda x: np.array(float(x)))(1.0)


def test_rules_of_composites_are_used():
    @composite(arrays=("a", "b"), vjp=(lambda g, out, a, b: g * 100.0, None))
    def odd(a, b):
        return a + b

    close(grad(lambda x: odd(x, 3.0))(2.0), 100.0)
    close(jvp_call(lambda x: odd(x, 3.0), (2.0,), (1.0,))[1], 100.0)


def test_missing_rule_is_refused():
    mystery = Primitive("test_mystery", shape=lambda x: x, lower=lambda b, x, *, avals, out: x)
    with pytest.raises(NotImplementedError, match="test_mystery has no derivative rule"):
        grad(lambda x: mystery(x))(1.0)


# ---- custom rules ----


def make_custom_jvp():
    @custom_jvp
    def f(x, y):
        return np.sin(x) * y

    @f.defjvp
    def f_jvp(primals, tangents):
        (x, y), (x_dot, y_dot) = primals, tangents
        return f(x, y), 10.0 * np.cos(x) * x_dot * y + y_dot * np.sin(x)

    return f


def make_custom_vjp():
    @custom_vjp
    def f(x, y):
        return np.sin(x) * y

    f.defvjp(
        lambda x, y: (f(x, y), (x, y)),
        lambda kept, g: (10.0 * np.cos(kept[0]) * g * kept[1], np.sin(kept[0]) * g),
    )
    return f


@pytest.mark.parametrize("make", [make_custom_jvp, make_custom_vjp])
def test_custom_rules_in_both_modes_and_under_lanes(make):
    f = make()
    x, y = 0.3, 2.0
    slope = 10.0 * numpy.cos(x) * y
    assert abs(float(f(x, y=y)) - numpy.sin(x) * y) < 1e-12
    close(grad(f)(x, y), slope)
    close(jvp_call(f, (x, y), (1.0, None))[1], slope)
    close(grad(lambda x: grad(f)(x, y))(x), -10.0 * numpy.sin(x) * y)
    close(jvp_call(lambda x: grad(f)(x, y), (x,), (1.0,))[1], -10.0 * numpy.sin(x) * y)
    xs = numpy.array([0.3, 0.9])
    close(vmap_call(lambda x: grad(f)(x, y), (xs,)), 10.0 * numpy.cos(xs) * y)
    close(grad(lambda xs: np.sum(vmap_call(lambda x: f(x, y), (xs,))))(xs), 10 * numpy.cos(xs) * y)
    close(grad(lambda y: np.sum(vmap_call(lambda x: f(x, y), (xs,))))(y), numpy.sin(xs).sum())
    close(jvp_call(lambda xs: vmap_call(lambda x: f(x, y), (xs,)), (xs,), (xs,))[1],
          10 * numpy.cos(xs) * y * xs)  # fmt: skip


def test_custom_rule_options():
    @functools.partial(custom_vjp, nondiff_argnums=(0,))
    def apply(fn, x):
        return fn(x)

    apply.defvjp(lambda fn, x: (fn(x), x), lambda fn, x, g: (g * 7.0 + fn(x) * 0,))
    close(grad(lambda x: apply(lambda x: x**2, x))(3.0), 7.0)

    @custom_jvp
    def g(x, y):
        return x * y

    g.defjvps(lambda x_dot, out, x, y: 5.0 * x_dot, None)
    close(grad(g)(2.0, 3.0), 5.0)
    close(vjp_call(g, 2.0, 3.0)[1](1.0)[1], 0.0)

    clipped = custom_gradient(lambda x: (x * 2, lambda h: np.clip(h, -1.0, 1.0)))
    close(grad(clipped)(3.0), 1.0)
    with pytest.raises(AttributeError, match="use defvjp"):
        grad(custom_vjp(lambda x: x))(1.0)
    bad = custom_vjp(lambda x, y: x)
    bad.defvjp(lambda x, y: (x, None), lambda kept, g: g)
    with pytest.raises(TypeError, match="tuple of 2 cotangents"):
        grad(bad)(1.0, 2.0)


# ---- cotangents ----

Point = collections.namedtuple("Point", "x y")


@dataclasses.dataclass
class Ball:
    height: float
    name: str


def test_cotangents_keep_containers():
    value = {"p": Point(1.0, 2), "b": Ball(3.0, "red"), "l": [X, None, "s"], "f": len}
    zero = zeros_like_tree(value)
    assert zero["p"] == Point(0.0, None) and zero["b"] == Ball(0.0, None) and zero["f"] is None
    assert list(zero) == ["p", "b", "l", "f"]
    one = {"p": Point(1.0, None), "b": None, "l": [V, None, None], "f": None}
    total = add(zero, one)
    assert total["p"] == Point(1.0, None) and total["b"] == Ball(0.0, None)
    close(total["l"][0], V)
    assert materialize(None, value)["p"] == Point(0.0, None)
    bound = functools.partial(pow, 2.0, exp=3)
    assert zeros_like_tree(bound) == ((0.0,), {"exp": None})
    with pytest.raises(TypeError, match="different types"):
        add((1.0,), {"p": 1.0})


shapes = st.lists(st.integers(1, 3), max_size=3).map(tuple)


@settings(deadline=None, max_examples=30)
@given(shapes, st.data())
def test_sum_to_undoes_broadcasting(shape, data):
    like = tuple(data.draw(st.sampled_from([1, n])) for n in shape)[data.draw(st.integers(0, 1)) :]
    g = numpy.arange(numpy.prod(shape, dtype=int) * 1.0).reshape(shape)
    ones = numpy.ones(like)
    for convert in (numpy.asarray, np.asarray):
        summed = sum_to(convert(g), convert(ones))
        assert summed.shape == like
        assert abs(float((numpy.asarray(summed) * ones).sum()) - g.sum()) < 1e-9


def test_sum_to_numbers_and_dtypes():
    assert sum_to(None, 1.0) is None
    assert sum_to(2.0, 1.0) == 2.0
    assert sum_to(2.0 + 1.0j, 1.0) == 2.0
    assert sum_to(numpy.ones(3), numpy.float32(1)).dtype == numpy.float32
    assert sum_to(2.0, numpy.zeros(3)).shape == (3,)


def test_leaked_values_are_refused():
    kept = []
    vjp_call(lambda x: kept.append(x) or x * 2, 1.0)
    with pytest.raises(OvertError, match="after the function that it was differentiated in"):
        grad(lambda y: y * kept[0])(2.0)
