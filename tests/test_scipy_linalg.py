"""`scipy.linalg`: values against SciPy, derivatives against differences, batching, refusals."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import scipy.linalg
from numeric import assert_same, check_batch, check_derivatives

import overt
import overt.runtime.numpy as np
from overt.scipy import linalg

pytestmark = pytest.mark.usefixtures("x64")


def normal(*shape: int, seed: int = 0, kind: str = "real") -> Any:
    rng = numpy.random.default_rng(seed)
    x = rng.normal(size=shape)
    return x + 1j * rng.normal(size=shape) if kind == "complex" else x


def adjoint(x: Any) -> Any:
    return numpy.conj(numpy.swapaxes(x, -1, -2))


def positive(n: int, kind: str = "real") -> Any:
    a = normal(n, n, kind=kind)
    return a @ adjoint(a) + n * numpy.eye(n)


def flat(results: Any) -> Any:
    """All numbers of some results, for derivatives of all of them."""
    parts = [np.ravel(x) for x in results]
    parts = [p for x in parts for p in ([np.real(x), np.imag(x)] if np.iscomplexobj(x) else [x])]
    return np.concatenate(parts)


def test_all_names_are_there() -> None:
    assert len(linalg.__all__) == 40
    assert all(callable(getattr(linalg, name)) for name in linalg.__all__)


# special matrices ---------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 4, 8])
def test_matrices_of_a_size(n: int) -> None:
    for name in ("dft", "hadamard", "helmert", "hilbert"):
        assert_same(getattr(linalg, name)(n), getattr(scipy.linalg, name)(n), what=name)
    assert_same(linalg.helmert(n, full=True), scipy.linalg.helmert(n, full=True))
    for scale in ("sqrtn", "n"):
        assert_same(linalg.dft(n, scale), scipy.linalg.dft(n, scale))
    for name in ("pascal", "invpascal"):
        for kind in ("symmetric", "lower", "upper"):
            expected = getattr(scipy.linalg, name)(n, kind).astype(float)
            assert_same(getattr(linalg, name)(n, kind), expected, what=f"{name} {kind}")
    assert_same(linalg.invhilbert(n), scipy.linalg.invhilbert(n))


@pytest.mark.parametrize("n", [1, 2, 3, 6, 7])
def test_matrices_of_vectors(n: int) -> None:
    a, r = normal(n), normal(4, seed=1)
    for name in ("circulant", "toeplitz", "hankel", "fiedler", "companion", "fiedler_companion"):
        if n == 1 and "companion" in name:
            continue
        expected = getattr(scipy.linalg, name)(a)
        assert_same(getattr(linalg, name)(a), expected, what=name)
        both = getattr(linalg, name)(numpy.stack([a, a]))
        assert_same(both, numpy.stack([expected] * 2), what=name)
        check_derivatives(getattr(linalg, name), a)
    assert_same(linalg.toeplitz(a * 1j), scipy.linalg.toeplitz(a * 1j))
    for name in ("toeplitz", "hankel"):
        assert_same(getattr(linalg, name)(a, r), getattr(scipy.linalg, name)(a, r))
    for mode in ("full", "same", "valid"):
        expected = scipy.linalg.convolution_matrix(a, 3, mode)
        assert_same(linalg.convolution_matrix(a, 3, mode), expected, what=mode)
    if n > 1:
        assert_same(
            linalg.leslie(a, r[: n - 1]), scipy.linalg.leslie(a, r[: n - 1])
        ) if n < 6 else 0
    blocks = [a, normal(2, 3), numpy.float64(3.0), numpy.zeros((0, 2))]
    assert_same(linalg.block_diag(*blocks), scipy.linalg.block_diag(*blocks))


# systems ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["real", "complex"])
def test_systems(kind: str) -> None:
    a, p = normal(3, 3, kind=kind), positive(3, kind)
    h = a + adjoint(a)
    for b in (normal(3, kind=kind), normal(3, 2, seed=1, kind=kind)):
        for lower in (False, True):
            half = numpy.tril(p) if lower else numpy.triu(p)
            assert_same(
                linalg.cho_solve(linalg.cho_factor(half, lower), b), numpy.linalg.solve(p, b)
            )
            assert_same(linalg.solve(half, b, lower, assume_a="pos"), numpy.linalg.solve(p, b))
            half = numpy.tril(h) if lower else numpy.triu(h)
            assert_same(linalg.solve(half, b, lower, assume_a="her"), numpy.linalg.solve(h, b))
            for trans in (0, 1, 2, "N", "T", "C"):
                for unit in (False, True):
                    how: Any = {"trans": trans, "lower": lower, "unit_diagonal": unit}
                    expected = scipy.linalg.solve_triangular(a, b, **how)
                    assert_same(linalg.solve_triangular(a, b, **how), expected, what=str(how))
        symmetric = numpy.triu(a) + numpy.triu(a, 1).T
        solved = linalg.solve(numpy.triu(a), b, assume_a="sym")
        assert_same(solved, numpy.linalg.solve(symmetric, b))
        for trans in (0, 1, 2):
            expected = scipy.linalg.lu_solve(scipy.linalg.lu_factor(a), b, trans)
            assert_same(linalg.lu_solve(linalg.lu_factor(a), b, trans), expected)
    for shape in ((3, 3), (4, 2), (2, 4)):
        x = normal(*shape, kind=kind)
        assert_same(linalg.lu(x), scipy.linalg.lu(x))
        assert_same(linalg.lu(x, permute_l=True), scipy.linalg.lu(x, permute_l=True))
    assert_same(linalg.det(a), scipy.linalg.det(a))
    assert_same(linalg.inv(a), scipy.linalg.inv(a))
    assert_same(linalg.cholesky(p), scipy.linalg.cholesky(p))


def test_derivatives_of_systems() -> None:
    a, b, p = normal(3, 3) + 3 * numpy.eye(3), normal(3, 2), positive(3)
    check_derivatives(lambda a, b: linalg.lu_solve(linalg.lu_factor(a), b, 1), a, b)
    check_derivatives(lambda a, b: linalg.solve_triangular(a, b, trans=1), a, b, order=2)
    check_derivatives(lambda a: flat(linalg.lu(a)[1:]), normal(4, 2))
    check_derivatives(lambda a, b: linalg.solve(a @ a.T, b, assume_a="pos"), p, b)
    check_derivatives(lambda a, b: linalg.solve(a, b, lower=True, assume_a="sym"), a, b)


# decompositions -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["real", "complex"])
def test_decompositions(kind: str) -> None:
    a, b = normal(4, 4, kind=kind), positive(4, kind)
    h = a + adjoint(a)
    for lower in (True, False):
        half = numpy.tril(h) if lower else numpy.triu(h)
        w, v = map(numpy.asarray, linalg.eigh(half, lower=lower))
        assert_same(w, scipy.linalg.eigvalsh(h))
        assert_same(h @ v, v * w)
        for type in (1, 2, 3):
            other = numpy.tril(b) if lower else numpy.triu(b)
            w, v = map(numpy.asarray, linalg.eigh(half, other, lower=lower, type=type))
            assert_same(w, scipy.linalg.eigvalsh(h, b, type=type))
            left = {1: h @ v, 2: h @ b @ v, 3: b @ h @ v}[type]
            assert_same(left, (b @ v if type == 1 else v) * w)
    form, q = map(numpy.asarray, linalg.hessenberg(a, calc_q=True))
    assert_same(form, scipy.linalg.hessenberg(a))
    assert_same(q @ form @ adjoint(q), a)
    for output in ("real", "complex"):
        assert_same(linalg.schur(a, output), scipy.linalg.schur(a, output))
    for shape in ((4, 4), (5, 3), (3, 5)):
        x = normal(*shape, kind=kind)
        for mode in ("full", "economic", "r"):
            for pivoting in (False, True):
                expected = scipy.linalg.qr(x, mode=mode, pivoting=pivoting)
                assert_same(linalg.qr(x, mode=mode, pivoting=pivoting), expected, what=mode)
        c = normal(2, shape[0], seed=1, kind=kind)
        assert_same(linalg.qr_multiply(x, c), scipy.linalg.qr_multiply(x, c))
        k = min(shape)
        for conjugate in (False, True):
            ours = linalg.qr_multiply(x, c[:, :k].T, "left", conjugate=conjugate)
            expected = scipy.linalg.qr(x, mode="economic")[0]
            assert_same(ours[0], (expected.conj() if conjugate else expected) @ c[:, :k].T)
        for side in ("left", "right"):
            for method in ("qdwh", "svd"):
                u, p = linalg.polar(x, side, method=method)
                assert_same((u, p), scipy.linalg.polar(x, side), what=f"{shape} {side} {method}")
        u, s, vh = map(numpy.asarray, linalg.svd(x, full_matrices=False))
        assert_same(u * s @ vh, x)
    t, z = scipy.linalg.schur(normal(5, 5))
    assert_same(linalg.rsf2csf(t, z), scipy.linalg.rsf2csf(t, z))


def test_tridiagonal_eigenvalues() -> None:
    d, e = normal(5), normal(4, seed=1)
    for select, range in (("a", None), ("i", (1, 3)), ("v", (-1.0, 1.0))):
        expected = scipy.linalg.eigh_tridiagonal(
            d, e, eigvals_only=True, select=select, select_range=range
        )
        how: Any = {"select": select, "select_range": range}
        assert_same(linalg.eigh_tridiagonal(d, e, eigvals_only=True, **how), expected)
        w, v = map(numpy.asarray, linalg.eigh_tridiagonal(d, e, **how))
        full = numpy.diag(d) + numpy.diag(e, 1) + numpy.diag(e, -1)
        assert_same(full @ v, v * w)
    check_derivatives(lambda d, e: linalg.eigh_tridiagonal(d, e, eigvals_only=True), d, e)


# functions of matrices ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["real", "complex"])
def test_functions_of_matrices(kind: str) -> None:
    a, b = normal(4, 4, kind=kind), normal(3, 3, seed=1, kind=kind)
    for scale in (1e-3, 1.0, 20.0):
        assert_same(linalg.expm(scale * a), scipy.linalg.expm(scale * a), rtol=1e-5)
    assert numpy.isnan(numpy.asarray(linalg.expm(1e3 * a, max_squarings=2))).all()
    assert_same(linalg.expm_frechet(a, a.T), scipy.linalg.expm_frechet(a, a.T))
    right = a + 4 * numpy.eye(4)
    assert_same(linalg.sqrtm(right), scipy.linalg.sqrtm(right).astype(complex))
    assert_same(linalg.funm(a, np.sin), scipy.linalg.sinm(a).astype(complex))
    assert float(linalg.funm(a, np.sin, disp=False)[1]) < 1e-10
    c = normal(4, 3, seed=2, kind=kind)
    for method in ("schur", "eigen"):
        solved = linalg.solve_sylvester(a, b, c, method=method)
        assert_same(solved, scipy.linalg.solve_sylvester(a, b, c))
    eye = numpy.eye(2)
    assert numpy.isnan(numpy.asarray(linalg.solve_sylvester(eye, -eye, eye))).all()


def test_derivatives_of_functions() -> None:
    a, b, c = normal(3, 3), normal(2, 2, seed=1), normal(3, 2, seed=2)
    check_derivatives(linalg.expm, a, order=2)
    a = a + 4 * numpy.eye(3)
    check_derivatives(lambda a: flat([linalg.sqrtm(a)]), a, rtol=1e-5)
    check_derivatives(linalg.solve_sylvester, a, b, c, order=2, rtol=1e-5)
    check_derivatives(lambda a: flat(linalg.polar(a)), normal(4, 2))
    check_derivatives(lambda a: flat(linalg.polar(a, "left")), normal(2, 3))
    check_derivatives(lambda a: flat(linalg.qr_multiply(a, c[:, 0], pivoting=True)[:2]), a)
    values = lambda a, b: linalg.eigh(a, b @ b.T, eigvals_only=True)
    check_derivatives(values, a + a.T, a + 2 * numpy.eye(3))


def test_batching_and_jit() -> None:
    a = normal(2, 3, 3)
    for f in (linalg.expm, linalg.sqrtm, lambda a: linalg.rsf2csf(*linalg.schur(a))[0],
              lambda a: linalg.hessenberg(a, calc_q=True)[1], lambda a: linalg.polar(a)[1],
              lambda a: linalg.lu(a)[1]):  # fmt: skip
        check_batch(f, a)
        assert_same(f(a), numpy.stack([numpy.asarray(f(x)) for x in a]))
    check_batch(linalg.solve_sylvester, a, normal(2, 2, 2, seed=1), normal(2, 3, 2, seed=2))
    loss = lambda a: np.sum(linalg.expm(a) @ linalg.toeplitz(a[0]))
    gradient = overt.grad(loss)
    assert_same(overt.jit(gradient)(a[0]), gradient(a[0]))
    assert_same(overt.vmap(gradient)(a), numpy.stack([numpy.asarray(gradient(x)) for x in a]))
    assert linalg.expm(numpy.eye(2, dtype="float32")).dtype == "float32"


@pytest.mark.parametrize(
    "call, kind, message",
    [
        (lambda: linalg.eigh(numpy.eye(2), eigvals=(0, 1)), NotImplementedError, "slice"),
        (lambda: linalg.hadamard(3), ValueError, "power of 2"),
        (lambda: linalg.dft(3, "x"), ValueError, "scale"),
        (lambda: linalg.solve(numpy.eye(2), numpy.ones(3)), ValueError, "fit"),
        (lambda: linalg.solve(numpy.eye(2), numpy.ones(2), assume_a="x"), ValueError, "assume_a"),
        (lambda: linalg.schur(numpy.eye(2), "x"), ValueError, "output"),
        (lambda: linalg.qr(numpy.eye(2), mode="x"), ValueError, "mode"),
        (lambda: linalg.polar(numpy.eye(2), "x"), ValueError, "side"),
        (lambda: linalg.leslie([1.0], [1.0]), ValueError, "one survival rate less"),
        (lambda: linalg.expm(numpy.ones((2, 3))), ValueError, "square"),
        (lambda: linalg.eigh_tridiagonal([1.0], [1.0]), ValueError, "fit"),
        (
            lambda: overt.grad(lambda a: np.real(linalg.funm(a, np.sin)[0, 0]))(np.eye(2)),
            NotImplementedError,
            "no derivative",
        ),
    ],
)
def test_refusals(call: Any, kind: type, message: str) -> None:
    with pytest.raises(kind, match=message):
        call()
