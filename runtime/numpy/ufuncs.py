"""What NumPy's ufuncs can do besides being called: reduce, accumulate, reduceat, at, outer."""

from __future__ import annotations

from typing import Any

import overt.runtime.numpy as np
from overt.runtime.numpy.movement import normal_axes, normal_axis

# Functions of whole axes that do the same, with rules of their own.
_REDUCTIONS = {
    "add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logical_and": "all",
    "logical_or": "any",
}  # fmt: skip
_RUNNING = {"add": "cumsum", "multiply": "cumprod"}
_STEPS = {
    "add": "add", "multiply": "multiply", "divide": "divide", "maximum": "max", "minimum": "min",
}  # fmt: skip
_NEUTRAL = {
    "add": 0, "multiply": 1, "logical_and": True, "logical_or": False, "logical_xor": False,
    "bitwise_and": -1, "bitwise_or": 0, "bitwise_xor": 0, "logaddexp": float("-inf"),
    "logaddexp2": float("-inf"), "hypot": 0, "gcd": 0,
}  # fmt: skip

# Of these, one element more that is there already changes nothing.
_IDEMPOTENT = frozenset("maximum minimum fmax fmin lcm".split())


def _of(function: Any, table: dict[str, Any]) -> Any:
    """The entry of a function of ours; None for others, whatever their names are."""
    name = function.__name__
    return table.get(name) if getattr(np, name, None) is function else None


def identity(function: Any) -> Any:
    """What leaves every number as it is, or None: `np.add.identity` is 0."""
    return _of(function, _NEUTRAL)


def _two(function: Any, method: str) -> None:
    if function.nin != 2:
        raise ValueError(f"{function.__name__}.{method} needs a function of two arrays")


def _refuse_out(function: Any, method: str, out: Any) -> None:
    if out is not None:
        raise TypeError(
            f"{function.__name__}.{method}: arrays are immutable, so out= cannot be written to; "
            "use the result"
        )


def _folded(function: Any, rows: Any, keep: bool) -> Any:
    """All rows (axis 0) combined from the first to the last; with `keep`, every total on the way.

    The first two give the dtype of the totals, the others are combined in a loop.
    """
    from overt.runtime import lax

    if rows.shape[0] == 1:
        return rows if keep else rows[0]
    total = function(rows[0], rows[1])

    def step(total: Any, row: Any) -> tuple[Any, Any]:
        total = function(total, row)
        return total, total if keep else None

    last, totals = lax.scan(step, total, rows[2:])
    if not keep:
        return last
    return np.concatenate([np.stack([np.astype(rows[0], total.dtype), total]), totals])


def reduce(
    function: Any, a: Any, axis: Any = 0, dtype: Any = None, out: Any = None,
    keepdims: bool = False, initial: Any = None, where: Any = None,
) -> Any:  # fmt: skip
    """Combine the elements along `axis` (None: all) by a function of two numbers.

    >>> print(np.add.reduce(np.array([1, 2, 3])))
    6
    """
    _two(function, "reduce")
    _refuse_out(function, "reduce", out)
    a = np.asarray(a)
    if dtype is not None:
        a = np.astype(a, dtype)
    name, ours = function.__name__, _of(function, _REDUCTIONS)
    if ours is not None:
        how: dict[str, Any] = {"keepdims": keepdims}
        if initial is not None and ours not in ("all", "any"):
            how["initial"] = initial
        if where is not None:
            how["where"] = where
        if dtype is not None and ours in ("sum", "prod"):
            how["dtype"] = dtype
        result = getattr(np, ours)(a, axis=axis, **how)
        return (
            function(initial, result) if initial is not None and ours in ("all", "any") else result
        )
    if function is np.logical_xor:
        a = np.astype(a, bool)
    axes = normal_axes(range(a.ndim) if axis is None else axis, a.ndim)
    kept = [i for i in range(a.ndim) if i not in axes]
    shape = tuple(1 if i in axes else n for i, n in enumerate(a.shape))
    start = function.identity if initial is None else initial
    if where is not None:
        if start is None:
            raise ValueError(f"{name}.reduce with where= needs an initial value")
        if function.identity is None and name not in _IDEMPOTENT:
            raise NotImplementedError(
                f"{name}.reduce with where= would have to leave out steps: {name} has no identity. "
                "Select the elements first, or reduce by a function that has one"
            )
        neutral = start if function.identity is None else function.identity
        a = np.where(where, a, np.astype(neutral, a.dtype))
    rows = np.transpose(a, (*axes, *kept)).reshape(-1, *(a.shape[i] for i in kept))
    if initial is not None or not rows.shape[0]:
        if start is None:
            raise ValueError(f"{name}.reduce of no elements is not defined; give an initial value")
        first = np.full_like(rows, start, shape=(1, *rows.shape[1:]))
        rows = np.concatenate([first, rows])
    result = _folded(function, rows, keep=False)
    return result.reshape(shape) if keepdims else result


def accumulate(
    function: Any, a: Any, axis: int = 0, dtype: Any = None, out: Any = None
) -> Any:  # fmt: skip
    """All elements up to each one along `axis`, combined.

    >>> print(np.multiply.accumulate(np.array([1, 2, 3])))
    [1 2 6]
    """
    _two(function, "accumulate")
    _refuse_out(function, "accumulate", out)
    a = np.asarray(a)
    if dtype is not None:
        a = np.astype(a, dtype)
    ours = _of(function, _RUNNING)
    if ours is not None:
        return getattr(np, ours)(a, axis=axis, dtype=dtype)
    axis = normal_axis(axis, a.ndim)
    rows = np.moveaxis(a, axis, 0)
    return np.moveaxis(_folded(function, rows, keep=True), 0, axis) if rows.shape[0] else a


def reduceat(
    function: Any, a: Any, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None
) -> Any:
    """The elements from each index to the next one, combined; a lone one where that is not after.

    >>> print(np.add.reduceat(np.arange(8), [0, 4, 6]))
    [ 6  9 13]
    """
    _two(function, "reduceat")
    _refuse_out(function, "reduceat", out)
    a = np.asarray(a)
    axis = normal_axis(axis, a.ndim)
    n, starts = a.shape[axis], [int(i) for i in indices]
    if any(not 0 <= i < n for i in starts):
        raise IndexError(
            f"{function.__name__}.reduceat: indices {starts} are not all in 0..{n - 1}"
        )
    rows = np.moveaxis(a, axis, 0)
    parts = []
    for start, stop in zip(starts, [*starts[1:], n], strict=True):
        part = rows[start:stop] if stop > start else rows[start : start + 1]
        parts.append(reduce(function, part, 0, dtype))
    return np.moveaxis(np.stack(parts), 0, axis)


def at(function: Any, a: Any, indices: Any, b: Any = None, *, inplace: bool = True) -> Any:
    """`a` with the function applied at `indices`, once for each time an index is named.

    Arrays are immutable, so this is a new array, and `inplace=False` must be said.

    >>> print(np.add.at(np.zeros(3), np.array([0, 0, 2]), 1.0, inplace=False))
    [2. 0. 1.]
    """
    name = function.__name__
    if inplace:
        raise NotImplementedError(
            f"{name}.at: arrays are immutable; use the result of "
            f"np.{name}.at(a, indices, ..., inplace=False)"
        )
    a = np.asarray(a)
    if function.nin == 1:
        if b is not None:
            raise TypeError(f"{name}.at takes no second operand")
        return a.at[indices].apply(function)
    if b is None:
        raise TypeError(f"{name}.at needs a second operand")
    step = _of(function, _STEPS)
    if step is not None:
        return getattr(a.at[indices], step)(b)
    if function is np.subtract:
        return a.at[indices].add(np.negative(b))
    raise NotImplementedError(
        f"{name}.at is not available; add, subtract, multiply, divide, maximum and minimum are"
    )


def outer(function: Any, A: Any, B: Any, /, **kwargs: Any) -> Any:
    """The function of every element of `A` with every element of `B`.

    >>> print(np.add.outer(np.array([10, 20]), np.array([1, 2])))
    [[11 12]
     [21 22]]
    """
    _two(function, "outer")
    A, B = np.asarray(A), np.asarray(B)
    return function(A.reshape(A.shape + (1,) * B.ndim), B, **kwargs)
