"""Factors of triangles and reflections as primitives: Cholesky, LU, QR; solving with triangles.

All take matrices in the last two axes and any number of batch axes in front.  Their derivatives
stand with the functions of `linalg` that use them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy

from overt.runtime import dtypes
from overt.runtime.aval import Aval
from overt.runtime.numpy.lapack import (
    LETTER,
    batched_in_front,
    nan_unless,
    on_gpu,
    solver_call,
    square,
    succeeded,
)
from overt.runtime.primitive import Primitive

__all__ = [
    "cholesky_factor",
    "householder_product",
    "lu_factor",
    "qr_packed",
    "solve_triangular",
]

# Cholesky and triangular solve --------------------------------------------------------------------


def _cholesky_aval(a: Aval) -> Aval:
    square(a, "cholesky")
    return a


def _lower_cholesky(b: Any, a: Any, *, avals: Any, out: Aval) -> Any:
    if 0 in out.shape:
        return a
    if b.platform == "cpu":
        name, batch = f"lapack_{LETTER[out.dtype.name]}potrf_ffi", (out.shape[:-2], numpy.int32, 0)
        parts = [(out.shape, out.dtype, 2), batch]
        factor, info = solver_call(b, name, [a], parts, {"uplo": b.ui8("L")}, [2])
        factor = nan_unless(b, succeeded(b, info), factor)
    else:
        factor = b.cholesky(a, lower=True)
    n = out.shape[-1]
    rows, columns = b.iota((n, n), 0, numpy.int32), b.iota((n, n), 1, numpy.int32)
    keep = b.broadcast_to(b.compare("GE", rows, columns), out.shape)
    return b.select(keep, factor, b.full(out.shape, 0, out.dtype))


cholesky_factor = Primitive(
    "cholesky_factor",
    shape=_cholesky_aval,
    lower=_lower_cholesky,
    vjp=(lambda g, out, a: on_triangle(cholesky_bar(g, out)),),
    jvp=lambda dots, out, a: cholesky_dot(mirrored(dots[0]), out),
    batch=batched_in_front(lambda: cholesky_factor),
    doc="Lower triangular L with L @ L.H = a, from a's lower triangle; NaN if a is not positive.",
)


def _triangular_aval(a: Aval, y: Aval, **how: Any) -> Aval:
    square(a, "solve_triangular")
    dtype, weak = dtypes.result_kind((a.dtype, a.weak), (y.dtype, y.weak))
    return Aval(y.shape, dtype, weak)


def _lower_triangular(
    b: Any, a: Any, y: Any, *, avals: Any, out: Aval, left: bool, lower: bool, unit: bool,
    transpose: str,
) -> Any:  # fmt: skip
    if 0 in out.shape:
        return b.full(out.shape, 0, out.dtype)
    a, y = b.convert(a, out.dtype), b.convert(y, out.dtype)
    if b.platform == "cpu":
        attributes = {
            "side": b.ui8("L" if left else "R"), "uplo": b.ui8("L" if lower else "U"),
            "trans_x": b.ui8(transpose), "diag": b.ui8("U" if unit else "N"),
        }  # fmt: skip
        name = f"lapack_{LETTER[out.dtype.name]}trsm_ffi"
        return solver_call(
            b, name, [a, y], [(out.shape, out.dtype, 2)], attributes, [2, 2], {1: 0}
        )[0]
    form = {"N": "NO_TRANSPOSE", "T": "TRANSPOSE", "C": "ADJOINT"}[transpose]
    return b.triangular_solve(a, y, left, lower, unit, form)


solve_triangular = Primitive(
    "solve_triangular",
    shape=_triangular_aval,
    lower=_lower_triangular,
    vjp=(
        lambda g, out, a, y, **how: triangular_bar_a(g, out, a, **how),
        lambda g, out, a, y, **how: triangular_bar_y(g, a, **how),
    ),
    batch=batched_in_front(lambda: solve_triangular),
    doc="x with a @ x = y (left) or x @ a = y, where only a triangle of a counts.",
)


# LU -----------------------------------------------------------------------------------------------


def _lu_avals(a: Aval) -> list[Aval]:
    *batch, m, n = a.shape
    pivots = Aval((*batch, min(m, n)), numpy.int32)
    return [a, pivots, Aval((*batch, m), numpy.int32)]


def _lower_lu(b: Any, a: Any, *, avals: Any, out: list[Aval]) -> list[Any]:
    *batch, m, n = out[0].shape
    if 0 in out[0].shape:
        order = b.broadcast_to(b.iota((m,), 0, numpy.int32), out[2].shape)
        return [a, b.full(out[1].shape, 0, numpy.int32), order]
    if b.platform == "tpu":
        return b.compiler_call("LuDecomposition", [a], out)
    name = "cusolver_getrf_ffi" if on_gpu(b) else f"lapack_{LETTER[out[0].dtype.name]}getrf_ffi"
    results = [
        (out[0].shape, out[0].dtype, 2),
        (out[1].shape, numpy.int32, 1),
        (tuple(batch), numpy.int32, 0),
    ]
    factor, pivots, info = solver_call(b, name, [a], results, {}, [2])
    factor = nan_unless(b, succeeded(b, info, "GE"), factor)
    pivots = b.binary("subtract", pivots, b.full(out[1].shape, 1, numpy.int32))
    return [factor, pivots, _order(b, pivots, m)]


def _order(b: Any, pivots: Any, m: int) -> Any:
    """The rows' order that a sequence of row exchanges leads to."""
    *batch, steps = b.shape(pivots)
    count = math.prod(batch)
    i32 = numpy.int32
    flat = b.reshape(pivots, (count, steps))
    order = b.broadcast_to(b.iota((m,), 0, i32), (count, m))
    lanes = b.iota((count, 1), 0, i32)
    one, zero = b.constant(1, i32), b.constant(0, i32)

    def test(b: Any, k: Any, order: Any) -> Any:
        return b.compare("LT", k, b.constant(steps, i32))

    def body(b: Any, k: Any, order: Any) -> Any:
        here = b.dynamic_slice(order, [zero, k], (count, 1))
        other = b.dynamic_slice(flat, [zero, k], (count, 1))
        place = b.concatenate([lanes, other], 1)
        there = b.gather(
            order, place, out_shape=(count, 1), slice_sizes=(1, 1), offset_dims=[1],
            collapsed_slice_dims=[0], start_index_map=[0, 1], index_vector_dim=1,
        )  # fmt: skip
        order = b.dynamic_update_slice(order, there, [zero, k])
        order = b.scatter(
            order, place, here, None, update_window_dims=[1], inserted_window_dims=[0],
            scattered_dims_to_operand_dims=[0, 1], index_vector_dim=1, unique_indices=True,
        )  # fmt: skip
        return [b.binary("add", k, one), order]

    if count and steps and m:
        _, order = b.while_([zero, order], test, body)
    return b.reshape(order, (*batch, m))


def _permutation_aval(pivots: Aval, *, rows: int) -> Aval:
    if rows < pivots.shape[-1]:
        raise ValueError(f"{pivots.shape[-1]} row exchanges do not fit {rows} rows")
    return Aval((*pivots.shape[:-1], rows), numpy.int32)


permutation_of = Primitive(
    "permutation_of",
    shape=_permutation_aval,
    lower=lambda b, pivots, *, avals, out, rows: _order(b, pivots, rows),
    zero_derivative=True,
    batch=batched_in_front(lambda: permutation_of),
    doc="The order of rows that a sequence of row exchanges leads to.",
)


lu_factor = Primitive(
    "lu_factor",
    shape=_lu_avals,
    lower=_lower_lu,
    vjp=(lambda g, out, a: lu_bar(g[0], out, a),),
    jvp=lambda dots, out, a: (lu_dot(dots[0], out, a), None, None),
    batch=batched_in_front(lambda: lu_factor),
    doc="L and U in one matrix, the row exchanges, and the permutation: a[permutation] = L @ U.",
)


# QR -----------------------------------------------------------------------------------------------


def _qr_avals(a: Aval) -> list[Aval]:
    *batch, m, n = a.shape
    return [a, Aval((*batch, min(m, n)), a.dtype)]


def _lower_qr(b: Any, a: Any, *, avals: Any, out: list[Aval]) -> list[Any]:
    if 0 in out[0].shape:
        return [a, b.full(out[1].shape, 0, out[1].dtype)]
    if b.platform == "tpu":
        return b.compiler_call("Qr", [a], out)
    name = "cusolver_geqrf_ffi" if on_gpu(b) else f"lapack_{LETTER[out[0].dtype.name]}geqrf_ffi"
    results = [(out[0].shape, out[0].dtype, 2), (out[1].shape, out[1].dtype, 1)]
    return solver_call(b, name, [a], results, {}, [2])


qr_packed = Primitive(
    "qr_packed",
    shape=_qr_avals,
    lower=_lower_qr,
    batch=batched_in_front(lambda: qr_packed),
    doc="R in the upper triangle, Householder vectors below, and their factors.",
)


def _lower_householder(b: Any, a: Any, factors: Any, *, avals: Any, out: Aval) -> Any:
    if 0 in out.shape:
        return a
    if b.platform == "tpu":
        return b.compiler_call("ProductOfElementaryHouseholderReflectors", [a, factors], [out])[0]
    letter = LETTER[out.dtype.name]
    routine = "ungqr" if letter in "cz" else "orgqr"
    name = "cusolver_orgqr_ffi" if on_gpu(b) else f"lapack_{letter}{routine}_ffi"
    return solver_call(b, name, [a, factors], [(out.shape, out.dtype, 2)], {}, [2, 1])[0]


householder_product = Primitive(
    "householder_product",
    shape=lambda a, factors: a,
    lower=_lower_householder,
    batch=batched_in_front(lambda: householder_product),
    doc="The orthogonal matrix that Householder vectors and their factors stand for.",
)

from overt.runtime.numpy.factor_derivatives import (  # noqa: E402
    cholesky_bar,
    cholesky_dot,
    lu_bar,
    lu_dot,
    mirrored,
    on_triangle,
    triangular_bar_a,
    triangular_bar_y,
)
