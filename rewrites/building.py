"""Building a function in core form: names and their versions, statements in order."""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from overt.rewrites import core
from overt.rewrites.core import NOWHERE, Names, Origin
from overt.rewrites.expressions import NOT_SUPPORTED, Expressions
from overt.rewrites.refusal import Refusal


@dataclass(frozen=True)
class Text:
    """What is known of the file around a function: each line's origin, and which called names are
    the class of records.
    """

    origin: Callable[[int], Origin]
    is_saved: Callable[[ast.expr], bool] = lambda callee: False
    definition: Callable[[str], ast.FunctionDef | None] = lambda name: None
    object: Callable[[ast.expr], Any] = lambda node: None
    known: Callable[[ast.expr], str] = lambda node: ""  # "module.name" of a builtin or the like
    methods: Callable[[str], list[ast.FunctionDef]] = lambda name: []  # of classes of the file
    # Whether a class of the user's has such a method for `+=` or its kin.
    has_method: Callable[[str], bool] = lambda name: False
    # Whether reading or setting such an attribute may run a method, or is none of a named tuple.
    is_computed: Callable[[str], bool] = lambda name: False
    # The text of a function, wherever it is defined; None where it cannot be read.
    read: Callable[[Any], ast.FunctionDef | None] = lambda function: None
    # The default value that a parameter has now.
    default: Callable[[str], Any] = lambda name: None
    # The parameter whose class says itself what a store into its items does.
    itself: str = ""

    def generator(self, name: str) -> ast.FunctionDef | None:
        """The definition of a generator; None for other functions, which are not looked for."""
        found = self.object(core.name(name))
        if not isinstance(found, types.FunctionType):
            return None
        return self.definition(name) if found.__code__.co_flags & inspect.CO_GENERATOR else None


class Building:
    """What is known while a function is built."""

    def __init__(self, names: Names, text: Text) -> None:
        self.names, self.text = names, text
        self.env: dict[str, str] = {}
        self.ahead: dict[str, str] = {}  # nested functions defined further down in a block
        self.out: list[core.Stmt] = []
        self.origin = NOWHERE
        self.enclosing: set[str] = set()  # local names of the functions around this one
        self.local: set[str] = set()
        self.numbers: set[str] = set()  # names of what surely is a number
        self.arrays: set[str] = set()  # and of a new array of numbers
        self.made: set[str] = set()  # names that removing exits needed
        self.through: frozenset[str] = frozenset()  # names kept in step with what is stored
        self.fills: frozenset[str] = frozenset()  # names whose objects the statement writes into
        self.unused: ast.expr | None = None  # the expression whose value nothing reads
        self.gives_back = False  # whether the statement's call returns what it changes
        self.itself = text.itself  # the name of an object that stores as its class says
        self.foreign: set[str] = {self.itself} - {""}  # names of containers that others hold too
        self.run_over: set[str] = set()  # names of items that loops take from what others hold
        self.found_outside: set[str] = set()  # names of arrays or containers found outside
        self.unsure: set[str] = set()  # names of such containers or of arrays

    # --- names

    def bind(self, name: str) -> str:
        """A new version of a name of the user's."""
        if name in self.cells:
            self.env.pop(name, None)
            return name
        self.env[name] = self.names.fresh(name)
        return self.env[name]

    def pattern(self, target: ast.expr) -> core.Pattern:
        if isinstance(target, ast.Name):
            return self.bind(target.id)
        if isinstance(target, ast.Starred):
            return ("*", self.pattern(target.value))
        if isinstance(target, ast.Tuple | ast.List):
            return tuple(self.pattern(t) for t in target.elts)
        raise Refusal("this target of an assignment is not supported", node=target)

    def emit(self, s: core.Stmt) -> None:
        self.out.append(s)

    def assign(self, target: core.Pattern, value: ast.expr) -> None:
        if isinstance(value, ast.Call):
            value.through = self.through  # type: ignore[attr-defined]
            value.fills = self.fills  # type: ignore[attr-defined]
            value.gives_back = self.gives_back  # type: ignore[attr-defined]
        self.emit(core.Assign(target, value, self.origin))

    # --- expressions

    def expr(self, node: ast.expr) -> ast.expr:
        """The expression over core names; what it assigns on the way is emitted first."""
        return Expressions(self).visit(node)

    # --- statements

    def block(self, body: Sequence[ast.stmt]) -> None:
        for s in body:  # nested functions may call one another
            if isinstance(s, ast.FunctionDef) and s.name not in self.cells:
                self.ahead[s.name] = self.env[s.name] = self.names.fresh(s.name)
        for s in body:
            kind = NOT_SUPPORTED.get(type(s))
            if kind:
                raise Refusal(f"{kind} cannot be rewritten", "Move it out of the function.", s)
            if getattr(s, "lineno", 0):
                self.origin = self.text.origin(s.lineno)
            self.through = getattr(s, "through", frozenset())
            self.fills = getattr(s, "fills", frozenset())
            self.gives_back = getattr(s, "gives_back", False)
            getattr(self, f"do_{type(s).__name__}", self.opaque)(s)

    def opaque(self, s: ast.stmt) -> None:
        """A statement that stays as the user wrote it."""
        raise NotImplementedError

    def inner(self, body: Sequence[ast.stmt]) -> core.Block:
        """A nested block, built in the current environment."""
        outer, self.out = self.out, []
        origin = self.origin
        self.block(body)
        block, self.out, self.origin = tuple(self.out), outer, origin
        self.through = self.fills = frozenset()
        return block
