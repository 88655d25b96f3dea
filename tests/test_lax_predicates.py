"""The test of `lax.while_loop` must be one bool; it is the same loop under every transformation."""

from __future__ import annotations

import pytest

import overt
import overt.numpy as np
from overt import lax


@pytest.mark.parametrize(
    "test",
    [lambda x: x, lambda x: np.array([True]), lambda x: 1, lambda x: np.ones(2) < x],
    ids=["float", "shape (1,)", "int", "shape (2,)"],
)
@pytest.mark.parametrize("staged", [False, True])
def test_predicates_that_are_not_one_bool_are_refused(test, staged):
    loop = lambda x: lax.while_loop(test, lambda v: v * 2.0, x)
    with pytest.raises(TypeError, match="one bool"):
        (overt.jit(loop) if staged else loop)(1.0)


def test_loops_go_on_while_one_bool_holds():
    loop = lambda x: lax.while_loop(lambda v: v < 10.0, lambda v: v * 2.0, x)
    for run in (loop, overt.jit(loop)):
        assert float(run(1.5)) == 12.0
    assert float(overt.grad(loop)(1.5)) == 8.0
    assert float(overt.jit(overt.grad(loop))(1.5)) == 8.0
    assert overt.vmap(loop)(np.array([1.5, 6.0, 11.0])).tolist() == [12.0, 12.0, 11.0]
    assert overt.vmap(overt.grad(loop))(np.array([1.5, 6.0])).tolist() == [8.0, 2.0]
    assert float(lax.while_loop(lambda v: True and bool(v < 4.0), lambda v: v + 1.0, 0.0)) == 4.0


@pytest.mark.parametrize("xs", [3.0, (np.ones(3), 2.0)])
def test_scalars_have_no_rows(xs):
    with pytest.raises(ValueError, match="holds a scalar"):
        lax.scan(lambda c, x: (c, x), 0.0, xs)
    with pytest.raises(ValueError, match="holds a scalar"):
        lax.map(lambda x: x, xs)
