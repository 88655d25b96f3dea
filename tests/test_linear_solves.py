"""Linear equations by iteration: solutions as NumPy's, derivatives as those of the solution."""

from __future__ import annotations

import numpy
import pytest
from numpy.testing import assert_allclose

import overt
import overt.numpy as np
from overt import lax
from overt.scipy.sparse.linalg import bicgstab, cg, gmres

RNG = numpy.random.default_rng(0)
SQUARE = RNG.normal(size=(6, 6))
MATRICES = {
    cg: SQUARE @ SQUARE.T + 6 * numpy.eye(6),
    bicgstab: SQUARE + 6 * numpy.eye(6),
    gmres: SQUARE + 6 * numpy.eye(6),
}
B = RNG.normal(size=6)
SOLVERS = pytest.mark.parametrize("solver", MATRICES, ids=lambda f: f.__name__)
pytestmark = pytest.mark.usefixtures("x64")


@SOLVERS
def test_solutions_as_numpy(solver):
    A = MATRICES[solver]
    wanted = numpy.linalg.solve(A, B)
    x, info = solver(A, B, tol=1e-12)
    assert info is None
    assert_allclose(x, wanted, rtol=1e-9)
    inverse = numpy.linalg.inv(A)
    for how in ({"M": inverse}, {"x0": wanted + 0.1}, {"M": lambda x: x / 7, "atol": 1e-12}):
        assert_allclose(solver(A, B, **{"tol": 1e-12, **how})[0], wanted, rtol=1e-9)
    loose = numpy.asarray(solver(A, B, tol=1e-2)[0])
    assert 0 < numpy.linalg.norm(A @ loose - B) <= 1e-2 * numpy.linalg.norm(B)
    assert_allclose(solver(A, B, maxiter=0)[0], 0)
    jitted = overt.jit(lambda A, b: solver(A, b, tol=1e-12)[0])
    assert_allclose(jitted(A, B), wanted, rtol=1e-9)
    zero, _ = solver(A, numpy.zeros(6))
    assert_allclose(zero, 0)


@SOLVERS
def test_trees_and_complex_numbers(solver):
    A = MATRICES[solver]

    def product(tree):
        v = A @ np.concatenate([tree["u"], np.ravel(tree["v"])])
        return {"u": v[:2], "v": np.reshape(v[2:], (2, 2))}

    b = {"u": B[:2], "v": B[2:].reshape(2, 2)}
    x, _ = solver(product, b, tol=1e-12)
    assert_allclose(product(x)["v"], b["v"], rtol=1e-8)
    skew = 1j * (SQUARE - SQUARE.T)
    H, c = A + skew, B + 1j * B[::-1]
    assert_allclose(solver(H, c, tol=1e-12)[0], numpy.linalg.solve(H, c), rtol=1e-8)


@SOLVERS
def test_derivatives_of_the_solution(solver):
    A = MATRICES[solver]

    def energy(t, b, solve):
        return np.sum(np.cos(solve(t * t, b)))

    def by_iteration(shift, b):
        return solver(lambda x: A @ x + shift * x, b, tol=1e-13)[0]

    def exact(shift, b):
        return np.linalg.solve(A + shift * np.eye(6), b)

    def ours(t, b):
        return energy(t, b, by_iteration)

    def wanted(t, b):
        return energy(t, b, exact)

    for found, right in zip(overt.grad(ours, (0, 1))(0.5, B), overt.grad(wanted, (0, 1))(0.5, B),
                            strict=True):  # fmt: skip
        assert_allclose(found, right, rtol=1e-9)
    second = overt.grad(overt.grad(wanted))(0.5, B)
    assert_allclose(overt.jit(overt.grad(overt.grad(ours)))(0.5, B), second, rtol=1e-9)
    assert_allclose(overt.jvp(overt.grad(ours), (0.5, B), (1.0, 0 * B))[1], second, rtol=1e-9)
    shifts = numpy.array([0.5, 0.9])
    slopes = numpy.array([overt.grad(wanted)(t, B) for t in shifts])
    assert_allclose(overt.vmap(overt.grad(ours), (0, None))(shifts, B), slopes, rtol=1e-9)
    of_sum = overt.jit(overt.grad(lambda ts: np.sum(overt.vmap(ours, (0, None))(ts, B))))
    assert_allclose(of_sum(shifts), slopes, rtol=1e-9)


def test_a_start_and_a_preconditioner_have_no_derivative():
    A = MATRICES[gmres]

    def f(t):
        start = np.full(6, t)
        return np.sum(gmres(A, B, start, M=lambda x: x / (6 + t), tol=1e-13)[0])

    assert_allclose(overt.grad(f)(0.3), 0)
    assert_allclose(overt.jit(overt.grad(f))(0.3), 0)


def test_spaces_that_end_early_and_restarts():
    A = numpy.diag([1.0, 1.0, 2.0, 2.0, 5.0, 5.0])  # three dimensions are enough
    assert_allclose(gmres(A, B, tol=1e-12)[0], B / numpy.diag(A), rtol=1e-10)
    A = MATRICES[gmres]
    short, _ = gmres(A, B, tol=1e-11, restart=2, solve_method="incremental")
    assert_allclose(short, numpy.linalg.solve(A, B), rtol=1e-7)


def test_custom_linear_solve():
    A = MATRICES[gmres]

    def solve(matvec, b):
        return np.linalg.solve(A, b), np.sum(b)

    def back(matvec, b):
        return np.linalg.solve(A.T, b), np.sum(b)

    def f(b):
        x, aux = lax.custom_linear_solve(lambda x: A @ x, b, solve, back, has_aux=True)
        return np.sum(x**2), aux

    wanted = 2 * numpy.linalg.solve(A.T, numpy.linalg.solve(A, B))
    slope, aux = overt.grad(f, has_aux=True)(B)
    assert_allclose(slope, wanted, rtol=1e-10)
    assert_allclose(aux, B.sum())

    def one_way(b):
        return np.sum(
            lax.custom_linear_solve(lambda x: A @ x, b, lambda _, b: np.linalg.solve(A, b))
        )

    assert_allclose(overt.jvp(one_way, (B,), (B,))[1], numpy.linalg.solve(A, B).sum(), rtol=1e-10)
    with pytest.raises(TypeError, match="transpose_solve"):
        overt.grad(one_way)(B)


def test_arguments_are_checked():
    with pytest.raises(ValueError, match="square"):
        cg(SQUARE[:2], B)
    with pytest.raises(ValueError, match="structure"):
        cg(SQUARE, B, x0=B[:2])
    with pytest.raises(ValueError, match="solve_method"):
        gmres(SQUARE, B, solve_method="fast")
    with pytest.raises(ValueError, match="structure"):
        cg(lambda x: (x, x), B)
