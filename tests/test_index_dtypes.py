"""Places and counts have the dtype of a Python int: int64 where 64 bits are on."""

from __future__ import annotations

import numpy
import pytest

import overt
import overt.numpy as np

X = numpy.array([[3.0, 1, 2], [0, 0, 5]])
FUNCTIONS = {
    "argsort": lambda m: m.argsort(X),
    "argmax": lambda m: m.argmax(X, axis=1),
    "nonzero": lambda m: m.nonzero(X),
    "flatnonzero": lambda m: m.flatnonzero(X),
    "argwhere": lambda m: m.argwhere(X),
    "where": lambda m: m.where(X),
    "lexsort": lambda m: m.lexsort((X[0], X[1])),
    "unique_inverse": lambda m: m.unique_inverse(X)[1:],
    "unique_counts": lambda m: m.unique_counts(X)[1:],
    "unique_all": lambda m: m.unique_all(X)[1:],
    "bincount": lambda m: m.bincount([1, 2, 2]),
    "tril_indices": lambda m: m.tril_indices(3),
    "intersect1d": lambda m: m.intersect1d(X[0], X[1], return_indices=True)[1:],
    "count_nonzero": lambda m: m.count_nonzero(m.asarray(X), axis=0),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("wide", [False, True])
def test_places_and_counts(name, wide):
    with overt.enable_x64(wide):
        ours, theirs = FUNCTIONS[name](np), FUNCTIONS[name](numpy)
        pairs = zip(ours, theirs, strict=True) if type(theirs) is tuple else [(ours, theirs)]
        for x, y in pairs:
            assert x.dtype == ("int64" if wide else "int32")
            assert numpy.array_equal(x, y)


def test_sizes_known_beforehand(x64):
    found = overt.jit(lambda x: np.nonzero(x, size=2)[1])(X)
    assert found.dtype == "int64" and numpy.array_equal(found, [0, 1])
    values, places = overt.lax.top_k(X[0], 2)  # as in JAX
    assert places.dtype == "int32" and numpy.array_equal(places, [0, 2])


def test_bfloat16_from_another_library():
    jax = pytest.importorskip("jax")
    theirs = jax.numpy.arange(6, dtype="bfloat16").reshape(2, 3)
    ours = np.from_dlpack(theirs)
    assert ours.dtype == np.bfloat16 and ours.shape == (2, 3)
    assert numpy.array_equal(numpy.asarray(ours, "float32"), numpy.arange(6.0).reshape(2, 3))
    assert jax.numpy.from_dlpack(ours + 1).sum() == 21
