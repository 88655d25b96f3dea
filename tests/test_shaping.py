"""Shaping, joining, repeating, selecting, sorting, sets, transforms: values and derivatives."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numeric import assert_same, check_batch, check_derivatives

import overt.runtime.numpy as np
from overt.runtime.aval import aval_of
from overt.runtime.errors import StagingError
from overt.runtime.staging import stage

pytestmark = pytest.mark.usefixtures("x64")
RNG = numpy.random.default_rng(0)
X = RNG.normal(size=(2, 3, 4))
V = RNG.normal(size=5)
M = RNG.normal(size=(3, 3))

# name, array, further arguments: compared with NumPy's function of that name, and differentiated
LINEAR: list[tuple[str, Any, tuple, dict]] = [
    ("reshape", X, ((4, -1),), {}),
    ("reshape", X, ((6, 4),), {"order": "F"}),
    ("ravel", X, (), {}),
    ("ravel", X, ("F",), {}),
    ("transpose", X, (), {}),
    ("transpose", X, ((2, 0, 1),), {}),
    ("swapaxes", X, (0, -1), {}),
    ("moveaxis", X, (0, 2), {}),
    ("moveaxis", X, ((0, 1), (-1, 0)), {}),
    ("rollaxis", X, (2, 1), {}),
    ("expand_dims", X, ((0, 2),), {}),
    ("squeeze", X[:1], (0,), {}),
    ("broadcast_to", V, ((2, 5),), {}),
    ("broadcast_to", X[:, :1], ((2, 3, 4),), {}),
    ("flip", X, (), {}),
    ("flip", X, ((0, 2),), {}),
    ("fliplr", X, (), {}),
    ("flipud", X, (), {}),
    ("roll", X, (2,), {}),
    ("roll", X, (-1, 1), {}),
    ("roll", X, ((1, 2), (0, 1)), {}),
    ("rot90", X, (1,), {}),
    ("rot90", X, (3, (1, 2)), {}),
    ("tile", X, ((2, 1),), {}),
    ("tile", V, (3,), {}),
    ("repeat", X, (2,), {}),
    ("repeat", X, (2,), {"axis": 1}),
    ("repeat", X, ([1, 0, 2],), {"axis": 1}),
    ("resize", X, ((5, 6),), {}),
    ("diagonal", X, (), {}),
    ("diagonal", X, (1, 2, 1), {}),
    ("diag", M, (), {}),
    ("diag", M, (-1,), {}),
    ("diag", V, (2,), {}),
    ("diagflat", M, (1,), {}),
    ("tril", M, (-1,), {}),
    ("triu", X, (1,), {}),
    ("trace", M, (), {}),
    ("take", X, ([0, 2, 2],), {"axis": 1}),
    ("take", X, ([[5, -1]],), {}),
    ("delete", X, (1,), {"axis": 1}),
    ("delete", V, ([0, -1],), {}),
    ("insert", V, (2, 9.0), {}),
    ("insert", X, ([0, 2], 0.0), {"axis": 2}),
    ("append", V, (V,), {}),
    ("compress", V, ([True, False, True],), {}),
    ("pad", X, (1,), {}),
    ("pad", V, ((2, 1),), {"constant_values": (1.0, 2.0)}),
    ("pad", V, ((2, 3),), {"mode": "edge"}),
    ("pad", V, ((2, 7),), {"mode": "reflect"}),
    ("pad", V, ((2, 3),), {"mode": "reflect", "reflect_type": "odd"}),
    ("pad", M, (2,), {"mode": "symmetric"}),
    ("pad", M, ((1, 4),), {"mode": "wrap"}),
    ("pad", M, ((1, 2),), {"mode": "linear_ramp", "end_values": 1.5}),
    ("pad", M, ((1, 2),), {"mode": "mean", "stat_length": 2}),
    ("pad", M, ((0, 2),), {"mode": "maximum"}),
    ("sort", M, (), {}),
    ("sort", X, (), {"axis": 0}),
    ("sort", M, (), {"axis": None}),
    ("convolve", V, (M[0],), {}),
    ("convolve", V, (M[0, :2], "same"), {}),
    ("convolve", M[0], (V, "valid"), {}),
    ("correlate", V, (M[0], "full"), {}),
    ("correlate", M[0, :2], (V, "same"), {}),
    ("nan_to_num", V, (), {}),
]


def swapped(name: str) -> bool:
    return name == "compress"


@pytest.mark.parametrize(
    ("name", "x", "args", "how"), LINEAR, ids=lambda v: v if isinstance(v, str) else ""
)
def test_against_numpy(name: str, x: Any, args: Any, how: Any) -> None:
    ours, theirs = getattr(np, name), getattr(numpy, name)
    if swapped(name):
        assert_same(ours(*args, np.asarray(x)), theirs(*args, x))
        return
    assert_same(ours(np.asarray(x), *args, **how), theirs(x, *args, **how))
    check_derivatives(lambda x: ours(x, *args, **how), x)


def test_batching() -> None:
    x = RNG.normal(size=(3, 2, 4))
    functions = [
        lambda x: np.reshape(x, (4, 2), "F"),
        lambda x: x.T,
        np.flip,
        lambda x: np.roll(x, 1),
        lambda x: np.tile(x, 2),
        lambda x: np.repeat(x, 2, axis=1),
        lambda x: np.pad(x, 1, constant_values=2.0),
        lambda x: np.pad(x, 1, "wrap"),
        lambda x: np.concatenate([x, 2 * x], 1),
        lambda x: np.stack([x, np.ones((2, 4))], -1),
        lambda x: np.split(x, 2, axis=1)[1],
        lambda x: np.diagonal(x),
        lambda x: np.sort(x, axis=0),
        lambda x: np.argsort(x, axis=1),
        lambda x: np.take_along_axis(x, np.argsort(x, 1), 1),
        lambda x: np.broadcast_to(x, (5, 2, 4)),
        lambda x: np.tril(x),
        lambda x: np.searchsorted(np.sort(x[0]), x[1]),
        lambda x: np.convolve(x[0], x[1]),
        lambda x: np.nonzero(x > 0, size=4)[1],
        lambda x: np.real(np.fft.fft(x)),
    ]
    for f in functions:
        check_batch(f, x)
    check_batch(lambda x, y: np.concatenate([x, y]), x, RNG.normal(size=(3, 1, 4)))
    check_batch(lambda a, v: np.convolve(a, v), RNG.normal(size=(3, 4)), RNG.normal(size=(3, 2)))


def test_joining() -> None:
    a, b = X, X[:, :1]
    assert_same(np.concatenate([a, b], 1), numpy.concatenate([a, b], 1))
    assert_same(np.concatenate([a, b], None), numpy.concatenate([a, b], None))
    for name in ("vstack", "hstack", "dstack", "column_stack", "stack"):
        assert_same(getattr(np, name)([V, V]), getattr(numpy, name)([V, V]), what=name)
    assert_same(
        np.block([[M, M[:, :1]], [numpy.ones((1, 4))]]),
        numpy.block([[M, M[:, :1]], [numpy.ones((1, 4))]]),
    )
    for name, sections in (
        ("split", 2),
        ("array_split", 3),
        ("hsplit", [1, 2]),
        ("dsplit", 2),
        ("vsplit", 2),
    ):
        assert_same(getattr(np, name)(X, sections), getattr(numpy, name)(X, sections), what=name)
    assert_same(np.unstack(X), list(X))
    check_derivatives(lambda x, y: np.concatenate([x * y[0, 0], y], 0), M, M)
    check_derivatives(lambda x, y: np.stack([x, y * x], 1), V, V)
    check_derivatives(lambda x: np.split(x, [1, 3])[1], V)
    with pytest.raises(ValueError, match="concatenate"):
        np.concatenate([M, V[None]], 0)
    with pytest.raises(ValueError, match="equal division"):
        np.split(V, 2)
    # mixed dtypes promote, and cotangents come back in their own
    assert np.concatenate([numpy.arange(2), V]).dtype == numpy.float64


def test_sorting_and_searching() -> None:
    x = numpy.array([3.0, numpy.nan, -0.0, 1.0, 0.0, numpy.inf, 1.0])
    assert_same(np.sort(x), numpy.sort(x))
    assert_same(np.argsort(x), numpy.argsort(x, stable=True))
    assert_same(np.argsort(numpy.array([1, 2, 2, 1]), descending=True), numpy.array([1, 2, 0, 3]))
    keys = (numpy.array([1, 0, 1, 0]), numpy.array([2, 2, 1, 1]))
    assert_same(np.lexsort(keys), numpy.lexsort(keys))
    edges = numpy.array([0.0, 1.0, 1.0, 2.5])
    probes = numpy.array([-1.0, 0.0, 1.0, 2.0, 2.5, 3.0, numpy.nan])
    for side in ("left", "right"):
        assert_same(np.searchsorted(edges, probes, side), numpy.searchsorted(edges, probes, side))
    for right in (False, True):
        assert_same(
            np.digitize(probes[:-1], edges, right), numpy.digitize(probes[:-1], edges, right)
        )
        assert_same(
            np.digitize(probes[:-1], edges[::-1], right),
            numpy.digitize(probes[:-1], edges[::-1], right),
        )
    weights = numpy.array([0.5, 1.0, 2.0])
    assert_same(np.bincount(numpy.array([1, 1, 3]), weights), numpy.bincount([1, 1, 3], weights))
    values, places = np.top_k(V, 2)
    assert_same(values, numpy.sort(V)[::-1][:2])
    check_derivatives(lambda x: np.top_k(x, 2)[0], V)
    check_derivatives(lambda x: np.partition(x, 2), V)
    check_derivatives(lambda x: np.sort(x * x, descending=True) * x, V, order=2)


def test_selecting() -> None:
    order = numpy.argsort(X, axis=1)
    assert_same(np.take_along_axis(X, order, 1), numpy.take_along_axis(X, order, 1))
    check_derivatives(lambda x: np.take_along_axis(x, order, 1), X)
    expected = M.copy()
    numpy.put_along_axis(expected, numpy.array([[1], [0], [2]]), 7.0, 1)
    assert_same(np.put_along_axis(M, numpy.array([[1], [0], [2]]), 7.0, 1, inplace=False), expected)
    expected = M.copy()
    numpy.fill_diagonal(expected, 5.0)
    assert_same(np.fill_diagonal(M, 5.0, inplace=False), expected)
    assert_same(np.argwhere(M > 0), numpy.argwhere(M > 0))
    assert_same(np.flatnonzero(M > 0), numpy.flatnonzero(M > 0))
    assert_same(np.nonzero(M > 0, size=9, fill_value=-1)[0][-1], numpy.int64(-1))
    assert_same(np.extract(M > 0, M), numpy.extract(M > 0, M))
    assert_same(np.choose([1, 0, 1], [V[:3], M[0]]), numpy.choose([1, 0, 1], [V[:3], M[0]]))
    assert_same(np.unravel_index([5, 7], (2, 4)), numpy.unravel_index([5, 7], (2, 4)))
    assert_same(
        np.ravel_multi_index(([0, 1], [3, 2]), (2, 4)),
        numpy.ravel_multi_index(([0, 1], [3, 2]), (2, 4)),
    )
    assert_same(np.indices((2, 3)), numpy.indices((2, 3)))
    assert_same(M[numpy.tril_indices(3)], np.asarray(M)[np.tril_indices(3)])
    with pytest.raises(StagingError, match="where"):
        stage(lambda x: [np.nonzero(x)[0]], [aval_of(np.asarray(V))])


@given(st.lists(st.integers(0, 5), max_size=9), st.lists(st.integers(0, 5), max_size=6))
@settings(max_examples=4)
def test_sets(first: list[int], second: list[int]) -> None:
    a, b = numpy.array(first, int), numpy.array(second, int)
    results = np.unique(a, True, True, True)
    assert_same(results, numpy.unique(a, True, True, True))
    for name in ("union1d", "intersect1d", "setdiff1d", "setxor1d", "isin"):
        assert_same(getattr(np, name)(a, b), getattr(numpy, name)(a, b), what=name)
    if first:
        padded = numpy.asarray(np.unique(a, size=8, fill_value=-1))
        distinct = numpy.unique(a)
        assert_same(padded[: len(distinct)], distinct)
        assert (padded[len(distinct) :] == -1).all()


def test_unique_rows() -> None:
    rows = numpy.array([[1, 2], [0, 3], [1, 2]])
    assert_same(np.unique(rows, axis=0), numpy.unique(rows, axis=0))
    columns = numpy.array([[1, 2, 1], [3, 4, 3]])
    assert_same(np.unique(columns, axis=1), numpy.unique(columns, axis=1))


FFT = [
    ("fft", (), {}),
    ("fft", (6,), {"axis": 1, "norm": "ortho"}),
    ("ifft", (3,), {}),
    ("rfft", (), {}),
    ("irfft", (5,), {}),
    ("irfft", (), {"axis": 1, "norm": "forward"}),
    ("fftn", (), {}),
    ("rfftn", (), {"axes": (0, 2)}),
    ("irfftn", (), {"s": (3, 7)}),
    ("fft2", (), {}),
    ("irfft2", (), {}),
    ("hfft", (), {}),
    ("ihfft", (), {}),
    ("fftshift", (), {}),
    ("ifftshift", ((0, 1),), {}),
]


@pytest.mark.parametrize(("name", "args", "how"), FFT)
def test_fft(name: str, args: Any, how: Any) -> None:
    ours, theirs = getattr(np.fft, name), getattr(numpy.fft, name)
    if name == "irfftn" and "axes" not in how:
        how = {**how, "axes": (1, 2)}
    assert_same(ours(X, *args, **how), theirs(X, *args, **how))
    check_derivatives(lambda x: np.real(ours(x, *args, **how)) + np.imag(ours(x, *args, **how)), X)
    if name.startswith("i") and name != "ihfft":
        check_derivatives(lambda x: np.abs(ours(np.fft.fft(x), *args, **how)) ** 2, X)


def test_fft_of_four_axes() -> None:
    x = RNG.normal(size=(2, 3, 2, 4))
    assert_same(np.fft.fftn(x), numpy.fft.fftn(x))
    assert_same(np.fft.irfftn(np.fft.rfftn(x)), x)
    assert_same(np.fft.fftfreq(5, 0.1), numpy.fft.fftfreq(5, 0.1))
    assert_same(np.fft.rfftfreq(5, 0.1), numpy.fft.rfftfreq(5, 0.1))


def test_errors() -> None:
    with pytest.raises(ValueError, match="reshape"):
        np.reshape(X, (5, 5))
    with pytest.raises(ValueError, match="squeeze"):
        np.squeeze(X, 0)
    with pytest.raises(ValueError, match="broadcast"):
        np.broadcast_to(X, (2, 3))
    with pytest.raises(numpy.exceptions.AxisError):
        np.flip(X, 3)
    with pytest.raises(ValueError, match="unknown mode"):
        np.pad(X, 1, "mirror")


def test_dynamic_roll_and_repeat() -> None:
    x = np.asarray(V)
    (rolled,) = stage(lambda x, k: [np.roll(x, k)], [aval_of(x), aval_of(np.asarray(1))]).run(
        [x, np.asarray(2)]
    )
    assert_same(rolled, numpy.roll(V, 2))
    (longer,) = stage(
        lambda x, k: [np.repeat(x, k, total_repeat_length=6)], [aval_of(x), aval_of(np.arange(5))]
    ).run([x, np.array([1, 0, 2, 3, 0])])
    assert_same(longer, numpy.repeat(V, [1, 0, 2, 3, 0]))
