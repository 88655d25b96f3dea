"""What autograd's own test suite asks and other tests here do not."""

from __future__ import annotations

import numpy
import pytest

import overt
import overt.numpy as np


def called(function, keywords):
    return lambda x: function(x, **keywords)


def test_one_text_with_several_functions():
    """Both halves of a derivative depend on the function that a closure holds."""
    x = numpy.array([0.3, 1.2])
    slopes = {np.sin: numpy.cos(x), np.floor: 0 * x, np.exp: numpy.exp(x), np.ceil: 0 * x}
    for function in [*slopes, *slopes]:
        f = called(function, {})
        (bar,) = overt.vjp(f, x)[1](np.ones(2))
        numpy.testing.assert_allclose(bar, slopes[function], rtol=1e-5)


def test_second_derivative_of_a_call_with_keywords():
    def backward(x, g):
        return overt.vjp(called(np.sum, {"axis": 0}), x)[1](g)[0] * x

    x = numpy.ones((2, 3), "float32")
    x_bar, g_bar = overt.vjp(backward, x, np.ones(3))[1](x)
    numpy.testing.assert_allclose(x_bar, x)
    numpy.testing.assert_allclose(g_bar, [2.0, 2.0, 2.0])


def corners(x):
    return np.sin(x)[(0, 1, 0), (3, 3, 2)]


def whole_corner(x):
    return np.sin(x)[(0, 1), (2, 3)]


@pytest.mark.parametrize("f", [corners, whole_corner])
def test_tuples_inside_an_index_are_index_arrays(f):
    x = numpy.random.default_rng(0).normal(size=(4, 4, 4, 4))
    wanted = numpy.sin(x)[(0, 1, 0), (3, 3, 2)] if f is corners else numpy.sin(x)[(0, 1), (2, 3)]
    numpy.testing.assert_allclose(f(np.array(x)), wanted, rtol=1e-5)
    numpy.testing.assert_allclose(overt.jit(f)(x), wanted, rtol=1e-5)
    out, pull = overt.vjp(f, x)
    numpy.testing.assert_allclose(out, wanted, rtol=1e-5)
    assert numpy.count_nonzero(pull(out)[0]) == wanted.size


@pytest.mark.parametrize("shape", [(), (1,), (1, 3)])
def test_standard_deviation_of_one_number_is_constant(shape):
    x = numpy.full(shape, 3.5)

    def f(x):
        return np.sum(np.std(x, axis=0 if x.shape else None))

    for g in (overt.grad(f), overt.jit(overt.grad(f))):
        assert not numpy.any(g(x))
    assert float(overt.jvp(f, (x,), (np.ones(shape),))[1]) == 0
    assert not numpy.any(overt.grad(lambda x: np.sum(overt.grad(f)(x)))(x))


def test_standard_deviation_has_its_slope():
    x = numpy.random.default_rng(1).normal(size=(3, 2)).astype("float32")
    deviation = x - x.mean(0)
    wanted = deviation / (3 * x.std(0))
    numpy.testing.assert_allclose(overt.grad(lambda x: np.std(x, 0).sum())(x), wanted, rtol=1e-5)


def joined_rows(x):
    return np.sum(np.sin(np.r_[x, 1:3, x[0], 5.0]) ** 2)


def joined_columns(x):
    return np.sum(np.c_[x, x * 2, np.ones(2)] ** 2)


@pytest.mark.parametrize("f", [joined_rows, joined_columns])
def test_pieces_between_the_brackets_of_r_and_c_have_derivatives(f):
    x = numpy.array([0.5, 2.0], "float32")
    if f is joined_rows:
        wanted = numpy.sin(2 * x) + [numpy.sin(1.0), 0]
    else:
        wanted = 10 * x
    numpy.testing.assert_allclose(overt.grad(f)(x), wanted, rtol=1e-5)
    numpy.testing.assert_allclose(overt.jit(overt.grad(f))(x), wanted, rtol=1e-5)
    numpy.testing.assert_allclose(overt.jvp(f, (x,), (np.ones(2),))[1], wanted.sum(), rtol=1e-5)


def test_tangent_of_a_join_with_integers():
    def f(x):
        return np.sum(np.concatenate([x, np.arange(3), x]) ** 2)

    x = numpy.array([0.5, 2.0], "float32")
    assert float(overt.jvp(f, (x,), (np.ones(2),))[1]) == pytest.approx(4 * x.sum())


def real_eigenvalues(a):
    return np.sum(np.real(np.linalg.eig(a)[0]) ** 2)


def test_functions_that_have_a_jvp_only_are_reversed_too():
    a = numpy.array([[2.0, 0.5], [0.25, 1.0]], "float32")
    out, pull = overt.vjp(lambda a: np.real(np.linalg.eig(a)[0]), a)
    numpy.testing.assert_allclose(pull(np.ones_like(out))[0], numpy.eye(2), atol=1e-5)
    # the sum of the squares of the eigenvalues is the trace of a @ a
    numpy.testing.assert_allclose(overt.grad(real_eigenvalues)(a), 2 * a.T, rtol=1e-4)
    numpy.testing.assert_allclose(overt.jit(overt.grad(real_eigenvalues))(a), 2 * a.T, rtol=1e-4)
