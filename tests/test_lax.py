"""`lax`: strict dtypes, explicit axes, slices, reductions, and control flow as functions."""

from __future__ import annotations

import numpy as onp
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import overt.numpy as np
from overt import lax
from overt.runtime.lanes import Lanes
from overt.runtime.record import vjp_call
from overt.runtime.staging import stage

F = onp.linspace(-0.9, 0.8, 6).astype("float32").reshape(2, 3)
G = onp.linspace(0.2, 1.4, 6).astype("float32").reshape(2, 3)
I = onp.arange(-3, 3).astype("int32").reshape(2, 3)  # noqa: E741
J = onp.array([[2, 1, 3], [1, 2, 5]], "int32")
X = onp.arange(24.0).astype("float32").reshape(2, 3, 4)
ONE = (((1,), (0,)), ((), ()))


@pytest.fixture(scope="module")
def jax():
    return pytest.importorskip("jax")


UNARY = [
    "abs", "acos", "asin", "asinh", "atan", "atanh", "bessel_i0e", "bessel_i1e", "cbrt", "ceil",
    "cos", "cosh", "digamma", "erf", "erf_inv", "erfc", "exp", "exp2", "expm1", "floor", "lgamma",
    "is_finite", "logistic", "neg", "round", "sign", "sin", "sinh", "square", "tan", "tanh",
]  # fmt: skip
BINARY = [
    "add", "atan2", "div", "eq", "ge", "gt", "le", "lt", "max", "min", "mul", "ne", "nextafter",
    "rem", "sub",
]  # fmt: skip
CASES = {
    **{name: lambda lax, name=name: getattr(lax, name)(F) for name in UNARY},
    **{name: lambda lax, name=name: getattr(lax, name)(G) for name in (
        "log", "log1p", "rsqrt", "sqrt", "reciprocal")},
    **{name: lambda lax, name=name: getattr(lax, name)(F, G) for name in BINARY},
    **{f"int_{name}": lambda lax, name=name: getattr(lax, name)(I, J) for name in (
        "add", "div", "rem", "max", "bitwise_and", "bitwise_or", "bitwise_xor", "shift_left",
        "shift_right_arithmetic", "shift_right_logical")},
    **{f"int_{name}": lambda lax, name=name: getattr(lax, name)(J) for name in (
        "bitwise_not", "population_count", "clz", "neg", "sign")},
    "pow": lambda lax: lax.pow(G, F),
    "integer_pow": lambda lax: lax.integer_pow(I, 3),
    "igamma": lambda lax: lax.igamma(G, G),
    "polygamma": lambda lax: lax.polygamma(onp.float32(1), G),
    "clamp": lambda lax: lax.clamp(0.0, F, 0.5),
    "complex": lambda lax: lax.complex(F, G),
    "select": lambda lax: lax.select(F > 0, F, G),
    "select_n": lambda lax: lax.select_n(I % 3, F, G, F),
    "convert": lambda lax: lax.convert_element_type(F, "int32"),
    "bitcast": lambda lax: lax.bitcast_convert_type(F, "uint32"),
    "bitcast_narrow": lambda lax: lax.bitcast_convert_type(I, "uint8"),
    "bitcast_wide": lambda lax: lax.bitcast_convert_type(onp.zeros((3, 4), "uint8"), "int32"),
    "reduce_precision": lambda lax: lax.reduce_precision(F, 5, 4),
    "broadcast": lambda lax: lax.broadcast(F, (4,)),
    "broadcast_in_dim": lambda lax: lax.broadcast_in_dim(F, (2, 5, 3), (0, 2)),
    "reshape": lambda lax: lax.reshape(F, (3, 2), (1, 0)),
    "transpose": lambda lax: lax.transpose(X, (2, 0, 1)),
    "rev": lambda lax: lax.rev(X, (0, 2)),
    "pad": lambda lax: lax.pad(F, onp.float32(9), ((1, 0, 2), (-1, 1, 0))),
    "collapse": lambda lax: lax.collapse(X, 1),
    "concatenate": lambda lax: lax.concatenate([F, G], 1),
    "expand_dims": lambda lax: lax.expand_dims(F, (0, 2)),
    "squeeze": lambda lax: lax.squeeze(F[None], (0,)),
    "tile": lambda lax: lax.tile(F, (2, 1)),
    "iota": lambda lax: lax.iota("float32", 5),
    "broadcasted_iota": lambda lax: lax.broadcasted_iota("int32", (2, 3), 1),
    "full_like": lambda lax: lax.full_like(F, 2),
    "slice": lambda lax: lax.slice(X, (0, 1, 0), (2, 3, 4), (1, 1, 2)),
    "slice_in_dim": lambda lax: lax.slice_in_dim(X, 1, 4, 2, axis=2),
    "index_in_dim": lambda lax: lax.index_in_dim(X, -1, 1),
    "dynamic_slice": lambda lax: lax.dynamic_slice(X, (0, 2, onp.int32(-3)), (1, 2, 2)),
    "dynamic_index": lambda lax: lax.dynamic_index_in_dim(X, onp.int32(7), 1, keepdims=False),
    "dynamic_update": lambda lax: lax.dynamic_update_slice(X, X[:1, :2, :3], (1, 5, 0)),
    "dynamic_update_index": lambda lax: lax.dynamic_update_index_in_dim(
        X, X[:, 0], onp.int32(2), 1),
    "sort": lambda lax: lax.sort(X[:, ::-1], dimension=1),
    "sort_together": lambda lax: lax.sort((J, I), num_keys=2)[1],
    "sort_key_val": lambda lax: lax.sort_key_val(J, F)[1],
    "top_k": lambda lax: lax.top_k(F, 2)[1],
    "argmax": lambda lax: lax.argmax(F, 1, "int32"),
    "cumsum": lambda lax: lax.cumsum(X, axis=1),
    "cumsum_reverse": lambda lax: lax.cumsum(X, axis=2, reverse=True),
    "cumprod": lambda lax: lax.cumprod(F, axis=1),
    "cummax": lambda lax: lax.cummax(F[:, ::-1], axis=1),
    "cummin": lambda lax: lax.cummin(F, axis=0, reverse=True),
    "cumlogsumexp": lambda lax: lax.cumlogsumexp(F, axis=1),
    "reduce_sum": lambda lax: lax.reduce(X, onp.float32(0), lax.add, (0, 2)),
    "reduce_mul": lambda lax: lax.reduce(F, onp.float32(2), lax.mul, (1,)),
    "reduce_tree": lambda lax: lax.reduce(
        (J, I), (onp.int32(0), onp.int32(1)),
        lambda a, b: (lax.add(a[0], b[0]), lax.mul(a[1], b[1])), (0,))[1],
    "reduce_window": lambda lax: lax.reduce_window(
        X, -onp.inf, lax.max, (1, 2, 2), (1, 1, 2), "SAME"),
    "reduce_window_dilated": lambda lax: lax.reduce_window(
        X, 0.0, lax.add, (1, 2, 2), (1, 1, 1), [(0, 0), (1, 0), (0, 1)], None, (1, 1, 2)),
    "dot": lambda lax: lax.dot(F, X[0]),
    "dot_general": lambda lax: lax.dot_general(X, X, (((2,), (2,)), ((0,), (0,)))),
    "dot_wide": lambda lax: lax.dot_general(I, J.T, ONE, preferred_element_type="float32"),
    "batch_matmul": lambda lax: lax.batch_matmul(X, X.transpose(0, 2, 1)),
    "gather": lambda lax: lax.gather(
        X[0], onp.array([[0, 1], [2, 9]], "int32"),
        lax.GatherDimensionNumbers((1,), (0,), (0, 1)), (1, 2)),
    "gather_clip": lambda lax: lax.gather(
        X[0], onp.array([[0], [7]], "int32"),
        lax.GatherDimensionNumbers((1,), (0,), (0,)), (1, 4), mode="clip"),
    "scatter_add": lambda lax: lax.scatter_add(
        X[0], onp.array([[0], [2], [0], [9]], "int32"), onp.ones((4, 4), "float32"),
        lax.ScatterDimensionNumbers((1,), (0,), (0,))),
    "scatter": lambda lax: lax.scatter(
        X[0], onp.array([[1, 2]], "int32"), onp.ones((1, 2), "float32"),
        lax.ScatterDimensionNumbers((1,), (0,), (0, 1))),
    "associative_scan": lambda lax: lax.associative_scan(lax.mul, F, axis=1),
    "associative_scan_reverse": lambda lax: lax.associative_scan(lax.add, X, reverse=True, axis=2),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_values_as_jax(jax, name):
    wanted, found = CASES[name](jax.lax), CASES[name](lax)
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    assert_allclose(onp.asarray(found), onp.asarray(wanted), rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: lax.add(onp.int32(1), onp.float32(1.0)), ["int32", "float32"]),
        (lambda: lax.add(1, 1.0), ["int32", "float32"]),
        (lambda: lax.mul(np.arange(3), 1.5), ["int32", "float32"]),
        (lambda: lax.sin(np.arange(3)), ["sin", "int32"]),
        (lambda: lax.add(np.ones(3), np.ones((2, 3))), ["rank"]),
        (lambda: lax.bitwise_and(np.ones(3), np.ones(3)), ["bitwise_and", "float32"]),
        (lambda: lax.select(True, np.ones(3), 1.0), ["shape"]),
        (lambda: lax.concatenate([np.ones(3), np.arange(3)], 0), ["int32"]),
        (lambda: lax.dynamic_slice(np.ones(3), (0,), (4,)), ["(4,)"]),
        (lambda: lax.slice(np.ones(3), (2,), (5,)), ["2:5"]),
        (lambda: lax.dot(np.ones(3), np.ones(4)), ["(3,)", "(4,)"]),
        (lambda: lax.while_loop(lambda c: True, lambda c: (c, c), 0), ["while_loop", "carry"]),
        (
            lambda: lax.scan(lambda c, x: ({"a": c["a"]}, x), {"a": 1, "b": 2}, np.arange(2)),
            ["scan", "['b']"],
        ),
    ],
)
def test_what_does_not_fit_is_named(call, words):
    with pytest.raises(TypeError) as caught:
        call()
    assert all(word in str(caught.value) for word in words), caught.value


def test_numbers_adapt_to_arrays():
    assert lax.add(onp.float32(1), 1.0).dtype == "float32"
    assert lax.add(np.ones(3, "float16"), 2).dtype == "float16"
    assert lax.max(np.arange(3, dtype="uint8"), 1).dtype == "uint8"


def test_control_flow_as_functions():
    assert float(lax.cond(False, lambda x: x + 1, lambda x: x - 1, 0.0)) == -1
    found = [lax.switch(i, [lambda: 5, lambda: 6, lambda: 7]) for i in (-5, 0, 1, 2, 9)]
    assert found == [5, 5, 6, 7, 7]
    with pytest.raises(TypeError, match="different types"):
        lax.switch(0, [lambda: 5, lambda: (5, 6)])
    assert lax.while_loop(lambda x: x < 10, lambda x: x + 1, 0) == 10
    assert lax.fori_loop(0, 10, lambda i, x: x + i, 0) == 45
    carry, ys = lax.scan(lambda c, x: (c + x[0] * x[1], c), 0.0, (np.arange(16.0), np.ones(16)))
    assert float(carry) == 120
    assert_array_equal(ys, onp.concatenate([[0], onp.cumsum(onp.arange(15.0))]))
    assert lax.map(lambda x: {"twice": 2 * x}, np.arange(3))["twice"].tolist() == [0, 2, 4]


def test_scan_variants(jax):
    def step(c, x):
        return c * 2 + x, {"sum": c + x, "none": None}

    wanted = jax.lax.scan(step, 1.0, F[0], reverse=True)
    found = lax.scan(step, 1.0, F[0], reverse=True)
    assert_allclose(found[0], wanted[0], rtol=1e-6)
    assert_allclose(found[1]["sum"], wanted[1]["sum"], rtol=1e-6)
    assert found[1]["none"] is None
    carry, ys = lax.scan(lambda c, _: (c + 1, c), 0, length=3)
    assert carry == 3 and ys.tolist() == [0, 1, 2]
    carry, ys = lax.scan(lambda c, x: (c, x + 1.0), 0, np.zeros((0, 2)))
    assert carry == 0 and ys.shape == (0, 2)
    with pytest.raises(ValueError, match="length"):
        lax.scan(lambda c, x: (c, x), 0, (np.ones(2), np.ones(3)))


IMAGE = onp.cos(onp.arange(2 * 7 * 6 * 4.0)).reshape(2, 7, 6, 4).astype("float32")
KERNEL = onp.sin(onp.arange(3 * 2 * 4 * 6.0)).reshape(3, 2, 4, 6).astype("float32")
LAST = ("NHWC", "HWIO", "NHWC")
CONVOLUTIONS = {
    "same": lambda lax, x, w: lax.conv_general_dilated(
        x, w, (1, 2), "SAME", dimension_numbers=LAST),
    "dilated": lambda lax, x, w: lax.conv_general_dilated(
        x, w, (2, 1), ((1, 2), (0, -1)), (2, 1), (1, 2), LAST),
    "groups": lambda lax, x, w: lax.conv_general_dilated(
        x, w[:, :, :2], (1, 1), "VALID", dimension_numbers=LAST, feature_group_count=2),
    "batch_groups": lambda lax, x, w: lax.conv_general_dilated(
        x, w, (1, 1), "VALID", dimension_numbers=LAST, batch_group_count=2),
    "transpose": lambda lax, x, w: lax.conv_transpose(x, w, (2, 3), "SAME"),
    "transpose_kernel": lambda lax, x, w: lax.conv_transpose(
        x, w.transpose(0, 1, 3, 2), (2, 1), "VALID", transpose_kernel=True),
    "first": lambda lax, x, w: lax.conv(
        x.transpose(0, 3, 1, 2), w.transpose(3, 2, 0, 1), (1, 1), "SAME"),
    "patches": lambda lax, x, w: lax.conv_general_dilated_patches(
        x, (3, 2), (1, 2), "SAME", dimension_numbers=LAST),
}  # fmt: skip


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions_as_jax(jax, name):
    wanted, pull = jax.vjp(lambda x, w: CONVOLUTIONS[name](jax.lax, x, w), IMAGE, KERNEL)
    out, pullback = vjp_call(
        lambda x, w: CONVOLUTIONS[name](lax, x, w), np.asarray(IMAGE), np.asarray(KERNEL)
    )
    assert_allclose(onp.asarray(out), onp.asarray(wanted), rtol=1e-4, atol=1e-4)
    g = onp.cos(onp.arange(wanted.size)).reshape(wanted.shape).astype("float32")
    for found, bar in zip(pullback(np.asarray(g)), pull(jax.numpy.asarray(g)), strict=True):
        assert_allclose(onp.asarray(found), onp.asarray(bar), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("mapped", [(0, None), (None, 0), (0, 0)])
def test_convolution_in_lanes(mapped, groups):
    x = onp.cos(onp.arange(2 * 3 * 4 * 6.0)).reshape(2, 3, 4, 6).astype("float32")
    w = (
        onp.sin(onp.arange(2 * 4 * 4 * 2.0))
        .reshape(2, 4, 4, 2)
        .astype("float32")[:, :, : 4 // groups]
    )
    at = [a if m == 0 else a[0] for a, m in zip((x, w), mapped, strict=True)]

    def f(x, w):
        return lax.conv_general_dilated(x, w, (2,), "SAME", feature_group_count=groups)

    lanes = f(*(Lanes(np.asarray(a), 1) if m == 0 else a for a, m in zip(at, mapped, strict=True)))
    for k in range(2):
        one = f(*(a[k] if m == 0 else a for a, m in zip(at, mapped, strict=True)))
        assert_allclose(onp.asarray(lanes.value)[k], onp.asarray(one), rtol=1e-5, atol=1e-5)


def test_stop_gradient():
    _, pullback = vjp_call(lambda x: x * lax.stop_gradient({"x": x})["x"], np.array(3.0))
    assert float(pullback(1.0)[0]) == 3


SMOOTH = {
    "dynamic_slice": lambda x: lax.dynamic_slice(x, (0, np.asarray(2), 1), (1, 1, 2)),
    "dynamic_update": lambda x: lax.dynamic_update_slice(x, 2 * x[:1, :1, :2], (1, 1, 1)),
    "gather": lambda x: CASES["gather_clip"](lax) * 0 + x[0, :2],
    "reduce": lambda x: lax.reduce(x, 1.0, np.multiply, (0, 1)),
    "reduce_window": lambda x: lax.reduce_window(
        x, -onp.inf, lax.max, (1, 2, 2), (1, 1, 1), "VALID"
    ),
    "cumlogsumexp": lambda x: lax.cumlogsumexp(x, axis=1),
    "div": lambda x: lax.div(x, x + 30),
    "rem": lambda x: lax.rem(x, 5 + x / 100),
    "dot_general": lambda x: lax.dot_general(x, x, (((2,), (2,)), ((0,), (0,)))),
    "logistic": lambda x: lax.logistic(x / 10),
    "pad": lambda x: lax.pad(x, 0.0, ((0, 0, 0), (1, -1, 1), (0, 0, 0))),
    "top_k": lambda x: lax.top_k(x, 2)[0],
}


@pytest.mark.parametrize("name", SMOOTH)
def test_gradients(x64, name):
    x = onp.asarray(X, "float64") + 0.1 * onp.sin(onp.arange(24.0)).reshape(2, 3, 4)
    step = 1e-6 * onp.cos(onp.arange(24.0)).reshape(2, 3, 4)
    out, pullback = vjp_call(SMOOTH[name], np.asarray(x))
    g = onp.cos(onp.arange(out.size)).reshape(out.shape)
    bar = onp.asarray(pullback(np.asarray(g))[0])
    high, low = (onp.asarray(SMOOTH[name](np.asarray(x + s))) for s in (step, -step))
    assert_allclose((bar * step).sum(), ((high - low) / 2 * g).sum(), rtol=1e-5, atol=1e-12)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, i: lax.dynamic_slice(x, (i, 1), (2, 2)),
        lambda x, i: lax.dynamic_slice(F, (0, i), (2, 2)),
        lambda x, i: lax.dynamic_update_slice(x, x[:1, :2], (i, 1)),
        lambda x, i: lax.dynamic_update_slice(x, np.ones((1, 2)), (1, 2)),
        lambda x, i: lax.dynamic_index_in_dim(x, i, 1),
        lambda x, i: lax.bitcast_convert_type(x, "int32"),
    ],
)
def test_lanes(function):
    x, i = X, onp.array([1, -1], "int32")
    lanes = function(Lanes(np.asarray(x), 1), Lanes(np.asarray(i), 1))
    wanted = [onp.asarray(function(np.asarray(x[k]), np.asarray(i[k]))) for k in range(2)]
    assert_array_equal(onp.asarray(lanes.value), onp.stack(wanted))


def test_random_in_lanes_equals_one_by_one():
    from overt import random

    keys = random.split(random.key(0), 3)
    lanes = random.normal(random.wrap_key_data(Lanes(random.key_data(keys), 1)), (4,))
    wanted = onp.stack([onp.asarray(random.normal(keys[k], (4,))) for k in range(3)])
    assert_array_equal(onp.asarray(lanes.value), wanted)


def test_staged_program_is_short():
    from overt import random

    program = stage(lambda words: random.normal(words, (100,)), [random.PRNGKey(0).aval])
    assert len(program.text().splitlines()) < 250
