"""`numpy.linalg`: what its parameters mean, empty matrices, and its rules as generated text."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from numeric import assert_same, check_derivatives, difference

import overt
import overt.numpy as np
from overt.numpy import linalg

pytestmark = pytest.mark.usefixtures("x64")


def normal(*shape: int, seed: int = 0, kind: str = "real") -> Any:
    rng = numpy.random.default_rng(seed)
    x = rng.normal(size=shape)
    return x + 1j * rng.normal(size=shape) if kind == "complex" else x


def adjoint(x: Any) -> Any:
    return numpy.conj(numpy.swapaxes(x, -1, -2))


# what parameters mean -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["real", "complex"])
@pytest.mark.parametrize("batch", [(), (2,)])
def test_parameters(kind: str, batch: Any) -> None:
    a, t = normal(*batch, 3, 3, kind=kind), normal(*batch, 4, 2, kind=kind)
    h = a + adjoint(a)
    for method in ("lu", "qr"):
        assert_same(linalg.slogdet(a, method=method), tuple(numpy.linalg.slogdet(a)), what=method)
    for rtol in (None, 0.5):
        assert_same(linalg.matrix_rank(t, rtol), numpy.linalg.matrix_rank(t, rtol=rtol))
        assert_same(
            linalg.matrix_rank(h, rtol, hermitian=True),
            numpy.linalg.matrix_rank(h, rtol=rtol, hermitian=True),
        )
        assert_same(linalg.pinv(t, rtol), numpy.linalg.pinv(t, rtol=rtol))
        assert_same(linalg.pinv(h, rtol, True), numpy.linalg.pinv(h, rtol=rtol, hermitian=True))
    assert_same(linalg.pinv(t, rcond=0.5), numpy.linalg.pinv(t, 0.5))
    assert_same(linalg.matrix_rank(t, tol=1.0), numpy.linalg.matrix_rank(t, tol=1.0))
    for side in ("L", "U"):
        half = numpy.tril(h) if side == "L" else numpy.triu(h)
        values = linalg.eigvalsh(half, side, symmetrize_input=False)
        assert_same(values, numpy.linalg.eigvalsh(h, side))
        values, vectors = map(numpy.asarray, linalg.eigh(half, side, False))
        assert_same(h @ vectors, vectors * values[..., None, :])
    u, s, vh = map(numpy.asarray, linalg.svd(h, hermitian=True))
    assert_same(u * s[..., None, :] @ vh, h)
    assert_same(s, numpy.linalg.svd(h, compute_uv=False, hermitian=True))
    u, s, vh = linalg.svd(t, full_matrices=False, subset_by_index=(0, 1))
    assert (u.shape[-1], s.shape[-1], vh.shape[-2]) == (1, 1, 1)
    packed, factors = linalg.qr(a, "raw")
    raw = numpy.linalg.qr(a.reshape(-1, 3, 3)[0], "raw")
    assert_same(numpy.asarray(packed).reshape(-1, 3, 3)[0], raw[0])
    assert_same(numpy.asarray(factors).reshape(-1, 3)[0], raw[1])
    b = normal(*batch, 3, 2, seed=1, kind=kind)
    assert_same(linalg.solve(a, b), numpy.linalg.solve(a, b))
    assert_same(linalg.solve(a, b[..., 0] if not batch else b[0, :, 0]).shape, (*batch, 3))


def test_least_squares_residuals() -> None:
    for a in (normal(5, 3), normal(3, 5), normal(4, 1) @ normal(1, 3)):
        for b in (normal(a.shape[0], seed=1), normal(a.shape[0], 2, seed=1)):
            for rcond in (None, 0.3):
                ours = linalg.lstsq(a, b, rcond, numpy_resid=True)
                for mine, theirs in zip(ours, numpy.linalg.lstsq(a, b, rcond), strict=True):
                    assert_same(mine, theirs)
                residual = numpy.abs(b - a @ numpy.asarray(ours[0])) ** 2
                assert_same(np.ravel(linalg.lstsq(a, b, rcond)[1]), numpy.ravel(residual.sum(0)))


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (2, 0, 0)])
def test_empty(shape: Any) -> None:
    a = numpy.zeros(shape)
    for full in (True, False):
        ours = linalg.svd(a, full_matrices=full)
        assert_same(ours, tuple(numpy.linalg.svd(a, full_matrices=full)))
    assert_same(linalg.pinv(a), numpy.linalg.pinv(a))
    for order in ("fro", "nuc", 1, 2, numpy.inf):
        assert_same(linalg.matrix_norm(a, ord=order), numpy.zeros(shape[:-2]), what=str(order))
    assert_same(linalg.vector_norm(a, axis=-1), numpy.zeros(shape[:-1]))
    if shape[-1] == shape[-2]:
        assert_same(linalg.det(a), numpy.linalg.det(a))
        assert_same(linalg.slogdet(a), tuple(numpy.linalg.slogdet(a)))
        for f in (linalg.inv, linalg.cholesky, lambda a: linalg.matrix_power(a, -2)):
            assert f(a).shape == shape
        assert linalg.eig(a)[1].shape == linalg.eigh(a)[1].shape == shape
    if len(shape) == 2:
        x, residuals, rank, s = linalg.lstsq(a, numpy.zeros((shape[0], 2)))
        assert x.shape == (shape[1], 2) and int(rank) == 0 and s.shape == (0,)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: linalg.pinv(numpy.eye(2), 0.1, rcond=0.1), "not both"),
        (lambda: linalg.matrix_rank(numpy.eye(2), 0.1, tol=0.1), "not both"),
        (lambda: linalg.slogdet(numpy.eye(2), method="x"), "method"),
        (lambda: linalg.qr(numpy.eye(2), "x"), "mode"),
        (lambda: linalg.outer(numpy.eye(2), numpy.ones(2)), "two vectors"),
        (lambda: linalg.cross(numpy.ones(2), numpy.ones(2)), "length 3"),
        (lambda: linalg.norm(numpy.ones((2, 2)), 3), "no norm of matrices"),
        (lambda: linalg.norm(numpy.ones(2), "fro"), "no norm of vectors"),
        (lambda: linalg.tensorinv(numpy.eye(2), 0), "positive"),
        (lambda: linalg.lstsq(numpy.eye(2), numpy.ones(3)), "fit"),
    ],
)
def test_refusals(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_one_triangle_alone_counts() -> None:
    p = normal(3, 3)
    p = p @ p.T + 3 * numpy.eye(3)

    def check(f: Any) -> None:
        check_derivatives(lambda a: np.sum(np.sin(f(a))), p)

    for upper in (False, True):
        check(lambda a: linalg.cholesky(a, upper=upper, symmetrize_input=False))  # noqa: B023
        side = "U" if upper else "L"
        check(lambda a: linalg.eigvalsh(a, side, symmetrize_input=False))  # noqa: B023
        check(lambda a: linalg.eigh(a, side, False)[1] ** 2)  # noqa: B023
        check(lambda a: overt.lax.linalg.eigh(a, lower=not upper, symmetrize_input=False)[1])  # noqa: B023
        check(lambda a: overt.scipy.linalg.cho_factor(a, not upper)[0])  # noqa: B023


# rules as text ------------------------------------------------------------------------------------


def check_text(f: Any, *args: Any, absent: str = "vjp_of") -> None:
    """Gradients and tangents as generated text agree with differences along a direction."""
    count = tuple(range(len(args)))
    dots = [normal(*x.shape, seed=7 + k) for k, x in enumerate(args)]
    expected = difference(f, args, dots, 1e-4)
    gradient = overt.grad(f, argnums=count)
    text = overt.source(gradient)
    assert absent not in text, text
    bars = gradient(*args)
    total = sum(numpy.sum(numpy.asarray(b) * d) for b, d in zip(bars, dots, strict=True))
    assert all(b.shape == x.shape for b, x in zip(bars, args, strict=True))
    assert_same(total, expected, 1e-6, "gradient")
    assert_same(overt.jvp(f, args, tuple(dots))[1], expected, 1e-6, "tangent")


def test_einsum_as_text() -> None:
    x, y, a = normal(2, 3), normal(3, 4, seed=1), normal(3, 3, seed=2)
    check_text(lambda x, y: np.sum(np.sin(np.einsum("ij,jk->ik", x, y))), x, y)
    check_text(lambda x, y: np.sum(np.sin(np.einsum("ij,jk", x, y))), x, y)
    check_text(lambda x, y: np.sum(np.sin(np.einsum("...j,jk->...k", x, y))), x, y)
    check_text(lambda a: np.sin(np.einsum("ii", a)) + np.einsum("ij->", a) ** 2, a)
    check_text(lambda x, a: np.sum(np.sin(np.einsum("ij,kj->ik", x, a))), normal(2, 1), a)
    check_text(
        lambda x, a, y: np.einsum("ij,jk,kl->", x, a, y) * np.sum(np.einsum("i,j->ji", x[0], y[0])),
        x, a, y,
    )  # fmt: skip
    gradient = overt.grad(lambda x, y: np.sum(np.einsum("ij,jk->ik", x, y)))
    assert 'np.einsum("ik,jk->ij"' in overt.source(gradient)
    second = overt.grad(lambda x, y: np.sum(gradient(x, y) * x), argnums=1)
    assert_same(second(x, y), numpy.repeat(x.sum(0)[:, None], 4, 1))


def test_products_as_text() -> None:
    x, y = normal(2, 3), normal(4, 3, seed=1)
    check_text(lambda x, y: np.sum(np.sin(np.inner(x, y))), x, y)
    check_text(lambda x, y: np.vdot(x, y[:2]) ** 2, x, y)
    check_text(lambda x, y: np.sum(np.sin(np.kron(x, y))), x, y)
    check_text(lambda x, y: np.sum(np.sin(np.kron(x[0], y))), x, y)
    check_text(lambda x, y: np.sum(np.sin(np.cross(x, y[:2]))), x, y)
    check_text(lambda x, y: np.sum(np.sin(np.cross(x[:, :2], y[0], axisc=0))), x, y)
    check_text(lambda x, y: np.sum(np.sin(np.cross(x[:, :2], y[0, :2]))), x, y)
    check_text(lambda x, y: np.sum(np.sin(linalg.cross(x.T, y[:2].T, axis=0))), x, y)


def test_matrices_as_text() -> None:
    a, t = normal(3, 3) + 3 * numpy.eye(3), normal(4, 2)

    def positive(a: Any) -> Any:
        return a @ a.T

    check_text(lambda a: np.sum(np.sin(linalg.cholesky(positive(a)))), a)
    check_text(lambda a: np.sum(np.sin(linalg.cholesky(positive(a), upper=True))), a)
    check_text(lambda a: np.sum(np.sin(linalg.matrix_power(a, -2))), a)
    check_text(lambda a: np.sin(linalg.trace(a, offset=1)), a)
    check_text(lambda t: np.sum(np.sin(linalg.pinv(t))), t)
    check_text(lambda t: np.sum(np.sin(linalg.svd(t, compute_uv=False))), t)
    check_text(lambda a: np.sum(np.sin(linalg.eigvalsh(a + a.T))), a)
    check_text(lambda a: np.sum(np.sin(np.real(linalg.eig(a)[0]))), a)

    def by_svd(t: Any) -> Any:
        u, s, vh = linalg.svd(t, full_matrices=False)
        return np.sum(np.sin(u * s**2 @ vh))

    def by_hermitian_svd(a: Any) -> Any:
        u, s, vh = linalg.svd(a + a.T, hermitian=True)
        return np.sum(np.sin(u * s**2 @ vh))

    check_text(by_svd, t)
    check_text(by_hermitian_svd, a)


def test_norms_as_text() -> None:
    x = normal(3, 4)
    for order in (None, 1, 2, numpy.inf, "nuc"):
        check_text(lambda x, p=order: linalg.norm(x, p), x)  # noqa: B023
    check_text(lambda x: np.sum(linalg.norm(x, axis=1)), x)
    check_text(lambda x: linalg.vector_norm(x) * linalg.matrix_norm(x, ord=2), x)
    check_text(lambda x: np.sum(linalg.vector_norm(x, axis=0, ord=3)), x)


def test_cotangents_of_items_of_named_results() -> None:
    def total(a: Any) -> Any:
        return sum([np.sum(np.sin(part)) for part in linalg.qr(a)])

    a, d = normal(3, 3), normal(3, 3, seed=1)
    late = lambda a: sum([np.sum(np.sin(part)) for part in getattr(linalg, "q" + "r")(a)])
    for f in (total, late):  # the latter's rule is looked up when it runs
        gradient = overt.grad(f)(a)
        assert_same(np.sum(gradient * d), difference(f, [a], [d], 1e-4))


@pytest.mark.parametrize("name", ["slogdet", "eigh", "qr", "eig", "svd"])
def test_tangents_of_named_results(name: str) -> None:
    function = getattr(linalg, name)
    a, a_dot = normal(3, 3), normal(3, 3, seed=1)
    for f in (function, lambda a: function(a)):
        out, dot = overt.jvp(f, (a,), (a_dot,))
        assert type(dot) is type(out) and hasattr(dot, "_fields")
        again = overt.jit(lambda a: overt.jvp(f, (a,), (a_dot,))[1])(a)  # noqa: B023
        assert_same(tuple(again), tuple(numpy.asarray(x) for x in dot))
