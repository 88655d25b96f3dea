"""Loops whose iterations set values of different shapes, read after the loop."""

import functools

import numpy
import pytest

import overt
import overt.numpy as np

jax = pytest.importorskip("jax")


def layers(widths, rows=6):
    draw = numpy.random.RandomState(0)
    pairs = zip(widths, widths[1:], strict=False)
    weights = [(draw.randn(m, n).astype("f") / m, draw.randn(n).astype("f") / 4) for m, n in pairs]
    return weights, draw.randn(rows, widths[0]).astype("f")


def network(np, layers, x):
    for w, b in layers:
        out = np.dot(x, w) + b
        x = np.tanh(out)
    return np.sum(out**2)


def by_number(np, layers, x):
    for i in range(len(layers)):
        w, b = layers[i]
        out = np.dot(x, w) + b
        x = np.tanh(out)
    return np.sum(out * np.sin(out))


def in_pairs(np, layers, x):
    for w, b in layers:
        out = x @ w, b
        x = np.tanh(out[0] + out[1])
    return np.sum(out[0] ** 2) + np.sum(out[1] ** 3)


def by_while(np, layers, x):
    i = 0
    while i < len(layers):
        out = np.dot(x, layers[i][0]) + layers[i][1]
        x = out / (1 + out**2)
        i += 1
    return np.sum(out**2) + np.sum(x)


def in_branches(np, layers, x):
    out = x
    for i, (w, b) in enumerate(layers):
        if i % 2:
            out = np.tanh(x @ w + b)
        else:
            out = np.sin(x @ w) + b
        x = out * out
    return np.sum(out**2)


def of_helper(np, layers, x):
    def scores(layers, x):
        for w, b in layers:
            out = np.dot(x, w) + b
            x = np.tanh(out)
        return out

    return np.sum(scores(layers, x) ** 2)


WIDTHS = [(3, 1, 5), (3, 5, 1, 2)]
PROGRAMS = [network, by_number, in_pairs, by_while, in_branches, of_helper]


def agree(got, wanted, atol=2e-5):
    got, wanted = overt.tree.leaves(got), jax.tree.leaves(wanted)
    assert len(got) == len(wanted)
    for a, b in zip(got, wanted, strict=True):
        assert a.shape == b.shape
        numpy.testing.assert_allclose(a, b, atol=atol, rtol=2e-4)


def in_both(program):
    return functools.partial(program, np), functools.partial(program, jax.numpy)


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("widths", WIDTHS)
def test_gradients(program, widths):
    ours, theirs = in_both(program)
    weights, x = layers(widths)
    agree(overt.grad(ours, (0, 1))(weights, x), jax.grad(theirs, (0, 1))(weights, x))


@pytest.mark.parametrize("program", [network, in_pairs, of_helper])
def test_compiled_and_batched(program):
    ours, theirs = in_both(program)
    weights, x = layers((3, 1, 5))
    agree(overt.jit(overt.grad(ours))(weights, x), jax.grad(theirs)(weights, x))
    many = numpy.stack([x, 2 * x])
    axes = (None, 0)
    got = overt.vmap(overt.grad(ours), axes)(weights, many)
    agree(got, jax.vmap(jax.grad(theirs), axes)(weights, many))


@pytest.mark.parametrize("program", [network, by_while])
def test_second_derivatives(program):
    ours, theirs = in_both(program)
    weights, x = layers((2, 3, 1), rows=3)

    def product(grad, program, tree):
        def slope(weights):
            return sum((part**2).sum() for part in tree.leaves(grad(program)(weights, x)))

        return slope

    inner = product(overt.grad, ours, overt.tree)
    outer = product(jax.grad, theirs, jax.tree)
    agree(overt.grad(inner)(weights), jax.grad(outer)(weights), atol=2e-3)
    dots = jax.tree.map(numpy.ones_like, weights)
    got = overt.jvp(lambda w: overt.grad(ours)(w, x), (weights,), (dots,))
    agree(got, jax.jvp(lambda w: jax.grad(theirs)(w, x), (weights,), (dots,)), atol=2e-3)
