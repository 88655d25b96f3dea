"""Complex numbers where real ones are wanted, and other arguments once taken without a word."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import overt
import overt.lax as lax
import overt.numpy as np


@pytest.mark.parametrize(
    "make",
    [
        lambda: np.asarray([1, 2j], np.float32),
        lambda: np.array([[1.0], [2j]], dtype="int32"),
        lambda: np.asarray(2j, float),
        lambda: np.float32(2j),
        lambda: np.full(2, 2j, np.float32),
        lambda: np.full_like(np.ones(2), 2j),
        lambda: overt.jit(lambda: np.array([1j, 2.0], dtype=np.float32))(),
        lambda: np.ediff1d(np.array([True, False])),
        lambda: np.nanmean(np.array([1.0]), dtype=bool),
        lambda: np.take(np.arange(3.0), 0, out=np.zeros(())),
        lambda: lax.add(np.ones(2), np.ones(2), z=1),
        lambda: lax.sin(y=np.ones(2)),
    ],
)
def test_refused(make: Any) -> None:
    with pytest.raises(TypeError):
        make()


@pytest.mark.parametrize(
    "convert",
    [
        lambda z: z.astype(np.float32),
        lambda z: np.astype(z, np.int32),
        lambda z: np.asarray(z, np.float32),
        lambda z: np.array(numpy.asarray(z), np.float32),
    ],
)
def test_arrays_are_converted_with_a_warning(convert: Any) -> None:
    z = np.array([1.0, 2j])
    with pytest.warns(numpy.exceptions.ComplexWarning):
        found = convert(z)
    numpy.testing.assert_array_equal(found, [1, 0])


def test_truth_of_complex_numbers() -> None:
    numpy.testing.assert_array_equal(np.array([1j, 0], dtype=bool), [True, False])
    numpy.testing.assert_array_equal(np.array([1j, 0]).astype(bool), [True, False])


@pytest.mark.parametrize("name", ["var", "std"])
def test_moments_about_a_given_mean(name: str, x64: None) -> None:
    a = numpy.array([[1.0, 2.0, 4.0], [0.5, 3.0, 3.5]])
    m = numpy.array([[2.0], [1.0]])

    def f(a: Any, m: Any) -> Any:
        return np.sum(getattr(np, name)(a, axis=1, mean=m, ddof=1) * np.array([1.0, 2.0]))

    plain = getattr(numpy, name)(a, axis=1, mean=m, ddof=1)
    numpy.testing.assert_allclose(getattr(np, name)(a, axis=1, mean=m, ddof=1), plain)
    h = 1e-6
    for argnum, grad in enumerate(overt.jit(overt.grad(f, (0, 1)))(a, m)):
        step = numpy.ones_like((a, m)[argnum])
        ends = [f(a + d * step, m) if argnum == 0 else f(a, m + d * step) for d in (-h, h)]
        wanted = (float(ends[1]) - float(ends[0])) / (2 * h)
        numpy.testing.assert_allclose(numpy.sum(grad), wanted, rtol=1e-6)
        dots = tuple(step if i == argnum else numpy.zeros_like(x) for i, x in enumerate((a, m)))
        numpy.testing.assert_allclose(overt.jvp(f, (a, m), dots)[1], wanted, rtol=1e-6)


@pytest.mark.filterwarnings("ignore::overt.runtime.errors.RecordedWarning")
def test_operands_of_lax_by_name() -> None:
    x, y = np.array([1.0, 2.0]), np.array([3.0, 5.0])
    for found, wanted in [
        (lax.sub(x=x, y=y), x - y), (lax.sub(x, y=y), x - y), (lax.sin(x=x), np.sin(x)),
        (lax.nextafter(x1=x, x2=y), np.nextafter(x, y)), (lax.max(y=y, x=x), y),
        (overt.jit(lambda a: lax.mul(x=a, y=a))(x), x * x),
        (overt.grad(lambda a: np.sum(lax.mul(x=a, y=y)))(x), y),
        (overt.jvp(lambda a: lax.div(x=a, y=y), (x,), (x,))[1], x / y),
    ]:  # fmt: skip
        numpy.testing.assert_allclose(found, wanted, rtol=1e-6)
    small = np.array([100], "int8")
    assert int(lax.mul(small, small, out_dtype="int32")[0]) == 10000
