"""Optimizers and networks: the same steps, parameters and outputs as JAX's."""

from __future__ import annotations

import numpy
import pytest
from numpy.testing import assert_allclose

import overt
import overt.numpy as np
from overt.example_libraries import optimizers, stax

OPTIMIZERS = {
    "sgd": (0.1,),
    "momentum": (0.1, 0.9),
    "nesterov": (0.1, 0.9),
    "adagrad": (0.1,),
    "rmsprop": (0.1,),
    "rmsprop_momentum": (0.1,),
    "adam": (0.1,),
    "adamax": (0.1,),
    "sm3": (0.1,),
}
PARAMS = {
    "w": numpy.linspace(-1, 2, 6, dtype="float32").reshape(2, 3),
    "b": [numpy.arange(3, dtype="float32")],
}


@pytest.fixture(scope="module")
def jax():
    jax = pytest.importorskip("jax")
    with jax.threefry_partitionable(False):
        yield jax


def steps(library, jit, grad, name, size, count=4):
    """Parameters after a few steps down a quartic."""
    init, update, params = getattr(library, name)(size, *OPTIMIZERS[name][1:])

    def loss(p):
        return ((p["w"] - 1) ** 4).sum() + (p["w"] * p["b"][0]).sum() ** 2

    @jit
    def step(i, state):
        return update(i, grad(loss)(params(state)), state)

    state = init(PARAMS)
    for i in range(count):
        state = step(i, state)
    return params(state)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps_as_jax(jax, name):
    from jax.example_libraries import optimizers as theirs

    jit = jax.jit if name != "sm3" else lambda f: f  # theirs keeps shapes in its state
    wanted = steps(theirs, jit, jax.grad, name, 0.01)
    found = steps(optimizers, overt.jit, overt.grad, name, 0.01)
    assert_allclose(found["w"], wanted["w"], rtol=1e-5, atol=1e-6)
    assert_allclose(found["b"][0], wanted["b"][0], rtol=1e-5, atol=1e-6)


SCHEDULES = {
    "constant": (0.1,),
    "exponential_decay": (0.1, 10, 0.9),
    "inverse_time_decay": (0.1, 10, 0.9),
    "inverse_time_decay (stairs)": (0.1, 10, 0.9, True),
    "polynomial_decay": (0.1, 10, 0.01, 2.0),
    "piecewise_constant": ([5, 12], [0.3, 0.2, 0.1]),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules_as_jax(jax, name):
    from jax.example_libraries import optimizers as theirs

    ours, theirs = (getattr(m, name.split()[0])(*SCHEDULES[name]) for m in (optimizers, theirs))
    for i in (0, 7, 12, 30):
        assert_allclose(ours(i), theirs(i), rtol=1e-6)
    assert_allclose(overt.jit(ours)(7), theirs(7), rtol=1e-6)


def test_a_schedule_of_the_users():
    def size(i):
        if i < 2:
            return 0.5
        return 0.25

    init, update, params = optimizers.sgd(size)
    state = overt.jit(update)(1, 2.0, init(3.0))
    assert_allclose(params(state), 2.0)
    assert_allclose(params(overt.jit(update)(5, 2.0, init(3.0))), 2.5)
    with pytest.raises(TypeError, match="step size"):
        optimizers.sgd([0.1, 0.2])


def test_states_are_packed_and_unpacked():
    init, update, params = optimizers.adam(0.1)
    state = update(0, PARAMS, init(PARAMS))
    again = optimizers.pack_optimizer_state(optimizers.unpack_optimizer_state(state))
    assert overt.tree.structure(again) == overt.tree.structure(state)
    assert_allclose(params(again)["w"], params(state)["w"])
    with pytest.raises(TypeError, match="JoinPoint"):
        optimizers.pack_optimizer_state({"w": 1.0})
    with pytest.raises(TypeError, match="not a tree like"):
        update(0, {"w": 1.0}, state)
    with pytest.raises(ValueError, match="one more"):
        optimizers.piecewise_constant([1], [1])


def test_norms_and_clipping(x64):
    assert_allclose(optimizers.l2_norm({"a": numpy.ones((2, 2)), "b": 3.0}), 13**0.5)
    clipped = optimizers.clip_grads([numpy.full(4, 2.0)], 1.0)[0]
    assert_allclose(clipped, numpy.full(4, 0.5))
    assert_allclose(optimizers.clip_grads([numpy.full(4, 2.0)], 9.0)[0], numpy.full(4, 2.0))


# --- networks


def image_net(stax):
    return stax.serial(
        stax.Conv(4, (3, 3), padding="SAME"),
        stax.BatchNorm(),
        stax.LeakyRelu,
        stax.MaxPool((2, 2), strides=(2, 2)),
        stax.ConvTranspose(3, (3, 3), strides=(2, 2), padding="SAME"),
        stax.AvgPool((3, 3), padding="SAME"),
        stax.SumPool((2, 2)),
        stax.FanOut(3),
        stax.parallel(stax.Tanh, stax.Gelu, stax.Identity),
        stax.FanInSum,
        stax.Flatten,
        stax.Dense(6),
        stax.LogSoftmax,
    )


def flat_net(stax):
    return stax.serial(
        stax.Conv1DTranspose(4, (2,), (2,)),
        stax.Elu,
        stax.GeneralConv(("NHC", "HIO", "NHC"), 5, (3,), (2,)),
        stax.Selu,
        stax.FanOut(2),
        stax.parallel(stax.serial(stax.Dense(3), stax.Softplus), stax.Sigmoid),
        stax.FanInConcat(),
        stax.shape_dependent(lambda shape: stax.Dense(shape[-1] // 2)),
        stax.Exp,
        stax.Softmax,
    )


@pytest.mark.parametrize(("net", "shape"), [(image_net, (2, 6, 6, 2)), (flat_net, (2, 5, 3))])
def test_networks_as_jax(jax, net, shape):
    from jax.example_libraries import stax as theirs

    key = numpy.array([0, 5], numpy.uint32)
    init, apply = net(stax)
    their_init, their_apply = net(theirs)
    out_shape, params = init(key, (-1, *shape[1:]))
    wanted_shape, their_params = their_init(key, shape)
    assert out_shape == (-1, *wanted_shape[1:])
    numbers, their_numbers = overt.tree.leaves(params), jax.tree.leaves(their_params)
    assert len(numbers) == len(their_numbers)
    for x, y in zip(numbers, their_numbers, strict=True):
        assert x.dtype == y.dtype
        assert_allclose(x, y, rtol=1e-4, atol=1e-6)

    x = numpy.random.default_rng(0).normal(size=shape).astype("float32")
    weights = numpy.linspace(-1, 1, int(numpy.prod(out_shape[1:]))).reshape(out_shape[1:])
    weights = weights.astype("float32")

    def loss(apply, params, x):
        return (apply(params, x) * weights).sum()

    wanted, their_grads = jax.jit(jax.value_and_grad(lambda p, x: loss(their_apply, p, x)))(
        their_params, x
    )
    found, grads = overt.jit(overt.value_and_grad(lambda p, x: loss(apply, p, x)))(params, x)
    assert_allclose(found, wanted, rtol=1e-4)
    for g, h in zip(overt.tree.leaves(grads), jax.tree.leaves(their_grads), strict=True):
        assert_allclose(g, h, rtol=2e-3, atol=2e-5)


def test_dropout_needs_a_key_and_keeps_the_mean():
    init, apply = stax.serial(stax.Dropout(0.5), stax.Dropout(0.25))
    assert init(overt.random.key(0), (-1, 8))[0] == (-1, 8)
    out = numpy.asarray(apply([(), ()], np.ones(4000), rng=overt.random.key(1)))
    assert set(out.tolist()) == {0.0, 8.0}
    assert_allclose(out.mean(), 1, atol=0.1)
    with pytest.raises(ValueError, match="random key"):
        apply([(), ()], np.ones(4))
    same = stax.Dropout(0.5, mode="test")[1]
    assert same((), np.ones(4), rng=overt.random.key(1)).tolist() == [1.0] * 4


def test_a_layer_of_the_users_with_a_branch():
    def apply_fun(params, x, **kwargs):
        if x.sum() > 0:
            return x * params
        return -x

    _, apply = stax.serial(((lambda rng, shape: (shape, 2.0)), apply_fun), stax.Identity)
    for x, wanted in ((numpy.ones(2), 2.0), (-numpy.ones(2), 0.0)):
        slope = overt.jit(overt.grad(lambda p, x: apply([p, ()], x).sum()))
        assert_allclose(slope(2.0, x), wanted)
