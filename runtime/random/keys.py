"""Random keys: making them, splitting them, folding numbers in."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import numpy

import overt.runtime.numpy as np
from overt.runtime import config, dtypes
from overt.runtime.array import DeviceArray
from overt.runtime.batching import vmap_call
from overt.runtime.errors import KeyIsNoNumber, KeyReuseError
from overt.runtime.kinds import prng_key
from overt.runtime.primitive import Composite
from overt.runtime.random.generators import fold_words, generator, split_words
from overt.runtime.random.threefry import UINT32
from overt.runtime.tree import register_pytree_node, tree_flatten

# What a key of a generator is called where dtypes are named.
_TAGS = {"threefry2x32": "fry", "rbg": "rbg", "unsafe_rbg": "urbg"}


class KeyDtype:
    """The kind of keys of one generator, to be given to `key` and `wrap_key_data`."""

    __slots__ = ("impl",)
    type = prng_key

    def __init__(self, impl: str):
        self.impl = impl

    @property
    def name(self) -> str:
        return f"key<{_TAGS[self.impl]}>"

    @property
    def itemsize(self) -> int:
        """The bytes of one key."""
        return 4 * generator(self.impl).words

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, KeyDtype) and other.impl == self.impl

    def __hash__(self) -> int:
        return hash(self.impl)

    __repr__ = __str__ = lambda self: self.name


class Key:
    """A random key, or an array of them; each is a few uint32 words, which its shape leaves out.

    A key is a tree with one leaf, the words, so every transformation and loop can carry it; `impl`
    names its generator.

    >>> from overt import random
    >>> keys = random.split(random.key(0), 3)
    >>> keys.shape, len(keys), keys[0].shape
    ((3,), 3, ())
    """

    __slots__ = ("words", "impl", "used")
    __overt_key__ = True  # it has a shape and a dtype, and is no array

    def __init__(self, words: Any, impl: str = "threefry2x32"):
        self.words = words
        self.impl = impl
        self.used = False  # kept up to date while the setting `debug_key_reuse` is on

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.words.shape[:-1])

    @property
    def dtype(self) -> KeyDtype:
        """The kind of these keys: `issubdtype(key.dtype, dtypes.prng_key)` is true."""
        return KeyDtype(self.impl)

    @property
    def itemsize(self) -> int:
        """The bytes of one key."""
        return 4 * int(self.words.shape[-1])

    @property
    def nbytes(self) -> int:
        """The bytes of all of them."""
        return self.itemsize * self.size

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
        return (Key(self.words[i], self.impl) for i in range(len(self)))

    def __getitem__(self, index: Any) -> Key:
        places = index if isinstance(index, tuple) else (index,)
        if Ellipsis not in places:
            places = (*places, Ellipsis)
        return Key(self.words[(*places, slice(None))], self.impl)

    @property
    def T(self) -> Key:  # noqa: N802
        """The same keys, their axes reversed."""
        return np.transpose(self)

    def reshape(self, *shape: Any) -> Key:
        """The same keys under another shape."""
        sizes = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        return Key(self.words.reshape(*sizes, self.words.shape[-1]), self.impl)

    def ravel(self) -> Key:
        """The keys in one dimension."""
        return self.reshape(-1)

    flatten = ravel

    def transpose(self, *axes: Any) -> Key:
        """The keys with their axes in another order, by default reversed."""
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None
        return np.transpose(self, order)

    def squeeze(self, axis: Any = None) -> Key:
        """The keys without axes of length 1."""
        return np.squeeze(self, axis)

    def swapaxes(self, axis1: int, axis2: int) -> Key:
        """The keys with two axes exchanged."""
        return np.swapaxes(self, axis1, axis2)

    def take(self, indices: Any, axis: int | None = None, **how: Any) -> Key:
        """The keys at these places."""
        return self.moved(lambda words: np.take(words, indices, axis, **how))

    def copy(self) -> Key:
        """The same keys."""
        return Key(self.words, self.impl)

    @property
    def at(self) -> KeysAt:
        """`keys.at[index].set(others)` and `keys.at[index].get()`."""
        return KeysAt(self)

    def moved(self, function: Callable) -> Key:
        """What a function makes of these keys that only moves elements about."""
        return Key(vmap_call(function, (self.words,), -1, -1), self.impl)

    def __eq__(self, other: Any) -> Any:
        """Where keys are the same, key by key.

        Errors: TypeError for keys of different generators.
        """
        if not isinstance(other, Key):
            return NotImplemented
        if self.impl != other.impl:
            raise TypeError(f"keys of {self.impl} and of {other.impl} cannot be compared")
        return np.all(self.words == other.words, axis=-1)

    def __ne__(self, other: Any) -> Any:
        equal = self == other if isinstance(other, Key) else NotImplemented
        return equal if equal is NotImplemented else ~equal

    __hash__ = object.__hash__

    def block_until_ready(self) -> Key:
        self.words.block_until_ready()
        return self

    def __bool__(self) -> bool:
        raise TypeError("a random key has no truth value")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise KeyIsNoNumber(NO_NUMBER)

    def __repr__(self) -> str:
        if self.impl != "threefry2x32":
            return f"Key({self.words!r}, impl={self.impl!r})"
        return f"Key({self.words!r})"


class KeysAt:
    """What `keys.at` is, and `keys.at[index]`."""

    __slots__ = ("index", "keys")

    def __init__(self, keys: Key, index: Any = None):
        self.keys, self.index = keys, index

    def __getitem__(self, index: Any) -> KeysAt:
        return KeysAt(self.keys, index)

    def get(self, **how: Any) -> Key:
        """The keys there."""
        return self.keys.moved(lambda words: words.at[self.index].get(**how))

    def set(self, values: Key, **how: Any) -> Key:
        """The keys with others put there."""
        if not is_key(values) or values.impl != self.keys.impl:
            raise TypeError(f"at[...].set needs a key of the same generator, got {values!r}")
        words = vmap_call(
            lambda words, new: words.at[self.index].set(new, **how),
            (self.keys.words, values.words),
            -1,
            -1,
        )
        return Key(words, self.keys.impl)


NO_NUMBER = "a random key is no number; random.key_data(key) shows its words"

# Functions that only move elements about, and so do with the words of keys what they do with keys.
MOVING = frozenset(
    "concat concatenate diagonal expand_dims flip fliplr flipud insert matrix_transpose moveaxis "
    "permute_dims ravel repeat_evenly reshape rollaxis rot90 shifted squeeze stack swapaxes "
    "take_along_axis tile transpose where".split()
)


def on_words(function: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """A function of keys that only moves them about.

    Errors: TypeError for any other function, and for keys of several generators.

    >>> np.stack([key(1), key(2)]).shape
    (2,)
    """
    pieces, definition = tree_flatten((args, kwargs), is_leaf=is_key)
    held = [x for x in pieces if is_key(x)]
    if function.__name__ not in MOVING or len({x.impl for x in held}) != 1:
        raise TypeError(NO_NUMBER)

    def run(words: list[Any]) -> Any:
        rest = iter(words)
        args, kwargs = definition.unflatten(next(rest) if is_key(x) else x for x in pieces)
        return function(*args, **kwargs)

    moved = vmap_call(run, ([x.words for x in held],), -1, -1)
    return Key(moved, held[0].impl)


def is_key(x: Any) -> bool:
    return isinstance(x, Key)


register_pytree_node(
    Key, lambda key: ((key.words,), key.impl), lambda impl, parts: Key(parts[0], impl)
)


def raw(name: str, key: Any) -> Any:
    """The words of one key, typed or not.

    Errors: ValueError for an array of keys, TypeError for what is no key.
    """
    words = key.words if isinstance(key, Key) else key
    shape, dtype = getattr(words, "shape", None), getattr(words, "dtype", None)
    size = generator(key.impl if isinstance(key, Key) else None).words
    if shape is None or not shape or shape[-1] != size or dtype != UINT32:
        raise TypeError(f"{name} needs a key from random.key or random.split, got {key!r}")
    if len(shape) > 1:
        raise ValueError(
            f"{name} needs a single key, got an array of keys of shape {tuple(shape[:-1])}; "
            "use vmap to map over keys"
        )
    return np.asarray(words)


def _drawing(name: str, key: Any) -> AbstractContextManager[None]:
    """A block in which raw keys are for the generator of `key`, where that may be used."""
    settings = config.current()
    impl = key.impl if isinstance(key, Key) else settings.default_prng_impl
    if settings.legacy_prng_key != "allow" or settings.debug_key_reuse:
        return _guarded(name, key, impl)
    if impl != settings.default_prng_impl:
        return config.override("default_prng_impl", impl)
    return nullcontext()


@contextmanager
def _guarded(name: str, key: Any, impl: str) -> Iterator[None]:
    if isinstance(key, Key):
        if config.current().debug_key_reuse:
            _use(name, key)
    elif (mode := config.current().legacy_prng_key) != "allow":
        message = f"{name} was given a raw key; make keys with random.key, not random.PRNGKey"
        if mode == "error":
            raise ValueError(message)
        warnings.warn(message, stacklevel=4)
    # What the function itself draws with are raw keys, each used once.
    with (
        config.override("legacy_prng_key", "allow"),
        config.override("debug_key_reuse", False),
        config.override("default_prng_impl", impl),
    ):
        yield


# Keys that were drawn with or split while `debug_key_reuse` was on, by their words.
_used: set[tuple[str, bytes]] = set()


def _use(name: str, key: Key) -> None:
    """Note that a key is used. Errors: KeyReuseError if it was used before."""
    known = not key.shape and isinstance(key.words, DeviceArray)
    mark = (key.impl, numpy.asarray(key.words).tobytes()) if known else None
    if key.used or mark in _used:
        raise KeyReuseError(
            f"{name} was given a key that was used before, and would repeat its numbers; split the "
            "key first, or say with random.clone(key) that this is meant"
        )
    key.used = True
    if mark is not None:
        _used.add(mark)


def _fresh(key: Key) -> Key:
    """Note that a key was made, or made again, and may be used."""
    if _used and isinstance(key.words, DeviceArray):
        for words in numpy.asarray(key.words).reshape(-1, key.words.shape[-1]):
            _used.discard((key.impl, words.tobytes()))
    return key


def _like(key: Any, words: Any) -> Any:
    return _fresh(Key(words, key.impl)) if isinstance(key, Key) else words


def _implementation(impl: Any) -> str:
    if impl is None:
        impl = config.current().default_prng_impl
    name = impl.impl if isinstance(impl, KeyDtype) else impl
    generator(name)
    return name


def _seeded(name: str, seed: Any, impl: str) -> Any:
    if isinstance(seed, Key):
        raise TypeError(f"{name} needs an integer seed, got a key")
    if isinstance(seed, numpy.integer):
        seed = int(seed.astype(numpy.int64))
    if np.ndim(seed):
        raise TypeError(f"{name} needs a scalar seed, got shape {np.shape(seed)}; use vmap")
    if not isinstance(seed, int) and not np.issubdtype(np.result_type(seed), np.integer):
        raise TypeError(f"{name} needs an integer seed, got {seed!r}")
    return generator(impl).seed(seed)


def key_dtype(impl_spec: Any = None) -> KeyDtype:
    """The kind of keys of a generator, by default that of new keys.

    >>> key_dtype()
    key<fry>
    """
    return KeyDtype(_implementation(impl_spec))


def key(seed: Any, *, impl: Any = None, dtype: Any = None) -> Key:
    """A random key from an integer seed, for the generator `impl`.

    `impl` is "threefry2x32", or "rbg" or "unsafe_rbg", which are quicker on accelerators and draw
    other numbers on every platform.

    >>> key_data(key(42)).tolist()
    [0, 42]
    """
    impl = _implementation(impl if dtype is None else dtype)
    return _fresh(Key(_seeded("key", seed, impl), impl))


def PRNGKey(seed: Any, *, impl: Any = None) -> Any:
    """A raw key from an integer seed: a plain uint32 array of shape (2,).

    >>> PRNGKey(42).tolist()
    [0, 42]
    """
    impl = _implementation(impl)
    words = _seeded("PRNGKey", seed, impl)
    return Key(words, impl) if config.current().enable_custom_prng else words


def key_data(keys: Any) -> Any:
    """The words of keys: uint32 of shape (*keys.shape, words).

    >>> print(key_data(key(7)))
    [0 7]
    """
    return keys.words if isinstance(keys, Key) else np.asarray(keys)


def wrap_key_data(key_bits_array: Any, *, impl: Any = None, dtype: Any = None) -> Key:
    """Keys from their words, the inverse of `key_data`.

    >>> wrap_key_data(key_data(key(7))).shape
    ()
    """
    impl = _implementation(impl if dtype is None else dtype)
    words, size = np.asarray(key_bits_array), generator(impl).words
    if words.dtype != UINT32 or words.shape[-1:] != (size,):
        raise TypeError(
            f"keys of {impl} are uint32 of shape (..., {size}), got {words.dtype} {words.shape}"
        )
    return _fresh(Key(words, impl))


def key_impl(keys: Any) -> str:
    """The name of the generator that keys are for."""
    return keys.impl if isinstance(keys, Key) else config.current().default_prng_impl


def clone(key: Any) -> Any:
    """The same key again, where using it twice is meant.

    >>> from overt import random
    >>> key = key(0)
    >>> print(random.uniform(key) == random.uniform(clone(key)))
    True
    """
    return _fresh(Key(key.words, key.impl)) if isinstance(key, Key) else key


class Sampler(Composite):
    """A composite of a key: runs on the key's words, whichever kind of key it is given."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with _drawing(self.__name__, args[0] if args else kwargs.get("key")):
            return super().__call__(*args, **kwargs)

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


_split = Composite(split_words, ("key",), zero_derivative=True)
_fold_in = Composite(fold_words, ("key", "data"), zero_derivative=True)


def split(key: Any, num: int | tuple[int, ...] = 2) -> Any:
    """New independent keys from one key, which is not to be used again.

    Shapes: (num,), or `num` itself if it is a tuple.

    >>> from overt import random
    >>> key, subkey = random.split(random.key(0))
    >>> key_data(subkey).tolist()
    [2718843009, 1272950319]
    """
    shape = tuple(num) if isinstance(num, (tuple, list)) else (num,)
    with _drawing("split", key):
        return _like(key, _split(raw("split", key), shape))


def fold_in(key: Any, data: Any) -> Any:
    """A new key from a key and an integer, such as the number of a step or a layer.

    >>> from overt import random
    >>> random.fold_in(random.key(0), 1).shape
    ()
    """
    if np.ndim(data):
        raise TypeError(f"fold_in needs a scalar, got shape {np.shape(data)}; use vmap")
    if type(data) is int and 2**31 <= data < 2**32:
        data = numpy.uint32(data)
    # A key may be folded with many numbers, and used after that too.
    with config.override("debug_key_reuse", False), _drawing("fold_in", key):
        return _like(key, _fold_in(raw("fold_in", key), data))
