"""Decompositions of matrices in SciPy's vocabulary."""

from __future__ import annotations

from typing import Any

import numpy

from overt.runtime import dtypes
from overt.runtime import numpy as np
from overt.runtime.control import for_loop, loop_range
from overt.runtime.lax.condensed import hessenberg_form, schur_form
from overt.runtime.lax.linalg import pivoted_qr
from overt.runtime.lax.polar import polar_factors
from overt.runtime.numpy.decompositions import lower_factor
from overt.runtime.numpy.factor_derivatives import mH, mirrored, triangular
from overt.runtime.numpy.factorizations import householder_product
from overt.runtime.numpy.solving import as_inexact, as_matrices

__all__ = [
    "eigh", "eigh_tridiagonal", "hessenberg", "polar", "qr", "qr_multiply", "rsf2csf", "schur",
    "svd",
]  # fmt: skip


# eigenvalues --------------------------------------------------------------------------------------


def eigh(
    a: Any, b: Any = None, lower: bool = True, eigvals_only: bool = False,
    overwrite_a: bool = False, overwrite_b: bool = False, turbo: bool = True, eigvals: None = None,
    type: int = 1, check_finite: bool = True,
) -> Any:  # fmt: skip
    """Ascending eigenvalues and the vectors of Hermitian matrices, from one triangle of them.

    With positive definite b the generalized problem: type 1 a v = w b v, type 2 a b v = w v,
    type 3 b a v = w v. `overwrite_*`, `turbo` and `check_finite` have no effect.

    >>> print(eigh(np.array([[2.0, 0.0], [0.0, 1.0]]), eigvals_only=True))
    [1. 2.]
    """
    if eigvals is not None:
        raise NotImplementedError(
            "eigh: eigvals= is not supported; take a slice of the result instead"
        )
    if type not in (1, 2, 3):
        raise ValueError(f"eigh: type must be 1, 2 or 3, not {type!r}")
    side = "L" if lower else "U"
    if b is None:
        if eigvals_only:
            return np.linalg.eigvalsh(a, side, symmetrize_input=False)
        return tuple(np.linalg.eigh(a, side, symmetrize_input=False))
    dtype = np.result_type(as_inexact(a), as_inexact(b))
    a, b = (mirrored(as_matrices(x, "eigh").astype(dtype), lower) for x in (a, b))
    factor = lower_factor(b)
    if type == 1:
        inner = mH(triangular(factor, mH(triangular(factor, a))))
    else:
        inner = mH(factor) @ a @ factor
    values, vectors = np.linalg.eigh(inner)
    if eigvals_only:
        return values
    return values, factor @ vectors if type == 3 else triangular(factor, vectors, "C")


def eigh_tridiagonal(
    d: Any, e: Any, *, eigvals_only: bool = False, select: str = "a",
    select_range: tuple[float, float] | None = None, tol: float | None = None, key: Any = None,
) -> Any:  # fmt: skip
    """Ascending eigenvalues and vectors of real matrices with diagonal d and off-diagonal e.

    Select "a" all, "i" those with indices from select_range[0] up to and with select_range[1], "v"
    those of values above the first and up to the second (not in a staged program, whose shapes
    must not depend on values). All are computed: `tol` and `key` have no effect.

    >>> print(eigh_tridiagonal(np.array([1.0, 1.0]), np.array([2.0]), eigvals_only=True))
    [-1.  3.]
    """
    if select not in ("a", "i", "v"):
        raise ValueError(f"eigh_tridiagonal: select must be 'a', 'i' or 'v', not {select!r}")
    if select != "a" and select_range is None:
        raise ValueError(f"eigh_tridiagonal: select={select!r} needs select_range")
    d, e = as_inexact(d), as_inexact(e)
    if d.ndim != 1 or e.shape != (d.shape[0] - 1,):
        raise ValueError(f"eigh_tridiagonal: shapes {d.shape} and {e.shape} do not fit")
    if dtypes.is_complex(d.dtype) or dtypes.is_complex(e.dtype):
        raise TypeError("eigh_tridiagonal takes real diagonals; use eigh for a complex matrix")
    a = np.diag(d) + np.diag(e, 1) + np.diag(e, -1)
    if eigvals_only:
        values, vectors = np.linalg.eigvalsh(a), None
    else:
        values, vectors = np.linalg.eigh(a)
    if select != "a":
        assert select_range is not None
        low, high = select_range
        chosen: Any = slice(int(low), int(high) + 1)
        if select == "v":
            chosen = numpy.asarray((values > low) & (values <= high)).nonzero()[0]
        values, vectors = values[chosen], None if vectors is None else vectors[:, chosen]
    return values if vectors is None else (values, vectors)


def svd(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, overwrite_a: bool = False,
    check_finite: bool = True, lapack_driver: str = "gesdd",
) -> Any:  # fmt: skip
    """u, s, vh with a = u * s @ vh, or s alone. The last three options have no effect.

    >>> print(svd(np.array([[0.0, 2.0], [1.0, 0.0]]), compute_uv=False))
    [2. 1.]
    """
    result = np.linalg.svd(a, full_matrices, compute_uv)
    return tuple(result) if compute_uv else result


# condensed forms ----------------------------------------------------------------------------------


def hessenberg(
    a: Any, *, calc_q: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Any:
    """h with a = q @ h @ q.H and zeros below the first subdiagonal; with `calc_q` h and q.

    >>> print(hessenberg(np.array([[1.0, 2.0], [3.0, 4.0]])))
    [[1. 2.]
     [3. 4.]]
    """
    packed, factors = hessenberg_form(as_matrices(a, "hessenberg"))
    form = np.triu(packed, -1)
    if not calc_q:
        return form
    n = form.shape[-1]
    q = np.broadcast_to(np.eye(n, dtype=form.dtype), form.shape)
    if n > 1:
        inner = householder_product(packed[..., 1:, :-1], factors)
        q = q.at[..., 1:, 1:].set(inner)
    return form, q


def schur(a: Any, output: str = "real") -> tuple[Any, Any]:
    """t and z with a = z @ t @ z.H, for t (quasi) upper triangular, z unitary.

    Real matrices keep blocks of two rows where eigenvalues are complex, unless output="complex".

    >>> t, z = schur(np.array([[1.0, 2.0], [0.0, 3.0]]))
    >>> print(t)
    [[1. 2.]
     [0. 3.]]
    """
    if output not in ("real", "complex"):
        raise ValueError(f"schur: output must be 'real' or 'complex', not {output!r}")
    a = as_matrices(a, "schur")
    return schur_form(a.astype(dtypes.complex_of(a.dtype)) if output == "complex" else a)


def rsf2csf(T: Any, Z: Any, check_finite: bool = True) -> tuple[Any, Any]:
    """From the real Schur form to the complex one, by a rotation for each block of two rows.

    >>> t, z = rsf2csf(np.array([[0.0, 1.0], [-1.0, 0.0]]), np.eye(2))
    >>> print(np.round(np.diagonal(t), 4))
    [0.+1.j 0.-1.j]
    """
    t, z = as_matrices(T, "rsf2csf"), as_matrices(Z, "rsf2csf")
    n = t.shape[-1]
    if z.shape[-1] != n:
        raise ValueError(f"rsf2csf: shapes {t.shape} and {z.shape} do not fit")
    dtype = dtypes.complex_of(np.result_type(t, z))
    lead = np.broadcast_shapes(t.shape[:-2], z.shape[:-2])
    t, z = (np.broadcast_to(x.astype(dtype), (*lead, n, n)) for x in (t, z))
    eps = float(dtypes.finfo(dtype).eps)

    def rotated(k: Any, t: Any, z: Any) -> tuple[Any, Any]:
        """Rotate rows and columns m - 1 and m so that the element below the diagonal vanishes."""
        m = n - 1 - k
        a, b, c, d = t[..., m - 1, m - 1], t[..., m - 1, m], t[..., m, m - 1], t[..., m, m]
        half = 0.5 * (a - d)
        shift = half + np.sqrt(half * half + b * c)
        length = np.hypot(np.abs(shift), np.abs(c))
        whole = np.abs(c) > eps * (np.abs(a) + np.abs(d))
        safe = np.where(length == 0, 1.0, length)
        cosine = np.where(whole, shift / safe, 1.0)[..., None]
        sine = np.where(whole, c / safe, 0.0)[..., None]
        upper, lower = t[..., m - 1, :], t[..., m, :]
        t = t.at[..., m - 1, :].set(np.conj(cosine) * upper + sine * lower)
        t = t.at[..., m, :].set(-sine * upper + cosine * lower)
        turned = []
        for x in (t, z):
            left, right = x[..., :, m - 1], x[..., :, m]
            x = x.at[..., :, m - 1].set(cosine * left + np.conj(sine) * right)
            turned.append(x.at[..., :, m].set(-np.conj(sine) * left + np.conj(cosine) * right))
        return turned[0], turned[1]

    if n > 1:
        t, z = for_loop(loop_range(n - 1), rotated, (t, z))
    return np.triu(t), z


# factors ------------------------------------------------------------------------------------------


def qr(
    a: Any, overwrite_a: bool = False, lwork: Any = None, mode: str = "full",
    pivoting: bool = False, check_finite: bool = True,
) -> tuple[Any, ...]:  # fmt: skip
    """q and r with q @ r = a; with `pivoting` also the order p of columns: q @ r = a[:, p].

    Modes: "full" (square q), "economic", "r" (without q). The other options have no effect.

    >>> [x.shape for x in qr(np.ones((3, 2)), mode="economic")]
    [(3, 2), (2, 2)]
    """
    if mode not in ("full", "economic", "r"):
        raise ValueError(f"qr: mode must be 'full', 'economic' or 'r', not {mode!r}")
    full = mode != "economic"
    if pivoting:
        q, r, *order = pivoted_qr(as_inexact(a), full)
    else:
        (q, r), order = np.linalg.qr(a, "complete" if full else "reduced"), []
    return (r, *order) if mode == "r" else (q, r, *order)


def qr_multiply(
    a: Any, c: Any, mode: str = "right", pivoting: bool = False, conjugate: bool = False,
    overwrite_a: bool = False, overwrite_c: bool = False,
) -> tuple[Any, ...]:  # fmt: skip
    """c @ q ("right") or q @ c ("left"), and r, of the economic QR decomposition of a.

    With `pivoting` also the order of columns; `conjugate` takes the conjugate of q.

    >>> [x.shape for x in qr_multiply(np.ones((3, 2)), np.ones(3))]
    [(2,), (2, 2)]
    """
    if mode not in ("left", "right"):
        raise ValueError(f"qr_multiply: mode must be 'left' or 'right', not {mode!r}")
    c = as_inexact(c)
    q, *rest = qr(a, mode="economic", pivoting=pivoting)
    q = np.conj(q) if conjugate else q
    if (
        c.shape[-1 if mode == "right" or c.ndim == 1 else -2]
        != q.shape[-2 if mode == "right" else -1]
    ):
        raise ValueError(f"qr_multiply: shapes {q.shape} of q and {c.shape} do not fit")
    return (c @ q if mode == "right" else q @ c, *rest)


def polar(
    a: Any, side: str = "right", *, method: str = "qdwh", eps: float | None = None,
    max_iterations: int | None = None,
) -> tuple[Any, Any]:  # fmt: skip
    """u and p with a = u @ p ("right") or a = p @ u ("left"): u orthonormal, p positive.

    Methods "qdwh" and "svd"; where p is larger than the rank can be, always by the latter.

    >>> u, p = polar(np.array([[0.0, 2.0], [1.0, 0.0]]))
    >>> print(np.round(p, 4))
    [[1. 0.]
     [0. 2.]]
    """
    if side not in ("left", "right"):
        raise ValueError(f"polar: side must be 'left' or 'right', not {side!r}")
    if method not in ("qdwh", "svd"):
        raise ValueError(f"polar: method must be 'qdwh' or 'svd', not {method!r}")
    a = as_inexact(a)
    tall = a if side == "right" else mH(a)
    if method == "qdwh" and tall.shape[-2] >= tall.shape[-1]:
        u, p, _, _ = polar_factors(tall, 10 if max_iterations is None else max_iterations, eps)
    else:
        left, s, right = np.linalg.svd(tall, full_matrices=False)
        u, p = left @ right, mH(right) * s[..., None, :].astype(a.dtype) @ right
    return (u if side == "right" else mH(u)), p
