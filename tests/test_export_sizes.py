"""Functions exported for any size: arithmetic of sizes, values for many of them, refusals."""

from __future__ import annotations

import itertools
import json

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import overt
import overt.numpy as np
from overt import export as ex
from overt.errors import InconclusiveDimensionOperation
from overt.runtime.dimensions import evaluate

F32 = numpy.float32


def rows(*sizes, dtype=F32):
    return overt.ShapeDtypeStruct(sizes, dtype)


# --- sizes

TEXTS = st.recursive(
    st.sampled_from(["b", "c", "1", "2", "3"]),
    lambda inner: st.builds(
        lambda x, op, y: f"({x} {op} {y})" if op in "+-*" else f"{op}({x}, {y})",
        inner, st.sampled_from(["+", "-", "*", "floordiv", "mod", "max", "min"]), inner,
    ),
    max_leaves=6,
)  # fmt: skip
PLAIN = {
    "floordiv": lambda x, y: x // y, "mod": lambda x, y: x % y, "max": max, "min": min,
}  # fmt: skip


@given(TEXTS, st.integers(1, 7), st.integers(1, 7))
def test_sizes_are_what_python_computes(text, b, c):
    try:
        want = eval(text, {**PLAIN, "b": b, "c": c})
        (size,) = ex.symbolic_shape(text)
    except ZeroDivisionError:
        return
    try:
        assert evaluate(size, {"b": b, "c": c}) == want
    except ZeroDivisionError:
        return
    if ex.is_symbolic_dim(size):
        low, high = size.bound()
        assert low <= want <= high
        (again,) = ex.symbolic_shape(str(size), scope=size.scope)
        assert again == size and hash(again) == hash(size)


def test_arithmetic():
    b, c, n = ex.symbolic_shape("b, c, 4*b")
    assert str(b * 2 + 1) == "2*b + 1" and (2 * b) // 2 == b and n % 4 == 0 and (b * c) // b == c
    assert (2 * b + 2 * c) // (b + c) == 2 and str((b + 1) // 2) == "floordiv(b + 1, 2)"
    assert b - b == 0 and type(b - b) is int and b >= 1 and b + c > 1 and b != 0
    for wrong in (lambda: b > 4, lambda: b < c, lambda: range(b), lambda: int(b)):
        with pytest.raises(InconclusiveDimensionOperation):
            wrong()


def test_what_is_known_decides():
    scope = ex.SymbolicScope(["b >= 8", "b <= 100", "mod(b, 2) == 0", "c >= b"])
    b, c = ex.symbolic_shape("b, c", scope=scope)
    assert b > 4 and not b > 200 and b % 2 == 0 and c >= b and b - 8 >= 0
    for wrong in ("b > 3", "b == c == 1", "what?", "2*b == 4"):
        with pytest.raises(ValueError, match="a constraint"):
            ex.SymbolicScope([wrong])


def test_shapes_from_texts():
    assert str(ex.symbolic_shape("(b, _, ...)", like=(None, 2, 3, 4))) == "(b, 2, 3, 4)"
    assert ex.symbolic_shape(None, like=(2, 3)) == (2, 3)
    for text, like in (("b, ...", None), ("_", None), ("b, c", (1,)), ("b +", None), ("1.5", None)):
        with pytest.raises(ValueError):
            ex.symbolic_shape(text, like=like)
    specs = ex.symbolic_args_specs(({"x": np.ones((4, 3))}, np.ones(4)), ({"x": "b, ..."}, "b"))
    assert str(specs[0]["x"].shape) == "(b, 3)" and specs[1].shape[0] == specs[0]["x"].shape[0]


# --- functions


def network(x, w):
    for i in range(2):
        x = np.tanh(x) * (i + 1)
    return overt.nn.softmax(x @ w)


def grown(x):
    while x.sum() < 100.0:
        x = x * 2.0
    return x


def summed(x):
    total = 0.0
    for i, row in enumerate(x):
        total = total + row.sum() * i
    for i in range(x.shape[0]):
        total = total + x[i, 0]
    return total


def mean_loss(w, x):
    return np.mean(np.log(network(x, w)) ** 2)


FUNCTIONS = {
    "elementwise": lambda x: np.sin(x) * 2.0 + x,
    "reductions": lambda x: (x.sum(0), x.mean(), np.var(x, 0), x.max(1), np.linalg.norm(x)),
    "indexing": lambda x: (x[0], x[-1], x[:, 1], x[:, :2], x[:, None, :], x[::-1]),
    "shapes": lambda x: (x.reshape(-1), x.T, x.reshape(x.shape[0], 3, 1), x.reshape(-1, 1)),
    "joining": lambda x: (np.concatenate([x, x]), np.stack([x, x], 1), np.tile(x, (2, 1))),
    "padding": lambda x: np.pad(x, ((1, 2), (0, 0))),
    "creation": lambda x: (np.zeros(x.shape) + x, np.arange(x.shape[0]), np.full(x.shape[0], 2)),
    "sizes as numbers": lambda x: (x / x.shape[0], x.sum() / x.size, x * x.shape[0]),
    "products": lambda x: (x.T @ x, np.einsum("bi,bj->ij", x, x), np.einsum("bi->b", x)),
    "sorting": lambda x: (np.sort(x, 0), np.argmax(x, 1), np.cumsum(x, 0), np.median(x, 1)),
    "branch": lambda x: x * 2 if x.sum() > 0 else x - 1,
    "loop": grown,
    "scan": lambda x: overt.lax.scan(lambda c, r: (c + r.sum(), c), 0.0, x),
    "rows": summed,
    "gradient": overt.grad(lambda x: (np.sin(x) ** 2).mean()),
    "batched": overt.vmap(lambda r: r / np.linalg.norm(r)),
    "one hot": lambda x: overt.nn.one_hot(np.argmax(x, 1), 3),
    "solve": lambda x: np.linalg.solve(np.eye(3) * 2.0, x.T),
}


def argument(n, seed=0):
    return numpy.random.default_rng(seed + n).normal(size=(n, 3)).astype(F32) + F32(0.5)


def same(actual, expected, tolerance=1e-5):
    for a, b in zip(overt.tree.leaves(actual), overt.tree.leaves(expected), strict=True):
        assert a.shape == b.shape and a.dtype == b.dtype
        numpy.testing.assert_allclose(a, b, tolerance, tolerance)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_one_export_serves_every_size(name):
    f = FUNCTIONS[name]
    (b,) = ex.symbolic_shape("b")
    again = ex.deserialize(ex.export(overt.jit(f))(rows(b, 3)).serialize())
    assert str(again.in_avals[0]) == "float32[b,3]"
    for n in (1, 4):
        same(again.call(argument(n)), overt.jit(f)(np.array(argument(n))), 1e-4)


def test_two_names_and_sizes_made_of_them():
    b, c, d = ex.symbolic_shape("b, c, 2*c + 1")
    f = lambda x, y: (x[:, :, None] * y, np.concatenate([x, x[:, :1]], 1))  # noqa: E731
    made = ex.export(overt.jit(f))(rows(b, c), rows(d))
    again = ex.deserialize(made.serialize())
    assert str(again.out_avals[0]) == "float32[b,c,2*c + 1]"
    for n, m in itertools.product((1, 3), (2, 4)):
        x, y = numpy.ones((n, m), F32), numpy.arange(2 * m + 1, dtype=F32)
        same(again.call(x, y), f(np.array(x), np.array(y)))
    only_d = ex.export(overt.jit(lambda y: y * 2))(rows(d))
    assert only_d.call(numpy.ones(7, F32)).shape == (7,)
    with pytest.raises(ValueError, match="cannot be found out"):
        only_d.call(numpy.ones(8, F32))


def test_derivatives_for_any_size():
    (b,) = ex.symbolic_shape("b")
    made = ex.export(overt.jit(mean_loss))(rows(3, 4), rows(b, 3))
    again = ex.deserialize(made.serialize(vjp_order=1))
    w = numpy.random.default_rng(1).normal(size=(3, 4)).astype(F32)
    for n in (2, 5):
        x = argument(n)
        want = overt.jit(overt.grad(mean_loss, (0, 1)))(w, x)
        same(overt.jit(overt.grad(lambda w, x: again.call(w, x), (0, 1)))(w, x), want, 1e-4)
        same(again.vjp().call(w, x, np.array(1.0)), want, 1e-4)
    batched = overt.vmap(again.call, in_axes=(None, 0))(w, numpy.stack([argument(2), argument(2)]))
    same(batched, np.array([mean_loss(w, argument(2))] * 2), 1e-4)


def test_inside_another_export_for_any_size():
    (b,) = ex.symbolic_shape("b")
    inner = ex.export(overt.jit(lambda x: np.sin(x) / x.shape[0]))(rows(b, 3))
    (n,) = ex.symbolic_shape("n")
    outer = ex.export(overt.jit(lambda x: inner.call(np.concatenate([x, x])) * 2))(rows(n, 3))
    x = argument(2)
    same(ex.deserialize(outer.serialize()).call(x), numpy.sin(numpy.concatenate([x, x])) / F32(2))


def test_a_module_for_each_size():
    (b,) = ex.symbolic_shape("b", constraints=["b <= 100"])
    made = ex.export(overt.jit(np.sin), platforms=["cpu", "tpu"])(rows(b))
    assert made.platforms == ("cpu", "tpu")
    assert "tensor<7xf32>" in made.mlir_module_for(b=7)
    with pytest.raises(ValueError, match="mlir_module_for"):
        made.mlir_module()
    with pytest.raises(ValueError, match=r"exported for sizes with -b \+ 100 >= 0, got b = 101"):
        made.mlir_module_for(b=101)


def different_at_four(x):
    return x * 2 if x.shape[0] == 4 else x


def different_above_four(x):
    return x * 2 if x.shape[0] > 4 else x


def test_sizes_that_the_function_asks_about():
    (b,) = ex.symbolic_shape("b")
    made = ex.export(overt.jit(different_at_four))(rows(b, 3))
    again = ex.deserialize(made.serialize())
    same(again.call(argument(3)), np.array(argument(3)))
    with pytest.raises(ValueError, match="does something else where b - 4 == 0, as for b = 4"):
        again.call(argument(4))
    with pytest.raises(InconclusiveDimensionOperation, match="b > 4 depends on"):
        ex.export(overt.jit(different_above_four))(rows(b, 3))
    (b,) = ex.symbolic_shape("b", constraints=["b >= 5"])
    same(
        ex.export(overt.jit(different_above_four))(rows(b, 3)).call(argument(5)),
        np.array(argument(5)) * 2,
    )


def test_refusals():
    (b,) = ex.symbolic_shape("b")
    (other,) = ex.symbolic_shape("b")
    for f, kinds, error, reason in (
        (lambda x: x.reshape(4, -1), [rows(b, 3)], ValueError, "cannot reshape"),
        (lambda x: [r.sum() for r in x], [rows(b, 3)], InconclusiveDimensionOperation, "as a num"),
        (lambda x: x * len(x), [rows(b, 3)], InconclusiveDimensionOperation, "as a number"),
        (lambda x, y: x + y, [rows(b), rows(3)], ValueError, "broadcast"),
        (lambda x, y: (x, y), [rows(b), rows(other)], ValueError, "several scopes"),
    ):
        with pytest.raises(error, match=reason):
            ex.export(overt.jit(f))(*kinds)
    made = ex.export(overt.jit(lambda x, y: x + y))(rows(b, 3), rows(b, 3))
    for args in ((argument(2), argument(3)), (argument(2), argument(2)[0])):
        with pytest.raises(ValueError, match="as its argument 1"):
            made.call(*args)

    def prints(x):
        overt.debug.print("{}", x)
        return x

    with pytest.raises(ValueError, match="calls a Python function"):
        ex.export(overt.jit(prints))(rows(b))


def test_the_blob_is_json_without_code():
    (b,) = ex.symbolic_shape("b")
    blob = ex.export(overt.jit(network))(rows(b, 3), rows(3, 4)).serialize()
    from overt.runtime.export_format import pack, unpack

    header, payloads = unpack(blob)
    text = json.loads(payloads[0])
    assert header["equations"] and set(text) == {"program", "vars", "constants"}
    text["program"]["eqns"][0][:2] = ["system", "os"]
    foreign = ex.deserialize(pack(header, [json.dumps(text).encode()]))
    with pytest.raises(ValueError, match="unknown operation 'system'"):
        foreign.call(argument(2), numpy.ones((3, 4), F32))


def test_agrees_with_jax():
    pytest.importorskip("jax")
    theirs = pytest.importorskip("jax.export")
    for text in ("b, 2*b + 1", "(b, c)", "b*c, 3", "mod(b, 2), floordiv(b + 1, 2)"):
        assert str(ex.symbolic_shape(text)) == str(theirs.symbolic_shape(text))
