"""Matrix decompositions: Cholesky, QR, eigenvalues and singular values."""

from __future__ import annotations

from typing import Any, NamedTuple

from overt.runtime.numpy.factor_derivatives import (
    eig_bar,
    eig_dot,
    eigh_bar,
    eigh_dot,
    hermitian,
    mH,
    mirrored,
    mT,
    on_triangle,
    qr_tangents,
    singular_values_bar,
    singular_values_dot,
    svd_bar,
    svd_dot,
    transposed,
)
from overt.runtime.numpy.factorizations import cholesky_factor, householder_product, qr_packed
from overt.runtime.numpy.movement import with_rule
from overt.runtime.numpy.solving import as_inexact, as_matrices
from overt.runtime.numpy.spectra import eig_factor, eigh_factor, svd_factor
from overt.runtime.numpy.zeros import zero_with
from overt.runtime.primitive import composite

__all__ = ["cholesky", "eig", "eigh", "eigvals", "eigvalsh", "qr", "svd", "svdvals"]


class EigResult(NamedTuple):
    eigenvalues: Any
    eigenvectors: Any


class EighResult(NamedTuple):
    eigenvalues: Any
    eigenvectors: Any


class QRResult(NamedTuple):
    Q: Any
    R: Any


class SVDResult(NamedTuple):
    U: Any
    S: Any
    Vh: Any


@with_rule(
    arrays=("a",),
    vjp=(
        lambda g, out, a, *, upper, symmetrize_input: cholesky_bar(g, out, upper, symmetrize_input),
    ),
    jvp=lambda dots, out, a, *, upper, symmetrize_input: cholesky_dot(
        dots[0], out, upper, symmetrize_input
    ),
)
def cholesky(a: Any, *, upper: bool = False, symmetrize_input: bool = True) -> Any:
    """Lower triangular L with L @ L.T equal to the (symmetrized) matrix; `upper`: its transpose.

    NaN where the matrix is not positive definite.

    >>> cholesky(np.array([[4.0, 2.0], [2.0, 2.0]]))
    Array([[2., 0.],
           [1., 1.]], dtype=float32)
    """
    a = as_matrices(a, "cholesky")
    if not symmetrize_input:
        a = np.tril(a) + mH(np.tril(a, -1)) if not upper else np.triu(a) + mH(np.triu(a, 1))
    factor = lower_factor(a)
    return mH(factor) if upper else factor


@composite(
    arrays=("a",),
    vjp=(lambda g, out, a: cholesky_bar(g, out),),
    jvp=lambda dots, out, a: cholesky_dot(dots[0], out),
)
def lower_factor(a: Any) -> Any:
    """Cholesky factor of the Hermitian part."""
    return cholesky_factor(hermitian(a))


@composite(
    arrays=("a",),
    vjp=(lambda g, out, a, *, mode: qr_bar(g, out, a, mode),),
    jvp=lambda dots, out, a, *, mode: qr_tangent(dots[0], out, a, mode),
)
def qr(a: Any, mode: str = "reduced") -> Any:
    """Orthonormal columns q and upper triangular r with q @ r = a.

    Modes: "reduced" (or "full"), "complete" (square q), "r" (r alone), "raw" (as LAPACK packs it,
    transposed; without derivative).

    Source: derivative of the complete mode as in Roberts and Roberts (2020) and from LAPACK's form
    of q, a product of reflections.

    >>> q, r = qr(np.array([[3.0, 0.0], [4.0, 5.0]]))
    >>> np.allclose(q @ r, np.array([[3.0, 0.0], [4.0, 5.0]]), atol=1e-5)
    Array(True, dtype=bool)
    """
    a = as_inexact(a)
    if a.ndim < 2:
        raise ValueError(f"qr needs matrices, got shape {a.shape}")
    if mode not in ("reduced", "complete", "r", "full", "raw"):
        raise ValueError(f"qr: unknown mode {mode!r}; known: reduced, complete, r, raw")
    packed, factors = qr_packed(a)
    if mode == "raw":
        return QRResult(mT(packed), factors)
    if mode == "r":
        return np.triu(packed[..., : min(a.shape[-2:]), :])
    return QRResult(*unpacked(packed, factors, mode == "complete"))


def unpacked(packed: Any, factors: Any, complete: bool) -> tuple[Any, Any]:
    """q and r from LAPACK's packed form."""
    m, n = packed.shape[-2:]
    k = min(m, n)
    width = m if complete else k
    vectors = packed[..., :, :k]
    if width > k:
        beside = np.zeros((*vectors.shape[:-1], m - k), packed.dtype)
        vectors = np.concatenate([vectors, beside], -1)
    return householder_product(vectors, factors), np.triu(packed[..., :width, :])


def qr_tangent(a_dot: Any, out: Any, a: Any, mode: str) -> Any:
    """Tangents of the results of `qr(a, mode)`."""
    if mode == "raw":
        raise NotImplementedError(
            "qr has no derivative with mode='raw'; use mode='reduced' or mode='complete'"
        )
    if mode == "r":
        return qr_tangents(a_dot, np.linalg.qr(a), a)[1]
    return qr_tangents(a_dot, out, a)


@zero_with
def qr_bar(g: Any, out: Any, a: Any, mode: str = "reduced") -> Any:
    """Cotangent of a in `qr(a, mode)`."""
    return transposed(lambda a_dot: qr_tangent(a_dot, out, a, mode), g, a)


@composite(
    arrays=("a",),
    vjp=(lambda g, out, a, *, UPLO, symmetrize_input: eigh_bar(g, out, UPLO, symmetrize_input),),
    jvp=lambda dots, out, a, *, UPLO, symmetrize_input: eigh_dot(
        dots[0], out, UPLO, symmetrize_input
    ),
)
def eigh(a: Any, UPLO: str | None = None, symmetrize_input: bool = True) -> Any:
    """Ascending eigenvalues, and eigenvectors in the columns, of the Hermitian part of a matrix.

    With UPLO "L" or "U" and symmetrize_input=False that triangle alone counts.

    Source: derivatives as in Giles (2008); those of vectors of equal eigenvalues are NaN.

    >>> values, vectors = eigh(np.array([[2.0, 0.0], [0.0, 1.0]]))
    >>> values
    Array([1., 2.], dtype=float32)
    """
    a = as_matrices(a, "eigh")
    if UPLO not in (None, "L", "U"):
        raise ValueError(f"UPLO must be 'L' or 'U', not {UPLO!r}")
    a = hermitian(a) if symmetrize_input else a
    return EighResult(*eigh_factor(a, lower=UPLO != "U"))


@composite(
    arrays=("a",),
    vjp=(lambda g, out, a, *, UPLO, symmetrize_input: eigvalsh_bar(g, a, UPLO, symmetrize_input),),
    jvp=lambda dots, out, a, *, UPLO, symmetrize_input: eigvalsh_dot(
        dots[0], a, UPLO, symmetrize_input
    ),
)
def eigvalsh(a: Any, UPLO: str | None = "L", *, symmetrize_input: bool = True) -> Any:
    """Ascending eigenvalues of the Hermitian part of a matrix.

    >>> eigvalsh(np.array([[2.0, 0.0], [0.0, 1.0]]))
    Array([1., 2.], dtype=float32)
    """
    return np.linalg.eigh(a, UPLO, symmetrize_input)[0]


def eigvalsh_dot(a_dot: Any, a: Any, UPLO: str | None = "L", symmetrize_input: bool = True) -> Any:
    """Tangent of `eigvalsh(a)`: the diagonal in the basis of eigenvectors."""
    _, v = np.linalg.eigh(a, UPLO, symmetrize_input)
    if not symmetrize_input:
        a_dot = mirrored(a_dot, UPLO != "U")
    return np.real(np.sum(np.conj(v) * (hermitian(a_dot) @ v), axis=-2))


@zero_with
def eigvalsh_bar(g: Any, a: Any, UPLO: str | None = "L", symmetrize_input: bool = True) -> Any:
    """Cotangent of a in `eigvalsh(a)`: finite, whether some eigenvalues are equal or not."""
    _, v = np.linalg.eigh(a, UPLO, symmetrize_input)
    bar = np.conj(v) * np.expand_dims(g, -2) @ mT(v)
    return bar if symmetrize_input else on_triangle(bar, UPLO != "U")


@composite(
    arrays=("a",),
    vjp=(lambda g, out, a: eig_bar(g, out, a),),
    jvp=lambda dots, out, a: eig_dot(dots[0], out),
)
def eig(a: Any) -> Any:
    """Eigenvalues, and right eigenvectors in the columns, of general square matrices: complex.

    >>> values, vectors = eig(np.array([[0.0, 1.0], [-1.0, 0.0]]))
    >>> sorted(np.imag(values).tolist())
    [-1.0, 1.0]
    """
    return EigResult(*eig_factor(as_matrices(a, "eig")))


def eigvals(a: Any) -> Any:
    """Eigenvalues of general square matrices: complex.

    >>> sorted(np.real(eigvals(np.array([[2.0, 1.0], [0.0, 3.0]]))).tolist())
    [2.0, 3.0]
    """
    return np.linalg.eig(a)[0]


@composite(
    arrays=("a",),
    vjp=(lambda g, out, a, *, full_matrices: svd_bar(g, out, a),),
    jvp=lambda dots, out, a, *, full_matrices: svd_dot(dots[0], out, a),
)
def factors_of_svd(a: Any, full_matrices: bool) -> Any:
    """All three factors of the singular value decomposition."""
    return SVDResult(*svd_factor(a, full=full_matrices))


@with_rule(
    arrays=("a",),
    vjp=(
        lambda g, out, a, *, full_matrices, compute_uv, hermitian, subset_by_index: svd_back(
            g, out, a, full_matrices, compute_uv, hermitian, subset_by_index
        ),
    ),
)
def svd(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False,
    subset_by_index: Any = None,
) -> Any:  # fmt: skip
    """u, s, vh with a = u * s @ vh, singular values descending; or s alone.

    `hermitian` says that the matrices are: their eigenvalues are computed then. `subset_by_index`,
    a pair of start and stop, asks for a part of the values and vectors.

    The derivative of the values exists also where some are equal, that of their vectors is NaN.

    >>> svd(np.array([[0.0, 2.0], [1.0, 0.0]]), compute_uv=False)
    Array([2., 1.], dtype=float32)
    """
    a = as_inexact(a)
    if a.ndim < 2:
        raise ValueError(f"svd needs matrices, got shape {a.shape}")
    part = slice(None) if subset_by_index is None else slice(*subset_by_index)
    if hermitian:
        u, s, vh = factors_of_hermitian(as_matrices(a, "svd"))
    elif not compute_uv:
        return svdvals(a)[..., part]
    else:
        full_matrices = full_matrices and a.shape[-1] != a.shape[-2]
        u, s, vh = factors_of_svd(a, full_matrices)
    if not compute_uv:
        return s[..., part]
    if subset_by_index is None:
        return SVDResult(u, s, vh)
    return SVDResult(u[..., part], s[..., part], vh[..., part, :])


def factors_of_hermitian(a: Any) -> tuple[Any, Any, Any]:
    """u, s, vh from eigenvalues: their sizes are the singular values, their signs go to vh."""
    w, v = np.linalg.eigh(a)
    order = np.argsort(-np.abs(w), axis=-1)
    w = np.take_along_axis(w, order, -1)
    v = np.take_along_axis(v, order[..., None, :], -1)
    sign = np.where(w < 0, -1.0, 1.0).astype(v.dtype)
    return v, np.abs(w), sign[..., :, None] * mH(v)


def svd_back(
    g: Any, out: Any, a: Any, full_matrices: bool = True, compute_uv: bool = True,
    hermitian: bool = False, subset_by_index: Any = None,
) -> Any:  # fmt: skip
    """Cotangent of a in `np.linalg.svd(a)`."""
    if hermitian or subset_by_index is not None:
        from overt.runtime.record import vjp_call

        how = full_matrices, compute_uv, hermitian, subset_by_index
        _, pullback = vjp_call(lambda a: np.linalg.svd(a, *how), a)
        return pullback(g)[0]
    return svd_bar(g, out, a) if compute_uv else singular_values_bar(g, a)


@composite(
    arrays=("x",),
    vjp=(lambda g, out, x: singular_values_bar(g, x),),
    jvp=lambda dots, out, x: singular_values_dot(dots[0], x),
)
def svdvals(x: Any) -> Any:
    """Singular values, descending.

    >>> svdvals(np.array([[0.0, 2.0], [1.0, 0.0]]))
    Array([2., 1.], dtype=float32)
    """
    return svd_factor(as_inexact(x), full=False)[1]


from overt.runtime import numpy as np  # noqa: E402
from overt.runtime.numpy.factor_derivatives import cholesky_bar, cholesky_dot  # noqa: E402
