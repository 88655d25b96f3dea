"""The machinery of vmap: axes, trees, nesting, errors; values that differ between lanes."""

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import overt.runtime.numpy as np
from overt.runtime.batching import AUTO, vmap_call
from overt.runtime.config import config
from overt.runtime.errors import BatchedPredicateError
from overt.runtime.primitive import Primitive


@pytest.fixture(autouse=True, scope="module")
def double_precision():
    config.update("overt_enable_x64", True)
    yield
    config.update("overt_enable_x64", False)


def close(a, b):
    numpy.testing.assert_allclose(numpy.asarray(a), numpy.asarray(b), 1e-12, 1e-12)


M = numpy.arange(12.0).reshape(3, 4)


def test_axes_in_and_out():
    close(vmap_call(lambda r: r * 2, (M,)), M * 2)
    close(vmap_call(np.sum, (M,), 1), M.sum(0))
    close(vmap_call(np.sum, (M,), -1), M.sum(0))
    close(vmap_call(lambda r: r + 1, (M,), 1, 0), M.T + 1)
    close(vmap_call(lambda r: r + 1, (M,), 0, -1), M.T + 1)
    close(vmap_call(lambda r, c: r * c, (M, numpy.arange(4.0)), (0, None)), M * numpy.arange(4.0))
    close(vmap_call(lambda: np.ones(2), (), (), 0, axis_size=3), numpy.ones((3, 2)))
    close(vmap_call(lambda r, k: r * k, (M,), 0, kwargs={"k": numpy.arange(3.0)}),
          M * numpy.arange(3.0)[:, None])  # fmt: skip


def test_trees_and_prefixes():
    tree = {"a": M, "b": (M[:, 0], 5.0)}
    axes = ({"a": 0, "b": (0, None)},)
    out = vmap_call(lambda t: {"s": t["a"] * t["b"][0] + t["b"][1], "c": t["b"][1]}, (tree,), axes,
                    {"s": 0, "c": None})  # fmt: skip
    close(out["s"], M * M[:, :1] + 5.0)
    assert out["c"] == 5.0
    close(
        vmap_call(lambda t: t["a"][0] * t["b"], ({"a": M, "b": M[:, 1]},), (0,)), M[:, 0] * M[:, 1]
    )
    values, out_axes = vmap_call(lambda r: (r, 3, {"name": "x"}), (M,), out_axes=AUTO)
    assert out_axes == (0, None, {"name": None}) and values[1:] == (3, {"name": "x"})


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_elementwise_alignment(data):
    """Operands of any ranks, batched or not, are aligned as NumPy aligns one lane."""
    shape = (2, 3, 2)
    ranks = data.draw(st.tuples(st.integers(0, 3), st.integers(0, 3)))
    batched = data.draw(st.tuples(st.booleans(), st.booleans()).filter(any))
    rng = numpy.random.default_rng(0)
    args, axes = [], []
    for rank, lanes in zip(ranks, batched, strict=True):
        lane_shape = shape[3 - rank :]
        args.append(rng.normal(size=(4, *lane_shape) if lanes else lane_shape))
        axes.append(0 if lanes else None)
    expected = [
        numpy.sin(args[0][k] if batched[0] else args[0]) - (args[1][k] if batched[1] else args[1])
        for k in range(4)
    ]
    close(vmap_call(lambda x, y: np.sin(x) - y, args, tuple(axes)), numpy.stack(expected))


def test_nesting():
    outer = vmap_call(lambda r: vmap_call(lambda c: c[0] * r[1] + c.sum(), (M,), 1), (M,))
    expected = [[c[0] * r[1] + c.sum() for c in M.T] for r in M]
    close(outer, numpy.array(expected))
    pairs = vmap_call(lambda x: vmap_call(lambda y: x - y, (M[0],)), (M[1],))
    close(pairs, M[1][:, None] - M[0][None, :])


def test_indexing_with_lanes():
    k = numpy.array([2, 0, 3])
    close(vmap_call(lambda r, k: r[k], (M, k)), M[numpy.arange(3), k])
    close(vmap_call(lambda k: np.asarray(M[0])[k], (k,)), M[0][k])
    close(vmap_call(lambda r, k: r.at[k].set(0.0).sum(), (M, k)), M.sum(1) - M[numpy.arange(3), k])


def test_primitives_without_a_batching_rule_run_lane_by_lane():
    twice = Primitive(
        "test_twice",
        shape=lambda x: x,
        lower=lambda b, x, *, avals, out: b.binary("add", x, x),
    )
    close(vmap_call(twice, (M,)), 2 * M)
    close(vmap_call(twice, (M,), 1, 1), 2 * M)


def test_predicates_are_refused():
    with pytest.raises(BatchedPredicateError, match="3 lanes"):
        vmap_call(lambda x: 1.0 if x > 0 else 2.0, (M[:, 0],))
    with pytest.raises(BatchedPredicateError):
        vmap_call(lambda x: float(x), (M[:, 0],))
    with pytest.raises(BatchedPredicateError):
        vmap_call(lambda x: numpy.asarray(x), (M[:, 0],))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: vmap_call(lambda x: x, (M,), "a"), "in_axes must be an int, None, or a tuple"),
        (lambda: vmap_call(lambda x: x, (M,), (0, 0)), r"len\(in_axes\)=2, len\(args\)=1"),
        (lambda: vmap_call(lambda x: x, (M,), 2), "axis 2, which implies that its rank should be at least 3, but is only 2"),  # noqa: E501
        (lambda: vmap_call(lambda x: x, (M,), None), "at least one non-None value in in_axes"),
        (lambda: vmap_call(lambda x: x, (M,), 0, None), "mapped output but out_axes is None"),
        (lambda: vmap_call(lambda x: x, (M,), ((0, 0),)), "in_axes specification must be a tree prefix"),  # noqa: E501
        (lambda: vmap_call(lambda x: x, (M,), 0, (0, 0)), "out_axes specification must be a tree prefix"),  # noqa: E501
        (lambda: vmap_call(lambda x: "s", (M,)), "must hold arrays, but it holds 's'"),
        (lambda: vmap_call(lambda x: x, ("s",)), "give it in_axes=None"),
        (lambda: vmap_call(lambda x: x, (M,), 0, 5), "out_axes 5 is out of bounds"),
    ],
)  # fmt: skip
def test_errors(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()


def test_sizes_that_differ_name_the_arguments():
    with pytest.raises(ValueError) as caught:
        vmap_call(lambda x, rest: x, (M, {"y": M.T}))
    text = str(caught.value)
    assert "inconsistent sizes for array axes to be mapped" in text
    assert "axis 0 of argument x of type float64[3,4] has size 3" in text
    assert "axis 0 of argument rest['y'] of type float64[4,3] has size 4" in text
