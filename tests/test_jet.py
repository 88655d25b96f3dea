"""Taylor polynomials through functions: as JAX's, and as derivatives of derivatives."""

from __future__ import annotations

import math

import numpy
import pytest
from numpy.testing import assert_allclose

import overt
import overt.numpy as np
from overt.experimental.jet import jet

POINT = numpy.array([0.3, -0.7])
TERMS = [numpy.array([1.0, 0.5]), numpy.array([-0.2, 0.8]), numpy.array([0.4, -0.1])]
MATRIX = numpy.array([[0.2, 1.0], [-0.4, 0.6], [1.1, 0.3]])


def layer(np, x):
    y = np.tanh(MATRIX @ x) + np.exp(-np.sum(x * x))
    return np.sin(y) / (2 + np.cos(y)), np.sqrt(1 + np.sum(y**2))


def test_series_as_jax(x64):
    jax = pytest.importorskip("jax")
    from jax.experimental import jet as theirs

    for scaled in (True, False):
        with jax.enable_x64(True):
            wanted = theirs.jet(
                lambda x: layer(jax.numpy, x), (jax.numpy.asarray(POINT),),
                ([jax.numpy.asarray(t) for t in TERMS],), factorial_scaled=scaled,
            )  # fmt: skip
        found = jet(lambda x: layer(np, x), (POINT,), (TERMS,), factorial_scaled=scaled)
        for x, y in zip(found[0], wanted[0], strict=True):
            assert_allclose(x, y, rtol=1e-10)
        for terms, others in zip(found[1], wanted[1], strict=True):
            for x, y in zip(terms, others, strict=True):
                assert_allclose(x, y, rtol=1e-9)


def test_derivatives_of_a_function_with_control_flow(x64):
    def f(x, n):
        total = x
        while total < 5:
            total = total * x
            if total > 3:
                total = total + np.sin(x)
        return total * n

    # 1.7 ** 3 + sin(1.7) is the first above 5
    def exact(k):
        powers = [1.7**3, 3 * 1.7**2, 6 * 1.7, 6.0][k]
        return 2 * (powers + math.sin(1.7 + k * math.pi / 2))

    for run in (lambda g: g, overt.jit):
        value, (terms) = run(lambda x: jet(f, (x, 2.0), ((1.0, 0.0, 0.0), (0.0, 0.0, 0.0))))(1.7)
        assert_allclose(value, exact(0), rtol=1e-12)
        assert_allclose(terms, [exact(1), exact(2), exact(3)], rtol=1e-10)

    def third(x):
        return jet(f, (x, 2.0), ((1.0, 0.0), (0.0, 0.0)))[1][1]

    assert_allclose(overt.grad(third)(1.7), exact(3), rtol=1e-9)
    points = numpy.array([1.7, 1.71])
    assert_allclose(overt.vmap(third)(points), [third(x) for x in points], rtol=1e-10)


def test_arguments_are_checked():
    with pytest.raises(ValueError, match="as many series"):
        jet(np.sin, (1.0,), ())
    with pytest.raises(ValueError, match="one length"):
        jet(np.add, (1.0, 2.0), ((1.0,), (1.0, 0.0)))
    assert jet(np.sin, (0.0,), ((),)) == (0.0, [])
