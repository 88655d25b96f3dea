"""Held outside: which expressions give objects that others hold too, or containers of such.

G["rows"], self.log, next(iter(G)), getattr(o, "rows")      others hold them
list(G), [row for row in G], (G[0], 1)                      new, but of what others hold
"""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import types
from collections.abc import Callable, Iterator
from typing import Any

from overt.rewrites.scopes import NESTED, locals_of, own_nodes, yields
from overt.runtime.ownership import is_library

Definition = Callable[[str], ast.FunctionDef | None]
Callee = tuple[ast.FunctionDef, int, Callable[[ast.expr], Any]]

# Attributes that give no container of others.
PARTS_OF_ARRAYS = frozenset("T mT real imag flat shape dtype at size ndim".split())
TAKING = frozenset("get setdefault values items".split())
PAIRING = frozenset("zip enumerate reversed".split())
PICKING = frozenset("next max min getattr reduce choice".split())
SPACES = frozenset("vars globals locals".split())
GETTERS = frozenset("itemgetter attrgetter".split())
KEEPING = frozenset(
    "list tuple dict set sorted iter zip enumerate reversed map filter copy deque OrderedDict "
    "chain islice cycle values items".split()
)  # what they give holds what they are given holds
MOST = 3  # calls within calls that are looked into


class Outside:
    """One function; `found` are the names of what others hold, `holding` those that hold such."""

    def __init__(
        self, local: set[str], found: set[str], definition: Definition = lambda name: None,
        methods: Callable[[str], list[ast.FunctionDef]] = lambda name: [],
        resolve: Callable[[ast.expr], Any] = lambda node: None, deep: int = 0,
    ) -> None:  # fmt: skip
        self.local, self.found, self.holding = local, set(found), set[str]()
        self.definition, self.methods, self.resolve = definition, methods, resolve
        self.nested: dict[str, ast.FunctionDef] = {}
        self.read: Callable[[Any], ast.FunctionDef | None] = lambda function: None
        self.deep = deep

    def look_at(self, body: list[ast.stmt]) -> Outside:
        """Find the names of a function's statements."""
        self.nested |= {n.name: n for s in body for n in parts(s) if isinstance(n, ast.FunctionDef)}
        while True:
            before = len(self.found), len(self.holding)
            for s in body:
                self.found |= set(given_by_managers(s)) & self.local
                for target, value in given(s):
                    names = set(names_in(target)) & self.local
                    if (
                        self.outside(value)
                        or not isinstance(target, ast.Name)
                        and self.holds(value)
                    ):
                        self.found |= names
                        self.holding |= set(starred_in(target)) & self.local
                    elif self.holds(value):
                        self.holding |= names
            if (len(self.found), len(self.holding)) == before:
                return self

    def outside(self, node: ast.expr | None) -> bool:
        """Whether others may hold what an expression gives."""
        if isinstance(node, ast.Name):
            return node.id in self.found or node.id not in self.local
        if isinstance(node, ast.Attribute):
            return node.attr not in PARTS_OF_ARRAYS
        if isinstance(node, ast.Subscript):
            sliced = any(isinstance(n, ast.Slice) for n in ast.walk(node.slice))
            return not sliced and (self.outside(node.value) or self.holds(node.value))
        if isinstance(node, ast.IfExp):
            return self.outside(node.body) or self.outside(node.orelse)
        if isinstance(node, ast.BoolOp):
            return any(map(self.outside, node.values))
        if isinstance(node, ast.NamedExpr):
            return self.outside(node.value)
        return isinstance(node, ast.Call) and self.call(node)

    def holds(self, node: ast.expr | None) -> bool:
        """Whether what an expression gives may hold such objects."""
        if isinstance(node, ast.Name):
            return node.id in self.holding
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            return any(map(self.given_on, node.elts))
        if isinstance(node, ast.Dict):
            return any(map(self.given_on, node.values))
        if isinstance(node, ast.Starred | ast.NamedExpr):
            return self.given_on(node.value)
        if isinstance(node, ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp):
            made = node.value if isinstance(node, ast.DictComp) else node.elt
            passed = isinstance(made, ast.Name | ast.Subscript | ast.Attribute | ast.Tuple)
            return passed and any(self.given_on(g.iter) for g in node.generators)
        if isinstance(node, ast.Subscript):
            sliced = any(isinstance(n, ast.Slice) for n in ast.walk(node.slice))
            return sliced and self.given_on(node.value)
        if isinstance(node, ast.BinOp):
            lists = isinstance(node.op, ast.Add | ast.BitOr)
            return lists and any(map(self.holds, (node.left, node.right)))
        if isinstance(node, ast.Call) and name_of(node.func) in KEEPING:
            receiver = [node.func.value] if isinstance(node.func, ast.Attribute) else []
            known = [v for v in receiver if not isinstance(self.resolve(v), types.ModuleType)]
            named = [k.value for k in node.keywords]
            return any(map(self.given_on, (*known, *node.args, *named)))
        if isinstance(node, ast.Call):
            return any(self.gives(*each, node, within=True) for each in self.callees(node))
        return False

    def given_on(self, node: ast.expr) -> bool:
        return self.outside(node) or self.holds(node)

    def call(self, node: ast.Call) -> bool:
        f, name = node.func, name_of(node.func)
        if isinstance(f, ast.Lambda):
            return Outside(self.local, self.found, self.definition).outside(f.body)
        if isinstance(f, ast.Call) and name_of(f.func) in GETTERS:
            return any(map(self.given_on, node.args))
        if isinstance(f, ast.Name) and name in SPACES:
            return True
        if name in PICKING and self.is_no_user(f):
            return any(map(self.given_on, node.args))
        if isinstance(f, ast.Attribute):
            if name in TAKING:
                return self.given_on(f.value)
        elif not isinstance(f, ast.Name):
            return False
        elif name in PAIRING:
            return any(map(self.outside, node.args))
        if found := self.callees(node):
            return any(self.gives(*each, node) for each in found)
        if not isinstance(f, ast.Name) or name in self.local:
            return False
        meant = self.resolve(f)
        if meant is None and not hasattr(builtins, name):  # a variable of a function around
            return any(map(self.given_on, node.args))
        return is_kept(meant)

    def callees(self, node: ast.Call) -> list[Callee]:
        """The functions of the user's that a call may mean; whether an object comes first."""
        f, name = node.func, name_of(node.func)
        if isinstance(f, ast.Attribute):
            return [(m, 1, self.resolve) for m in self.methods(name)]
        if not isinstance(f, ast.Name) or name in PAIRING:
            return []
        if name in self.local:
            found = self.nested.get(name)
        else:
            found = self.definition(name)
            if found is None and (text := self.read(meant := self.resolve(f))) is not None:
                return [(text, 0, names_of(meant, self.resolve))]
        return [] if found is None else [(found, 0, self.resolve)]

    def may_keep(self, decorator: ast.expr) -> bool:
        """Whether a decorator may keep results and give them again."""
        f = decorator.func if isinstance(decorator, ast.Call) else decorator
        found = self.resolve(f)
        if found in (functools.cache, functools.lru_cache):
            return True
        return isinstance(found, types.FunctionType) and self.read(found) is not None

    def is_no_user(self, f: ast.expr) -> bool:
        return not (isinstance(f, ast.Name) and (f.id in self.local or self.definition(f.id)))

    def gives(
        self, function: ast.FunctionDef, first: int, resolve: Callable[[ast.expr], Any],
        call: ast.Call, within: bool = False,
    ) -> bool:  # fmt: skip
        """Whether a call of a function may give what others hold; or hold it `within`."""
        if self.deep >= MOST:
            return False
        if yields(function):
            return False
        if not within and any(map(self.may_keep, function.decorator_list)):
            return True
        a = function.args
        names = [p.arg for p in (*a.posonlyargs, *a.args)]
        passed = {n for n, v in zip(names[first:], call.args, strict=False) if self.given_on(v)}
        passed |= {k.arg for k in call.keywords if k.arg and self.given_on(k.value)}
        if a.vararg and any(map(self.given_on, call.args[len(names) - first :])):
            passed.add(a.vararg.arg)
        inner = Outside(
            locals_of(function), passed, self.definition, self.methods, resolve, self.deep + 1
        )
        inner.read = self.read
        inner.look_at(function.body)
        nodes = [n for s in function.body for n in parts(s)]
        asked = inner.holds if within else inner.outside
        return any(asked(n.value) for n in nodes if isinstance(n, ast.Return))


def names_of(
    function: types.FunctionType, otherwise: Callable[[ast.expr], Any]
) -> Callable[[ast.expr], Any]:  # fmt: skip
    """What the names in a function mean: its variables of functions around it, and its globals."""
    held = inspect.getclosurevars(function) if function.__closure__ else None
    around = dict(held.nonlocals) if held is not None else {}

    def resolve(node: ast.expr) -> Any:
        if isinstance(node, ast.Name):
            return around.get(node.id, function.__globals__.get(node.id))
        return otherwise(node)

    return resolve


def is_kept(found: Any) -> bool:
    """Whether what a callee gives is kept: by a cache, or by an object that is called."""
    if isinstance(found, types.FunctionType | types.BuiltinFunctionType | type) or found is None:
        return False
    if isinstance(found, functools._lru_cache_wrapper):
        return True
    return not is_library(type(found).__module__)


def given(s: ast.stmt) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What a statement, or one inside it, gives names to."""
    for n in parts(s):
        if isinstance(n, ast.Assign):
            for target in n.targets:
                yield from paired(target, n.value)
        elif isinstance(n, ast.AnnAssign | ast.NamedExpr) and n.value is not None:
            yield n.target, n.value
        elif isinstance(n, ast.For):
            yield ast.List([n.target], ast.Store()), n.iter

        elif isinstance(n, ast.Match):
            for m in ast.walk(n):
                if isinstance(m, ast.MatchAs | ast.MatchStar) and m.name:
                    yield ast.List([ast.Name(m.name, ast.Store())], ast.Store()), n.subject


def given_by_managers(s: ast.stmt) -> Iterator[str]:
    """The names of what context managers give, which they may keep."""
    for n in parts(s):
        if isinstance(n, ast.With):
            for item in n.items:
                if item.optional_vars is not None and not only_catches(item.context_expr):
                    yield from names_in(item.optional_vars)


def only_catches(node: ast.expr) -> bool:
    """Whether a context manager is one that catches exceptions and holds nothing."""
    return isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in (
        "@caught", "suppress",
    )  # fmt: skip


def parts(s: ast.stmt) -> Iterator[ast.AST]:
    """Every node of a statement that is not inside a function or class."""
    return iter([s]) if isinstance(s, NESTED) else own_nodes(s)


def name_of(f: ast.expr) -> str:
    return f.id if isinstance(f, ast.Name) else f.attr if isinstance(f, ast.Attribute) else ""


def paired(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What is assigned to what: `a, b = x, y` by parts."""
    kinds = ast.Tuple | ast.List
    if isinstance(target, kinds) and isinstance(value, kinds):
        if len(target.elts) == len(value.elts):
            for t, v in zip(target.elts, value.elts, strict=True):
                yield from paired(t, v)
            return
    yield target, value


def names_in(target: ast.expr) -> Iterator[str]:
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Tuple | ast.List):
        for t in target.elts:
            yield from names_in(t)
    elif isinstance(target, ast.Starred):
        yield from names_in(target.value)


def starred_in(target: ast.expr) -> Iterator[str]:
    for n in ast.walk(target):
        if isinstance(n, ast.Starred):
            yield from names_in(n.value)
