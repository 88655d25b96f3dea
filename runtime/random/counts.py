"""Numbers of events: the Poisson, binomial and multinomial distributions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

import overt.runtime.numpy as np
from overt.runtime import config, dtypes, lax
from overt.runtime.control import for_loop, while_loop
from overt.runtime.random.generators import split_words
from overt.runtime.random.keys import raw, sampler
from overt.runtime.random.sampling import checked_shape, float_dtype, int_dtype, uniform
from overt.runtime.scipy.gamma_functions import gammaln


def _first_accepted(key: Any, draw: Callable, shape: Any, dtype: Any) -> Any:
    """The first count that is accepted, in every place; `draw(key, key)` gives (counts, accept)."""

    def any_left(key: Any, counts: Any, accepted: Any) -> Any:
        return np.any(~accepted)

    def draw_again(key: Any, counts: Any, accepted: Any) -> Any:
        key, first, second = split_words(key, (3,))
        drawn, accept = draw(first, second)
        return key, np.where(accept, drawn, counts), accepted | accept

    start = key, np.full(shape, -1, dtype), np.zeros(shape, bool)
    return while_loop(any_left, draw_again, start)[1]


def _few_poisson(key: Any, lam: Any, dtype: Any) -> Any:
    """Uniform numbers are multiplied until they fall below exp(-lam).

    Source: D. E. Knuth, The Art of Computer Programming, volume 2, section 3.4.1.
    """

    def any_left(key: Any, count: Any, total: Any) -> Any:
        return np.any(total > -lam)

    def multiply(key: Any, count: Any, total: Any) -> Any:
        key, subkey = split_words(key, (2,))
        count = np.where(total > -lam, count + 1, count)
        return key, count, total + np.log(uniform(subkey, lam.shape, "float32"))

    start = key, np.zeros(lam.shape, dtype), np.zeros(lam.shape, "float32")
    return while_loop(any_left, multiply, start)[1] - 1


def _many_poisson(key: Any, lam: Any, dtype: Any) -> Any:
    """Transformed rejection.

    Source: W. Hörmann, "The transformed rejection method for generating Poisson random variables",
    1993, algorithm PTRS.
    """
    log_lam = np.log(lam)
    b = 0.931 + 2.53 * np.sqrt(lam)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    v_r = 0.9277 - 3.6224 / (b - 2)

    def draw(first: Any, second: Any) -> tuple[Any, Any]:
        u = uniform(first, lam.shape, lam.dtype) - 0.5
        v = uniform(second, lam.shape, lam.dtype)
        us = 0.5 - np.abs(u)
        k = np.floor((2 * a / us + b) * u + lam + 0.43)
        s = np.log(v * inverse_alpha / (a / (us * us) + b))
        bound = -lam + k * log_lam - gammaln(k + 1)
        outside = (k < 0) | ((us < 0.013) & (v > us))
        return k, ((us >= 0.07) & (v <= v_r)) | (~outside & (s <= bound))

    return _first_accepted(key, draw, lam.shape, lam.dtype).astype(dtype)


@sampler("lam")
def _poisson(key: Any, lam: Any, dtype: Any) -> Any:
    few = np.isnan(lam) | (lam < 10)
    counts = np.where(
        few,
        _few_poisson(key, np.where(few, lam, 0), dtype),
        _many_poisson(key, np.where(few, numpy.float32(1e5), lam), dtype),
    )
    return np.where(lam == 0, np.zeros_like(counts), counts)


def poisson(key: Any, lam: Any, shape: Any = None, dtype: Any = None) -> Any:
    """How many events there are where `lam` are expected.

    >>> from overt import random
    >>> random.poisson(random.key(0), 3.0, (4,)).dtype.name
    'int32'
    """
    dtype = int_dtype("poisson", dtype)
    raw("poisson", key)
    impl = getattr(key, "impl", config.current().default_prng_impl)
    if impl != "threefry2x32":
        raise NotImplementedError(f"poisson draws with keys of threefry2x32 only, not of {impl}")
    shape = checked_shape("poisson", shape, lam)
    return _poisson(key, np.broadcast_to(np.asarray(lam).astype("float32"), shape), dtype)


# What Stirling's formula for log(k!) lacks for k = 0..9.
_STIRLING_TAIL = (
    0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509,
    0.0166446911898211, 0.0138761288230707, 0.0118967099458917, 0.0104112652619720,
    0.00925546218271273, 0.00833056343336287,
)  # fmt: skip


def _stirling_tail(k: Any) -> Any:
    """What Stirling's formula for log(k!) lacks."""
    small = k <= 9
    k = np.clip(k, 0, 9)  # beyond 9 too: what is lacking is negligible, and JAX does it
    square = (k + 1) * (k + 1)
    series = (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1)
    table = np.asarray(numpy.array(_STIRLING_TAIL, k.dtype))
    return np.where(small, table[np.floor(k).astype("int32")], series)


def _few_successes(key: Any, n: Any, p: Any) -> Any:
    """Geometric waiting times are added until they exceed the number of trials.

    Source: L. Devroye, Non-Uniform Random Variate Generation, 1986, section X.4.3.
    """
    log_failure = np.log1p(-p)

    def any_left(key: Any, count: Any, waited: Any) -> Any:
        return np.any(waited <= n)

    def wait(key: Any, count: Any, waited: Any) -> Any:
        subkey, key = split_words(key, (2,))
        count = np.where(waited <= n, count + 1, count)
        return key, count, waited + np.ceil(np.log(uniform(subkey, n.shape, p.dtype)) / log_failure)

    return while_loop(any_left, wait, (key, np.zeros_like(p), np.zeros_like(p)))[1] - 1


def _many_successes(key: Any, n: Any, p: Any) -> Any:
    """Transformed rejection with squeeze.

    Source: W. Hörmann, "The generation of binomial random variates", 1993, algorithm BTRS.
    """
    deviation = np.sqrt(n * p * (1 - p))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * p
    center = n * p + 0.5
    v_r = 0.92 - 4.2 / b
    odds = p / (1 - p)
    alpha = (2.83 + 5.1 / b) * deviation
    mode = np.floor((n + 1) * p)

    def draw(first: Any, second: Any) -> tuple[Any, Any]:
        u = uniform(first, n.shape, p.dtype) - 0.5
        v = uniform(second, n.shape, p.dtype)
        us = 0.5 - np.abs(u)
        k = np.floor((2 * a / us + b) * u + center)
        outside = (k < 0) | (k > n)
        height = np.log(v * alpha / (a / (us * us) + b))
        bound = (
            (mode + 0.5) * np.log((mode + 1) / (odds * (n - mode + 1)))
            + (n + 1) * np.log((n - mode + 1) / (n - k + 1))
            + (k + 0.5) * np.log(odds * (n - k + 1) / (k + 1))
            + _stirling_tail(mode)
            + _stirling_tail(n - mode)
            - _stirling_tail(k)
            - _stirling_tail(n - k)
        )
        return k, ((us >= 0.07) & (v <= v_r)) | (~outside & (height <= bound))

    return _first_accepted(key, draw, n.shape, p.dtype)


@sampler("n", "p")
def binomial(key: Any, n: Any, p: Any, shape: Any = None, dtype: Any = None) -> Any:
    """How many of `n` trials succeed, each with probability `p`; NaN where there is no such number.

    >>> from overt import random
    >>> 0 <= int(random.binomial(random.key(0), 10, 0.3)) <= 10
    True
    """
    dtype = float_dtype("binomial", dtype)
    shape = checked_shape("binomial", shape, n, p)
    p = np.asarray(p)
    p = np.broadcast_to(p.astype(dtypes.to_inexact(p.dtype)), shape)
    n = np.broadcast_to(np.asarray(n).astype(p.dtype), shape)
    rare = p < 0.5
    q = np.where(rare, p, 1 - p)
    no_count, no_chance = np.isnan(n) | (n < 0), np.isnan(q) | (q < 0)
    nan_chance = np.isnan(q)
    q = np.where(no_chance, numpy.array(0.01, q.dtype), q)
    few = no_count | (n * q <= 10)
    n = np.floor(n)
    counts = np.where(
        few,
        _few_successes(key, np.where(few, n, 0), q),
        _many_successes(key, np.where(few, 1e4, n), np.where(few, 0.5, q)),
    ).astype(dtype)
    infinite = np.isinf(n)
    counts = np.where(no_count | no_chance, np.nan, np.where(infinite, np.inf, counts))
    return np.where(rare | no_count | nan_chance | infinite, counts, n.astype(dtype) - counts)


@sampler("n", "p")
def multinomial(
    key: Any, n: Any, p: Any, *, shape: Any = None, dtype: Any = None, unroll: Any = 1
) -> Any:
    """How often each of several outcomes happens in `n` trials.

    Shapes: n (...), p (..., outcomes), result (*shape, outcomes); without `shape`, as n and p.

    >>> from overt import random
    >>> int(random.multinomial(random.key(0), 12, np.array([0.2, 0.3, 0.5])).sum())
    12
    """
    dtype = float_dtype("multinomial", dtype)
    n, p = np.asarray(n), np.asarray(p)
    common = dtypes.to_inexact(np.result_type(n, p))
    if p.ndim < 1:
        raise ValueError("multinomial needs the probabilities of outcomes along an axis of p")
    shape = checked_shape("multinomial", shape, n, p[..., 0])
    n = np.broadcast_to(n.astype(common), shape)
    p = np.moveaxis(np.broadcast_to(p.astype(common), (*shape, p.shape[-1])), -1, 0)
    # The chance of each outcome, given that it is none of those before it.
    remaining = lax.associative_scan(np.add, p, reverse=True)
    chances = np.clip(p / np.where(remaining == 0, 1, remaining), 0, 1)
    keys = split_words(key, (len(p),))

    def count_one(i: Any, left: Any, counts: Any) -> Any:
        count = binomial(keys[i], left, chances[i], dtype=left.dtype)
        return left - count, counts.at[i].set(count)

    _, counts = for_loop(range(len(p)), count_one, (n, np.zeros_like(p)))
    return np.moveaxis(counts, 0, -1).astype(dtype)
