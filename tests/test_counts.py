"""Poisson, binomial and multinomial counts, and the generators that are chosen by name."""

from __future__ import annotations

import numpy as onp
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import overt
import overt.numpy as np
from overt import random
from overt.dtypes import issubdtype, prng_key

LAM = onp.array([0, 0.1, 5, 9.9, 10, 50, 1e5], "float32")
N = onp.array([0, 5, 5, 20, 100, 1e4, onp.nan, onp.inf, -1, 3], "float32")
P = onp.array([0.3, 0, 1, 0.9, 0.4, 0.5, 0.2, 0.1, 0.5, onp.nan], "float32")
COUNTS = {
    "poisson": lambda r, k: r.poisson(k, LAM, (3, 7)),
    "binomial": lambda r, k: r.binomial(k, N, P, (3, 10)),
    "multinomial": lambda r, k: r.multinomial(
        k, onp.float32([10, 70]), onp.float32([[0.1, 0.2, 0.3, 0.4]] * 2)
    ),
}


@pytest.mark.parametrize(
    ("name", "partitionable"), [("poisson", False), ("multinomial", True), ("binomial", False)]
)
def test_same_counts_as_jax(name, partitionable):
    jax = pytest.importorskip("jax")
    with jax.threefry_partitionable(partitionable):
        wanted = COUNTS[name](jax.random, jax.random.key(42))
    with overt.threefry_partitionable(partitionable):
        drawn = COUNTS[name](random, random.key(42))
    assert drawn.dtype == wanted.dtype and drawn.shape == wanted.shape
    assert_array_equal(onp.asarray(drawn), onp.asarray(wanted))


def test_moments():
    counts = onp.asarray(random.poisson(random.key(1), 20.0, (20_000,)))
    assert abs(counts.mean() - 20) < 0.2 and abs(counts.var() - 20) < 1
    counts = onp.asarray(random.binomial(random.key(1), 50, 0.4, (20_000,)))
    assert abs(counts.mean() - 20) < 0.2 and abs(counts.var() - 12) < 1


IMPLS = ("rbg", "unsafe_rbg")
WITH_KEYS = (
    lambda r, k: r.key_data(k),
    lambda r, k: r.key_data(r.split(k, (2, 3))),
    lambda r, k: r.key_data(r.fold_in(k, 7)),
    lambda r, k: r.bits(k, (3, 5)),
    lambda r, k: r.bits(k, (3,), "uint8"),
    lambda r, k: r.randint(k, (3, 5), 0, 100),
)


@pytest.mark.parametrize("impl", IMPLS)
def test_generators_of_the_device_as_jax(impl):
    jax = pytest.importorskip("jax")
    with jax.threefry_partitionable(False):
        for draw in WITH_KEYS:
            wanted = draw(jax.random, jax.random.key(5, impl=impl))
            assert_array_equal(draw(random, random.key(5, impl=impl)), wanted)
    assert random.key_impl(random.key(5, impl=impl)) == impl
    assert str(random.key_dtype(impl)) == str(jax.random.key_dtype(impl))


@pytest.mark.parametrize("impl", IMPLS)
def test_keys_of_the_device_in_lanes_and_programs(impl):
    draw = lambda k: random.normal(random.fold_in(k, 1), (3,))
    keys = random.split(random.key(0, impl=impl), 4)
    assert random.key_impl(keys) == impl and keys.shape == (4,)
    wanted = onp.stack([draw(k) for k in keys])
    assert_array_equal(overt.vmap(draw)(keys), wanted)
    assert_array_equal(overt.jit(overt.vmap(draw))(keys), wanted)


def test_the_default_generator():
    with overt.default_prng_impl("rbg"):
        assert random.PRNGKey(3).shape == (4,) and random.key(3).impl == "rbg"
        wanted = random.normal(random.key(3), (2,))
        assert_array_equal(random.normal(random.PRNGKey(3), (2,)), wanted)
    assert_array_equal(random.normal(random.key(3, impl="rbg"), (2,)), wanted)
    with pytest.raises(TypeError, match="key"):
        random.normal(np.zeros(4, "uint32"), (2,))


def test_dtypes_of_keys():
    dtype = random.key_dtype("rbg")
    assert issubdtype(dtype, prng_key) and dtype == random.key_dtype("rbg") != random.key_dtype()
    key = random.key(1, dtype=dtype)
    same = random.wrap_key_data(random.key_data(key), dtype=dtype)
    assert_array_equal(random.bits(same), random.bits(key))


def test_bits_of_the_device():
    key, bits = overt.lax.rng_bit_generator(onp.array([0, 1, 0, 1], "uint32"), (2, 3))
    again, more = overt.lax.rng_bit_generator(key, (2, 3))
    assert bits.dtype == "uint32" and onp.any(onp.asarray(bits) != onp.asarray(more))
    draws = onp.asarray(overt.lax.rng_uniform(2.0, 3.0, (1000,)))
    assert draws.min() >= 2 and draws.max() < 3 and abs(draws.mean() - 2.5) < 0.1


@pytest.mark.parametrize(
    ("kind", "call"),
    [
        (ValueError, lambda: random.key(0, impl="dice")),
        (NotImplementedError, lambda: random.poisson(random.key(0, impl="rbg"), 1.0)),
        (TypeError, lambda: random.poisson(random.key(0), 1.0, dtype=float)),
        (TypeError, lambda: random.wrap_key_data(onp.zeros(2, "uint32"), impl="rbg")),
        (TypeError, lambda: overt.lax.rng_bit_generator(onp.zeros(3, "uint32"), (2,))),
        (ValueError, lambda: overt.lax.rng_uniform(0, 1.0, (2,))),
    ],
)
def test_misuse_is_refused(kind, call):
    with pytest.raises(kind):
        call()


def test_multinomial_counts_add_up():
    counts = random.multinomial(random.key(0), 12.0, onp.array([0.25, 0.5, 0.25]))
    assert_allclose(onp.sum(counts), 12)
    many = random.multinomial(random.key(0), 12.0, onp.array([0.25, 0.5, 0.25]), shape=(4,))
    assert many.shape == (4, 3) and onp.all(onp.sum(many, -1) == 12)
