"""Forward mode: against finite differences, its text, composed with itself and reverse mode."""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy
import pytest

import overt
import overt.numpy as np
from overt.rewrites.emit import module_text
from overt.rewrites.forward import jvp, tangent_names
from overt.transformer import transformed


@pytest.fixture(autouse=True)
def double():
    overt.config.update("overt_enable_x64", True)
    yield
    overt.config.update("overt_enable_x64", False)


def leaves(tree):
    return [numpy.asarray(x, float) for x in overt.tree.leaves(tree)]


def direction(tree, seed=0):
    """A random tangent of every float in a tree."""
    rng = numpy.random.default_rng(seed)
    return overt.tree.map(lambda x: numpy.asarray(rng.normal(size=numpy.shape(x))), tree)


def moved(tree, dots, step):
    return overt.tree.map(lambda x, d: x + step * d, tree, dots)


def check(f, *args):
    """`overt.jvp(f)`, with and without `jit`, agrees with central differences."""
    dots = direction(args)
    step, plain = 1e-5, f
    f = overt.jit(plain)
    ahead, behind = f(*moved(args, dots, step)), f(*moved(args, dots, -step))
    wanted = [(a - b) / (2 * step) for a, b in zip(leaves(ahead), leaves(behind), strict=True)]
    for run in (overt.jvp, lambda f, *given: overt.jit(lambda *xs: overt.jvp(f, *xs))(*given)):
        out, out_dot = run(plain, args, dots)
        for a, b in zip(leaves(out), leaves(f(*args)), strict=True):
            numpy.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
        for a, b in zip(leaves(out_dot), wanted, strict=True):
            assert a.shape == b.shape
            numpy.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-7)


class Point(NamedTuple):
    x: float
    y: float


def newton_sqrt(a):
    x = a
    while np.abs(x * x - a) > 1e-9 * a:
        x = 0.5 * (x + a / x)  # Heron's step
    return x


def branches(x, y):
    if x > y:
        z = np.sin(x) * y
    elif x > 0:
        z = x**2
        x = x + z
    else:
        z = y
    return z * x, y


def broadcasts(x, w, b):
    y = x * w + b
    z = b + np.zeros((2, 3))
    return y, z, np.sum(z), np.maximum(b, 0.1) + x


def containers(params, xs):
    hidden = {"w": params["w"], "n": 3}
    total, seen = 0.0, []
    for i, (x, w) in enumerate(zip(xs, hidden["w"], strict=True)):
        seen.append(x * w * hidden["n"])
        total += seen[-1] * i
    last = seen.pop()
    hidden["w"] = total
    p = Point(last, total)
    a, *rest = seen
    return p._replace(x=p.y * p.x), hidden["w"] * a, rest, [v * 2.0 for v in seen]


def nested(x):
    def scale(v, k=2.0):
        return v * k * x

    def twice(f, v):
        return f(f(v))

    power = functools.partial(scale, k=x)
    return twice(scale, x) + power(x) + max(x, 0.2) + sum([x, x**2])


def stores(x):
    y = np.zeros(4)
    y[0] = x[0]
    y[1:3] += x[:2] ** 2
    y = y.at[3].set(x[1]).at[0].multiply(x[2])
    return y, y.at[1].get() * 2


def discrete(x):
    k = x.astype(int)
    return k * x, np.floor(x) * x, x.astype(np.float32).astype(np.float64), np.argmax(x) * x


def recursive(x, n=4):
    return x if n == 0 else np.sin(recursive(x, n - 1)) * x


def products(a, b):
    c = a @ b + np.dot(a, b) + np.einsum("ij,jk->ik", a, b)
    return c, np.linalg.inv(a @ a.T + 3 * np.eye(2)), np.linalg.norm(b), c.T.sum(axis=0).mean()


def starred(*values, scale=1.0, **others):
    total = scale
    for v in values:
        total = total * v
    return total + others.get("bias", 0.0)


VECTOR = numpy.array([0.3, 1.2, -0.7])
CASES = [
    (newton_sqrt, (2.5,)), (branches, (0.7, 0.4)), (branches, (0.3, 0.4)), (branches, (-0.3, 0.4)),
    (broadcasts, (VECTOR, 0.5, 0.2)), (containers, ({"w": VECTOR}, VECTOR * 2)), (nested, (0.6,)),
    (stores, (VECTOR,)), (recursive, (0.8,)), (starred, (0.5, 0.7, 1.1)),
    (products, (VECTOR[:2, None] + [[1.0, 0.2]], numpy.array([[0.3, 0.3], [0.9, 0.9]]))),
]  # fmt: skip


@pytest.mark.parametrize(
    ("f", "args"), CASES, ids=[f"{f.__name__}{i}" for i, (f, _) in enumerate(CASES)]
)
def test_against_differences(f, args):
    check(f, *args)


def test_integers_have_no_tangent():
    x = numpy.array([0.3, 1.2, 2.7])
    _, (a, b, c, d) = overt.jvp(discrete, (x,), (numpy.ones(3),))
    numpy.testing.assert_allclose(a, x.astype(int))
    numpy.testing.assert_allclose(b, numpy.floor(x))
    numpy.testing.assert_allclose(c, numpy.ones(3))
    numpy.testing.assert_allclose(d, 2 * numpy.ones(3))


def test_forward_over_reverse_and_back():
    def f(x):
        y = x
        for _ in range(3):
            y = np.sin(y) * x if y > 0.2 else y * y
        return y

    x, step = 0.9, 1e-4
    second = (f(x + step) - 2 * f(x) + f(x - step)) / step**2
    over_reverse = overt.jvp(overt.grad(f), (x,), (1.0,))[1]
    over_forward = overt.grad(lambda x: overt.jvp(f, (x,), (1.0,))[1])(x)
    twice = overt.jvp(lambda x: overt.jvp(f, (x,), (1.0,))[1], (x,), (1.0,))[1]
    for found in (
        over_reverse,
        over_forward,
        twice,
        overt.hessian(f)(x),
        overt.jacfwd(overt.jacfwd(f))(x),
    ):
        numpy.testing.assert_allclose(found, second, rtol=1e-5)


def source(f, active=None):
    return jvp(transformed.source_of(f), active)


def compiled(made, name):
    space = {"np": np}
    exec(compile(module_text(made), "<made>", "exec"), space)
    return space[name]


def test_text_of_a_text():
    """The output is valid input for each derivative."""
    from overt.rewrites.reverse import gradient

    second = jvp(source(newton_sqrt))
    f = compiled(second, "newton_sqrt_jvp_jvp")
    (_, dot), (_, dot_dot) = f(4.0, 1.0, 1.0, 0.0)
    numpy.testing.assert_allclose([dot, dot_dot], [0.25, -1 / 32], rtol=1e-6)
    f = compiled(jvp(gradient(transformed.source_of(newton_sqrt))), "newton_sqrt_grad_jvp")
    numpy.testing.assert_allclose(f(4.0, 1.0), [0.25, -1 / 32], rtol=1e-6)


def test_tangent_parameters():
    assert tangent_names(["x", "x_dot"], ["x", "x_dot"]) == {"x": "x_dot_2", "x_dot": "x_dot_dot"}
    assert "def starred_jvp(*values, scale=1.0, values_dot, scale_dot, **others):" in module_text(
        source(starred, ["values", "scale"])
    )


def test_objects_with_operators():
    class Complex:
        def __init__(self, a):
            self.a = a

        def __mul__(self, other):
            return Complex(np.exp(self.a) + other.a)

    def f(x):
        return (Complex(x) * Complex(x)).a

    x = 0.3
    numpy.testing.assert_allclose(overt.jvp(f, (x,), (1.0,))[1], numpy.exp(x) + 1, rtol=1e-9)


def test_linearize_and_jacfwd():
    f = lambda x: np.array([x[0] * x[1], x[1] ** 2])  # noqa: E731
    x = numpy.array([0.5, 2.0])
    numpy.testing.assert_allclose(overt.jacfwd(f)(x), [[2.0, 0.5], [0.0, 4.0]])
    numpy.testing.assert_allclose(overt.linearize(f, x)[1](numpy.array([1.0, 1.0])), [2.5, 4.0])
