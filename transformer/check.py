"""What in a file cannot be rewritten, and why."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from overt.rewrites.refusal import Refusal


class Finding(NamedTuple):
    """One function of a file: its line and name, and the refusal if there is one."""

    line: int
    name: str
    refusal: Refusal | None


def check_file(path: str) -> list[Finding]:
    """Try every function of a file, methods included."""
    from overt.rewrites import normalize
    from overt.rewrites.aliasing import check_aliases
    from overt.rewrites.sharing import MAKERS
    from overt.transformer.load import read_file

    file = read_file(path)
    text = normalize.Text(file.origin)
    found = []

    def makes_array(callee: ast.expr) -> bool:  # the file is read, not imported
        return isinstance(callee, ast.Attribute) and callee.attr in MAKERS

    for name, node in functions_in(file.tree, ""):
        try:
            if isinstance(node, ast.AsyncFunctionDef):
                raise Refusal(
                    "an async function cannot be rewritten", "Write it without `async`.", node
                )
            check_aliases(normalize.normalize(node, text), makes_array)
            refusal = None
        except Refusal as error:
            line = error.line or node.lineno
            refusal = error.located(path, line, file.lines[line - 1])
        found.append(Finding(node.lineno, name, refusal))
    return found


Node = ast.FunctionDef | ast.AsyncFunctionDef


def functions_in(tree: ast.AST, prefix: str) -> Iterator[tuple[str, Node]]:
    """The functions of a module and the methods of its classes."""
    for node in getattr(tree, "body", []):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield prefix + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from functions_in(node, f"{prefix}{node.name}.")
        elif isinstance(node, ast.If | ast.Try | ast.With):
            yield from functions_in(node, prefix)
