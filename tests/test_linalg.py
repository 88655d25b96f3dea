"""Linear algebra: values against NumPy, derivatives against differences, batching."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from numeric import assert_same, check_batch, check_derivatives

import overt.runtime.numpy as np
from overt.runtime.numpy import linalg
from overt.runtime.record import vjp_call

pytestmark = pytest.mark.usefixtures("x64")


def normal(*shape: int, seed: int = 0) -> Any:
    return numpy.random.default_rng(seed).normal(size=shape)


def positive(n: int, *batch: int) -> Any:
    b = normal(*batch, n, n)
    return b @ numpy.swapaxes(b, -1, -2) + n * numpy.eye(n)


def gradient(f: Any, x: Any) -> Any:
    out, pullback = vjp_call(f, np.asarray(x))
    return numpy.asarray(pullback(np.ones(out.shape))[0])


# values -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch", [(), (2, 3)])
@pytest.mark.parametrize("kind", ["real", "complex"])
def test_values(batch: Any, kind: str) -> None:
    a, b = normal(*batch, 3, 3), normal(*batch, 3, 2, seed=1)
    if kind == "complex":
        a = a + 1j * normal(*batch, 3, 3, seed=2)
    h = a + numpy.swapaxes(a, -1, -2).conj()
    assert_same(linalg.solve(a, b), numpy.linalg.solve(a, b))
    assert_same(linalg.inv(a), numpy.linalg.inv(a))
    assert_same(linalg.det(a), numpy.linalg.det(a))
    assert_same(linalg.slogdet(a), tuple(numpy.linalg.slogdet(a)))
    assert_same(linalg.eigvalsh(h), numpy.linalg.eigvalsh(h))
    assert_same(linalg.svdvals(a[..., :2]), numpy.linalg.svd(a[..., :2], compute_uv=False))
    assert_same(linalg.pinv(a[..., :2]), numpy.linalg.pinv(a[..., :2]))
    assert_same(linalg.matrix_power(a, -3), numpy.linalg.matrix_power(a, -3))
    values, vectors = linalg.eigh(h)
    assert_same(
        h @ numpy.asarray(vectors), numpy.asarray(vectors) * numpy.asarray(values)[..., None, :]
    )
    values, vectors = map(numpy.asarray, linalg.eig(a))
    assert_same(a.astype(complex) @ vectors, vectors * values[..., None, :])
    spd = h @ h.conj().swapaxes(-1, -2) + numpy.eye(3)
    assert_same(linalg.cholesky(spd), numpy.linalg.cholesky(spd))


@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 4, 3)])
def test_factorizations(shape: Any) -> None:
    a = normal(*shape)
    for full in (False, True):
        u, s, vh = map(numpy.asarray, linalg.svd(a, full_matrices=full))
        assert_same(u.shape, numpy.linalg.svd(a, full_matrices=full)[0].shape)
        k = s.shape[-1]
        assert_same(u[..., :k] * s[..., None, :] @ vh[..., :k, :], a)
    for mode in ("reduced", "complete"):
        q, r = map(numpy.asarray, linalg.qr(a, mode))
        assert_same(q @ r, a)
        assert_same(
            numpy.swapaxes(q, -1, -2) @ q,
            numpy.broadcast_to(numpy.eye(q.shape[-1]), (*shape[:-2], q.shape[-1], q.shape[-1])),
        )
    assert_same(numpy.abs(linalg.qr(a, "r")), numpy.abs(numpy.linalg.qr(a, "r")))


def test_vectors_and_broadcasting() -> None:
    a = normal(3, 3)
    assert_same(linalg.solve(a, normal(3)), numpy.linalg.solve(a, normal(3)))
    assert_same(linalg.solve(normal(2, 3, 3), normal(3)).shape, (2, 3))
    assert_same(linalg.multi_dot([normal(2, 3), normal(3, 4), normal(4)]),
                numpy.linalg.multi_dot([normal(2, 3), normal(3, 4), normal(4)]))  # fmt: skip
    x, residuals, rank, s = linalg.lstsq(normal(5, 2), normal(5))
    ours = (x, np.ravel(residuals), rank, s)
    for mine, theirs in zip(ours, numpy.linalg.lstsq(normal(5, 2), normal(5)), strict=True):
        assert_same(mine, theirs)
    assert int(linalg.matrix_rank(numpy.outer([1.0, 2], [3.0, 4]))) == 1
    for p in (None, 1, -1, 2, -2, numpy.inf, -numpy.inf, "fro"):
        assert_same(linalg.cond(a, p), numpy.linalg.cond(a, p), what=str(p))
    e = numpy.eye(6).reshape(2, 3, 6) + 0.1 * normal(2, 3, 6)
    assert_same(linalg.tensorsolve(e, normal(2, 3)), numpy.linalg.tensorsolve(e, normal(2, 3)))
    assert_same(linalg.tensorinv(e.reshape(2, 3, 6)), numpy.linalg.tensorinv(e))
    with pytest.raises(ValueError, match="square"):
        linalg.inv(normal(2, 3))


ORDERS = [None, 1, -1, 2, -2, numpy.inf, -numpy.inf, "fro", "nuc"]


def test_norms() -> None:
    x, v = normal(3, 4), normal(5)
    for ord in ORDERS:
        assert_same(linalg.norm(x, ord), numpy.linalg.norm(x, ord), what=f"matrix {ord}")
        check_derivatives(lambda x, p=ord: linalg.norm(x, p), x)
        if not isinstance(ord, str):
            assert_same(linalg.norm(v, ord), numpy.linalg.norm(v, ord), what=f"vector {ord}")
            check_derivatives(lambda v, p=ord: linalg.norm(v, p), v)
    assert_same(linalg.norm(x, 3, 0), numpy.linalg.norm(x, 3, 0))
    assert_same(linalg.norm(x, axis=1, keepdims=True), numpy.linalg.norm(x, axis=1, keepdims=True))
    assert_same(linalg.norm(v, 0), numpy.linalg.norm(v, 0))
    check_derivatives(lambda x: linalg.norm(x, axis=1) * linalg.norm(x), x, order=2)
    for ord in (None, 1, 2, 3, numpy.inf, 0.5):
        assert_same(
            gradient(lambda v, p=ord: linalg.norm(v, p), numpy.zeros(3)),
            numpy.zeros(3),
            what=str(ord),
        )
    for ord in ("fro", 1, numpy.inf):
        zeros = numpy.zeros((2, 3))
        assert_same(gradient(lambda x, p=ord: linalg.norm(x, p), zeros), zeros, what=str(ord))
    check_batch(linalg.norm, normal(3, 2, 2))


# derivatives --------------------------------------------------------------------------------------


def test_solving() -> None:
    a, b = positive(3), normal(3)
    check_derivatives(linalg.solve, a, b, order=2)
    check_derivatives(linalg.solve, positive(3, 2), normal(2, 3, 2))
    check_derivatives(linalg.solve, normal(2, 3, 3), normal(3))
    check_derivatives(linalg.inv, a, order=2)
    check_derivatives(lambda a: linalg.pinv(a), normal(4, 2))
    check_derivatives(lambda a, b: linalg.lstsq(a, b)[0], normal(4, 2), normal(4))


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_determinants(n: int) -> None:
    a = normal(n, n)
    check_derivatives(linalg.det, a, order=2)
    check_derivatives(lambda a: linalg.slogdet(a)[1], a, order=2)
    singular = a.copy()
    singular[-1] = 2.0 * singular[0] if n > 1 else 0.0
    cofactors = numpy.array(
        [
            [
                (-1) ** (i + j) * numpy.linalg.det(numpy.delete(numpy.delete(singular, i, 0), j, 1))
                for j in range(n)
            ]
            for i in range(n)
        ]
    )
    numpy.testing.assert_allclose(gradient(linalg.det, singular), cofactors, atol=1e-6)
    assert_same(
        gradient(linalg.det, numpy.zeros((n, n))),
        numpy.ones((1, 1)) if n == 1 else numpy.zeros((n, n)),
    )


def test_cholesky() -> None:
    a = positive(3)
    check_derivatives(linalg.cholesky, a, order=2)
    check_derivatives(lambda a: linalg.cholesky(a, upper=True), positive(2, 2))
    logdet = gradient(lambda a: 2 * np.sum(np.log(np.diagonal(linalg.cholesky(a)))), a)
    assert_same(logdet, numpy.linalg.inv(a))
    assert numpy.isnan(numpy.asarray(linalg.cholesky(-a))).any()


@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4)])
def test_svd_and_qr(shape: Any) -> None:
    a = normal(*shape)

    def by_svd(a: Any) -> Any:
        u, s, vh = linalg.svd(a, full_matrices=False)
        return u * np.exp(-s) @ vh

    def by_qr(a: Any) -> Any:
        q, r = linalg.qr(a)
        return np.sin(q).sum() + np.sum(np.cos(r))

    check_derivatives(by_svd, a)
    check_derivatives(by_qr, a)
    check_derivatives(linalg.svdvals, a, order=2)
    if shape[0] == shape[1]:
        check_derivatives(by_svd, a, order=2, rtol=1e-5)
        check_derivatives(by_qr, a, order=2)


def test_eigenvalues() -> None:
    a = normal(3, 3) + numpy.diag([0.0, 3.0, 6.0])

    def spectrum(a: Any) -> Any:
        values, vectors = linalg.eigh(a + np.swapaxes(a, -1, -2))
        return np.sum(np.exp(-values) * vectors[..., 0, :] ** 2, axis=-1) + values[..., 2]

    check_derivatives(spectrum, a, order=2)
    check_derivatives(linalg.eigvalsh, a + a.T)
    check_derivatives(
        lambda a: np.real(linalg.eigvals(a)).sum() + np.sum(np.abs(linalg.eig(a)[1])), a
    )


def test_ties() -> None:
    eye = numpy.eye(3)
    assert_same(gradient(lambda a: np.sum(linalg.svdvals(a)), eye), eye)
    assert_same(gradient(lambda a: np.sum(linalg.eigvalsh(a)), eye), eye)
    assert_same(gradient(lambda a: np.sum(linalg.eigh(a)[0]), eye), eye)
    for vectors in (lambda a: linalg.eigh(a)[1], lambda a: linalg.svd(a)[0]):
        assert numpy.isnan(gradient(lambda a: np.sum(vectors(a)), eye)).any()  # noqa: B023


def test_refusals() -> None:
    with pytest.raises(NotImplementedError, match="full_matrices=False"):
        gradient(lambda a: linalg.svd(a)[0], normal(3, 2))
    with pytest.raises(NotImplementedError, match="reduced"):
        gradient(lambda a: linalg.qr(a, "raw")[0], normal(3, 2))


def test_batching() -> None:
    check_batch(linalg.solve, positive(3, 4), normal(4, 3))
    check_batch(linalg.inv, positive(3, 4))
    check_batch(linalg.det, normal(4, 3, 3))
    check_batch(linalg.cholesky, positive(3, 4))
    check_batch(lambda a: linalg.eigh(a)[0], positive(3, 4))
    check_batch(linalg.svdvals, normal(4, 3, 2))
    check_batch(lambda a: linalg.qr(a)[1], normal(4, 3, 2))
