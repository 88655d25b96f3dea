"""Continuous distributions that are a function of uniform or normal numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy

import overt.runtime.numpy as np
from overt.runtime import dtypes, lax
from overt.runtime.random.generators import split_words
from overt.runtime.random.keys import sampler
from overt.runtime.random.sampling import (
    checked_shape,
    float_dtype,
    safe,
    unit_interval,
)
from overt.runtime.random.sampling import uniform as uniform_


def _between(key: Any, shape: Any, dtype: numpy.dtype, low: Any, high: Any = 1.0) -> Any:
    return uniform_(key, shape, dtype, numpy.array(low, dtype), numpy.array(high, dtype))


@sampler()
def normal(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Numbers from the normal distribution of mean 0 and variance 1, real or complex.

    >>> from overt import random
    >>> round(float(random.normal(random.key(0))), 6)
    -0.205842
    """
    dtype = dtypes.canonicalize(float if dtype is None else dtype)
    shape = checked_shape("normal", shape)
    if dtypes.is_complex(dtype):
        real, imaginary = split_words(key, (2,))
        part = dtypes.real_type(dtype)
        together = normal(real, shape, part) + 1j * normal(imaginary, shape, part)
        return together.astype(dtype) / numpy.array(math.sqrt(2), dtype)
    dtype = float_dtype("normal", dtype)
    low = numpy.nextafter(numpy.array(-1, dtype), numpy.array(0, dtype), dtype=dtype)
    u = _between(key, shape, dtype, low)
    return numpy.array(math.sqrt(2), dtype) * lax.erf_inv(u)


@sampler("lower", "upper", differentiable=True)
def truncated_normal(key: Any, lower: Any, upper: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Numbers from the normal distribution, given that they lie between `lower` and `upper`.

    >>> from overt import random
    >>> abs(float(random.truncated_normal(random.key(0), -0.5, 0.5))) < 0.5
    True
    """
    dtype = float_dtype("truncated_normal", dtype)
    shape = checked_shape("truncated_normal", shape, lower, upper)
    limit = TAIL.get(dtype.name, 2.5)
    central = _is_central(lower, upper, limit)
    lower, upper = np.asarray(lower).astype(dtype), np.asarray(upper).astype(dtype)
    sqrt2 = numpy.array(math.sqrt(2), dtype)
    u = uniform_(key, shape, dtype, lax.erf(lower / sqrt2), lax.erf(upper / sqrt2))
    above = np.nextafter(lax.stop_gradient(lower), numpy.array(numpy.inf, dtype))
    below = np.nextafter(lax.stop_gradient(upper), numpy.array(-numpy.inf, dtype))
    x = sqrt2 * lax.erf_inv(u)
    if not central:
        v = unit_interval(key, shape, dtype)
        x = np.where(lower > limit, _tail(v, *_beyond(limit, lower, upper)), x)
        x = np.where(upper < -limit, -_tail(v, *_beyond(limit, -upper, -lower)), x)
    return np.clip(x, above, below)


# Bounds beyond which erf has too few values left between itself and 1.
TAIL = {"float32": 4.0, "float64": 7.0}


def _is_central(lower: Any, upper: Any, limit: float) -> bool:
    """Whether bounds are known, and both parts of the interval within the limits."""
    if not all(isinstance(x, (int, float, numpy.ndarray, numpy.generic)) for x in (lower, upper)):
        return False
    return not (numpy.any(lower > limit) or numpy.any(upper < -limit))


def _beyond(limit: float, low: Any, high: Any) -> tuple[Any, Any]:
    """Bounds of an upper tail; where there is none, some that have finite derivatives."""
    there = low > limit
    return np.where(there, low, limit), np.where(there, high, 2 * limit)


def _tail(v: Any, low: Any, high: Any) -> Any:
    """The normal number between two large bounds whose conditional distribution function is `v`.

    Source: Q(x) = phi(x) m(x) with Mills' ratio m, so Q(x) = w Q(low) is
    x**2 = low**2 - 2 log(w) + 2 log(m(x) / m(low)), whose right side hardly depends on x.
    """
    from overt.runtime.scipy.faddeeva import erfcx

    def mills(x: Any) -> Any:
        return erfcx(x / math.sqrt(2))

    m = mills(low)
    left_over = np.exp(-(high - low) * (high + low) / 2) * (mills(high) / m)
    start = -2 * np.log1p(-v * (1 - left_over))
    x = low
    for _ in range(8):
        square = start + 2 * np.log(mills(x) / m)
        x = low + square / (low + np.sqrt(low * low + square))
    return x


@sampler()
def exponential(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Numbers from the exponential distribution of mean 1.

    >>> from overt import random
    >>> x = exponential(random.key(0), (1000,))
    >>> print(bool(np.all(x >= 0)), bool(abs(x.mean() - 1) < 0.1))
    True True
    """
    dtype = float_dtype("exponential", dtype)
    return -np.log1p(-_unit(key, checked_shape("exponential", shape), dtype))


def _unit(key: Any, shape: Any, dtype: numpy.dtype) -> Any:
    return np.maximum(numpy.array(0, dtype), unit_interval(key, shape, dtype))


@sampler()
def gumbel(key: Any, shape: Any = (), dtype: Any = None, mode: str | None = None) -> Any:
    """Numbers from the standard Gumbel distribution.

    `mode="high"` resolves the upper tail better, at twice the cost.

    >>> from overt import random
    >>> print(gumbel(random.key(0), (2,)).shape)
    (2,)
    """
    dtype = float_dtype("gumbel", dtype)
    shape = checked_shape("gumbel", shape)
    info = dtypes.finfo(dtype)
    if mode in (None, "low"):
        return -np.log(-np.log(_between(key, shape, dtype, info.tiny)))
    if mode != "high":
        raise ValueError(f"the mode of gumbel is 'low' or 'high', got {mode!r}")
    high, low = _unit(key, (2, *shape), dtype)
    x = np.where(high >= 0.5, high, high + 2.0**-info.nmant * low + float(info.tiny))
    return -np.log(-np.log1p(-x))


@sampler()
def laplace(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Numbers from the Laplace distribution of mean 0 and scale 1.

    >>> from overt import random
    >>> print(bool(abs(laplace(random.key(0), (1000,)).mean()) < 0.2))
    True
    """
    dtype = float_dtype("laplace", dtype)
    low = -1.0 + dtypes.finfo(dtype).epsneg
    u = _between(key, checked_shape("laplace", shape), dtype, low)
    return np.sign(u) * np.log1p(-np.abs(u))


@sampler()
def logistic(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Numbers from the logistic distribution of mean 0 and scale 1.

    >>> from overt import random
    >>> print(bool(abs(logistic(random.key(0), (1000,)).mean()) < 0.2))
    True
    """
    dtype = float_dtype("logistic", dtype)
    u = _between(key, checked_shape("logistic", shape), dtype, dtypes.finfo(dtype).tiny)
    return np.log(u) - np.log1p(-u)


@sampler()
def cauchy(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Numbers from the Cauchy distribution.

    >>> from overt import random
    >>> print(cauchy(random.key(0), (2,)).shape)
    (2,)
    """
    dtype = float_dtype("cauchy", dtype)
    u = _between(key, checked_shape("cauchy", shape), dtype, dtypes.finfo(dtype).eps)
    return np.tan(numpy.array(numpy.pi, dtype) * (u - numpy.array(0.5, dtype)))


@sampler("b", differentiable=True)
def pareto(key: Any, b: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Numbers from the Pareto distribution with exponent `b`.

    >>> from overt import random
    >>> print(bool(np.all(pareto(random.key(0), 3.0, (100,)) >= 1)))
    True
    """
    dtype = float_dtype("pareto", dtype)
    shape = checked_shape("pareto", shape, b)
    return np.exp(exponential(key, shape, dtype) / np.asarray(b).astype(dtype))


@sampler("scale", differentiable=True)
def rayleigh(key: Any, scale: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Numbers from the Rayleigh distribution of the given scale.

    >>> from overt import random
    >>> print(bool(np.all(rayleigh(random.key(0), 1.0, (100,)) >= 0)))
    True
    """
    dtype = float_dtype("rayleigh", dtype)
    shape = checked_shape("rayleigh", shape, scale)
    u = _unit(key, shape, dtype)
    return np.asarray(scale).astype(dtype) * np.sqrt(np.log(u) * numpy.array(-2, dtype))


@sampler("scale", "concentration", differentiable=True)
def weibull_min(
    key: Any, scale: Any, concentration: Any, shape: Any = (), dtype: Any = None
) -> Any:
    """Numbers from the Weibull distribution of minima.

    >>> from overt import random
    >>> print(bool(np.all(weibull_min(random.key(0), 1.0, 2.0, (100,)) >= 0)))
    True
    """
    dtype = float_dtype("weibull_min", dtype)
    common = np.broadcast_shapes(
        checked_shape("weibull_min", shape), np.shape(scale), np.shape(concentration)
    )
    u = _unit(key, common, dtype)
    return np.power(-np.log1p(-u), 1.0 / concentration) * scale


@sampler("sigma", differentiable=True)
def lognormal(key: Any, sigma: Any = 1.0, shape: Any = None, dtype: Any = None) -> Any:
    """Exponentials of normal numbers of standard deviation `sigma`.

    >>> from overt import random
    >>> print(bool(np.all(lognormal(random.key(0), shape=(100,)) > 0)))
    True
    """
    dtype = float_dtype("lognormal", dtype)
    shape = checked_shape("lognormal", shape, sigma)
    return np.exp(normal(key, shape, dtype) * np.asarray(sigma).astype(dtype))


@sampler("left", "mode", "right", differentiable=True)
def triangular(
    key: Any, left: Any, mode: Any, right: Any, shape: Any = None, dtype: Any = None
) -> Any:
    """Numbers whose density rises from `left` to `mode` and falls to `right`, in straight lines.

    >>> from overt import random
    >>> x = triangular(random.key(0), 1.0, 2.0, 4.0, (100,))
    >>> print(bool(np.all((x >= 1) & (x <= 4))))
    True
    """
    dtype = float_dtype("triangular", dtype)
    shape = checked_shape("triangular", shape, left, mode, right)
    left, mode, right = (
        np.broadcast_to(np.asarray(x).astype(dtype), shape) for x in (left, mode, right)
    )
    u = _unit(key, shape, dtype)
    rising = left + np.sqrt(u * (right - left) * (mode - left))
    falling = right - np.sqrt((1 - u) * (right - left) * (right - mode))
    return np.where(u < (mode - left) / (right - left), rising, falling)


@sampler()
def maxwell(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Lengths of three-dimensional vectors of normal numbers.

    >>> from overt import random
    >>> print(bool(np.all(maxwell(random.key(0), (100,)) > 0)))
    True
    """
    dtype = float_dtype("maxwell", dtype)
    vectors = normal(key, (*checked_shape("maxwell", shape), 3), dtype)
    return np.sqrt(np.sum(vectors * vectors, -1))


@sampler("mean", differentiable=True)
def wald(key: Any, mean: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Numbers from the Wald (inverse Gaussian) distribution of the given mean and scale 1.

    Source: J. R. Michael, W. R. Schucany, R. W. Haas, "Generating random variates using
    transformations with multiple roots", 1976.

    >>> from overt import random
    >>> float(random.wald(random.key(0), 2.0)) > 0
    True
    """
    dtype = float_dtype("wald", dtype)
    shape = checked_shape("wald", shape, mean)
    mean = np.broadcast_to(safe("wald", mean, dtype), shape)
    normal_key, uniform_key = split_words(key, (2,))
    y = normal(normal_key, shape, dtype) ** 2
    squared = mean**2
    root = np.sqrt(4 * mean * y + squared * y**2)
    x = mean + squared * y / 2 - mean / 2 * root
    chosen = uniform_(uniform_key, shape, dtype) <= mean / (mean + x)
    return np.where(chosen, x, squared / x)


@sampler("mean", "cov", differentiable=True)
def multivariate_normal(
    key: Any,
    mean: Any,
    cov: Any,
    shape: Any = None,
    dtype: Any = None,
    method: str = "cholesky",
) -> Any:
    """Vectors from the normal distribution of the given mean and covariance.

    Shapes: mean (..., n), cov (..., n, n), result (*shape, n).

    >>> from overt import random
    >>> mean, covariance = np.zeros(2), np.eye(2)
    >>> print(multivariate_normal(random.key(0), mean, covariance, (5,)).shape)
    (5, 2)
    """
    mean, cov = np.asarray(mean), np.asarray(cov)
    dtype = dtypes.to_inexact(np.result_type(mean, cov)) if dtype is None else dtype
    dtype = float_dtype("multivariate_normal", dtype)
    mean, cov = mean.astype(dtype), cov.astype(dtype)
    if mean.ndim < 1 or cov.shape[-2:] != (mean.shape[-1],) * 2:
        raise ValueError(
            f"multivariate_normal needs a mean (..., n) and a covariance (..., n, n), "
            f"got {mean.shape} and {cov.shape}"
        )
    batch = np.broadcast_shapes(mean.shape[:-1], cov.shape[:-2])
    shape = batch if shape is None else checked_shape("multivariate_normal", shape)
    noise = normal(key, (*shape, mean.shape[-1]), dtype)
    return mean + np.einsum("...ij,...j->...i", _factor(cov, method), noise)


def _factor(cov: Any, method: str) -> Any:
    if method == "cholesky":
        return np.linalg.cholesky(cov)
    if method == "eigh":
        values, vectors = np.linalg.eigh(cov)
        return vectors * np.sqrt(values[..., None, :])
    if method == "svd":
        u, values, _ = np.linalg.svd(cov)
        return u * np.sqrt(values[..., None, :])
    raise ValueError(f"the method is 'cholesky', 'eigh' or 'svd', got {method!r}")


@sampler()
def orthogonal(key: Any, n: int, shape: Any = (), dtype: Any = None, m: int | None = None) -> Any:
    """Matrices (n, m) with orthonormal rows or columns, uniform among them (Haar measure).

    >>> from overt import random
    >>> q = orthogonal(random.key(0), 3)
    >>> print(bool(np.allclose(q @ q.T, np.eye(3), atol=1e-5)))
    True
    """
    dtype = float_dtype("orthogonal", dtype)
    m = n if m is None else m
    shape = checked_shape("orthogonal", shape)
    q, r = np.linalg.qr(normal(key, (*shape, max(n, m), min(n, m)), dtype))
    signs = np.sign(np.diagonal(r, axis1=-2, axis2=-1))
    matrix = q * signs[..., None, :]
    return np.swapaxes(matrix, -1, -2) if n < m else matrix
