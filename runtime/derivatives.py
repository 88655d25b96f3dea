"""What generated derivative code does with cotangents: add them, undo broadcasts, make zeros.

A cotangent has the type of its value: an array for a float array, the same container for a
container.  None is a zero: that of integers, strings and everything else without a derivative,
and of any value that does not influence the result.
"""

from __future__ import annotations

import collections
import functools
import operator
from collections.abc import Callable
from typing import Any, NoReturn

import numpy

from overt.runtime import dtypes
from overt.runtime.array import Array
from overt.runtime.errors import UnexpectedTracerError
from overt.runtime.none_or import NoneOr, opened
from overt.runtime.parts import NUMBERS, is_array, is_wrapping, parts_of
from overt.runtime.undefined import UndefinedValue
from overt.runtime.unsure import Unsure

__all__ = [
    "add", "fresh", "materialize", "ones_like_tree", "spread_to", "sum_to", "zeros_like_tree"
]  # fmt: skip


def dtype_of(x: Any) -> numpy.dtype:
    """The dtype of a number or array; that of a Python number is NumPy's."""
    dtype = getattr(x, "dtype", None)
    return numpy.dtype(type(x)) if dtype is None else dtype


def is_inexact(x: Any) -> bool:
    """Whether a value is a number or array with a derivative: float or complex.

    >>> is_inexact(1.0), is_inexact(1), is_inexact("1")
    (True, False, False)
    """
    if type(x) is Unsure:  # its type matters here, not whether it is set
        x = x.value
    return is_array(x) and dtypes.is_inexact(dtype_of(x))


def sum_to(g: Any, like: Any) -> Any:
    """Undo a broadcast: sum a cotangent to the shape of `like`, in the dtype of `like`.

    Works on numbers, NumPy arrays and Overt's arrays; lanes of a `vmap` are never summed.

    >>> sum_to(numpy.ones((2, 3)), numpy.zeros((3,)))
    array([2., 2., 2.])
    >>> float(sum_to(numpy.ones(3), 1.0))
    3.0
    """
    if isinstance(like, (list, tuple, dict)) and g is not None:
        if is_array(g) and not isinstance(like, dict):  # of the array that was made of the list
            from overt.runtime import numpy as np

            return sum_to_shape(g, np.shape(like))
        raise joined_as_array(like)
    return fitted(g, like)


def joined_as_array(x: Any) -> Exception:
    """What to raise where an operator, taken for one on arrays, joined or repeated a list."""
    from overt.runtime.escape import Escape

    return Escape(
        x,
        f"an operator on a {type(x).__name__} cannot be differentiated as one on arrays; "
        "join lists with `[*a, *b]`, or make arrays of them",
    )


def refuse_joined(g: Any, x: Any) -> None:
    """Refuse a list as the cotangent of one of another length: it is of one that was made of it."""
    if isinstance(x, (list, tuple)) and type(g) is type(x) and len(g) != len(x):
        raise joined_as_array(x)


def fitted(g: Any, like: Any) -> Any:
    """A cotangent of `like`: of an array in its shape and dtype, of anything else as it is."""
    if g is None or not is_array(like):
        return g
    if isinstance(g, (list, tuple)):  # of an array that counted as the cotangent of a list
        from overt.runtime import numpy as np

        g = np.array([0.0 if part is None else part for part in g])
    shape = getattr(like, "shape", ())
    if getattr(g, "shape", ()) != shape:
        g = sum_to_shape(g, shape)
    return _cast_to(g, like)


def spread_to(g: Any, wide: Any) -> Any:
    """A cotangent broadcast to the shape of `wide`: what undoing a broadcast is undone by."""
    shape = getattr(wide, "shape", ())
    if g is None or getattr(g, "shape", ()) == shape:
        return g
    from overt.runtime import numpy as np

    return np.broadcast_to(g, shape)


def fresh(g: Any, x: Any) -> Any:
    """The cotangent of `x`; a zero of another shape is of what a later iteration had set anew.

    >>> fresh(numpy.zeros(2), numpy.ones(3))
    array([0., 0., 0.])
    """
    if is_array(g) and is_array(x):
        return g if getattr(g, "shape", ()) == getattr(x, "shape", ()) else zeros_like_tree(x)
    if type(g) not in (list, tuple) or type(x) is not type(g):
        return g
    if len(g) != len(x):
        return zeros_like_tree(x)
    return type(x)(map(fresh, g, x))


def sum_to_shape(g: Any, shape: tuple[int, ...]) -> Any:
    """Undo a broadcast: sum a cotangent to a shape."""
    found = getattr(g, "shape", ())
    extra = len(found) - len(shape)
    if extra > 0:
        g = g.sum(axis=tuple(range(extra)))
    elif extra < 0:
        return _broadcast_to(g, shape)
    found = getattr(g, "shape", ())
    if kept := tuple(i for i, n in enumerate(shape) if n == 1 and found[i] != 1):
        g = g.sum(axis=kept, keepdims=True)
    return g if getattr(g, "shape", ()) == shape else _broadcast_to(g, shape)


def _broadcast_to(g: Any, shape: tuple[int, ...]) -> Any:
    if isinstance(g, (*NUMBERS, numpy.ndarray, numpy.generic)):
        return numpy.broadcast_to(g, shape)
    from overt.runtime import numpy as np

    return np.broadcast_to(g, shape)


def _cast_to(g: Any, like: Any) -> Any:
    target, found = dtype_of(like), dtype_of(g)
    if target == found or not dtypes.is_inexact(target):
        return g
    if not dtypes.is_inexact(found):  # a factor as it was, in which more does not find room
        small = found.itemsize < 4 and hasattr(g, "astype")
        return g.astype(dtypes.canonicalize(target)) if small else g
    if dtypes.is_complex(found) and not dtypes.is_complex(target):
        return _cast_to(g.real, like)  # a real variable moves the real part only
    if type(like) in NUMBERS or type(g) in NUMBERS:
        return g
    return g.astype(dtypes.canonicalize(target) if isinstance(g, Array) else target)


# Containers that derivatives see in another way than `tree_flatten` does.
PARTS_OF: dict[type, Callable[[Any], tuple[list[Any], Callable[[list[Any]], Any]]]] = {}


# Dictionaries, whose cotangents go by key.
BY_KEY = (dict, collections.OrderedDict, collections.defaultdict, collections.Counter)


def with_keys(x: Any, items: Any) -> Any:
    """A dictionary of the kind of `x` with other items."""
    if type(x) is collections.defaultdict:
        return collections.defaultdict(x.default_factory, items)
    return type(x)(dict(items))


class ZeroOf:
    """What a `defaultdict` of tangents or cotangents holds for a key that nothing has set."""

    def __init__(self, factory: Callable[[], Any], zero: Callable[[Any], Any]) -> None:
        self.factory, self.zero = factory, zero

    def __call__(self) -> Any:
        return self.zero(self.factory())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ZeroOf):
            return False
        return self.factory == other.factory and self.zero is other.zero

    def __hash__(self) -> int:
        return hash(self.factory)


def zero_items(x: Any, made: Any, zero: Callable[[Any], Any] | None = None) -> Any:
    """A zero of a container; of a `defaultdict` with zeros for the keys that it does not have.

    `zero` gives that of what a key then holds: `zeros_like_tree`, as cotangents have it.
    """
    if type(x) is collections.defaultdict and x.default_factory is not None:
        factory = x.default_factory
        new = ZeroOf(factory, zero or zeros_like_tree)
        made.default_factory = factory if isinstance(factory, ZeroOf) else new
    return made


def children_of(x: Any) -> tuple[list[Any], Callable[[list[Any]], Any]] | None:
    """The parts of a container and how to build its cotangent; None if `x` is no container."""
    if type(x) is NoneOr:
        x = opened(x)[0]
    if type(x) in (tuple, list):
        return list(x), type(x)
    if type(x) in BY_KEY:
        return list(x.values()), lambda bars: with_keys(x, zip(x, bars, strict=True))
    if type(x) in PARTS_OF:
        return PARTS_OF[type(x)](x)
    parts = parts_of(x)
    if parts is None:
        return None
    if is_wrapping(x):
        return parts.values, operator.itemgetter(0)
    # The cotangent of a partial is the pair of those of its bound arguments.
    return parts.values, tuple if type(x) is functools.partial else parts.rebuild


class NoCotangent:
    """The cotangent of a value that a derivative rule holds fixed: to use it is an error.

    What is added to it is not known either, nor the cotangents that depend on it.
    """

    def __init__(self, message: str):
        self.message = message

    def refuse(self, *_: Any, **__: Any) -> NoReturn:
        """Say that the derivative is not known."""
        raise UnexpectedTracerError(self.message)

    def __add__(self, _: Any) -> NoCotangent:
        return self

    __radd__ = __add__
    __array__ = __mul__ = __rmul__ = refuse


def add(a: Any, b: Any) -> Any:
    """The sum of two cotangents of the same value; None is zero.

    >>> add({"w": 1.0, "n": None}, {"w": 2.0, "n": None})
    {'w': 3.0, 'n': None}
    """
    if a is None or type(a) is UndefinedValue:
        return b
    if b is None or type(b) is UndefinedValue:
        return a
    if is_array(a) and is_array(b):
        return a + b
    if isinstance(a, NoCotangent) or isinstance(b, NoCotangent):
        return a + b
    if is_array(a) != is_array(b):  # one of them a value that all records of a loop share
        from overt.runtime.repeated import rows_of

        a, b = rows_of(a), rows_of(b)
        if is_array(a) and is_array(b):
            return a + b
        a, b = _of_list(a, b), _of_list(b, a)
    if type(a) in BY_KEY and type(b) in BY_KEY:  # keys that only one has are of items set later
        return with_keys(a, [(key, add(a.get(key), b.get(key))) for key in {**a, **b}])
    if type(a) in PARTS_OF:
        b = _kept_alike(a, b)
    left, right = children_of(a), children_of(b)
    refuse_joined(a, b)
    alike = isinstance(a, dict) is isinstance(b, dict)
    if left is None or right is None or not alike or len(left[0]) != len(right[0]):
        raise TypeError(
            f"cotangents of one value have different types: {type(a).__name__} and "
            f"{type(b).__name__}"
        )
    return left[1]([add(x, y) for x, y in zip(left[0], right[0], strict=True)])


def _of_list(bar: Any, x: Any) -> Any:
    """The cotangent of the array that a function makes of a list is, by parts, one of the list."""
    if is_array(bar) and type(x) in (list, tuple) and getattr(bar, "shape", ())[:1] == (len(x),):
        return type(x)(bar[i] for i in range(len(x)))
    return bar


def _kept_alike(saved: Any, bar: Any) -> Any:
    from overt.runtime.saved_cotangents import kept_alike

    return kept_alike(saved, bar)


def zeros_like_tree(x: Any) -> Any:
    """The zero cotangent of any value: zeros for floats, None for what has no derivative.

    >>> zeros_like_tree((1.5, 3, {"name": "a", "w": 2.0}))
    (0.0, None, {'name': None, 'w': 0.0})
    """
    return _filled(x, 0)


def ones_like_tree(x: Any) -> Any:
    """Ones for floats, None for what has no derivative, in the containers of `x`."""
    return _filled(x, 1)


def _filled(x: Any, value: int) -> Any:
    if type(x) is Unsure:  # its type matters here, not whether it is set
        x = x.value
    if is_array(x):
        if not dtypes.is_inexact(dtype_of(x)):
            return None
        if isinstance(x, (float, complex)) and not isinstance(x, numpy.generic):
            return type(x)(value)
        if isinstance(x, (numpy.ndarray, numpy.generic)):
            return numpy.full_like(x, value)
        from overt.runtime import numpy as np

        return np.full(x.shape, value, x.dtype)
    if type(x) is UndefinedValue:  # so that it goes with what the variable is on other paths
        return x
    parts = children_of(x)
    if parts is None:
        return None
    made = parts[1]([_filled(part, value) for part in parts[0]])
    return made if value else zero_items(x, made)


def materialize(x_bar: Any, x: Any) -> Any:
    """A cotangent of `x` with zeros in place of None, wherever `x` has floats.

    >>> materialize((None, 2.0, None), (1.0, 1.0, 7))
    (0.0, 2.0, None)
    """
    if x_bar is None or type(x_bar) is UndefinedValue:
        return zeros_like_tree(x)
    parts = None if is_array(x) else children_of(x)
    if parts is None or is_array(x_bar) and hasattr(x, "room"):
        return x_bar
    if type(x) in BY_KEY and type(x_bar) in BY_KEY:  # items set later have no part in x
        return with_keys(x, [(key, materialize(x_bar.get(key), part)) for key, part in x.items()])
    if is_wrapping(x):
        return materialize(x_bar, parts[0][0])
    if type(x) in PARTS_OF:
        x_bar = _kept_alike(x, x_bar)
    if is_array(x_bar) and isinstance(x, (list, tuple)):
        from overt.runtime.numpy.creation import parts_like

        x_bar = parts_like(x_bar, x)
    bars = children_of(x_bar)
    refuse_joined(x_bar, x)
    if bars is None or len(bars[0]) != len(parts[0]):
        raise TypeError(f"{type(x_bar).__name__} is no cotangent of a {type(x).__name__}")
    return parts[1]([materialize(b, part) for b, part in zip(bars[0], parts[0], strict=True)])
