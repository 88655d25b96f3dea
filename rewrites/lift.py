"""Lifting: control flow becomes `cond`, `while_loop` and `for_loop`, for values known only later.

while x > 1:                  def test(x):
    x = x / 2                     return x > 1
return x              ->
                              def body(x):
                                  return x / 2

                              return while_loop(test, body, x)
"""

from __future__ import annotations

import ast
import types
from dataclasses import replace
from typing import Any

from overt.rewrites import core
from overt.rewrites.callees import Callees, SourceOf
from overt.rewrites.core import Function, Source
from overt.rewrites.effects import takes_out
from overt.rewrites.lift_functions import FunctionLifter
from overt.rewrites.lift_survey import calls_in, writes_elsewhere
from overt.rewrites.scopes import is_not_in_place, new_name
from overt.rewrites.two_numpys import may_be_ours, with_ours

# What NumPy makes of plain values alone; with values being staged inside they must be ours.
MAKING = frozenset(
    "array asarray asanyarray ascontiguousarray zeros ones full empty eye arange".split()
)
ASKING = frozenset(("@is_a", "@is_sequence", "@is_mapping"))  # helpers as good as what they replace


def lift(source: Source, source_of: SourceOf | None = None, outermost: bool = True) -> Source:
    """The source with its control flow lifted; `source_of` reads the user's functions it calls.

    The arguments of an `outermost` function are the user's: each is None, or surely is not.
    """
    module = Module(source, source_of, outermost=outermost)
    for f in source.functions:
        module.add(f)
    return module.finished()


def survey(source: Source) -> tuple[bool, list[types.FunctionType]]:
    """Whether a function has something to lift itself, and which user's functions it calls."""
    module = Module(source, None, surveying=True)
    for f in source.functions:
        FunctionLifter(module, f).function(f)
    return module.changed or module.makes_arrays() or module.stores(), module.called


def functions_to_lift(source: Source) -> set[str]:
    """Functions with something to lift, or that call one that has; the main one always."""
    changed = {source.main.name}
    for f in source.functions[:-1]:
        if survey(replace(source, functions=(f,)))[0]:
            changed.add(f.name)
    while True:
        more = {f.name for f in source.functions if core.globals_of(f) & changed} - changed
        if not more:
            return changed
        changed |= more


class Module:
    """The lifted module being built: its functions, and those lifted because they are called."""

    def __init__(
        self,
        source: Source,
        source_of: SourceOf | None,
        surveying: bool = False,
        outermost: bool = True,
    ) -> None:
        self.source, self.source_of, self.surveying = source, source_of, surveying
        self.outermost = outermost and not surveying
        self.callees = Callees(source.namespace, source_of)
        self.callees.resolver.functions = {f.name: f for f in source.functions}
        self.changed = False
        self.called: list[types.FunctionType] = []
        self.done: list[Function] = []
        self.taken = {f.name for f in source.functions}
        for f in source.functions:
            self.taken |= core.globals_of(f)
        self.own: dict[str, str] = {}
        if not surveying:
            changed = functions_to_lift(source)
            for f in source.functions:
                self.own[f.name] = self.named(f.name, "lifted") if f.name in changed else f.name
        self.siblings: dict[types.CodeType, str] = {}
        self.imports = set(source.imports)

    def named(self, name: str, suffix: str) -> str:
        """A name for what a function becomes."""
        if name.endswith(f"_{suffix}"):
            return name  # what was lifted before is lifted again under its own name
        return new_name(f"{name.strip('_')}_{suffix}", self.taken)

    def add(self, function: Function) -> None:
        lifted = FunctionLifter(self, function).function(function)
        self.done.append(replace(lifted, name=self.own[function.name]))

    def sibling(self, name: str) -> str | None:
        """The lifted name of a function of this source."""
        return None if self.surveying else self.own.get(name)

    def lifted_sibling(self, node: ast.expr, value: Any) -> str | None:
        """The lifted name of a user's function, lifted into this module if it is not there yet."""
        if not isinstance(node, ast.Name) or not self.callees.has_sibling(value):
            return None
        known = self.siblings.get(value.__code__)
        if known is not None:
            return known
        source = self.source_of(value) if self.source_of else None
        if source is None or len(source.functions) != 1:
            return None
        name = self.named(value.__name__, "lifted")
        self.siblings[value.__code__] = name
        lifted = FunctionLifter(self, source.main).function(source.main)
        self.done.append(replace(lifted, name=name))
        return name

    def makes_arrays(self) -> bool:
        """Whether plain NumPy makes arrays here, which may hold values being staged."""
        return bool(self.numpy_aliases())

    def stores(self) -> bool:
        """Whether something is stored into here: as it stands, that changes the object itself.

        Then the text has helpers in the place of what the user wrote.
        """
        for f in self.source.functions:
            if takes_out(f.result) or any(
                map(writes_elsewhere(f, self.callees.object), core.walk(f.body))
            ):
                return True
        return any(
            isinstance(node.func, ast.Name)
            and node.func.id.startswith("@")
            and node.func.id not in ASKING
            or is_not_in_place(node)
            for f in self.source.functions
            for node in calls_in(f.body, f.result)
        )

    def numpy_aliases(self) -> set[str]:
        found = set()
        for f in [*self.source.functions, *self.done]:
            for node in calls_in(f.body, f.result):
                place = node.func
                if isinstance(place, ast.Attribute) and place.attr in MAKING:
                    module = self.callees.object(place.value)
                    if isinstance(module, types.ModuleType) and module.__name__ == "numpy":
                        found |= core.reads(place.value)
        return found

    def finished(self) -> Source:
        # A function named as a value stays as it is: whoever takes it rewrites it itself.
        while values := [f for f in self.source.functions if self.is_missing(f)]:
            self.done[:0] = values
        for alias in sorted(self.numpy_aliases()):
            if may_be_ours(self.done, alias):
                self.imports.add(f"import overt.numpy as {alias}")
            else:
                self.done = [with_ours(f, alias, MAKING) for f in self.done]
        return replace(self.source, functions=tuple(self.done), imports=frozenset(self.imports))

    def is_missing(self, function: Function) -> bool:
        """Whether a function of this source is named here under its own name, but not there."""
        if any(d.name == function.name for d in self.done):
            return False
        if isinstance(self.callees.object(core.name(function.name)), types.FunctionType):
            return False  # it is the user's, with the attributes that it may have
        return any(function.name in core.globals_of(d) for d in self.done)
