"""Tangents of any value: zeros, parts of objects, and calls run on values with tangents.

The tangent of a container has the container's own structure.  That of an integer is a float zero,
so that arithmetic goes through; None stands for the tangent of what is no number.
"""

from __future__ import annotations

import functools
import itertools
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from overt.runtime import dtypes
from overt.runtime.cotangents import place_field
from overt.runtime.derivatives import (
    BY_KEY,
    PARTS_OF,
    children_of,
    dtype_of,
    is_inexact,
    sum_to,
    zero_items,
    zeros_like_tree,
)
from overt.runtime.dual import Dual, dual, primal_at, tangent_at
from overt.runtime.escape import KEPT, Escape, is_kept, settled, unchanged
from overt.runtime.hidden import LIBRARIES, hides, is_object, keeps_unseen
from overt.runtime.levels import new_level
from overt.runtime.parts import is_array, is_wrapping, parts_of
from overt.runtime.primitive import Rule
from overt.runtime.special_methods import lifting_special_methods
from overt.runtime.undefined import UndefinedValue

__all__ = [
    "Escape",
    "call_with_tangents",
    "field_dot",
    "filled",
    "is_moving",
    "listed",
    "place_field_dot",
    "tangent_for",
    "updated",
    "zero_dot",
]  # fmt: skip

MOST_ITEMS = 100_000  # of an iterator, before it is taken for one without an end

OPERATORS = frozenset(
    f"__{n}__"
    for n in [
        "add",
        "radd",
        "sub",
        "rsub",
        "mul",
        "rmul",
        "truediv",
        "rtruediv",
        "pow",
        "rpow",
        "matmul",
        "rmatmul",
        "neg",
        "abs",
        "getitem",
        "iter",
    ]
)
VIEWS: Any = (type({}.keys()), type({}.values()), type({}.items()))


def zero_dot(x: Any) -> Any:
    """The zero tangent of any value: float zeros for numbers, None for what is no number.

    >>> zero_dot((1.5, 3, {"name": "a"}))
    (0.0, 0.0, {'name': None})
    """
    if is_array(x):
        if is_inexact(x):
            return zeros_like_tree(x)
        if isinstance(x, (bool, int)):
            return 0.0
        dtype = dtype_of(x)
        if not (dtypes.is_integer(dtype) or dtype.kind == "b"):
            return None
        import overt.runtime.numpy as np

        return np.asarray(x) * 0.0
    if type(x) is UndefinedValue:
        return x
    parts = children_of(x)
    if parts is None:
        return None
    return zero_items(x, parts[1]([zero_dot(part) for part in parts[0]]), zero_dot)


def items_dot(dot: Any) -> Any:
    """The tangent of `x.items()`: keys have none.

    >>> items_dot({1: 0.5})
    [(0.0, 0.5)]
    """
    return [(zero_dot(k), v) for k, v in dot.items()] if isinstance(dot, dict) else dot.items()


def keys_dot(dot: Any) -> Any:
    """The tangent of what iterating over x gives: keys of a dictionary have none.

    >>> keys_dot({1: 0.5}), keys_dot([0.5])
    ([0.0], [0.5])
    """
    return [zero_dot(k) for k in dot] if isinstance(dot, dict) else dot


def filled(dot: Any, x: Any) -> Any:
    """A tangent of `x` with zeros in place of None.

    >>> filled((None, 2.0), (1.0, 1.0))
    (0.0, 2.0)
    """
    if dot is None:
        return zero_dot(x)
    if is_array(x):
        return dot if is_inexact(x) else zero_dot(x)
    parts = children_of(x)
    if parts is None:
        return dot
    return parts[1](
        [filled(d, part) for d, part in zip(children_dots(dot, x), parts[0], strict=True)]
    )


def children_dots(dot: Any, x: Any) -> list[Any]:
    """The tangents of a container's parts, in the order of the parts."""
    if type(x) in BY_KEY:
        return [dot.get(key) for key in x]
    if is_wrapping(x):
        return [dot]
    found = children_of(dot)
    if found is None:
        raise TypeError(f"{type(dot).__name__} is no tangent of a {type(x).__name__}")
    return found[0]


def is_moving(dot: Any) -> bool:
    """Whether a tangent has any part that is not None."""
    if dot is None:
        return False
    if is_array(dot):
        return True
    if isinstance(dot, VIEWS):
        return any(map(is_moving, dot))
    parts = children_of(dot)
    return parts is not None and any(map(is_moving, parts[0]))


def tangent_for(dot: Any, out: Any) -> Any:
    """A tangent as that of `out`: in its dtype, its shape, zero if `out` is an integer."""
    if not is_array(out) or is_array(dot) and not is_inexact(out):
        if isinstance(out, (list, tuple)) and len(dot) != len(out):
            raise TypeError(
                "a tangent has fewer items than its value: give the constant part a name"
            )
        return zero_dot(out) if is_array(out) else dot
    import overt.runtime.numpy as np

    shape = getattr(out, "shape", ())
    if getattr(dot, "shape", ()) != shape:
        dot = np.broadcast_to(dot, shape)
    dtype = dtype_of(out)
    if dtype_of(dot) == dtype or isinstance(out, (int, float, complex)):
        return dot
    if dtypes.is_complex(dtype_of(dot)) and not dtypes.is_complex(dtype):
        dot = dot.real
    return np.astype(np.asarray(dot), dtype)


def field_dot(dot: Any, x: Any, name: str) -> Any:
    """The tangent of `x.name`."""
    value = getattr(x, name)
    if isinstance(value, (types.MethodType, types.BuiltinMethodType)) and value.__self__ is x:
        return dot
    parts = parts_of(x)
    if parts is None:
        if is_array(x):
            return call_with_tangents(getattr, (x, name), (dot, None))[1]
        return zero_dot(value)
    if any(value is part for part in parts.values) and hasattr(dot, name):
        return getattr(dot, name)
    return call_with_tangents(getattr, (x, name), (dot, None))[1]


def place_field_dot(g_dot: Any, x_dot: Any, g: Any, x: Any, name: str) -> Any:
    """The tangent of `place_field(g, x, name)`: a computed field depends on `x`."""
    if isinstance(getattr(type(x), name, None), property):
        return call_with_tangents(place_field, (g, x, name), (g_dot, x_dot, None))[1]
    return place_field(g_dot, x, name)


def updated(x: Any, method: str, index: Any, *values: Any, **how: Any) -> Any:
    """`x.at[index].method(*values)`."""
    return getattr(x.at[index], method)(*values, **how)


# --- calls ---------------------------------------------------------------------------------------


def call_with_tangents(
    fn: Callable[..., Any],
    args: Sequence[Any],
    dots: Sequence[Any],
    keywords: Mapping[str, Any] | None = None,
    keyword_dots: Mapping[str, Any] | None = None,
    outermost: bool = False,
) -> tuple[Any, Any]:
    """Run a function on values that carry their tangents; its result, and the result's tangent.

    The outermost call may leave values in objects, which have plain ones after it.

    Errors: Escape, where an object keeps a value of another call.
    """
    keywords, keyword_dots = keywords or {}, keyword_dots or {}
    with new_level() as level:
        given = [carried(level, x, dot) for x, dot in zip(args, dots, strict=True)]
        named = {k: carried(level, x, keyword_dots.get(k)) for k, x in keywords.items()}
        with lifting_special_methods(fn, args, keywords):
            out = fn(*given, **named) if outermost else unchanged(fn, given, named)
        out = listed(out)
    if outermost:
        settled(level, fn, args, keywords)
    elif is_kept(level, fn, args, keywords) or keeps_unseen(level, fn, *args):
        raise Escape(fn, KEPT)
    return parted(level, out, outermost)


def is_iterator(x: Any) -> bool:
    """Whether a value hands out items one by one; a placeholder, which refuses all, is none."""
    return hasattr(type(x), "__next__") and not isinstance(x, UndefinedValue)


def listed(out: Any) -> Any:
    """An iterator, or a view of a dictionary, as a list; a tuple of iterators as one of lists.

    Errors: NotImplementedError for an iterator without an end.
    """
    if type(out) is tuple and any(map(is_iterator, out)):
        return tuple(map(listed, out))
    if not (is_iterator(out) or isinstance(out, VIEWS)):
        return out
    items = list(itertools.islice(out, MOST_ITEMS + 1))
    if len(items) > MOST_ITEMS:
        raise NotImplementedError(
            f"an iterator of {type(out).__name__!r} over values that are being differentiated has "
            f"no end, or more than {MOST_ITEMS} items; take as many as are needed with "
            "itertools.islice"
        )
    return items


def has_operators(x: Any) -> bool:
    """Whether an object's class says what `+`, `[...]` and the like do with it."""
    return is_object(x) and class_has_operators(type(x))


def class_has_operators(kind: type) -> bool:
    """Whether a class of the user's says what `+`, `[...]` and the like do with its objects."""
    return any(
        OPERATORS & vars(c).keys()
        for c in kind.__mro__
        if (c.__module__ or "").partition(".")[0] not in LIBRARIES
    )


def holds_operators(x: Any) -> bool:
    """Whether a value, or a part of it, has operators of its own."""
    if is_array(x) or isinstance(x, (str, type, types.FunctionType)):
        return False
    if has_operators(x):
        return True
    parts = children_of(x)
    return parts is not None and any(map(holds_operators, parts[0]))


def pieces_of(x: Any) -> tuple[list[Any], Callable[[list[Any]], Any]] | None:
    """The parts of a container and how to build another one like it."""
    if type(x) in (list, tuple, dict) or type(x) in PARTS_OF:
        return children_of(x)
    parts = parts_of(x)
    return None if parts is None else (parts.values, parts.rebuild)


def carried(level: int, x: Any, dot: Any) -> Any:
    """A value with its tangent in every number of it."""
    if dot is None:
        return x
    if is_array(x):
        return dual(x, dot, level)
    if isinstance(x, types.MethodType):
        return types.MethodType(x.__func__, carried(level, x.__self__, dot))
    if isinstance(x, VIEWS):
        x, dot = list(x), dots_of_view(x, dot)
    found = pieces_of(x)
    if found is None:
        if is_moving(dot):
            raise Escape(x)
        return x
    values, rebuild = found
    dots = children_dots(dot, x)
    return rebuild([carried(level, part, d) for part, d in zip(values, dots, strict=True)])


def dots_of_view(x: Any, dot: Any) -> Any:
    """A tangent, that of a dictionary's view as a list: keys have none."""
    if dot is None or not isinstance(x, VIEWS):
        return listed(dot)
    if isinstance(x, VIEWS[2]):
        return [(None, d) for _, d in dot]
    return list(dot) if isinstance(x, VIEWS[1]) else [None for _ in x]


def parted(level: int, out: Any, outermost: bool = False) -> tuple[Any, Any]:
    """A result and its tangent, apart.

    Operators of an object matter to whoever goes on with it, where that is a derivative's text.
    """
    if is_array(out):
        primal, dot = primal_at(level, out), tangent_at(level, out)
        return primal, zero_dot(primal) if dot is None else dot
    if isinstance(out, (types.MethodType, types.BuiltinMethodType)):
        holder, dot = parted(level, out.__self__)
        return (getattr(holder, out.__name__), dot) if dot is not None else (out, None)
    found = pieces_of(out)
    if found is None:
        if hides(level, out):
            raise Escape(out)
        return out, None
    values, rebuild = found
    pairs = [parted(level, part, outermost) for part in values]
    dots = [dot for _, dot in pairs]
    if is_wrapping(out):
        out_dot = dots[0]
    else:
        out_dot = tuple(dots) if type(out) is functools.partial else rebuild(dots)
    if not any(holds(level, part) for part in values):
        return out, out_dot
    if has_operators(out) and not outermost:
        raise Escape(out)
    return rebuild([primal for primal, _ in pairs]), out_dot


def holds(level: int, x: Any) -> bool:
    """Whether a value has a tangent of this level in it."""
    if type(x) is Dual:
        return x.level == level
    if is_array(x):
        return False
    if isinstance(x, types.MethodType):
        return holds(level, x.__self__)
    parts = children_of(x)
    return parts is not None and any(holds(level, part) for part in parts[0])


zero_dot.rule = Rule("zero_dot", ("x",), zero=True)  # type: ignore[attr-defined]
tangent_for.rule = Rule(  # type: ignore[attr-defined]
    "tangent_for", ("dot", "out"),
    vjp=(lambda g, out, dot, like: sum_to(g, dot), None),
    jvp=lambda dots, out, dot, like: tangent_for(dots[0], like),
)  # fmt: skip
