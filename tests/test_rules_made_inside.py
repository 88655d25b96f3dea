"""Rules for derivatives that are made by the function that is differentiated, with its values."""

from __future__ import annotations

from functools import partial

import numpy
import pytest

import overt
import overt.numpy as np

pytestmark = pytest.mark.filterwarnings("ignore::overt.errors.RecordedWarning")


def calls_itself(x, k):
    @overt.custom_vjp
    def f(x):
        return x * k

    f.defvjp(lambda x: (f(x), x), lambda r, g: (g * r * 7,))
    return f(x)


def reads_in_the_rule(x, k):
    @overt.custom_vjp
    def f(x):
        return x * k

    f.defvjp(lambda x: (x * k, x), lambda r, g: (g * k * 7,))
    return f(x)


def forward_rule(x, k):
    @overt.custom_jvp
    def f(x):
        return x * k

    f.defjvp(lambda p, t: (f(*p), t[0] * k * 7))
    return f(x)


def gives_the_pullback(x, k):
    @overt.custom_gradient
    def f(x):
        return x * k, lambda g: (g * k * 7,)

    return f(x)


RULES = {calls_itself: 14.0, reads_in_the_rule: 21.0, forward_rule: 21.0, gives_the_pullback: 21.0}


@pytest.mark.parametrize("f", RULES)
@pytest.mark.parametrize("jit", [False, True])
def test_what_is_captured_is_a_constant_of_the_rule(f, jit: bool) -> None:
    t = overt.jit if jit else lambda g: g
    slope = RULES[f]
    assert float(t(overt.grad(lambda x: f(x, 3.0)))(2.0)) == slope
    assert float(t(overt.grad(f))(2.0, 3.0)) == slope
    both = t(lambda x: overt.jvp(lambda x: f(x, 3.0), (x,), (1.0,)))(2.0)
    assert list(map(float, both)) == [6.0, slope]
    lanes = t(overt.vmap(overt.grad(f), (None, 0)))(2.0, np.array([3.0, 6.0]))
    assert float(lanes[0]) == slope and float(lanes[1]) == (slope if f is calls_itself else 42.0)


@pytest.mark.parametrize("f", RULES)
@pytest.mark.parametrize("jit", [False, True])
def test_what_is_captured_has_its_own_derivative(f, jit: bool) -> None:
    t = overt.jit if jit else lambda g: g
    assert list(map(float, t(overt.grad(f, (0, 1)))(2.0, 3.0))) == [RULES[f], 2.0]
    assert float(t(overt.grad(f, 1))(2.0, 3.0)) == 2.0
    both = t(lambda x, k: overt.jvp(f, (x, k), (1.0, 1.0)))(2.0, 3.0)
    assert list(map(float, both)) == [6.0, RULES[f] + 2.0]


@pytest.mark.parametrize("f", [calls_itself, forward_rule])
def test_a_derivative_that_is_not_known_is_refused(f) -> None:
    for mixed in (
        overt.grad(lambda x: overt.grad(lambda k: f(x, k))(3.0)),
        overt.jacfwd(lambda x: overt.grad(lambda k: f(x, k))(3.0)),
    ):
        with pytest.raises(overt.errors.OvertError, match="captured"):
            mixed(2.0)
    with pytest.raises(overt.errors.OvertError, match="captured"):
        overt.jvp(lambda x: np.sum(overt.vmap(lambda k: f(x, k))(np.arange(2.0))), (2.0,), (1.0,))


def fixed_point(f, a, start):
    @overt.custom_vjp
    def solve(a, start):
        return overt.lax.while_loop(
            lambda c: np.abs(c[0] - c[1]) > 1e-6, lambda c: (f(a, c[0]), c[0]), (f(a, start), start)
        )[0]

    def fwd(a, start):
        x = solve(a, start)
        return x, (a, x)

    def bwd(kept, g):
        a, x = kept
        _, by_a = overt.vjp(lambda a: f(a, x), a)
        _, by_x = overt.vjp(lambda x: f(a, x), x)
        u = overt.lax.fori_loop(0, 50, lambda _, u: g + by_x(u)[0], g)
        return by_a(u)[0], np.zeros_like(x)

    solve.defvjp(fwd, bwd)
    return solve(a, start)


def test_implicit_derivatives_of_a_fixed_point() -> None:
    def root(a):
        return fixed_point(lambda a, x: 0.5 * (x + a / x), a, 1.0)

    for t in (lambda g: g, overt.jit):
        assert numpy.allclose(t(overt.grad(root))(4.0), 0.25)
        assert numpy.allclose(t(overt.vmap(overt.grad(root)))(np.array([1.0, 9.0])), [1 / 2, 1 / 6])


@partial(overt.custom_vjp, nondiff_argnums=(0,))
def descended(loss, start, *hidden):
    return overt.lax.fori_loop(
        0, 30, lambda _, x: x - 0.3 * overt.grad(loss)(x, *hidden), start
    )  # fmt: skip


def descended_fwd(loss, start, *hidden):
    x = descended(loss, start, *hidden)
    return x, (x, hidden)


def descended_bwd(loss, kept, g):
    x, hidden = kept
    _, by_hidden = overt.vjp(lambda *c: overt.grad(loss)(x, *c), *hidden)
    return (np.zeros_like(x), *by_hidden(-g / overt.grad(overt.grad(loss))(x, *hidden)))


descended.defvjp(descended_fwd, descended_bwd)


def test_converted_closures_in_a_loop() -> None:
    def lowest(a):
        goal = a**2
        pure, hidden = overt.closure_convert(lambda x: (x - goal) ** 2, 0.0)
        return descended(pure, 0.0, *hidden)

    for t in (lambda g: g, overt.jit):
        assert numpy.allclose(t(lowest)(2.0), 4.0)
        assert numpy.allclose(t(overt.grad(lowest))(3.0), 6.0)
        assert numpy.allclose(t(overt.vmap(overt.grad(lowest)))(np.array([1.0, 3.0])), [2.0, 6.0])


def weighted(w):
    @overt.custom_vjp
    def total(x):
        return np.dot(w, x)

    total.defvjp(lambda x: (np.dot(w, x), None), lambda _, g: (2.0 * g * w,))
    return total


@pytest.mark.parametrize("jit", [False, True])
def test_rules_that_a_function_returns(jit: bool) -> None:
    t = overt.jit if jit else lambda g: g
    w, x = np.array([1.0, 2.0]), np.ones(2)

    def by_w(x, w):
        return weighted(w)(x) ** 2

    def in_a_loop(w):
        total = 0.0
        for i in range(3):
            total = total + weighted(w * (i + 1))(x)
        return total

    def in_a_branch(w, y):
        if y > 0:
            return weighted(w)(x) * y
        return y

    by_x, by_weights = t(overt.grad(by_w, (0, 1)))(x, w)
    assert numpy.allclose(by_x, [12.0, 24.0]) and numpy.allclose(by_weights, [6.0, 6.0])
    assert numpy.allclose(t(overt.grad(in_a_loop))(w), [6.0, 6.0])
    lanes = t(overt.vmap(overt.grad(in_a_branch), (None, 0)))(w, np.array([2.0, -1.0]))
    assert numpy.allclose(lanes, [[2.0, 2.0], [0.0, 0.0]])
