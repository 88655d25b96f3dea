"""Cotangents through Fourier transforms and outer products, against jax, twice."""

from __future__ import annotations

import numpy
import pytest

import overt
import overt.numpy as np

jax = pytest.importorskip("jax")
jnp = jax.numpy
RANDOM = numpy.random.default_rng(0)
REAL = RANDOM.normal(size=(4, 5))


@pytest.fixture(autouse=True)
def double_precision():
    jax.config.update("jax_enable_x64", True)
    with overt.enable_x64(True):
        yield


def spectrum(np_, name, n, axis, norm):
    def f(x):
        y = getattr(np_.fft, name)(x, n, axis, norm)
        real, imag = np_.ravel(np_.real(y)), np_.ravel(np_.imag(y))
        return np_.sum(real**2 * np_.arange(real.shape[0]) + 2 * real * imag + np_.sin(imag))

    return f


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft"])
@pytest.mark.parametrize("n, axis, norm", [(None, -1, None), (3, 0, "ortho"), (8, 1, "forward")])
def test_transforms(name, n, axis, norm):
    ours, theirs = (spectrum(np_, name, n, axis, norm) for np_ in (np, jnp))
    given = [REAL] if name == "rfft" else [REAL, REAL + 1j * REAL[::-1]]
    for x in given:
        numpy.testing.assert_allclose(overt.grad(ours)(x), jax.grad(theirs)(x), atol=1e-9)
    found = overt.jvp(overt.grad(ours), (REAL,), (2 * REAL,))[1]
    wanted = jax.jvp(jax.grad(theirs), (REAL,), (2 * REAL,))[1]
    numpy.testing.assert_allclose(found, wanted, atol=1e-9)


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft"])
def test_only_the_real_part_is_read(name):
    def of(np_):
        return lambda x: np_.sum(getattr(np_.fft, name)(x).real ** 2)

    numpy.testing.assert_allclose(overt.grad(of(np))(REAL), jax.grad(of(jnp))(REAL), atol=1e-9)


def products(np_):
    def f(x, y):
        return np_.sum(np_.sin(np_.outer(x, y)) * (x @ y.T)[:1, :1]) + np_.sum(np_.max(x @ y.T))

    return f


def test_products_twice():
    x, y = REAL, RANDOM.normal(size=(4, 5))
    ours, theirs = products(np), products(jnp)
    for i in (0, 1):
        numpy.testing.assert_allclose(
            overt.grad(ours, i)(x, y), jax.grad(theirs, i)(x, y), atol=1e-9
        )

    def slope(grad):
        return lambda x, y: (grad(x, y)[0] ** 2).sum() + (grad(x, y)[1] ** 3).sum()

    found = overt.grad(slope(overt.grad(ours, (0, 1))), (0, 1))(x, y)
    wanted = jax.grad(slope(jax.grad(theirs, (0, 1))), (0, 1))(x, y)
    for f, w in zip(found, wanted, strict=True):
        numpy.testing.assert_allclose(f, w, rtol=1e-8, atol=1e-8)
