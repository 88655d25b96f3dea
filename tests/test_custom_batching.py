"""custom_vmap and sequential_vmap: who calls the rule, and every order of transformations."""

from __future__ import annotations

import numpy
import pytest

import overt
import overt.numpy as np
from overt.custom_batching import custom_vmap, sequential_vmap

ROWS = numpy.arange(6.0, dtype="f4").reshape(2, 3)
ONES = numpy.ones(3, "f4")


def dot_with_log():
    """A product of vectors, and the list of what its rule was told."""
    told = []

    @custom_vmap
    def dot(u, v):
        return np.sum(np.sin(u) * v)

    @dot.def_vmap
    def rule(axis_size, in_batched, u, v):
        told.append((axis_size, tuple(in_batched)))
        u = u if in_batched[0] else np.broadcast_to(u, (axis_size, *u.shape))
        v = v if in_batched[1] else np.broadcast_to(v, (axis_size, *v.shape))
        return np.einsum("ij,ij->i", np.sin(u), v), True

    return dot, told


def test_the_rule_is_told_what_is_mapped():
    dot, told = dot_with_log()
    expected = numpy.sin(ROWS) @ ONES
    assert numpy.allclose(dot(ROWS[1], ONES), expected[1]) and told == []
    for args, axes in (((ROWS, ONES), (0, None)), ((ROWS.T, ONES), (1, None))):
        assert numpy.allclose(overt.vmap(dot, in_axes=axes)(*args), expected, atol=1e-5)
    overt.vmap(dot)(ROWS, ROWS)
    assert told == [(2, (True, False)), (2, (True, False)), (2, (True, True))]


def test_derivatives_outside_and_inside():
    dot, told = dot_with_log()

    def plain(u, v):
        return np.sum(np.sin(u) * v)

    def total(f):
        return lambda u, v: np.sum(overt.vmap(f, in_axes=(0, None))(u, v) ** 2)

    for make in (
        lambda f: overt.grad(total(f), argnums=(0, 1)),
        lambda f: overt.vmap(overt.grad(f, argnums=(0, 1)), in_axes=(0, None)),
        lambda f: overt.vmap(overt.jacfwd(f, argnums=1), in_axes=(0, None)),
        lambda f: overt.vmap(overt.hessian(f), in_axes=(0, None)),
        lambda f: overt.jit(overt.vmap(overt.value_and_grad(f), in_axes=(0, None))),
    ):
        told.clear()
        for x, y in zip(
            overt.tree.leaves(make(dot)(ROWS, ONES)), overt.tree.leaves(make(plain)(ROWS, ONES)),
            strict=True,
        ):  # fmt: skip
            assert numpy.allclose(x, y, atol=1e-5)
        assert told, "the rule was not used"


def test_in_loops_nested_and_of_trees():
    dot, told = dot_with_log()

    def repeated(u):
        return overt.lax.scan(lambda c, _: (c + dot(u, c * np.ones(3)), c), 0.5, None, length=3)[0]

    expected = [float(repeated(row)) for row in ROWS]
    assert numpy.allclose(overt.vmap(repeated)(ROWS), expected, rtol=1e-5)
    assert told
    both = overt.vmap(overt.vmap(dot, in_axes=(None, 0)), in_axes=(0, None))(ROWS, ROWS)
    assert numpy.allclose(both, numpy.sin(ROWS) @ ROWS.T, atol=1e-4)

    @custom_vmap
    def parts(d, k=2.0):
        return {"a": d["a"] * k, "k": k}

    @parts.def_vmap
    def rule(axis_size, in_batched, d, k):
        (tree, k_mapped) = in_batched
        assert tree == {"a": True} and not k_mapped
        return {"a": d["a"] * k, "k": k}, {"a": True, "k": False}

    out = overt.vmap(lambda x: parts({"a": x}, k=3.0))(ONES)
    assert numpy.allclose(out["a"], 3.0) and numpy.allclose(out["k"], 3.0)


def test_mistakes_are_named():
    @custom_vmap
    def f(x):
        return x

    with pytest.raises(AttributeError, match="def_vmap"):
        f(1.0)
    f.def_vmap(lambda axis_size, in_batched, x: x)
    with pytest.raises(TypeError, match="pair"):
        overt.vmap(f)(np.ones(3))
    f.def_vmap(lambda axis_size, in_batched, x: (np.sum(x), True))
    with pytest.raises(ValueError, match="3 lanes"):
        overt.vmap(f)(np.ones(3))


def test_with_a_derivative_of_its_own():
    @overt.custom_vjp
    def add(a, b):
        return a + b

    add.defvjp(lambda a, b: (add(a, b), None), lambda _, g: (2 * g, 3 * g))
    mapped = custom_vmap(add)
    mapped.def_vmap(lambda axis_size, in_batched, *args: (add(*args), True))
    slopes = overt.vmap(overt.grad(mapped, argnums=(0, 1)))(np.ones(4), np.ones(4))
    assert numpy.allclose(slopes[0], 2.0) and numpy.allclose(slopes[1], 3.0)
    total = overt.grad(lambda a: np.sum(overt.vmap(mapped, in_axes=(0, None))(a, 1.0)))(np.ones(4))
    assert numpy.allclose(total, 2.0)


def test_sequential():
    calls = []

    @sequential_vmap
    def f(x, y):
        overt.debug.callback(lambda v: calls.append(float(v)), x)
        return np.cos(x) * y, y

    x = np.arange(3.0)
    out, y = overt.vmap(f, in_axes=(0, None))(x, 2.0)
    overt.effects_barrier()
    assert numpy.allclose(out, 2 * numpy.cos(numpy.arange(3.0))) and numpy.allclose(y, 2.0)
    assert calls == [0.0, 1.0, 2.0]
    slope = overt.grad(lambda v: np.sum(overt.vmap(sequential_vmap(np.cos))(v)))
    assert numpy.allclose(slope(x), -numpy.sin(numpy.arange(3.0)), atol=1e-6)
    assert numpy.allclose(overt.jit(overt.vmap(overt.grad(sequential_vmap(np.cos))))(x), slope(x))
    assert overt.vmap(sequential_vmap(np.cos))(np.zeros(0)).shape == (0,)
