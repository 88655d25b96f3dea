"""Small programs that change what others hold, each way they can run against plain Python.

A program is a text with a function `f(x)` and a function `state()` that tells what it has left.
"""

from __future__ import annotations

import collections
import importlib.util
import itertools
import sys
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import overt
from overt.runtime.config import enable_x64
from overt.runtime.errors import OvertError, RecordedWarning

HEAD = (
    "import collections, copy, dataclasses, functools, numpy, threading, weakref\n"
    "import overt.numpy as np\n"
)
XS = (0.7, 0.9)
REFUSED = (NotImplementedError, OvertError, TypeError)
COUNT = itertools.count()


def loaded(text: str, folder: Path) -> types.ModuleType:
    """A new module of this text, in a file, as the passes read it."""
    name = f"changing_{next(COUNT)}"
    path = folder / f"{name}.py"
    path.write_text(HEAD + text)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def plain(x: Any) -> Any:
    """A state as lists and numbers."""
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    if isinstance(x, str) or x is None:
        return x
    if isinstance(x, list | tuple | set | collections.deque) or getattr(x, "ndim", 0):
        return [plain(v) for v in x]
    return float(x)


def in_turn(wrap: Callable) -> Callable:
    return lambda f: [float(g(x)) for g in [wrap(f)] for x in XS]


WAYS: dict[str, Callable] = {
    "jit": in_turn(overt.jit),
    "grad": in_turn(overt.grad),
    "vmap": lambda f: np.asarray(overt.vmap(f)(np.array(XS))).tolist(),
    "jit of grad": in_turn(lambda f: overt.jit(overt.grad(f))),
}
STEP = 1e-5


def wanted(text: str, folder: Path) -> tuple[list[float], list[float], Any]:
    """Two values, the slopes there, and the state afterwards, in plain Python."""
    module = loaded(text, folder)
    values = [float(module.f(x)) for x in XS]
    slopes = []
    for count, x in enumerate(XS):
        beside = []
        for step in (STEP, -STEP):
            other = loaded(text, folder)
            for before in XS[:count]:
                other.f(before)
            beside.append(float(other.f(x + step)))
        slopes.append((beside[0] - beside[1]) / (2 * STEP))
    return values, slopes, plain(module.state())


def check(text: str, folder: Path, refused: tuple[str, ...] = ()) -> None:
    """Each way gives what plain Python gives and leaves the same; some may be refused."""
    values, slopes, left = wanted(text, folder)
    with enable_x64(True), warnings.catch_warnings():
        warnings.simplefilter("ignore", RecordedWarning)
        warnings.filterwarnings("ignore", message="the lanes of")
        for way, run in WAYS.items():
            module = loaded(text, folder)
            try:
                got = run(module.f)
            except REFUSED:
                assert way in refused, way
                continue
            assert way not in refused, f"{way} is not refused any more"
            expected = slopes if "grad" in way else values
            np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-6, err_msg=way)
            assert_same(plain(module.state()), left, way)


def assert_same(one: Any, other: Any, way: str) -> None:
    assert type(one) is type(other), way
    if isinstance(one, list | dict):
        keys = range(len(one)) if isinstance(one, list) else list(one)
        assert len(one) == len(other), way
        for key in keys:
            assert_same(one[key], other[key], way)
    elif isinstance(one, float):
        np.testing.assert_allclose(one, other, rtol=1e-7, err_msg=way)
    else:
        assert one == other, way
