"""`lax.map` with `batch_size`: as without it, in every transformation."""

from __future__ import annotations

import numpy
import pytest

import overt
import overt.numpy as np
from overt import lax

X = numpy.arange(14, dtype="float32").reshape(7, 2)


def branching(x):
    if x[0] > 4:
        return {"y": x * 2, "s": np.sin(x).sum()}
    return {"y": x, "s": np.sum(x**2)}


def weighed(x, size):
    out = lax.map(branching, x, batch_size=size)
    return np.sum(out["y"] ** 2) + np.sum(out["s"] * np.arange(7.0))


@pytest.mark.parametrize("size", [1, 3, 7, 10])
def test_as_one_row_after_the_other(size):
    plain, batched = lax.map(branching, X), lax.map(branching, X, batch_size=size)
    assert numpy.allclose(plain["y"], batched["y"]) and numpy.allclose(plain["s"], batched["s"])
    gradient = overt.grad(lambda x: weighed(x, None))(X)
    assert numpy.allclose(overt.grad(lambda x: weighed(x, size))(X), gradient, rtol=1e-5)
    assert numpy.allclose(overt.jit(overt.grad(lambda x: weighed(x, size)))(X), gradient, rtol=1e-5)
    tangent = overt.jvp(lambda x: weighed(x, size), (X,), (numpy.ones_like(X),))[1]
    assert tangent == pytest.approx(float(gradient.sum()), rel=1e-5)
    lanes = overt.vmap(lambda x: lax.map(branching, x, batch_size=size)["s"])(np.stack([X, X + 1]))
    assert numpy.allclose(lanes[1], lax.map(branching, X + 1)["s"])


def doubled(x):
    return lax.map(lambda r: r * 2, x, batch_size=7)


def test_rows_of_a_block_are_taken_at_once():
    (product,) = [x for x in overt.jit(doubled).lower(X).as_text().splitlines() if "multiply" in x]
    assert "tensor<7x2xf32>" in product


def test_a_captured_value_and_a_bad_size():
    total = overt.grad(lambda k: np.sum(lax.map(lambda r: r.sum() * k, X, batch_size=3)))(2.0)
    assert total == X.sum()
    with pytest.raises(ValueError, match="batch_size must be 1 or more, not 0"):
        lax.map(branching, X, batch_size=0)
