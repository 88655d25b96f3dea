"""Products: values, derivatives and batching for every combination of ranks."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from numeric import assert_same, check_batch, check_derivatives

import overt
import overt.runtime.numpy as np

pytestmark = pytest.mark.usefixtures("x64")
RNG = numpy.random.default_rng(0)


def normal(*shape: int) -> Any:
    return RNG.normal(size=shape)


MATMUL = [
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((3,), (3, 2)),
    ((2, 3), (3, 4)),
    ((5, 2, 3), (3,)),
    ((3,), (5, 3, 2)),
    ((5, 2, 3), (3, 4)),
    ((2, 3), (5, 3, 4)),
    ((5, 2, 3), (5, 3, 4)),
    ((2, 1, 2, 3), (4, 3, 2)),
]


@pytest.mark.parametrize(("left", "right"), MATMUL)
def test_matmul(left: Any, right: Any) -> None:
    x, y = normal(*left), normal(*right)
    assert_same(np.matmul(x, y), x @ y)
    check_derivatives(np.matmul, x, y, order=1)


def test_matmul_second_order_and_batch() -> None:
    check_derivatives(lambda x, y: np.sin(x) @ (y * y), normal(2, 3), normal(3, 2), order=2)
    check_batch(np.matmul, normal(4, 2, 3), normal(4, 3, 2))
    check_batch(np.matmul, normal(4, 3), normal(4, 3))
    check_batch(np.matmul, normal(4, 5, 2, 3), normal(4, 3, 2))


def test_errors() -> None:
    with pytest.raises(ValueError, match="do not fit"):
        np.matmul(normal(2, 3), normal(2, 3))
    with pytest.raises(ValueError, match="no axes"):
        np.matmul(2.0, normal(2))


def test_integers_and_booleans() -> None:
    a = numpy.array([[1, 2], [3, 4]])
    assert_same(np.matmul(a, a), a @ a)
    b = a > 1
    assert_same(np.matmul(b, b), b @ b)
    assert np.matmul(a, a * 1.5).dtype == numpy.float64


@pytest.mark.parametrize("name", ["dot", "inner", "outer", "kron", "vdot", "tensordot"])
def test_other_products(name: str) -> None:
    shapes = {
        "dot": [((), (3,)), ((3,), (3,)), ((2, 3), (4, 3, 2)), ((2, 2, 3), (3,))],
        "inner": [((3,), (3,)), ((2, 3), (4, 3))],
        "outer": [((3,), (2,)), ((2, 2), (3,))],
        "kron": [((2,), (3,)), ((2, 2), (3, 2)), ((2,), (2, 3))],
        "vdot": [((2, 3), (2, 3))],
        "tensordot": [((2, 3, 4), (3, 4, 2))],
    }[name]
    for left, right in shapes:
        x, y = normal(*left), normal(*right)
        assert_same(getattr(np, name)(x, y), getattr(numpy, name)(x, y), what=f"{left} {right}")
        check_derivatives(getattr(np, name), x, y)


def test_tensordot_axes() -> None:
    x, y = normal(3, 4, 2), normal(4, 3, 5)
    axes = ([0, 1], [1, 0])
    assert_same(np.tensordot(x, y, axes), numpy.tensordot(x, y, axes))
    check_derivatives(lambda x, y: np.tensordot(x, y, axes), x, y)


def test_cross() -> None:
    x, y = normal(4, 3), normal(4, 3)
    assert_same(np.cross(x, y), numpy.cross(x, y))
    assert_same(np.cross(x, y, axis=-1)[..., 2], np.cross(x[:, :2], y[:, :2]))
    flat = numpy.concatenate([x[:, :2], numpy.zeros((4, 1))], 1)
    assert_same(np.cross(x[:, :2], y), numpy.cross(flat, y))
    check_derivatives(np.cross, normal(4, 3), normal(3))


def test_vector_products() -> None:
    assert_same(np.vecdot(normal(2, 3), numpy.ones(3)).shape, (2,))
    x, y = normal(4, 2, 3), normal(4, 3)
    assert_same(np.matvec(x, y), numpy.einsum("bij,bj->bi", x, y))
    assert_same(np.vecmat(normal(4, 2), x).shape, (4, 3))


EINSUM = [
    ("ij,jk->ik", [(2, 3), (3, 4)]),
    ("ij,jk,kl", [(2, 3), (3, 4), (4, 2)]),
    ("ij,jk,ik->i", [(3, 4), (4, 4), (3, 4)]),
    ("ii", [(3, 3)]),
    ("ii->i", [(3, 3)]),
    ("ij->ji", [(2, 3)]),
    ("i,j", [(2,), (3,)]),
    ("...ij,...jk->...ik", [(5, 2, 3), (3, 4)]),
    ("b...,b...->...", [(2, 3), (2, 3)]),
    ("ij,ij->", [(2, 3), (2, 3)]),
    ("iij,jk->ik", [(2, 2, 3), (3, 2)]),
    ("i->", [(3,)]),
    ("ab,bc,cd,de->ae", [(2, 3), (3, 2), (2, 4), (4, 2)]),
]


@pytest.mark.parametrize(("formula", "shapes"), EINSUM)
def test_einsum(formula: str, shapes: Any) -> None:
    from overt.runtime.numpy.einstein_sums import einsum_bar

    xs = [normal(*shape) for shape in shapes]
    expected = numpy.einsum(formula, *xs)
    assert_same(np.einsum(formula, *xs), expected)
    # the rule for generated code, against what recording gives
    g = RNG.normal(size=expected.shape)
    bars = einsum_bar(np.asarray(g), formula, *map(np.asarray, xs))
    for k, (x, bar) in enumerate(zip(xs, bars, strict=True)):
        moved = RNG.normal(size=x.shape)
        changed = [moved if j == k else y for j, y in enumerate(xs)]
        slope = numpy.sum(g * numpy.einsum(formula, *changed))
        assert_same(numpy.sum(numpy.asarray(bar) * moved), slope, what=f"operand {k}")


def test_einsum_forms() -> None:
    x, y = normal(2, 3), normal(3, 2)
    assert_same(np.einsum(x, [0, 1], y, [1, 2], [0, 2]), x @ y)
    assert_same(np.einsum("ij,jk", x, normal(1, 2)).shape, (2, 2))
    check_derivatives(lambda x, y: np.einsum("ij,jk->ik", x, y), x, y)
    check_batch(lambda x, y: np.einsum("ij,jk->ki", x, y), normal(3, 2, 4), normal(3, 4, 2))
    for wrong in ("ij,j", "ij->k", "ijk->i"):
        with pytest.raises(ValueError, match="einsum"):
            np.einsum(wrong, x)


def test_trace() -> None:
    x = normal(3, 4, 2)
    for offset in (-1, 0, 2):
        assert_same(np.trace(x, offset), numpy.trace(x, offset))
        check_derivatives(lambda x, k=offset: np.trace(x, k, 2, 0), x)


@pytest.mark.parametrize("name", ["vdot", "inner", "vecdot", "convolve", "correlate"])
def test_products_in_the_dtype_that_is_asked_for(name: str) -> None:
    x = numpy.array([100, 90, 80], numpy.int8)
    ours, theirs = getattr(np, name), getattr(numpy, name)
    for f in (ours, overt.jit(ours, static_argnames="preferred_element_type")):
        got = f(np.array(x), np.array(x), preferred_element_type=np.int32)
        assert got.dtype == numpy.int32
        assert numpy.array_equal(got, theirs(x.astype(numpy.int32), x.astype(numpy.int32)))
    half, y = np.array([1.0, 2.0, 3.0], np.float16), np.array([2.0, 3.0, 4.0], np.float16)

    def total(x):
        return np.sum(ours(x, y, preferred_element_type=np.float32))

    value, slope = overt.value_and_grad(total)(half)
    assert (value.dtype, slope.dtype) == (numpy.float32, numpy.float16)
    wide = overt.grad(lambda x: np.sum(ours(x, y.astype(np.float32))))(half.astype(np.float32))
    assert numpy.array_equal(slope, wide)


def test_vectorize_gives_the_dtypes_that_are_asked_for() -> None:
    doubled = np.vectorize(lambda x: x * 2 if x > 1 else -x, otypes=[numpy.float32], doc="twice")
    assert doubled.__doc__ == "twice" and doubled(np.arange(3)).dtype == numpy.float32
    pair = np.vectorize(lambda x: (x, x * 2), otypes="hf")
    a, b = overt.jit(pair)(np.arange(3))
    assert (a.dtype, b.dtype) == (numpy.int16, numpy.float32)
    with pytest.raises(ValueError, match="otypes"):
        np.vectorize(lambda x: x, otypes="ff")(np.arange(3))


def test_functions_of_lines_that_ask_for_values() -> None:
    x = numpy.array([[0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 1, 0]])
    for axis, y in ((1, x), (0, x.T), (-1, x[None])):
        want = numpy.apply_along_axis(numpy.flatnonzero, axis, y)
        assert numpy.array_equal(np.apply_along_axis(np.flatnonzero, axis, np.array(y)), want)
    pairs = np.apply_along_axis(np.where, 1, np.array(x))
    assert numpy.array_equal(pairs, numpy.apply_along_axis(numpy.where, 1, x))
