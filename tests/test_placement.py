"""Where arrays live: committed and uncommitted ones, on several devices of one machine."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

import overt
import overt.numpy as np

START = """
import numpy, overt, overt.numpy as np
d = overt.devices()
a, b = overt.device_put(numpy.ones(3), d[1]), overt.device_put(np.ones(3), d[2])
u = np.ones(3)

def place(x):
    return x.device.id, x.committed

def refused(f, *args):
    try:
        f(*args)
    except ValueError as error:
        assert "incompatible devices" in str(error) and "cpu:1, cpu:2" in str(error), error
        return True
    return False
"""

CHECKS = {
    "computation follows data": """
        assert place(u) == (0, False) and place(a) == (1, True)
        for x in (a + u, u + a, a + 1, np.sin(a), np.var(a), a[0], a[a > 0], a.at[0].set(2.0),
                  np.concatenate([u, a]), np.linalg.solve(np.eye(3) * 2 + a, a)):
            assert place(x) == (1, True), x
        assert [place(x) for x in a] == [(1, True)] * 3
    """,
    "compiled functions follow too": """
        f = overt.jit(lambda x: x * 2)
        assert [place(f(x)) for x in (u, a, b, u)] == [(0, False), (1, True), (2, True), (0, False)]
        assert place(overt.jit(overt.grad(lambda x: (x**2).sum()))(a)) == (1, True)
        assert place(overt.vmap(lambda x: x * 2)(a)) == (1, True)

        def grown(x):
            while x.sum() < 100:
                x = x * 2
            return x

        assert place(overt.jit(grown)(a)) == (1, True)
        assert place(overt.jit(overt.grad(lambda x: (grown(x) * x).sum()))(a)) == (1, True)
    """,
    "captured arrays go along": """
        f = overt.jit(lambda x: x + a)
        assert [place(f(x)) for x in (u, u, b)] == [(0, False), (0, False), (2, True)]
    """,
    "devices that differ": """
        assert refused(lambda: a + b) and refused(np.concatenate, [a, b])
        assert refused(overt.jit(lambda x, y: x + y), a, b)
        assert refused(overt.jit(lambda t: t["a"] * t["b"]), {"a": a, "b": b})
    """,
    "default device": """
        with overt.default_device(d[3]):
            x = np.ones(3)
            f = overt.jit(lambda x: x + 1)
            for y in (x, x + 1, f(x), f(2.0), np.var(x), overt.random.normal(overt.random.key(0))):
                assert place(y) == (3, False), y
            assert place(x + a) == (1, True)
        assert place(np.ones(3)) == (0, False)
    """,
    "moving": """
        assert place(overt.device_put(a, d[0])) == (0, True)
        assert place(overt.device_put(u, "cpu:2")) == (2, True)
        assert place(a.to_device(d[2])) == (2, True) and overt.device_put(a) is a
        tree = overt.device_put({"a": [u, u], "b": u}, {"a": d[1], "b": None})
        assert [place(x) for x in overt.tree.leaves(tree)] == [(1, True)] * 2 + [(0, False)]
        c = np.ones(4)
        moved = overt.device_put([c, u], d[2], donate=[True, False])
        assert c.is_deleted() and not u.is_deleted() and moved[0].tolist() == [1] * 4
        assert place(overt.jit(lambda x: x + 1, device=d[2])(u)) == (2, True)
        assert place(overt.jit(lambda x: x + 1, backend="cpu")(a)) == (0, True)
    """,
    "all arrays": """
        kept = overt.device_put(numpy.zeros(1234, "float32"), d[3])
        assert (3, (1234,)) in [(x.device.id, x.shape) for x in overt.live_arrays("cpu")]
        kept.delete()
        assert (1234,) not in [x.shape for x in overt.live_arrays()]
    """,
}


def test_on_four_devices():
    code = START + "".join(
        f"\ndef check_{i}():\n{textwrap.indent(textwrap.dedent(text), '    ')}\ncheck_{i}()\n"
        f"print({name!r})\n"
        for i, (name, text) in enumerate(CHECKS.items())
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-"],
        input=wrapped(code),
        capture_output=True,
        text=True,
        env={**os.environ, "OVERT_NUM_CPU_DEVICES": "4"},
    )
    assert done.stdout.splitlines() == list(CHECKS), done.stderr[-3000:]


def wrapped(code: str) -> str:
    """A program that runs code from a file, so that its functions have a source."""
    return (
        "import pathlib, runpy, tempfile\n"
        "with tempfile.TemporaryDirectory() as folder:\n"
        "    path = pathlib.Path(folder) / 'checks.py'\n"
        f"    path.write_text({code!r})\n"
        "    runpy.run_path(str(path), run_name='__main__')\n"
    )


def test_device_put_leaves_memory_alone_where_asked():
    x = np.arange(3.0)
    other = overt.device_put(x, overt.devices()[0], may_alias=False)
    x.delete()
    assert other.tolist() == [0, 1, 2] and other.committed


def test_inside_programs_values_stay():
    device = overt.devices()[0]
    assert float(overt.jit(lambda x: overt.device_put(x, device) * 2)(3.0)) == 6
    assert float(overt.grad(lambda x: overt.device_put(x, device) ** 2)(3.0)) == 6


def test_missing_platform_is_a_clear_error():
    with pytest.raises(RuntimeError, match="no plugin for tpu is installed"):
        overt.devices("tpu")
    with pytest.raises(RuntimeError, match="unknown platform 'abacus'"):
        overt.device_put(1.0, "abacus")
