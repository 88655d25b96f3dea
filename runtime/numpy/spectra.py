"""Eigenvalues and singular values as primitives: LAPACK on CPU, cuSolver on GPU.

All take matrices in the last two axes and any number of batch axes in front.
"""

from __future__ import annotations

from typing import Any

import numpy

from overt.runtime import dtypes
from overt.runtime.aval import Aval
from overt.runtime.numpy.lapack import (
    LETTER,
    batched_in_front,
    nan_unless,
    on_gpu,
    only_on_cpu,
    solver_call,
    square,
    succeeded,
)
from overt.runtime.primitive import Primitive

__all__ = ["eig_factor", "eigh_factor", "svd_factor"]


def _eigh_avals(a: Aval, *, lower: bool = True, algorithm: str = "") -> list[Aval]:
    square(a, "eigh")
    return [Aval(a.shape[:-1], dtypes.real_type(a.dtype)), Aval(a.shape, a.dtype)]


def _lower_eigh(
    b: Any, a: Any, *, avals: Any, out: list[Aval], lower: bool = True, algorithm: str = ""
) -> list[Any]:
    values, vectors = out
    tpu = b.platform == "tpu"
    if algorithm == "qdwh" or algorithm == {"cpu": "jacobi", "tpu": "qr"}.get(b.platform):
        raise NotImplementedError(
            f"eigh: there is no {algorithm} routine on {b.platform}; use the default"
        )
    if 0 in vectors.shape:
        return [b.full(values.shape, 0, values.dtype), a]
    if tpu and vectors.shape[-1] > 1:  # Jacobi's method: lower, sorted, sweeps, tolerance
        parts = b.compiler_call("Eigh", [a], [vectors, values], f"{int(lower)},1,100,1e-6")
        return parts[::-1]
    if tpu:
        value = b.reshape(a, values.shape)
        value = b.real(value) if dtypes.is_complex(vectors.dtype) else value
        return [value, b.full(vectors.shape, 1, vectors.dtype)]
    letter = LETTER[vectors.dtype.name]
    if on_gpu(b):
        name = "cusolver_syevd_ffi"
        attributes = {
            "lower": boolean(lower),
            "algorithm": b.ui8({"": 0, "qr": 1, "jacobi": 2}[algorithm]),
        }
    else:
        name = f"lapack_{letter}{'heevd' if letter in 'cz' else 'syevd'}_ffi"
        attributes = {"mode": b.ui8("V"), "uplo": b.ui8("L" if lower else "U")}
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
    vjp=(lambda g, out, a, *, lower=True, algorithm="": on_triangle(eigh_bar(g, out), lower),),
    batch=batched_in_front(lambda: eigh_factor),
    doc="Ascending eigenvalues and eigenvectors of a Hermitian matrix, from one triangle of it.",
)


def _svd_avals(a: Aval, *, full: bool, algorithm: str = "") -> list[Aval]:
    *batch, m, n = a.shape
    k = min(m, n)
    return [
        Aval((*batch, m, m if full else k), a.dtype),
        Aval((*batch, k), dtypes.real_type(a.dtype)),
        Aval((*batch, n if full else k, n), a.dtype),
    ]


def _lower_svd(
    b: Any, a: Any, *, avals: Any, out: list[Aval], full: bool, algorithm: str = ""
) -> list[Any]:
    u, s, vh = out
    if 0 in avals[0].shape:
        return [_eyes(b, u), b.full(s.shape, 0, s.dtype), _eyes(b, vh)]
    if on_gpu(b):
        *parts, info = _svd_on_gpu(b, a, avals[0], out, full, algorithm)
    elif algorithm in ("jacobi", "polar"):
        raise NotImplementedError(
            f"svd: there is no {algorithm} routine on {b.platform}; use the default"
        )
    else:
        only_on_cpu(b, "svd")
        results = _svd_results(avals[0], out, 2)
        routine = "gesvd" if algorithm == "qr" else "gesdd"
        name = f"lapack_{LETTER[u.dtype.name]}{routine}_ffi"
        mode = {"mode": b.ui8("A" if full else "S")}
        _, singular, left, right, info = solver_call(b, name, [a], results, mode, [2])
        parts = [left, singular, right]
    good = succeeded(b, info)
    return [nan_unless(b, good, x) for x in parts]


def _svd_results(a: Aval, out: list[Aval], rank: int) -> list[Any]:
    """What the routines return: the matrix's place, values, left and right vectors, success."""
    u, s, vh = out
    return [
        (a.shape, a.dtype, rank), (s.shape, s.dtype, 1), (u.shape, u.dtype, rank),
        (vh.shape, vh.dtype, rank), (s.shape[:-1], numpy.int32, 0),
    ]  # fmt: skip


def _svd_on_gpu(
    b: Any, a: Any, aval: Aval, out: list[Aval], full: bool, algorithm: str
) -> list[Any]:
    """u, s, vh and the routine's report."""
    if algorithm in ("jacobi", "polar"):
        return _svd_by_rotations(b, a, aval, out, full, algorithm)
    wide = aval.shape[-2] < aval.shape[-1]
    results = _svd_results(aval, out, 1 if wide else 2)
    if wide:  # gesvd wants tall matrices: a row-major wide one is a column-major tall one
        results[2], results[3] = results[3], results[2]
    attributes = {
        "full_matrices": boolean(full), "compute_uv": boolean(True), "transposed": boolean(wide)
    }  # fmt: skip
    _, s, first, second, info = solver_call(
        b, "cusolver_gesvd_ffi", [a], results, attributes, [1 if wide else 2]
    )
    return [second, s, first, info] if wide else [first, s, second, info]


def _svd_by_rotations(
    b: Any, a: Any, aval: Aval, out: list[Aval], full: bool, algorithm: str
) -> list[Any]:
    """cuSolver's other routines: they give v, not vh, and the batched one square factors only."""
    *batch, m, n = aval.shape
    square_ones = full or (algorithm == "jacobi" and min(m, n) <= 32)
    k = min(m, n)
    u = Aval((*batch, m, m if square_ones else k), aval.dtype)
    v = Aval((*batch, n, n if square_ones else k), aval.dtype)
    name = "cusolver_gesvdj_ffi" if algorithm == "jacobi" else "cusolver_gesvdp_ffi"
    attributes = {"full_matrices": boolean(square_ones), "compute_uv": boolean(True)}
    results = _svd_results(aval, [u, out[1], v], 2)
    _, s, left, right, info = solver_call(b, name, [a], results, attributes, [2])
    order = (*range(len(batch)), len(batch) + 1, len(batch))
    right = b.transpose(right, order)
    if dtypes.is_complex(aval.dtype):
        right = b.complex(b.real(right), b.unary("negate", b.imag(right)))
    start, stride = [0] * len(aval.shape), [1] * len(aval.shape)
    left = b.slice(left, start, out[0].shape, stride)
    return [left, s, b.slice(right, start, out[2].shape, stride), info]


def _eyes(b: Any, aval: Aval) -> Any:
    m, n = aval.shape[-2:]
    same = b.compare("EQ", b.iota((m, n), 0, numpy.int32), b.iota((m, n), 1, numpy.int32))
    return b.broadcast_to(b.convert(same, aval.dtype), aval.shape)


svd_factor = Primitive(
    "svd_factor",
    shape=_svd_avals,
    lower=_lower_svd,
    vjp=(lambda g, out, a, **how: svd_bar(g, out, a),),
    batch=batched_in_front(lambda: svd_factor),
    doc="u, s, vh with a = u * s @ vh, singular values descending.",
)


def _eig_avals(a: Aval, *, left: bool = False) -> list[Aval]:
    square(a, "eig")
    dtype = dtypes.complex_of(a.dtype)
    return [Aval(a.shape[:-1], dtype), *[Aval(a.shape, dtype)] * (2 if left else 1)]


def _lower_eig(b: Any, a: Any, *, avals: Any, out: list[Aval], left: bool = False) -> list[Any]:
    values, vectors = out[0], out[-1]
    if 0 in vectors.shape:
        return [b.full(x.shape, 0, x.dtype) for x in out]
    if on_gpu(b):
        return _eig_on_host(b, a, out)
    only_on_cpu(b, "eig")
    letter = LETTER[avals[0].dtype.name]
    real = letter in "sd"
    part = avals[0].dtype if real else values.dtype
    results = [(values.shape, part, 1)] * (2 if real else 1)
    results += [(vectors.shape, vectors.dtype, 2)] * 2 + [(vectors.shape[:-2], numpy.int32, 0)]
    attributes = {"compute_left": b.ui8("V" if left else "N"), "compute_right": b.ui8("V")}
    *w, vl, vr, info = solver_call(
        b, f"lapack_{letter}geev_ffi", [a], results, attributes, [2], aliases={}
    )
    good = succeeded(b, info)
    w = b.complex(*w) if real else w[0]
    return [nan_unless(b, good, x) for x in ([w, vl, vr] if left else [w, vr])]


def _eig_on_host(b: Any, a: Any, out: list[Aval]) -> list[Any]:
    """cuSolver has no general eigenvalues everywhere: NumPy's, on the host."""

    def eig(x: Any) -> Any:
        values, vectors = numpy.linalg.eig(x)
        found = [values, vectors]
        if len(out) == 3:
            left = numpy.conj(numpy.swapaxes(numpy.linalg.inv(vectors), -1, -2))
            found.insert(1, left / numpy.linalg.norm(left, axis=-2, keepdims=True))
        return tuple(x.astype(aval.dtype) for x, aval in zip(found, out, strict=True))

    return b.callback(eig, [a], out)


eig_factor = Primitive(
    "eig_factor",
    shape=_eig_avals,
    lower=_lower_eig,
    jvp=lambda dots, out, a, **how: eig_dot(dots[0], out),
    batch=batched_in_front(lambda: eig_factor),
    doc="Eigenvalues, left eigenvectors if asked for, and right ones, of general square matrices.",
)

from overt.backend.builder import boolean  # noqa: E402
from overt.runtime.numpy.factor_derivatives import (  # noqa: E402
    eig_dot,
    eigh_bar,
    on_triangle,
    svd_bar,
)
