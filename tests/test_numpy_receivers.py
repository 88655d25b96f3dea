"""Methods and items of NumPy's arrays that functions find outside, given values of their own."""

import numpy
import pytest

import overt
import overt.numpy as np

W = numpy.outer(numpy.arange(1.0, 6.0), numpy.arange(2.0, 7.0))


class Model:
    def __init__(self):
        self.weights = W
        self.table = numpy.arange(10)
        self.rows = [1.0, 2.0, 3.0, 4.0, 5.0]

    def product(self, x):
        return self.weights.T.dot(x)

    def row(self, i):
        return self.weights[i] + self.rows[i]


MODEL = Model()
OF_VECTORS = {
    "dot": lambda x: W.dot(x),
    "of the transpose": lambda x: W.T.dot(x),
    "of a copy": lambda x: W.copy().dot(x),
    "of another shape": lambda x: W.ravel()[:25].reshape(5, 5).dot(x),
    "of an attribute": lambda x: MODEL.weights.dot(x),
    "in a method": lambda x: MODEL.product(x),
    "of a row": lambda x: W[1].dot(x) * x,
    "clip": lambda x: W[0].clip(0.0, x),
    "of an argument": lambda x: (lambda a: a @ x)(W),
}
OF_INDICES = {
    "row": lambda i: W[i],
    "element": lambda i: W[i, 1],
    "column": lambda i: W[1:, i],
    "window": lambda i: W[i : i + 2],
    "of an attribute": lambda i: MODEL.table[i] + 1,
    "in a method": lambda i: MODEL.row(i),
    "take": lambda i: W.take(i, axis=0),
    "searchsorted": lambda i: W[0].searchsorted(i * 2.0),
}


@pytest.mark.parametrize("name", OF_VECTORS)
def test_of_vectors(name):
    f, x = OF_VECTORS[name], numpy.array([1.0, -2.0, 0.5, 3.0, 2.0])
    assert numpy.allclose(overt.jit(f)(x), f(x))
    two = overt.vmap(f)(numpy.stack([x, 2 * x]))
    assert numpy.allclose(two, numpy.stack([f(x), f(2 * x)]))
    slope = numpy.stack([(f(x + h) - f(x - h)) / 2e-3 for h in 1e-3 * numpy.eye(5)], axis=-1)
    assert numpy.allclose(overt.jacrev(f)(np.array(x)), slope, atol=1e-2)
    assert numpy.allclose(overt.jit(overt.jacfwd(f))(x), slope, atol=1e-2)


@pytest.mark.parametrize("name", OF_INDICES)
def test_of_indices(name):
    f = OF_INDICES[name]
    assert numpy.allclose(overt.jit(f)(np.array(2)), f(2))
    assert numpy.allclose(overt.vmap(f)(np.array([3, 0])), numpy.stack([f(3), f(0)]))


def test_numpys_own_numbers_stay_numpys():
    big = numpy.array([1e9 + 1, 1.0])
    seen = []

    @overt.jit
    def f(x):
        seen.append(big.dot(big))
        return x + 1.0

    f(1.0)
    assert type(seen[0]) is numpy.float64 and seen[0] == big.dot(big)


def test_another_array_in_the_same_place():
    held = Model()
    f = overt.jit(lambda x: held.weights.dot(x))
    x = numpy.ones(5)
    assert numpy.allclose(f(x), W.sum(1))
    held.weights = np.array(2 * W)
    assert numpy.allclose(f(x), 2 * W.sum(1))


def test_item_of_what_is_known_later():
    assert overt.jit(lambda x: x.sum().item() * 2)(np.ones(3)) == 6.0
    table = numpy.arange(12.0).reshape(4, 3)
    f = overt.vmap(lambda i: table[i.item(), 1] + i.item(0))
    assert numpy.array_equal(f(np.array([2, 0])), [9.0, 1.0])
    with pytest.raises(ValueError, match="one element"):
        overt.jit(lambda x: x.item())(np.ones(3))


class Net:
    def __init__(self):
        draw = numpy.random.default_rng(0)
        self.table, self.w, self.b = draw.normal(size=(7, 3)), W[:4, :3], W[0, :4]

    def __call__(self, i, x):
        return self.w.dot(self.table[i] + x) + self.b, self.b.take(i % 4), self.table[i, 1:]


def test_an_object_of_numpys_arrays():
    net, i, x = Net(), numpy.array([0, 6, 3]), numpy.ones((3, 3))
    got = overt.jit(overt.vmap(net))(i, x)
    for k in range(3):
        for g, want in zip(got, net(i[k], x[k]), strict=True):
            assert numpy.allclose(g[k], want, atol=1e-5)
    slope = overt.grad(lambda x: np.sum(net(2, x)[0]))(np.ones(3))
    assert numpy.allclose(slope, net.w.sum(0))
