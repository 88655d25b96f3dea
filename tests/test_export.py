"""Exported functions: bytes and back, called, staged, differentiated; what is refused."""

from __future__ import annotations

import collections
import subprocess
import sys

import numpy
import pytest

import overt
import overt.numpy as np
from overt import export as ex
from overt.runtime import export_format
from overt.tree_util import register_pytree_node

F32 = numpy.float32
MATRIX = overt.ShapeDtypeStruct((3, 4), F32)


def mixed(x, y, *, scale=2.0):
    if x.sum() > 0:
        y = np.sin(x) * y
    return {"product": y @ y.T * scale, "rest": (x, 3)}


def total(x, y):
    return mixed(x, y)["product"].sum()


@pytest.fixture(scope="module")
def made():
    return ex.export(overt.jit(mixed))(MATRIX, MATRIX)


@pytest.fixture(scope="module")
def again(made):
    return ex.deserialize(made.serialize(vjp_order=2))


@pytest.fixture
def arguments():
    random = numpy.random.default_rng(0)
    return [np.asarray(random.normal(size=(3, 4)).astype(F32)) for _ in range(2)]


def same(actual, expected, tolerance=1e-5):
    for a, b in zip(overt.tree.leaves(actual), overt.tree.leaves(expected), strict=True):
        numpy.testing.assert_allclose(a, b, tolerance, tolerance)


def test_values_and_containers_come_back(again, arguments):
    result = again.call(*arguments)
    same(result, mixed(*arguments))
    assert overt.tree.structure(result) == overt.tree.structure(mixed(*arguments))
    same(overt.jit(again.call)(*arguments), mixed(*arguments))


def test_what_it_says_of_itself(made, again):
    for exported in (made, again):
        assert exported.fun_name == "mixed" and exported.platforms == ("cpu",)
        assert [a.shape for a in exported.in_avals] == [(3, 4)] * 2
        assert [a.dtype.name for a in exported.out_avals] == ["float32", "float32", "int32"]
        assert "stablehlo" in exported.mlir_module()
    assert again.has_vjp() and again.vjp().has_vjp() and not again.vjp().vjp().has_vjp()


def test_derivatives(again, arguments):
    def through(x, y):
        return again.call(x, y)["product"].sum()

    expected = overt.grad(total, (0, 1))(*arguments)
    same(overt.grad(through, (0, 1))(*arguments), expected)
    same(overt.jit(overt.grad(through, (0, 1)))(*arguments), expected)
    same(overt.jvp(through, arguments, arguments), overt.jvp(total, arguments, arguments))

    def squared(f):
        return overt.grad(lambda x, y: (overt.grad(f)(x, y) ** 2).sum())

    same(squared(through)(*arguments), squared(total)(*arguments), 1e-4)


def test_vjp_has_no_cotangents_of_integers():
    f = overt.jit(lambda x, n, *, b: (x * n + b, n + 1))
    numbers = overt.ShapeDtypeStruct((2,), numpy.int32)
    floats = overt.ShapeDtypeStruct((2,), F32)
    made = ex.export(f)(floats, numbers, b=floats)
    vjp = ex.deserialize(made.vjp().serialize())
    assert len(vjp.in_avals) == 4  # three arguments, one result with a derivative
    x, n, g = np.array([1.0, 2.0]), np.array([3, 4]), np.array([1.0, 10.0])
    same(vjp.call(x, n, x, g), (np.array([3.0, 40.0]), g))
    with pytest.raises(ValueError, match="vjp_order"):
        ex.deserialize(made.serialize()).vjp()


def test_second_derivative_of_a_function_that_calls_one_with_a_rule():
    @overt.custom_vjp
    def cube(x):
        return x**3

    cube.defvjp(lambda x: (cube(x), x), lambda x, g: (3 * x**2 * g,))

    def held(x):
        return {"cube": cube(x)}

    def slope(x):
        return overt.grad(lambda v: held(v)["cube"].sum())(x).sum()

    same(overt.grad(slope)(np.arange(3.0)), [numpy.array([0.0, 6.0, 12.0])])


def test_exported_inside_exported(again, arguments):
    twice = overt.jit(lambda x, y: again.call(x, y)["product"] - 2 * again.call(y, x)["product"])
    nested = ex.deserialize(ex.export(twice)(MATRIX, MATRIX).serialize())
    x, y = arguments
    same(nested.call(x, y), mixed(x, y)["product"] - 2 * mixed(y, x)["product"])


def test_constants_and_static_arguments():
    table = np.arange(100.0)
    f = overt.jit(lambda x, n, *, by: table[:3] * x * n + by, static_argnums=1)
    made = ex.export(f)(overt.ShapeDtypeStruct((3,), F32), 5, by=1.0)
    again = ex.deserialize(made.serialize(vjp_order=1))
    same(again.call(np.ones(3), by=1.0), numpy.arange(3.0) * 5 + 1)
    slope = overt.grad(lambda x: again.call(x, by=1.0).sum())(np.ones(3))
    same(slope, [numpy.arange(3.0) * 5])


def test_several_platforms():
    f = overt.jit(lambda x: np.linalg.cholesky(x @ x.T + np.eye(3)))
    made = ex.export(f, platforms=["cpu", "cuda", "tpu"])(overt.ShapeDtypeStruct((3, 3), F32))
    again = ex.deserialize(made.serialize())
    assert again.platforms == ("cpu", "cuda", "tpu")
    assert "cholesky" in again.mlir_module("tpu")
    other = ex.export(f, platforms=["tpu"])(overt.ShapeDtypeStruct((3, 3), F32))
    with pytest.raises(ValueError, match="exported for tpu, but is called on cpu"):
        other.call(np.eye(3))
    unchecked = ex.export(
        f, platforms=["tpu"], disabled_checks=[ex.DisabledSafetyCheck.platform()]
    )(overt.ShapeDtypeStruct((3, 3), F32))
    same(unchecked.call(np.zeros((3, 3))), numpy.eye(3))
    with pytest.raises(ValueError, match="unknown platform 'abacus'"):
        ex.export(f, platforms=["abacus"])


Pair = collections.namedtuple("Pair", "left right")


class Named:
    def __init__(self, name, x):
        self.name, self.x = name, x


def test_containers_of_the_user():
    f = overt.jit(lambda p: Named("sum", p.left + p.right))
    one = overt.ShapeDtypeStruct((), F32)
    register_pytree_node(Named, lambda n: ((n.x,), n.name), lambda name, x: Named(name, *x))
    made = ex.export(f)(Pair(one, one))
    with pytest.raises(ValueError, match="register_namedtuple_serialization"):
        made.serialize()
    ex.register_namedtuple_serialization(Pair, serialized_name="test.Pair")
    with pytest.raises(ValueError, match="register_pytree_node_serialization"):
        made.serialize()
    ex.register_pytree_node_serialization(
        Named,
        serialized_name="test.Named",
        serialize_auxdata=str.encode,
        deserialize_auxdata=bytes.decode,
    )
    result = ex.deserialize(made.serialize()).call(Pair(np.array(1.0), np.array(2.0)))
    assert type(result) is Named and result.name == "sum" and float(result.x) == 3
    with pytest.raises(ValueError, match="already"):
        ex.register_namedtuple_serialization(Pair, serialized_name="other")


def test_another_process_needs_neither_source_nor_parser(made, tmp_path):
    path = tmp_path / "f.bin"
    path.write_bytes(made.serialize(vjp_order=1))
    code = (
        "import sys, numpy, overt\n"
        f"f = overt.export.deserialize(open({str(path)!r}, 'rb').read())\n"
        "x = numpy.ones((3, 4), 'float32')\n"
        "print(float(f.call(x, x)['product'][0, 0]))\n"
        "print([m for m in ('overt.rewrites', 'libcst', 'jax') if m in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    first, second = done.stdout.splitlines()
    assert abs(float(first) - 8 * numpy.sin(1) ** 2) < 1e-5 and second == "[]"


def test_bytes_that_are_not_right(made):
    blob = made.serialize()
    for wrong, reason in (
        (b"", "no exported function"), (b"PK\x03\x04", "no exported function"),
        (blob[:40], "cut short"), (blob[:-1], "damaged"), (blob + b"x", "damaged"),
        (bytes([*blob[:200], blob[200] ^ 1, *blob[201:]]), "damaged"),
        (bytes([*blob[:14], 99, *blob[15:]]), "version 99"),
        (export_format.pack({"fun_name": "f"}, []), "lacks a part"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=reason):
            ex.deserialize(wrong)
    header, _ = export_format.unpack(blob)
    foreign = ex.deserialize(export_format.pack(header, [b"no MLIR"]))
    with pytest.raises(ValueError, match="no StableHLO"):
        foreign.mlir_module()


def test_arguments_that_do_not_fit(again, arguments):
    x, y = arguments
    for args, reason in (
        ((x,), "exported for arguments"), ((x, y[:2]), r"float32\[3,4\] as its argument 1"),
        ((x, y.astype(np.int32)), "int32"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=reason):
            again.call(*args)


def test_programs_of_fixed_sizes_are_batched_lane_by_lane(again, arguments):
    x, y = arguments
    xs = np.stack([x, 2 * x, -x])
    over = lambda f: overt.vmap(f, in_axes=(0, None))  # noqa: E731
    wanted = [again.call(row, y) for row in xs]
    for around in (lambda f: f, overt.jit):
        found = overt.tree.leaves(around(over(again.call))(xs, y))
        for i, want in enumerate(zip(*map(overt.tree.leaves, wanted), strict=True)):
            numpy.testing.assert_allclose(found[i], np.stack(want), rtol=1e-6)
    total = lambda x, y: sum(np.sum(np.sin(v)) for v in overt.tree.leaves(again.call(x, y)))  # noqa: E731
    slopes = [overt.grad(total)(row, y) for row in xs]
    numpy.testing.assert_allclose(over(overt.grad(total))(xs, y), np.stack(slopes), rtol=1e-5)
    summed = overt.grad(lambda xs: np.sum(over(total)(xs, y)))
    numpy.testing.assert_allclose(overt.jit(summed)(xs), np.stack(slopes), rtol=1e-5)


def reached(x):
    n = 0.0
    while n < 100.0:
        n = n + x * x
    return n * x


def test_gradients_of_loops_whose_length_the_run_knows():
    made = ex.export(overt.jit(reached))(overt.ShapeDtypeStruct((), F32))
    again = ex.deserialize(made.serialize(vjp_order=1))
    for step in (lambda f: f, overt.jit):
        for x in (1.0, 5.0):
            x = np.array(x)
            same(step(overt.grad(again.call))(x), overt.grad(reached)(x))
        with pytest.raises(RuntimeError, match="iterations, but was exported with room"):
            overt.block_until_ready(step(overt.grad(again.call))(np.array(0.05)))
    wide = ex.export(overt.jit(reached), loop_records=50_000)(overt.ShapeDtypeStruct((), F32))
    x = np.array(0.05)
    same(overt.jit(overt.grad(wide.call))(x), overt.jit(overt.grad(reached))(x))


class Counter:
    count = 0.0


def test_what_cannot_leave_the_process():
    counter = Counter()

    def stores(x):
        counter.count = counter.count + x
        return x

    def prints(x):
        overt.debug.print("x = {}", x)
        return x

    one = overt.ShapeDtypeStruct((), F32)
    for f, reason in (
        (stores, "stores into"), (prints, "calls a Python function"),
        (lambda x: (x, "text"), "a result of"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=reason):
            ex.export(overt.jit(f))(one)
    with pytest.raises(ValueError, match="made by jit"):
        ex.export(prints)


def test_agrees_with_jax(arguments):
    jax = pytest.importorskip("jax")
    theirs_export = pytest.importorskip("jax.export")

    def f(x, y):
        return {"b": x * y, "a": (x.sum(),)}

    ours = ex.export(overt.jit(f))(MATRIX, MATRIX)
    theirs = theirs_export.export(jax.jit(f))(*[jax.ShapeDtypeStruct((3, 4), F32)] * 2)
    assert [a.shape for a in ours.out_avals] == [a.shape for a in theirs.out_avals]
    theirs_vjp = theirs.vjp()
    assert [a.shape for a in ours.vjp().in_avals] == [a.shape for a in theirs_vjp.in_avals]
    assert [a.shape for a in ours.vjp().out_avals] == [a.shape for a in theirs_vjp.out_avals]
