"""Random keys: making them, splitting them, folding numbers in."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import overt.runtime.numpy as np
from overt.runtime import dtypes
from overt.runtime.primitive import Composite
from overt.runtime.random import threefry
from overt.runtime.tree import register_pytree_node

IMPLEMENTATION = "threefry2x32"


class Key:
    """A random key, or an array of them; each is two uint32 words, which its shape leaves out.

    A key is a tree with one leaf, the words, so every transformation and loop can carry it.

    >>> from overt import random
    >>> keys = random.split(random.key(0), 3)
    >>> keys.shape, len(keys), keys[0].shape
    ((3,), 3, ())
    """

    __slots__ = ("words",)  # and no dtype: what has a shape and a dtype passes for an array

    def __init__(self, words: Any):
        self.words = words

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.words.shape[:-1])

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a single key")
        return self.shape[0]

    def __iter__(self) -> Iterator[Key]:
        if not self.shape:
            raise TypeError("iteration over a single key; split it first")
        return (Key(self.words[i]) for i in range(len(self)))

    def __getitem__(self, index: Any) -> Key:
        places = index if isinstance(index, tuple) else (index,)
        if Ellipsis not in places:
            places = (*places, Ellipsis)
        return Key(self.words[(*places, slice(None))])

    def reshape(self, *shape: Any) -> Key:
        """The same keys under another shape."""
        sizes = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        return Key(self.words.reshape(*sizes, 2))

    def ravel(self) -> Key:
        """The keys in one dimension."""
        return self.reshape(-1)

    flatten = ravel

    def block_until_ready(self) -> Key:
        self.words.block_until_ready()
        return self

    def __bool__(self) -> bool:
        raise TypeError("a random key has no truth value")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("a random key is no number; random.key_data(key) shows its words")

    def __repr__(self) -> str:
        return f"Key({self.words!r})"


register_pytree_node(Key, lambda key: ((key.words,), None), lambda _, parts: Key(parts[0]))


def raw(name: str, key: Any) -> Any:
    """The two words of one key, typed or not.

    Errors: ValueError for an array of keys, TypeError for what is no key.
    """
    words = key.words if isinstance(key, Key) else key
    shape, dtype = getattr(words, "shape", None), getattr(words, "dtype", None)
    if shape is None or not shape or shape[-1] != 2 or dtype != threefry.UINT32:
        raise TypeError(f"{name} needs a key from random.key or random.split, got {key!r}")
    if len(shape) > 1:
        raise ValueError(
            f"{name} needs a single key, got an array of keys of shape {tuple(shape[:-1])}; "
            "use vmap to map over keys"
        )
    return np.asarray(words)


def _like(key: Any, words: Any) -> Any:
    return Key(words) if isinstance(key, Key) else words


def _check_implementation(impl: Any) -> None:
    if impl not in (None, IMPLEMENTATION):
        raise ValueError(f"the only generator is {IMPLEMENTATION!r}, got {impl!r}")


def _seeded(name: str, seed: Any, impl: Any) -> Any:
    _check_implementation(impl)
    if isinstance(seed, Key):
        raise TypeError(f"{name} needs an integer seed, got a key")
    if np.ndim(seed):
        raise TypeError(f"{name} needs a scalar seed, got shape {np.shape(seed)}; use vmap")
    if not isinstance(seed, int) and not np.issubdtype(np.result_type(seed), np.integer):
        raise TypeError(f"{name} needs an integer seed, got {seed!r}")
    return threefry.seed_words(seed)


def key(seed: Any, *, impl: Any = None, dtype: Any = None) -> Key:
    """A random key from an integer seed.

    >>> key_data(key(42)).tolist()
    [0, 42]
    """
    return Key(_seeded("key", seed, impl if dtype is None else dtype))


def PRNGKey(seed: Any, *, impl: Any = None) -> Any:
    """A raw key from an integer seed: a plain uint32 array of shape (2,).

    >>> PRNGKey(42).tolist()
    [0, 42]
    """
    return _seeded("PRNGKey", seed, impl)


def key_data(keys: Any) -> Any:
    """The words of keys: uint32 of shape (*keys.shape, 2)."""
    return keys.words if isinstance(keys, Key) else np.asarray(keys)


def wrap_key_data(key_bits_array: Any, *, impl: Any = None, dtype: Any = None) -> Key:
    """Keys from their words, the inverse of `key_data`.

    >>> wrap_key_data(key_data(key(7))).shape
    ()
    """
    _check_implementation(impl if dtype is None else dtype)
    words = np.asarray(key_bits_array)
    if words.dtype != threefry.UINT32 or words.shape[-1:] != (2,):
        raise TypeError(f"keys are uint32 of shape (..., 2), got {words.dtype} {words.shape}")
    return Key(words)


def key_impl(keys: Any) -> str:
    """The name of the generator that keys are for."""
    return IMPLEMENTATION


def clone(key: Any) -> Any:
    """The same key again, where using it twice is meant."""
    return key


class Sampler(Composite):
    """A composite of a key: runs on the key's words, whichever kind of key it is given."""

    def bind(self, args: tuple, kwargs: dict[str, Any]) -> dict[str, Any]:
        bound = super().bind(args, kwargs)
        bound["key"] = raw(self.__name__, bound["key"])
        if bound.get("dtype") is not None:
            bound["dtype"] = dtypes.canonicalize(bound["dtype"], explicit=True)
        return bound


def sampler(*arrays: str, differentiable: bool = False) -> Callable[[Callable], Sampler]:
    """Make a function of a key and of the array parameters named here one operation.

    Unless it is differentiable, its derivative by its parameters is zero.
    """

    def decorate(function: Callable) -> Sampler:
        return Sampler(function, ("key", *arrays), zero_derivative=not differentiable)

    return decorate


_split = Composite(threefry.split_words, ("key",), zero_derivative=True)
_fold_in = Composite(threefry.fold_words, ("key", "data"), zero_derivative=True)


def split(key: Any, num: int | tuple[int, ...] = 2) -> Any:
    """New independent keys from one key, which is not to be used again.

    Shapes: (num,), or `num` itself if it is a tuple.

    >>> from overt import random
    >>> key, subkey = random.split(random.key(0))
    >>> key_data(subkey).tolist()
    [2718843009, 1272950319]
    """
    shape = tuple(num) if isinstance(num, (tuple, list)) else (num,)
    return _like(key, _split(raw("split", key), shape))


def fold_in(key: Any, data: Any) -> Any:
    """A new key from a key and an integer, such as the number of a step or a layer.

    >>> from overt import random
    >>> random.fold_in(random.key(0), 1).shape
    ()
    """
    if np.ndim(data):
        raise TypeError(f"fold_in needs a scalar, got shape {np.shape(data)}; use vmap")
    return _like(key, _fold_in(raw("fold_in", key), data))
