"""What lanes tell each other: against JAX, and against plain NumPy where JAX has no answer."""

from __future__ import annotations

import numpy as onp
import pytest
from numpy.testing import assert_allclose

import overt
import overt.numpy as np
from overt import lax
from overt.errors import BatchedPredicateError

X = onp.random.default_rng(0).normal(size=(3, 3, 6)).astype("float32")
CALLS = {
    "psum": lambda L, n, x: x / L.psum(x**2, "i"),
    "psum of a tree": lambda L, n, x: L.psum({"a": x, "b": (x * x, 2.0)}, "i")["b"][0] * x,
    "psum of one": lambda L, n, x: x * L.psum(1, "i"),
    "pmean": lambda L, n, x: x - L.pmean(n.sin(x), "i"),
    "pmax": lambda L, n, x: x * L.pmax(x, "i"),
    "pmin": lambda L, n, x: x * L.pmin(x, "i"),
    "axis_index": lambda L, n, x: x * L.axis_index("i") * L.axis_size("i"),
    "all_gather": lambda L, n, x: L.all_gather(n.sin(x), "i") * x,
    "all_gather last": lambda L, n, x: L.all_gather(n.sin(x), "i", axis=-1),
    "all_gather tiled": lambda L, n, x: L.all_gather(x**2, "i", axis=1, tiled=True),
    "psum_scatter": lambda L, n, x: L.psum_scatter(x**2, "i"),
    "psum_scatter tiled": lambda L, n, x: L.psum_scatter(
        x**2, "i", scatter_dimension=1, tiled=True
    ),
    "ppermute": lambda L, n, x: L.ppermute(x**2, "i", [(0, 1), (1, 2), (2, 0)]) * x,
    "pshuffle": lambda L, n, x: L.pshuffle(x**2, "i", [2, 0, 1]) * x,
    "all_to_all": lambda L, n, x: L.all_to_all(x**2, "i", 0, 1),
    "all_to_all tiled": lambda L, n, x: L.all_to_all(x**2, "i", 1, 0, tiled=True),
    "pswapaxes": lambda L, n, x: L.pswapaxes(x**2, "i", 0),
}
WITHOUT_DERIVATIVE_IN_JAX = ("pmax", "pmin")
WITHOUT_LANES_OF_DERIVATIVES_IN_JAX = ("all_to_all", "pswapaxes")


def weighted(n, v):
    return n.sum(v * n.cos(n.arange(v.size, dtype="float32").reshape(v.shape)))


@pytest.mark.parametrize("name", CALLS)
def test_as_jax(name):
    jax = pytest.importorskip("jax")
    call = CALLS[name]
    ours, theirs = (lambda x: call(lax, np, x)), (lambda x: call(jax.lax, jax.numpy, x))
    both = ((overt, ours, np), (jax, theirs, jax.numpy))

    def same(compute):
        mine, wanted = (compute(o, f, n) for o, f, n in both)
        assert mine.shape == wanted.shape
        assert_allclose(mine, wanted, rtol=1e-4, atol=1e-5)

    same(lambda o, f, n: o.vmap(f, axis_name="i")(X))
    same(lambda o, f, n: o.vmap(o.vmap(f, axis_name="i"))(n.stack([X, X * 2])))
    same(lambda o, f, n: o.vmap(o.vmap(f), axis_name="i")(n.stack([X, X * 2, X + 1])))
    if name in WITHOUT_DERIVATIVE_IN_JAX:
        return
    same(lambda o, f, n: o.jvp(o.vmap(f, axis_name="i"), (X,), (n.cos(X),))[1])
    same(lambda o, f, n: o.grad(lambda x: weighted(n, o.vmap(f, axis_name="i")(x)))(X))
    if not name.startswith(WITHOUT_LANES_OF_DERIVATIVES_IN_JAX):
        same(lambda o, f, n: o.vmap(o.grad(lambda x: weighted(n, f(x))), axis_name="i")(X))


def test_programs():
    share = overt.jit(overt.vmap(lambda x: x / lax.psum(x, "i"), axis_name="i"))
    assert_allclose(share(X), X / X.sum(0), rtol=1e-5)


def test_several_axes():
    f = lambda x: (lax.psum(x, ("i", "j")), lax.axis_index(("i", "j")), lax.axis_size(("i", "j")))
    total, index, size = overt.vmap(overt.vmap(f, axis_name="j"), axis_name="i", out_axes=0)(X[0])
    assert_allclose(total, onp.full((3, 6), X[0].sum()), rtol=1e-5)
    assert onp.asarray(index).ravel().tolist() == list(range(18)) and onp.all(size == 18)


def test_sent_to_some_lanes_only():
    shifted = overt.vmap(lambda x: lax.ppermute(x, "i", [(0, 1), (1, 2)]), axis_name="i")
    assert_allclose(shifted(X), onp.concatenate([0 * X[:1], X[:2]]))
    first = overt.vmap(lambda x: x * lax.pbroadcast(x, "i", 1), axis_name="i")
    assert_allclose(first(X), X * X[1], rtol=1e-6)
    slope = overt.grad(lambda x: np.sum(first(x)))(X)
    wanted = X[[1, 1, 1]] + 0
    wanted[1] += X.sum(0)
    assert_allclose(slope, wanted, rtol=1e-5, atol=1e-6)


def test_the_largest_has_the_derivative():
    largest = lambda x: overt.vmap(lambda x: lax.pmax(x * x, "i"), 0, None, axis_name="i")(x)
    assert_allclose(overt.jit(overt.grad(largest))(onp.float32([1, 3, 2])), [0, 6, 0])
    assert_allclose(overt.grad(largest)(onp.float32([3, 1, 3])), [3, 0, 3])


def test_results_that_all_lanes_share_are_counted_once():
    shared = lambda y: overt.vmap(lambda x, y: y * y, (0, None), None)(X, y)
    assert_allclose(overt.grad(shared)(3.0), 6)
    total = lambda x: overt.vmap(lambda x: lax.psum(x * x, "i"), 0, None, axis_name="i")(x)
    x = onp.float32([1, 2, 3])
    assert_allclose(overt.grad(total)(x), 2 * x)
    assert_allclose(overt.grad(lambda x: total(x) ** 2)(x), 4 * 14 * x)


def test_loops():
    def settle(x):
        for _ in range(3):
            x = x / lax.psum(x, "i") + 1
        return x

    x = onp.float32([1, 2, 3])
    wanted = x
    for _ in range(3):
        wanted = wanted / wanted.sum() + 1
    assert_allclose(overt.vmap(settle, axis_name="i")(x), wanted, rtol=1e-6)
    assert_allclose(overt.jit(overt.vmap(settle, axis_name="i"))(x), wanted, rtol=1e-6)


def in_some_lanes(x):
    if x > 1.5:
        return lax.psum(x, "i")
    return x


@pytest.mark.parametrize(
    ("kind", "call"),
    [
        (NameError, lambda x: lax.psum(x, "j")),
        (BatchedPredicateError, in_some_lanes),
        (ValueError, lambda x: lax.ppermute(x, "i", [(0, 1), (2, 1)])),
        (ValueError, lambda x: lax.pshuffle(x, "i", [0, 0, 1])),
        (ValueError, lambda x: lax.psum_scatter(np.zeros(4), "i")),
        (ValueError, lambda x: lax.all_to_all(np.zeros((4, 3)), "i", 0, 0)),
        (NotImplementedError, lambda x: lax.psum(x, "i", axis_index_groups=[[0, 1], [2]])),
        (NotImplementedError, lambda x: lax.all_gather(x, ("i", "i"))),
    ],
)
def test_misuse_is_refused(kind, call):
    with pytest.raises(kind):
        overt.vmap(call, axis_name="i")(onp.float32([1, 2, 3]))
