"""The gamma distribution, and the distributions of ratios and powers of its numbers."""

from __future__ import annotations

from typing import Any

import numpy

import overt.runtime.numpy as np
from overt.runtime.batching import vmap_call
from overt.runtime.control import while_loop
from overt.runtime.nn import softmax
from overt.runtime.primitive import composite
from overt.runtime.random.continuous import exponential, maxwell, normal
from overt.runtime.random.discrete import rademacher
from overt.runtime.random.generators import split_words
from overt.runtime.random.keys import sampler
from overt.runtime.random.sampling import checked_shape, float_dtype, safe, uniform
from overt.runtime.scipy.incomplete_slopes import random_gamma_grad


def _one_gamma(key: Any, a: Any, log_space: bool) -> Any:
    """One number from the gamma distribution of shape `a`, or its logarithm.

    Source: G. Marsaglia and W. W. Tsang, "A simple method for generating gamma variables", 2000.
    """
    dtype = a.dtype
    number = lambda x: numpy.array(x, dtype)
    # Below 1 a number of shape a + 1 is drawn, and brought down by a uniform one to the power 1/a.
    large = a >= 1
    d = np.where(large, a, a + number(1)) - number(1 / 3)
    c = number(1 / 3) / np.sqrt(d)

    def is_negative(key: Any, x: Any, v: Any) -> Any:
        return v <= 0

    def draw_normal(key: Any, x: Any, v: Any) -> Any:
        key, subkey = split_words(key, (2,))
        x = normal(subkey, (), dtype)
        return key, x, number(1) + x * c

    def is_rejected(key: Any, x2: Any, v: Any, u: Any) -> Any:
        within = number(1) - number(0.0331) * (x2 * x2)
        bound = x2 * number(0.5) + d * ((number(1) - v) + np.log(v))
        return (u >= within) & (np.log(u) >= bound)

    def draw(key: Any, x2: Any, v: Any, u: Any) -> Any:
        key, x_key, u_key = split_words(key, (3,))
        start = (x_key, np.zeros((), dtype), np.asarray(number(-1)))
        _, x, v = while_loop(is_negative, draw_normal, start)
        return key, x * x, (v * v) * v, uniform(u_key, (), dtype)

    key, subkey = split_words(key, (2,))
    start = (key, np.zeros((), dtype), np.asarray(number(1)), np.asarray(number(2)))
    _, _, v, _ = while_loop(is_rejected, draw, start)
    if log_space:
        down = -exponential(subkey, (), dtype)
        boost = np.where(large | (down == 0), number(0), down * (number(1) / a))
        return (np.log(d) + np.log(v)) + boost
    boost = np.power(number(1) - uniform(subkey, (), dtype), number(1) / a)
    return (d * v) * np.where(large, number(1), boost)


def log_slope(a: Any, log_sample: Any) -> Any:
    """How the logarithm of a gamma-distributed sample moves with its shape."""
    sample = np.exp(log_sample)
    sample = np.where(sample == 0, np.finfo(sample.dtype).tiny, sample)
    return random_gamma_grad(a, sample) / sample


@composite(
    arrays=("key", "a"),
    vjp=(None, lambda g, out, key, a: g * random_gamma_grad(a, out)),
)
def _gammas(key: Any, a: Any) -> Any:
    return _each_gamma(key, a, False)


@composite(
    arrays=("key", "a"),
    vjp=(None, lambda g, out, key, a: g * log_slope(a, out)),
)
def _log_gammas(key: Any, a: Any) -> Any:
    return _each_gamma(key, a, True)


def _each_gamma(key: Any, a: Any, log_space: bool) -> Any:
    if not a.size:
        return np.zeros_like(a)
    keys = split_words(key, (a.size,))
    draw = lambda key, a: _one_gamma(key, a, log_space)
    return vmap_call(draw, (keys, np.reshape(a, -1))).reshape(a.shape)


def _shapes(name: str, a: Any, shape: Any, dtype: Any) -> Any:
    """The parameter of every number to draw."""
    dtype = float_dtype(name, dtype)
    shape = checked_shape(name, shape, a)
    return np.broadcast_to(np.asarray(a).astype(dtype), shape)


@sampler("a", differentiable=True)
def gamma(key: Any, a: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Numbers from the gamma distribution of shape `a` and scale 1.

    Their derivative by `a` is that of samples which keep their place in the distribution.
    Source: Figurnov, Mohamed, Mnih, "Implicit reparameterization gradients", 2018.

    >>> from overt import random
    >>> random.gamma(random.key(0), 2.0, (3,)).shape
    (3,)
    """
    return _gammas(key, _shapes("gamma", a, shape, dtype))


@sampler("a", differentiable=True)
def loggamma(key: Any, a: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Logarithms of what `gamma` draws, also where that would be rounded to zero.

    >>> from overt import random
    >>> bool(random.loggamma(random.key(0), 1e-4) < -100)
    True
    """
    return _log_gammas(key, _shapes("gamma", a, shape, dtype))


@sampler("a", "b", differentiable=True)
def beta(key: Any, a: Any, b: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Numbers from the beta distribution.

    >>> from overt import random
    >>> 0 < float(random.beta(random.key(0), 2.0, 3.0)) < 1
    True
    """
    dtype = float_dtype("beta", dtype)
    shape = checked_shape("beta", shape, a, b)
    key_a, key_b = split_words(key, (2,))
    log_a, log_b = loggamma(key_a, a, shape, dtype), loggamma(key_b, b, shape, dtype)
    largest = np.maximum(log_a, log_b)
    part_a, part_b = np.exp(log_a - largest), np.exp(log_b - largest)
    return part_a / (part_a + part_b)


@sampler("alpha", differentiable=True)
def dirichlet(key: Any, alpha: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Vectors of positive numbers with sum 1 from the Dirichlet distribution.

    Shapes: alpha (..., n), result (*shape, n).

    >>> from overt import random
    >>> random.dirichlet(random.key(0), np.ones(3), (4,)).shape
    (4, 3)
    """
    dtype = float_dtype("dirichlet", dtype)
    alpha = np.asarray(alpha).astype(dtype)
    if alpha.ndim < 1:
        raise ValueError(f"dirichlet needs alpha of shape (..., n), got shape {alpha.shape}")
    batch = alpha.shape[:-1]
    if shape is not None:
        shape = checked_shape("dirichlet", shape)
        if np.broadcast_shapes(shape, batch) != shape:
            raise ValueError(
                f"dirichlet: {batch} does not broadcast to the shape {shape} asked for"
            )
        batch = shape
    return softmax(loggamma(key, alpha, (*batch, alpha.shape[-1]), dtype), -1)


@sampler("df", differentiable=True)
def chisquare(key: Any, df: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Sums of the squares of `df` normal numbers; `df` need not be whole.

    >>> from overt import random
    >>> float(random.chisquare(random.key(0), 3.0)) > 0
    True
    """
    dtype = float_dtype("chisquare", dtype)
    df = safe("chisquare", df, dtype)
    return np.exp(loggamma(key, df / numpy.array(2, dtype), shape, dtype)) * numpy.array(2, dtype)


@sampler("dfnum", "dfden", differentiable=True)
def f(key: Any, dfnum: Any, dfden: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Numbers from Fisher's F distribution: the ratio of two chi-square numbers, each by its df.

    >>> from overt import random
    >>> float(random.f(random.key(0), 3.0, 4.0)) > 0
    True
    """
    dtype = float_dtype("f", dtype)
    shape = checked_shape("f", shape, dfnum, dfden)
    dfnum, dfden = safe("f", dfnum, dtype), safe("f", dfden, dtype)
    key_below, key_above = split_words(key, (2,))
    above = chisquare(key_above, dfnum, shape, dtype) / dfnum
    return above / (chisquare(key_below, dfden, shape, dtype) / dfden)


@sampler("df", differentiable=True)
def t(key: Any, df: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Numbers from Student's t distribution.

    >>> from overt import random
    >>> random.t(random.key(0), 3.0, (2,)).shape
    (2,)
    """
    dtype = float_dtype("t", dtype)
    shape = checked_shape("t", shape, df)
    normal_key, gamma_key = split_words(key, (2,))
    half = np.asarray(df).astype(dtype) / numpy.array(2, dtype)
    noise = normal(normal_key, shape, dtype)
    return noise * np.sqrt(half / gamma(gamma_key, half, shape, dtype))


@sampler("loc", "scale", differentiable=True)
def double_sided_maxwell(key: Any, loc: Any, scale: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Numbers of the Maxwell distribution with random signs, scaled and moved.

    Shapes: (*shape, *that of loc and scale together); an empty shape stands for the latter.

    >>> from overt import random
    >>> print(double_sided_maxwell(random.key(0), 0.0, 1.0, (2,)).shape)
    (2,)
    """
    dtype = float_dtype("double_sided_maxwell", dtype)
    common = np.broadcast_shapes(np.shape(loc), np.shape(scale))
    shape = (*(checked_shape("double_sided_maxwell", shape) or common), *common)
    length_key, sign_key = split_words(key, (2,))
    signs = rademacher(sign_key, shape, dtype)
    return signs * maxwell(length_key, shape, dtype) * scale + loc


@sampler("p", differentiable=True)
def generalized_normal(key: Any, p: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Numbers whose density is proportional to exp(-|x|**p).

    >>> from overt import random
    >>> random.generalized_normal(random.key(0), 3.0, (2,)).shape
    (2,)
    """
    dtype = float_dtype("generalized_normal", dtype)
    shape = checked_shape("generalized_normal", shape)
    size_key, sign_key = split_words(key, (2,))
    sizes = gamma(size_key, 1 / p, shape, dtype)
    return rademacher(sign_key, shape, dtype) * sizes ** (1 / p)


@sampler("p", differentiable=True)
def ball(key: Any, d: int, p: Any = 2, shape: Any = (), dtype: Any = None) -> Any:
    """Points uniform in the unit ball of the Lp norm in `d` dimensions.

    Shapes: (*shape, d).
    Source: Barthe, Guédon, Mendelson, Naor, "A probabilistic approach to the geometry of the lp^n
    ball", 2005.

    >>> from overt import random
    >>> bool(np.linalg.norm(random.ball(random.key(0), 3)) < 1)
    True
    """
    dtype = float_dtype("ball", dtype)
    shape = checked_shape("ball", shape)
    inner_key, outer_key = split_words(key, (2,))
    x = generalized_normal(inner_key, p, (*shape, d), dtype)
    e = exponential(outer_key, shape, dtype)
    return x / ((np.sum(np.abs(x) ** p, -1) + e) ** (1 / p))[..., None]
