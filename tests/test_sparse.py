"""Sparse arrays: what the dense ones give, under every transformation."""

from __future__ import annotations

import numpy
import pytest
import scipy.sparse
from numpy.testing import assert_allclose

import overt
import overt.numpy as np
from overt import lax
from overt.experimental import sparse
from overt.experimental.sparse import BCOO, BCSR

RNG = numpy.random.default_rng(0)
pytestmark = pytest.mark.usefixtures("x64")


def mostly_zero(*shape):
    return numpy.where(RNG.random(shape) < 0.4, RNG.normal(size=shape), 0)


DENSE = mostly_zero(4, 5)
VECTOR, ROWS = RNG.normal(size=5), RNG.normal(size=(5, 3))


def test_there_and_back():
    for n_batch, n_dense, nse in ((0, 0, None), (1, 0, None), (0, 1, None), (1, 1, 9), (2, 1, 3)):
        x = mostly_zero(3, 4, 2, 3)
        m = BCOO.fromdense(x, n_batch=n_batch, n_dense=n_dense, nse=nse)
        assert (m.n_batch, m.n_dense, m.n_sparse) == (n_batch, n_dense, 4 - n_batch - n_dense)
        if nse is None:
            assert_allclose(m.todense(), x)
            assert_allclose(m.transpose((2, 0, 3, 1)).todense(), x.transpose(2, 0, 3, 1))
    room = BCOO.fromdense(DENSE, nse=15)
    assert room.nse == 15
    assert_allclose(room.todense(), DENSE)
    jitted = overt.jit(lambda x: BCOO.fromdense(x, nse=20).T.todense())
    assert_allclose(jitted(DENSE), DENSE.T)
    with pytest.raises(overt.errors.StagingError, match="nse"):
        overt.jit(lambda x: sparse.bcoo_fromdense(x).todense())(DENSE)
    theirs = scipy.sparse.csr_matrix(DENSE)
    assert_allclose(BCOO.from_scipy_sparse(theirs).todense(), DENSE)
    assert_allclose(BCSR.from_scipy_sparse(theirs).todense(), DENSE)


def test_arithmetic_as_of_dense_arrays():
    other = mostly_zero(4, 5)
    m, w = BCOO.fromdense(DENSE, nse=18), BCOO.fromdense(other)
    for found, wanted in (
        (-m, -DENSE),
        (2 * m / 4, DENSE / 2),
        (m * VECTOR, DENSE * VECTOR),
        (m * w, DENSE * other),
        (m + w, DENSE + other),
        (m - w, DENSE - other),
        (1.5 + m, DENSE + 1.5),
        (m.sum(0), DENSE.sum(0)),
        (m.sum(), DENSE.sum()),
        (m.reshape(2, -1), DENSE.reshape(2, 10)),
        (m.T, DENSE.T),
        ((m + w).sum_duplicates(), DENSE + other),
        ((m + w).sum_duplicates(nse=20), DENSE + other),
        (m.T.sort_indices(), DENSE.T),
        (m.astype("float32"), DENSE),
    ):
        assert_allclose(sparse.todense(found), wanted, rtol=1e-6, atol=1e-12)
    assert (m + m).sum_duplicates().nse == numpy.count_nonzero(DENSE)
    assert m.T.sort_indices().indices[:5].tolist() == numpy.argwhere(DENSE.T)[:5].tolist()
    with pytest.raises(TypeError, match="todense"):
        np.sin(m)
    with pytest.raises(ValueError, match="added"):
        m + m.T


def test_products_as_of_dense_arrays():
    m, w = BCOO.fromdense(DENSE, nse=18), BCOO.fromdense(mostly_zero(5, 3))
    assert_allclose(m @ VECTOR, DENSE @ VECTOR)
    assert_allclose(m @ ROWS, DENSE @ ROWS)
    assert_allclose(ROWS.T @ m.T, ROWS.T @ DENSE.T)
    assert_allclose((m @ w).todense(), DENSE @ numpy.asarray(w.todense()), atol=1e-12)
    rows = BCSR.fromdense(DENSE)
    assert_allclose(rows @ VECTOR, DENSE @ VECTOR)
    assert_allclose(ROWS.T @ BCSR.fromdense(DENSE.T), ROWS.T @ DENSE.T)
    assert_allclose(rows.to_bcoo().todense(), DENSE)

    x, y = mostly_zero(2, 3, 4), RNG.normal(size=(4, 2, 5, 3))
    for numbers in (
        (((1,), (3,)), ((0,), (1,))),
        (((2, 1), (0, 3)), ((), ())),
        (((), ()), ((0,), (1,))),
        (((2, 1), (0, 3)), ((0,), (1,))),
    ):
        wanted = lax.dot_general(x, y, numbers)
        for n_batch in (0, 1):
            m = BCOO.fromdense(x, n_batch=n_batch, nse=12)
            found = sparse.bcoo_dot_general(m, y, dimension_numbers=numbers)
            assert_allclose(found, wanted, atol=1e-12)
        turned = tuple(pair[::-1] for pair in numbers)
        found = sparse.bcoo_dot_general(y, BCOO.fromdense(x), dimension_numbers=turned)
        assert_allclose(found, lax.dot_general(y, x, turned), atol=1e-12)
    both = sparse.bcoo_dot_general(
        BCOO.fromdense(x), BCOO.fromdense(y), dimension_numbers=(((1,), (3,)), ((0,), (1,)))
    )
    wanted = lax.dot_general(x, y, (((1,), (3,)), ((0,), (1,))))
    assert_allclose(both.todense(), wanted, atol=1e-12)
    with pytest.raises(ValueError, match="do not fit"):
        m = BCOO.fromdense(DENSE) @ numpy.ones(4)


def test_transformations():
    m = BCOO.fromdense(DENSE, nse=18)

    def energy(m, v):
        return np.sum(np.sin(m @ v))

    def dense_energy(x, v):
        return np.sum(np.sin(x @ v))

    by_matrix, by_vector = overt.grad(dense_energy, (0, 1))(DENSE, VECTOR)
    for run in (lambda f: f, overt.jit):
        assert_allclose(run(energy)(m, VECTOR), dense_energy(DENSE, VECTOR))
        assert_allclose(run(overt.grad(energy, 1))(m, VECTOR), by_vector)
        assert_allclose(run(overt.grad(lambda v: energy(m, v)))(VECTOR), by_vector)
        kept = numpy.asarray(by_matrix)[tuple(numpy.argwhere(DENSE).T)]
        slope = run(overt.grad(lambda data: energy(m.with_data(data), VECTOR)))(m.data)
        assert_allclose(slope[: len(kept)], kept)
        assert_allclose(run(overt.grad(energy, allow_int=True))(m, VECTOR).data, slope)
    second = overt.grad(lambda v: np.sum(overt.grad(lambda v: energy(m, v))(v) ** 2))
    wanted = overt.grad(lambda v: np.sum(overt.grad(lambda v: dense_energy(DENSE, v))(v) ** 2))
    assert_allclose(second(VECTOR), wanted(VECTOR))
    tangent = overt.jvp(lambda v: energy(m, v), (VECTOR,), (ROWS[:, 0],))[1]
    assert_allclose(tangent, numpy.dot(by_vector, ROWS[:, 0]))
    assert_allclose(overt.vmap(lambda v: m @ v)(ROWS.T), ROWS.T @ DENSE.T, atol=1e-12)
    scales = numpy.array([1.0, 2.0])
    found = overt.vmap(lambda s: (s * m).todense())(scales)
    assert_allclose(found, scales[:, None, None] * DENSE)


def test_operators_in_sparsified_functions():
    m = BCOO.fromdense(DENSE, nse=18)
    scale = RNG.normal(size=5)

    def energy(scale, data, dense):
        w = DENSE if dense else m.with_data(data)
        total = (w * scale + 2.0 * w / 3.0 - w * scale[0]) @ VECTOR
        rest = (w * scale).sum(0)
        return np.sum(np.cos(total)) + np.sum(np.sin(rest if dense else rest.todense()))

    sparsified = sparse.sparsify(energy)
    wanted = overt.grad(energy)(scale, m.data, True)
    for run in (lambda f: f, overt.jit):
        assert_allclose(run(overt.grad(lambda s: sparsified(s, m.data, False)))(scale), wanted)
    tangent = overt.jvp(lambda s: sparsified(s, m.data, False), (scale,), (scale,))[1]
    assert_allclose(tangent, numpy.dot(wanted, scale))
    rows = BCSR.fromdense(DENSE)
    slope = overt.grad(lambda v: np.sum(np.sin(rows @ v)))(VECTOR)
    assert_allclose(slope, overt.grad(lambda v: np.sum(np.sin(DENSE @ v)))(VECTOR))
    with pytest.raises(TypeError, match="sparsify"):
        overt.grad(lambda s: np.sum((m * s) @ VECTOR))(scale)


def test_compiled_gradients_leave_integers_out():
    gradient = overt.jit(overt.grad(lambda t: t[0] * 2.0, allow_int=True))((2.0, 3))
    assert gradient[0] == 2 and gradient[1].dtype == overt.dtypes.float0


def test_sparsify_and_what_is_made_of_nothing():
    f = sparse.sparsify(lambda m, v: 2 * m.T @ v)
    assert_allclose(f(BCOO.fromdense(DENSE), ROWS[:4]), 2 * DENSE.T @ ROWS[:4])
    assert_allclose(overt.jit(f)(BCOO.fromdense(DENSE), ROWS[:4]), 2 * DENSE.T @ ROWS[:4])
    for args in ((3,), (3, 5, 1), (4, 2, -1), (3, 3, 7)):
        assert_allclose(sparse.eye(*args).todense(), numpy.eye(*args))
        assert_allclose(sparse.eye(*args, sparse_format="bcsr").todense(), numpy.eye(*args))
    assert sparse.empty((2, 3)).todense().tolist() == [[0.0] * 3] * 2
    assert sparse.empty((2, 3, 4), n_batch=1, n_dense=1, nse=2).todense().shape == (2, 3, 4)
    assert repr(BCOO.fromdense(numpy.eye(2))) == "BCOO(float64[2,2], nse=2)"
