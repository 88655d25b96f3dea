"""Checkpoints: the same derivatives, with less kept; what policies keep."""

from __future__ import annotations

import numpy
import pytest

import overt
import overt.numpy as np
from overt import ad_checkpoint
from overt.ad_checkpoint import checkpoint_name, print_saved_residuals

POLICIES = overt.checkpoint_policies


def layer(params, x, *, scale=1.0):
    w, b = params["w"], params["b"]
    x = checkpoint_name(np.tanh(x @ w + b), "first")
    x = checkpoint_name(np.sin(x) @ w, "second")
    return np.tanh(x @ w) * scale


def network(params, x, f):
    for p in (params[0], params[1], params[2]):
        x = f(p, x, scale=0.5)
    return np.sum(x**2)


@pytest.fixture
def arguments():
    random = numpy.random.default_rng(0)
    draw = lambda *shape: np.asarray(random.normal(size=shape).astype("float32") / 3)  # noqa: E731
    return [{"w": draw(5, 5), "b": draw(5)} for _ in range(3)], draw(4, 5)


def same(actual, expected, tolerance=2e-5):
    for a, b in zip(overt.tree.leaves(actual), overt.tree.leaves(expected), strict=True):
        numpy.testing.assert_allclose(a, b, tolerance, tolerance)


KINDS = {
    "plain": None,
    "default": {},
    "nothing": {"policy": POLICIES.nothing_saveable},
    "everything": {"policy": POLICIES.everything_saveable},
    "dots": {"policy": POLICIES.dots_saveable},
    "names": {"policy": POLICIES.save_only_these_names("second")},
    "other names": {"policy": POLICIES.save_any_names_but_these("second")},
    "all but names": {"policy": POLICIES.save_anything_except_these_names("second")},
    "mine": {"policy": lambda prim, *avals, **params: prim.name == "sin"},
    "kept after all": {"prevent_cse": False},
}


def checkpointed(kind):
    options = KINDS[kind]
    return layer if options is None else overt.checkpoint(layer, **options)


def gradient(kind):
    f = checkpointed(kind)
    return overt.grad(lambda params, x: network(params, x, f), argnums=(0, 1))


def lowered(kind):
    square, row = (overt.ShapeDtypeStruct(s, np.float32) for s in ((64, 64), (64,)))
    params = [{"w": square, "b": row} for _ in range(3)]
    return overt.jit(gradient(kind)).lower(params, square)


@pytest.mark.parametrize("kind", KINDS)
def test_same_derivatives(kind, arguments):
    want = overt.jit(gradient("plain"))(*arguments)
    same(overt.jit(gradient(kind))(*arguments), want)


def test_policies_choose_what_is_computed_again():
    """By the products of matrices: 9 forward, 18 backward, up to 9 again."""
    counts = {kind: lowered(kind).as_text().count("dot_general") for kind in KINDS}
    assert counts == {
        "plain": 27, "default": 36, "nothing": 36, "everything": 27, "dots": 27, "names": 33,
        "other names": 36, "all but names": 27, "mine": 36, "kept after all": 36,
    }  # fmt: skip


def test_xla_does_not_undo_a_checkpoint():
    flops = {
        kind: lowered(kind).compile().cost_analysis()["flops"]
        for kind in ("plain", "default", "kept after all")
    }
    assert flops["default"] > 1.1 * flops["plain"]
    assert flops["kept after all"] == pytest.approx(flops["plain"], rel=0.01)


def test_eager_second_derivatives_and_batches(arguments):
    params, x = arguments
    f = checkpointed("dots")
    of = lambda g: lambda x: np.sum(g(params[0], x) ** 2)  # noqa: E731
    same(overt.grad(of(f))(x), overt.grad(of(layer))(x))

    def twice(g):
        return overt.jit(overt.grad(lambda x: np.sum(overt.grad(of(g))(x) ** 2)))

    for kind in ("dots", "default"):
        same(twice(checkpointed(kind))(x), twice(layer)(x), 1e-4)
    rows = x[:, None]
    same(overt.jit(overt.vmap(overt.grad(of(f))))(rows), overt.grad(of(layer))(x)[:, None])
    same(overt.jvp(of(f), (x,), (x,)), overt.jvp(of(layer), (x,), (x,)))


def test_arrays_that_a_function_holds_have_derivatives(arguments):
    params, x = arguments

    def loss(w, policy):
        held = overt.checkpoint(lambda x: np.tanh(x @ w), policy=policy)
        return np.sum(held(x) ** 2)

    want = overt.grad(lambda w: np.sum(np.tanh(x @ w) ** 2))(params[0]["w"])
    for policy in (None, POLICIES.dots_saveable):
        same(overt.grad(loss)(params[0]["w"], policy), want)


def test_loops_and_branches_with_a_policy():
    @overt.checkpoint(policy=POLICIES.save_only_these_names("grown"))
    def f(x):
        y = checkpoint_name(np.exp(x), "grown")
        while np.sum(y) < 100.0:
            y = y * 2.0
        return y * x if np.sum(x) > 0 else y

    x = np.array([0.1, 0.2])
    plain = lambda x: np.sum(f.__wrapped__(x))  # noqa: E731
    same(overt.jit(overt.grad(lambda x: np.sum(f(x))))(x), overt.jit(overt.grad(plain))(x))


def test_saved_residuals_are_printed(capsys):
    x, w = np.ones((4, 5)), {"w": np.ones((5, 5)), "b": np.ones(5)}
    shown = {}
    for kind in ("plain", "default", "names"):
        f = checkpointed(kind)
        print_saved_residuals(lambda w, x: f(w, x), w, x)  # noqa: B023
        shown[kind] = capsys.readouterr().out.splitlines()
    assert len(shown["plain"]) > 5
    assert all("from the argument" in line for line in shown["default"])
    (named,) = set(shown["names"]) - set(shown["default"])
    assert named.startswith("f32[4,5] output of name")


def test_what_is_refused():
    policy = POLICIES.save_and_offload_only_these_names
    with pytest.raises(NotImplementedError, match="host's memory"):
        policy(names_which_can_be_saved=[], names_which_can_be_offloaded=["x"])
    moving = lambda prim, *avals, **params: ad_checkpoint.Offloadable("device", "pinned_host")  # noqa: E731
    f = overt.checkpoint(lambda x: np.sum(np.sin(x)), policy=moving)
    with pytest.raises(NotImplementedError, match="moved to pinned_host"):
        overt.grad(lambda x: 2 * f(x))(np.ones(3))
    with pytest.raises(TypeError, match="policy= is a function"):
        overt.checkpoint(layer, policy="dots")


def test_the_names_of_jax():
    jax = pytest.importorskip("jax")
    assert {n for n in dir(jax.checkpoint_policies) if n[0] != "_"} == set(vars(POLICIES))
