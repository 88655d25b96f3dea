"""Looking at values from within programs: printing, calling back, stopping."""

from __future__ import annotations

import contextlib
import functools
import io
import logging
import pdb

import numpy as onp
import pytest

import overt
import overt.numpy as np
from overt import ShapeDtypeStruct, lax
from overt.experimental import io_callback

SCALAR = ShapeDtypeStruct((), np.float32)


def printed(f, *args):
    """What a function prints, by lines."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        overt.block_until_ready(f(*args))
        overt.effects_barrier()
    return out.getvalue().splitlines()


# --- print


def doubling(x):
    while x < 10.0:
        if x > 4.0:
            overt.debug.print("large {x:.1f}", x=x, ordered=True)
        x = x * 2.0
    overt.debug.print("end {}", x, ordered=True)
    return x


def test_print_in_control_flow_under_transformations():
    want = {3.0: ["large 6.0", "end 12.0"], 5.0: ["large 5.0", "end 10.0"], 20.0: ["end 20.0"]}
    transformed = [
        doubling,
        overt.jit(doubling),
        overt.grad(doubling),
        overt.grad(overt.jit(doubling)),
    ]
    for f in [*transformed, overt.jit(overt.value_and_grad(doubling))]:
        for x, lines in want.items():
            assert printed(f, x) == lines
    assert printed(lambda x: overt.jvp(doubling, (x,), (1.0,)), 3.0) == want[3.0]
    for f in (
        overt.vmap(doubling),
        overt.jit(overt.vmap(doubling)),
        overt.vmap(overt.grad(doubling)),
    ):
        # Lanes print only where they get.
        assert sorted(printed(f, np.array(list(want)))) == sorted(sum(want.values(), []))


def test_print_in_scan_map_and_loops():
    def body(total, v):
        overt.debug.print("{v} after {total}", v=v, total=total, ordered=True)
        return total + v, v

    f = lambda xs: lax.scan(body, 0.0, xs)[0]
    want = ["0.0 after 0.0", "1.0 after 0.0", "2.0 after 1.0"]
    for run in (f, overt.jit(f), overt.grad(f), overt.jit(overt.grad(f))):
        assert printed(run, np.arange(3.0)) == want
    shown = functools.partial(overt.debug.print, "x {}")
    assert printed(lambda xs: lax.map(lambda x: (shown(x), x)[1], xs), np.arange(2.0)) == [
        "x 0.0", "x 1.0",
    ]  # fmt: skip
    loop = lambda x: lax.fori_loop(0, 2, lambda i, x: (shown(x), x * 2)[1], x)
    assert printed(overt.jit(loop), 1.5) == ["x 1.5", "x 3.0"]
    nested = overt.vmap(
        overt.vmap(lambda a, b: shown(a * 10 + b), (None, 0), None), (0, None), None
    )
    assert printed(nested, np.arange(2), np.arange(2)) == ["x 0", "x 1", "x 10", "x 11"]


def test_formats():
    assert printed(
        overt.jit(lambda x: overt.debug.print("{x:.2f} {{}} {0[a]}", {"a": 1}, x=x)), 2.0
    ) == ["2.00 {} 1"]
    show = overt.jit(lambda x: overt.debug.print("{} {k.shape}", [x, x], k=x))
    assert printed(show, np.arange(2)) == [
        "[Array([0, 1], dtype=int32), Array([0, 1], dtype=int32)] (2,)"
    ]
    with pytest.raises(ValueError, match="no place"):
        overt.debug.print("x", 1)
    with pytest.raises(ValueError, match="f-string"):
        overt.debug.print("x", x=1)
    with pytest.raises(IndexError):
        overt.debug.print("{}")
    with pytest.raises(TypeError, match="str"):
        overt.debug.print(3)
    assert printed(lambda: overt.debug.print("x", 1, skip_format_check=True)) == ["x"]
    assert printed(lambda: overt.debug.print(ordered=True)("x {}", 1)) == ["x 1"]


def test_log(caplog):
    with caplog.at_level(logging.INFO):
        overt.jit(lambda x: overt.debug.log("x = {x} 100%", x=x))(3.0)
    assert [(r.name, r.getMessage()) for r in caplog.records] == [("overt.debug", "x = 3.0 100%")]


# --- callbacks


def test_callback_gets_arrays_and_other_values():
    seen = []

    def f(x):
        overt.debug.callback(
            lambda v, name, **k: seen.append((float(v), name, k)), x, "a", n=[x, None]
        )
        return x * 2

    assert float(overt.jit(f)(3.0)) == 6.0
    assert seen[0][:2] == (3.0, "a") and float(seen[0][2]["n"][0]) == 3.0
    assert float(overt.grad(f)(1.0)) == 2.0 and len(seen) == 2
    overt.vmap(f)(np.arange(3.0))
    assert [s[0] for s in seen[2:]] == [0.0, 1.0, 2.0]


def test_exceptions_of_callbacks_are_raised():
    def fail(x):
        raise KeyError("no such thing")

    with pytest.raises(KeyError, match="no such thing"):
        overt.block_until_ready(overt.jit(lambda x: overt.debug.callback(fail, x))(1.0))


METHODS = {
    "sequential": [((), ())] * 3,
    "sequential_unrolled": [((), ())] * 3,
    None: [((), ())] * 3,
    "expand_dims": [((3,), (1,))],
    "broadcast_all": [((3,), (3,))],
    "legacy_vectorized": [((3,), ())],
}


@pytest.mark.parametrize("method", METHODS)
def test_pure_callback_under_vmap(method):
    shapes = []

    def host(x, y):
        shapes.append((x.shape, y.shape))
        return x * y

    f = lambda x, y: overt.pure_callback(host, SCALAR, x, y, vmap_method=method) + 1.0
    for run in (overt.vmap(f, (0, None)), overt.jit(overt.vmap(f, (0, None)))):
        shapes.clear()
        onp.testing.assert_allclose(run(np.arange(3.0), 2.0), [1.0, 3.0, 5.0])
        assert shapes == METHODS[method]
    if method != "legacy_vectorized":  # which does not say which axis is which
        grid = overt.vmap(overt.vmap(f, (0, None)), (None, 0))(np.arange(3.0), np.arange(2.0))
        onp.testing.assert_allclose(grid, onp.outer([0, 1], [0, 1, 2]) + 1.0)


def test_pure_callback_trees_and_refusals():
    shapes = {"a": SCALAR, "b": (ShapeDtypeStruct((2,), np.int32),)}
    host = lambda x, k: {"a": x + k, "b": (onp.arange(2),)}
    out = overt.jit(lambda x: overt.pure_callback(host, shapes, x, k=1.0))(2.0)
    assert float(out["a"]) == 3.0 and out["b"][0].tolist() == [0, 1]
    with pytest.raises(TypeError, match="declared"):
        overt.pure_callback(lambda x: onp.ones(3, "float32"), SCALAR, 1.0)
    with pytest.raises(TypeError, match="declared"):
        overt.pure_callback(lambda x: (x, x), SCALAR, 1.0)
    with pytest.raises(ValueError, match="vmap_method"):
        overt.pure_callback(lambda x: x, SCALAR, 1.0, vmap_method="some")
    with pytest.raises(NotImplementedError, match="custom_jvp"):
        overt.grad(lambda x: overt.pure_callback(onp.sin, SCALAR, x))(1.0)

    @overt.custom_jvp
    def sine(x):
        return overt.pure_callback(onp.sin, SCALAR, x)

    sine.defjvp(lambda p, t: (sine(p[0]), np.cos(p[0]) * t[0]))
    assert float(overt.jit(overt.grad(sine))(0.0)) == 1.0


def test_pure_callbacks_are_left_out_where_not_used():
    calls = []
    host = lambda x: calls.append(1) or x
    overt.jit(lambda x: (overt.pure_callback(host, SCALAR, x), x)[1])(1.0)
    assert calls == []
    overt.jit(lambda x: (io_callback(host, SCALAR, x), x)[1])(1.0)
    assert calls == [1]


def test_io_callback_is_ordered_and_honours_branches():
    log = []

    def next_number(x):
        log.append(float(x))
        return onp.float32(len(log))

    def f(x):
        total = 0.0
        for i in range(3):
            if x > i:
                total = total * 10 + io_callback(next_number, SCALAR, x + i, ordered=True)
        return total

    assert float(overt.jit(f)(2.0)) == 12.0 and log == [2.0, 3.0]
    log.clear()
    overt.jit(overt.vmap(f))(np.array([0.0, 1.0, 3.0]))
    assert sorted(log) == [1.0, 3.0, 4.0, 5.0]


# --- stopping


def session(f, args, *commands):
    """What a session of the debugger prints, prompts removed."""
    talk.stdin, talk.stdout = io.StringIO("\n".join(commands) + "\n"), io.StringIO()
    overt.block_until_ready(f(*args))
    text = talk.stdout.getvalue().removesuffix("(overt) ")
    return [line.removeprefix("(overt) ") for line in text.splitlines()]


class Talk:
    stdin: io.StringIO
    stdout: io.StringIO


talk = Talk()


class Through:
    """A file that is the one of the session going on."""

    def __init__(self, name):
        self.name = name

    def __getattr__(self, attribute):
        return getattr(getattr(talk, self.name), attribute)


STDIN, STDOUT = Through("stdin"), Through("stdout")


def part(x):
    scaled = x * 2.0
    if scaled > 1.0:
        shift = scaled + 1.0
        overt.debug.breakpoint(stdin=STDIN, stdout=STDOUT)
        scaled = scaled * shift
    return scaled


def whole(amount):
    doubled = amount * 2.0
    return part(amount) + doubled


@pytest.mark.parametrize(
    "transform", [lambda f: f, overt.jit, overt.vmap, lambda f: overt.jit(overt.vmap(f))]
)
def test_breakpoint_shows_the_users_frames(transform):
    f = transform(whole)
    mapped = transform is overt.vmap or isinstance(
        getattr(f, "__wrapped__", f), overt.vmap(f).__class__
    )
    lines = session(
        f, (np.array([3.0, -3.0]) if mapped else 3.0,), "p float(scaled)", "p float(shift + 1)",
        "pp [float(scaled)]", "list", "bt", "up", "p float(doubled), float(amount)", "up", "down",
        "d", "d", "p float(scaled)", "q1", "p nonsense", "c",
    )  # fmt: skip
    stop = "-> overt.debug.breakpoint(stdin=STDIN, stdout=STDOUT)"
    assert lines[0].startswith(__file__) and lines[0].endswith("part()") and lines[1] == stop
    assert lines[2:5] == ["6.0", "8.0", "[6.0]"]
    listed, rest = lines[5:16], lines[16:]
    number = lines[0].rpartition("(")[0].rpartition("(")[2].partition(")")[0]
    assert [x.split()[:2] for x in listed if "->" in x] == [[number, "->"]]
    assert any(x.endswith("shift = scaled + 1.0") for x in listed)
    stack, after = rest[: rest.index(stop) + 1], rest[rest.index(stop) + 1 :]
    assert stack[-2].startswith(f"> {__file__}({number})part()")
    assert stack[-4].endswith("whole()") and stack[-3] == "-> return part(amount) + doubled"
    assert "test_breakpoint_shows_the_users_frames()" in "".join(stack)
    assert after[0].endswith("whole()") and after[2] == "(6.0, 3.0)"
    assert after[-4:-1] == [
        "*** newest frame",
        "6.0",
        "*** unknown command 'q1'; `help` lists the commands",
    ]
    assert "name 'nonsense' is not defined" in after[-1]


def test_breakpoint_in_derivatives_and_loops():
    lines = session(overt.grad(whole), (3.0,), "p float(scaled)", "bt", "c")
    assert lines[2] == "6.0" and any(line.endswith("part()") for line in lines[3:])
    assert any(line.endswith("whole()") for line in lines)

    def loop(x):
        for i in range(3):
            overt.debug.breakpoint(stdin=STDIN, stdout=STDOUT)
            x = x + i
        return x

    lines = session(overt.jit(loop), (1.0,), *["p int(i), float(x)", "c"] * 3)
    assert [x for x in lines if x.startswith("(")] == ["(0, 1.0)", "(1, 1.0)", "(2, 2.0)"]


def test_breakpoint_help_quit_and_end_of_input():
    lines = session(overt.jit(whole), (3.0,), "help", "help bt", "a")
    names = "p pp a args l list w where bt u up d down c cont continue q quit h help".split()
    text = "\n".join(lines)
    assert all(name in text for name in names)
    assert any(line.startswith("scaled = ") for line in lines)
    with pytest.raises(SystemExit):
        session(overt.jit(whole), (3.0,), "q")
    with pytest.raises(ValueError, match="web"):
        overt.debug.breakpoint(backend="web")


def curve(x):
    y = x * x
    if y > 3.0:
        y = y + 1.0
    return y * x


def stepped(f, x, *commands):
    """A pdb session with a break at the second line of what is generated for `f`."""
    f(x), f(x)
    from overt.transformer import rewrite

    made = [file for file in rewrite.PLACES if f"curve_{f.suffix}" in file][-1]
    with open(made) as text:
        line = 1 + next(i for i, t in enumerate(text) if "y = " in t)
    out = io.StringIO()
    script = "\n".join([f"break {made}:{line}", "continue", *commands, "continue", ""])
    debugger = pdb.Pdb(stdin=io.StringIO(script), stdout=out, nosigint=True, readrc=False)
    debugger.use_rawinput = False
    result = debugger.runcall(f, x)
    return float(result), out.getvalue()


def test_generated_code_can_be_stepped():
    result, text = stepped(overt.grad(curve), np.array(2.0), "n", "p float(y)", "l", "n", "n")
    assert result == 13.0
    assert "4.0" in text and "x * x" in text and "y > 3.0" in text
    with overt.disable_jit():
        result, text = stepped(overt.jit(curve), np.array(2.0), "p float(x)", "n", "p float(y)")
    assert result == 10.0
    assert "2.0" in text and "4.0" in text and "x * x" in text
