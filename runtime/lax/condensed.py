"""Condensed forms of square matrices: Hessenberg, Schur and tridiagonal.

LAPACK's routines; they have no derivative here, as in JAX.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from overt.backend.builder import boolean, int32
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
from overt.runtime.numpy.solving import as_inexact
from overt.runtime.primitive import Primitive

__all__ = ["hessenberg", "schur", "tridiagonal"]


# Hessenberg ---------------------------------------------------------------------------------------


def _hessenberg_avals(a: Aval) -> list[Aval]:
    n = square(a, "hessenberg")
    return [a, Aval((*a.shape[:-2], max(n - 1, 0)), a.dtype)]


def _lower_hessenberg(b: Any, a: Any, *, avals: Any, out: list[Aval]) -> list[Any]:
    if 0 in out[1].shape:
        return [a, b.full(out[1].shape, 0, out[1].dtype)]
    only_on_cpu(b, "hessenberg")
    form, factors = out
    parts = [(form.shape, form.dtype, 2), (factors.shape, factors.dtype, 1),
             (form.shape[:-2], numpy.int32, 0)]  # fmt: skip
    attributes = {"low": int32(1), "high": int32(form.shape[-1])}
    name = f"lapack_{LETTER[form.dtype.name]}gehrd_ffi"
    *results, info = solver_call(b, name, [a], parts, attributes, [2])
    return [nan_unless(b, succeeded(b, info), x) for x in results]


hessenberg_form = Primitive(
    "hessenberg_form",
    shape=_hessenberg_avals,
    lower=_lower_hessenberg,
    batch=batched_in_front(lambda: hessenberg_form),
    doc="The Hessenberg form with Householder vectors below it, and their factors.",
)


def hessenberg(a: Any) -> tuple[Any, Any]:
    """The Hessenberg form of square matrices: zero below the first subdiagonal.

    Returns LAPACK's packed form: Householder vectors stand below the form; their factors follow.

    >>> form, factors = hessenberg([[1.0, 2.0], [3.0, 4.0]])
    >>> form
    Array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    return hessenberg_form(as_inexact(a))


# Schur --------------------------------------------------------------------------------------------


def _schur_avals(a: Aval) -> list[Aval]:
    square(a, "schur")
    return [a, a]


def _lower_schur(b: Any, a: Any, *, avals: Any, out: list[Aval]) -> list[Any]:
    form = out[0]
    if 0 in form.shape:
        return [a, a]
    only_on_cpu(b, "schur")
    letter, lead = LETTER[form.dtype.name], form.shape[:-2]
    parts = [(form.shape, form.dtype, 2)] * 2
    parts += [(form.shape[:-1], form.dtype, 1)] * (2 if letter in "sd" else 1)
    parts += [(lead, numpy.dtype(numpy.int32), 0)] * 2
    attributes = {"mode": b.ui8("V"), "sort": b.ui8("N")}
    results = solver_call(b, f"lapack_{letter}gees_ffi", [a], parts, attributes, [2])
    return [nan_unless(b, succeeded(b, results[-1]), x) for x in results[:2]]


schur_form = Primitive(
    "schur_form",
    shape=_schur_avals,
    lower=_lower_schur,
    batch=batched_in_front(lambda: schur_form),
    doc="t and z with a = z @ t @ z.H: z unitary, t (quasi) upper triangular.",
)


def schur(
    x: Any, *, compute_schur_vectors: bool = True, sort_eig_vals: bool = False,
    select_callable: Callable[..., Any] | None = None,
) -> tuple[Any, ...]:  # fmt: skip
    """The Schur form t of square matrices, and z with x = z @ t @ z.H.

    For real matrices t has blocks of two rows where eigenvalues are complex.

    >>> form, vectors = schur([[1.0, 2.0], [0.0, 3.0]])
    >>> form
    Array([[1., 2.],
           [0., 3.]], dtype=float32)
    """
    if sort_eig_vals or select_callable is not None:
        raise NotImplementedError(
            "schur does not sort eigenvalues: LAPACK would call Python for each; "
            "leave sort_eig_vals=False and select_callable=None"
        )
    form, vectors = schur_form(as_inexact(x))
    return (form, vectors) if compute_schur_vectors else (form,)


# tridiagonal --------------------------------------------------------------------------------------


def _tridiagonal_avals(a: Aval, *, lower: bool) -> list[Aval]:
    n = square(a, "tridiagonal")
    if n == 0:
        raise ValueError("tridiagonal needs matrices of at least one row")
    lead, real = a.shape[:-2], dtypes.real_type(a.dtype)
    return [a, Aval((*lead, n), real), Aval((*lead, n - 1), real), Aval((*lead, n - 1), a.dtype)]


def _lower_tridiagonal(b: Any, a: Any, *, avals: Any, out: list[Aval], lower: bool) -> list[Any]:
    letter = LETTER[out[0].dtype.name]
    if on_gpu(b):
        name, attributes = "cusolver_sytrd_ffi", {"lower": boolean(lower)}
    else:
        only_on_cpu(b, "tridiagonal")
        name = f"lapack_{letter}{'hetrd' if letter in 'cz' else 'sytrd'}_ffi"
        attributes = {"uplo": b.ui8("L" if lower else "U")}
    parts = [(x.shape, x.dtype, 2 if k == 0 else 1) for k, x in enumerate(out)]
    parts.append((out[0].shape[:-2], numpy.dtype(numpy.int32), 0))
    *results, info = solver_call(b, name, [a], parts, attributes, [2])
    return [nan_unless(b, succeeded(b, info), x) for x in results]


tridiagonal_form = Primitive(
    "tridiagonal_form",
    shape=_tridiagonal_avals,
    lower=_lower_tridiagonal,
    batch=batched_in_front(lambda: tridiagonal_form),
    doc="A Hermitian matrix made tridiagonal: reflections, diagonal, off-diagonal, their factors.",
)


def tridiagonal(a: Any, *, lower: bool = True) -> tuple[Any, Any, Any, Any]:
    """Hermitian matrices reduced to real tridiagonal ones, from their lower or upper triangle.

    Returns LAPACK's packed reflections, the diagonal, the off-diagonal and the factors.

    >>> tridiagonal([[2.0, 1.0], [1.0, 3.0]])[1]
    Array([2., 3.], dtype=float32)
    """
    return tridiagonal_form(as_inexact(a), lower=lower)
