"""How exactly products are taken: members of `lax.Precision` and names, in every function."""

import numpy
import pytest

import overt
import overt.numpy as np

A = numpy.arange(9, dtype=numpy.float32).reshape(3, 3)
KINDS = overt.lax.Precision
PRODUCTS = {
    "dot": lambda a, p: np.dot(a, a, precision=p),
    "matmul": lambda a, p: np.matmul(a, a, precision=p),
    "vdot": lambda a, p: np.vdot(a, a, precision=p),
    "inner": lambda a, p: np.inner(a, a, precision=p),
    "tensordot": lambda a, p: np.tensordot(a, a, precision=p),
    "einsum": lambda a, p: np.einsum("ij,kj->ik", a, a, precision=p),
    "convolve": lambda a, p: np.convolve(a[0], a[1], precision=p),
    "correlate": lambda a, p: np.correlate(a[0], a[1], precision=p),
    "lax.dot": lambda a, p: overt.lax.dot(a, a, precision=p),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_members_and_names(name):
    product = PRODUCTS[name]
    wanted = product(A, None)
    for precision in (KINDS.HIGHEST, KINDS.HIGH, KINDS.DEFAULT, "highest", "HIGH"):
        numpy.testing.assert_array_equal(product(A, precision), wanted)
    pair = (KINDS.HIGHEST, KINDS.DEFAULT)
    compiled = overt.jit(lambda a: product(a, pair))
    numpy.testing.assert_array_equal(compiled(A), wanted)

    def slope(precision):
        return overt.grad(lambda a: np.sum(product(a, precision)))(A)

    numpy.testing.assert_array_equal(slope(KINDS.HIGHEST), slope(None))


def test_it_is_in_the_program():
    text = overt.jit(lambda a: np.dot(a, a, precision=KINDS.HIGHEST)).lower(A).as_text()
    assert "HIGHEST" in text


def test_names_that_mean_nothing():
    with pytest.raises(ValueError, match="'exact' is none of .*highest"):
        np.dot(A, A, precision="exact")
