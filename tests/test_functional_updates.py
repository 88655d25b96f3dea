"""Derivatives through `x.at[i].set(v)` and its kin, and through library objects that hold values.

Finite differences in float64 are the oracle, and a loop over lanes for vmap.
"""

from __future__ import annotations

import numpy
import pytest

import overt
import overt.numpy as np
from overt import lax, tree_util
from overt.scipy import interpolate, stats

pytestmark = pytest.mark.usefixtures("x64")


def set_number(x):
    return np.sum(x.at[0].set(x[1] * x[0]) ** 2)


def set_constant(x):
    return np.sum(x.at[1].set(3.0) ** 2)


def add_slice(x):
    return np.sum(x.at[1:].add(x[0]) ** 3)


def set_repeated(x):  # the last of several writes counts, one out of range is left out
    places = np.array([0, 0, 7])
    return np.sum(x.at[places].set(x[1] * np.array([1.0, 2.0, 3.0])) ** 2)


def out_of_range(x):
    return np.sum(x.at[9].set(x[1]) ** 2 + x.at[9].add(x[0]) ** 3)


def in_a_loop(x):
    for i in range(2):
        x = x.at[i].set(x[1 - i] * x[i])
    return np.sum(x**2)


def in_a_branch_and_a_helper(x):
    def first(y, v):
        return y.at[0].set(v)

    y = first(x, x[1] ** 2)
    if x[0] > 0:
        y = y.at[1].add(y[0])
    return np.sum(y**2) + y[1] * y[0]


def chained(x):
    z = np.zeros((2, 3)).at[0].set(x).at[:, 1].min(0.3 * x[:2])
    z = z.at[np.array([1, 0]), np.array([0, 0])].add(x[1:] ** 2, mode="drop").at[1, 1].apply(np.sin)
    return np.sum(z**2 * np.arange(6.0).reshape(2, 3))


def others(x):
    y = x.at[0].multiply(x[1]) + x.at[0].divide(x[1]) + x.at[1].power(3.0)
    y = y + x.at[0].subtract(2 * x[0]) + x.at[0].max(x[1]) + x.at[1].min(x[0])
    return np.sum(y**2)


def read(x):
    far = x.at[5].get(mode="fill", fill_value=7.0)
    last = x.at[8].get(mode="clip") * x.at[9].get(fill_value=2.0)
    return np.sum(x.at[np.array([0, 2])].get() ** 2) + far * x[0] + last**2


def stored_method(x):
    at = x.at
    change = at[0].set
    return np.sum(change(x[1] * x[0]) ** 2) + np.sum(at[1].multiply(x[0]) ** 3)


def with_scan(x):
    def step(c, t):
        return c.at[t + 1].set(c[t] * 1.1 + x[0]), c[t]

    c, seen = lax.scan(step, np.zeros(4).at[0].set(x[1]), np.arange(3))
    return np.sum(c**2) + np.sum(seen)


def with_fori(x):
    return np.sum(lax.fori_loop(0, 2, lambda t, c: c.at[t + 1].set(c[t] * x[0]), x) ** 2)


def density(x):
    return np.sum(stats.gaussian_kde(np.array([0.1, 0.5, 0.9]) * x[0])(np.array([0.3, 0.4])))


def table(x):
    values = interpolate.RegularGridInterpolator((np.arange(3.0),), x)
    return np.sum(values(np.array([[0.5], [1.3]])) ** 2)


def bound(x):
    return tree_util.Partial(lambda a, b: np.sum(a * b**2), x)(x)


FUNCTIONS = [
    set_number, set_constant, add_slice, set_repeated, out_of_range, in_a_loop, chained, others,
    in_a_branch_and_a_helper, read, stored_method, with_scan, with_fori, density, table, bound,
]  # fmt: skip
POINT = numpy.array([0.5, 0.2, 0.9])


def slopes(f, x, step=1e-4):
    """First derivatives of `f` by fourth-order central differences."""
    rows = numpy.eye(len(x)) * step

    def at(d):
        return numpy.asarray(f(np.asarray(x + d)))

    near = numpy.array([at(d) - at(-d) for d in rows])
    far = numpy.array([at(2 * d) - at(-2 * d) for d in rows])
    return (8 * near - far) / (12 * step)


def close(found, wanted):
    numpy.testing.assert_allclose(numpy.asarray(found), wanted, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_first_derivatives(f):
    want = slopes(f, POINT)
    close(overt.grad(f)(np.asarray(POINT)), want)
    close(overt.jit(overt.grad(f))(np.asarray(POINT)), want)
    close(overt.grad(overt.jit(f))(np.asarray(POINT)), want)
    close(overt.jacfwd(f)(np.asarray(POINT)), want)


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_lanes(f):
    points = numpy.stack([POINT, 0.7 * POINT])
    want = [slopes(f, p) for p in points]
    close(overt.vmap(f)(points), [f(np.asarray(p)) for p in points])
    close(overt.vmap(overt.grad(f))(points), want)
    close(overt.grad(lambda rows: np.sum(overt.vmap(f)(rows)))(points), want)


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_second_derivatives(f):
    want = slopes(overt.grad(f), POINT)  # of first derivatives, themselves checked
    close(overt.jacfwd(overt.grad(f))(np.asarray(POINT)), want)
    close(overt.jacrev(overt.grad(f))(np.asarray(POINT)), want)


def test_text_reads_as_users_write():
    text = overt.source(overt.grad(set_constant))
    assert text == "def set_constant_grad(x):\n    return (2 * x.at[1].set(3.0)).at[1].set(0)\n"
