"""Writes docs/api.md: the public names, each with the first line of its documentation.

python docs/api.py > docs/api.md
"""

from __future__ import annotations

import importlib
import sys
import types
from typing import Any

HEAD = """# Public names

This page is written by `docs/api.py` from the documentation of the code, and a test compares the
two. `help(overt.grad)` prints the whole text of a name, with its parameters and an example. The
functions of `overt.numpy` have [a page of their own](functions.md), and so do the
[names of JAX that are left out](missing_names.md).
"""
DESCRIBED = (
    "overt overt.debug overt.stages overt.export overt.random overt.lax overt.lax.linalg overt.nn "
    "overt.nn.initializers overt.tree overt.tree_util overt.flatten_util overt.errors "
    "overt.experimental.checkify overt.custom_derivatives overt.custom_batching overt.test_util "
    "overt.ad_checkpoint overt.profiler "
    "overt.dtypes overt.image overt.ops overt.dlpack"
).split()
NAMED = (
    "numpy.linalg numpy.fft scipy.cluster.vq scipy.fft scipy.integrate scipy.interpolate "
    "scipy.linalg scipy.ndimage scipy.optimize scipy.signal scipy.sparse.linalg "
    "scipy.spatial.transform scipy.special scipy.stats experimental.jet experimental.ode "
    "experimental.sparse experimental.topologies example_libraries.optimizers "
    "example_libraries.stax core typing"
).split()


def first_line(value: Any) -> str:
    """The first line of what Overt says of a name; nothing where only its type or base speaks."""
    ours = isinstance(value, types.ModuleType) or str(getattr(value, "__module__", "")).startswith(
        ("overt.", "runtime.", "transformer.")
    )
    text = getattr(value, "__doc__", None) or ""
    if not ours or (not isinstance(value, type) and text == type(value).__doc__):
        return ""
    line = text.strip().partition("\n")[0].replace("|", "\\|")
    automatic = line.startswith(f"{getattr(value, '__name__', '')}(")
    return "" if automatic else line


def public(module: types.ModuleType) -> list[str]:
    """The names of a module that are no modules."""
    names = sorted(getattr(module, "__all__", None) or [n for n in dir(module) if n[0] != "_"])
    return [n for n in names if not isinstance(getattr(module, n), types.ModuleType)]


def section(name: str) -> list[str]:
    """A table of a module's names."""
    module = importlib.import_module(name)
    lines = [f"## `{name}`", "", first_line(module), "", "| | |", "|---|---|"]
    plain = []
    for each in public(module):
        if line := first_line(getattr(module, each)):
            lines.append(f"| `{each}` | {line} |")
        else:
            plain.append(f"`{each}`")
    if plain:
        lines += ["", f"Types and constants: {', '.join(plain)}."]
    return [*lines, ""]


def page() -> str:
    """The text of docs/api.md."""
    lines = [HEAD]
    for name in DESCRIBED:
        lines += section(name)
    lines += ["## Other modules", ""]
    for name in NAMED:
        module = importlib.import_module(f"overt.{name}")
        names = ", ".join(f"`{n}`" for n in sorted(module.__all__))
        lines += [f"**`overt.{name}`** {first_line(module)} {names}.", ""]
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    sys.stdout.write(page())
