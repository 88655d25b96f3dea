"""What a function returns beside its value: a pair where has_aux says so, else a clear refusal."""

import numpy
import pytest

import overt
import overt.numpy as np

TRANSFORMS = {
    "grad": lambda f, x: overt.grad(f, has_aux=True)(x),
    "value_and_grad": lambda f, x: overt.value_and_grad(f, has_aux=True)(x),
    "jacfwd": lambda f, x: overt.jacfwd(f, has_aux=True)(x),
    "jacrev": lambda f, x: overt.jacrev(f, has_aux=True)(x),
    "hessian": lambda f, x: overt.hessian(f, has_aux=True)(x),
    "jvp": lambda f, x: overt.jvp(f, (x,), (x,), has_aux=True),
    "vjp": lambda f, x: overt.vjp(f, x, has_aux=True),
    "linearize": lambda f, x: overt.linearize(f, x, has_aux=True),
}


@pytest.mark.parametrize("name", TRANSFORMS)
@pytest.mark.parametrize("shape", [(), (2,)])
def test_what_is_no_pair_is_refused(name: str, shape: tuple) -> None:
    for f in (lambda x: 2.0 * x, lambda x: (x, x, x), lambda x: {"value": x, "aux": x}):
        for run in (TRANSFORMS[name], overt.jit(TRANSFORMS[name], static_argnums=0)):
            with pytest.raises(TypeError, match="pair"):
                run(f, np.ones(shape))


def test_pairs_of_every_kind_are_taken() -> None:
    def f(x):
        return [x * x, {"twice": 2.0 * x}]

    (out, dot, aux) = overt.jvp(f, (3.0,), (1.0,), has_aux=True)
    assert (float(out), float(dot), float(aux["twice"])) == (9.0, 6.0, 6.0)
    g, aux = overt.jit(overt.grad(f, has_aux=True))(3.0)
    assert (float(g), float(aux["twice"])) == (6.0, 6.0)
    _, dot, _ = overt.jvp(lambda x: (1.0, x), (3.0,), (1.0,), has_aux=True)  # does not depend on x
    assert float(dot) == 0.0


def test_keyword_arguments_have_no_entry_in_in_axes() -> None:
    def f(y, x):
        return x + y

    with pytest.raises(ValueError, match="keyword arguments .here x."):
        overt.vmap(f, in_axes=(None, 0))(1.0, x=np.arange(3.0))


def loss(x):
    notes = {"name": "loss", "n": 3, "none": None, "parts": [2.0 * x, (x, np.sin(x))]}
    return x * x, notes


def by_helper(x):
    return loss(x)


def by_variable(x):
    pair = loss(x)
    return pair


def by_branch(x):
    if x > 0.0:
        return loss(x)
    value, _ = loss(-x)
    return value * 3.0, {"name": "loss", "n": 3, "none": None, "parts": [2.0 * x, (x, np.sin(x))]}


def by_loop(x):
    pair = (x, loss(x)[1])
    for _ in range(2):
        pair = (pair[0] * x, loss(x)[1])
    return pair


@pytest.mark.parametrize(
    "f, slope", [(by_helper, 6), (by_variable, 6), (by_branch, 6), (by_loop, 27)]
)
@pytest.mark.parametrize("jit", [False, True])
def test_pairs_that_are_not_written_where_they_are_returned(f, slope: float, jit: bool) -> None:
    def run(x):
        g, notes = overt.grad(f, has_aux=True)(x)
        return g, notes["parts"]

    g, parts = (overt.jit(run) if jit else run)(3.0)
    assert float(g) == slope
    assert numpy.allclose([parts[0], *parts[1]], [6.0, 3.0, numpy.sin(3.0)])
    (value, notes), g = overt.value_and_grad(f, has_aux=True)(3.0)
    assert float(g) == slope and float(value) == (27.0 if f is by_loop else 9.0)
    assert (notes["name"], notes["n"], notes["none"]) == ("loss", 3, None)
    second = overt.grad(lambda x: overt.grad(f, has_aux=True)(x)[0])(3.0)
    assert float(second) == (18.0 if f is by_loop else 2.0)
