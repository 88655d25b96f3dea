"""Linear algebra for TPU: routines of XLA's compiler, most of which its CPU compiler has too."""

import numpy
import pytest

import overt
import overt.numpy as np
from overt.backend import execute

RNG = numpy.random.RandomState(0)


def lowered(fn, *args):
    return overt.jit(fn).trace(*args).lower(lowering_platforms=("tpu",))


def run_for_tpu(fn, *args):
    """What a program lowered for TPU computes, compiled for this CPU."""
    made = lowered(fn, *args)
    program = made.program
    module, callbacks = program.module("tpu", contained=True)
    assert not callbacks
    executable = execute.compile_module(module, program.out)
    buffers = executable([np.asarray(x).buffer for x in args])
    return [execute.to_numpy(x) for x in buffers]


@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (2, 3, 5)])
def test_qr(shape):
    a = RNG.randn(*shape).astype(numpy.float32)
    q, r = run_for_tpu(np.linalg.qr, a)
    k = min(shape[-2:])
    numpy.testing.assert_allclose(q @ r, a, atol=1e-5)
    eyes = numpy.broadcast_to(numpy.eye(k), (*shape[:-2], k, k))
    numpy.testing.assert_allclose(numpy.swapaxes(q, -1, -2) @ q, eyes, atol=1e-5)
    numpy.testing.assert_allclose(r, numpy.triu(r), atol=1e-5)


@pytest.mark.parametrize("uplo", ["L", "U"])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_eigh(uplo, n):
    a = RNG.randn(2, n, n).astype(numpy.float32)
    w, v = run_for_tpu(lambda a: np.linalg.eigh(a, UPLO=uplo, symmetrize_input=False), a)
    triangle = numpy.tril(a) if uplo == "L" else numpy.triu(a)
    strict = numpy.tril(a, -1) if uplo == "L" else numpy.triu(a, 1)
    full = triangle + numpy.swapaxes(strict, -1, -2)
    numpy.testing.assert_allclose(w, numpy.linalg.eigvalsh(full), atol=1e-4)
    numpy.testing.assert_allclose(full @ v, v * w[:, None, :], atol=1e-4)


def test_each_routine_has_its_name():
    a = overt.ShapeDtypeStruct((4, 4), np.float32)
    for fn, names in (
        (np.linalg.det, ["LuDecomposition"]),
        (overt.grad(lambda a: np.linalg.slogdet(a)[1]), ["LuDecomposition"]),
        (np.linalg.inv, ["LuDecomposition"]),
        (np.linalg.qr, ["Qr", "ProductOfElementaryHouseholderReflectors"]),
        (np.linalg.eigh, ["Eigh"]),
    ):
        text = lowered(fn, a).as_text()
        assert all(f"@{name}" in text for name in names) and "lapack" not in text


@pytest.mark.parametrize(
    "fn",
    [
        np.linalg.svd,
        np.linalg.eigvals,
        overt.scipy.linalg.schur,
        lambda a: overt.lax.linalg.tridiagonal_solve(a[0], a[1], a[2], a),
        lambda a: overt.scipy.linalg.qr(a, pivoting=True),
        lambda a: overt.lax.linalg.hessenberg(a),
    ],
)
def test_what_has_no_routine_is_refused(fn):
    with pytest.raises(NotImplementedError, match="no routine on tpu; compute it on the CPU"):
        lowered(fn, overt.ShapeDtypeStruct((4, 4), np.float32)).as_text()
