"""The Threefry-2x32 generator on raw keys: arrays of two uint32 numbers.

Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011.

There are two ways to number the blocks of a stream. The default one hashes 0..n-1 in pairs; the
partitionable one (setting `threefry_partitionable`) hashes each element's own 64-bit position,
so that a slice of the result depends on nothing else.
"""

from __future__ import annotations

import math
from typing import Any

import numpy

import overt.runtime.numpy as np
from overt.runtime.aval import Aval
from overt.runtime.config import config
from overt.runtime.primitive import Primitive

Shape = tuple[int, ...]
UINT32 = numpy.dtype("uint32")
ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
PARITY = 0x1BD11BDA  # from the key schedule of Threefish


def _lower_threefry(b: Any, key: Any, x0: Any, x1: Any, *, avals: Any, out: Any) -> list[Any]:
    shape = out[0].shape
    outer = shape[:-1]

    def spread(v: Any) -> Any:
        return b.broadcast_in_dim(v, shape, tuple(range(len(b.shape(v)))))

    def word(i: int) -> Any:
        start, limit = (0,) * len(outer) + (i,), (*outer, i + 1)
        return b.reshape(b.slice(key, start, limit, (1,) * len(shape)), outer)

    def rotate(x: Any, distance: Any) -> Any:
        back = b.binary("subtract", b.full((), 32, UINT32), distance)
        left = b.binary("shift_left", x, spread(distance))
        return b.binary("or", left, b.binary("shift_right_logical", x, spread(back)))

    def group(b: Any, i: Any, x0: Any, x1: Any, *rest: Any) -> list[Any]:
        k0, k1, k2, now, later = rest
        for place in range(4):
            distance = b.reshape(b.slice(now, (place,), (place + 1,), (1,)), ())
            x0 = b.binary("add", x0, x1)
            x1 = b.binary("xor", rotate(x1, distance), x0)
        i = b.binary("add", i, b.full((), 1, UINT32))
        x0 = b.binary("add", x0, spread(k0))
        x1 = b.binary("add", b.binary("add", x1, spread(k1)), spread(i))
        return [i, x0, x1, k1, k2, k0, later, now]

    k0, k1 = word(0), word(1)
    k2 = b.binary("xor", b.binary("xor", k0, k1), b.full(outer, PARITY, UINT32))
    x0, x1 = b.binary("add", x0, spread(k0)), b.binary("add", x1, spread(k1))
    rotations = [b.constant(numpy.array(row, UINT32)) for row in ROTATIONS]
    # A loop, since XLA's CPU compiler takes seconds for several unrolled copies in one program.
    carry = [b.full((), 0, UINT32), x0, x1, k1, k2, k0, *rotations]
    test = lambda b, i, *_: b.compare("LT", i, b.full((), 5, UINT32))
    return b.while_(carry, test, group)[1:3]


def _batch_threefry(values: Any, axes: Any, size: int) -> Any:
    batched = [
        np.broadcast_to(value, (size, *value.shape)) if axis is None else value
        for value, axis in zip(values, axes, strict=True)
    ]
    return threefry2x32(*batched), (0, 0)


threefry2x32 = Primitive(
    "threefry2x32",
    shape=lambda key, x0, x1: [Aval(x0.shape, UINT32)] * 2,
    lower=_lower_threefry,
    vjp=(None, None, None),
    zero_derivative=True,
    batch=_batch_threefry,
    doc="""Two words of noise for every pair of counters: key (..., 2), counters (..., n).""",
)


def seed_words(seed: Any) -> Any:
    """The raw key of a seed: its high and its low 32 bits."""
    if isinstance(seed, (int, numpy.integer)):
        wide = numpy.int64(seed)  # refuses what 64 bits do not hold
        if not config.enable_x64:
            wide = numpy.int64(wide.astype(numpy.int32))
            return np.asarray(numpy.array([0, wide & 0xFFFFFFFF], UINT32))
        return np.asarray(numpy.array([(wide >> 32) & 0xFFFFFFFF, wide & 0xFFFFFFFF], UINT32))
    seed = np.asarray(seed)
    low = seed.astype(UINT32)
    high = (seed >> 32).astype(UINT32) if seed.dtype.itemsize == 8 else np.zeros_like(low)
    return np.stack([high, low])


def hash_pairs(key: Any, counts: Any) -> Any:
    """Hash a flat array of counters, the first half against the second; odd ones out meet 0."""
    size = counts.shape[0]
    half = (size + 1) // 2
    missing = 2 * half - size
    if hasattr(missing, "symbolic") or missing:
        counts = np.concatenate([counts, np.zeros(missing, UINT32)])
    return np.concatenate(threefry2x32(key, counts[:half], counts[half:]))[:size]


def _positions(shape: Shape) -> tuple[Any, Any]:
    """High and low words of the row-major position of every element, flat."""
    size = math.prod(shape)
    low = np.arange(size, dtype=UINT32)
    if size <= 2**32:
        return np.zeros_like(low), low
    raise ValueError(f"random array of shape {shape} has more than 2**32 elements")


def split_words(key: Any, shape: Shape) -> Any:
    """Raw keys of the given shape, (*shape, 2), from one raw key."""
    if config.threefry_partitionable:
        return np.stack(threefry2x32(key, *_positions(shape)), axis=-1).reshape(*shape, 2)
    counts = np.arange(2 * math.prod(shape), dtype=UINT32)
    return hash_pairs(key, counts).reshape(*shape, 2)


def fold_words(key: Any, data: Any) -> Any:
    """The raw key that `key` and a 32-bit number give together."""
    return hash_pairs(key, seed_words(np.asarray(data).astype(UINT32)))


def random_words(key: Any, width: int, shape: Shape) -> Any:
    """Uniformly random unsigned integers of `width` bits."""
    if config.threefry_partitionable:
        high, low = threefry2x32(key, *_positions(shape))
        flat = _join_words(high, low) if width == 64 else (high ^ low).astype(f"uint{width}")
        return flat.reshape(shape)
    size = math.prod(shape)
    words = hash_pairs(key, np.arange(-(-size * width // 32), dtype=UINT32))
    if width == 64:
        words = _join_words(words[:size], words[size:])
    elif width < 32:
        shifts = np.arange(0, 32, width, dtype=UINT32)
        words = (words[:, None] >> shifts).astype(f"uint{width}").reshape(-1)[:size]
    return words.reshape(shape)


def _join_words(high: Any, low: Any) -> Any:
    return (high.astype("uint64") << 32) | low.astype("uint64")
