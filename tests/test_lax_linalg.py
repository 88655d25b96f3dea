"""`lax.linalg`: values against NumPy and SciPy, derivatives against differences, batching."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import scipy.linalg
from numeric import assert_same, check_batch, check_derivatives

import overt.runtime.numpy as np
from overt.lax import linalg
from overt.runtime.record import vjp_call

pytestmark = pytest.mark.usefixtures("x64")

KINDS = ["float32", "float64", "complex64", "complex128"]


def normal(*shape: int, seed: int = 0, dtype: str = "float64") -> Any:
    rng = numpy.random.default_rng(seed)
    x = rng.normal(size=shape)
    return (x + 1j * rng.normal(size=shape) if dtype.startswith("c") else x).astype(dtype)


def adjoint(x: Any) -> Any:
    return numpy.conj(numpy.swapaxes(x, -1, -2))


def arrays(results: Any) -> list[Any]:
    return [numpy.asarray(x) for x in results]


def close(actual: Any, expected: Any, dtype: str) -> None:
    actual = numpy.asarray(actual)
    assert actual.dtype == dtype
    single = dtype in ("float32", "complex64")
    numpy.testing.assert_allclose(actual, expected, atol=2e-4 if single else 1e-10)


@pytest.mark.parametrize("dtype", KINDS)
def test_condensed_forms(dtype: str) -> None:
    a = normal(2, 4, 4, dtype=dtype)
    form, factors = arrays(linalg.hessenberg(a))
    for k in range(2):
        packed, tau = scipy.linalg.lapack.get_lapack_funcs("gehrd", (a[k],))(a[k])[:2]
        close(form[k], packed, dtype)
        close(factors[k], tau, dtype)
    form, vectors = arrays(linalg.schur(a))
    close(vectors @ form @ adjoint(vectors), a, dtype)
    assert not numpy.tril(form, -2).any()
    assert dtype.startswith("f") or not numpy.tril(form, -1).any()
    assert len(linalg.schur(a, compute_schur_vectors=False)) == 1
    h = a + adjoint(a)
    for lower in (True, False):
        _, d, e, _ = arrays(linalg.tridiagonal(h, lower=lower))
        band = [numpy.diag(d[k]) + numpy.diag(e[k], 1) + numpy.diag(e[k], -1) for k in range(2)]
        close(
            numpy.linalg.eigvalsh(numpy.stack(band)),
            numpy.linalg.eigvalsh(h),
            dtype.replace("complex128", "float64").replace("complex64", "float32"),
        )


@pytest.mark.parametrize("dtype", KINDS)
def test_reflections(dtype: str) -> None:
    a, c = normal(2, 5, 3, dtype=dtype), normal(2, 5, 2, seed=1, dtype=dtype)
    packed, tau = np.linalg.qr(a, "raw")
    packed = packed.mT
    full = numpy.asarray(np.linalg.qr(a, "complete")[0])
    close(linalg.householder_product(packed, tau), full[..., :3], dtype)
    close(linalg.ormqr(packed, tau, c), full @ c, dtype)
    close(linalg.ormqr(packed, tau, c, transpose=True), adjoint(full) @ c, dtype)
    row = numpy.swapaxes(c, -1, -2)
    close(linalg.ormqr(packed, tau, row, left=False), row @ full, dtype)
    for full_matrices in (True, False):
        q, r, order = arrays(linalg.qr(a, pivoting=True, full_matrices=full_matrices))
        close(q @ r, numpy.take_along_axis(a, order[..., None, :], -1), dtype)
        mode = "full" if full_matrices else "economic"
        expected = scipy.linalg.qr(a[0], mode=mode, pivoting=True)
        close(q[0], expected[0], dtype)
        assert (order[0] == expected[2]).all()


@pytest.mark.parametrize("dtype", KINDS)
def test_spectra(dtype: str) -> None:
    a, t = normal(4, 4, dtype=dtype), normal(4, 2, seed=1, dtype=dtype)
    w, left, right = arrays(linalg.eig(a))
    numpy.testing.assert_allclose(a @ right, right * w, atol=1e-4)
    numpy.testing.assert_allclose(adjoint(left) @ a, w[:, None] * adjoint(left), atol=1e-4)
    assert [len(linalg.eig(a, compute_left_eigenvectors=False, compute_right_eigenvectors=right))
            for right in (False, True)] == [1, 2]  # fmt: skip
    h = a + adjoint(a)
    v, w = arrays(linalg.eigh(h, subset_by_index=(1, 3)))
    assert v.shape == (4, 2)
    numpy.testing.assert_allclose(w, numpy.linalg.eigvalsh(h)[1:3], rtol=1e-4)
    numpy.testing.assert_allclose(h @ v, v * w, atol=1e-4)
    _, w = linalg.eigh(numpy.triu(h), lower=False, symmetrize_input=False)
    numpy.testing.assert_allclose(w, numpy.linalg.eigvalsh(h), atol=1e-4)
    for algorithm in (None, *linalg.SvdAlgorithm):
        if algorithm in (linalg.SvdAlgorithm.JACOBI, linalg.SvdAlgorithm.POLAR):
            with pytest.raises(NotImplementedError, match="cpu"):
                linalg.svd(t, algorithm=algorithm)
            continue
        u, s, vh = arrays(linalg.svd(t, full_matrices=False, algorithm=algorithm))
        close(u * s @ vh, t, dtype)
    u, s, vh = arrays(linalg.svd(t, full_matrices=False, subset_by_index=(0, 1)))
    assert (u.shape, s.shape, vh.shape) == ((4, 1), (1,), (1, 2))


@pytest.mark.parametrize("dtype", KINDS)
def test_solving(dtype: str) -> None:
    dl, d, du = (normal(2, 5, seed=k, dtype=dtype) for k in range(3))
    b = normal(2, 5, 2, seed=4, dtype=dtype)
    full = numpy.stack(
        [numpy.diag(d[k]) + numpy.diag(dl[k, 1:], -1) + numpy.diag(du[k, :-1], 1) for k in (0, 1)]
    )
    close(linalg.tridiagonal_solve(dl, d, du, b), numpy.linalg.solve(full, b), dtype)
    a = normal(4, 4, dtype=dtype) + 4 * numpy.eye(4).astype(dtype)
    y = normal(4, 4, seed=1, dtype=dtype)
    lower, upper = numpy.tril(a), numpy.triu(a)
    solved = linalg.triangular_solve(a, y, left_side=True, lower=True)
    close(solved, numpy.linalg.solve(lower, y), dtype)
    close(linalg.triangular_solve(a, y), y @ numpy.linalg.inv(upper), dtype)
    solved = linalg.triangular_solve(a, y, left_side=True, transpose_a=True, conjugate_a=True)
    close(solved, numpy.linalg.solve(adjoint(upper), y), dtype)
    factor, pivots, order = arrays(linalg.lu(a))
    unit = numpy.eye(4, dtype=dtype)
    close((numpy.tril(factor, -1) + unit) @ numpy.triu(factor), a[order], dtype)
    assert_same(linalg.lu_pivots_to_permutation(pivots, 4), order)
    u, h, _, converged = linalg.qdwh(normal(5, 3, dtype=dtype))
    expected = scipy.linalg.polar(normal(5, 3, dtype=dtype))
    close(u, expected[0], dtype)
    close(h, expected[1], dtype)
    assert bool(converged)


def test_symmetric_matrices() -> None:
    a, w = normal(4, 4), normal(4, seed=1)
    r = numpy.linalg.cholesky(a @ a.T).T
    updated = linalg.cholesky_update(r, w)
    assert_same(updated, numpy.linalg.cholesky(r.T @ r + numpy.outer(w, w)).T)
    c = a + a.T
    product = linalg.symmetric_product(a[:, :3], c, alpha=2.0, beta=3.0, symmetrize_output=True)
    assert_same(product, 2 * a[:, :3] @ a[:, :3].T + 3 * c)
    assert_same(linalg.cholesky(c @ c), numpy.linalg.cholesky(c @ c))
    singular = linalg.tridiagonal_solve(
        numpy.zeros(3), numpy.array([1.0, 0.0, 1.0]), numpy.zeros(3), numpy.ones((3, 1)),
        perturb_singular=True,
    )  # fmt: skip
    assert numpy.isfinite(numpy.asarray(singular)).all()
    padded = numpy.zeros((6, 4))
    padded[:5, :3] = normal(5, 3)
    u = linalg.qdwh(padded + 7 * (padded == 0), dynamic_shape=(5, 3))[0]
    assert_same(u[:5, :3], scipy.linalg.polar(normal(5, 3))[0])


def test_derivatives() -> None:
    dl, d, du, b = *(normal(4, seed=k) for k in range(3)), normal(4, 2, seed=3)
    check_derivatives(linalg.tridiagonal_solve, dl, d + 3, du, b, order=2)
    r = numpy.triu(normal(3, 3)) + 3 * numpy.eye(3)
    check_derivatives(linalg.cholesky_update, r, normal(3))
    check_derivatives(
        lambda a: np.concatenate([np.ravel(x) for x in linalg.qdwh(a)[:2]]), normal(4, 2), order=2
    )
    for shape in ((4, 2), (3, 3), (2, 4)):

        def factors(a: Any) -> Any:
            complete = linalg.qr(a)
            pivoted = linalg.qr(a, pivoting=True, full_matrices=False)[:2]
            return np.concatenate([np.ravel(x) for x in (*complete, *pivoted)])

        check_derivatives(factors, normal(*shape))

    def vectors(a: Any) -> Any:
        w, *vectors = linalg.eig(a, enable_eigvec_derivs=True)
        parts = [w, *[np.ravel(v**2) for v in vectors]]  # LAPACK leaves their signs open
        return np.concatenate([np.real(np.concatenate(parts)), np.imag(np.concatenate(parts))])

    check_derivatives(vectors, normal(4, 4), rtol=1e-5)
    with pytest.raises(NotImplementedError, match="enable_eigvec_derivs=True"):
        vjp_call(lambda a: linalg.eig(a)[1], np.asarray(normal(2, 2)))[1](np.ones((2, 2), complex))
    with pytest.raises(NotImplementedError, match="no derivative"):
        vjp_call(lambda a: linalg.schur(a)[0], np.asarray(normal(2, 2)))[1](np.ones((2, 2)))


def test_batching() -> None:
    diagonals = [normal(3, 4, seed=k) + 3 * (k == 1) for k in range(3)]
    check_batch(linalg.tridiagonal_solve, *diagonals, normal(3, 4, 2))
    check_batch(linalg.cholesky_update, normal(3, 2, 2) + 3 * numpy.eye(2), normal(3, 2))
    check_batch(lambda a: linalg.schur(a)[0], normal(3, 4, 4))
    check_batch(lambda a: linalg.hessenberg(a)[1], normal(3, 4, 4))
    check_batch(lambda a: linalg.tridiagonal(a)[1], normal(3, 4, 4))
    check_batch(lambda a: linalg.qr(a, pivoting=True)[1], normal(3, 4, 2))
    check_batch(lambda a: linalg.qdwh(a)[0], normal(3, 4, 2))
    check_batch(lambda p: linalg.lu_pivots_to_permutation(p, 5), numpy.array([[1, 3, 2]] * 2))


@pytest.mark.parametrize("shape", [(0, 0), (2, 0, 0)])
def test_empty(shape: Any) -> None:
    a = numpy.zeros(shape)
    for f in (linalg.cholesky, linalg.eigh, linalg.lu, linalg.qr, linalg.schur, linalg.svd,
              linalg.hessenberg, linalg.eig):  # fmt: skip
        results = f(a)
        first = results[0] if isinstance(results, (tuple, list)) else results
        assert first.size == 0, f
    assert linalg.tridiagonal_solve(*[np.zeros(0)] * 3, np.zeros((0, 2))).shape == (0, 2)


@pytest.mark.parametrize(
    "call, kind, message",
    [
        (lambda: linalg.hessenberg(numpy.ones((2, 3))), ValueError, "square"),
        (lambda: linalg.schur(numpy.eye(2), sort_eig_vals=True), NotImplementedError, "sort"),
        (lambda: linalg.eigh(numpy.eye(2), subset_by_index=(0, 3)), ValueError, "subset_by_index"),
        (lambda: linalg.qdwh(numpy.ones((2, 3))), ValueError, "rows"),
        (lambda: linalg.cholesky_update(numpy.eye(2), numpy.ones(3)), ValueError, "vector"),
        (lambda: linalg.tridiagonal_solve(*[numpy.ones(2)] * 4), TypeError, "diagonals"),
        (
            lambda: linalg.eigh(numpy.eye(2), implementation=linalg.EighImplementation.JACOBI),
            NotImplementedError,
            "jacobi",
        ),
    ],
)
def test_refusals(call: Any, kind: type, message: str) -> None:
    with pytest.raises(kind, match=message):
        call()
