"""The generators of random bits by name: how each seeds, splits, folds and draws.

A raw key is a vector of uint32 words; the setting `default_prng_impl` says which generator it is
for.  `threefry2x32` is the one to use.  `rbg` draws with the device's own generator, whose numbers
depend on the platform, and splits as Threefry does; `unsafe_rbg` splits with it too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import overt.runtime.numpy as np
from overt.runtime.config import config
from overt.runtime.lax.random_bits import rng_bit_generator
from overt.runtime.random import threefry

Shape = tuple[int, ...]


class Generator(NamedTuple):
    """One way to make random bits; keys are `words` long."""

    words: int
    seed: Callable[[Any], Any]
    split: Callable[[Any, Shape], Any]
    fold: Callable[[Any, Any], Any]
    draw: Callable[[Any, int, Shape], Any]


def _seed_twice(seed: Any) -> Any:
    half = threefry.seed_words(seed)
    return np.concatenate([half, half])


def _split_halves(key: Any, shape: Shape) -> Any:
    halves = [threefry.split_words(half, shape) for half in (key[:2], key[2:])]
    return np.concatenate(halves, -1)


def _fold_halves(key: Any, data: Any) -> Any:
    return np.concatenate([threefry.fold_words(half, data) for half in (key[:2], key[2:])])


def _draw(key: Any, width: int, shape: Shape) -> Any:
    return rng_bit_generator(key, shape, f"uint{width}")[1]


# Of every ten keys that the device's generator makes, one is used: a poor man's hash.
HASHED = 10


def _split_unsafe(key: Any, shape: Shape) -> Any:
    return _draw(key, 32, (HASHED * math.prod(shape), 4))[::HASHED].reshape(*shape, 4)


def _fold_unsafe(key: Any, data: Any) -> Any:
    return key ^ _draw(_seed_twice(data), 32, (HASHED, 4))[-1]


GENERATORS = {
    "threefry2x32": Generator(
        2, threefry.seed_words, threefry.split_words, threefry.fold_words, threefry.random_words
    ),
    "rbg": Generator(4, _seed_twice, _split_halves, _fold_halves, _draw),
    "unsafe_rbg": Generator(4, _seed_twice, _split_unsafe, _fold_unsafe, _draw),
}


def generator(name: str | None = None) -> Generator:
    """The generator of that name; without one, that of raw keys.

    Errors: ValueError for a name that is not known.
    """
    name = config.default_prng_impl if name is None else name
    if name not in GENERATORS:
        known = ", ".join(map(repr, GENERATORS))
        raise ValueError(f"there is no generator of random numbers {name!r}; known: {known}")
    return GENERATORS[name]


def split_words(key: Any, shape: Shape) -> Any:
    """Raw keys of the given shape, (*shape, words), from one raw key."""
    return generator().split(key, shape)


def fold_words(key: Any, data: Any) -> Any:
    """The raw key that a raw key and a 32-bit number give together."""
    return generator().fold(key, data)


def random_words(key: Any, width: int, shape: Shape) -> Any:
    """Uniformly random unsigned integers of `width` bits."""
    return generator().draw(key, width, shape)
