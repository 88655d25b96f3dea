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
from collections.abc import Callable
from dataclasses import replace

from overt.rewrites import core
from overt.rewrites.refusal import Refusal
from overt.rewrites.scopes import CHANGING, NESTED, new_name, own_nodes, root_name
from overt.rewrites.viewed import (
    Kinds,
    View,
    as_index,
    changed_roots,
    has_slice,
    helper,
    is_member,
    is_name,
    is_plain_index,
    is_untidy,
    kinds_of,
    loaded,
    may_bind,
    returned_expression,
    shaped_view,
    stored_members,
    viewed_holder,
    with_holder,
)

Known = dict[str, View]
Definition = Callable[[str], ast.FunctionDef | None]


def written_through(
    body: list[ast.stmt], local: set[str], taken: set[str], definition: Definition,
    computed: Callable[[str], bool] = lambda name: False,
) -> list[ast.stmt]:  # fmt: skip
    """The body of a function with stores into views written to what they are views of.

    `definition` gives the text of a function by its name; `computed` tells whether reading or
    setting an attribute may run a method of the user's.
    """
    stored = {n for s in body for n in stored_names(s) | filled_names(s)}
    if not stored and not any(map(stored_members, body)):
        return body
    work = Through(stored, local, taken, kinds_of(body))
    work.computed = computed
    work.written_into = {n for s in body for n in stored_names(s, operators=False)}
    nested = {n.name: n for s in body for n in ast.walk(s) if isinstance(n, ast.FunctionDef)}
    work.written = lambda name: nested.get(name) or (name not in local and definition(name)) or None
    return work.block(body, {})[0]


def filled_names(node: ast.stmt) -> set[str]:
    """The names whose objects calls in a statement write into, as `outputs` found."""
    return {n for inner in ast.walk(node) for n in getattr(inner, "fills", ())}


def operated_names(node: ast.stmt) -> set[str]:
    """The names that operators such as `+=` change in a statement, or one inside it."""
    found = () if isinstance(node, NESTED) else own_nodes(node)
    operated = [n.target for n in found if isinstance(n, ast.AugAssign)]
    return {t.id for t in operated if isinstance(t, ast.Name)}


def stored_names(node: ast.stmt, operators: bool = True) -> set[str]:
    """The names whose objects a statement, or one inside it, changes in place."""
    found: set[str] = set()
    if isinstance(node, NESTED):
        return found
    for n in own_nodes(node):
        if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store):
            found |= root_name(n.value) | changed_roots(n.value)
        elif isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute):
            if n.func.attr in CHANGING:
                found |= root_name(n.func.value)
    return found | operated_names(node) if operators else found


def replaced_names(node: ast.stmt) -> set[str]:
    """The names whose objects may hold other items after a statement; `a[i] += v` changes one."""
    return stored_names(without_operators(node), operators=False)


def without_operators(node: ast.stmt) -> ast.stmt:
    """A statement without `+=` and its kin."""
    node = copy.copy(node)
    if isinstance(node, ast.AugAssign):
        return ast.copy_location(ast.Pass(), node)
    for part in ("body", "orelse", "finalbody"):
        if isinstance(inner := getattr(node, part, None), list):
            setattr(node, part, list(map(without_operators, inner)))
    return node


def assigned_names(node: ast.stmt, operators: bool = True) -> set[str]:
    """The names that a statement, or one inside it, binds; by `+=`, too."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    by_operators = {id(n.target) for n in own_nodes(node) if isinstance(n, ast.AugAssign)}
    found = {
        n.id
        for n in own_nodes(node)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store | ast.Del)
        if operators or id(n) not in by_operators
    }
    return found | {n.name for n in own_nodes(node) if isinstance(n, ast.FunctionDef)}


class Through:
    """One function: which names are views of which, statement by statement."""

    def __init__(self, stored: set[str], local: set[str], taken: set[str], kinds: Kinds) -> None:
        self.stored, self.local, self.taken, self.kinds = stored, local, taken, kinds
        self.written: Definition = lambda name: None
        self.computed: Callable[[str], bool] = lambda name: False
        self.operated = ""  # the name that an operator such as `+=` may change or bind anew
        self.written_into: set[str] = set()  # stored into at an index, or by a method
        self.passing: set[str] = set()  # names that nothing after their statement reads
        self.ahead: list[list[ast.stmt]] = []  # what runs after the statement, inner blocks last

    def block(self, body: list[ast.stmt], known: Known) -> tuple[list[ast.stmt], Known]:
        done: list[ast.stmt] = []
        for i, s in enumerate(body):
            self.ahead.append(body[i + 1 :])
            new, known = self.statement(s, known)
            self.ahead.pop()
            done += new
        return done, known

    def statement(self, s: ast.stmt, known: Known) -> tuple[list[ast.stmt], Known]:
        if isinstance(s, ast.If):
            return self.branches(s, known)
        if isinstance(s, ast.For | ast.While):
            return self.loop(s, known)
        if isinstance(s, ast.With):
            s = copy.copy(s)
            s.body, known = self.block(s.body, without(known, assigned_names(s)))
            return [s], known
        if isinstance(s, NESTED) or not isinstance(
            s, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Expr
        ):
            if isinstance(s, ast.Delete):  # what was there is no item of it any longer
                places = [t.value for t in s.targets if isinstance(t, ast.Subscript)]
                holders = set[str]().union(*map(changed_roots, places))
                known = {n: v for n, v in known.items() if v.base not in holders}
            return [s], without(known, assigned_names(s))
        if (parts := self.in_parts(s, known)) is not None:
            new, known = self.block(parts, known)
            return new, without(known, self.passing)
        return self.simple(s, known)

    def branches(self, s: ast.If, known: Known) -> tuple[list[ast.stmt], Known]:
        s = copy.copy(s)
        s.body, one = self.block(s.body, known)
        s.orelse, other = self.block(s.orelse, known)
        if s.body and leaves(s.body[-1]):
            return [s], other
        if s.orelse and leaves(s.orelse[-1]):
            return [s], one
        both = {n: v for n, v in one.items() if other.get(n) is v}
        for n in sorted(one.keys() & other.keys() - both.keys()):
            mine, theirs = one[n], other[n]
            if self.stored.isdisjoint((n, mine.base)):
                continue
            if mine.base == theirs.base and mine.is_item() and theirs.is_item():
                place = self.fresh(f"{n}_place")
                s.body = [*s.body, placed(place, copy.deepcopy(mine.index), s.body[-1])]  # type: ignore
                s.orelse = [*s.orelse, placed(place, copy.deepcopy(theirs.index), s.orelse[-1])]  # type: ignore
                both[n] = View(mine.base, loaded(place))
        return [s], both

    # --- statements taken apart

    def in_parts(self, s: ast.stmt, known: Known) -> list[ast.stmt] | None:
        """A statement about several views as one about each; None where it stays."""
        if isinstance(s, ast.Assign) and len(s.targets) == 1:
            target, value = s.targets[0], s.value
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                parts = self.one_by_one(s, target.elts, value.elts)
                return parts or self.one_after_another(s, target.elts, value.elts, known)
            if isinstance(target, ast.Tuple) and viewed_holder(value, self.local) is not None:
                return self.unpacked_part(s, target, value)
            if isinstance(target, ast.Name) and isinstance(value, ast.IfExp):
                return self.chosen_view(s, target, value)
            if isinstance(target, ast.Name) and self.is_chain(value, target.id in self.stored):
                hoisted, last = self.hoisted(value, s)
                return [*hoisted, placed(target.id, last, s)] if hoisted else None
        elif isinstance(s, ast.Assign) and all(isinstance(t, ast.Name) for t in s.targets):
            first, *others = [t.id for t in s.targets if isinstance(t, ast.Name)]
            if self.stored & {first, *others}:
                return [placed(first, s.value, s), *(placed(n, loaded(first), s) for n in others)]
        if isinstance(s, ast.Assign | ast.AugAssign):
            targets = s.targets if isinstance(s, ast.Assign) else [s.target]
            if len(targets) == 1 and isinstance(targets[0], ast.Subscript):
                return self.into_view(s, targets[0])
        return None

    def one_by_one(
        self, s: ast.stmt, targets: list[ast.expr], values: list[ast.expr]
    ) -> list[ast.stmt] | None:
        """`top, rest = a[:2], a[2:]`, where one of them is stored into."""
        names = {t.id for t in targets if isinstance(t, ast.Name)}
        read = {n.id for v in values for n in ast.walk(v) if isinstance(n, ast.Name)}
        if len(names) != len(targets) or len(targets) != len(values) or names & read:
            return None
        views = [self.view_of(v) or isinstance(v, ast.Constant) for v in values]
        members = all(is_member(v, self.local) for v in values)
        if not members and not (all(views) and names & self.stored):
            return None
        return [placed(t.id, v, s) for t, v in zip(targets, values, strict=True)]  # type: ignore

    def one_after_another(
        self, s: ast.stmt, targets: list[ast.expr], values: list[ast.expr], known: Known
    ) -> list[ast.stmt] | None:
        """`u[0, :], u[-1, :] = u[-2, :], u[1, :]`: the second view shows the first store."""
        if len(targets) != len(values) or any(isinstance(x, ast.Starred) for x in targets + values):
            return None
        changed: set[str] = set()
        found = False
        for target, value in zip(targets, values, strict=True):
            view = self.view_of(value)
            if view is not None and self.is_surely_view(view):
                found |= view.base in changed or bool(changed) and view.base in known
            changed |= changed_roots(target.value) if isinstance(target, ast.Subscript) else set()
        if not found or not changed <= self.local:
            return None
        names = [None if isinstance(v, ast.Constant) else self.fresh("value") for v in values]
        pairs = list(zip(names, values, strict=True))
        read = [placed(n, v, s) for n, v in pairs if n is not None]
        self.passing.update(n for n in names if n is not None)
        stores = [
            ast.copy_location(ast.Assign([t], v if n is None else loaded(n)), s)
            for t, (n, v) in zip(targets, pairs, strict=True)
        ]
        return [*read, *stores]

    def unpacked_part(
        self, s: ast.stmt, target: ast.Tuple, value: ast.expr
    ) -> list[ast.stmt] | None:
        """`x, y = a.T`, where one of them is stored into: a name for the view, then its items."""
        names = {t.id for t in target.elts if isinstance(t, ast.Name)}
        if len(names) < len(target.elts) or not names & self.written_into:
            return None
        part = self.fresh("part")
        self.stored.add(part)
        unpacking = ast.copy_location(ast.Assign([target], loaded(part)), s)
        return [placed(part, value, s), unpacking]

    def is_surely_view(self, view: View) -> bool:
        """Whether a part of an array is no number, or is where numbers are told apart by place."""
        if view.shaped is not None or has_slice(view.index):
            return True
        return view.is_item() and (view.base in self.kinds.deep or is_fixed(view.index))

    def chosen_view(self, s: ast.stmt, target: ast.Name, value: ast.IfExp) -> list[ast.stmt] | None:
        """`row = a[i] if p else a[j]`, which is stored into."""
        views = [self.view_of(v) for v in (value.body, value.orelse)]
        if not all(v and v.is_item() for v in views):
            return None
        if self.stored.isdisjoint((target.id, *(v.base for v in views if v))):
            return None
        sides = [[placed(target.id, v, s)] for v in (value.body, value.orelse)]
        return [ast.copy_location(ast.If(value.test, sides[0], sides[1]), s)]  # type: ignore

    def into_view(
        self, s: ast.Assign | ast.AugAssign, target: ast.Subscript
    ) -> list[ast.stmt] | None:
        """`a.T[0] = v`: a name for the view, then the store."""
        if not self.is_chain(target.value):
            return None
        hoisted, last = self.hoisted(target.value, s)
        if not isinstance(last, ast.Name):
            name = self.fresh("part")
            self.stored.add(name)
            if self.view_of(last) is None:
                raise Refusal(
                    f"it is not certain what a store into `{ast.unparse(target.value)}` changes",
                    "Store into the array itself.",
                    s,
                )
            hoisted.append(placed(name, last, s))
            last = loaded(name)
        new = copy.copy(s)
        place = ast.copy_location(ast.Subscript(last, target.slice, ast.Store()), target)
        if isinstance(new, ast.Assign):
            new.targets = [place]
        else:
            new.target = place
        return [*hoisted, new]

    def is_chain(self, node: ast.expr, of_objects: bool = False) -> bool:
        """Whether an expression is a view of a view of a local name, not only items of items."""
        shaped = False
        while not isinstance(node, ast.Name):
            holder = viewed_holder(node, self.local)
            if holder is None or not of_objects and is_member(node, self.local):
                return False
            shaped |= not isinstance(node, ast.Subscript) or has_slice(node.slice)
            node = holder
        return shaped and node.id in self.local

    def hoisted(self, node: ast.expr, s: ast.stmt) -> tuple[list[ast.stmt], ast.expr]:
        """Names for all links of a chain but the last, and the last one over them."""
        holder = viewed_holder(node, self.local)
        if holder is None or isinstance(holder, ast.Name):
            return [], node
        done, inner = self.hoisted(holder, s)
        name = self.fresh("part")
        self.stored.add(name)
        if is_untidy(inner, self.kinds.untidy):
            self.kinds.untidy.add(name)
        done.append(placed(name, inner, s))
        return done, with_holder(node, loaded(name), self.local)

    # --- stores

    def simple(self, s: ast.stmt, known: Known) -> tuple[list[ast.stmt], Known]:
        fills: frozenset[str] = getattr(s, "fills", frozenset())
        changed = (stored_names(s) | fills) & self.local
        through: set[str] = set()
        before: list[ast.stmt] = []
        after: list[ast.stmt] = []
        known = still_held(known, s)
        members = stored_members(s)
        for name in sorted(n for n, v in known.items() if (v.base, v.attribute) in members):
            after.append(self.down(name, known[name], s))
            through.add(name)
        inside = index_inside(s)
        operated = s.target if isinstance(s, ast.AugAssign) else None
        self.operated = operated.id if isinstance(operated, ast.Name) else ""
        for name in sorted(changed):
            if isinstance(s, ast.AugAssign) and not self.is_part(name, known):
                continue
            if inside is not None:
                before += self.shared_items(name, known, s)
            new, met = self.in_step(name, known, s, inside)
            after += new
            through |= met
        if through:
            s = copy.copy(s)
            given: frozenset[str] = getattr(s, "through", frozenset())
            s.through = given | through | changed  # type: ignore[attr-defined]
            for added in after:
                added.through = given | getattr(added, "through", given)  # type: ignore
        if inside is None:
            known = detached(known, changed, s)
        if isinstance(s, ast.AugAssign):
            return [*before, s, *after], known
        known = without(known, assigned_names(s) - fills)
        if isinstance(s, ast.Assign) and len(s.targets) == 1:
            target = s.targets[0]
            if isinstance(target, ast.Name) and (view := self.view_of(s.value)) is not None:
                if view.base != target.id:
                    known = {**known, target.id: view}
            known = {**known, **self.unpacked(target, s.value)}
        return [*before, s, *after], known

    def unpacked(self, target: ast.expr, value: ast.expr) -> Known:
        """`top, bottom = a`: the items of `a`."""
        if not isinstance(target, ast.Tuple) or not isinstance(value, ast.Name):
            return {}
        names = [t.id for t in target.elts if isinstance(t, ast.Name)]
        distinct = len(names) == len(target.elts) and len({value.id, *names}) > len(names)
        if not distinct or value.id not in self.local or not self.stored & {value.id, *names}:
            return {}
        return {n: View(value.id, index=ast.Constant(i)) for i, n in enumerate(names)}

    def is_part(self, name: str, known: Known) -> bool:
        """Whether `name += v` may change an array under another name, and is followed."""
        view = known.get(name)
        if view is not None and not view.is_whole():
            return True
        if name in self.kinds.wide or view is not None and view.base in self.kinds.wide:
            return True
        if view is not None and view.base in known and known[view.base].attribute:
            return True
        others = [(n, v) for n, v in known.items() if v.base == name]
        return any(not v.is_whole() or n in self.kinds.wide for n, v in others)

    def shared_items(self, name: str, known: Known, s: ast.stmt) -> list[ast.stmt]:
        """Checks before a change of an item of `name` that no slice of a list holds it, too."""
        pairs = [
            (n, v.base) for n, v in known.items() if name in (n, v.base) and has_slice(v.index)
        ]
        checks: list[ast.stmt] = []
        for pair in pairs:
            check = ast.Expr(helper("@no_items", *map(loaded, pair)))
            for node in ast.walk(check):
                ast.copy_location(node, s)
            checks.append(check)
        return checks

    def in_step(
        self, name: str, known: Known, s: ast.stmt, inside: ast.expr | None = None
    ) -> tuple[list[ast.stmt], set[str]]:
        """Statements that bring other names in step with one that was changed; these names.

        `inside` is the index of the item of `name` that was changed, not replaced.
        """
        done: list[ast.stmt] = []
        met = {name}
        reached: dict[str, tuple[str, View]] = {}  # from what view of them
        owners: set[str] = set()  # objects of which an attribute is in step, written `o.`
        current = name
        while current in known and known[current].base not in met:
            view = known[current]
            if view.detached and view.is_item():
                if view.base not in self.kinds.made | self.kinds.deep:
                    check = helper("@no_items", loaded(view.base), loaded(current))
                    done.append(located(ast.Expr(check), s))
            added = self.up(current, view, s)
            if added is not None:
                done.append(added)
            elif not view.attribute:
                break
            if view.attribute:  # the object is the same, its other names see it
                same_place = [n for n, v in known.items() if same_view(v, view) and n not in met]
                beside = [
                    placed(n, self.changed(loaded(n), loaded(current)), s) for n in same_place
                ]
                again = added is not None and not self.operated
                done += [self.down(n, view, s) for n in same_place] if again else beside
                met |= set(same_place)
                owners.add(f"{view.base}.")
                break
            met.add(view.base)
            reached[view.base] = current, view
            current = view.base
        pending = list(met)
        place = index_stored(s)
        # An operator changes an item of a list where it stands; `i, j` and `i:j` are of arrays.
        by_operator = isinstance(s, ast.AugAssign) and not isinstance(place, ast.Tuple | ast.Slice)
        while pending:
            base = pending.pop()
            for other, view in known.items():
                if view.base == base and other not in met:
                    via, its = reached.get(base, ("", view))
                    if via and same_text(view.index, its.index) and not view.detached:
                        if not its.detached:  # one object, whatever holds it
                            done.append(placed(other, self.changed(loaded(other), loaded(via)), s))
                            met.add(other)
                            pending.append(other)
                            continue
                    same = inside is not None and base == name and same_text(view.index, inside)
                    changed = view.is_item() and (base in reached or by_operator)
                    if (same or changed) and view.detached:
                        continue  # of a list, it may be another object by now
                    met.add(other)
                    if base == name and are_apart(place, view.index):
                        continue
                    done.append(self.down(other, view, s, same or changed))
                    pending.append(other)
        met |= owners | {n.rstrip(".") for n in owners}
        for added in done:
            added.through = frozenset(met)  # type: ignore[attr-defined]
        return done, met - {name}

    def up(self, name: str, view: View, s: ast.stmt) -> ast.stmt | None:
        """The base from its view; None where NumPy does not write through it."""
        base, part = loaded(view.base), loaded(name)
        if view.attribute:
            needed = self.is_needed_ahead(name, view)
            if needed == "not":
                return None
            kind = "@keep_array_in" if self.operated else "@keep_in"
            if needed == "outside" or self.operated or self.computed(view.attribute):
                kept = helper(kind, base, ast.Constant(view.attribute), part)
                if needed == "here":
                    kept.keywords = [ast.keyword("read", ast.Constant(True))]
                return located(ast.Expr(kept), s)
            place = ast.Attribute(base, view.attribute, ast.Store())
            return located(ast.Assign([place], part), s)
        if view.index is not None:
            value: ast.expr | None = helper("@stored_back", base, as_index(view.index), part)
        elif view.shaped is not None:
            value = view.undone(part, base)
        else:
            value = self.changed(base, part)
        return placed(view.base, value, s) if value is not None else None

    def down(self, name: str, view: View, s: ast.stmt, inside: bool = False) -> ast.stmt:
        """A view from its base."""
        base, part = loaded(view.base), loaded(name)
        if view.attribute:
            return placed(name, ast.Attribute(base, view.attribute, ast.Load()), s)
        if view.index is not None and has_slice(view.index) and view.base in self.kinds.made:
            value: ast.expr = ast.Subscript(base, copy.deepcopy(view.index), ast.Load())
        elif view.index is not None:
            again = "@item_again" if inside else "@read_again"
            value = helper(again, base, as_index(view.index), part)
        elif view.shaped is not None:
            value = copy.deepcopy(view.shaped)
        else:
            value = self.changed(part, base)
        return placed(name, value, s)

    def changed(self, old: ast.Name, new: ast.Name) -> ast.expr:
        """What another name of an object stands for after a change that made `new` of it."""
        sure = old.id in self.kinds.made and new.id in self.kinds.made
        return new if sure or new.id != self.operated else helper("@changed_too", old, new)

    def is_needed_ahead(self, name: str, view: View) -> str:
        """Whether what an attribute holds may be read after this, before it is stored anew.

        What is no object of the function's own may be read after it has returned.
        """
        beside = ""
        for block in reversed(self.ahead):
            for s in block:
                if isinstance(s, ast.Assign) and len(s.targets) == 1:
                    place = s.targets[0]
                    if isinstance(place, ast.Attribute) and is_name(place.value, view.base):
                        if place.attr == view.attribute and is_name(s.value, name):
                            return beside or "not"
                if reads_member(s, view.base, view.attribute):
                    return "here"
                if self.computed(view.attribute) and view.base in core.reads(s):
                    beside = "beside"  # a property of the object may read it
        if beside:
            return beside
        if view.base == "self":
            return "later"
        return "not" if view.base in self.kinds.built else "outside"

    def view_of(self, value: ast.expr) -> View | None:
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
            if (shown := self.returned(value)) is None:
                return None
            value = shown
        if is_member(value, self.local):
            return View(value.value.id, attribute=value.attr)  # type: ignore[attr-defined]
        if isinstance(value, ast.Name):
            return View(value.id) if value.id in self.local else None
        if isinstance(value, ast.Subscript) and isinstance(value.value, ast.Name):
            if value.value.id in self.local and is_plain_index(value.slice):
                return View(value.value.id, index=value.slice)
        return shaped_view(value, self.local, self.kinds)

    def returned(self, call: ast.Call) -> ast.expr | None:
        """What a call of a function returns, as an expression of what it is given."""
        assert isinstance(call.func, ast.Name)
        if call.func.id == "@changed_too":
            return call.args[1]
        node = self.written(call.func.id)
        result = returned_expression(node) if node is not None else None
        if node is None or result is None or not all(map(is_plain_index, call.args)):
            return None
        names = [a.arg for a in (*node.args.posonlyargs, *node.args.args)]
        given = dict(zip(names, call.args, strict=False))
        given |= {k.arg: k.value for k in call.keywords if k.arg}
        read = {n.id for n in ast.walk(result) if isinstance(n, ast.Name)}
        return core.substitute(result, given) if read <= given.keys() else None

    # --- loops

    def loop(self, s: ast.For | ast.While, known: Known) -> tuple[list[ast.stmt], Known]:
        before: list[ast.stmt] = []
        if isinstance(s, ast.For):
            s = self.over_keys(s, known)
            before, s, known = self.over_places(s, known)
        bound = assigned_names(s) - {n for n in known if self.stays(n, known[n], s)}
        known = still_held(without(known, bound), s)
        known = detached(known, set().union(*map(replaced_names, s.body)) & self.local)
        s = copy.copy(s)
        self.ahead.append(s.body)
        s.body, after = self.block(s.body, known)
        self.ahead.pop()
        s.orelse, _ = self.block(s.orelse, known)
        return [*before, s], {n: v for n, v in known.items() if same_view(after.get(n), v)}

    def stays(self, name: str, view: View, s: ast.stmt) -> bool:
        """Whether a loop only changes the object of a name, surely an array, and binds no other."""
        part = view.shaped or has_slice(view.index) or view.attribute
        if not (part or name in self.kinds.wide):
            if not (view.is_item() and view.base in self.kinds.deep):
                return False
        return name not in assigned_names(s, operators=False)

    def over_keys(self, s: ast.For, known: Known) -> ast.For:
        """`for k, row in d.items():` that changes its rows, as a loop over the keys."""
        items, order = s.iter, "list"
        if isinstance(items, ast.Call) and isinstance(items.func, ast.Name) and not items.keywords:
            if items.func.id in ("list", "tuple", "sorted") and len(items.args) == 1:
                order, items = items.func.id, items.args[0]
        found = method_of_name(items, ("items", "values"))
        if found is None or found[0] not in self.local or order in self.local:
            return s
        name, method = found
        parts = s.target.elts if isinstance(s.target, ast.Tuple) else []
        key, row = parts if method == "items" and len(parts) == 2 else (None, s.target)
        if method == "items" and not isinstance(key, ast.Name) or order == "sorted" and not key:
            return s
        targets = {n.id for n in ast.walk(row) if isinstance(n, ast.Name)}
        changed = {n for inner in s.body for n in stored_names(inner) | filled_names(inner)}
        bound = assigned_names(s) - {n for n in known if self.stays(n, known[n], s)}
        if not changed & targets or name in bound:
            return s
        place = key.id if isinstance(key, ast.Name) else self.fresh("key")
        new = copy.copy(s)
        new.target, new.iter = ast.Name(place, ast.Store()), helper(order, loaded(name))
        item = ast.Subscript(loaded(name), loaded(place), ast.Load())
        new.body = [
            ast.fix_missing_locations(ast.copy_location(ast.Assign([row], item), s)),
            *s.body,
        ]
        return ast.fix_missing_locations(ast.copy_location(new, s))

    def over_places(self, s: ast.For, known: Known) -> tuple[list[ast.stmt], ast.For, Known]:
        """`for row in a:` that changes its rows, as a loop over their places."""
        row, items, place = s.target, s.iter, None
        if isinstance(items, ast.Call) and isinstance(items.func, ast.Name):
            if items.func.id == "enumerate" and len(items.args) == 1 and not items.keywords:
                if isinstance(row, ast.Tuple) and len(row.elts) == 2:
                    (place, row), items = row.elts, items.args[0]
        rows, sources = [row], [items]
        if isinstance(items, ast.Call) and isinstance(items.func, ast.Name):
            plain = all(is_false(k.value) for k in items.keywords)  # `strict=False`
            if items.func.id == "zip" and plain and isinstance(row, ast.Tuple):
                rows, sources = row.elts, items.args
        names = [r.id for r in rows if isinstance(r, ast.Name)]
        changed = {n for inner in s.body for n in stored_names(inner) | filled_names(inner)}
        if isinstance(rows[0], ast.Tuple) and len(rows) == 1:  # `for name, row in rows:`
            parts = {n.id for n in ast.walk(rows[0]) if isinstance(n, ast.Name)}
            if any(parts & stored_names(inner, operators=False) for inner in s.body):
                names = [self.fresh("row")]
                changed.add(names[0])
        if len(names) != len(rows) or len(rows) != len(sources) or not changed & set(names):
            return [], s, known
        if place is not None and not isinstance(place, ast.Name):
            return [], s, known
        before: list[ast.stmt] = []
        held: list[str] = []
        for source in sources:
            if not isinstance(source, ast.Name) and self.view_of(source) is not None:
                held.append(self.fresh("part"))
                self.stored.add(held[-1])
                new, known = self.simple(placed(held[-1], source, s), known)
                before += new
            elif isinstance(source, ast.Name):
                held.append(source.id)
        if len(held) != len(sources) or not set(held) <= self.local:
            return [], s, known
        if set(held) & (assigned_names(s) - {n for n in known if self.stays(n, known[n], s)}):
            return [], s, known
        if place is None:
            place = ast.Name(self.fresh(f"{names[0]}_place"), ast.Store())
        lengths = [helper("len", loaded(n)) for n in held]
        count = lengths[0] if len(lengths) == 1 else helper("min", *lengths)
        new_loop = copy.copy(s)
        new_loop.target = place
        new_loop.iter = helper("range", count)
        reading = [
            placed(row, ast.Subscript(loaded(n), loaded(place.id), ast.Load()), s)
            for row, n in zip(names, held, strict=True)
        ]
        if isinstance(row, ast.Tuple) and len(rows) == 1:
            apart = ast.Assign([row], loaded(names[0]))
            reading.append(ast.fix_missing_locations(ast.copy_location(apart, s)))
        new_loop.body = [*reading, *s.body]
        return before, ast.copy_location(new_loop, s), known

    def fresh(self, stem: str) -> str:
        name = new_name(stem, self.taken)
        self.local.add(name)
        return name


def method_of_name(node: ast.expr, methods: tuple[str, ...]) -> tuple[str, str] | None:
    """The variable and the method of `d.items()`, a call without arguments."""
    f = node.func if isinstance(node, ast.Call) and not node.args and not node.keywords else None
    if not isinstance(f, ast.Attribute) or f.attr not in methods:
        return None
    return (f.value.id, f.attr) if isinstance(f.value, ast.Name) else None


def without(known: Known, names: set[str]) -> Known:
    """What is still known after names were bound anew."""
    return {n: v for n, v in known.items() if n not in names and not v.names() & names}


def detached(known: Known, changed: set[str], s: ast.stmt | None = None) -> Known:
    """What is known after changes of names that, if they are lists, may hold other items now."""
    place = index_stored(s) if s is not None else None
    appended = isinstance(s, ast.Expr) and is_method_call(s.value) and s.value.func.attr == "append"  # type: ignore
    found = dict(known)
    for name, view in known.items():
        if view.base in changed and view.index is not None and not are_apart(place, view.index):
            if not (appended and (fixed(view.index) or 0) >= 0 and is_fixed(view.index)):
                found[name] = replace(view, detached=True)
    return found


def still_held(known: Known, s: ast.stmt) -> Known:
    """What is still known of attributes of objects after a statement, or at the top of a loop."""
    return {
        n: v for n, v in known.items() if not v.attribute or not may_bind(s, v.base, v.attribute)
    }


def reads_member(s: ast.stmt, name: str, attribute: str) -> bool:
    """Whether a statement, or one inside it, may read an attribute of an object."""
    others = {
        id(n.value)
        for n in ast.walk(s)
        if isinstance(n, ast.Attribute)
        and (n.attr != attribute or isinstance(n.ctx, ast.Store))
        and not isinstance(n.ctx, ast.Del)
    }
    called_on = {
        id(n.func.value)  # type: ignore[attr-defined]
        for n in ast.walk(s)
        if is_method_call(n) and not replaces(n, attribute)  # type: ignore[arg-type]
    }
    return any(
        is_name(n, name) and (id(n) not in others or id(n) in called_on) for n in ast.walk(s)
    )


def replaces(call: ast.Call, attribute: str) -> bool:
    """Whether a call is `s._replace(a=v)`, which reads all attributes but this one."""
    named = isinstance(call.func, ast.Attribute) and call.func.attr == "_replace"
    return named and any(k.arg == attribute for k in call.keywords)


def is_method_call(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)


def placed(name: str, value: ast.expr, s: ast.stmt) -> ast.stmt:
    return located(ast.Assign([ast.Name(name, ast.Store())], value), s)


def located(made: ast.stmt, s: ast.stmt) -> ast.stmt:
    for node in ast.walk(made):
        ast.copy_location(node, s)
    return made


def leaves(s: ast.stmt) -> bool:
    """Whether nothing after a statement is reached from it."""
    return isinstance(s, ast.Return | ast.Raise | ast.Break | ast.Continue)


def is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def same_text(one: ast.expr | None, other: ast.expr | None) -> bool:
    return one is not None and other is not None and ast.dump(one) == ast.dump(other)


def same_view(one: View | None, other: View) -> bool:
    return one is not None and replace(one, detached=other.detached) == other


def index_stored(s: ast.stmt) -> ast.expr | None:
    """The index at which `a[i] = v` or `a[i] += v` stores into a name."""
    places: list[ast.expr] = []
    if isinstance(s, ast.Assign) and len(s.targets) == 1:
        places = [s.targets[0]]
    elif isinstance(s, ast.AugAssign):
        places = [s.target]
    for place in places:
        if isinstance(place, ast.Subscript) and isinstance(place.value, ast.Name):
            return place.slice
    return None


def are_apart(one: ast.expr | None, other: ast.expr | None) -> bool:
    """Whether two indices of one array surely pick different places: along an axis, numbers."""
    if one is None or other is None:
        return False
    pairs = zip(*(i.elts if isinstance(i, ast.Tuple) else [i] for i in (one, other)), strict=False)
    for a, b in pairs:
        first, second = fixed(a), fixed(b)
        if first is not None and second is not None:
            if first != second and (first < 0) == (second < 0):
                return True
        elif not all(isinstance(x, ast.Slice) or fixed(x) is not None for x in (a, b)):
            return False  # it may stand for several axes
    return False


def fixed(node: ast.expr | None) -> int | None:
    """The number that an index is in the text."""
    sign = 1
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node, sign = node.operand, -1
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return sign * node.value
    return None


def is_fixed(index: ast.expr | None) -> bool:
    return fixed(index) is not None


def index_inside(s: ast.stmt) -> ast.expr | None:
    """The index of the item of a name in which `grid[i][j] = v` and its like store."""
    places: list[ast.expr] = []
    if isinstance(s, ast.Assign):
        places = [t.value for t in s.targets if isinstance(t, ast.Subscript)]
    elif isinstance(s, ast.AugAssign) and isinstance(s.target, ast.Subscript):
        places = [s.target]  # a list may hold an array there
        if isinstance(s.target.value, ast.Subscript):
            places = [s.target.value]
    elif isinstance(s, ast.Expr) and isinstance(s.value, ast.Call):
        if isinstance(s.value.func, ast.Attribute):
            places = [s.value.func.value]
    for place in places:
        if isinstance(place, ast.Subscript):
            while isinstance(place.value, ast.Subscript):
                place = place.value
            return place.slice
    return None
