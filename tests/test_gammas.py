"""The gamma distribution and its relatives: the very numbers of JAX, and their derivatives."""

from __future__ import annotations

import numpy as onp
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import overt
import overt.numpy as np
from overt import random

A = onp.array([0.01, 0.3, 1.0, 2.5, 1000.0], "float32")
# Together they draw from all: chisquare is in f, generalized_normal in ball, loggamma in beta.
DRAWS = {
    "beta": lambda r, k: r.beta(k, A, 2.0, (2, 5)),
    "dirichlet": lambda r, k: r.dirichlet(k, A[:3], (2,)),
    "f": lambda r, k: r.f(k, A, 3.0),
    "t": lambda r, k: r.t(k, A, (2, 5)),
    "ball": lambda r, k: r.ball(k, 3, 1.5, (2,)),
    "wald": lambda r, k: r.wald(k, A, (2, 5)),
    "double_sided_maxwell": lambda r, k: r.double_sided_maxwell(k, 1.0, A, (2,)),
}


@pytest.mark.parametrize("name", DRAWS)
def test_same_numbers_as_jax(name):
    jax = pytest.importorskip("jax")
    with jax.threefry_partitionable(False):
        wanted = DRAWS[name](jax.random, jax.random.key(42))
    drawn = DRAWS[name](random, random.key(42))
    assert drawn.dtype == wanted.dtype and drawn.shape == wanted.shape
    assert_allclose(onp.asarray(drawn), onp.asarray(wanted), rtol=2e-6)


def test_wide_numbers_of_the_partitionable_stream_as_jax(x64):
    jax = pytest.importorskip("jax")
    a = A.astype(float)
    with jax.enable_x64(True), jax.threefry_partitionable(True):
        wanted = jax.random.gamma(jax.random.key(3), a)
    with overt.threefry_partitionable(True):
        drawn = random.gamma(random.key(3), a)
    assert drawn.dtype == wanted.dtype == "float64"
    assert_allclose(drawn, wanted, rtol=1e-14)


def test_derivative_keeps_the_place_in_the_distribution(x64):
    special = pytest.importorskip("scipy.special")
    key = random.key(1)
    draw = overt.jit(lambda a: random.gamma(key, a, (6,)))
    total = overt.grad(lambda a: np.sum(np.exp(random.loggamma(key, a, (6,)))))
    for shape in (0.3, 4.0):
        drawn, slopes = overt.jvp(draw, (shape,), (1.0,))
        places, h = special.gammainc(shape, onp.asarray(drawn)), 1e-5
        moved = special.gammaincinv(shape + h, places) - special.gammaincinv(shape - h, places)
        assert_allclose(slopes, moved / (2 * h), rtol=1e-5)
        assert_allclose(total(shape), onp.sum(slopes), rtol=1e-6)


def test_derivatives_and_lanes_go_through_the_relatives():
    key = random.key(2)
    mean = lambda a: np.sum(random.dirichlet(key, a) * np.arange(3.0))
    a = onp.array([0.5, 1.0, 2.0], "float32")
    slopes = overt.grad(mean)(a)
    assert slopes.shape == (3,) and onp.all(onp.isfinite(slopes))
    keys = random.split(key, 3)
    many = overt.jit(overt.vmap(lambda k, a: random.gamma(k, a, (2,))))(keys, a)
    one_by_one = [random.gamma(k, x, (2,)) for k, x in zip(keys, a, strict=True)]
    assert_allclose(many, onp.stack(one_by_one), rtol=1e-6)


def test_slopes_of_the_incomplete_gamma_function(x64):
    special = pytest.importorskip("scipy.special")
    a = onp.array([0.01, 0.3, 1.0, 1.0, 2.5, 50.0, 300.0, 0.5, 1000.0])
    x = onp.array([0.001, 0.2, 1.0, 3.0, 2.0, 45.0, 320.0, 8.0, 1020.0])
    h = 1e-4 * a
    central = lambda k: special.gammainc(a + k * h, x) - special.gammainc(a - k * h, x)
    wanted = (8 * central(1) - central(2)) / (12 * h)
    slope = overt.lax.igamma_grad_a(a, x)
    assert_allclose(slope, wanted, rtol=1e-6)
    weight = onp.exp((a - 1) * onp.log(x) - x - special.gammaln(a))
    assert_allclose(overt.lax.random_gamma_grad(a, x), -wanted / weight, rtol=1e-6)
    assert_allclose(overt.grad(overt.scipy.special.gammainc)(2.5, 2.0), wanted[4], rtol=1e-6)
    assert_array_equal(
        overt.lax.igamma_grad_a(onp.array([1.0, -1.0]), onp.array([0.0, 1.0])), [0.0, onp.nan]
    )


def test_moments():
    draws = onp.asarray(random.gamma(random.key(5), 3.0, (20_000,)))
    assert abs(draws.mean() - 3) < 0.05 and abs(draws.var() - 3) < 0.15
    draws = onp.asarray(random.wald(random.key(5), 2.0, (20_000,)))
    assert abs(draws.mean() - 2) < 0.1


@pytest.mark.parametrize(
    ("kind", "call"),
    [
        (ValueError, lambda: random.gamma(random.key(0), onp.ones(3), (2,))),
        (ValueError, lambda: random.gamma(random.key(0), 1.0, dtype=int)),
        (ValueError, lambda: random.dirichlet(random.key(0), 1.0)),
        (ValueError, lambda: random.chisquare(random.key(0), onp.float32(1), dtype="float16")),
    ],
)
def test_misuse_is_refused(kind, call):
    with pytest.raises(kind):
        call()
