"""Reverse sweeps: no checks that the forward sweep has made."""

from __future__ import annotations

import re

import numpy
import pytest

import overt
import overt.numpy as np


def first_hit(direction, light):
    """A loop that ends early with a value of one of its branches."""
    travelled = 0.0
    while travelled < 8.0:
        gap = 2.0 - travelled * direction
        if gap < 0.5:
            facing = light * np.sin(gap)
            return facing + np.maximum(facing, 0.0)
        travelled = travelled + 0.5 * gap
    return 0.0


def test_what_a_branch_has_set_is_not_checked_again_in_reverse():
    slope = overt.jit(overt.grad(first_hit, argnums=(0, 1)))
    assert "callback" not in slope.lower(0.8, 0.7).as_text()
    step = 1e-3
    found = slope(0.8, 0.7)
    for i, small in enumerate(numpy.eye(2) * step):
        more, less = (first_hit(*(numpy.array([0.8, 0.7]) + s * small)) for s in (1, -1))
        numpy.testing.assert_allclose(found[i], (more - less) / (2 * step), rtol=2e-3)
    directions = np.array([0.8, 0.9, 0.1])
    lanes = overt.vmap(overt.grad(first_hit), in_axes=(0, None))(directions, 0.7)
    one_by_one = [overt.grad(first_hit)(float(d), 0.7) for d in directions]
    numpy.testing.assert_allclose(lanes, one_by_one, rtol=1e-5)


POLICIES = overt.checkpoint_policies


@overt.custom_vjp
def odd(x):
    return np.sin(x)


odd.defvjp(lambda x: (np.sin(x), x), lambda x, g: (100.0 * g,))


def with_rules(x):
    return odd(x) + np.linalg.norm(x) + overt.lax.stop_gradient(x) * x


@pytest.mark.parametrize("policy", [POLICIES.dots_saveable, POLICIES.everything_saveable])
def test_a_policy_leaves_rules_alone(policy):
    held = overt.checkpoint(with_rules, policy=policy)
    for x in (np.zeros(2), np.array([3.0, 4.0])):
        for around in (lambda f: f, overt.jit):
            found = around(overt.grad(lambda x: np.sum(held(x))))(x)
            numpy.testing.assert_allclose(found, 100.0 + (x if x.sum() == 0 else 2 * x / 5 + x))


def layer(x, w):
    return np.sin(np.sin(x @ w) @ w)


def products(transformed, *args):
    return overt.jit(transformed).lower(*args).as_text().count("dot_general")


def test_a_policy_keeps_products_under_vmap_and_at_second_order():
    rng = numpy.random.default_rng(3)
    x, w = (rng.normal(size=s).astype("float32") for s in ((2, 3), (3, 3)))
    ways = {"plain": layer, "none": overt.checkpoint(layer)}
    ways["dots"] = overt.checkpoint(layer, policy=POLICIES.dots_saveable)

    def batched(f):
        loss = overt.grad(lambda x, w: np.sum(np.sin(f(x, w))))
        return overt.vmap(loss, in_axes=(0, None))

    def second(f):
        loss = overt.grad(lambda x, w: np.sum(np.sin(f(x, w))))
        return overt.grad(lambda x, w: np.sum(loss(x, w) ** 2))

    for twice, arg in ((batched, x[None]), (second, x)):
        counts = {name: products(twice(f), arg, w) for name, f in ways.items()}
        assert counts["plain"] <= counts["dots"] < counts["none"]
        wanted = overt.jit(twice(layer))(arg, w)
        numpy.testing.assert_allclose(overt.jit(twice(ways["dots"]))(arg, w), wanted, rtol=1e-4)


def in_scopes(w, x):
    with overt.named_scope("unused"):
        y = x * x
    with overt.named_scope("encoder"):
        h = np.tanh(x @ w)
        h = h / np.sum(h)
    with overt.named_scope("decoder"):
        for _ in range(3):
            h = np.sin(h @ w)
    with overt.named_scope("end"), overt.default_matmul_precision("highest"):
        if np.sum(h) > 0:
            h = h @ w
    return np.sum(h) + np.sum(y)


def test_scopes_and_settings_of_blocks_hold_in_reverse():
    rng = numpy.random.default_rng(4)
    w, x = (rng.normal(size=s).astype("float32") for s in ((3, 3), (2, 3)))
    lowered = overt.jit(overt.grad(in_scopes)).lower(w, x)
    names = set(re.findall(r'loc\("([^"]*/\w+)"\(', lowered.as_text(debug_info=True)))
    assert {"in_scopes/encoder/integer_power", "in_scopes/decoder/cos"} <= names
    dots = [line for line in lowered.as_text().splitlines() if "dot_general" in line]
    assert sum("HIGHEST" in line for line in dots) == 2  # both of them in reverse
    plain = lambda w, x: np.sum(np.tanh(x @ w) / np.sum(np.tanh(x @ w)))  # noqa: E731

    def scoped(w, x):
        with overt.named_scope("all"):
            return plain(w, x)

    ways = [
        overt.grad,
        lambda f: overt.vmap(overt.grad(f), in_axes=(0, None)),
        lambda f: overt.grad(lambda w, x: np.sum(overt.grad(f)(w, x) ** 2)),
    ]
    for turned in ways:
        first = np.stack([w, w]) if "vmap" in repr(turned(plain)) else w
        for around in (lambda f: f, overt.jit):
            found = around(turned(scoped))(first, x)
            numpy.testing.assert_allclose(found, turned(plain)(first, x), rtol=1e-3, atol=1e-5)
