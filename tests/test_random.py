"""Random numbers: the very bits JAX gives, their moments, and keys as values."""

from __future__ import annotations

import numpy as onp
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import overt.numpy as np
from overt import random
from overt.runtime.config import threefry_partitionable


def test_values_printed_in_the_guide():
    assert_allclose(random.normal(random.key(0), (1,)), [-0.20584226], rtol=1e-6)
    key, subkey = random.split(random.key(0))
    assert random.key_data(key).tolist() == [4146024105, 967050713]
    assert random.key_data(subkey).tolist() == [2718843009, 1272950319]
    assert_allclose(random.normal(subkey, (1,)), [-1.2515389], rtol=1e-6)
    key, subkey = random.split(key)
    assert_allclose(random.normal(subkey, (1,)), [-0.58665055], rtol=1e-6)
    key, *subkeys = random.split(key, 4)
    drawn = [float(random.normal(k, (1,))[0]) for k in subkeys]
    assert_allclose(drawn, [-0.37533438, 0.98645043, 0.14553197], rtol=1e-6)


LOGITS = onp.array([[0.1, 2.0, -1.0], [0.5, 0.5, 0.5]], "float32")
P = onp.array([0.1, 0.2, 0.3, 0.4], "float32")
X = onp.arange(12).reshape(4, 3)
DRAWS = {
    "bits": lambda r, k: r.bits(k, (3, 5)),
    "bits_8": lambda r, k: r.bits(k, (7,), "uint8"),
    "bits_16": lambda r, k: r.bits(k, (2, 3), "uint16"),
    "uniform": lambda r, k: r.uniform(k, (3, 5)),
    "uniform_scalar": lambda r, k: r.uniform(k),
    "uniform_odd": lambda r, k: r.uniform(k, (7,), minval=-2.0, maxval=3.0),
    "uniform_half": lambda r, k: r.uniform(k, (7,), "float16"),
    "uniform_bfloat16": lambda r, k: r.uniform(k, (7,), "bfloat16").astype("float32"),
    "normal": lambda r, k: r.normal(k, (150, 3)),
    "normal_complex": lambda r, k: r.normal(k, (5,), "complex64"),
    "truncated_normal": lambda r, k: r.truncated_normal(k, -1.0, 0.5, (9,)),
    "bernoulli": lambda r, k: r.bernoulli(k, 0.3, (9,)),
    "bernoulli_array": lambda r, k: r.bernoulli(k, P),
    "bernoulli_high": lambda r, k: r.bernoulli(k, 0.3, (9,), mode="high"),
    "categorical": lambda r, k: r.categorical(k, LOGITS),
    "categorical_axis": lambda r, k: r.categorical(k, LOGITS, axis=0),
    "categorical_shape": lambda r, k: r.categorical(k, LOGITS, shape=(5, 2)),
    "categorical_once": lambda r, k: r.categorical(k, LOGITS, shape=(3, 2), replace=False),
    "randint": lambda r, k: r.randint(k, (9,), -3, 17),
    "randint_array": lambda r, k: r.randint(k, (2,), onp.array([0, 5]), onp.array([5, 50])),
    "randint_small": lambda r, k: r.randint(k, (9,), 0, 256, "uint8"),
    "randint_empty": lambda r, k: r.randint(k, (4,), 3, 3),
    "permutation": lambda r, k: r.permutation(k, 10),
    "permutation_rows": lambda r, k: r.permutation(k, X),
    "permutation_columns": lambda r, k: r.permutation(k, X, axis=1),
    "permutation_independent": lambda r, k: r.permutation(k, X, independent=True),
    "choice": lambda r, k: r.choice(k, 10, (4,)),
    "choice_once": lambda r, k: r.choice(k, 10, (2, 3), replace=False),
    "choice_rows": lambda r, k: r.choice(k, X, (3,), axis=1),
    "choice_weighted": lambda r, k: r.choice(k, 4, (6,), p=P),
    "choice_weighted_once": lambda r, k: r.choice(k, 4, (3,), replace=False, p=P),
    "exponential": lambda r, k: r.exponential(k, (5,)),
    "gumbel": lambda r, k: r.gumbel(k, (5,)),
    "gumbel_high": lambda r, k: r.gumbel(k, (5,), mode="high"),
    "laplace": lambda r, k: r.laplace(k, (5,)),
    "logistic": lambda r, k: r.logistic(k, (5,)),
    "cauchy": lambda r, k: r.cauchy(k, (5,)),
    "pareto": lambda r, k: r.pareto(k, 2.0, (5,)),
    "rayleigh": lambda r, k: r.rayleigh(k, onp.float32(2.0), (5,)),
    "weibull": lambda r, k: r.weibull_min(k, 1.0, 2.0, (5,)),
    "lognormal": lambda r, k: r.lognormal(k, 0.5, (5,)),
    "triangular": lambda r, k: r.triangular(k, 0.0, 0.3, 1.0, (5,)),
    "maxwell": lambda r, k: r.maxwell(k, (5,)),
    "geometric": lambda r, k: r.geometric(k, 0.3, (5,)),
    "rademacher": lambda r, k: r.rademacher(k, (5,)),
    "orthogonal": lambda r, k: r.orthogonal(k, 3),
    "multivariate_normal": lambda r, k: r.multivariate_normal(
        k, onp.zeros(2, "float32"), onp.array([[2.0, 0.3], [0.3, 1.0]], "float32"), (4,)
    ),
    "split": lambda r, k: r.key_data(r.split(k, 5)),
    "split_shape": lambda r, k: r.key_data(r.split(k, (2, 3))),
    "fold_in": lambda r, k: r.key_data(r.fold_in(k, 7)),
}
EXACT = ("bits", "uniform", "randint", "permutation", "choice", "split", "fold", "bernoulli")


@pytest.fixture(scope="module")
def jax():
    return pytest.importorskip("jax")


PARTITIONABLE = ("bits", "bits_8", "normal", "randint", "split_shape", "fold_in", "permutation")


@pytest.mark.parametrize(
    ("name", "partitionable"),
    [(name, False) for name in DRAWS] + [(name, True) for name in PARTITIONABLE],
)
def test_same_numbers_as_jax(jax, name, partitionable):
    with jax.threefry_partitionable(partitionable):
        wanted = DRAWS[name](jax.random, jax.random.key(42))
    with threefry_partitionable(partitionable):
        drawn = DRAWS[name](random, random.key(42))
    assert drawn.dtype == wanted.dtype and drawn.shape == wanted.shape
    if name.startswith(EXACT):
        assert_array_equal(onp.asarray(drawn), onp.asarray(wanted))
    else:
        assert_allclose(onp.asarray(drawn), onp.asarray(wanted), rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("seed", [0, 5, -1, 2**31, 2**40 + 3, onp.int32(7)])
@pytest.mark.parametrize("wide", [False, True])
def test_seeds_as_jax(jax, seed, wide):
    from overt.runtime.config import enable_x64

    with jax.enable_x64(wide):
        wanted = jax.random.key_data(jax.random.key(seed)).tolist()
    with enable_x64(wide):
        assert random.key_data(random.key(seed)).tolist() == wanted


def test_wide_numbers_as_jax(jax, x64):
    with jax.enable_x64(True), jax.threefry_partitionable(False):
        for name in ("uniform", "normal", "bits", "randint"):
            wanted = DRAWS[name](jax.random, jax.random.key(3))
            drawn = DRAWS[name](random, random.key(3))
            assert drawn.dtype == wanted.dtype and drawn.dtype.itemsize == 8
            assert_allclose(onp.asarray(drawn), onp.asarray(wanted), rtol=1e-12)


def test_moments():
    draws = onp.asarray(random.normal(random.key(1), (40_000,)))
    assert abs(draws.mean()) < 0.02 and abs(draws.std() - 1) < 0.02
    draws = onp.asarray(random.uniform(random.key(1), (40_000,)))
    assert 0 <= draws.min() and draws.max() < 1 and abs(draws.mean() - 0.5) < 0.01
    counts = onp.bincount(
        onp.asarray(random.categorical(random.key(2), np.log(P), shape=(40_000,)))
    )
    assert_allclose(counts / 40_000, P, atol=0.01)


def test_raw_and_typed_keys_give_the_same_numbers():
    raw = random.PRNGKey(9)
    assert raw.shape == (2,) and raw.dtype == "uint32"
    assert_array_equal(random.normal(raw, (3,)), random.normal(random.key(9), (3,)))
    assert random.split(raw).shape == (2, 2)
    assert_array_equal(random.key_data(random.wrap_key_data(raw)), raw)


def test_keys_are_values():
    keys = random.split(random.key(0), 4)
    assert keys.shape == (4,) and len(keys) == 4 and keys.size == 4 and keys.ndim == 1
    assert keys[1].shape == () and keys[1:].shape == (3,)
    assert keys.reshape(2, 2).shape == (2, 2) and keys.reshape(2, 2)[0, 1].shape == ()
    first, *rest = keys
    assert first.shape == () and len(rest) == 3
    assert_array_equal(random.key_data(keys[3]), random.key_data(rest[-1]))


@pytest.mark.parametrize(
    ("kind", "call"),
    [
        (ValueError, lambda: random.normal(random.split(random.key(0)), (3,))),
        (TypeError, lambda: random.normal(0)),
        (TypeError, lambda: random.key(1.5)),
        (TypeError, lambda: random.key(onp.arange(2))),
        (ValueError, lambda: random.normal(random.key(0), (2,), "int32")),
        (TypeError, lambda: random.randint(random.key(0), (2,), 0, 5, "float32")),
        (ValueError, lambda: random.uniform(random.key(0), (2,), minval=onp.zeros(3))),
        (ValueError, lambda: random.choice(random.key(0), 3, (4,), replace=False)),
        (TypeError, lambda: random.bernoulli(random.key(0), 1)),
        (TypeError, lambda: len(random.key(0))),
        (TypeError, lambda: bool(random.key(0))),
        (TypeError, lambda: random.fold_in(random.key(0), onp.arange(2))),
    ],
)
def test_misuse_is_refused(kind, call):
    with pytest.raises(kind):
        call()


def test_float64_warns_when_it_is_off():
    for _ in range(2):
        with pytest.warns(UserWarning, match="float64"):
            drawn = random.uniform(random.key(0), (4,), dtype=onp.float64)
        assert drawn.dtype == "float32"


def test_weibull_draws_one_number_for_each_parameter():
    k = random.key(3)
    draws = random.weibull_min(k, np.ones((3, 1)), np.ones(4))
    assert draws.shape == (3, 4) and len({float(x) for x in draws.ravel()}) == 12
    assert_array_equal(draws, random.weibull_min(k, np.ones((3, 1)), np.ones(4), (3, 4)))
