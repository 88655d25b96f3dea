"""Products of vectors, matrices and tensors."""

from __future__ import annotations

import operator
from typing import Any

from overt.runtime import dtypes
from overt.runtime.aval import Aval
from overt.runtime.numpy.array_function import array_function
from overt.runtime.numpy.creation import array_of
from overt.runtime.numpy.movement import normal_axes, shape_of, with_rule
from overt.runtime.numpy.zeros import reached, times
from overt.runtime.primitive import Primitive, broadcast_shapes

__all__ = ["dot", "inner", "matmul", "outer", "tensordot", "vdot"]

Axes = tuple[tuple[int, ...], tuple[int, ...]]


# the primitive ------------------------------------------------------------------------------------


def free_axes(ndim: int, *taken: tuple[int, ...]) -> list[int]:
    """The axes that are neither batch nor contracted."""
    used = [axis for axes in taken for axis in axes]
    return [axis for axis in range(ndim) if axis not in used]


def _contract_aval(
    x: Aval, y: Aval, *, batch: Axes, over: Axes, precision: Any, out_dtype: Any
) -> Aval:
    for first, second in zip((*batch[0], *over[0]), (*batch[1], *over[1]), strict=True):
        if x.shape[first] != y.shape[second]:
            raise ValueError(
                f"product of shapes {x.shape} and {y.shape}: axis {first} of the first and axis "
                f"{second} of the second must have the same length"
            )
    shape = [x.shape[k] for k in batch[0]]
    shape += [x.shape[k] for k in free_axes(len(x.shape), batch[0], over[0])]
    shape += [y.shape[k] for k in free_axes(len(y.shape), batch[1], over[1])]
    dtype, weak = dtypes.result_kind((x.dtype, x.weak), (y.dtype, y.weak))
    if out_dtype is not None:
        dtype, weak = dtypes.canonicalize(out_dtype), False
    return Aval(tuple(shape), dtype, weak)


def _lower_contract(
    b: Any, x: Any, y: Any, *, avals: Any, out: Aval, batch: Axes, over: Axes, precision: Any,
    out_dtype: Any,
) -> Any:  # fmt: skip
    common = dtypes.result_kind(*((a.dtype, a.weak) for a in avals))[0]
    boolean = common.kind == "b"
    computed = "int32" if boolean else common
    x, y = b.convert(x, computed), b.convert(y, computed)
    wanted = "int32" if boolean else out.dtype
    precision = precision or config.current().default_matmul_precision
    return b.convert(b.dot_general(x, y, batch, over, wanted, precision), out.dtype)


def _batch_contract(values: Any, at: Any, size: int, *, batch: Axes, over: Axes, **how: Any) -> Any:
    x, y = values

    def moved(axes: Axes) -> Axes:
        shifts = [0 if a is None else 1 for a in at]
        first, second = (tuple(k + s for k in part) for part, s in zip(axes, shifts, strict=True))
        return first, second

    batch, over = moved(batch), moved(over)
    if at[0] is not None and at[1] is not None:
        return contract(x, y, batch=((0, *batch[0]), (0, *batch[1])), over=over, **how), 0
    place = len(batch[0])
    if at[0] is None:
        place += len(free_axes(x.ndim, batch[0], over[0]))
    return contract(x, y, batch=batch, over=over, **how), place


def contract_bar(
    g: Any, x: Any, y: Any, batch: Axes, over: Axes, how: dict[str, Any], zeros_win: bool = True
) -> Any:
    """Cotangent of the first operand of `contract(x, y)`.

    With `zeros_win`, what of y only zeros of g meet may be infinite or NaN.
    """
    x_rank, y_rank = len(shape_of(x)), len(shape_of(y))
    kept = free_axes(y_rank, batch[1], over[1])
    x_free = free_axes(x_rank, batch[0], over[0])
    n = len(batch[0])
    g_batch = tuple(range(n))
    g_kept = tuple(range(n + len(x_free), n + len(x_free) + len(kept)))
    if zeros_win:
        met = np.any(g != 0, tuple(range(n, n + len(x_free))))
        lengths = [1 if k in over[1] else shape_of(y)[k] for k in range(y_rank)]
        order = [*batch[1], *kept]
        met = np.transpose(met, [order.index(k) for k in sorted(order)])
        y = reached(y, np.reshape(met, lengths))
    result = contract(g, y, batch=(g_batch, batch[1]), over=(g_kept, tuple(kept)), **how)
    # now: batch, the free axes of x, then the contracted axes in the order in which y has them
    y_order = sorted(over[1])
    order = [*batch[0], *x_free, *(over[0][over[1].index(k)] for k in y_order)]
    return np.transpose(result, [order.index(k) for k in range(x_rank)])


def swapped(g: Any, x_rank: int, y_rank: int, batch: Axes, over: Axes) -> Any:
    """The result of `contract(x, y)` as `contract(y, x)` gives it."""
    n = len(batch[0])
    x_free = x_rank - n - len(over[0])
    y_free = y_rank - n - len(over[0])
    first, second = range(n, n + x_free), range(n + x_free, n + x_free + y_free)
    return np.transpose(g, (*range(n), *second, *first))


contract = Primitive(
    "contract",
    shape=_contract_aval,
    lower=_lower_contract,
    vjp=(
        lambda g, out, x, y, *, batch, over, **how: contract_bar(g, x, y, batch, over, how),
        lambda g, out, x, y, *, batch, over, **how: contract_bar(
            swapped(g, np.ndim(x), np.ndim(y), batch, over), y, x, batch[::-1], over[::-1], how
        ),
    ),
    jvp=lambda dots, out, x, y, **how: contract(dots[0], y, **how) + contract(x, dots[1], **how),
    batch=_batch_contract,
    doc="Sum of products over pairs of axes; result: batch axes, rest of x, rest of y.",
)


def product(
    x: Any,
    y: Any,
    batch: Axes = ((), ()),
    over: Axes = ((), ()),
    precision: Any = None,
    dtype: Any = None,
) -> Any:
    """`contract` with defaults, among them the precision that is set where it is called."""
    precision = precision or config.current().default_matmul_precision
    return contract(x, y, batch=batch, over=over, precision=precision, out_dtype=dtype)


# matmul -------------------------------------------------------------------------------------------


@array_function(
    arrays=("a", "b"),
    vjp=(
        lambda g, out, a, b, *, precision, preferred_element_type: matmul_bar_x(
            g, a, b, zeros_win=True
        ),
        lambda g, out, a, b, *, precision, preferred_element_type: matmul_bar_y(
            g, a, b, zeros_win=True
        ),
    ),
    jvp=lambda dots, out, a, b, *, precision, preferred_element_type: dots[0] @ b + a @ dots[1],
)
def matmul(a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None) -> Any:
    """`a @ b`: product of matrices in the last two axes, the others broadcast.

    A vector on the left is a row, on the right a column, and leaves no axis.

    Errors: ValueError for scalars and for lengths that do not fit.

    >>> matmul(np.array([[1, 2], [3, 4]]), np.array([1, 1]))
    Array([3, 7], dtype=int32)
    """
    a, b = np.asarray(a), np.asarray(b)
    how = {"precision": precision, "dtype": preferred_element_type}
    if a.ndim == 0 or b.ndim == 0:
        raise ValueError("matmul: an operand has no axes; use * to multiply by a scalar")
    inner_axis = 0 if b.ndim == 1 else b.ndim - 2
    if a.shape[-1] != b.shape[inner_axis]:
        raise ValueError(
            f"matmul: shapes {a.shape} and {b.shape} do not fit: "
            f"{a.shape[-1]} columns against {b.shape[inner_axis]} rows"
        )
    over = ((a.ndim - 1,), (inner_axis,))
    if b.ndim <= 2:
        return product(a, b, over=over, **how)
    if a.ndim <= 2:  # the rows of a come before the batch axes of b
        result = product(a, b, over=over, **how)
        return result if a.ndim == 1 else np.moveaxis(result, 0, -2)
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a = np.broadcast_to(a, lead + a.shape[-2:])
    b = np.broadcast_to(b, lead + b.shape[-2:])
    n = len(lead)
    axes = tuple(range(n))
    return product(a, b, batch=(axes, axes), over=((n + 1,), (n,)), **how)


def _fitted(g: Any, x: Any, y: Any) -> Any:
    """The cotangent of `x @ y`, a broadcast of that product undone."""
    x_shape, y_shape = shape_of(x), shape_of(y)
    batch = broadcast_shapes(x_shape[:-2], y_shape[:-2])
    shape = (*batch, *x_shape[-2:-1], *(y_shape[-1:] if len(y_shape) > 1 else ()))
    return g if shape_of(g) == shape else sum_to_shape(g, shape)


def is_sparse(x: Any) -> bool:
    """Whether a matrix says itself what its products are."""
    return hasattr(type(x), "__overt_sparse__")


@with_rule(
    arrays=("g", "x", "y"),
    vjp=(
        lambda h, out, g, x, y, *, zeros_win: spread_to(h @ y, g),
        None,
        lambda h, out, g, x, y, *, zeros_win: matmul_bar_y(g, h, y, zeros_win=True),
    ),
    jvp=lambda dots, out, g, x, y, *, zeros_win: (
        matmul_bar_x(dots[0], x, y, zeros_win=True) + matmul_bar_x(g, x, dots[2], zeros_win=True)
    ),
)
def matmul_bar_x(g: Any, x: Any, y: Any, *, zeros_win: bool = False) -> Any:
    """Cotangent of x in `x @ y`, for every rank: g @ y.T, outer(g, y), g * y or y @ g.

    With `zeros_win`, what of y only zeros of g meet may be infinite or NaN.
    """
    if is_sparse(x) or is_sparse(y):
        from overt.runtime.sparse.products import matmul_bars

        return matmul_bars(g, x, y, 0)
    g = _fitted(g, x, y)
    x_rank, y_rank = len(shape_of(x)), len(shape_of(y))
    if y_rank == 1:
        g = np.expand_dims(g, -1) if x_rank > 1 else g
        return sum_to(times(g, y) if zeros_win else g * y, x)
    if x_rank == 1:
        y = reached(y, np.expand_dims(g, -2)) if zeros_win else y
        return sum_to(np.matmul(y, np.expand_dims(g, -1))[..., 0], x)
    y = reached(y, g, -2) if zeros_win else y
    return sum_to(np.matmul(g, np.swapaxes(y, -1, -2)), x)


@with_rule(
    arrays=("g", "x", "y"),
    vjp=(
        lambda h, out, g, x, y, *, zeros_win: spread_to(x @ h, g),
        lambda h, out, g, x, y, *, zeros_win: matmul_bar_x(g, x, h, zeros_win=True),
        None,
    ),
    jvp=lambda dots, out, g, x, y, *, zeros_win: (
        matmul_bar_y(dots[0], x, y, zeros_win=True) + matmul_bar_y(g, dots[1], y, zeros_win=True)
    ),
)
def matmul_bar_y(g: Any, x: Any, y: Any, *, zeros_win: bool = False) -> Any:
    """Cotangent of y in `x @ y`, for every rank: x.T @ g, outer(x, g), g * x or g @ x.

    With `zeros_win`, what of x only zeros of g meet may be infinite or NaN.
    """
    if is_sparse(x) or is_sparse(y):
        from overt.runtime.sparse.products import matmul_bars

        return matmul_bars(g, x, y, 1)
    g = _fitted(g, x, y)
    x_rank, y_rank = len(shape_of(x)), len(shape_of(y))
    if zeros_win and x_rank > 1:
        x = reached(x, np.expand_dims(g, -1) if y_rank == 1 else g, -1)
    if x_rank == 1:
        if y_rank > 1:
            g, x = np.expand_dims(g, -2), np.expand_dims(x, -1)
        return sum_to(times(g, x) if zeros_win else g * x, y)
    if y_rank == 1:
        rows = tuple(range(x_rank - 1))
        return sum_to(product(x, g, over=(rows, rows)), y)
    if y_rank == 2:  # sum over the rows of all batches at once
        rows = tuple(range(x_rank - 1))
        return sum_to(product(x, g, over=(rows, rows)), y)
    return sum_to(np.matmul(np.swapaxes(x, -1, -2), g), y)


# NumPy's other products ---------------------------------------------------------------------------


@with_rule(
    arrays=("a", "b"),
    vjp=(
        lambda g, out, a, b, *, precision, preferred_element_type: dot_bar_x(
            g, a, b, zeros_win=True
        ),
        lambda g, out, a, b, *, precision, preferred_element_type: dot_bar_y(
            g, a, b, zeros_win=True
        ),
    ),
    jvp=lambda dots, out, a, b, *, precision, preferred_element_type: (
        np.dot(dots[0], b) + np.dot(a, dots[1])
    ),
)
def dot(a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None) -> Any:
    """Sum of products over the last axis of a and the last but one (or only) of b.

    >>> dot(np.array([1, 2]), np.array([3, 4]))
    Array(11, dtype=int32)
    """
    a, b = array_of(a), array_of(b)
    if not shape_of(a) or not shape_of(b):
        return np.multiply(a, b)
    a, b = np.asarray(a), np.asarray(b)
    over = ((a.ndim - 1,), (max(b.ndim - 2, 0),))
    return product(a, b, over=over, precision=precision, dtype=preferred_element_type)


def dot_bar_x(g: Any, x: Any, y: Any, *, zeros_win: bool = False) -> Any:
    """Cotangent of x in `np.dot(x, y)`, for every rank."""
    x, y = array_of(x), array_of(y)
    x_rank, y_rank = len(shape_of(x)), len(shape_of(y))
    if x_rank == 0 or y_rank == 0:
        return sum_to(times(g, y) if zeros_win else g * y, x)
    if x_rank <= 2 and y_rank <= 2:
        return matmul_bar_x(g, x, y, zeros_win=zeros_win)
    over = ((x_rank - 1,), (max(y_rank - 2, 0),))
    how = {"precision": None, "out_dtype": None}
    return contract_bar(g, np.asarray(x), np.asarray(y), ((), ()), over, how, zeros_win)


def dot_bar_y(g: Any, x: Any, y: Any, *, zeros_win: bool = False) -> Any:
    """Cotangent of y in `np.dot(x, y)`, for every rank."""
    x, y = array_of(x), array_of(y)
    x_rank, y_rank = len(shape_of(x)), len(shape_of(y))
    if x_rank == 0 or y_rank == 0:
        return sum_to(times(g, x) if zeros_win else g * x, y)
    if x_rank <= 2 and y_rank <= 2:
        return matmul_bar_y(g, x, y, zeros_win=zeros_win)
    x, y = np.asarray(x), np.asarray(y)
    over = ((x_rank - 1,), (max(y_rank - 2, 0),))
    g = swapped(g, x_rank, y_rank, ((), ()), over)
    how = {"precision": None, "out_dtype": None}
    return contract_bar(g, y, x, ((), ()), over[::-1], how, zeros_win)


@with_rule(
    arrays=("a", "b"),
    jvp=lambda dots, out, a, b, *, precision, preferred_element_type: (
        np.vdot(dots[0], b) + np.vdot(a, dots[1])
    ),
    vjp=(
        lambda g, out, a, b, *, precision, preferred_element_type: sum_to(
            np.conj(times(g, np.reshape(b, np.shape(a)))), a
        ),
        lambda g, out, a, b, *, precision, preferred_element_type: sum_to(
            times(g, np.conj(np.reshape(a, np.shape(b)))), b
        ),
    ),
)
def vdot(a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None) -> Any:
    """Sum of products of all elements, those of `a` conjugated.

    >>> vdot(np.array([[1, 2]]), np.array([[3, 4]]))
    Array(11, dtype=int32)
    """
    how = {"precision": precision, "preferred_element_type": preferred_element_type}
    return np.dot(np.conj(np.ravel(a)), np.ravel(b), **how)


@with_rule(
    arrays=("a", "b"),
    jvp=lambda dots, out, a, b, *, precision, preferred_element_type: (
        np.inner(dots[0], b) + np.inner(a, dots[1])
    ),
    vjp=(
        lambda g, out, a, b, *, precision, preferred_element_type: inner_bar_x(
            g, a, b, zeros_win=True
        ),
        lambda g, out, a, b, *, precision, preferred_element_type: inner_bar_y(
            g, a, b, zeros_win=True
        ),
    ),
)
def inner(a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None) -> Any:
    """Sum of products over the last axis of both.

    >>> inner(np.array([[1, 2], [0, 1]]), np.array([3, 4]))
    Array([11,  4], dtype=int32)
    """
    a, b = array_of(a), array_of(b)
    if len(shape_of(a)) == 0 or len(shape_of(b)) == 0:
        return np.multiply(a, b)
    how = {"precision": precision, "preferred_element_type": preferred_element_type}
    return np.tensordot(a, b, (-1, -1), **how)


def inner_bar_x(g: Any, x: Any, y: Any, *, zeros_win: bool = False) -> Any:
    """Cotangent of x in `np.inner(x, y)`."""
    x, y = array_of(x), array_of(y)
    if not len(shape_of(x)) or not len(shape_of(y)):
        return sum_to(times(g, y) if zeros_win else g * y, x)
    return tensordot_bar_x(g, x, y, (-1, -1), zeros_win=zeros_win)


def inner_bar_y(g: Any, x: Any, y: Any, *, zeros_win: bool = False) -> Any:
    """Cotangent of y in `np.inner(x, y)`."""
    x, y = array_of(x), array_of(y)
    if not len(shape_of(x)) or not len(shape_of(y)):
        return sum_to(times(g, x) if zeros_win else g * x, y)
    return tensordot_bar_y(g, x, y, (-1, -1), zeros_win=zeros_win)


@array_function(
    arrays=("a", "b"),
    vjp=(
        lambda g, out, a, b: outer_bar_x(g, a, b, zeros_win=True),
        lambda g, out, a, b: outer_bar_y(g, a, b, zeros_win=True),
    ),
    jvp=lambda dots, out, a, b: np.outer(dots[0], b) + np.outer(a, dots[1]),
)
def outer(a: Any, b: Any) -> Any:
    """All products of an element of a and one of b, as a matrix.

    >>> outer(np.array([1, 2]), np.array([3, 4]))
    Array([[3, 4],
           [6, 8]], dtype=int32)
    """
    return np.ravel(a)[:, None] * np.ravel(b)[None, :]


@with_rule(
    arrays=("g", "x", "y"),
    vjp=(
        lambda h, out, g, x, y, *, zeros_win: np.outer(h, y),
        None,
        lambda h, out, g, x, y, *, zeros_win: outer_bar_y(g, h, y, zeros_win=True),
    ),
    jvp=lambda dots, out, g, x, y, *, zeros_win: (
        outer_bar_x(dots[0], x, y, zeros_win=True) + outer_bar_x(g, x, dots[2], zeros_win=True)
    ),
)
def outer_bar_x(g: Any, x: Any, y: Any, *, zeros_win: bool = False) -> Any:
    """Cotangent of x in `np.outer(x, y)`: g @ y, in the shape of x."""
    y = np.ravel(y)
    return np.reshape(g @ (reached(y, g, -2) if zeros_win else y), np.shape(x))


@with_rule(
    arrays=("g", "x", "y"),
    vjp=(
        lambda h, out, g, x, y, *, zeros_win: np.outer(x, h),
        lambda h, out, g, x, y, *, zeros_win: outer_bar_x(g, x, h, zeros_win=True),
        None,
    ),
    jvp=lambda dots, out, g, x, y, *, zeros_win: (
        outer_bar_y(dots[0], x, y, zeros_win=True) + outer_bar_y(g, dots[1], y, zeros_win=True)
    ),
)
def outer_bar_y(g: Any, x: Any, y: Any, *, zeros_win: bool = False) -> Any:
    """Cotangent of y in `np.outer(x, y)`: x @ g, in the shape of y."""
    x = np.ravel(x)
    return np.reshape((reached(x, np.transpose(g), -2) if zeros_win else x) @ g, np.shape(y))


@array_function(
    arrays=("a", "b"),
    vjp=(
        lambda g, out, a, b, *, axes, precision, preferred_element_type: tensordot_bar_x(
            g, a, b, axes, zeros_win=True
        ),
        lambda g, out, a, b, *, axes, precision, preferred_element_type: tensordot_bar_y(
            g, a, b, axes, zeros_win=True
        ),
    ),
    jvp=lambda dots, out, a, b, *, axes, precision, preferred_element_type: (
        np.tensordot(dots[0], b, axes) + np.tensordot(a, dots[1], axes)
    ),
)
def tensordot(
    a: Any, b: Any, axes: Any = 2, *, precision: Any = None, preferred_element_type: Any = None
) -> Any:
    """Sum of products over pairs of axes: the last n of a and first n of b, or those named.

    >>> tensordot(np.ones((2, 3)), np.ones((3, 4)), 1).shape
    (2, 4)
    """
    a, b = np.asarray(a), np.asarray(b)
    over = tensordot_axes(axes, a.ndim, b.ndim)
    return product(a, b, over=over, precision=precision, dtype=preferred_element_type)


def tensordot_axes(axes: Any, x_rank: int, y_rank: int) -> Axes:
    """The pairs of axes that `tensordot` sums over."""
    if isinstance(axes, (tuple, list)):
        first, second = (
            normal_axes(part, n) for part, n in zip(axes, (x_rank, y_rank), strict=True)
        )
    else:
        count = operator.index(axes)
        if count > min(x_rank, y_rank):
            raise ValueError(f"tensordot: {count} axes of arrays with {x_rank} and {y_rank} axes")
        first, second = tuple(range(x_rank - count, x_rank)), tuple(range(count))
    if len(first) != len(second):
        raise ValueError("tensordot: the axes of both arrays must be equally many")
    return first, second


def tensordot_bar_x(g: Any, x: Any, y: Any, axes: Any = 2, *, zeros_win: bool = False) -> Any:
    """Cotangent of x in `np.tensordot(x, y, axes)`."""
    over = tensordot_axes(axes, len(shape_of(x)), len(shape_of(y)))
    how = {"precision": None, "out_dtype": None}
    return contract_bar(g, np.asarray(x), np.asarray(y), ((), ()), over, how, zeros_win)


def tensordot_bar_y(g: Any, x: Any, y: Any, axes: Any = 2, *, zeros_win: bool = False) -> Any:
    """Cotangent of y in `np.tensordot(x, y, axes)`."""
    x, y = np.asarray(x), np.asarray(y)
    over = tensordot_axes(axes, x.ndim, y.ndim)
    g = swapped(g, x.ndim, y.ndim, ((), ()), over)
    how = {"precision": None, "out_dtype": None}
    return contract_bar(g, y, x, ((), ()), over[::-1], how, zeros_win)


from overt.runtime import config  # noqa: E402
from overt.runtime import numpy as np  # noqa: E402
from overt.runtime.derivatives import spread_to, sum_to, sum_to_shape  # noqa: E402
