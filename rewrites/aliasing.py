"""Aliasing: refuse stores that Python would show under another name too.

    row = a[1:]
    row[0] = 5.0        # NumPy changes `a` as well
    return a            # refused: `row` shares its memory with `a`, which is read later

Arrays are values here, so a store changes one name.  Where NumPy's answer would differ, say so at
once.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace

from overt.rewrites import core
from overt.rewrites.besides import (
    Besides,
    Data,
    Functions,
    Kind,
    Methods,
    innermost,
    is_deep_copy,
    is_nested,
    of_effect,
    one_site,
    without_own,
)
from overt.rewrites.calling import method_called
from overt.rewrites.core import Assign, Block, For, Function, If, Stmt, While, With, is_local, reads
from overt.rewrites.held_outside import PARTS_OF_ARRAYS
from overt.rewrites.liveness import Pruner
from overt.rewrites.operated import is_found
from overt.rewrites.pointing import given_name, method_of
from overt.rewrites.relations import Load, Table, fills, is_growth
from overt.rewrites.sharing import (
    ITEM,
    Shares,
    Sharing,
    has_slice,
    is_store,
    items_of,
    picks_copies,
)
from overt.rewrites.sites import ITEM as AN_ITEM
from overt.rewrites.sites import (
    MAKING,
    MAYBE,
    PART,
    UNKNOWN,
    WHOLE,
    holders_of,
    is_attribute_of_given,
)


def check_aliases(
    function: Function,
    makes_array: Callable[[ast.expr], bool] = lambda callee: False,
    load: Load | None = None,
    methods: Methods = lambda node: [],
    kind: Kind = lambda call: UNKNOWN,
    functions: Functions = lambda node: [],
    data: Data = lambda name: "",
) -> Function:
    """The function, with what can only be known at run time marked for a check; or a refusal.

    `makes_array` tells of a callee whether it is NumPy's `zeros` or the like: a store into an array
    copies what is stored, a store into a list keeps it. `load` gives a user's function by its name,
    `data` tells whether a name outside of the function is a "container", an "object", or neither.
    """
    keeper = StoresKept(function, {})
    needed = replace(function, body=keeper.block(function.body, keeper.reads(function.result))[0])
    given = {core.base(p.name) for p in function.params} | {core.base(n) for n in function.cells}
    work = Aliases(needed, arrays_in(function.body, makes_array) - given, load)
    work.methods, work.kind_of, work.functions_of = methods, kind, functions
    work.data_of = without_own(data, function)
    last = function.body[-1].origin if function.body else core.NOWHERE
    end = core.Do(ast.Expr(needed.result), last)
    work.check_calls(end, needed.result, set())
    work.block(needed.body, work.live(needed.result))

    def inside(nested: Function) -> Function:
        return check_aliases(nested, makes_array, load, methods, kind, functions, work.data_of)

    body = with_checks(function.body, work.checks, inside)
    return replace(function, body=(*body, *work.checks.get(of_effect(end), ())))


class StoresKept(Pruner):
    """Leaves out what is never read again, but no store: it may show under another name."""

    def nested(self, function: Function) -> Function:
        body, _ = StoresKept(function, {}).block(function.body, self.reads(function.result))
        return replace(function, body=body)

    def is_pure_call(self, node: ast.Call) -> bool:
        return not is_store(node) and super().is_pure_call(node)

    def assign(self, s: Assign, alive: set[str]) -> tuple[list[Stmt], set[str]]:
        if not s.in_place:
            return super().assign(s, alive)
        return [s], (alive - set(core.pattern_names(s.target))) | self.reads(s.value)


def with_checks(
    block: Block, checks: dict[str, list[core.Do]], inside: Callable[[Function], Function]
) -> Block:
    """The block with a check before each store that needs one, and nested functions checked."""
    done: list[Stmt] = []
    for s in block:
        if isinstance(s, Assign):
            done += [c for n in core.pattern_names(s.target) for c in checks.get(n, ())]
        elif isinstance(s, core.Do):
            done += checks.get(of_effect(s), ())
        elif isinstance(s, If):
            then, orelse = (with_checks(b, checks, inside) for b in (s.then, s.orelse))
            s = replace(s, then=then, orelse=orelse)
        elif isinstance(s, For | While | With):
            for item in s.items if isinstance(s, With) else ():
                done += checks.get(of_effect(core.Do(ast.Expr(item.context_expr), s.origin)), ())
            s = replace(s, body=with_checks(s.body, checks, inside))
        elif isinstance(s, core.Define):
            s = replace(s, function=inside(s.function))
        done.append(s)
    return tuple(done)


class Aliases(Besides):
    """Which of the names that may share one object are still needed at each store."""

    def __init__(
        self, function: Function, arrays: frozenset[str] = frozenset(), load: Load | None = None
    ) -> None:
        self.alive: set[str] = set()  # what is read after the statement that is looked at
        self.result = function.result
        self.may_change: set[str] = set()  # through an attribute, or in a call
        super().__init__(function, arrays, load)

    # --- what is needed later

    def live(self, *nodes: ast.AST | None) -> set[str]:
        return {n for node in nodes for n in reads(node) if is_local(n)}

    def block(self, block: Block, alive: set[str], loops: tuple[For, ...] = ()) -> Block:
        done: list[Stmt] = []
        for s in reversed(block):
            new, alive = self.statement(s, alive, loops)
            done.insert(0, new)
        self.before = alive
        return tuple(done)

    def statement(self, s: Stmt, alive: set[str], loops: tuple[For, ...]) -> tuple[Stmt, set[str]]:
        if isinstance(s, Assign):
            targets = set(core.pattern_names(s.target))
            for filled in fills(s):
                self.check(filled, alive - targets, loops)
            if is_store(s.value):
                self.check(s, alive - targets, loops)
                self.check_method(s, alive - targets)
            elif s.in_place:
                self.check_operator(s, alive - targets)
                self.check_method(s, alive - targets)
            self.check_calls(s, s.value, alive - targets)
            return s, (alive - targets) | self.live(s.value)
        if isinstance(s, If):
            rest = alive - {m.name for m in s.merges}
            then = self.block(s.then, rest | self.live(*[m.then for m in s.merges]), loops)
            first = self.before
            orelse = self.block(s.orelse, rest | self.live(*[m.orelse for m in s.merges]), loops)
            new = replace(s, then=then, orelse=orelse)
            after = first | self.before
            self.check_calls(core.Do(ast.Expr(s.test), s.origin), s.test, after)
            return new, after | self.live(s.test)
        if isinstance(s, For | While):
            inner = (*loops, s) if isinstance(s, For) else loops
            outs = {c.out for c in s.carries}
            names = {c.name for c in s.carries}
            rest = alive - outs
            test = s.test if isinstance(s, While) else None
            end = rest | self.live(*[c.next for c in s.carries], s.until, test)
            self.block(s.body, end, inner)
            body = self.block(s.body, end | (self.before - names), inner)
            own = set(core.pattern_names(s.target)) if isinstance(s, For) else set()
            before = (self.before | rest) - names - core.assigned(s.body) - own
            items = s.items if isinstance(s, For) else None
            inits = [c.init for c in s.carries]
            return replace(s, body=body), before | self.live(*inits, items)
        if isinstance(s, With):
            body = self.block(s.body, alive, loops)
            own = {n for i in s.items if i.optional_vars is not None
                   for n in core.reads(i.optional_vars)}  # fmt: skip
            for item in s.items:
                at = core.Do(ast.Expr(item.context_expr), s.origin)
                for name in ("__enter__", "__exit__"):
                    if self.callees(called := method_of(item, name)):
                        self.check_indirect(at, called, self.before - own, known=False)
            return replace(s, body=body), self.before | self.live(
                *[i.context_expr for i in s.items]
            )
        if isinstance(s, core.Define):
            self.may_change |= core.free_of_function(s.function)
            return s, (alive - {s.name}) | core.free_of_function(s.function)
        if isinstance(s, core.Do):
            stored_in = s.node.targets if isinstance(s.node, ast.Assign) else []
            self.may_change |= {n for target in stored_in for n in reads(target)}
            self.check_calls(s, s.node, alive)
            self.check_object(s, alive)
            self.check_copies(s, alive)
            return s, alive | self.live(s.node)
        return s, alive

    def check(self, s: Assign, alive: set[str], loops: tuple[For, ...]) -> None:
        """Refuse a store that another needed name would show; mark what depends on the rank."""
        call = s.value
        assert isinstance(call, ast.Call)
        holder = call.args[0]
        if not isinstance(holder, ast.Name) or not is_local(holder.id):
            return
        mine = core.base(holder.id)
        versions = self.originals(holder.id)
        in_step: frozenset[str] = getattr(call, "through", frozenset())
        needed_now = alive
        alive = {n for n in alive if core.base(n) not in in_step or core.base(n) == mine}
        index = call.args[1] if len(call.args) > 1 else None
        for loop in loops:
            over = {n for n in held_by(loop.items) if is_local(n)}
            targets = set(core.pattern_names(loop.target))
            own = isinstance(index, ast.Name) and index.id in targets
            own = own or is_text(index) and reads_keys(loop.items)
            met = any(self.lineage.may_meet(holder.id, n) for n in over & versions)
            if met and not own and isinstance(call.func, ast.Name):
                self.refuse(
                    s,
                    f"{mine!r} is changed while a loop runs over it",
                    "Loop over a copy, or over its indices.",
                )
        shared = {n for n in alive & versions if core.base(n) != mine}
        shared = {n for n in shared if self.lineage.may_meet(holder.id, n)}
        if shared and not is_growth(call):
            other = core.base(sorted(shared)[0])
            self.refuse(
                s,
                f"{mine!r} may share its memory with {other!r}, which is read later: in NumPy this "
                "store changes both",
                f"Write `{mine} = {mine}.copy()` first, or store into {other!r} itself.",
            )
        chosen = {n for n in needed_now & versions if core.base(n) in self.chosen.get(mine, ())}
        if chosen and is_growth(call):
            other = core.base(sorted(chosen)[0])
            self.refuse(
                s,
                f"{mine!r} may be {other!r}, which is read later: in Python this changes both",
                f"Change {other!r} itself, in a branch.",
            )
        self.alive = {n for n in alive if core.base(n) != mine}
        outer = self.within(holder.id, self.later(self.holders(versions)))
        if is_growth(call):
            around = self.later(self.around(versions))
            if found := sorted({*shared, *self.within(holder.id, around)}):
                self.mark(s, "@apart", [holder.id, *found])
        elif outer:
            other = core.base(sorted(outer)[0])
            self.refuse(
                s,
                f"{mine!r} may be a part of {other!r}, which is read later: in NumPy this store "
                "changes both",
                f"Store into {other!r} itself, or write `{mine} = {mine}.copy()` first.",
            )
        further = self.around(versions) - self.holders(versions) - self.holding(versions)
        if found := self.within(holder.id, self.later(further)) if not is_growth(call) else []:
            self.mark(s, "@apart", [holder.id, *found])
        parts = self.among(self.elements, versions) | self.among(self.diagonals, versions)
        kept = set(self.later(parts)) - reads(index)
        if kept and core.is_call_of(call, "@set_item"):
            self.mark(s, "@no_views", [holder.id, *sorted(kept)])
        if found := self.later(self.holding_views(versions)):
            self.mark(s, "@apart_held", [holder.id, *found])
        if is_nested(call):
            self.refuse_copies(s, mine, call.args[1])
            self.check_nested(s, holder.id, versions)
            self.check_deep(s, holder.id, versions)
        elif core.is_call_of(call, "@stored_back"):
            self.check_part(s, holder)
            if found := self.later(self.among(self.stored, versions)):
                self.mark(s, "@no_items", [holder.id, *found])
        elif getattr(call, "changes_item", False):
            self.check_inside(s, holder.id, versions)
        if found := self.within(holder.id, self.later(self.holding({holder.id}))):
            self.mark(s, "@not_kept", found)
        self.check_places(s, needed_now)
        changed = innermost(call)
        if not in_step and self.is_of_others(holder.id):
            self.mark(s, "@own_array", [holder.id])
        elif not in_step:
            self.check_outside(s, changed)
        maybe = {r.site for r in self.pointing.of(changed) if r.view == MAYBE}
        params = {site[1] for site in maybe if isinstance(site, tuple) and site[0] == "given"}
        others = {n for n in self.alive | params if core.base(n) != mine}
        owner = getattr(call, "owner", "")
        if is_local(owner):
            others = {n for n in others if core.base(n) != core.base(owner)}
            self.check_held_once(s, changed, core.name(owner), alive)
        self.check_apart(s, changed, others, self.objects_in_step(in_step))
        if not owner:
            self.check_given(s, changed, in_step)

    def is_of_others(self, name: str) -> bool:
        """Whether a name was just given to what a container outside of the function holds."""
        value = self.values.get(name)
        while isinstance(value, ast.Subscript) and not has_slice(value.slice):
            value = value.value
            if isinstance(value, ast.Name) and not is_local(value.id):
                return True
        f = value.func if isinstance(value, ast.Call) else None
        if not (isinstance(f, ast.Attribute) and f.attr in ("get", "setdefault")):
            return False
        root = f.value
        while isinstance(root, ast.Attribute | ast.Subscript):
            root = root.value
        outside = isinstance(root, ast.Name) and not is_local(root.id)
        return outside or isinstance(f.value, ast.Attribute)

    def check_given(self, s: Assign, node: ast.expr, in_step: frozenset[str]) -> None:
        """Have it checked that no attribute of a parameter's object holds what changes.

        Not of an object that is kept in step with it.
        """
        owners = self.objects_in_step(in_step)
        whole, views = set[str](), set[str]()
        refs = self.pointing.of(node)
        for r in refs:
            if r.view != MAYBE and is_attribute_of_given(r.site):
                if owners.isdisjoint(holders_of(r.site)):
                    (whole if r.view in (WHOLE, AN_ITEM) else set()).add(given_name(r.site))
                    (views if r.view in (PART, AN_ITEM) else set()).add(given_name(r.site))
        if whole and len(refs) > 1:  # one that data chose is a copy
            self.mark_place(s, "@own_array", node, [])
        elif whole:
            self.mark_place(s, "@apart_arrays", node, sorted(whole))
        if views:
            self.mark_place(s, "@apart_held", node, sorted(views))

    def check_part(self, s: Assign, holder: ast.Name) -> None:
        """An item of a list that has a name changes: check that the list holds it once."""
        index = s.value.args[1]  # type: ignore[attr-defined]
        place = ast.Subscript(holder, index, ast.Load())
        held = any(not r.view for r in self.pointing.of(place))
        if held and not any(isinstance(n, ast.Name) and n.id == "@at" for n in ast.walk(index)):
            self.check_held_once(s, place, holder, {holder.id}, "@item_once")

    def check_places(self, s: Assign, alive: set[str]) -> None:
        """An item of a container changes: check that it is held, and known, nowhere else."""
        holder: ast.Name = s.value.args[0]  # type: ignore[attr-defined]
        self.check_items(s, s.value, holder, self.needed_beside(s, holder.id, alive))

    def check_items(
        self, s: Assign | core.Do, call: ast.expr, holder: ast.Name, alive: set[str]
    ) -> None:
        while is_store(call):
            store: ast.Call = call  # type: ignore[assignment]
            nested = is_nested(store)
            if len(store.args) < 2 or not (nested or getattr(store, "changes_item", False)):
                return
            place = ast.Subscript(store.args[0], store.args[1], ast.Load())
            held = frozenset(r for r in self.pointing.of(place) if not r.view)
            if held and not has_slice(store.args[1]):
                self.check_held_once(s, place, holder, {holder.id}, "@item_once")
                if not nested:
                    self.check_apart(s, place, alive, helper="@apart_values")
            call = store.args[2]

    def refuse_copies(self, s: Assign, holder: str, index: ast.expr) -> None:
        """Refuse `x[[0, 2]][0] = v`: what a list or a mask picks is a copy."""
        if isinstance(index, ast.Name):
            index = self.values.get(index.id, index)
        if picks_copies(index):
            self.refuse(
                s,
                f"what a list or a mask picks out of {holder!r} is a copy, so that this store is "
                "lost in NumPy",
                "Store with one index.",
            )

    def check_nested(self, s: Assign, holder: str, versions: set[str]) -> None:
        """A store into an item of `holder`: refuse it where the item has another place or name."""
        if versions & self.twice:
            self.refuse(
                s,
                f"{core.base(holder)!r} holds one object in several places: in Python this store "
                "changes them all",
                "Make a new object for each place, for instance in a comprehension.",
            )
        moved = self.among(self.stored, versions) & self.among(self.elements, versions)
        if moved or self.among(self.items, versions) & versions:  # `x[1] = x[0]`
            self.mark(s, "@no_twins", [holder])
        self.check_inside(s, holder, versions)

    def check_deep(self, s: Assign, holder: str, versions: set[str]) -> None:
        """The same for names that hold slices and copies of items: new lists, but maybe views."""
        if found := self.later(self.either_way(self.parts, versions)):
            self.mark(s, "@no_slices", [holder, *found])
        call = s.value
        assert isinstance(call, ast.Call)
        if is_nested(call.args[2]) or getattr(call, "changes_item", False):  # type: ignore
            inner = self.either_way(self.inner, versions)
            if found := self.later(inner | self.either_way(self.inner_copies, versions)):
                self.mark(s, "@no_inner_items", [holder, *found])
            if found := self.later(self.either_way(self.deep, versions)):
                self.mark(s, "@no_deep_items", [holder, *found])

    def either_way(self, table: Table, versions: set[str]) -> set[str]:
        """The names that a table relates to these."""
        return self.among(table, versions) | self.with_any(table, versions)

    def holding_views(self, versions: set[str]) -> set[str]:
        """Names that hold views of these, if these are arrays."""
        tables = (self.items, self.slices, self.parts, self.inner, self.deep)
        return set().union(*(self.with_any(table, versions) for table in tables))

    def check_inside(self, s: Assign, holder: str, versions: set[str]) -> None:
        """An item of `holder` changes: mark it where the item may be known elsewhere."""
        if found := self.later(self.among(self.stored, versions)):
            self.mark(s, "@no_parts", [holder, *found])
        of_lists = self.either_way(self.items, versions) | self.either_way(self.copies, versions)
        if found := self.later(of_lists):
            self.mark(s, "@no_items", [holder, *found])
        for owner in self.later(self.among(self.slices, versions)):
            self.mark(s, "@no_views_in", [owner, holder])

    def around(self, names: set[str]) -> set[str]:
        """Names of what holds these, at any depth, or what these were read from."""
        found: set[str] = set()
        pending = set(names)
        while pending:
            new = (self.holders(pending) | self.holding(pending)) - found
            found |= new
            pending = new
        return found

    def within(self, stored: str, names: list[str]) -> list[str]:
        """Those that may hold the object that is changed: one made since is in none of them."""
        return [n for n in names if self.lineage.may_hold(stored, n)]

    def later(self, names: set[str]) -> list[str]:
        """Names that are read later, and stand for the objects of these or of later versions."""
        return sorted(n for n in self.alive if self.originals(n) & names) if names else []

    def check_operator(self, s: Assign, alive: set[str]) -> None:
        """`x += v` changes an array itself; mark it where another name for it is needed later."""
        old = operand(s.value)
        if not isinstance(old, ast.Name):
            return
        if not is_local(old.id):
            if self.data(old.id):
                self.check_apart(s, old, alive, helper="@apart_arrays")
            return
        mine = core.base(old.id)
        versions = self.originals(old.id)
        in_step: frozenset[str] = getattr(s.value, "through", frozenset())
        alive = {n for n in alive if core.base(n) not in in_step or core.base(n) == mine}
        self.alive = {n for n in alive if core.base(n) != mine}
        found = getattr(s.value, "found", False) and is_found(self.values.get(old.id), is_local)
        if (getattr(s.value, "outside", False) or found) and not in_step:
            self.mark(s, "@unshared_values", [old.id])
        elif not in_step and self.is_of_others(old.id):
            self.mark(s, "@own_array", [old.id])
        elif not in_step:
            self.check_outside(s, old)
        self.check_given(s, old, in_step)
        views = self.among(self.elements, versions) | self.holding_views(versions)
        if kept := self.later(views | self.among(self.diagonals, versions)):
            self.mark(s, "@no_views", [old.id, *kept])
        holding = self.holding({old.id})
        shared = any(self.lineage.may_meet(old.id, n) for n in self.alive & versions)
        if shared or self.later(self.holders(versions) | holding):
            ours = isinstance(s.value, ast.BinOp)
            self.mark(s, "@unshared" if ours else "@unshared_values", [old.id])
            if not any(r.site in self.pointing.arrays for r in self.pointing.of(old)):
                return
        self.check_apart(s, old, self.alive, self.objects_in_step(in_step))

    def check_object(self, s: core.Do, alive: set[str]) -> None:
        """Refuse `o.a[i] = v` where what the object was given has a name that is read later."""
        if not isinstance(s.node, ast.Assign):
            return
        place, value = s.node.targets[0], s.node.value
        while isinstance(place, ast.Attribute | ast.Subscript):
            place = place.value
        in_place = core.is_call_of(value, "@put_item") or getattr(value, "changes_item", False)
        if not in_place or not isinstance(place, ast.Name):
            return
        self.alive = alive
        target = s.node.targets[0]
        if isinstance(target, ast.Attribute):
            old: ast.expr = ast.Attribute(target.value, target.attr, ast.Load())
            if is_store(value):
                old = innermost(value)  # type: ignore[arg-type]
            owners = one_site(self.pointing.of(target.value))
            self.check_apart(s, old, self.needed_beside(s, place.id, alive), owners)
            self.check_held_once(s, old, place, alive)
            self.check_kept_twice(s, old)
            self.check_chosen(s, old, alive)
            self.check_items(s, value, place, self.needed_beside(s, place.id, alive))
            return
        if isinstance(target, ast.Subscript) and not is_local(place.id):
            old = ast.Subscript(target.value, target.slice, ast.Load())
            self.check_apart(s, old, alive, one_site(self.pointing.of(target.value)))
            self.check_kept_twice(s, old)
            self.check_chosen(s, old, alive)
            return
        if found := self.later(self.among(self.stored, self.originals(place.id))):
            mine, other = core.base(place.id), core.base(found[0])
            self.refuse(
                s,
                f"{mine!r} was given {other!r}, which is read later: in NumPy this store may "
                "change both",
                f"Give it `{other}.copy()`.",
            )

    def check_calls(self, s: Assign | core.Do, node: ast.AST, alive: set[str]) -> None:
        """Refuse a call of a function that changes an argument which is needed later."""
        bound: dict[str, Shares] = {}
        for part in ast.walk(node):
            if isinstance(part, ast.comprehension):
                items = items_of(self.sharing.of(part.iter, bound))
                bound |= {n.id: items for n in ast.walk(part.target) if isinstance(n, ast.Name)}
        for call in ast.walk(node):
            if not isinstance(call, ast.Call):
                continue
            if getattr(call, "gives_back", False):
                self.check_given_back(s, call, alive)
                continue
            inside = {id(n) for n in ast.walk(call)}
            read = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and id(n) not in inside}
            kind = self.kind(call)
            if kind in (MAKING, UNKNOWN):
                self.may_change |= reads(call)
            elif is_deep_copy(call) and self.may_change_copy(call):
                self.mark_place(s, "@items_once", call.args[0], [])
            for function, first in self.callees(call):
                if kind != MAKING:
                    self.check_call(s, call, function, first, alive | read, bound)
                self.check_lost(s, call, function, first or int(kind == MAKING))
                if kind in (MAKING, UNKNOWN):
                    made = kind == MAKING
                    self.check_changed(s, call, function, first or made, alive | read)
            self.check_indirect(s, call, alive | read)
            self.check_globals(s, call, alive | read)

    def may_change_copy(self, call: ast.Call) -> bool:
        """Whether a deep copy, which holds one object wherever that was held, may change."""
        pointing, site = self.pointing, id(call)
        if not call.args or any(isinstance(n, ast.Call) for n in ast.walk(call.args[0])):
            return False
        if any(change.ref.site == site for change in pointing.changed):
            return True
        given = map(core.name, sorted(self.may_change))
        return site in pointing.reach(pointing.all([self.result, *given]))

    def check_method(self, s: Assign, alive: set[str]) -> None:
        """A method that has the name of one of a container: of the user's objects, another."""
        call = method_called(s.value)
        if call is not None:
            for function, first in self.callees(call):
                self.check_changed(s, call, function, first, alive)

    def check_call(
        self, s: Assign | core.Do, call: ast.Call, function: Function, first: int,
        alive: set[str], bound: dict[str, Shares],
    ) -> None:  # fmt: skip
        """One function that a call may run; its arguments start at the parameter `first`."""
        changing, operated, deep, _ = params_changed(function)
        names = {core.base(p.name): i for i, p in enumerate(function.params)}
        given = [(i + first, a) for i, a in enumerate(call.args)]
        given += [(names[k.arg], k.value) for k in call.keywords if k.arg in names]
        for place, a in given:
            self.alive = alive
            shares = {h.name for h in self.sharing.of(a, bound) if not h.inside or place in deep}
            versions = self.above(shares)
            if place not in changing | operated or not self.later(versions):
                continue
            for_effect = isinstance(s, core.Do) and getattr(s.node, "value", None) is call
            if place in changing or for_effect:
                self.refuse_change(s, call, self.later(versions)[0])
            elif isinstance(s, Assign) and isinstance(a, ast.Name) and a.id not in bound:
                self.mark(s, "@unshared", [a.id])

    def check_lost(
        self, s: Assign | core.Do, call: ast.Call, function: Function, first: int
    ) -> None:  # fmt: skip
        """A function changes its parameter as a value: check that no container of others is given.

        Unless what it returns takes its place: `self.rows = pushed(self.rows, x)`.
        """
        *_, lost = params_changed(function)
        if not lost:
            return
        names = {core.base(p.name): i for i, p in enumerate(function.params)}
        given = [(i + first, a) for i, a in enumerate(call.args)]
        given += [(names[k.arg], k.value) for k in call.keywords if k.arg in names]
        for place, a in given:
            if place in lost and is_place(a) and self.is_held_outside(a):
                if not puts_back(s, call, a):
                    self.mark_place(s, "@no_container", a, [])

    def is_held_outside(self, node: ast.expr) -> bool:
        """Whether an expression gives what a global or an object holds."""
        while isinstance(node, ast.Name | ast.Subscript):
            if isinstance(node, ast.Name):
                if not is_local(node.id):
                    return True
                if node.id not in self.values:
                    return core.base(node.id) in self.foreign
                node = self.values[node.id]
            elif has_slice(node.slice):
                return False
            else:
                node = node.value
        return isinstance(node, ast.Attribute) and node.attr not in PARTS_OF_ARRAYS


def is_place(node: ast.expr) -> bool:
    """Whether an expression only reads names, attributes and items."""
    parts = ast.Name | ast.Attribute | ast.Subscript | ast.Constant | ast.expr_context
    return all(isinstance(n, parts) for n in ast.walk(node))


def puts_back(s: Assign | core.Do, call: ast.Call, place: ast.expr) -> bool:
    """Whether a statement lets a place hold what a call has made of it."""
    node = s.node if isinstance(s, core.Do) else None
    if not isinstance(node, ast.Assign) or node.value is not call:
        return False
    return any(ast.unparse(t) == ast.unparse(place) for t in node.targets)


def arrays_in(block: Block, makes_array: Callable[[ast.expr], bool]) -> frozenset[str]:
    """The user's names that only ever name an array made here: `path = np.zeros(n)`."""
    made: set[str] = set()
    others: set[str] = set()
    for name, value in values_given(block):
        mine = core.base(name)
        if isinstance(value, ast.Call) and makes_array(value.func):
            made.add(mine)
            continue
        if value is not None and is_store(value):
            value = value.args[0]  # type: ignore[attr-defined]
        if not (isinstance(value, ast.Name) and is_local(value.id) and core.base(value.id) == mine):
            others.add(mine)
    return frozenset(made - others)


def values_given(block: Block) -> Iterator[tuple[str, ast.expr | None]]:
    """Each name that is set, with its value; None for a part of one."""
    for s in block:
        if isinstance(s, Assign):
            if isinstance(s.target, str):
                yield s.target, s.value
            else:
                yield from ((n, None) for n in core.pattern_names(s.target))
        elif isinstance(s, If):
            yield from values_given(s.then)
            yield from values_given(s.orelse)
            for m in s.merges:
                yield m.name, m.then
                yield m.name, m.orelse
        elif isinstance(s, For | While):
            yield from values_given(s.body)
            for c in s.carries:
                yield c.name, c.init
                yield c.name, c.next
                yield c.out, core.name(c.name)
            if isinstance(s, For):
                yield from ((n, None) for n in core.pattern_names(s.target))
        elif isinstance(s, With):
            yield from values_given(s.body)


def operand(value: ast.expr) -> ast.expr:
    """What an operator such as `+=` changes; `@in_place(x, "+", v)` asks x for its method."""
    assert isinstance(value, ast.BinOp | ast.Call)
    return value.left if isinstance(value, ast.BinOp) else value.args[0]


def params_changed(function: Function) -> tuple[set[int], set[int], set[int], set[int]]:
    """Positions of parameters that a function stores into, and that it changes by operators.

    And of those into whose items it stores; and of those whose containers stay as they were.
    """
    places = {p.name: i for i, p in enumerate(function.params)}
    found: tuple[set[int], ...] = set(), set(), set(), set()
    roots = {p: {p} for p in places}
    sharing = Sharing()
    for s in core.walk(function.body):
        if isinstance(s, Assign):
            changes = s.in_place or is_store(s.value)
            first = operand(s.value) if s.in_place else s.value.args[0] if changes else s.value  # type: ignore
            shares = [h for h in sharing.of(first) if not h.inside]
            if s.in_place:
                shares = [h for h in shares if h.kind != ITEM]  # perhaps a number
            from_params = set().union(*(roots.get(h.name, set()) for h in shares), set())
            if changes:
                found[s.in_place].update(places[p] for p in from_params)
                if not s.in_place and not core.is_call_of(s.value, "@stored_in", "@put_item"):
                    found[3].update(places[p] for p in from_params)
                nested = not s.in_place and is_nested(s.value)  # type: ignore[arg-type]
                if nested or any(h.kind == ITEM for h in shares):
                    found[2].update(places[p] for p in from_params)
            for filled in fills(s):
                holder = filled.value.args[0].id  # type: ignore[attr-defined]
                found[0].update(places[p] for p in roots.get(holder, ()))
                found[3].update(places[p] for p in roots.get(holder, ()))
            for n in core.pattern_names(s.target):
                roots[n] = from_params
        elif isinstance(s, If):
            for m in s.merges:
                both = [roots.get(n, set()) for n in (*reads(m.then), *reads(m.orelse))]
                roots[m.name] = set().union(*both, set())
        elif isinstance(s, For | While):
            for c in s.carries:
                roots[c.name] = set().union(*(roots.get(n, set()) for n in reads(c.init)), set())
                roots[c.out] = roots[c.name]
            if isinstance(s, For):
                shares = list(sharing.of(s.items))
                for n in core.pattern_names(s.target):
                    roots[n] = set().union(*(roots.get(h.name, set()) for h in shares), set())
    return found  # type: ignore[return-value]


def is_text(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def reads_keys(items: ast.expr) -> bool:
    """Whether a loop over a dictionary reads its keys alone."""
    return not any(isinstance(n, ast.Attribute) for n in ast.walk(items))


def held_by(node: ast.expr) -> set[str]:
    """Names whose objects an expression passes on inside its value."""
    if isinstance(node, ast.Name):
        return {node.id} if is_local(node.id) else set()
    if isinstance(node, ast.Tuple | ast.List):
        return set().union(*map(held_by, node.elts), set())
    if isinstance(node, ast.Dict):
        return set().union(*map(held_by, node.values), set())
    if isinstance(node, ast.Starred):
        return held_by(node.value)
    if isinstance(node, ast.Call):
        f = node.func
        name = f.id if isinstance(f, ast.Name) else f.attr if isinstance(f, ast.Attribute) else ""
        if name in ("zip", "enumerate", "reversed", "list", "tuple"):
            return set().union(*map(held_by, node.args), set())
        if name in ("items", "values") and isinstance(f, ast.Attribute):
            return held_by(f.value)
    return set()
