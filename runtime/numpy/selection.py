"""Choosing between values: where, select, the larger and the smaller of two, clip."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import overt.runtime.numpy as np
from overt.runtime import dispatch, dtypes
from overt.runtime.errors import KeyIsNoNumber
from overt.runtime.numpy.array_function import array_function
from overt.runtime.numpy.zeros import times
from overt.runtime.primitive import Primitive

__all__ = [
    "clip", "fmax", "fmin", "maximum", "minimum", "piecewise", "select", "where",
]  # fmt: skip


class Where(Primitive):
    """Elements of `x` where the condition holds, else of `y`; with one argument, `nonzero`."""

    def __call__(
        self, condition: Any, x: Any = None, y: Any = None, /, *,
        size: int | None = None, fill_value: Any = None,
    ) -> Any:  # fmt: skip
        if x is None or y is None:
            if x is not None or y is not None:
                raise ValueError("where takes either a condition alone, or a condition, x and y")
            return np.nonzero(condition, size=size, fill_value=fill_value)
        if size is not None or fill_value is not None:
            raise ValueError("size and fill_value only go with where(condition)")
        try:
            return super().__call__(*map(_array_like, (condition, x, y)))
        except KeyIsNoNumber:
            return dispatch.on_keys(self, (condition, x, y), {})


def _array_like(x: Any) -> Any:
    return np.array(x) if isinstance(x, (list, tuple)) else x


where = Where(
    "where",
    elementwise=True,
    unpromoted=(0,),
    lower=lambda b, condition, x, y, *, avals, out: b.select(b.convert(condition, bool), x, y),
    vjp=(
        None,
        lambda g, out, condition, x, y: np.where(condition, g, 0),
        lambda g, out, condition, x, y: np.where(condition, 0, g),
    ),
    doc="""Elements of `x` where the condition holds, else of `y`.

    The side that is not chosen contributes exactly zero to derivatives. Without `x` and `y`, the
    indices where the condition holds; `size` makes their number known, `fill_value` pads them.

    >>> print(np.where(np.array([True, False]), 1.0, 2.0))
    [1. 2.]
    """,
)


def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Any:
    """From each place, the choice whose condition is the first to hold there.

    >>> x = np.arange(4)
    >>> print(np.select([x < 1, x > 2], [x + 10, x * 10], -1))
    [10 -1 -1 30]
    """
    if len(condlist) != len(choicelist):
        raise ValueError(f"select got {len(condlist)} conditions and {len(choicelist)} choices")
    if not len(condlist):
        raise ValueError("select needs at least one condition")
    result = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        result = np.where(condition, choice, result)
    return result


def piecewise(
    x: Any, condlist: Any, funclist: Sequence[Callable | Any], *args: Any, **kw: Any
) -> Any:
    """A function given in pieces: each element goes to the last function whose condition holds.

    One function more than conditions applies where none holds (zero without it). Every function is
    evaluated on all of `x`; what it gives where it is not chosen has no effect on derivatives.

    >>> print(np.piecewise(np.array([-2.0, 3.0]), [np.array([True, False])], [np.negative, 0.5]))
    [2.  0.5]
    """
    x = np.asarray(x)
    many = isinstance(condlist, (list, tuple))
    if not many or (condlist and np.ndim(condlist[0]) == 0 and x.ndim):
        condlist = [condlist]
    funcs = list(funclist)
    if len(funcs) == len(condlist) + 1:
        result = _piece(funcs.pop(), x, args, kw)
    elif len(funcs) == len(condlist):
        result = np.zeros_like(x)
    else:
        raise ValueError(
            f"piecewise got {len(condlist)} conditions and {len(funcs)} functions; "
            f"give {len(condlist)} or {len(condlist) + 1} functions"
        )
    for condition, function in zip(condlist, funcs, strict=True):
        result = np.where(condition, _piece(function, x, args, kw), result)
    return np.astype(result, x.dtype)


def _piece(function: Any, x: Any, args: tuple, kw: dict[str, Any]) -> Any:
    return function(x, *args, **kw) if callable(function) else function


# ---- the larger and the smaller ----


def _lower_extremum(operation: str) -> Any:
    def lower(b: Any, x: Any, y: Any, *, avals: Any, out: Any) -> Any:
        if not dtypes.is_complex(out.dtype):
            return b.binary(operation, x, y)
        chosen = greater_equal if operation == "maximum" else less_equal
        first = chosen.lower(b, x, y, avals=avals, out=out)
        return b.select(b.binary("or", first, b.compare("NE", x, x)), x, y)

    return lower


maximum = Primitive(
    "maximum",
    elementwise=True,
    lower=_lower_extremum("maximum"),
    vjp=(
        lambda g, out, x, y: times(np.where(x == y, 0.5, x > y), g),
        lambda g, out, x, y: times(np.where(y == x, 0.5, y > x), g),
    ),
    doc="""The larger of `x` and `y`, NaN if either is; a tie shares its derivative evenly.

    >>> print(np.maximum(np.array([1.0, 5.0]), 3.0))
    [3. 5.]
    """,
)

minimum = Primitive(
    "minimum",
    elementwise=True,
    lower=_lower_extremum("minimum"),
    vjp=(
        lambda g, out, x, y: times(np.where(x == y, 0.5, x < y), g),
        lambda g, out, x, y: times(np.where(y == x, 0.5, y < x), g),
    ),
    doc="""The smaller of `x` and `y`, NaN if either is; a tie shares its derivative evenly.

    >>> print(np.minimum(np.array([1.0, 5.0]), 3.0))
    [1. 3.]
    """,
)


def _lower_ignoring_nan(direction: str) -> Any:
    def lower(b: Any, x: Any, y: Any, *, avals: Any, out: Any) -> Any:
        first = greater if direction == "GT" else less
        chosen = first.lower(b, x, y, avals=avals, out=out)
        return b.select(b.binary("or", chosen, b.compare("NE", y, y)), x, y)

    return lower


fmax = Primitive(
    "fmax",
    elementwise=True,
    lower=_lower_ignoring_nan("GT"),
    vjp=(
        lambda g, out, x, y: np.where((x > y) | np.isnan(y), g, 0),
        lambda g, out, x, y: np.where((x > y) | np.isnan(y), 0, g),
    ),
    doc="""The larger of `x` and `y`, ignoring a NaN.

    >>> print(np.fmax(np.array([1.0, np.nan]), 0.5))
    [1.  0.5]
    """,
)

fmin = Primitive(
    "fmin",
    elementwise=True,
    lower=_lower_ignoring_nan("LT"),
    vjp=(
        lambda g, out, x, y: np.where((x < y) | np.isnan(y), g, 0),
        lambda g, out, x, y: np.where((x < y) | np.isnan(y), 0, g),
    ),
    doc="""The smaller of `x` and `y`, ignoring a NaN.

    >>> print(np.fmin(np.array([1.0, np.nan]), 1.5))
    [1.  1.5]
    """,
)


# ---- clip ----


def inside(a: Any, min: Any = None, max: Any = None, a_min: Any = None, a_max: Any = None) -> Any:
    """Slope of `clip`: 1 strictly between the bounds, 0.5 on one, 0 outside.

    >>> print(inside(np.array([-1.0, 0.0, 0.5, 2.0]), 0.0, 1.0))
    [0.  0.5 1.  0. ]
    """
    a, (low, high) = _numbers(a), _bounds(min, max, a_min, a_max)
    slope: Any = 1
    if low is not None:
        slope = np.where(a == low, 0.5, a > low)
        a = np.maximum(a, low)
    if high is not None:
        slope = slope * np.where(a == high, 0.5, a < high)
    return slope


def at_lower(a: Any, min: Any = None, max: Any = None, a_min: Any = None, a_max: Any = None) -> Any:
    """Slope of `clip` with respect to its lower bound: 1 where that is the result."""
    a, (low, high) = _numbers(a), _bounds(min, max, a_min, a_max)
    slope = np.where(a == low, 0.5, a < low)
    if high is None:
        return slope
    raised = np.maximum(a, low)
    return slope * np.where(raised == high, 0.5, raised < high)


def at_upper(a: Any, min: Any = None, max: Any = None, a_min: Any = None, a_max: Any = None) -> Any:
    """Slope of `clip` with respect to its upper bound: 1 where that is the result."""
    a, (low, high) = _numbers(a), _bounds(min, max, a_min, a_max)
    if low is not None:
        a = np.maximum(a, low)
    return np.where(a == high, 0.5, a > high)


def _bounds(min: Any, max: Any, a_min: Any, a_max: Any) -> tuple[Any, Any]:
    if (a_min is not None and min is not None) or (a_max is not None and max is not None):
        raise ValueError("clip got one bound under both of its names")
    return _numbers(a_min if min is None else min), _numbers(a_max if max is None else max)


def _numbers(x: Any) -> Any:
    """A list as an array; anything else as it is."""
    return np.asarray(x) if isinstance(x, (list, tuple)) else x


def clip_tangent(dots: Any, out: Any, a: Any, min: Any, max: Any, a_min: Any, a_max: Any) -> Any:
    """The tangent of `clip`, with that of bounds which have one."""
    dots = [*map(_numbers, dots)]
    low_dot = dots[1] if dots[3] is None else dots[3]
    high_dot = dots[2] if dots[4] is None else dots[4]
    total: Any = 0 if dots[0] is None else dots[0] * inside(a, min, max, a_min, a_max)
    if low_dot is not None:
        total = total + low_dot * at_lower(a, min, max, a_min, a_max)
    return total if high_dot is None else total + high_dot * at_upper(a, min, max, a_min, a_max)


@array_function(
    arrays=("a", "min", "max", "a_min", "a_max"),
    vjp=(
        lambda g, out, a, min, max, a_min, a_max: times(inside(a, min, max, a_min, a_max), g),
        lambda g, out, a, min, max, a_min, a_max: times(at_lower(a, min, max, a_min, a_max), g),
        lambda g, out, a, min, max, a_min, a_max: times(at_upper(a, min, max, a_min, a_max), g),
        lambda g, out, a, min, max, a_min, a_max: times(at_lower(a, min, max, a_min, a_max), g),
        lambda g, out, a, min, max, a_min, a_max: times(at_upper(a, min, max, a_min, a_max), g),
    ),
    jvp=clip_tangent,
    elementwise=True,
)
def clip(a: Any, min: Any = None, max: Any = None, *, a_min: Any = None, a_max: Any = None) -> Any:
    """`a` held between bounds; None is no bound. `a_min` and `a_max` are other names of the bounds.

    >>> print(np.clip(np.array([-1.0, 0.5, 2.0]), 0.0, 1.0))
    [0.  0.5 1. ]
    """
    low, high = _bounds(min, max, a_min, a_max)
    a = np.asarray(a)
    if np.iscomplexobj(a) or np.iscomplexobj(low) or np.iscomplexobj(high):
        raise ValueError("clip is not defined for complex numbers")
    if low is not None:
        a = np.maximum(low, a)
    return a if high is None else np.minimum(high, a)


from overt.runtime.numpy.logic import greater, greater_equal, less, less_equal  # noqa: E402
