"""Views: what a store into one name changes under another one is written there too.

    row = a[i]                row = a[i]
    row[0] = 5.0       ->     row[0] = 5.0
    total = a.sum()           a[i] = row
                              total = a.sum()

Arrays and containers are values here, so a view is a value of its own.  As long as it is sure of
what two names share, this pass keeps them in step: after a store into the view the array is
written, after a store into the array the view is read again.  Where it is not sure, `aliasing`
refuses the store.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass

from overt.rewrites.scopes import CHANGING, NESTED, new_name, own_nodes, root_name

ROUND = frozenset("T mT".split())  # attributes that undo themselves
SHAPES = frozenset("reshape ravel".split())
REDUCING = frozenset("sum mean max min prod norm len std var any all".split())


@dataclass(frozen=True)
class View:
    """What a name shares with another one: all of it, an item or part, or another shape of it."""

    base: str
    index: ast.expr | None = None
    shaped: ast.expr | None = None  # `a.T` or `a.reshape(...)`, of the base's name

    def names(self) -> set[str]:
        found = {self.base}
        for node in (self.index, self.shaped):
            if node is not None:
                found |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        return found


Known = dict[str, View]


def written_through(body: list[ast.stmt], local: set[str], taken: set[str]) -> list[ast.stmt]:
    """The body of a function with stores into views written to what they are views of."""
    stored = {n for s in body for n in stored_names(s) | filled_names(s)}
    if not stored:
        return body
    work = Through(stored, local, taken)
    work.wide = {n for s in body for n in wide_names(s)}
    return work.block(body, {})[0]


def filled_names(node: ast.stmt) -> set[str]:
    """The names whose objects calls in a statement write into, as `outputs` found."""
    return {n for inner in ast.walk(node) for n in getattr(inner, "fills", ())}


def stored_names(node: ast.stmt) -> set[str]:
    """The names whose objects a statement, or one inside it, changes in place."""
    found: set[str] = set()
    if isinstance(node, NESTED):
        return found
    for n in own_nodes(node):
        if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store):
            found |= root_name(n.value)
        elif isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name):
            found.add(n.target.id)
        elif isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute):
            if n.func.attr in CHANGING:
                found |= root_name(n.func.value)
    return found


def wide_names(node: ast.stmt) -> set[str]:
    """The names that a statement, or one inside it, uses as arrays or containers."""
    found: set[str] = set()
    for n in own_nodes(node):
        used: list[ast.expr] = []
        if isinstance(n, ast.Subscript | ast.Attribute):
            used = [n.value]
        elif isinstance(n, ast.BinOp) and isinstance(n.op, ast.MatMult):
            used = [n.left, n.right]
        elif isinstance(n, ast.Call) and len(n.args) == 1:
            name = getattr(n.func, "attr", getattr(n.func, "id", ""))
            used = operands(n.args[0]) if name in REDUCING else []
        found |= {x.id for x in used if isinstance(x, ast.Name)}
    return found


def operands(node: ast.expr) -> list[ast.expr]:
    """The names that arithmetic in an expression is done on."""
    if isinstance(node, ast.BinOp):
        return operands(node.left) + operands(node.right)
    return operands(node.operand) if isinstance(node, ast.UnaryOp) else [node]


def assigned_names(node: ast.stmt) -> set[str]:
    """The names that a statement, or one inside it, binds."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    found = {
        n.id
        for n in own_nodes(node)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store | ast.Del)
    }
    return found | {n.name for n in own_nodes(node) if isinstance(n, ast.FunctionDef)}


class Through:
    """One function: which names are views of which, statement by statement."""

    def __init__(self, stored: set[str], local: set[str], taken: set[str]) -> None:
        self.stored, self.local, self.taken = stored, local, taken
        self.wide: set[str] = set()  # names of what surely is no number

    def block(self, body: list[ast.stmt], known: Known) -> tuple[list[ast.stmt], Known]:
        done: list[ast.stmt] = []
        for s in body:
            new, known = self.statement(s, known)
            done += new
        return done, known

    def statement(self, s: ast.stmt, known: Known) -> tuple[list[ast.stmt], Known]:
        if isinstance(s, ast.If):
            s = copy.copy(s)
            s.body, one = self.block(s.body, known)
            s.orelse, other = self.block(s.orelse, known)
            return [s], {n: v for n, v in one.items() if other.get(n) is v}
        if isinstance(s, ast.For | ast.While):
            return self.loop(s, known)
        if isinstance(s, ast.With):
            s = copy.copy(s)
            s.body, known = self.block(s.body, without(known, assigned_names(s)))
            return [s], known
        if isinstance(s, NESTED) or not isinstance(
            s, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Expr
        ):
            return [s], without(known, assigned_names(s))
        return self.simple(s, known)

    def simple(self, s: ast.stmt, known: Known) -> tuple[list[ast.stmt], Known]:
        fills: frozenset[str] = getattr(s, "fills", frozenset())
        changed = (stored_names(s) | fills) & self.local
        through: set[str] = set()
        after: list[ast.stmt] = []
        for name in sorted(changed):
            if isinstance(s, ast.AugAssign) and not self.is_part(name, known):
                continue
            new, met = self.in_step(name, known, s)
            after += new
            through |= met
        if through:
            s = copy.copy(s)
            s.through = frozenset(through | changed)  # type: ignore[attr-defined]
        if isinstance(s, ast.AugAssign):
            return [s, *after], known
        known = without(known, assigned_names(s) - fills)
        if isinstance(s, ast.Assign) and len(s.targets) == 1:
            target = s.targets[0]
            if isinstance(target, ast.Name) and (view := self.view_of(s.value)) is not None:
                if view.base != target.id and {target.id, view.base} & self.stored:
                    known = {**known, target.id: view}
        return [s, *after], known

    def is_part(self, name: str, known: Known) -> bool:
        """Whether `name += v` surely changes an array: one that a slice or a reshape gave."""
        view = known.get(name)
        if name in self.wide:
            return True
        if view is not None and (view.shaped is not None or has_slice(view.index)):
            return True
        return any(
            v.base == name and (v.shaped is not None or v.index is not None) for v in known.values()
        )

    def in_step(self, name: str, known: Known, s: ast.stmt) -> tuple[list[ast.stmt], set[str]]:
        """Statements that bring other names in step with one that was changed; these names."""
        done: list[ast.stmt] = []
        met = {name}
        current = name
        while current in known and known[current].base not in met:
            view = known[current]
            done.append(self.up(current, view, s))
            met.add(view.base)
            current = view.base
        pending = list(met)
        while pending:
            base = pending.pop()
            for other, view in known.items():
                if view.base == base and other not in met:
                    done.append(self.down(other, view, s))
                    met.add(other)
                    pending.append(other)
        for added in done:
            added.through = frozenset(met)  # type: ignore[attr-defined]
        return done, met - {name}

    def up(self, name: str, view: View, s: ast.stmt) -> ast.stmt:
        """The base from its view."""
        base, part = loaded(view.base), loaded(name)
        if view.index is not None:
            value: ast.expr = helper("@stored_back", base, as_index(view.index), part)
        elif isinstance(view.shaped, ast.Attribute):
            value = ast.Attribute(part, view.shaped.attr, ast.Load())
        elif view.shaped is not None:
            shape = ast.Attribute(base, "shape", ast.Load())
            value = ast.Call(ast.Attribute(part, "reshape", ast.Load()), [shape], [])
        else:
            value = helper("@changed_too", base, part)
        return placed(view.base, value, s)

    def down(self, name: str, view: View, s: ast.stmt) -> ast.stmt:
        """A view from its base."""
        base, part = loaded(view.base), loaded(name)
        if view.index is not None:
            value: ast.expr = helper("@read_again", base, as_index(view.index), part)
        elif view.shaped is not None:
            value = copy.deepcopy(view.shaped)
        else:
            value = helper("@changed_too", part, base)
        return placed(name, value, s)

    def view_of(self, value: ast.expr) -> View | None:
        if isinstance(value, ast.Name):
            return View(value.id) if value.id in self.local else None
        if isinstance(value, ast.Subscript) and isinstance(value.value, ast.Name):
            if value.value.id in self.local and self.is_plain_index(value.slice):
                return View(value.value.id, index=value.slice)
        if isinstance(value, ast.Attribute) and value.attr in ROUND:
            if isinstance(value.value, ast.Name) and value.value.id in self.local:
                return View(value.value.id, shaped=value)
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
            holder = value.func.value
            if value.func.attr in SHAPES and isinstance(holder, ast.Name):
                if holder.id in self.local and all(map(self.is_plain_index, value.args)):
                    return View(holder.id, shaped=value)
        return None

    def is_plain_index(self, node: ast.expr | None) -> bool:
        """Whether an expression gives integers, slices and the like, the same each time."""
        if node is None or isinstance(node, ast.Name):
            return True
        if isinstance(node, ast.Constant):
            return node.value is not None and not isinstance(node.value, bool | float)
        if isinstance(node, ast.Slice):
            return all(map(self.is_plain_index, (node.lower, node.upper, node.step)))
        if isinstance(node, ast.Tuple):
            return all(map(self.is_plain_index, node.elts))
        if isinstance(node, ast.UnaryOp):
            return self.is_plain_index(node.operand)
        if isinstance(node, ast.BinOp):
            return self.is_plain_index(node.left) and self.is_plain_index(node.right)
        return False

    # --- loops

    def loop(self, s: ast.For | ast.While, known: Known) -> tuple[list[ast.stmt], Known]:
        if isinstance(s, ast.For):
            s = self.over_places(s)
        bound = assigned_names(s)
        s = copy.copy(s)
        known = without(known, bound)
        s.body, after = self.block(s.body, known)
        s.orelse, _ = self.block(s.orelse, known)
        return [s], {n: v for n, v in known.items() if after.get(n) is v}

    def over_places(self, s: ast.For) -> ast.For:
        """`for row in a:` that changes its rows, as a loop over their places."""
        row, items, place = s.target, s.iter, None
        if isinstance(items, ast.Call) and isinstance(items.func, ast.Name):
            if items.func.id == "enumerate" and len(items.args) == 1 and not items.keywords:
                if isinstance(row, ast.Tuple) and len(row.elts) == 2:
                    (place, row), items = row.elts, items.args[0]
        if not (isinstance(row, ast.Name) and isinstance(items, ast.Name)):
            return s
        if items.id not in self.local or items.id in assigned_names(s):
            return s
        if row.id not in {n for inner in s.body for n in stored_names(inner)}:
            return s
        if place is None:
            place = ast.Name(self.fresh(f"{row.id}_place"), ast.Store())
        if not isinstance(place, ast.Name):
            return s
        new = copy.copy(s)
        new.target = place
        new.iter = helper("range", helper("len", loaded(items.id)))
        reading = ast.Subscript(loaded(items.id), loaded(place.id), ast.Load())
        first = placed(row.id, reading, s)
        new.body = [first, *s.body]
        return ast.copy_location(new, s)

    def fresh(self, stem: str) -> str:
        name = new_name(stem, self.taken)
        self.local.add(name)
        return name


def has_slice(index: ast.expr | None) -> bool:
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return any(isinstance(p, ast.Slice) for p in parts)


def without(known: Known, names: set[str]) -> Known:
    """What is still known after names were bound anew."""
    return {n: v for n, v in known.items() if n not in names and not v.names() & names}


def loaded(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def helper(name: str, *args: ast.expr) -> ast.Call:
    return ast.Call(loaded(name), list(args), [])


def as_index(index: ast.expr) -> ast.expr:
    """An index as a value: slices are written `at[1:3]`."""
    index = copy.deepcopy(index)
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    if any(isinstance(p, ast.Slice) for p in parts):
        return ast.Subscript(loaded("@at"), index, ast.Load())
    return index


def placed(name: str, value: ast.expr, s: ast.stmt) -> ast.stmt:
    made = ast.Assign([ast.Name(name, ast.Store())], value)
    for node in ast.walk(made):
        ast.copy_location(node, s)
    return made
