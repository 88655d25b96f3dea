"""NumPy's functions with odd arguments: empty arrays, odd dtypes, numbers out of range."""

import warnings
from functools import partial

import numpy
import pytest

import overt
import overt.numpy as np

RNG = numpy.random.RandomState(0)
F = RNG.randn(3, 4).astype(numpy.float32)
I = RNG.randint(-3, 5, (3, 4)).astype(numpy.int32)  # noqa: E741
C = (F + 1j * RNG.randn(3, 4)).astype(numpy.complex64)
METHODS = [
    "lower", "higher", "midpoint", "nearest", "linear", "inverted_cdf", "averaged_inverted_cdf",
    "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull", "median_unbiased",
    "normal_unbiased",
]  # fmt: skip


def close(found, wanted):
    for x, y in zip(found, wanted, strict=True):
        numpy.testing.assert_allclose(numpy.asarray(x), y, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_methods_of_quantiles(method):
    fractions = [0, 0.125, 0.25, 0.33, 0.5, 0.71, 0.75, 1]
    for n in (1, 2, 5, 8):
        a = RNG.randn(n)
        wanted = numpy.quantile(a, fractions, method=method)
        close([np.quantile(a.astype(numpy.float32), fractions, method=method)], [wanted])
    a = F.copy()
    a[0, 1] = numpy.nan
    wanted = numpy.nanquantile(a.astype(float), 0.3, axis=1, method=method)
    close([np.nanquantile(a, 0.3, axis=1, method=method)], [wanted])


def test_derivatives_of_quantiles():
    for method in ("hazen", "averaged_inverted_cdf"):
        fn = partial(np.quantile, q=0.3, method=method)
        assert overt.jit(overt.grad(fn))(F[0]).sum() == pytest.approx(1)


def test_quantiles_of_nothing_and_out_of_range():
    for shape, axis in (((0, 3), None), ((0, 3), 0), ((0, 3), 1), ((2, 0, 3), 1), ((2, 0), (0, 1))):
        nothing = numpy.zeros(shape, numpy.float32)
        for keepdims in (False, True):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                wanted = numpy.median(nothing, axis=axis, keepdims=keepdims)
            close([np.median(nothing, axis, keepdims=keepdims)], [wanted])
        several = np.quantile(nothing, np.array([0.1, 0.9]), axis)
        assert several.shape == (2, *np.median(nothing, axis).shape)
    with pytest.raises(ValueError, match="between 0 and 1, got 1.5"):
        np.quantile(F, 1.5)
    with pytest.raises(ValueError, match="between 0 and 100"):
        np.percentile(F, [50, 101])
    assert np.percentile(F, 100) == F.max()


def test_variances_in_other_dtypes():
    for name in ("var", "std"):
        ours, theirs = getattr(np, name), getattr(numpy, name)
        for a in (F, C):
            found = ours(a, axis=0, dtype="complex64")
            assert found.dtype == "complex64"
            close([found], [theirs(a, axis=0, dtype="complex64")])
        with pytest.raises(ValueError, match="floats or complex"):
            ours(F, dtype="int32")
        plain, wide = (overt.vjp(partial(ours, dtype=kind), F)[1] for kind in (None, "complex64"))
        plain, wide = plain(numpy.float32(1)), wide(numpy.complex64(1))
        close(wide, plain)
    for ddof in (3, 5):  # no degree of freedom is left
        assert np.isnan(np.nanvar(F, axis=0, ddof=ddof)).all()
        assert np.isnan(np.std(F, axis=0, ddof=ddof, where=F < 9)).all()
    assert np.isnan(np.cov(np.zeros((0, 3)), rowvar=False)).all()


def test_initial_numbers_keep_the_dtype():
    where = F > 0
    for name in ("nanmin", "nanmax"):
        for a in (I, I > 0):
            found = getattr(np, name)(a, axis=1, initial=2, where=where)
            wanted = getattr(numpy, name)(a, axis=1, initial=2, where=where)
            assert found.dtype == a.dtype and found.tolist() == wanted.tolist()


def test_ends_of_spaces_are_exact():
    assert np.geomspace(3, 1, 4, dtype="int32").tolist() == [3, 2, 1, 1]
    rows = np.geomspace([1.0, 2.0], [5.0, 7.0], 4, axis=1)
    assert rows[:, -1].tolist() == [5, 7]
    close([rows], [numpy.geomspace([1.0, 2.0], [5.0, 7.0], 4, axis=1)])


def test_small_disagreements():
    close([np.roll(F, (1,), (0, 1))], [numpy.roll(F, (1,), (0, 1))])
    close([np.roll(F, 2, (0, 0))], [numpy.roll(F, 2, (0, 0))])
    bytes_ = numpy.array([4, 6], numpy.uint8)
    assert np.gcd(bytes_, True).tolist() == [1, 1]
    assert np.lcm(I > 0, -1).tolist() == numpy.lcm(I > 0, -1).tolist()


def filled(elements, size, fill):
    kept = sorted(elements)[:size]
    return kept + [fill] * (size - len(kept))


def test_sets_of_a_given_size_have_no_element_twice():
    for a, b in (([3, 1, 2, 3, 1], [2, 9]), ([1, 1], [1]), ([5], [2, 7]), ([4, 0, 0], [])):
        first, second = np.array(a, int), np.array(b, int)
        for name, wanted in (
            ("intersect1d", {*a} & {*b}),
            ("setdiff1d", {*a} - {*b}),
            ("setxor1d", {*a} ^ {*b}),
            ("union1d", {*a} | {*b}),
        ):
            for size in (1, 6):
                found = getattr(np, name)(first, second, size=size, fill_value=7)
                assert found.tolist() == filled(wanted, size, 7)
    assert np.setdiff1d(first, first, size=2).tolist() == [0, 0]
    nothing = np.zeros(0, int)
    assert np.setdiff1d(nothing, first, size=2).tolist() == [0, 0]
    assert np.unique(nothing, size=2, fill_value=3).tolist() == [3, 3]
    with pytest.raises(ValueError, match="fill_value"):
        np.unique(nothing, size=2)
    missing = numpy.array([1.0, numpy.nan, 2.0], numpy.float32)
    for size in (None, 2):
        close([np.setxor1d(missing, missing[2:], size=size)[:2]], [[1, numpy.nan]])
    assert np.intersect1d(I > 0, 2.5).dtype == "float32"


def test_lines_go_on():
    x, xp, fp = (numpy.array(v, numpy.float32) for v in ([-1, 0.5, 9], [0, 1, 2], [1, 5, 2]))
    on = np.interp(x, xp, fp, left="extrapolate", right="extrapolate")
    close([on], [[-3, 3, -19]])
    close([np.interp(x, xp, fp, left=7, right="extrapolate")], [[7, 3, -19]])
    slopes = overt.grad(lambda x: np.interp(x, xp, fp, left="extrapolate").sum())(x)
    close([slopes], [[4, 4, 0]])
    with pytest.raises(ValueError, match="extrapolate"):
        np.interp(x, xp, fp, left="constant")


@pytest.mark.parametrize(
    "call",
    [
        lambda: np.vander(F),
        lambda: np.polydiv(F, F[0]),
        lambda: np.packbits(F),
        lambda: np.ldexp(F, F),
        lambda: np.frexp(C),
        lambda: np.heaviside(F, 1j),
        lambda: np.isposinf(C),
        lambda: np.isneginf(C),
    ],
)
def test_refused_like_numpy(call):
    with pytest.raises((TypeError, ValueError)):
        call()
