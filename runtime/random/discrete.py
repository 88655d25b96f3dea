"""Discrete distributions, and samples of given things."""

from __future__ import annotations

import math
from typing import Any

import numpy

import overt.runtime.numpy as np
from overt.runtime import dtypes, lax
from overt.runtime.random.continuous import gumbel
from overt.runtime.random.generators import random_words, split_words
from overt.runtime.random.keys import sampler
from overt.runtime.random.sampling import checked_shape, int_dtype, randint, uniform


@sampler("p")
def bernoulli(key: Any, p: Any = 0.5, shape: Any = None, mode: str = "low") -> Any:
    """True with probability `p`.

    `mode="high"` resolves small probabilities better, at twice the cost.

    >>> from overt import random
    >>> random.bernoulli(random.key(0), 0.3, (2, 2)).shape
    (2, 2)
    """
    if mode not in ("low", "high"):
        raise ValueError(f"the mode of bernoulli is 'low' or 'high', got {mode!r}")
    p = np.asarray(p)
    if not dtypes.is_float(p.dtype):
        raise TypeError(f"the probability of bernoulli is a floating number, got {p.dtype}")
    shape = checked_shape("bernoulli", shape, p)
    if mode == "low":
        return uniform(key, shape, p.dtype) < p
    coarse, fine = uniform(key, (2, *shape), p.dtype)
    return fine * 2.0 ** -dtypes.finfo(p.dtype).nmant < p - coarse


@sampler("logits")
def categorical(
    key: Any,
    logits: Any,
    axis: int = -1,
    shape: Any = None,
    replace: bool = True,
    mode: str | None = None,
) -> Any:
    """Indices along `axis`, drawn with probabilities softmax(logits).

    Shapes: the logits' without `axis`; a longer `shape` must end in that.
    Source: the Gumbel trick, and its top-k form without replacement (Kool et al., 2019).

    >>> from overt import random
    >>> random.categorical(random.key(0), np.zeros(5), shape=(3,)).shape
    (3,)
    """
    logits = np.asarray(logits)
    axis = axis - logits.ndim if axis >= 0 else axis
    batch = tuple(numpy.delete(logits.shape, axis).tolist())
    shape = batch if shape is None else checked_shape("categorical", shape)
    prefix = shape[: len(shape) - len(batch)]
    if np.broadcast_shapes(shape, batch) != shape:
        raise ValueError(f"categorical: shape {shape} does not end in the batch shape {batch}")
    if replace:
        sizes = list(shape[len(prefix) :])
        sizes.insert(axis % logits.ndim, logits.shape[axis])
        noise = gumbel(key, (*prefix, *sizes), logits.dtype, mode)
        return np.argmax(noise + logits, axis=axis)
    count = math.prod(prefix)
    if count > logits.shape[axis]:
        raise ValueError(f"cannot draw {count} different ones of {logits.shape[axis]} categories")
    noisy = logits + gumbel(key, logits.shape, logits.dtype, mode)
    _, indices = lax.top_k(np.moveaxis(noisy, axis, -1), count)
    return np.moveaxis(indices, -1, 0).reshape(shape)


@sampler("x")
def _shuffled(key: Any, x: Any, axis: int) -> Any:
    # Sorting by 32-bit keys leaves ties; a few rounds make two elements that tie in all unlikely.
    rounds = math.ceil(3 * math.log(max(1, x.size)) / math.log(2**32 - 1))
    for _ in range(rounds):
        key, subkey = split_words(key, (2,))
        _, x = lax.sort_key_val(random_words(subkey, 32, x.shape), x, axis)
    return x


def permutation(key: Any, x: Any, axis: int = 0, independent: bool = False) -> Any:
    """`x` with the order along `axis` at random; an integer n stands for 0..n-1.

    With `independent`, every line along `axis` gets an order of its own.

    >>> from overt import random
    >>> sorted(random.permutation(random.key(0), 4).tolist())
    [0, 1, 2, 3]
    """
    if not np.ndim(x):
        if not dtypes.is_integer(np.result_type(x)):
            raise TypeError(f"permutation needs an integer or an array, got {x!r}")
        return _shuffled(key, np.arange(int(x)), 0)
    x = np.asarray(x)
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(f"axis {axis} is out of bounds for an array of {x.ndim} dimensions")
    if independent or x.ndim == 1:
        return _shuffled(key, x, axis % x.ndim)
    return np.take(x, _shuffled(key, np.arange(x.shape[axis]), 0), axis)


def choice(
    key: Any,
    a: Any,
    shape: Any = (),
    replace: bool = True,
    p: Any = None,
    axis: int = 0,
    mode: str | None = None,
) -> Any:
    """Elements of `a` along `axis`, or integers below `a`, drawn with probabilities `p`.

    Errors: ValueError where there are too few elements to draw from.

    >>> from overt import random
    >>> random.choice(random.key(0), np.array([2.0, 3.0]), (4,)).shape
    (4,)
    """
    if not isinstance(shape, (tuple, list)):
        raise TypeError(f"the shape of choice must be a sequence, got {shape!r}")
    scalar = np.ndim(a) == 0
    size = int(a) if scalar else np.shape(a)[axis]
    draws = math.prod(shape)
    if draws and size <= 0:
        raise ValueError("there is nothing to choose from")
    if draws > size and not replace:
        raise ValueError(f"cannot choose {draws} different elements of {size}")
    indices = _chosen(key, size, tuple(shape), replace, p, mode)
    return indices if scalar else np.take(np.asarray(a), indices, axis)


def _chosen(key: Any, size: int, shape: Any, replace: bool, p: Any, mode: str | None) -> Any:
    if math.prod(shape) == 0:
        return np.zeros(shape, int)
    if p is None and replace:
        return randint(key, shape, 0, size)
    if p is None:
        return permutation(key, size)[: math.prod(shape)].reshape(shape)
    if np.shape(p) != (size,):
        raise ValueError(f"probabilities must have shape {(size,)}, got {np.shape(p)}")
    return _weighted(key, p, shape, replace, mode)


@sampler("p")
def _weighted(key: Any, p: Any, shape: Any, replace: bool, mode: str | None) -> Any:
    p = np.asarray(p)
    p = p.astype(dtypes.to_inexact(p.dtype))
    if replace:
        total = np.cumsum(p)
        return np.searchsorted(total, total[-1] * (1 - uniform(key, shape, p.dtype))).astype(int)
    noisy = gumbel(key, p.shape, p.dtype, mode) + np.log(p)
    return lax.top_k(noisy, math.prod(shape))[1].astype(int).reshape(shape)


@sampler()
def rademacher(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """-1 or 1, equally likely.

    >>> from overt import random
    >>> print(bool(np.all(abs(rademacher(random.key(0), (10,))) == 1)))
    True
    """
    dtype = dtypes.canonicalize(int if dtype is None else dtype)
    heads = bernoulli(key, 0.5, checked_shape("rademacher", shape))
    return 2 * heads.astype(dtype) - np.ones((), dtype)


@sampler("p")
def geometric(key: Any, p: Any, shape: Any = None, dtype: Any = None) -> Any:
    """How many trials it takes until the first success of probability `p`.

    >>> from overt import random
    >>> x = geometric(random.key(0), 0.5, (1000,))
    >>> print(x.min(), bool(abs(x.mean() - 2) < 0.2))
    1 True
    """
    dtype = int_dtype("geometric", dtype)
    shape = checked_shape("geometric", shape, p)
    p = np.asarray(p)
    p = p.astype(dtypes.to_inexact(p.dtype))
    u = uniform(key, shape, p.dtype)
    u = np.where(u == 0, np.ones_like(u), u)
    return (np.floor(np.log(u) / np.log1p(-p)) + 1).astype(dtype)
