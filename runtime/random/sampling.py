"""Random bits, and what comes from them without further thought: uniform numbers and integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

import overt.runtime.numpy as np
from overt.runtime import dtypes, lax
from overt.runtime.aval import length
from overt.runtime.errors import PromotionError
from overt.runtime.random.generators import random_words, split_words
from overt.runtime.random.keys import Sampler, sampler


def checked_shape(name: str, shape: Any, *parameters: Any) -> tuple[int, ...]:
    """The shape of a sample: as asked for, or that of its parameters together.

    Errors: ValueError if the parameters do not broadcast to `shape`.
    """
    common = np.broadcast_shapes(*map(np.shape, parameters))
    if shape is None:
        return common
    if isinstance(shape, (int, numpy.integer)):
        shape = (shape,)
    shape = tuple(map(length, shape))
    if parameters and np.broadcast_shapes(shape, common) != shape:
        raise ValueError(
            f"{name}: parameters of shape {common} do not broadcast to the shape {shape} asked for"
        )
    return shape


def float_dtype(name: str, dtype: Any) -> numpy.dtype:
    """The floating dtype of a sample."""
    dtype = dtypes.canonicalize(float if dtype is None else dtype)
    if not dtypes.is_float(dtype):
        raise ValueError(f"{name} needs a floating dtype, got {dtype}")
    return dtype


def safe(name: str, x: Any, dtype: numpy.dtype) -> Any:
    """A parameter in the dtype of the sample. Errors: PromotionError if that may lose digits."""
    x = np.asarray(x)
    if dtypes.result_kind((x.dtype, x.aval.weak), (dtype, False))[0] != dtype:
        raise PromotionError(f"{name}: a parameter of dtype {x.dtype} does not fit in {dtype}")
    return x.astype(dtype)


def int_dtype(name: str, dtype: Any) -> numpy.dtype:
    """The integer dtype of a sample."""
    dtype = dtypes.canonicalize(int if dtype is None else dtype)
    if not dtypes.is_integer(dtype):
        raise TypeError(f"{name} needs an integer dtype, got {dtype}")
    return dtype


@sampler()
def bits(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Uniformly random bits as unsigned integers.

    >>> from overt import random
    >>> random.bits(random.key(0), (2,)).dtype.name
    'uint32'
    """
    dtype = dtypes.canonicalize("uint64" if dtype is None else dtype)
    if dtype.kind != "u":
        raise ValueError(f"bits needs an unsigned integer dtype, got {dtype}")
    shape = checked_shape("bits", shape)
    return random_words(key, 8 * dtype.itemsize, shape)


@sampler("minval", "maxval", differentiable=True)
def uniform(
    key: Any, shape: Any = (), dtype: Any = None, minval: Any = 0.0, maxval: Any = 1.0
) -> Any:
    """Numbers uniform in [minval, maxval).

    >>> from overt import random
    >>> random.uniform(random.key(0), (3, 2)).shape
    (3, 2)
    """
    dtype = float_dtype("uniform", dtype)
    shape = checked_shape("uniform", shape, minval, maxval)
    low, high = np.asarray(minval, dtype), np.asarray(maxval, dtype)
    unit = unit_interval(key, shape, dtype)
    return np.maximum(low, unit * (high - low) + low)


def unit_interval(key: Any, shape: tuple[int, ...], dtype: numpy.dtype) -> Any:
    """Numbers in [0, 1) whose mantissa is random: bits with the exponent of 1, less 1."""
    info = dtypes.finfo(dtype)
    width = 8 if info.nmant < 8 else info.bits
    words = random_words(key, width, shape).astype(f"uint{info.bits}")
    one = int(numpy.ones((), dtype).view(f"uint{info.bits}"))
    mantissa = (words >> (width - info.nmant)) | one
    return lax.bitcast_convert_type(mantissa, dtype) - np.ones((), dtype)


class Integers(Sampler):
    """A sampler whose bounds may be Python integers that arrays of the default dtype do not hold.

    A bound above the dtype's largest number is passed on as None.
    """

    def bind(self, args: tuple, kwargs: dict[str, Any]) -> dict[str, Any]:
        bound = super().bind(args, kwargs)
        info = dtypes.iinfo(int_dtype(self.__name__, bound["dtype"]))
        for name in ("minval", "maxval"):
            x = bound[name]
            if type(x) is not int or -(2**31) <= x < 2**31:
                continue
            inside = numpy.array(min(max(x, int(info.min)), int(info.max)), info.dtype)
            bound[name] = None if name == "maxval" and x > info.max else inside
        return bound


def integers(function: Callable) -> Sampler:
    return Integers(function, ("key", "minval", "maxval"), zero_derivative=True)


@integers
def randint(key: Any, shape: Any, minval: Any, maxval: Any, dtype: Any = None) -> Any:
    """Integers uniform in [minval, maxval).

    Errors: TypeError for a dtype that is no integer.

    >>> from overt import random
    >>> int(random.randint(random.key(0), (100,), 2, 5).max())
    4
    """
    dtype = int_dtype("randint", dtype)
    info = dtypes.iinfo(dtype)
    beyond = maxval is None
    if beyond:
        maxval = np.asarray(int(info.max), dtype)
    shape = checked_shape("randint", shape, minval, maxval)
    if info.bits < 32:
        low = np.clip(np.asarray(minval).astype("int32"), info.min, info.max)
        high = np.clip(np.asarray(maxval).astype("int32"), info.min, info.max + 1)
        high = high + 1 if beyond else high
        return _randint(key, shape, low, high, numpy.dtype("int32")).astype(dtype)
    return _randint(key, shape, _integers(minval), _integers(maxval), dtype, beyond)


def _integers(x: Any) -> Any:
    x = np.asarray(x)
    return x if dtypes.is_integer(x.dtype) else x.astype(int)


def _clipped(x: Any, dtype: numpy.dtype) -> Any:
    here, there = dtypes.iinfo(x.dtype), dtypes.iinfo(dtype)
    low, high = max(int(here.min), int(there.min)), min(int(here.max), int(there.max))
    return np.clip(x, numpy.array(low, x.dtype), numpy.array(high, x.dtype)).astype(dtype)


def _randint(
    key: Any, shape: Any, minval: Any, maxval: Any, dtype: numpy.dtype, beyond: bool = False
) -> Any:
    # Twice as many bits as the dtype has, reduced modulo the span: (a*b) % n == (a%n)*(b%n) % n.
    width = dtypes.iinfo(dtype).bits
    unsigned = numpy.dtype(f"uint{width}")
    most = _clipped(np.asarray(dtypes.iinfo(dtype).max, dtype), maxval.dtype)
    over = np.asarray(beyond) | (maxval > most)
    minval, maxval = _clipped(minval, dtype), _clipped(maxval, dtype)
    high_key, low_key = split_words(key, (2,))
    high = random_words(high_key, width, shape)
    low = random_words(low_key, width, shape)
    span = (maxval - minval).astype(unsigned)
    span = np.where(maxval <= minval, np.ones_like(span), span)
    # Wraps to 0 when every value of the dtype is wanted: then the remainders change nothing.
    span = np.where(over & (maxval > minval), span + np.ones_like(span), span)
    factor = lax.rem(np.asarray(2 ** (width // 2), unsigned), span)
    factor = lax.rem(factor * factor, span)
    offset = lax.rem(lax.rem(high, span) * factor + lax.rem(low, span), span)
    return minval + offset.astype(dtype)
