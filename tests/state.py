"""Programs of a module, each with state of its own, against plain Python: right, or refused."""

from __future__ import annotations

import inspect
import re
import types
import warnings
from typing import Any

import numpy as np

import overt
from overt.runtime.config import enable_x64
from overt.runtime.errors import OvertError, RecordedWarning

X, XS, STEP = 0.7, (0.7, 0.88, 1.3), 1e-6


def functions_of(module: types.ModuleType) -> list[str]:
    """The programs: functions of a letter and a number."""
    return [n for n in vars(module) if re.fullmatch(r"[a-z]\d+", n)]


def fresh(module: types.ModuleType, name: str, plain: bool = False) -> Any:
    """A function of a new module with the same text, whose state is new; `plain` with NumPy."""
    text = inspect.getsource(module)
    if plain:
        text = text.replace("import overt.numpy as np", "import numpy as np")
    made = types.ModuleType(module.__name__)
    vars(made)["__file__"] = module.__file__
    exec(compile(text, "plain" if plain else str(module.__file__), "exec"), vars(made))
    return getattr(made, name)


def slope(module: types.ModuleType, name: str) -> float:
    above, below = (float(fresh(module, name, True)(X + h)) for h in (STEP, -STEP))
    return (above - below) / (2 * STEP)


def assert_right_or_refused(module: types.ModuleType, name: str, *ways: tuple[str, Any]) -> None:
    with enable_x64(True), warnings.catch_warnings():
        warnings.simplefilter("ignore", RecordedWarning)
        for way, wanted in ways:
            f = fresh(module, name)
            ask: dict[str, Any] = {
                "jit": lambda f=f: overt.jit(f)(X),
                "grad": lambda f=f: overt.grad(f)(X),
                "vmap": lambda f=f: overt.vmap(f)(np.array(XS)),
                "jit in turn": lambda f=f: list(map(overt.jit(f), XS)),
            }
            try:
                got = ask[way]()
            except (NotImplementedError, OvertError):
                assert name not in module.RIGHT, way
                continue
            np.testing.assert_allclose(
                np.asarray(got, float), wanted, rtol=1e-6, atol=1e-8, err_msg=way
            )


def check(module: types.ModuleType, name: str, in_turn: bool) -> None:
    """One program: its value, or what its calls in turn give, and its derivative."""
    f = fresh(module, name, True)
    values = [float(f(x)) for x in (XS if in_turn else XS[:1])]
    ways = [("vmap", values), ("jit in turn", values)] if in_turn else [("jit", values[0])]
    assert_right_or_refused(module, name, *ways, ("grad", slope(module, name)))
