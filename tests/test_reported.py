"""What users of array compilers reported, each with the answer that they expected."""

from __future__ import annotations

import functools
import math
import warnings

import numpy
import pytest

import overt
import overt.numpy as np


def test_numbers_on_both_sides_of_a_branch_cut():
    above, below = complex(-2.0, 0.0), complex(-2.0, -0.0)
    for name in ("sqrt", "log", "arcsin", "arctanh"):
        for z in (above, below, above):
            expected = complex(getattr(numpy, name)(z))
            assert abs(complex(getattr(np, name)(z)) - expected) < 1e-5, (name, z)


def test_slopes_far_out():
    with overt.enable_x64(True):
        assert math.isclose(overt.grad(np.expm1)(-40.0), math.exp(-40.0))
        tail = math.exp(-40.0) / (1 + math.exp(-40.0)) ** 2
        for x in (40.0, -40.0):
            assert math.isclose(overt.grad(overt.nn.sigmoid)(x), tail)
    assert float(overt.grad(overt.grad(overt.nn.sigmoid))(200.0)) == 0.0
    assert float(overt.grad(overt.grad(np.expm1))(0.0)) == 1.0


def test_second_derivatives_of_tiny_singular_values():
    base = numpy.array([[4.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 2.0]])

    def total(a):
        return np.sum(np.linalg.svd(a, compute_uv=False))

    expected = overt.hessian(total)(base)
    for scale in (1e-20, 1e18):
        scaled = overt.hessian(total)(base * scale)
        assert numpy.allclose(scaled * numpy.float32(scale), expected, atol=1e-4)
    zero = overt.jvp(lambda a: np.linalg.svd(a)[1], (np.zeros((2, 2)),), (np.eye(2),))[1]
    assert numpy.all(numpy.isfinite(zero))


@pytest.mark.parametrize(
    ("z", "slope"), [(complex("inf"), 1), (complex(-math.inf, 3), -1), (complex(0, math.inf), -1j)]
)
def test_slope_of_an_infinite_magnitude(z, slope):
    assert complex(overt.grad(np.abs)(z)) == slope
    both = overt.grad(lambda v: np.sum(np.abs(v)))(np.array([z, 3 + 4j]))
    assert numpy.allclose(both, [slope, 0.6 - 0.8j])


def test_integers_that_32_bits_cannot_hold():
    big = numpy.array([1 << 40, -5])
    for make in (np.array, np.asarray, overt.jit(lambda x: x + 0), overt.device_put, np.sum):
        with pytest.raises(OverflowError, match="enable_x64"):
            make(big)
    assert numpy.allclose(np.array(big, np.float32), [2.0**40, -5])
    assert np.array(numpy.array([300, -1]), np.uint8).tolist() == [44, 255]
    assert float(np.float32(numpy.int64(1 << 40))) == 2.0**40
    assert np.asarray(numpy.array([3, -4])).tolist() == [3, -4]
    with overt.enable_x64(True):
        assert np.array(big).tolist() == [1 << 40, -5]
    seeds = (numpy.int64(1 << 40), numpy.uint64(2**64 - 1))
    words = [overt.random.key_data(overt.random.key(seed)).tolist() for seed in seeds]
    assert words == [[0, 0], [0, 2**32 - 1]]


def test_rank_promotion_is_asked_of_one_lane():
    with overt.numpy_rank_promotion("raise"):
        added = overt.vmap(lambda a, b: a + b, in_axes=(0, None))
        assert added(np.ones((4, 3)), np.ones(3)).shape == (4, 3)
        assert overt.vmap(lambda a: a * np.ones(3))(np.ones((4, 3))).shape == (4, 3)
        assert (
            overt.vmap(overt.grad(lambda a: np.sum(a * np.ones(3) + 1)))(np.ones((4, 3))).ndim == 2
        )
        with pytest.raises(ValueError, match=r"ranks \[2, 1\]"):
            overt.vmap(lambda a: a + np.ones(3))(np.ones((4, 2, 3)))
        with pytest.raises(ValueError, match=r"ranks \[1, 2\]"):
            added(np.ones((4, 3)), np.ones((2, 3)))
    with overt.numpy_rank_promotion("warn"), pytest.warns(UserWarning, match="ranks"):
        overt.vmap(lambda a: a + np.ones(3))(np.ones((4, 2, 3)))


X = numpy.array([[1.0, numpy.nan, 3.0], [4.0, 5.0, numpy.nan]], "f4")
MASK = numpy.array([[True, True, False], [False, True, True]])


@pytest.mark.parametrize("name", ["nanmean", "nanvar", "nanstd", "nansum", "nanprod"])
def test_nan_functions_with_where(name):
    ours, theirs = getattr(np, name), getattr(numpy, name)
    for axis in (None, 0, 1):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = theirs(X, axis=axis, where=MASK)
        assert numpy.allclose(ours(X, axis=axis, where=MASK), expected, equal_nan=True)
    slope = overt.grad(lambda v: np.nanmean(v, where=MASK))(X)
    assert numpy.allclose(slope, [[0.5, 0, 0], [0, 0.5, 0]])


def test_nan_functions_with_initial():
    for name, start in (("nansum", 10.0), ("nanprod", 2.0), ("nanmax", 2.0), ("nanmin", 2.0)):
        ours, theirs = getattr(np, name), getattr(numpy, name)
        assert numpy.allclose(ours(X, initial=start), theirs(X, initial=start))
        expected = theirs(X, axis=1, initial=start, where=MASK)
        assert numpy.allclose(ours(X, 1, initial=start, where=MASK), expected)
    assert float(np.nanmax(np.array([np.nan]), initial=1.0)) == 1.0
    assert numpy.isnan(np.nanmax(np.array([np.nan])))
    assert int(np.nanmax(np.array([1, 2]), initial=7)) == 7


def test_lengths_known_at_run_time_name_size():
    with pytest.raises(IndexError, match="size="):
        overt.jit(lambda v: np.nonzero(v))(np.array([0, 3]))


def test_parameters_of_numpy_and_jax():
    block = numpy.zeros((4, 4), "i4")
    block[1, 1], block[2, 2] = 1, 2
    assert np.trim_zeros(block).tolist() == [[1, 0], [0, 2]]
    assert np.trim_zeros(block, axis=0).shape == (2, 4)
    assert np.trim_zeros(block, "f", axis=-1).tolist() == block[:, 1:].tolist()
    assert np.trim_zeros(np.zeros(3)).shape == (0,)
    product = np.polymul([0.0, 1, 1], [0.0, 0, 1, -1], trim_leading_zeros=True)
    assert product.tolist() == [1.0, 0.0, -1.0]
    quotient, rest = np.polydiv([0.0, 1, 0, -1], [0.0, 1, 1], trim_leading_zeros=True)
    assert quotient.tolist() == [1.0, -1.0] and rest.tolist() == [0.0]
    small = np.full(3, 100, np.int8)
    assert np.sum(small, promote_integers=False).dtype == np.int8
    assert int(np.sum(small)) == 300 and int(np.prod(small, promote_integers=False)) == 64
    slope = overt.grad(lambda v: np.prod(v, promote_integers=False))(np.array([2.0, 3.0]))
    assert slope.tolist() == [3.0, 2.0]
    rows = numpy.arange(6.0, dtype="f4").reshape(2, 3) ** 2
    assert np.cov(rows, dtype=np.float16).dtype == np.float16
    assert numpy.allclose(np.corrcoef(rows, dtype=np.float32), numpy.corrcoef(rows), atol=1e-5)
    assert np.ravel_multi_index((1, 2), (2, 3), dtype=np.int16).dtype == np.int16
    assert overt.devices(backend="cpu") == overt.local_devices(backend="cpu")
    with pytest.raises(ValueError, match="one process"):
        overt.local_devices(process_index=3)


def test_gradients_of_reductions_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for f in (np.sum, np.prod, np.mean, np.var, np.std, np.linalg.norm, np.nanmean):
            assert overt.grad(f)(np.zeros(0)).shape == (0,)
        rows = overt.grad(lambda v: np.sum(np.mean(v, axis=1)))(np.zeros((0, 3)))
        assert rows.shape == (0, 3)
    assert overt.grad(lambda v: np.sum(np.max(v, axis=1)))(np.zeros((0, 3))).shape == (0, 3)
    assert overt.grad(lambda v: np.max(v, initial=1.0))(np.zeros(0)).shape == (0,)


def test_a_rule_that_calls_its_function_on_tangents():
    @overt.custom_jvp
    def total(x):
        return np.sum(x)

    @total.defjvp
    def rule(primals, tangents):
        (x,), (x_dot,) = primals, tangents
        return total(x), total(np.where(np.isfinite(x), x_dot, 0.0))

    x = np.array([1.0, np.inf])
    for slope in (overt.grad(total), overt.jit(overt.grad(total)), overt.jacfwd(total)):
        assert slope(x).tolist() == [1.0, 0.0]
    assert overt.vmap(overt.grad(total))(np.stack([x, x])).tolist() == [[1.0, 0.0]] * 2
    assert overt.hessian(lambda v: total(v) ** 2)(np.ones(2)).tolist() == [[2.0, 2.0]] * 2

    @overt.custom_jvp
    def scaled(x, k):
        return x * k

    scaled.defjvps(lambda t, out, x, k: scaled(t, k), lambda t, out, x, k: scaled(x, t))
    assert [float(g) for g in overt.grad(scaled, argnums=(0, 1))(3.0, 5.0)] == [5.0, 3.0]
    assert float(overt.grad(overt.grad(lambda x: scaled(x, x)))(3.0)) == 2.0


@pytest.mark.parametrize("reverse_rule", [False, True])
def test_a_function_with_a_fixed_argument_as_a_branch(reverse_rule):
    if reverse_rule:
        rule = functools.partial(overt.custom_vjp, nondiff_argnums=(0,))(lambda x, y: y)
        rule.defvjp(lambda x, y: (y, None), lambda x, kept, bar: (3.0 * bar,))
    else:
        rule = functools.partial(overt.custom_jvp, nondiff_argnums=(0,))(lambda x, y: y)
        rule.defjvp(lambda x, primals, tangents: (primals[0], 3.0 * tangents[0]))

    def by_cond(y, x):
        return overt.lax.cond(x < y, rule, lambda x, y: y, x, y)

    def by_switch(y, x):
        return overt.lax.switch((y < x).astype(int), [rule, lambda x, y: y], x, y)

    ys, xs = np.array([2.0, 0.5]), np.ones(2)
    for f in (by_cond, by_switch):
        slope = overt.grad(f)
        for run in (slope, overt.jit(slope)):
            assert [float(run(y, x)) for y, x in zip(ys, xs, strict=True)] == [3.0, 1.0]
        assert overt.vmap(slope)(ys, xs).tolist() == [3.0, 1.0]
        assert overt.jit(overt.vmap(slope))(ys, xs).tolist() == [3.0, 1.0]
        with pytest.raises(Exception, match="nondiff_argnums"):
            overt.jit(overt.grad(f, argnums=1))(2.0, np.array(1.0))


def test_derivatives_of_scans_without_steps():
    rows, wide = np.zeros(0), np.zeros((0, 2))

    def power(x, xs):
        return overt.lax.scan(lambda c, row: (c * x * np.sum(row), c * row), x, xs)

    for xs in (rows, wide):
        last = lambda x, xs: power(x, xs)[0]
        for slope in (overt.grad(last, (0, 1)), overt.jit(overt.grad(last, (0, 1)))):
            by_x, by_xs = slope(3.0, xs)
            assert float(by_x) == 1.0 and by_xs.shape == xs.shape
        assert overt.vmap(overt.grad(last), (0, None))(np.array([3.0, 2.0]), xs).tolist() == [1, 1]
        assert float(overt.grad(lambda x: np.sum(power(x, xs)[1]))(3.0)) == 0.0  # noqa: B023
    assert overt.grad(lambda v: np.sum(overt.lax.map(lambda t: t * t, v)))(rows).shape == (0,)
