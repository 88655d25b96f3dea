"""Attention against JAX's, a loop over queries, and finite differences."""

from __future__ import annotations

import numpy
import pytest
from numeric import check_batch, check_derivatives
from numpy.testing import assert_allclose

import overt
from overt.nn import dot_product_attention

RNG = numpy.random.default_rng(0)


def arrays(b=2, t=4, s=5, n=4, k=2, h=3):
    return tuple(
        RNG.normal(size=(b, *shape)) for shape in ((t, n, h), (s, k, h), (s, k, h))
    )  # fmt: skip


CASES = {
    "plain": {},
    "scaled": {"scale": 0.3},
    "causal": {"is_causal": True},
    "window": {"local_window_size": 1},
    "uneven window": {"local_window_size": (2, 0)},
    "lengths": {"query_seq_lengths": [3, 4], "key_value_seq_lengths": [2, 5]},
    "mask": {"mask": numpy.tile([True, True, False, True, True], (2, 1, 4, 1))},
    "biased": {"bias": RNG.normal(size=(1, 4, 4, 5)), "is_causal": True},
    "masked heads": {"mask": RNG.random((1, 4, 4, 5)) > 0.3, "return_residual": True},
}


@pytest.mark.parametrize("name", CASES)
def test_as_jax(name):
    jax = pytest.importorskip("jax")
    q, k, v = (x.astype("float32") for x in arrays())
    how = {key: numpy.asarray(x) if isinstance(x, list) else x for key, x in CASES[name].items()}
    if "bias" in how:
        how["bias"] = how["bias"].astype("float32")
    wanted = jax.nn.dot_product_attention(q, k, v, **how)
    found = dot_product_attention(q, k, v, **how)
    jitted = overt.jit(lambda q, k, v: dot_product_attention(q, k, v, **how))(q, k, v)
    for x, y, z in zip(*(out if isinstance(out, tuple) else (out,)
                         for out in (found, wanted, jitted)), strict=True):  # fmt: skip
        assert x.dtype == y.dtype and x.shape == y.shape
        assert_allclose(x, y, rtol=1e-5, atol=1e-6)
        assert_allclose(z, y, rtol=1e-5, atol=1e-6)


def looped(q, k, v):
    """Causal attention of one sequence, by loops."""
    out = numpy.zeros((q.shape[0], q.shape[1], v.shape[2]))
    for t in range(q.shape[0]):
        for n in range(q.shape[1]):
            head = n // (q.shape[1] // k.shape[1])
            logits = k[: t + 1, head] @ q[t, n] / q.shape[2] ** 0.5
            weights = numpy.exp(logits - logits.max())
            out[t, n] = weights / weights.sum() @ v[: t + 1, head]
    return out


def test_loops_derivatives_and_lanes(x64):
    q, k, v = arrays(b=2)

    def causal(q, k, v):
        return dot_product_attention(q, k, v, is_causal=True)

    assert_allclose(causal(q[0], k[0], v[0]), looped(q[0], k[0], v[0]), rtol=1e-10)
    check_derivatives(causal, q[0], k[0], v[0], order=2)
    check_batch(causal, q, k, v)
    slope = overt.jit(overt.grad(lambda q: causal(q, k, v)[0, 1].sum()))(q)
    step = 1e-6 * RNG.normal(size=q.shape)
    high, low = (numpy.asarray(causal(q + e, k, v))[0, 1].sum() for e in (step, -step))
    assert_allclose((numpy.asarray(slope) * step).sum(), (high - low) / 2, rtol=1e-6)


def test_a_query_that_sees_nothing_has_finite_slopes(x64):
    q, k, v = arrays()

    def f(q):
        return dot_product_attention(q, k, v, mask=numpy.zeros((1, 1, 4, 5), bool)).sum()

    assert_allclose(overt.grad(f)(q), 0)


def test_arguments_are_checked():
    q, k, v = arrays()
    with pytest.raises(ValueError, match="evenly"):
        dot_product_attention(q[:, :, :3], k, v)
    with pytest.raises(ValueError, match="axes"):
        dot_product_attention(q[0], k, v)
    with pytest.raises(ValueError, match="belong together"):
        dot_product_attention(q, k[:1], v)
    with pytest.raises(ValueError, match="broadcast"):
        dot_product_attention(q, k, v, bias=numpy.ones((2, 4, 4, 4)))
    with pytest.raises(TypeError, match="boolean"):
        dot_product_attention(q, k, v, mask=numpy.ones((1, 1, 4, 5)))
    with pytest.raises(NotImplementedError, match="cudnn"):
        dot_product_attention(q, k, v, implementation="cudnn")
