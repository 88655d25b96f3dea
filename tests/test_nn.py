"""Activations and softmax: values against NumPy and JAX, derivatives against differences."""

from __future__ import annotations

import numpy as onp
import pytest
from numpy.testing import assert_allclose

import overt
import overt.numpy as np
from overt import nn
from overt.runtime.record import vjp_call

X = onp.array([-4.0, -2.5, -1.0, -0.3, 0.0, 0.4, 1.0, 2.5, 3.5, 7.0])
ACTIVATIONS = {
    **{name: getattr(nn, name) for name in (
        "relu", "relu6", "hard_tanh", "hard_sigmoid", "hard_silu", "leaky_relu", "elu", "celu",
        "selu", "sigmoid", "softplus", "log_sigmoid", "silu", "soft_sign", "gelu", "mish",
        "squareplus", "sparse_plus", "sparse_sigmoid", "tanh", "glu", "softmax", "log_softmax",
        "logsumexp", "logmeanexp", "standardize",
    )},
    "gelu_exact": lambda x, nn=nn: nn.gelu(x, approximate=False),
    "elu_2": lambda x, nn=nn: nn.elu(x, 2.0),
    "celu_2": lambda x, nn=nn: nn.celu(x, 2.0),
    "leaky_relu_2": lambda x, nn=nn: nn.leaky_relu(x, 0.2),
    "log1mexp_shifted": lambda x, nn=nn: nn.log1mexp(x + 4.5),
    "softmax_where": lambda x, nn=nn: nn.softmax(x, where=onp.arange(10) % 3 > 0),
}  # fmt: skip


@pytest.fixture(scope="module")
def jax():
    return pytest.importorskip("jax")


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_values_and_gradients_as_jax(jax, name):
    function, weights = ACTIVATIONS[name], onp.linspace(0.3, 1.7, 10).astype("float32")
    x = X.astype("float32")
    theirs = getattr(jax.nn, name, None) or (lambda x: function(x, nn=jax.nn))
    wanted, pull = jax.vjp(theirs, x)
    out, pullback = vjp_call(function, np.asarray(x))
    assert out.dtype == wanted.dtype
    assert_allclose(onp.asarray(out), onp.asarray(wanted), rtol=2e-5, atol=1e-6)
    g = onp.resize(weights, wanted.shape)
    bar = onp.asarray(pullback(np.asarray(g))[0])
    assert_allclose(bar, onp.asarray(pull(jax.numpy.asarray(g))[0]), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_gradients_are_those_of_the_values(x64, name):
    function = ACTIVATIONS[name]
    x = X + 0.0123  # away from the kinks
    out, pullback = vjp_call(function, np.asarray(x))
    g = onp.resize(onp.linspace(0.3, 1.7, 10), out.shape)
    step = 1e-5 * onp.cos(onp.arange(10))
    high, low = (onp.asarray(function(np.asarray(x + s))) for s in (step, -step))
    bar = onp.asarray(pullback(np.asarray(g))[0])
    assert_allclose((bar * step).sum(), ((high - low) / 2 * g).sum(), rtol=1e-6)


def test_one_hot():
    assert_allclose(nn.one_hot(np.array([0, 2, 5]), 3), [[1, 0, 0], [0, 0, 1], [0, 0, 0]])
    assert nn.one_hot(np.array([[0, 1]]), 4, axis=0).shape == (4, 1, 2)
    assert nn.one_hot(1, 3, dtype="int32").tolist() == [0, 1, 0]


def test_softmax_does_not_overflow():
    x = np.array([1e4, -1e4, 1e4])
    assert_allclose(nn.softmax(x), [0.5, 0, 0.5])
    assert onp.isfinite(onp.asarray(nn.log_softmax(x))).all()


def test_masked_log_softmax():
    mask = onp.array([True, False, True])
    out = onp.asarray(nn.log_softmax(np.array([1.0, 9.0, 1.0]), where=mask))
    assert_allclose(out, [-onp.log(2), -onp.inf, -onp.log(2)], rtol=1e-6)


def test_odd_halves_are_refused():
    with pytest.raises(ValueError, match="odd"):
        nn.glu(np.ones(3))


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("name, factor", [("softplus", 1.0), ("log_sigmoid", -1.0)])
def test_second_derivatives_keep_their_digits_in_the_tails(x64, name, factor, sign):
    x = sign * 37.43
    curvature = overt.grad(overt.grad(getattr(nn, name)))(x)
    assert_allclose(float(curvature), factor / (2 + onp.exp(x) + onp.exp(-x)), rtol=1e-12)
