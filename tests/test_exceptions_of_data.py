"""Exceptions that depend on data: what `try` does where only the running program knows."""

from __future__ import annotations

import math

import numpy as np
import pytest

import overt


class Ratio:
    def __init__(self, top):
        self.top = top

    def over(self, x):
        return self.top / x

    def root(self, x):
        return math.sqrt(x)


def through_a_method(x):
    try:
        y = Ratio(1.0).over(x)
    except ZeroDivisionError:
        y = 5.0 * x
    return y


def root_through_a_method(x):
    try:
        y = Ratio(1.0).root(x)
    except ValueError:
        y = 5.0 * x
    return y


@pytest.mark.parametrize(("f", "x"), [(through_a_method, 0.0), (root_through_a_method, -4.0)])
def test_what_is_not_followed_is_handled_or_refused(f, x):
    """Handled where numbers are known; refused where they are not: never passed over."""
    assert overt.grad(f)(x) == 5.0
    assert overt.value_and_grad(f)(x)[0] == f(x)
    for compiled in (overt.jit(f), overt.jit(overt.grad(f))):
        with pytest.raises(overt.errors.StagingError, match="`try` cannot handle this"):
            compiled(x)
    with pytest.raises(overt.errors.StagingError, match="`try` cannot handle this"):
        overt.vmap(f)(np.array([x, 1.0]))
