"""Items that are known or held twice, and what other functions change: right, or refused."""

from __future__ import annotations

import inspect
import types
import warnings
from typing import Any

import numpy as np
import pytest

import overt
from overt.runtime.config import enable_x64
from overt.runtime.errors import RecordedWarning
from tests import shared_items

X, STEP = 0.7, 1e-6
TEXT = inspect.getsource(shared_items).replace("import overt.numpy as np", "import numpy as np")
NAMES = [
    name for name, f in vars(shared_items).items()
    if inspect.isfunction(f) and list(inspect.signature(f).parameters) == ["x"]
]  # fmt: skip


def plainly(name: str, x: float) -> float:
    """What plain Python and NumPy give, from a module of their own."""
    module = types.ModuleType("plain")
    vars(module)["__name__"] = "tests.shared_items"
    exec(compile(TEXT, "plain", "exec"), vars(module))
    return float(getattr(module, name)(x))


def asked(way: str, f: Any) -> Any:
    """Value or derivative; None where it is refused."""
    ways: dict[str, Any] = {
        "jit": lambda: overt.jit(f)(X), "grad": lambda: overt.grad(f)(X),
        "jit of grad": lambda: overt.jit(overt.grad(f))(X),
    }  # fmt: skip
    with enable_x64(True), warnings.catch_warnings():
        warnings.simplefilter("ignore", RecordedWarning)
        try:
            return ways[way]()
        except NotImplementedError:
            return None


@pytest.mark.parametrize("name", NAMES)
def test_right_or_refused(name: str) -> None:
    slope = (plainly(name, X + STEP) - plainly(name, X - STEP)) / (2 * STEP)
    f = getattr(shared_items, name)
    for way, wanted in [("jit", plainly(name, X)), ("grad", slope)]:
        got = asked(way, f)
        assert got is not None or name not in shared_items.RIGHT, way
        if got is not None:
            np.testing.assert_allclose(got, wanted, rtol=1e-6, err_msg=way)
