"""Arguments given away: by position and name, whole trees; what happens to them afterwards."""

from __future__ import annotations

import warnings

import numpy
import pytest

import overt
import overt.numpy as np

DELETED = "Array has been deleted with shape=float32.3.: it was donated"


def given_away():
    x = np.ones(3)
    overt.jit(lambda x: x + 1, donate_argnums=0)(x)
    assert x.is_deleted()
    return x


def test_by_position_and_by_name():
    x, y, z = np.ones(3), np.ones(3), np.ones(3)
    f = overt.jit(lambda a, b: a * 2 + b, donate_argnames="b")
    f(x, y), f(x, b=z)
    assert not x.is_deleted() and y.is_deleted() and z.is_deleted()
    a, b = np.ones(3), {"x": np.ones(4)}
    g = overt.jit(lambda *, a, b: (a * 2, b["x"] + 1), donate_argnames=["b"])
    results = g(a=a, b=b)
    assert not a.is_deleted() and b["x"].is_deleted()
    assert [r.tolist() for r in results] == [[2] * 3, [2] * 4]


def test_whole_trees_beside_static_arguments():
    f = overt.jit(
        lambda rates, p, g: {k: p[k] - rates[0] * g[k] for k in p},
        static_argnums=0,
        donate_argnums=1,
    )
    p = {"b": np.ones(3), "a": [np.ones((2, 2))][0]}
    g = {"b": np.ones(3), "a": np.ones((2, 2))}
    new = f((2, 3, 4), p, g)
    assert p["a"].is_deleted() and p["b"].is_deleted()
    assert not g["a"].is_deleted() and not g["b"].is_deleted()
    assert new["a"].tolist() == [[-1] * 2] * 2
    for _ in range(3):
        new = f((2, 3, 4), new, g)
    assert new["b"].tolist() == [-7] * 3


def squares(x):
    return (x * x).sum()


@pytest.mark.parametrize(
    "use",
    [lambda x: x + 1, numpy.asarray, np.var, overt.jit(lambda x: 3 * x), str, lambda x: x.tolist(),
     lambda x: x[0], overt.grad(squares), lambda x: x.block_until_ready(),
     lambda x: overt.device_put(x, overt.devices()[0]), lambda x: np.concatenate([x, x]),
     overt.jit(lambda x: {"a": x * 2}), overt.jit(lambda x: x + 2, donate_argnums=0)],
)  # fmt: skip
def test_use_afterwards_is_a_clear_error(use):
    x = given_away()
    with pytest.raises(RuntimeError, match=DELETED):
        use(x)
    assert "deleted" in repr(x)


def test_numbers_and_numpy_arrays_stay_the_callers():
    f = overt.jit(lambda x: x + 1, donate_argnums=0)
    assert [float(f(2.0)) for _ in range(3)] == [3.0] * 3 and float(np.array(1.0) * 2.0) == 2
    x = numpy.ones(3, "float32")
    assert f(x).tolist() == [2] * 3 and x.tolist() == [1] * 3


def test_an_argument_that_is_returned_is_not_given_away():
    x = np.ones(3)
    same, total = overt.jit(lambda x, y: (x, x + y), donate_argnums=0)(x, x * 2)
    assert same.tolist() == [1] * 3 and total.tolist() == [3] * 3


def test_given_twice():
    x = np.ones(3)
    with pytest.raises(ValueError, match="given twice, and donated once"):
        overt.jit(lambda x, y: x + y, donate_argnums=0)(x, x)


def test_views_of_numpy_keep_the_old_numbers():
    x = np.arange(3.0)
    view = numpy.asarray(x)
    overt.jit(lambda x: x + 1, donate_argnums=0)(x)
    assert view.tolist() == [0, 1, 2]


def test_unusable_donation_warns_and_the_array_lives():
    x = np.ones((2, 3))
    f = overt.jit(lambda x: x[:1].sum(), donate_argnums=0)
    with pytest.warns(UserWarning, match=r"donated buffers were not usable: float32\[2,3\]"):
        f(x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        f(x)  # said once
    assert not x.is_deleted()


def test_donation_inside_other_transformations_gives_nothing_away():
    f = overt.jit(lambda x: x * 2, donate_argnums=0)
    x = np.ones(3)
    overt.jit(lambda x: f(x) + x)(x)
    overt.grad(lambda x: f(x).sum())(x)
    overt.vmap(f)(x)
    assert x.tolist() == [1] * 3
