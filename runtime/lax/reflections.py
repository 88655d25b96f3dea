"""Products of Householder reflections, and the QR decomposition with column pivoting.

LAPACK's routines; they have no derivative here, as in JAX: differentiate `qr` instead.
"""

from __future__ import annotations

from typing import Any

import numpy

from overt.backend.builder import boolean, parsed
from overt.runtime import numpy as np
from overt.runtime.aval import Aval
from overt.runtime.numpy.factorizations import householder_product as product_of_reflections
from overt.runtime.numpy.factorizations import qr_packed
from overt.runtime.numpy.lapack import LETTER, batched_in_front, on_gpu, only_on_cpu, solver_call
from overt.runtime.numpy.solving import as_inexact
from overt.runtime.primitive import Primitive

__all__ = ["geqp3", "geqrf", "householder_product", "ormqr"]


def geqrf(a: Any) -> tuple[Any, Any]:
    """A QR decomposition as LAPACK packs it: R with Householder vectors below it, their factors.

    >>> packed, factors = geqrf(np.ones((3, 2)))
    >>> packed.shape, factors.shape
    ((3, 2), (2,))
    """
    return qr_packed(as_inexact(a))


def householder_product(a: Any, taus: Any) -> Any:
    """The first columns of the product of the reflections that `geqrf` returns.

    >>> householder_product(*geqrf(np.ones((3, 2)))).shape
    (3, 2)
    """
    a, taus = as_inexact(a), as_inexact(taus)
    if a.ndim < 2 or a.shape[-2] < a.shape[-1] or taus.shape[-1] > a.shape[-1]:
        raise ValueError(
            "householder_product needs matrices with at least as many rows as columns, and at most "
            f"one factor a column, got shapes {a.shape} and {taus.shape}"
        )
    return product_of_reflections(a, taus)


# products with a matrix ---------------------------------------------------------------------------


def _ormqr_aval(a: Aval, taus: Aval, c: Aval, *, left: bool, transpose: bool) -> Aval:
    rows = c.shape[-2 if left else -1]
    if a.shape[-2] != rows or a.shape[-1] != taus.shape[-1]:
        raise ValueError(
            f"ormqr: shapes {a.shape} of the reflections, {taus.shape} of their factors and "
            f"{c.shape} do not fit with left={left}"
        )
    return c


def _lower_ormqr(
    b: Any, a: Any, taus: Any, c: Any, *, avals: Any, out: Aval, left: bool, transpose: bool
) -> Any:
    if 0 in out.shape or 0 in avals[1].shape:
        return c
    letter = LETTER[out.dtype.name]
    if on_gpu(b):
        name = "cusolver_ormqr_ffi"
    else:
        only_on_cpu(b, "ormqr")
        name = f"lapack_{letter}{'unmqr' if letter in 'cz' else 'ormqr'}_ffi"
    attributes = {"left": boolean(left), "transpose": boolean(transpose)}
    parts = [(out.shape, out.dtype, 2)]
    return solver_call(b, name, [a, taus, c], parts, attributes, [2, 1, 2], {2: 0})[0]


times_reflections = Primitive(
    "times_reflections",
    shape=_ormqr_aval,
    lower=_lower_ormqr,
    batch=batched_in_front(lambda: times_reflections),
    arrays=("a", "taus", "c"),
    doc="Matrices times the orthogonal matrix that reflections stand for.",
)


def ormqr(a: Any, taus: Any, c: Any, *, left: bool = True, transpose: bool = False) -> Any:
    """q @ c, or c @ q (`left=False`), with q or its adjoint (`transpose`) from `geqrf`.

    >>> a = np.array([[3.0], [4.0]])
    >>> print(np.abs(ormqr(*geqrf(a), a, transpose=True)).round(4))
    [[5.]
     [0.]]
    """
    return times_reflections(
        as_inexact(a), as_inexact(taus), as_inexact(c), left=left, transpose=transpose
    )


# QR with pivoting ---------------------------------------------------------------------------------


def _geqp3_avals(a: Aval, jpvt: Aval) -> list[Aval]:
    return [a, jpvt, Aval((*a.shape[:-2], min(a.shape[-2:])), a.dtype)]


def _lower_geqp3(b: Any, a: Any, jpvt: Any, *, avals: Any, out: list[Aval]) -> list[Any]:
    form, order, factors = out
    if 0 in form.shape:
        natural = b.broadcast_to(b.iota((form.shape[-1],), 0, numpy.int32), order.shape)
        one = b.full(order.shape, 1, numpy.int32)
        return [a, b.binary("add", natural, one), b.full(factors.shape, 0, factors.dtype)]
    attributes = {}
    if on_gpu(b):
        name, attributes["magma"] = "cuhybrid_geqp3", parsed('"auto"')
    else:
        only_on_cpu(b, "qr with pivoting")
        name = f"lapack_{LETTER[form.dtype.name]}geqp3_ffi"
    parts = [(form.shape, form.dtype, 2), (order.shape, order.dtype, 1),
             (factors.shape, factors.dtype, 1)]  # fmt: skip
    return solver_call(b, name, [a, jpvt], parts, attributes, [2, 1], {0: 0, 1: 1})


pivoted_qr_packed = Primitive(
    "pivoted_qr_packed",
    shape=_geqp3_avals,
    lower=_lower_geqp3,
    batch=batched_in_front(lambda: pivoted_qr_packed),
    arrays=("a", "jpvt"),
    doc="R and Householder vectors of the columns put in order of size, that order, the factors.",
)


def geqp3(a: Any, jpvt: Any = None) -> tuple[Any, Any, Any]:
    """A QR decomposition with column pivoting as LAPACK packs it: R and vectors, order, factors.

    The order counts from 1; columns that `jpvt` marks with other numbers than 0 stay in front.

    >>> geqp3(np.array([[1.0, 2.0]]))[1]
    Array([2, 1], dtype=int32)
    """
    a = as_inexact(a)
    if jpvt is None:
        jpvt = np.zeros((*a.shape[:-2], a.shape[-1]), np.int32)
    return pivoted_qr_packed(a, jpvt)
