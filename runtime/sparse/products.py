"""Products of sparse arrays with dense ones and with each other."""

from __future__ import annotations

from typing import Any

import numpy

import overt.runtime.numpy as np
from overt.runtime.sparse.coordinates import BCOO

__all__ = ["bcoo_dot_general"]


def bcoo_dot_general(
    lhs: Any,
    rhs: Any,
    *,
    dimension_numbers: Any,
    precision: None = None,
    preferred_element_type: None = None,
    out_sharding: Any = None,
) -> Any:
    """Sums of products over pairs of axes, as `lax.dot_general`; one or both arrays are BCOO.

    The product of two BCOO is a BCOO of as many numbers as there are pairs; else it is dense.

    Errors: TypeError without a BCOO.

    >>> m = BCOO((np.array([5.0]), np.array([[0, 1]])), shape=(2, 2))
    >>> print(bcoo_dot_general(m, np.ones(2), dimension_numbers=(((1,), (0,)), ((), ()))))
    [5. 0.]
    """
    if out_sharding is not None:
        raise NotImplementedError("bcoo_dot_general does not take out_sharding; leave it None")
    over, batch = (
        tuple(tuple(int(a) for a in axes) for axes in pair) for pair in dimension_numbers
    )
    if isinstance(lhs, BCOO) and isinstance(rhs, BCOO):
        out = _both(lhs, rhs, over, batch)
    elif isinstance(lhs, BCOO):
        out = _with_dense(lhs, np.asarray(rhs), over, batch)
    elif isinstance(rhs, BCOO):
        out = _with_dense(rhs, np.asarray(lhs), over[::-1], batch[::-1])
        lead = len(batch[0])
        own = rhs.ndim - lead - len(over[0])  # the free axes of the BCOO come after the others
        order = [*range(lead), *range(lead + own, out.ndim), *range(lead, lead + own)]
        out = np.transpose(out, order)
    else:
        raise TypeError("bcoo_dot_general needs a BCOO; for two dense arrays use lax.dot_general")
    return out if preferred_element_type is None else out.astype(preferred_element_type)


def _free(ndim: int, *used: tuple[int, ...]) -> list[int]:
    return [axis for axis in range(ndim) if not any(axis in axes for axes in used)]


def _with_dense(m: BCOO, x: Any, over: Any, batch: Any) -> Any:
    _check_lengths(m.shape, x.shape, over, batch)
    flat = m.flattened()
    columns = flat.columns()
    mine, theirs = _free(m.ndim, over[0], batch[0]), _free(x.ndim, over[1], batch[1])
    data = np.where(flat.inside(), flat.data, np.zeros((), flat.dtype))
    rows = np.transpose(x, (*batch[1], *over[1], *theirs))
    read = flat.columns(padding=0)
    places = tuple(read[axis] for axis in (*batch[0], *over[0]))
    if places:
        rows = rows[places]
        data = np.reshape(data, (-1, *(1,) * len(theirs)))
        parts = data * rows
    else:
        parts = np.reshape(data, (-1, *(1,) * len(theirs))) * rows[None]
    kept = [*batch[0], *mine]
    if not kept:
        return np.sum(parts, 0)
    lengths = [m.shape[axis] for axis in kept] + [x.shape[axis] for axis in theirs]
    at = tuple(columns[axis] for axis in kept)
    return np.zeros(lengths, parts.dtype).at[at].add(parts, mode="drop")


def _both(m: BCOO, w: BCOO, over: Any, batch: Any) -> BCOO:
    _check_lengths(m.shape, w.shape, over, batch)
    a, b = m.flattened(), w.flattened()
    ours, theirs = a.columns(), b.columns()
    match = a.inside()[:, None] & b.inside()[None, :]
    for i, j in zip((*over[0], *batch[0]), (*over[1], *batch[1]), strict=True):
        match = match & (ours[i][:, None] == theirs[j][None, :])
    mine, other = _free(m.ndim, over[0], batch[0]), _free(w.ndim, over[1], batch[1])
    shape = [m.shape[k] for k in (*batch[0], *mine)] + [w.shape[k] for k in other]
    columns = [ours[k][:, None] for k in (*batch[0], *mine)] + [theirs[k][None, :] for k in other]
    data = np.where(match, a.data[:, None] * b.data[None, :], 0)
    places = [
        np.ravel(np.where(match, column, size)) for column, size in zip(columns, shape, strict=True)
    ]
    indices = np.stack(places, -1) if places else np.zeros((data.size, 0), numpy.int32)
    return BCOO((np.ravel(data), indices), shape=shape)


def _check_lengths(first: Any, second: Any, over: Any, batch: Any) -> None:
    pairs = zip((*over[0], *batch[0]), (*over[1], *batch[1]), strict=True)
    for i, j in pairs:
        if first[i] != second[j]:
            raise ValueError(f"axes {i} of {tuple(first)} and {j} of {tuple(second)} do not fit")


def matmul(x: Any, y: Any) -> Any:
    """`x @ y` of two arrays, one or both sparse."""
    x, y = _operand(x), _operand(y)
    if x.ndim not in (1, 2) or y.ndim not in (1, 2):
        raise NotImplementedError(
            f"@ of a BCOO is of matrices and vectors, not of shapes {x.shape} and {y.shape}; use "
            "bcoo_dot_general"
        )
    return bcoo_dot_general(x, y, dimension_numbers=(((x.ndim - 1,), (0,)), ((), ())))


def _operand(x: Any) -> Any:
    if hasattr(x, "to_bcoo"):
        return x.to_bcoo()
    return x if isinstance(x, BCOO) else np.asarray(x)


def matmul_bars(g: Any, x: Any, y: Any, which: int) -> Any:
    """The cotangent of one operand of `x @ y`."""
    from overt.runtime.record import vjp_call

    operand = (x, y)[which]

    def product(z: Any) -> Any:
        return matmul(z, y) if which == 0 else matmul(x, z)

    if not hasattr(operand, "with_data"):
        return vjp_call(product, np.asarray(operand))[1](g)[0]
    _, pull = vjp_call(lambda data: product(operand.with_data(data)), operand.data)
    return operand.with_data(pull(g)[0])
