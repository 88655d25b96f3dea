"""The array API standard 2024.12: the namespace, signatures, devices, DLPack; ufunc methods."""

from __future__ import annotations

import inspect

import numpy
import pytest

import overt
import overt.numpy as np

UNARY = (
    "abs acos acosh asin asinh atan atanh bitwise_invert ceil conj cos cosh exp expm1 floor imag "
    "isfinite isinf isnan log log10 log1p log2 logical_not negative positive real reciprocal round "
    "sign signbit sin sinh sqrt square tan tanh trunc"
).split()
BINARY = (
    "add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign "
    "divide equal floor_divide greater greater_equal hypot less less_equal logaddexp logical_and "
    "logical_or logical_xor maximum minimum multiply nextafter not_equal pow remainder subtract"
).split()
KEYWORDS = {  # what may be given by name in the standard
    "arange": "stop step dtype device", "argmax": "axis keepdims", "argmin": "axis keepdims",
    "argsort": "axis descending stable", "asarray": "dtype device copy",
    "astype": "copy device", "clip": "min max", "concat": "axis", "count_nonzero": "axis keepdims",
    "cumulative_prod": "axis dtype include_initial", "cumulative_sum": "axis dtype include_initial",
    "diff": "axis n prepend append", "empty": "dtype device", "empty_like": "dtype device",
    "expand_dims": "axis", "eye": "k dtype device", "flip": "axis", "from_dlpack": "device copy",
    "full": "dtype device", "full_like": "dtype device", 
    "linspace": "dtype device endpoint",
    "max": "axis keepdims", "mean": "axis keepdims", "meshgrid": "indexing",
    "ones": "dtype device", "ones_like": "dtype device", "prod": "axis dtype keepdims",
    "repeat": "axis", "reshape": "copy", "roll": "axis", "searchsorted": "side sorter",
    "sort": "axis descending stable", "stack": "axis",
    "std": "axis correction keepdims",
    "sum": "axis dtype keepdims", "take": "axis", "take_along_axis": "axis", "tensordot": "axes",
    "tril": "k", "triu": "k",
    "unstack": "axis", "var": "axis correction keepdims", "vecdot": "axis",
    "zeros": "dtype device", "zeros_like": "dtype device",
}  # fmt: skip


@pytest.mark.parametrize("name", UNARY)
def test_function_of_one_array(name):
    parameters = list(inspect.signature(getattr(np, name)).parameters.values())
    assert parameters[0].kind in (
        parameters[0].POSITIONAL_ONLY,
        parameters[0].POSITIONAL_OR_KEYWORD,
    )
    assert all(p.default is not p.empty for p in parameters[1:])


@pytest.mark.parametrize("name", BINARY)
def test_function_of_two_arrays(name):
    parameters = list(inspect.signature(getattr(np, name)).parameters.values())
    assert [p.kind for p in parameters] == [inspect.Parameter.POSITIONAL_ONLY] * 2


@pytest.mark.parametrize("name", KEYWORDS)
def test_keywords(name):
    assert set(KEYWORDS[name].split()) <= set(inspect.signature(getattr(np, name)).parameters)


@pytest.mark.parametrize("name", ["sin", "add", "matmul", "sum"])
def test_wrong_calls_are_refused(name):
    f = getattr(np, name)
    x = np.ones((2, 2))
    with pytest.raises(TypeError, match=name):
        f()
    with pytest.raises(TypeError, match="immutable"):
        f(*[x] * (1 if name in ("sin", "sum") else 2), out=x)
    assert f(*[x] * (1 if name in ("sin", "sum") else 2), out=None).size


def test_elementwise_functions_say_what_to_do_instead_of_where():
    x = np.ones(2)
    with pytest.raises(TypeError, match=r"np.where\(condition, result, otherwise\)"):
        np.add(x, x, where=x > 0)
    with pytest.raises(TypeError, match="takes 1 array, got 2"):
        np.sin(x, x)


def test_namespace():
    x = np.ones(2)
    assert x.__array_namespace__() is np
    assert x.__array_namespace__(api_version="2023.12") is np
    assert np.__array_api_version__ == "2024.12"
    with pytest.raises(ValueError, match="3000.01"):
        x.__array_namespace__(api_version="3000.01")


def test_namespace_info():
    info = np.__array_namespace_info__()
    assert info.default_device() in info.devices() == list(overt.devices())
    capabilities = {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}
    assert info.capabilities() == capabilities
    assert info.default_dtypes()["indexing"] == numpy.int32
    assert set(info.dtypes()) == {
        "bool", "int8", "int16", "int32", "uint8", "uint16", "uint32", "float32", "complex64"
    }  # fmt: skip
    assert set(info.dtypes(kind=("bool", "real floating"))) == {"bool", "float32"}
    assert "uint8" in info.dtypes(kind="integral")
    with pytest.raises(ValueError, match="kind"):
        info.dtypes(kind="float")
    with overt.enable_x64(True):
        assert "float64" in info.dtypes()
        assert info.default_dtypes()["real floating"] == numpy.float64


MAKERS = {
    "zeros": (3,), "ones": (3,), "empty": (3,), "full": (3, 1.5), "eye": (3,), "arange": (3,),
    "linspace": (0.0, 1.0, 3), "asarray": ([1.0, 2.0],), "astype": (numpy.ones(3), "int32"),
    "zeros_like": (numpy.ones(3),), "full_like": (numpy.ones(3), 2),
}  # fmt: skip


@pytest.mark.parametrize("name", MAKERS)
def test_device_of_new_arrays(name):
    (device,) = overt.devices()[:1]
    made = getattr(np, name)(*MAKERS[name], device=device)
    assert made.device is device and made.committed
    with pytest.raises((RuntimeError, ValueError, TypeError, IndexError)):
        getattr(np, name)(*MAKERS[name], device="nonsense")


def test_asarray_without_a_copy():
    x = np.ones(3)
    assert np.asarray(x, copy=False) is x
    with pytest.raises(ValueError, match="without a copy"):
        np.asarray([1.0], copy=False)
    with pytest.raises(ValueError, match="without a copy"):
        np.asarray(x, dtype=int, copy=False)


@pytest.mark.parametrize("dtype", ["float32", "float16", "complex64"])
def test_finfo_holds_python_numbers(dtype):
    info, wanted = np.finfo(dtype), numpy.finfo(dtype)
    for name in ("eps", "max", "min", "smallest_normal"):
        assert type(getattr(info, name)) is float
        assert getattr(info, name) == float(getattr(wanted, name))
    assert info.dtype == wanted.dtype and info.bits == wanted.bits
    assert np.finfo(np.ones(2, dtype)).dtype == wanted.dtype
    assert type(np.iinfo("int8").max) is int


def test_correction_is_ddof():
    x = np.array([1.0, 2.0, 4.0])
    assert float(np.var(x, correction=1)) == pytest.approx(numpy.var([1.0, 2.0, 4.0], ddof=1))
    assert float(np.std(x, correction=1)) == pytest.approx(numpy.std([1.0, 2.0, 4.0], ddof=1))
    with pytest.raises(ValueError, match="two names"):
        np.var(x, ddof=1, correction=1)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int32", "float32", "complex64"])
def test_dlpack(dtype):
    x = np.ones((2, 3), dtype)
    for how in ({}, {"copy": True}, {"copy": False}, {"max_version": (1, 0)}):
        there = numpy.from_dlpack(_Wrapped(x, how))
        assert there.dtype == dtype and there.tolist() == x.tolist()
    assert np.from_dlpack(x).tolist() == x.tolist()
    assert x.__dlpack_device__() == (1, 0)
    assert x.__dlpack__(dl_device=(1, 0)) is not None
    with pytest.raises(BufferError):
        x.__dlpack__(dl_device=(2, 0))


class _Wrapped:
    def __init__(self, x, how):
        self.x, self.how = x, how

    def __dlpack__(self, **kwargs):
        return self.x.__dlpack__(**{**kwargs, **self.how})

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()


# ---- what ufuncs have ----

A = numpy.array([[4.0, 3.0, 2.0], [1.0, 5.0, 2.0]], "float32")
REDUCED = (
    "add multiply maximum minimum subtract divide hypot logaddexp power arctan2 fmax logical_and "
    "logical_or logical_xor"
).split()


@pytest.mark.parametrize("name", REDUCED)
def test_reduce_and_accumulate(name):
    ours, theirs = getattr(np, name), getattr(numpy, name)
    for axis in (0, 1, -1):
        running = theirs.accumulate(A, axis=axis)  # power.reduce of NumPy 2.4 is wrong itself
        _close(ours.accumulate(A, axis=axis), running)
        _close(ours.reduce(A, axis=axis), running.take(-1, axis))
    if theirs.identity is not None or name in ("maximum", "minimum", "fmax"):
        _close(ours.reduce(A, axis=None), theirs.reduce(A, axis=None))
        _close(ours.reduce(A, axis=(0, 1), keepdims=True), theirs.reduce(A, (0, 1), keepdims=True))
        _close(ours.reduce(A, axis=1, initial=1.5), theirs.reduce(A, axis=1, initial=1.5))
    _close(ours.reduceat(A, [0, 2, 1], axis=1), theirs.reduceat(A, [0, 2, 1], axis=1))
    _close(ours.outer(A, A[0]), theirs.outer(A, A[0]))


def _close(got, want):
    assert got.shape == want.shape
    numpy.testing.assert_allclose(numpy.asarray(got, float), want.astype(float), rtol=1e-5)


def test_reduce_of_nothing():
    assert int(np.bitwise_xor.reduce(np.zeros(0, int))) == 0
    with pytest.raises(ValueError, match="initial"):
        np.fmax.reduce(np.zeros(0))
    with pytest.raises(ValueError, match="two arrays"):
        np.sin.reduce(np.ones(2))


def test_ufunc_attributes():
    assert (np.add.nin, np.add.nout, np.add.nargs, np.add.identity) == (2, 1, 3, 0)
    assert np.maximum.identity is None and np.sin.nin == 1


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide", "maximum", "minimum"])
def test_at(name):
    places = numpy.array([0, 2, 0])
    wanted = A.ravel().copy()
    getattr(numpy, name).at(wanted, places, 3.0)
    _close(getattr(np, name).at(np.ravel(A), places, 3.0, inplace=False), wanted)
    with pytest.raises(NotImplementedError, match="inplace=False"):
        getattr(np, name).at(np.ravel(A), places, 3.0)


def folded(x):
    return np.hypot.reduce(x, axis=1).sum() + np.subtract.accumulate(x)[-1, 0]


def test_reduce_is_differentiated_and_compiled():
    rows = numpy.linalg.norm(A, axis=1, keepdims=True)
    wanted = A / rows + numpy.array([[1.0, 0, 0], [-1.0, 0, 0]])
    _close(overt.grad(folded)(A), wanted)
    _close(overt.jit(overt.grad(folded))(A), wanted)
    _close(overt.vmap(np.hypot.reduce)(A), rows[:, 0])


def test_numpy_asks_our_methods():
    x = np.asarray(A)
    assert isinstance(numpy.hypot.reduce(x, axis=1), np.ndarray)
    _close(numpy.subtract.accumulate(x), numpy.subtract.accumulate(A))
    _close(numpy.multiply.outer(x, x), numpy.multiply.outer(A, A))


def test_numpy_asks_about_memory():
    x = np.ones(3)
    assert numpy.may_share_memory(x, x) and not numpy.shares_memory(x, numpy.ones(3))


def test_array_api_dispatch_of_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics")
    decomposition = pytest.importorskip("sklearn.decomposition")
    x = np.asarray(numpy.random.default_rng(0).normal(size=(20, 3)).astype("float32"))
    found = decomposition.PCA(2, svd_solver="full").fit_transform(x)
    assert found.shape == (20, 2)
    assert metrics.mean_squared_error(x, x * 2) == pytest.approx(float(np.mean(x**2)), rel=1e-5)


def test_frompyfunc():
    digits = np.frompyfunc(lambda a, b: a * 10 + b, 2, 1, identity=0)
    x = np.array([1, 2, 3])
    assert int(digits.reduce(x)) == 123 and int(digits.reduce(x[:0])) == 0
    assert digits.accumulate(x).tolist() == [1, 12, 123]
    assert digits.outer(x[:2], x[1:]).tolist() == [[12, 13], [22, 23]]
    assert (digits.nin, digits.nout, digits.identity) == (2, 1, 0)
    with pytest.raises(TypeError, match="takes 2 arrays"):
        digits(x)
