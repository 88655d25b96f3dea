"""Texts of values while they are differentiated, and masks that come from a function unknown."""

from __future__ import annotations

import numpy
import pytest

import overt
import overt.numpy as np
from overt.runtime.errors import StagingError


def test_the_text_of_a_value_that_is_differentiated_is_that_of_the_value():
    def commas(x):
        return x * (1 + ",".join(map(str, [x, x])).count(","))

    def letters(x):
        return x * len(list(map(repr, (x,)))[0])

    x = np.array(1.5)
    for f in (commas, letters):
        factor = float(f(x)) / 1.5
        assert [float(y) for y in overt.jvp(f, (x,), (np.ones_like(x),))] == [1.5 * factor, factor]
        assert float(overt.grad(f)(x)) == factor


def test_a_text_of_data_is_no_result():
    def f(x):
        return f"{x}"

    with pytest.raises(StagingError, match="a text is used as a value"):
        overt.jit(f)(1.5)


def test_the_inverse_of_a_mask_has_no_derivative():
    def f(module, v):
        return module.sum(v**2, where=~module.isnan(v)) + module.sum(v[~module.isnan(v)])

    v = numpy.array([1.0, numpy.nan, 2.0])
    got = overt.grad(lambda v: f(np, v))(v)
    want = [(f(numpy, v + h) - f(numpy, v - h)) / 2e-3 for h in numpy.diag([1e-3, 0, 1e-3])]
    numpy.testing.assert_allclose(numpy.asarray(got)[[0, 2]], numpy.array(want)[[0, 2]], rtol=1e-3)
