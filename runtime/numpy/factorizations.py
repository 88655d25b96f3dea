"""Matrix factorizations as primitives: LAPACK on CPU, cuSolver on GPU.

All take matrices in the last two axes and any number of batch axes in front.  Their derivatives
stand with the functions of `linalg` that use them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy

from overt.runtime import dtypes
from overt.runtime.aval import Aval
from overt.runtime.numpy.movement import broadcast_in
from overt.runtime.primitive import Primitive

__all__ = [
    "cholesky_factor",
    "eig_factor",
    "eigh_factor",
    "householder_product",
    "lu_factor",
    "qr_packed",
    "solve_triangular",
    "svd_factor",
]

LETTER = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}


def square(a: Aval, name: str) -> int:
    """Errors: ValueError unless the last two axes are equally long."""
    if len(a.shape) < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError(f"{name} needs square matrices in the last two axes, got shape {a.shape}")
    if a.dtype.name not in LETTER:
        raise TypeError(f"{name} does not take {a.dtype}; convert to float32 or float64 first")
    return a.shape[-1]


def matrix_layout(ndim: int) -> tuple[int, ...]:
    """Column-major in the last two axes, as Fortran libraries want it; minor axis first."""
    return (ndim - 2, ndim - 1, *reversed(range(ndim - 2)))


def plain_layout(ndim: int) -> tuple[int, ...]:
    return tuple(reversed(range(ndim)))


def layout(shape: tuple[int, ...], matrices: int) -> tuple[int, ...]:
    """Layout of an array that has `matrices` axes beyond the batch."""
    return matrix_layout(len(shape)) if matrices == 2 else plain_layout(len(shape))


def solver_call(
    b: Any, name: str, operands: list[Any], out: list[tuple[Any, Any, int]],
    attributes: dict[str, Any], ranks: list[int], alias: bool = True,
) -> list[Any]:  # fmt: skip
    """Call a routine; results are (shape, dtype, axes beyond the batch)."""
    return b.custom_call(
        name,
        operands,
        [(tuple(shape), dtype) for shape, dtype, _ in out],
        attributes,
        [layout(b.shape(x), rank) for x, rank in zip(operands, ranks, strict=True)],
        [layout(tuple(shape), rank) for shape, _, rank in out],
        aliases={0: 0} if alias else None,
    )


def on_gpu(b: Any) -> bool:
    return b.platform in ("gpu", "cuda", "rocm")


def nan_unless(b: Any, good: Any, value: Any) -> Any:
    """NaN in every batch element whose routine failed."""
    shape, dtype = b.shape(value), b.dtype(value)
    spread = b.broadcast_in_dim(good, shape, range(len(b.shape(good))))
    return b.select(spread, value, b.full(shape, numpy.nan, dtype))


def succeeded(b: Any, info: Any, direction: str = "EQ") -> Any:
    return b.compare(direction, info, b.full(b.shape(info), 0, numpy.int32))


def batched_in_front(primitive: Any) -> Any:
    """Batching rule of a routine that takes any batch axes in front."""

    def rule(values: Any, axes: Any, size: int, **how: Any) -> Any:
        values = [
            x
            if at == 0
            else broadcast_in(x, shape=(size, *x.shape), axes=tuple(range(1, x.ndim + 1)))
            for x, at in zip(values, axes, strict=True)
        ]
        result = primitive()(*values, **how)
        return result, ([0] * len(result) if isinstance(result, tuple) else 0)

    return rule


# Cholesky and triangular solve --------------------------------------------------------------------


def _cholesky_aval(a: Aval) -> Aval:
    square(a, "cholesky")
    return a


def _lower_cholesky(b: Any, a: Any, *, avals: Any, out: Aval) -> Any:
    if 0 in out.shape:
        return a
    factor = b.cholesky(a, lower=True)
    n = out.shape[-1]
    rows, columns = b.iota((n, n), 0, numpy.int32), b.iota((n, n), 1, numpy.int32)
    keep = b.broadcast_to(b.compare("GE", rows, columns), out.shape)
    return b.select(keep, factor, b.full(out.shape, 0, out.dtype))


cholesky_factor = Primitive(
    "cholesky_factor",
    shape=_cholesky_aval,
    lower=_lower_cholesky,
    vjp=(lambda g, out, a: cholesky_bar(g, out),),
    jvp=lambda dots, out, a: cholesky_dot(dots[0], out),
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
    form = {"N": "NO_TRANSPOSE", "T": "TRANSPOSE", "C": "ADJOINT"}[transpose]
    a, y = b.convert(a, out.dtype), b.convert(y, out.dtype)
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
    name = "cusolver_getrf_ffi" if on_gpu(b) else f"lapack_{LETTER[out[0].dtype.name]}getrf_ffi"
    results = [
        (out[0].shape, out[0].dtype, 2),
        (out[1].shape, numpy.int32, 1),
        (tuple(batch), numpy.int32, 0),
    ]
    factor, pivots, info = solver_call(b, name, [a], results, {}, [2])
    factor = nan_unless(b, succeeded(b, info, "GE"), factor)
    pivots = b.binary("subtract", pivots, b.full(out[1].shape, 1, numpy.int32))
    return [factor, pivots, _permutation(b, pivots, batch, m)]


def _permutation(b: Any, pivots: Any, batch: list[int], m: int) -> Any:
    """The rows' order that a sequence of row exchanges leads to."""
    count, steps = math.prod(batch), b.shape(pivots)[-1]
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

    _, order = b.while_([zero, order], test, body)
    return b.reshape(order, (*batch, m))


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


# eigenvalues and singular values ------------------------------------------------------------------


def _eigh_avals(a: Aval) -> list[Aval]:
    square(a, "eigh")
    return [Aval(a.shape[:-1], dtypes.real_type(a.dtype)), Aval(a.shape, a.dtype)]


def _lower_eigh(b: Any, a: Any, *, avals: Any, out: list[Aval]) -> list[Any]:
    values, vectors = out
    if 0 in vectors.shape:
        return [b.full(values.shape, 0, values.dtype), a]
    letter = LETTER[vectors.dtype.name]
    if on_gpu(b):
        name = "cusolver_syevd_ffi"
        attributes = {"lower": boolean(True), "algorithm": b.ui8(0)}
    else:
        name = f"lapack_{letter}{'heevd' if letter in 'cz' else 'syevd'}_ffi"
        attributes = {"mode": b.ui8("V"), "uplo": b.ui8("L")}
    results = [
        (vectors.shape, vectors.dtype, 2),
        (values.shape, values.dtype, 1),
        (vectors.shape[:-2], numpy.int32, 0),
    ]
    v, w, info = solver_call(b, name, [a], results, attributes, [2])
    good = succeeded(b, info)
    return [nan_unless(b, good, w), nan_unless(b, good, v)]


eigh_factor = Primitive(
    "eigh_factor",
    shape=_eigh_avals,
    lower=_lower_eigh,
    vjp=(lambda g, out, a: eigh_bar(g, out),),
    batch=batched_in_front(lambda: eigh_factor),
    doc="Ascending eigenvalues and eigenvectors of a Hermitian matrix, from its lower triangle.",
)


def _svd_avals(a: Aval, *, full: bool) -> list[Aval]:
    *batch, m, n = a.shape
    k = min(m, n)
    return [
        Aval((*batch, m, m if full else k), a.dtype),
        Aval((*batch, k), dtypes.real_type(a.dtype)),
        Aval((*batch, n if full else k, n), a.dtype),
    ]


def _lower_svd(b: Any, a: Any, *, avals: Any, out: list[Aval], full: bool) -> list[Any]:
    u, s, vh = out
    if 0 in avals[0].shape:
        return [_eyes(b, u), b.full(s.shape, 0, s.dtype), _eyes(b, vh)]
    if on_gpu(b):
        return _svd_on_gpu(b, a, avals[0], out, full)
    results = [
        (avals[0].shape, avals[0].dtype, 2),
        (s.shape, s.dtype, 1),
        (u.shape, u.dtype, 2),
        (vh.shape, vh.dtype, 2),
        (s.shape[:-1], numpy.int32, 0),
    ]
    name = f"lapack_{LETTER[u.dtype.name]}gesdd_ffi"
    _, s, u, vh, info = solver_call(
        b, name, [a], results, {"mode": b.ui8("A" if full else "S")}, [2]
    )
    good = succeeded(b, info)
    return [nan_unless(b, good, x) for x in (u, s, vh)]


def _svd_on_gpu(b: Any, a: Any, aval: Aval, out: list[Aval], full: bool) -> list[Any]:
    u, s, vh = out
    wide = aval.shape[-2] < aval.shape[-1]
    if wide:  # gesvd wants tall matrices: a row-major wide one is a column-major tall one
        results = [(aval.shape, aval.dtype, 1), (s.shape, s.dtype, 1), (vh.shape, vh.dtype, 1),
                   (u.shape, u.dtype, 1), (s.shape[:-1], numpy.int32, 0)]  # fmt: skip
    else:
        results = [(aval.shape, aval.dtype, 2), (s.shape, s.dtype, 1), (u.shape, u.dtype, 2),
                   (vh.shape, vh.dtype, 2), (s.shape[:-1], numpy.int32, 0)]  # fmt: skip
    attributes = {
        "full_matrices": boolean(full), "compute_uv": boolean(True), "transposed": boolean(wide)
    }  # fmt: skip
    _, s_out, first, second, info = solver_call(
        b, "cusolver_gesvd_ffi", [a], results, attributes, [1 if wide else 2]
    )
    u_out, vh_out = (second, first) if wide else (first, second)
    good = succeeded(b, info)
    return [nan_unless(b, good, x) for x in (u_out, s_out, vh_out)]


def _eyes(b: Any, aval: Aval) -> Any:
    m, n = aval.shape[-2:]
    same = b.compare("EQ", b.iota((m, n), 0, numpy.int32), b.iota((m, n), 1, numpy.int32))
    return b.broadcast_to(b.convert(same, aval.dtype), aval.shape)


svd_factor = Primitive(
    "svd_factor",
    shape=_svd_avals,
    lower=_lower_svd,
    vjp=(lambda g, out, a, *, full: svd_bar(g, out, a),),
    batch=batched_in_front(lambda: svd_factor),
    doc="u, s, vh with a = u * s @ vh, singular values descending.",
)


def _eig_avals(a: Aval) -> list[Aval]:
    square(a, "eig")
    dtype = dtypes.complex_of(a.dtype)
    return [Aval(a.shape[:-1], dtype), Aval(a.shape, dtype)]


def _lower_eig(b: Any, a: Any, *, avals: Any, out: list[Aval]) -> list[Any]:
    values, vectors = out
    if 0 in vectors.shape:
        return [b.full(values.shape, 0, values.dtype), b.full(vectors.shape, 0, vectors.dtype)]
    if on_gpu(b):
        return _eig_on_host(b, a, out)
    letter = LETTER[avals[0].dtype.name]
    batch = vectors.shape[:-2]
    real = letter in "sd"
    part = avals[0].dtype if real else values.dtype
    results = [(values.shape, part, 1)] * (2 if real else 1)
    results += [(vectors.shape, vectors.dtype, 2)] * 2 + [(batch, numpy.int32, 0)]
    attributes = {"compute_left": b.ui8("N"), "compute_right": b.ui8("V")}
    *w, _, v, info = solver_call(
        b, f"lapack_{letter}geev_ffi", [a], results, attributes, [2], alias=False
    )
    good = succeeded(b, info)
    w = b.complex(*w) if real else w[0]
    return [nan_unless(b, good, w), nan_unless(b, good, v)]


def _eig_on_host(b: Any, a: Any, out: list[Aval]) -> list[Any]:
    """cuSolver has no general eigenvalues everywhere: NumPy's, on the host."""

    def eig(x: Any) -> Any:
        values, vectors = numpy.linalg.eig(x)
        return values.astype(out[0].dtype), vectors.astype(out[1].dtype)

    return b.callback(eig, [a], out)


eig_factor = Primitive(
    "eig_factor",
    shape=_eig_avals,
    lower=_lower_eig,
    jvp=lambda dots, out, a: eig_dot(dots[0], out),
    batch=batched_in_front(lambda: eig_factor),
    doc="Eigenvalues and right eigenvectors of general square matrices, complex.",
)

from overt.backend.builder import boolean  # noqa: E402
from overt.runtime.numpy.factor_derivatives import (  # noqa: E402
    cholesky_bar,
    cholesky_dot,
    eig_dot,
    eigh_bar,
    lu_bar,
    lu_dot,
    svd_bar,
    triangular_bar_a,
    triangular_bar_y,
)
