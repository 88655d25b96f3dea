"""Arrays in containers of a module that change under another name: as in NumPy, or refused."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any

import numpy
import pytest

import overt
from overt.rewrites.refusal import Refusal

pytestmark = pytest.mark.filterwarnings("ignore::overt.errors.RecordedWarning")
START = """
import numpy
import overt.numpy as np
class Box: pass
N = [numpy.array([1.0, 2.0]), numpy.array([3.0, 4.0])]
A, B = [numpy.array([1.0, 2.0])], [numpy.array([3.0, 4.0])]
D = {"a": numpy.array([1.0, 2.0])}
BOX = Box()
BOX.w, BOX.held = numpy.array([1.0, 2.0]), [numpy.array([1.0, 2.0])]
def double(): N[0] *= 2
def double_all():
    for a in N: a *= 2
def inner(o, x):
    t = o.held[0]
    o.held[0] *= 2
    return (t * x).sum()
def state(): return N, A, B, D, BOX.w, BOX.held
def f(x):
"""
RIGHT = {
    "another name of the list": "M = N; N[0] *= 2; return (M[0] * x).sum()",
    "a copy": "t = N[0].copy(); N[0] *= 2; return (t * x).sum() + N[0].sum()",
    "a new array": "t = BOX.held[0]; BOX.held[0] = BOX.held[0] * 2; return (t * x).sum()",
    "no other name": "BOX.held[0] *= 2; D['a'] += 1; return (BOX.held[0] * x + D['a']).sum()",
    "another": "t = N[0] if x > 0 else np.ones(2); t = t + 1; N[1] *= 3; return (t * x).sum()",
    "made": "h = [a * x for a in N]; h[0] += x; N[1] *= 2; return h[0].sum() + N[1].sum()",
}
REFUSED = {
    "an item": "t = N[0]; N[0] *= 2; return (t * x).sum()",
    "a view": "t = N[0][1:]; N[0] *= 2; return (t * x).sum()",
    "of a dictionary": "t = D['a']; D['a'] += 2; return (t * x).sum()",
    "an attribute": "t = BOX.w; BOX.w *= 2; return (t * x).sum()",
    "an item of an attribute": "t = BOX.held[0]; BOX.held[0] *= 2; return (t * x).sum()",
    "the same of a parameter": "return inner(BOX, x)",
    "by a function": "t = N[0]; double(); return (t * x).sum()",
    "by a function's loop": "t = N[1]; double_all(); return (t * x).sum()",
    "held twice": "h = [*N, *N]; h[2] += 2; return (h[0] * x).sum()",
    "chosen, then changed": "t = A[0] if x > 0 else B[0]; A[0] *= 5; return (t * x).sum()",
    "changed as chosen": "t = A[0] if x > 0 else B[0]; t *= 5; return (A[0] * x).sum()",
    "at an index of data": "t = N[(x > 0) * 1]; N[1] *= 2; return (t * x).sum()",
    "lists chosen, then one changed": "t = A if x > 0 else B; A[0] *= 5; return (t[0] * x).sum()",
}
WAYS = {
    "jit": lambda f: overt.jit(f)(0.7),
    "grad": lambda f: overt.grad(f)(0.7),
    "jvp": lambda f: overt.jvp(f, (0.7,), (1.0,))[1],
    "vmap": lambda f: overt.vmap(f)(numpy.array([0.7])).sum(),
}


def loaded(text: str, folder: Path, plain: bool = False) -> Any:
    """The module with this function, for plain Python with NumPy."""
    text = START + "    " + text + "\n"
    path = folder / f"held_{plain}_{len(list(folder.iterdir()))}.py"
    path.write_text(text.replace("overt.numpy", "numpy") if plain else text)
    module = types.ModuleType(path.stem)
    sys.modules[path.stem] = module
    exec(compile(path.read_text(), str(path), "exec"), vars(module))
    return module


def left(module: Any) -> list[float]:
    *lists, table, array, held = module.state()
    arrays = [a for some in [*lists, held, table.values(), [array]] for a in some]
    return [float(numpy.sum(a)) for a in arrays]


@pytest.mark.parametrize("name", [*RIGHT, *REFUSED])
def test_as_in_numpy_or_refused(name: str, tmp_path: Path) -> None:
    text = RIGHT.get(name) or REFUSED[name]
    values = [loaded(text, tmp_path, plain=True).f(x) for x in (0.7, 0.699, 0.701)]
    slope = (values[2] - values[1]) / 0.002
    plain = loaded(text, tmp_path, plain=True)
    plain.f(0.7)
    refused = 0
    for way, run in WAYS.items():
        module = loaded(text, tmp_path)
        try:
            got = run(module.f)
        except (NotImplementedError, Refusal):
            refused += 1
            continue
        wanted = slope if way in ("grad", "jvp") else values[0]
        assert numpy.allclose(got, wanted, rtol=1e-4), way
        assert numpy.allclose(left(module), left(plain), rtol=1e-5), way
    assert bool(refused) is (name in REFUSED)
