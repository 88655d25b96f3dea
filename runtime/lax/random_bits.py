"""Random bits straight from the device's own generator."""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from typing import Any

import numpy

import overt.runtime.numpy as np
from overt.runtime import dtypes
from overt.runtime.aval import Aval, aval_of
from overt.runtime.primitive import Primitive

UINT32, UINT64 = numpy.dtype("uint32"), numpy.dtype("uint64")


class RandomAlgorithm(enum.IntEnum):
    """Generators of XLA: the platform's own choice, Threefry-2x32 and Philox-4x32."""

    RNG_DEFAULT = 0
    RNG_THREE_FRY = 1
    RNG_PHILOX = 2

    def __str__(self) -> str:
        return self.name


def _generated(b: Any, key: Any, shape: Any, dtype: Any, algorithm: str) -> list[Any]:
    """The next key and the bits of one key."""
    wide = b.dtype(key) == UINT64
    state = key if wide else b.bitcast(b.reshape(key, (2, 2)), UINT64, (2,))
    width = dtype if dtype.kind == "u" else UINT32
    state, bits = b.rng_bit_generator(state, shape, width, algorithm)
    state = state if wide else b.reshape(b.bitcast(state, UINT32, (2, 2)), (4,))
    return [state, b.convert(bits, dtype)]


def _lower_bits(
    b: Any, key: Any, *, avals: Any, out: Any, shape: Any, dtype: Any, algorithm: str
) -> list[Any]:
    *outer, words = out[0].shape
    if not outer:
        return _generated(b, key, shape, dtype, algorithm)
    # The operation takes one key, so several take turns.
    count, index = math.prod(outer), numpy.dtype("int32")
    keys = b.reshape(key, (count, words))
    zero = b.full((), 0, index)

    def body(b: Any, i: Any, keys: Any, made: Any) -> list[Any]:
        row = b.reshape(b.dynamic_slice(keys, [i, zero], (1, words)), (words,))
        row, bits = _generated(b, row, shape, dtype, algorithm)
        keys = b.dynamic_update_slice(keys, b.reshape(row, (1, words)), [i, zero])
        places = [i, *[zero] * len(shape)]
        made = b.dynamic_update_slice(made, b.reshape(bits, (1, *shape)), places)
        return [b.binary("add", i, b.full((), 1, index)), keys, made]

    test = lambda b, i, *_: b.compare("LT", i, b.full((), count, index))
    carry = [zero, keys, b.full((count, *shape), 0, dtype)]
    _, keys, made = b.while_(carry, test, body)
    return [b.reshape(keys, out[0].shape), b.reshape(made, out[1].shape)]


_bits = Primitive(
    "rng_bit_generator",
    shape=lambda key, *, shape, dtype, algorithm: [key, Aval((*key.shape[:-1], *shape), dtype)],
    lower=_lower_bits,
    zero_derivative=True,
    vjp=(None,),
    arrays=("key",),
    batch=lambda values, axes, size, **how: (_bits(*values, **how), (0, 0)),
    doc="The next key and random bits, for every key (..., 4).",
)


def rng_bit_generator(
    key: Any,
    shape: Sequence[int],
    dtype: Any = "uint32",
    algorithm: RandomAlgorithm = RandomAlgorithm.RNG_DEFAULT,
    *,
    out_sharding: Any = None,
) -> tuple[Any, Any]:
    """The next key, and uniformly random bits as integers; which ones depends on the platform.

    Shapes: the key is four uint32 numbers or two uint64 ones.
    Source: https://openxla.org/xla/operation_semantics#rngbitgenerator

    >>> key, bits = rng_bit_generator(np.array([0, 1, 0, 1], "uint32"), (2, 3))
    >>> key.shape, bits.shape
    ((4,), (2, 3))
    """
    if out_sharding is not None:
        raise NotImplementedError("rng_bit_generator: there is one device, so no out_sharding")
    dtype = dtypes.canonicalize(dtype)
    if not dtypes.is_integer(dtype):
        raise TypeError(f"rng_bit_generator makes integers, not {dtype}")
    key = np.asarray(key)
    if (key.shape, key.dtype.name) not in (((4,), "uint32"), ((2,), "uint64")):
        raise TypeError(
            f"rng_bit_generator needs a key of 4 uint32 or 2 uint64, got {key.dtype} {key.shape}"
        )
    name = RandomAlgorithm(algorithm).name.removeprefix("RNG_")
    return _bits(key, shape=tuple(shape), dtype=dtype, algorithm=name)


_uniform = Primitive(
    "rng_uniform",
    shape=lambda a, b, *, shape: Aval(shape, a.dtype),
    lower=lambda b, low, high, *, avals, out, shape: b.rng_uniform(low, high, shape, out.dtype),
    zero_derivative=True,
    vjp=(None, None),
    arrays=("a", "b"),
    effect=True,
    doc="Uniformly random numbers from the device's own state.",
)


def rng_uniform(a: Any, b: Any, shape: Sequence[int]) -> Any:
    """Numbers uniform in [a, b), other ones at every call; `overt.random` gives reproducible ones.

    >>> rng_uniform(0.0, 1.0, (3,)).shape
    (3,)
    """
    kinds = aval_of(a), aval_of(b)
    if kinds[0].dtype != kinds[1].dtype or any(kind.shape for kind in kinds):
        raise ValueError(f"rng_uniform needs two scalars of one dtype, got {kinds[0]}, {kinds[1]}")
    return _uniform(np.asarray(a), np.asarray(b), shape=tuple(shape))
