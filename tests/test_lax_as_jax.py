"""Loops, windows, convolutions and sorts of `lax` as JAX has them, where the two could differ."""

from __future__ import annotations

import numpy as onp
import pytest
from numpy.testing import assert_allclose

import overt
import overt.numpy as np
from overt import lax

RNG = onp.random.default_rng(0)
X = RNG.normal(size=(5, 4)).astype("float32")
IMAGE = RNG.normal(size=(2, 5, 5, 3)).astype("float32")
KERNEL = RNG.normal(size=(3, 2, 3, 4)).astype("float32")


def step(n):
    return lambda c, x: (c * 0.9 + n.sin(x), c * x)


def affine(a, b):
    return a[0] * b[0], a[1] * b[0] + b[1]


CALLS = {
    "numbers carried": lambda L, n: L.scan(lambda c, _: (c + 1, c), 0, None, length=4),
    "scan from the end": lambda L, n: L.scan(step(n), n.ones(4), X, reverse=True, unroll=2),
    "scan of nothing": lambda L, n: L.scan(lambda c, x: (c + x, c), n.zeros(3), n.zeros((0, 3))),
    "map in batches": lambda L, n: L.map(lambda x: n.sin(x).sum(), X, batch_size=2),
    "fori that widens": lambda L, n: L.fori_loop(0, 3, lambda i, x: x + 1.5, 0),
    "while of numbers": lambda L, n: L.while_loop(lambda x: x < 10, lambda x: x * 2, 1),
    "cond with operand=": lambda L, n: L.cond(
        False, lambda x: x + 1, lambda x: x * 2, operand=n.float32(3)
    ),
    "associative": lambda L, n: L.associative_scan(affine, (X, X + 1)),
    "associative from the end": lambda L, n: L.associative_scan(n.add, X, reverse=True, axis=1),
    "associative of one": lambda L, n: L.associative_scan(n.add, X[:1]),
    "cumlogsumexp": lambda L, n: L.cumlogsumexp(X, axis=1, reverse=True),
    "windows of trees": lambda L, n: L.reduce_window(
        (X, X + 1), (0.0, 0.0), lambda a, b: (a[0] + b[0], n.maximum(a[1], b[1])), (2, 2)
    ),
    "windows apart": lambda L, n: L.reduce_window(
        X, 0.0, L.add, (2, 2), (1, 2), [(1, 0), (2, 1)], (2, 1), (1, 2)
    ),
    "consistent padding": lambda L, n: [
        L.conv_transpose(
            n.asarray(IMAGE), n.asarray(KERNEL), (2, 2), pads, use_consistent_padding=True
        )
        for pads in ("SAME", ((1, 0), (2, 1)))
    ],
    "sorted together": lambda L, n: L.sort((n.array([2, 1, 2]), n.array([3, 2, 1])), num_keys=2),
}


@pytest.mark.parametrize("name", CALLS)
def test_as_jax(name):
    jax = pytest.importorskip("jax")
    wanted = jax.tree.leaves(CALLS[name](jax.lax, jax.numpy))
    found = overt.tree.leaves(CALLS[name](lax, np))
    assert len(found) == len(wanted)
    for x, y in zip(found, wanted, strict=True):
        assert x.shape == y.shape and x.dtype == y.dtype
        assert_allclose(x, y, rtol=1e-5, atol=1e-5)


def test_derivatives_of_associative_scans():
    jax = pytest.importorskip("jax")
    weights = onp.arange(20, dtype="float32").reshape(5, 4)
    loss = lambda L, n: lambda x: n.sum(weights * L.associative_scan(affine, (x, n.sin(x)))[1])
    wanted = jax.jit(jax.grad(loss(jax.lax, jax.numpy)))(X)
    assert_allclose(overt.jit(overt.grad(loss(lax, np)))(X), wanted, rtol=1e-4, atol=1e-4)
    assert_allclose(overt.grad(loss(lax, np))(X), wanted, rtol=1e-4, atol=1e-4)


def test_convolutions_without_results():
    convolved = lambda x, w: lax.conv_general_dilated(x, w, (1,), "VALID")
    x, w = np.ones((2, 3, 2)), np.ones((4, 3, 5))
    bars = overt.grad(lambda x, w: np.sum(convolved(x, w)), (0, 1))(x, w)
    assert_allclose(bars[0], onp.zeros((2, 3, 2))) and assert_allclose(
        bars[1], onp.zeros((4, 3, 5))
    )
    assert overt.vmap(convolved)(x[None], w[None]).shape == (1, 2, 4, 0)


@pytest.mark.parametrize(
    ("kind", "call"),
    [
        (TypeError, lambda: lax.switch(1.0, [np.sin, np.cos], 1.0)),
        (ValueError, lambda: lax.switch(0, [], 1.0)),
        (ValueError, lambda: lax.associative_scan(affine, (X, X[:2]))),
        (TypeError, lambda: lax.reduce_window(X, 0.0, lax.add, (2,), (1,), "SAME")),
        (ValueError, lambda: lax.sort((X, X), num_keys=3)),
        (TypeError, lambda: lax.dynamic_slice(X, (0.0, 0.0), (1, 1))),
        (TypeError, lambda: lax.argmax(X, 1, "float32")),
    ],
)
def test_misuse_is_refused(kind, call):
    with pytest.raises(kind):
        call()
