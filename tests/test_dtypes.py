"""Promotion follows JAX's table; 64 bits only on request."""

import itertools
import warnings

import numpy
import pytest

import overt.numpy as np
from overt.runtime import config, dtypes
from overt.runtime.errors import PromotionError

NAMES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bfloat16",
    "float16", "float32", "float64", "complex64", "complex128", "int4", "uint4",
    "float8_e4m3fn", "float8_e5m2",
)  # fmt: skip
SCALARS = [True, 1, 1.0, 1j]


def dtype(name):
    return numpy.dtype(getattr(dtypes, name, name))


def ours(x, y):
    try:
        return str(dtypes.result_type(x, y)[0])
    except PromotionError:
        return "error"


@pytest.mark.parametrize("x64", [False, True])
def test_promotion_is_that_of_jax(x64):
    jax = pytest.importorskip("jax")
    errors = (ValueError, jax._src.dtypes.TypePromotionError)
    with warnings.catch_warnings(), config.enable_x64(x64), jax.enable_x64(x64):
        warnings.simplefilter("ignore")
        for a, b in itertools.product([*map(dtype, NAMES), *SCALARS], repeat=2):
            try:
                expected = str(jax.numpy.result_type(a, b))
            except errors:
                expected = "error"
            assert ours(a, b) == expected, (a, b)


def test_weak_scalars_keep_the_array_dtype():
    x = np.ones(3, "bfloat16")
    assert (x * 2.0).dtype == dtypes.bfloat16
    assert (np.ones(3, "int8") + 1).dtype == numpy.int8
    assert (np.ones(3, "int32") + 1.0).dtype == numpy.float32


def test_x64_acts_at_once():
    assert np.arange(3.0).dtype == numpy.float32
    with config.enable_x64(True):
        assert np.arange(3.0).dtype == numpy.float64
        assert (np.array(1) + 1).dtype == numpy.int64
        assert np.array(2**40).item() == 2**40
    assert np.array(1.0).dtype == numpy.float32


def test_float64_without_x64_warns():
    with pytest.warns(UserWarning, match="float64"):
        x = np.zeros(2, dtype=numpy.float64)
    assert x.dtype == numpy.float32


def test_mixed_signs_compare_by_value():
    u = np.array([0, 1, 2**32 - 1], dtype="uint32")
    i = np.array([-1, 1, -1], dtype="int32")
    assert (u > i).tolist() == [True, False, True]
    assert (u == i).tolist() == [False, True, False]
    assert (i < u).tolist() == [True, False, True]
    assert (i >= u).tolist() == [False, True, False]


def test_python_integers_that_do_not_fit_are_refused():
    with pytest.raises(OverflowError, match="int8"):
        np.ones(2, "int8") + 300
    with pytest.raises(OverflowError, match="int32"):
        np.ones(2, "int32") + 2**40


def test_issubdtype_and_limits():
    assert dtypes.issubdtype(dtypes.bfloat16, numpy.floating)
    assert not dtypes.issubdtype(numpy.int32, numpy.floating)
    assert dtypes.issubdtype(numpy.floating, numpy.inexact)
    assert dtypes.issubdtype(numpy.float32, numpy.float32)
    assert float(dtypes.finfo(dtypes.bfloat16).eps) == 0.0078125
    assert dtypes.iinfo("int8").max == 127
