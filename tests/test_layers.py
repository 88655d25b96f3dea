"""Imports point one way: transformer -> rewrites -> runtime -> backend."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LAYERS = ["backend", "runtime", "rewrites", "transformer"]  # each may import those before it


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """Line and dotted name of everything a file imports, inside functions too."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                yield node.lineno, "." * node.level
            elif node.module == "overt":
                yield from ((node.lineno, f"overt.{alias.name}") for alias in node.names)
            else:
                yield node.lineno, node.module or ""


def forbidden(layer: str | None, name: str) -> str | None:
    """Why a file of `layer` (None: the facades) may not import `name`."""
    top, *rest = name.split(".")
    if not top:
        return "imports are absolute"
    if top == "jax":
        return "there is no jax underneath"
    if top == "jaxlib" and layer != "backend":
        return "only backend knows jaxlib"
    if top == "libcst" and layer in ("backend", "runtime", None):
        return "only rewrites and transformer know libcst"
    if top != "overt" or layer is None:
        return None
    if not rest or rest[0] not in LAYERS:
        return None if layer == "transformer" else "layers do not import the public face"
    if LAYERS.index(rest[0]) > LAYERS.index(layer):
        return f"{layer} may not import {rest[0]}"
    return None


FILES = [(layer, path) for layer in LAYERS for path in sorted((ROOT / layer).rglob("*.py"))]
FILES += [(None, path) for path in sorted((ROOT / "overt").glob("*.py"))]


@pytest.mark.parametrize("layer", [*LAYERS, None])
def test_imports_point_one_way(layer):
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {name}: {reason}"
        for owner, path in FILES
        if owner == layer
        for line, name in imported(path)
        if (reason := forbidden(layer, name))
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("layer", "name"),
    [("runtime", "overt.rewrites.core"), ("runtime", "jaxlib._jax"), ("backend", "jax"),
     ("runtime", "libcst"), ("rewrites", "overt.numpy"), ("runtime", ".."), (None, "jaxlib")],
)  # fmt: skip
def test_the_check_sees(layer, name):
    assert forbidden(layer, name)


def test_import_needs_neither_jax_nor_libcst():
    code = "import overt, sys; print([m for m in ('jax', 'libcst') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
