"""Segment reductions, first values of weights, trees as vectors."""

from __future__ import annotations

import numpy
import pytest
from numeric import check_batch, check_derivatives
from numpy.testing import assert_allclose

import overt
import overt.numpy as np
from overt import ops
from overt.flatten_util import ravel_pytree
from overt.nn import initializers

REDUCTIONS = {
    "segment_sum": (numpy.add, 0),
    "segment_prod": (numpy.multiply, 1),
    "segment_max": (numpy.maximum, -numpy.inf),
    "segment_min": (numpy.minimum, numpy.inf),
}
IDS = numpy.array([2, 0, 2, -1, 5, 0, 2, 1])
ROWS = numpy.random.default_rng(0).normal(size=(8, 3))


def looped(name, data, ids, count):
    combine, start = REDUCTIONS[name]
    out = numpy.full((count, *data.shape[1:]), start, data.dtype)
    for row, k in zip(data, ids, strict=True):
        if 0 <= k < count:
            out[k] = combine(out[k], row)
    return out


@pytest.mark.parametrize("name", REDUCTIONS)
def test_segments(x64, name):
    function = getattr(ops, name)
    assert_allclose(function(ROWS, IDS), looped(name, ROWS, IDS, 6))
    for buckets in (None, 3):
        found = overt.jit(lambda x: function(x, IDS, 4, bucket_size=buckets))(ROWS)  # noqa: B023
        assert_allclose(found, looped(name, ROWS, IDS, 4))

    def some(data):
        return function(data, IDS, 3)

    check_derivatives(some, ROWS, order=1)
    check_batch(some, numpy.stack([ROWS, ROWS[::-1]]))
    check_batch(lambda d, i: function(d, i, 3), numpy.stack([ROWS, ROWS + 1]),
                numpy.stack([IDS, IDS[::-1]]))  # fmt: skip


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("kind", ["int32", "uint8", "bool", "float32"])
def test_segments_as_jax(name, kind):
    jax = pytest.importorskip("jax")
    data = (numpy.arange(8) % 3).astype(kind)
    if kind == "bool" and name in ("segment_sum", "segment_prod"):
        with pytest.raises(TypeError, match="booleans"):
            getattr(ops, name)(data, IDS, 4)
        return
    wanted = getattr(jax.ops, name)(data, IDS, 4)
    found = getattr(ops, name)(data.tolist() if kind == "int32" else data, IDS.tolist(), 4)
    assert found.dtype == wanted.dtype
    assert_allclose(found, wanted)
    clipped = getattr(ops, name)(data, IDS.clip(0), 4, mode="clip")
    assert_allclose(clipped, getattr(jax.ops, name)(data, IDS.clip(0), 4, mode="clip"))


def test_segments_are_checked():
    with pytest.raises(ValueError, match="one number for each row"):
        ops.segment_sum(numpy.ones(3), numpy.zeros(2, int))
    with pytest.raises(TypeError, match="integers"):
        ops.segment_sum(numpy.ones(2), numpy.zeros(2))
    with pytest.raises(overt.errors.StagingError, match="num_segments"):
        overt.jit(lambda i: ops.segment_sum(numpy.ones(3), i))(numpy.zeros(3, int))
    assert ops.segment_sum(numpy.ones((0, 2)), numpy.zeros(0, int)).shape == (0, 2)


# --- initializers

MADE = {
    "constant": (3.5,),
    "uniform": (2.0,),
    "normal": (3.0,),
    "truncated_normal": (2.0,),
    "orthogonal": (1.5,),
    "glorot_uniform": (),
    "glorot_normal": (),
    "lecun_uniform": (),
    "he_normal": (),
}
KEY = numpy.array([3, 4], numpy.uint32)


@pytest.fixture
def jax():
    jax = pytest.importorskip("jax")
    with jax.threefry_partitionable(False):
        yield jax


@pytest.mark.parametrize("name", MADE)
def test_initializers_as_jax(jax, name):
    ours, theirs = (getattr(m, name)(*MADE[name]) for m in (initializers, jax.nn.initializers))
    wanted, found = theirs(KEY, (4, 3)), ours(KEY, (4, 3))
    assert found.dtype == wanted.dtype
    assert_allclose(found, wanted, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("mode", ["fan_in", "fan_out", "fan_avg", "fan_geo_avg"])
def test_variance_scaling_as_jax(jax, mode):
    for distribution in ("truncated_normal", "normal", "uniform"):
        for dtype in ("float32", "complex64") if mode == "fan_in" else ("float32",):
            how = {"in_axis": (0, 1), "out_axis": -1, "dtype": dtype}
            ours, theirs = (
                m.variance_scaling(1.7, mode, distribution, **how)(KEY, (2, 3, 5))
                for m in (initializers, jax.nn.initializers)
            )
            assert_allclose(ours, theirs, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("shape", [(3, 2, 4), (1, 2, 3, 2, 2)])
def test_orthogonal_kernels_as_jax(jax, shape):
    found = initializers.delta_orthogonal()(KEY, shape)
    wanted = jax.nn.initializers.delta_orthogonal()(KEY, shape)
    assert_allclose(found, wanted, rtol=1e-4, atol=1e-6)
    found = initializers.orthogonal(2.0, 0)(KEY, shape)
    wanted = jax.nn.initializers.orthogonal(2.0, 0)(KEY, shape)
    assert_allclose(found, wanted, rtol=1e-4, atol=1e-6)


def test_initializers_are_functions_of_keys():
    init = initializers.he_normal()
    keys = overt.random.split(overt.random.key(0), 3)
    wanted = numpy.stack([init(key, (2, 3)) for key in keys])
    assert_allclose(overt.jit(lambda key: init(key, (2, 3)))(keys[1]), wanted[1], rtol=1e-6)
    assert_allclose(overt.vmap(lambda key: init(key, (2, 3)))(keys), wanted, rtol=1e-6)


def test_initializers_are_checked():
    key = overt.random.key(0)
    with pytest.raises(ValueError, match="two dimensions"):
        initializers.he_normal()(key, (3,))
    with pytest.raises(ValueError, match="mode"):
        initializers.variance_scaling(1.0, "fan", "normal")(key, (3, 2))
    with pytest.raises(ValueError, match="distribution"):
        initializers.variance_scaling(1.0, "fan_in", "cauchy")(key, (3, 2))
    with pytest.raises(ValueError, match=r"shape\[-2\]"):
        initializers.delta_orthogonal()(key, (3, 3, 2))
    assert initializers.zeros(key, (2, 3)).tolist() == [[0.0] * 3] * 2
    assert initializers.ones(key, (2,), "int32").tolist() == [1, 1]


# --- trees as vectors


def test_ravel_pytree():
    tree = {"w": numpy.arange(6, dtype="float32").reshape(2, 3), "b": [1.5, numpy.int32(7)]}
    vector, tree_of = ravel_pytree(tree)
    assert_allclose(vector, [1.5, 7, 0, 1, 2, 3, 4, 5])
    again = tree_of(vector)
    assert again["b"][1].dtype == numpy.int32 and again["w"].shape == (2, 3)
    assert_allclose(again["w"], tree["w"])
    assert tree_of == ravel_pytree(tree)[1] and hash(tree_of) == hash(ravel_pytree(tree)[1])

    def energy(v):
        t = tree_of(v)
        return np.sum(t["w"] ** 2) + t["b"][0] ** 3

    wanted = [3 * 1.5**2, 0, *(2.0 * numpy.arange(6))]
    assert_allclose(overt.grad(energy)(vector), wanted)
    assert_allclose(overt.jit(overt.grad(energy))(vector), wanted)
    assert_allclose(overt.vmap(energy)(np.stack([vector, vector]))[1], energy(vector), rtol=1e-6)
    there = overt.grad(lambda t: np.sum(ravel_pytree(t)[0] ** 2))({"a": 2.0, "b": np.ones(2)})
    assert_allclose([there["a"], *there["b"]], [4, 2, 2])


def test_ravel_pytree_of_nothing_and_of_the_wrong_vector():
    vector, tree_of = ravel_pytree(())
    assert vector.shape == (0,) and tree_of(vector) == ()
    tree_of = ravel_pytree((1.0, 2.0))[1]
    with pytest.raises(TypeError, match="2 numbers"):
        tree_of(numpy.ones(3, "float32"))
    with pytest.raises(TypeError, match="astype"):
        tree_of(numpy.ones(2, "int32"))
