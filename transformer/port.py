"""A JAX script as a script for Overt: its imports and names changed, all else as it was.

LibCST keeps every character that is not changed; it is loaded by this command alone.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import libcst as cst
from libcst.metadata import (
    Access,
    ImportAssignment,
    MetadataWrapper,
    PositionProvider,
    QualifiedNameProvider,
    QualifiedNameSource,
    ScopeProvider,
)

from overt.runtime.config import DEFAULTS, WATCHED


@dataclass(frozen=True, order=True)
class Missing:
    """A name of JAX that the script uses and Overt does not have."""

    line: int
    name: str


def port(text: str) -> tuple[str, list[Missing]]:
    """The script for Overt, and the names it uses that Overt lacks.

    Errors: `libcst.ParserSyntaxError` where the text is not Python.

    >>> print(port("import jax.numpy as jnp\\nfrom jax import grad, pmap  # both\\n")[0], end="")
    import overt.numpy as jnp
    from overt import grad, pmap  # both
    >>> port("import jax.numpy as jnp\\nfrom jax import grad, pmap  # both\\n")[1]
    [Missing(line=2, name='jax.pmap')]
    """
    wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
    change = Port(roots(wrapper))
    changed = wrapper.visit(change)
    absent = {m.name for m in change.missing}
    return changed.code, sorted(m for m in change.missing if not within(m.name, absent))


def within(name: str, absent: set[str]) -> bool:
    """Whether a name is looked up in one that is absent itself."""
    parts = name.split(".")
    return any(".".join(parts[:n]) in absent for n in range(1, len(parts)))


def roots(wrapper: MetadataWrapper) -> set[cst.CSTNode]:
    """The places where a name stands for what `import jax` bound."""
    found: set[cst.CSTNode] = set()
    for scope in {s for s in wrapper.resolve(ScopeProvider).values() if s is not None}:
        for assignment in scope.assignments:
            if isinstance(assignment, ImportAssignment) and binds_jax(assignment):
                found |= {leftmost(a.node) for a in assignment.references if isinstance(a, Access)}
    return found


def binds_jax(assignment: ImportAssignment) -> bool:
    """Whether it is `import jax` or `import jax.numpy`, each of which binds `jax` itself."""
    if not isinstance(assignment.node, cst.Import):
        return False
    plain = {a.evaluated_name for a in assignment.node.names if a.asname is None}
    return assignment.name in plain and assignment.name.partition(".")[0] == "jax"


def leftmost(node: cst.CSTNode) -> cst.CSTNode:
    while isinstance(node, cst.Attribute):
        node = node.value
    return node


def is_jax(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Name) and node.value == "jax"


def moved(node: Any) -> Any:
    """`jax.a.b` as `overt.a.b`."""
    if isinstance(node, cst.Attribute):
        return node.with_changes(value=moved(node.value))
    return node.with_changes(value="overt") if is_jax(node) else node


def has(name: str) -> bool:
    """Whether Overt has what JAX calls `name`."""
    head, *rest = name.split(".")
    found: Any = importlib.import_module("overt")
    path = "overt"
    for part in rest:
        path += f".{part}"
        if hasattr(found, part):
            found = getattr(found, part)
        elif isinstance(found, ModuleType):
            try:
                found = importlib.import_module(path)
            except ImportError:
                return False
        else:  # an attribute of a class, of a function or of a value
            return not isinstance(found, type)
    return head == "jax"


class Port(cst.CSTTransformer):
    """Renames imports, the names they bind, settings and environment variables."""

    METADATA_DEPENDENCIES = (PositionProvider, QualifiedNameProvider)

    def __init__(self, roots: set[cst.CSTNode]) -> None:
        super().__init__()
        self.roots = roots
        self.missing: set[Missing] = set()

    def note(self, node: cst.CSTNode, name: str) -> None:
        if name.partition(".")[0] == "jax" and not has(name):
            self.missing.add(Missing(self.get_metadata(PositionProvider, node).start.line, name))

    def names(self, node: cst.CSTNode) -> list[str]:
        """What an expression is called where it was imported from."""
        found = self.get_metadata(QualifiedNameProvider, node, ())
        return [q.name for q in found if q.source is QualifiedNameSource.IMPORT]

    # --- imports

    def leave_Import(self, original: cst.Import, statement: cst.Import) -> cst.Import:
        for alias in original.names:
            self.note(alias, alias.evaluated_name)
        names = [
            a.with_changes(name=moved(a.name)) if is_jax(leftmost(a.name)) else a
            for a in statement.names
        ]
        return statement.with_changes(names=names)

    def leave_ImportFrom(self, original: cst.ImportFrom, statement: cst.ImportFrom) -> Any:
        if original.relative or original.module is None or not is_jax(leftmost(original.module)):
            return statement
        module = cst.Module([]).code_for_node(original.module)
        if not isinstance(original.names, cst.ImportStar):
            for alias in original.names:
                self.note(alias, f"{module}.{alias.evaluated_name}")
        return statement.with_changes(module=moved(statement.module))

    # --- names

    def leave_Name(self, original: cst.Name, name: cst.Name) -> cst.Name:
        return name.with_changes(value="overt") if original in self.roots else name

    def visit_Attribute(self, node: cst.Attribute) -> None:
        for name in self.names(node):
            if not name.startswith("jax.config."):
                self.note(node, name)

    def leave_Attribute(self, original: cst.Attribute, node: cst.Attribute) -> cst.Attribute:
        setting = original.attr.value
        if f"jax.config.{setting}" in self.names(original) and setting.startswith("jax_"):
            return node.with_changes(attr=cst.Name("overt_" + setting.removeprefix("jax_")))
        return node

    # --- settings and environment variables

    def leave_Call(self, original: cst.Call, call: cst.Call) -> cst.Call:
        if "jax.config.update" not in self.names(original.func) or not call.args:
            return call
        first = call.args[0]
        if not isinstance(first.value, cst.SimpleString):
            return call
        text = first.value.value.replace("jax_", "overt_", 1)
        changed = first.with_changes(value=cst.SimpleString(text))
        return call.with_changes(args=[changed, *call.args[1:]])

    def leave_SimpleString(self, original: cst.SimpleString, text: cst.SimpleString) -> Any:
        name = original.evaluated_value
        if isinstance(name, str) and name.startswith("JAX_"):
            setting = name.removeprefix("JAX_")
            if setting.lower() in DEFAULTS | WATCHED:
                return text.with_changes(value=text.value.replace(name, f"OVERT_{setting}"))
        return text
