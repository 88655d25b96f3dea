"""What a selection leaves out has no part in derivatives: forms of selection, orders, products.

Each function is `alive(x)` where x > 0 and x**3 elsewhere, where `alive` is infinite or NaN. There
the slopes are those of x**3; inside they are compared with finite differences.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import overt
import overt.lax as lax
import overt.nn as nn
import overt.numpy as np
import overt.scipy.special as special


def by_select(x: Any) -> Any:
    return np.select([x > 0, x > 5.0], [np.log(x) / x, x], x**3)


def by_lax_select(x: Any) -> Any:
    return lax.select(x > 0, np.log(x) / x, x**3) + 0.0 * lax.select_n(x > 0, x, np.sqrt(x))


def by_choose(x: Any) -> Any:
    return np.choose(np.asarray(x > 0, int), [x**3, np.arcsin(1.0 - x) * np.log(x)])


def by_piecewise(x: Any) -> Any:
    return np.piecewise(x, [x > 0], [lambda x: np.sqrt(x) / x, lambda x: x**3])


def by_cond(x: Any) -> Any:
    return lax.cond(x > 0, lambda x: np.log(x) / x, lambda x: x**3, x)


def by_switch_with_captures(x: Any) -> Any:
    y = np.log(x) / x
    return lax.switch(np.asarray(x > 0, int), [lambda: x**3, lambda: y * y])


def by_scan(x: Any) -> Any:
    d = np.log(x)

    def body(y: Any, w: Any) -> Any:
        y = np.where(x > 0, y * w + d * d, y)
        return y, d * w

    y, ys = lax.scan(body, x**3, np.array([0.5, 1.0]))
    return y + np.where(x > 0, np.sum(ys), 0.0)


def by_powers(x: Any) -> Any:
    y = x**1.5
    return np.where(x > 0, y * y * x, x**3)


def of_products(x: Any) -> Any:
    a, b = np.array([np.log(x), x]), np.array([1.0 / x, x])
    m = np.array([[np.log(x), x], [x, 1.0]])
    found = np.dot(a, b) + (m @ b)[0] + np.outer(a, b)[1, 0] + np.tensordot(m, m, 1)[0, 1]
    return np.where(x > 0, found, x**3)


def of_einsum(x: Any) -> Any:
    a, b = np.array([np.log(x), x]), np.array([np.sqrt(x), x])
    return np.where(x > 0, np.einsum("i,i->", a, b) + np.einsum("i,j,j->i", a, b, a)[0], x**3)


def of_inverses(x: Any) -> Any:
    m = np.array([[np.log(x) + 3.0, x], [x, 1.0 / x]])
    found = np.linalg.inv(m)[0, 1] + np.linalg.det(m) + np.linalg.slogdet(m)[1]
    return np.where(x > 0, found, x**3)


def of_solutions(x: Any) -> Any:
    m = np.array([[np.sqrt(x), x], [1.0, 2.0]])
    return np.where(x > 0, np.linalg.solve(m, np.array([np.log(x), x]))[0], x**3)


def of_factors(x: Any) -> Any:
    m = np.array([[np.sqrt(x), 0.1 * x], [0.1 * x, 1.0 / x]])
    return np.where(x > 0, np.linalg.cholesky(m)[1, 1], x**3)


def of_running_products(x: Any) -> Any:
    a = np.array([np.log(x), 1.0 / x, x])
    return np.where(x > 0, np.cumprod(a)[2] + np.max(a) * np.sqrt(x), x**3)


def of_spreads(x: Any) -> Any:
    a = np.array([np.log(x), x, np.sqrt(x)])
    found = a / np.linalg.norm(a) + (a - np.mean(a)) / np.std(a) + nn.softmax(a)
    return np.where(x > 0, found[1] + nn.log_softmax(a)[0], x**3)


CASES = [
    by_select, by_lax_select, by_choose, by_piecewise, by_cond, by_switch_with_captures, by_scan,
    by_powers, of_products, of_einsum, of_inverses, of_solutions, of_factors, of_running_products,
    of_spreads,
]  # fmt: skip
POINTS = numpy.array([0.0, -0.5, 0.6])


@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_first_and_second_derivatives(f: Callable[[Any], Any], x64: None) -> None:
    h = 1e-4
    low, middle, high = (float(f(np.asarray(0.6 + d))) for d in (-h, 0.0, h))
    slopes = [0.0, 0.75, (high - low) / (2 * h)]
    bends = [0.0, -3.0, (high - 2 * middle + low) / h**2]
    slope, bend = overt.grad(f), overt.grad(overt.grad(f))
    along = lambda x: overt.jvp(slope, (x,), (1.0,))[1]
    batched = lambda x: np.sum(overt.vmap(slope)(x))
    for wanted, found in [
        (slopes, [slope(x) for x in POINTS]),
        (slopes, overt.vmap(slope)(POINTS)),
        (bends, [bend(x) for x in POINTS]),
        (bends, [along(x) for x in POINTS]),
        (bends, overt.vmap(bend)(POINTS)),
        (bends, overt.grad(batched)(POINTS)),
    ]:
        numpy.testing.assert_allclose(numpy.array(found, float), wanted, rtol=1e-5, atol=1e-5)


def test_compiled(x64: None) -> None:
    for f in (by_select, of_products):
        expected = [overt.grad(overt.grad(f))(x) for x in POINTS]
        found = overt.jit(overt.vmap(overt.grad(overt.grad(f))))(POINTS)
        numpy.testing.assert_allclose(found, numpy.array(expected, float), rtol=1e-9)
        assert numpy.isfinite(overt.hessian(f)(0.0))


def test_rows_that_are_masked_after_a_product(x64: None) -> None:
    """Missing rows of data: the slope by the weights is that of the other rows alone."""
    data = numpy.array([[1.0, 2.0], [numpy.nan, 0.5], [0.3, -1.0], [numpy.inf, numpy.nan]])
    whole = numpy.array([0, 2])
    weights = numpy.array([[0.5, -0.2], [0.1, 0.4]])

    def loss(w: Any, data: Any) -> Any:
        out = np.tanh(data @ w)
        here = np.all(np.isfinite(data), axis=1, keepdims=True)
        return np.sum(np.where(here, out, 0.0) ** 2)

    def of_whole(w: Any) -> Any:
        return np.sum(np.tanh(data[whole] @ w) ** 2)

    for transform in (overt.grad, lambda f: overt.jit(overt.grad(f))):
        found = transform(loss)(weights, data)
        numpy.testing.assert_allclose(found, overt.grad(of_whole)(weights), rtol=1e-9)
    along = numpy.ones((2, 2))
    expected = (overt.grad(of_whole)(weights + 1e-6) - overt.grad(of_whole)(weights - 1e-6)) / 2e-6
    found = overt.jvp(lambda w: overt.grad(loss)(w, data), (weights,), (along,))[1]
    numpy.testing.assert_allclose(found, expected, rtol=1e-6)


def test_a_zero_by_chance_is_no_selection(x64: None) -> None:
    """At the minimum of squares all cotangents are zero, and the second derivatives are not."""
    a = numpy.array([[2.0, 1.0], [0.5, 3.0]])
    target = a @ numpy.array([0.3, 0.4])

    def misfit(x: Any, kind: str) -> Any:
        found = np.where(x[0] > -9.0, a @ x, 0.0) if kind == "product" else np.einsum("ij,j", a, x)
        return 0.5 * np.sum((found - target) ** 2)

    for kind in ("product", "sum"):
        at = lambda x: misfit(x, kind)  # noqa: B023
        found = overt.hessian(at)(np.array([0.3, 0.4]))
        numpy.testing.assert_allclose(found, a.T @ a, rtol=1e-9)

    def of_inverse(x: Any) -> Any:
        found = np.where(x > 0, np.linalg.inv(np.array([[x, 1.0], [0.0, 2.0]]))[0, 0], 0.0)
        return 0.5 * (found - 0.5) ** 2

    numpy.testing.assert_allclose(overt.grad(overt.grad(of_inverse))(2.0), 1 / 16, rtol=1e-9)


def test_bounds_leave_values_out(x64: None) -> None:
    """Beyond a bound nothing depends on x, also where the slope at the bound is infinite."""
    for f, outside in (
        (lambda x: np.sqrt(np.maximum(x, 0.0)), -1.0),
        (lambda x: np.arccos(np.clip(x, -1.0, 1.0)), 2.0),
        (lambda x: np.log(-np.minimum(x, 0.0)), 1.0),
    ):
        assert [overt.grad(f)(outside), overt.grad(overt.grad(f))(outside)] == [0.0, 0.0]
    assert overt.grad(lambda x: np.sqrt(np.maximum(x, 0.0)))(4.0) == 0.25


def test_mixed_slopes_at_zero(x64: None) -> None:
    """x * log(y) has the mixed second derivative 1 / y, also at x = 0."""
    for f, y_slope in ((special.xlogy, 0.5), (special.xlog1py, 1 / 3)):
        for order in ((0, 1), (1, 0)):
            found = overt.grad(overt.grad(f, order[0]), order[1])(0.0, 2.0)
            numpy.testing.assert_allclose(found, y_slope, rtol=1e-12)


def test_magnitudes_at_zero(x64: None) -> None:
    f = lambda x: np.abs(x + 1j * x)
    assert overt.jvp(overt.grad(f), (0.0,), (1.0,))[1] == 0.0
    assert overt.grad(overt.grad(f))(0.0) == 0.0
