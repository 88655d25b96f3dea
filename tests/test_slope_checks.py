"""overt.test_util: right derivatives pass, wrong ones do not."""

from __future__ import annotations

import numpy
import pytest

import overt
import overt.numpy as np
from overt.test_util import check_grads, check_jvp, check_vjp


@pytest.mark.parametrize("modes", [("fwd", "rev"), ["fwd"], "rev"])
def test_right_ones_pass(modes):
    check_grads(lambda x, y: np.sin(x) * y, (np.arange(3.0), np.ones(3)), 2, modes)
    check_grads(lambda d, n: d["a"] ** n * d["b"], ({"a": 1.5, "b": 2.0}, 3), 2, modes=modes)
    check_grads(lambda z: np.abs(z) ** 2 + np.real(z**3), (np.array([1 + 2j, 0.5j]),), 1, modes)
    check_grads(np.tanh, (np.ones(2, np.float16),), 1, modes, eps=2.0**-5)


def test_double_precision_is_held_to_more():
    with overt.enable_x64(True):
        check_grads(lambda x: np.exp(np.sin(x)), (np.linspace(0.0, 1.0, 4),), order=3)
        off = overt.custom_jvp(np.sin)
        off.defjvps(lambda t, out, x: np.cos(x) * t * (1 + 1e-3))
        with pytest.raises(AssertionError):
            check_grads(off, (0.3,), order=1)


def test_wrong_ones_are_found():
    wrong = overt.custom_jvp(lambda x: np.sin(x))
    wrong.defjvps(lambda t, out, x: -np.cos(x) * t)
    with pytest.raises(AssertionError, match="JVP tangent"):
        check_grads(wrong, (0.3,), order=1)
    with pytest.raises(AssertionError, match="VJP cotangent"):
        check_grads(wrong, (0.3,), order=1, modes=["rev"])
    with pytest.raises(AssertionError, match="JVP primal"):
        check_jvp(np.sin, lambda x, t: (np.cos(*x), overt.jvp(np.sin, x, t)[1]), (0.3,))
    second = overt.custom_jvp(lambda x: x**3)
    second.defjvps(lambda t, out, x: overt.lax.stop_gradient(3 * x**2) * t)
    check_grads(second, (0.3,), order=1)
    with pytest.raises(AssertionError):
        check_grads(second, (0.3,), order=2)
    with pytest.raises(ValueError, match="fwd"):
        check_grads(np.sin, (0.3,), 1, modes=["forward"])


def test_tolerances_and_names():
    check_vjp(np.sin, lambda x: overt.vjp(np.sin, x), (0.3,), atol=1e-3, rtol=1e-3, eps=1e-2)
    with pytest.raises(AssertionError, match="mine"):
        check_vjp(np.sin, lambda x: overt.vjp(np.cos, x), (0.3,), err_msg="mine")
    x = numpy.float32(0.3)
    check_jvp(
        lambda v: (v, 2), lambda xs, ts: ((xs[0], 2), (ts[0], numpy.zeros((), overt.float0))), (x,)
    )
