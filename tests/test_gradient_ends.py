"""`np.gradient` with parabolas at the ends, against NumPy and differences of it."""

from __future__ import annotations

import numpy
import pytest

import overt
import overt.numpy as np

pytestmark = pytest.mark.usefixtures("x64")

VALUES = numpy.random.default_rng(0).normal(size=(3, 5))
PLACES = numpy.array([0.0, 1.0, 1.5, 3.0, 3.2])

WAYS = {
    "one spacing": lambda m, f: m.gradient(f[0], 0.3, edge_order=2),
    "places": lambda m, f: m.gradient(f[0], m.asarray(PLACES), edge_order=2),
    "places that move": lambda m, f: m.gradient(f[0], m.cumsum(m.exp(f[1])), edge_order=2),
    "an axis": lambda m, f: m.gradient(f, m.asarray(PLACES), axis=1, edge_order=2),
    "two axes": lambda m, f: m.stack(m.gradient(f, edge_order=2)),
}


@pytest.mark.parametrize("name", WAYS)
def test_values_and_derivatives(name):
    way = WAYS[name]
    numpy.testing.assert_allclose(way(np, np.asarray(VALUES)), way(numpy, VALUES), rtol=1e-12)

    def total(m, f):
        return m.sum(way(m, f) ** 2)

    want = numpy.zeros(VALUES.shape)
    for place in numpy.ndindex(*VALUES.shape):
        moved = [VALUES.copy(), VALUES.copy()]
        moved[0][place] += 1e-6
        moved[1][place] -= 1e-6
        want[place] = (total(numpy, moved[0]) - total(numpy, moved[1])) / 2e-6
    slope = overt.grad(lambda f: total(np, f))
    for got in (slope(VALUES), overt.jit(slope)(VALUES), overt.vmap(slope)(VALUES[None])[0]):
        numpy.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-6)
    dot = overt.jvp(lambda f: total(np, f), (VALUES,), (VALUES,))[1]
    assert float(dot) == pytest.approx(numpy.sum(want * VALUES), rel=1e-6)


def test_too_few_elements_and_other_orders():
    with pytest.raises(ValueError, match="at least 3 elements"):
        np.gradient(np.ones(2), edge_order=2)
    with pytest.raises(ValueError, match="edge_order is 1 or 2"):
        np.gradient(np.ones(5), edge_order=3)
