"""Programs on their way: equations, StableHLO, HLO, what compiling tells; names of operations."""

from __future__ import annotations

import re
from pathlib import Path

import numpy
import pytest

import overt
import overt.numpy as np
from overt.runtime.jaxpr import eval_jaxpr

F32 = numpy.float32
ROW = overt.ShapeDtypeStruct((3,), F32)


def flowing(x, y):
    z = np.sin(x) * 2 + y
    i, total = 0, 1.0
    while i < 3:
        i, total = i + 1, total * x.sum()
    if x[0] > 0:
        y = y * z
    else:
        y = y - total
    return {"total": total, "y": y, "three": 3}


def test_equations_of_straight_code():
    made = overt.make_jaxpr(lambda x: np.sin(x) * x)(ROW)
    assert str(made) == "{ lambda ; a:f32[3]. let b:f32[3] = sin a; c:f32[3] = mul b a in (c,) }"
    assert [e.primitive.name for e in made.eqns] == ["sin", "multiply"]
    assert str(made.eqns[0]) == "b:f32[3] = sin a"
    assert made.in_avals == made.out_avals and made.in_avals[0].shape == (3,)


def test_notation_is_that_of_jax():
    jax = pytest.importorskip("jax")
    jnp = jax.numpy

    def programs(np):
        return [
            lambda x: np.sin(x) * x, lambda x: x, lambda x: (2.0 * np.cos(x), x),
            lambda x: -np.exp(x) / x - x, lambda x: np.maximum(x, np.tanh(x) + np.log(x)),
        ]  # fmt: skip

    for ours, theirs in zip(programs(np), programs(jnp), strict=True):
        got = str(overt.make_jaxpr(ours)(ROW))
        want = str(jax.make_jaxpr(theirs)(jax.ShapeDtypeStruct((3,), F32)))
        assert got == want


def test_constants_shapes_and_static_arguments():
    table = np.arange(100.0)
    made, shapes = overt.make_jaxpr(
        lambda x, n: {"a": np.sum(x * table) * n}, static_argnums=1, return_shape=True
    )(overt.ShapeDtypeStruct((100,), F32), 3)
    assert len(made.consts) == 1 and made.consts[0] is table
    assert str(made).startswith("{ lambda a:f32[100] ; b:f32[100]. let\n")
    assert shapes == {"a": overt.ShapeDtypeStruct((), F32)}
    assert "shape_of" not in str(overt.make_jaxpr(lambda x: x.reshape(np.array(x.shape)))(ROW))


def test_control_flow_holds_programs():
    made = overt.make_jaxpr(flowing)(ROW, ROW)
    text = str(made)
    assert re.search(r"_:i32\[\] \w+:f32\[\] = while\[\n", text) and "branches=(" in text
    (loop,) = (e for e in made.eqns if e.primitive.name == "while")
    assert set(loop.params) == {"body_jaxpr", "body_nconsts", "cond_jaxpr", "cond_nconsts"}
    assert loop.params["body_nconsts"] == 1 and loop.params["cond_nconsts"] == 0
    assert len(text) < 2000


def test_equations_are_evaluated():
    made = overt.make_jaxpr(flowing)(ROW, ROW)

    def again(x, y):
        return eval_jaxpr(made.jaxpr, made.consts, x, y)

    for x in (np.array([1.0, 2.0, 3.0]), np.array([-1.0, 2.0, 3.0])):
        want = overt.tree.leaves(flowing(x, x))
        for run in (again, overt.jit(again)):
            for a, b in zip(run(x, x), want, strict=True):
                numpy.testing.assert_allclose(a, b, 1e-6)
        slope = overt.grad(lambda x, y: again(x, y)[2].sum())(x, x)
        numpy.testing.assert_allclose(
            slope, overt.grad(lambda x, y: flowing(x, y)["y"].sum())(x, x), 1e-5
        )


def test_equations_of_derivatives_and_batches():
    assert "mul" in str(overt.make_jaxpr(overt.grad(lambda x: (x**2).sum()))(ROW))
    batched = overt.make_jaxpr(overt.vmap(lambda x: x @ x))(overt.ShapeDtypeStruct((4, 3), F32))
    assert batched.out_avals[0].shape == (4,)


def test_text_in_each_dialect():
    lowered = overt.jit(flowing).lower(ROW, ROW)
    assert "stablehlo.while" in lowered.as_text() and "loc(" not in lowered.as_text()
    hlo = lowered.as_text(dialect="hlo")
    assert hlo.startswith("HloModule flowing") and "is_scheduled" not in hlo
    assert lowered.compiler_ir().operation.name == "builtin.module"
    assert lowered.compiler_ir("hlo").as_hlo_text() == hlo
    with pytest.raises(ValueError, match="unknown dialect 'fortran'"):
        lowered.as_text("fortran")
    for_tpu = overt.jit(np.sin).trace(ROW).lower(lowering_platforms=("tpu",))
    assert "stablehlo.sine" in for_tpu.as_text()
    with pytest.raises(ValueError, match="lowered for tpu, but is compiled for cpu"):
        for_tpu.compile()
    assert "sine" in overt.xla_computation(np.sin)(ROW).as_hlo_text()


def test_what_goes_in_and_out():
    def f(x, n, *, key):
        return {"a": x[0] * n}, key + 1

    traced = overt.jit(f, static_argnums=1, donate_argnames="key").trace([ROW], 3, key=ROW)
    for stage in (traced, traced.lower(), traced.lower().compile()):
        assert stage.in_tree == overt.tree.structure((([0],), {"key": 0}))
        assert stage.args_info[0][0][0].shape == (3,) and not stage.args_info[0][0][0].donated
        assert stage.args_info[1]["key"].donated and stage.donate_argnums == (1,)
        assert stage.out_info == ({"a": ROW}, ROW)
        assert stage.out_tree == overt.tree.structure(({"a": 0}, 0))
        assert str(stage.in_avals) == "(([float32[3]],), {'key': float32[3]})"


def test_compiling_tells_cost_and_memory():
    n = 64
    square = overt.ShapeDtypeStruct((n, n), F32)
    compiled = overt.jit(lambda x: x @ x).lower(square).compile()
    assert compiled.cost_analysis()["flops"] == pytest.approx(2 * n**3, rel=0.01)
    memory = compiled.memory_analysis()
    assert memory.argument_size_in_bytes == memory.output_size_in_bytes == 4 * n * n
    assert compiled.runtime_executable().hlo_modules()
    numpy.testing.assert_allclose(compiled(np.eye(n)), numpy.eye(n))
    with pytest.raises(TypeError, match=r"compiled for float32\[64,64\]"):
        compiled(np.eye(3))


def test_options_of_the_compiler():
    lowered = overt.jit(lambda x: np.exp(x) * 2).lower(ROW)
    plain, fast = lowered.compile(), lowered.compile({"xla_cpu_enable_fast_math": True})
    assert plain.runtime_executable() is not fast.runtime_executable()
    x = np.arange(3.0)
    numpy.testing.assert_allclose(plain(x), fast(x), 1e-5)
    with pytest.raises(Exception, match="no_such_option"):
        lowered.compile({"no_such_option": 1})


def test_eval_shape_runs_nothing():
    ran = []

    def f(x, y):
        overt.debug.callback(lambda: ran.append(1))
        return {"product": x @ y, "rest": (x, 1)}

    huge = overt.ShapeDtypeStruct((100_000, 100_000), F32)
    shapes = overt.eval_shape(f, huge, huge)
    assert shapes["product"] == huge and shapes["rest"][1].dtype == numpy.int32 and not ran


def scoped(x):
    with overt.named_scope("outer"):
        y = np.sin(x)
        with overt.named_scope("inner"):
            y = np.cos(y)  # the marked line
    return y * 2


def line_with(text: str) -> int:
    lines = Path(__file__).read_text().splitlines()
    return next(i for i, line in enumerate(lines, 1) if text in line)


def test_scopes_and_lines_reach_the_compiled_program():
    lowered = overt.jit(scoped).lower(ROW)
    text = lowered.as_text(debug_info=True)
    assert "scoped/outer/sin" in text and "scoped/outer/inner/cos" in text
    line = line_with("# the marked " + "line")
    assert f'"{__file__}":{line}:' in text
    compiled = lowered.compile().as_text()
    assert 'op_name="scoped/outer/inner/cos"' in compiled
    assert f"line={line} " in compiled and __file__ in compiled
    assert overt.named_call(scoped, name="layer").__name__ == "layer"
    with pytest.raises(TypeError, match="named_scope needs a text"), overt.named_scope(3):
        pass
