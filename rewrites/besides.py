"""Besides: what else stands for an object that changes, where the text does not tell for certain.

    o = Box(a)
    apart_arrays(o.item, a)     # raises if it is `a`, which is read later
    o.item[0] = 5.0

What two names may stand for is known from `pointing`; whether it is one object, the running code
sees.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

from overt.rewrites import core, memory
from overt.rewrites.core import Assign, Function, is_local
from overt.rewrites.lineage import Lineage
from overt.rewrites.members import fields_of_tuples
from overt.rewrites.pointing import Pointing, given_name, summary_of
from overt.rewrites.refusal import Refusal
from overt.rewrites.relations import Load, Memo, Relations
from overt.rewrites.scopes import CHANGING
from overt.rewrites.sharing import is_store
from overt.rewrites.sites import (
    CHANGES,
    ITEM,
    MAYBE,
    NOTHING,
    PART,
    UNKNOWN,
    WHOLE,
    Known,
    Ref,
    Summary,
    is_given,
)

Functions = Callable[[ast.expr], list[tuple[Function, int]]]
Kind = Callable[[ast.Call], str]
Data = Callable[[str], str]
# The functions that a method or a member of a module may be, and their first parameters to give.
Methods = Callable[[ast.Attribute], list[tuple[Function, int]]]

# Objects of called functions that are looked at; more are refused.
MOST_STEPS = 100_000
# What those share that look at one function and at what it calls.
SHARED = (
    "methods", "kind_of", "functions_of", "data_of", "file", "summaries", "summarized", "steps",
    "open", "met_again",
)  # fmt: skip

# Calls that give the object back that they change.
STORING = ("@set_item", "@in_place", "@appended", "@changed")


class Besides(Relations, Known):
    """Checks, before a change, of what is read later."""

    def __init__(
        self, function: Function, arrays: frozenset[str] = frozenset(), load: Load | None = None,
        memo: Memo | None = None,
    ) -> None:  # fmt: skip
        self.checks: dict[str, list[core.Do]] = {}  # by the name that a store sets
        self.lineage = Lineage(function.body)
        self.methods: Methods = lambda node: []
        self.kind_of: Kind = lambda call: UNKNOWN
        self.functions_of: Functions = lambda node: []
        self.data_of: Data = lambda name: ""
        self.file = function.origin.file
        self.body = function.body
        branches = [s for s in core.walk(self.body) if isinstance(s, core.If)]
        self.merged = {m.name for branch in branches for m in branch.merges}
        self.foreign = function.foreign
        self.known_pointing: Pointing | None = None
        self.summaries: dict[int, Summary] = {}  # by the identity of functions
        self.summarized: list[Function] = []
        self.open: list[int] = []  # the identities of functions that are being looked at
        self.met_again: set[int] = set()  # of those of them that what they call calls
        self.steps = [MOST_STEPS]
        super().__init__(function.body, arrays, load, memo=memo)

    @property
    def pointing(self) -> Pointing:
        if self.known_pointing is None:
            self.known_pointing = Pointing(self.body, self)
        return self.known_pointing

    def summary(self, function: Function) -> Summary:
        """What a call of a known function does; nothing of one that is being looked at."""
        if id(function) in self.open:
            self.met_again.add(id(function))
        if id(function) not in self.summaries:
            self.summarized.append(function)  # lest another one be made in its place
            self.summaries[id(function)] = self.known_summary(function) or self.summed_up(function)
        return self.summaries[id(function)]

    def known_summary(self, function: Function) -> Summary | None:
        """What the same rewriting found out of a function of the module."""
        space = getattr(self.load, "space", None)
        return memory.known("summary", function, space) if space is not None else None

    def summed_up(self, function: Function) -> Summary:
        self.summaries[id(function)] = Summary()
        inner = Besides(function, frozenset(), self.load, self.memo)
        for name in SHARED:
            setattr(inner, name, getattr(self, name))
        inner.nested = {**self.nested, **inner.nested}
        if function.origin.file != self.file:  # its names may mean something else
            inner.data_of = lambda name: ""
        elif not any(function is f for f in self.nested.values()):
            inner.data_of = without_own(self.data_of, function)
        self.open.append(id(function))
        found = summary_of(function, inner)
        if id(function) in self.met_again:  # what its own calls do, too
            self.summaries[id(function)] = found
            found = summary_of(function, inner)
        self.open.pop()
        space = getattr(self.load, "space", None)
        own = any(function is f for f in self.nested.values())
        if space is not None and not own and not self.met_again and self.steps[0] >= 0:
            memory.keep("summary", function, space, answer=found)
        self.met_again.discard(id(function))
        return found

    @functools.cached_property
    def carried(self) -> dict[str, ast.expr]:
        """What the variables of loops are before these, inside and after them."""
        loops = [s for s in core.walk(self.body) if isinstance(s, core.For | core.While)]
        return {n: c.init for s in loops for c in s.carries for n in (c.name, c.out)}

    @functools.cached_property
    def fields_of_tuples(self) -> set[str]:
        return fields_of_tuples(getattr(self.load, "space", {}))

    def kind(self, call: ast.Call) -> str:
        return self.kind_of(call)

    def functions(self, node: ast.expr) -> list[tuple[Function, int]]:
        return self.functions_of(node)

    def data(self, name: str) -> str:
        return self.data_of(name)

    def callees(self, call: ast.Call) -> list[tuple[Function, int]]:
        """The functions that a call may run, as far as their text is known."""
        if isinstance(call.func, ast.Name):
            function = self.called(call)
            if function is None and self.load is not None and not is_local(call.func.id):
                init = self.load(f"{call.func.id}.__init__")
                return [(init, 1)] if init is not None and not calls_init(init) else []
            return [(function, 0)] if function is not None else []
        if not isinstance(call.func, ast.Attribute):
            return []
        own = self.own_method(call.func)
        of_others = call.func.attr in ("__enter__", "__exit__") or hasattr(call, "alike")
        if own is None and of_others:
            return []  # most managers, lists and arrays are those of libraries
        return [(own, 1)] if own is not None else self.methods(call.func)

    def own_method(self, node: ast.Attribute) -> Function | None:
        """The method of an object that has just been made: `car = Car(x)`, `car.step()`."""
        value = node.value
        while True:
            if isinstance(value, ast.Name) and value.id in self.values:
                value = self.values[value.id]
            elif isinstance(value, ast.Name) and value.id in self.carried:
                value = self.carried[value.id]
            elif isinstance(value, ast.Call) and core.is_call_of(value, *STORING):
                value = value.args[0]
            else:
                break
        if not (isinstance(value, ast.Call) and isinstance(value.func, ast.Name)):
            return None
        kind = value.func.id
        if self.load is None or is_local(kind) or kind.startswith("@"):
            return None
        return self.load(f"{kind}.{node.attr}")

    def objects_in_step(self, in_step: frozenset[str]) -> set[Any]:
        """The objects of which an attribute is kept in step with what is changed."""
        names = {n.rstrip(".") for n in in_step if n.endswith(".")}
        points = self.pointing.points.items()
        mine = [refs for n, refs in points if core.base(n) in names]
        given = [p for p in self.pointing.given if core.base(p) in names]
        return {r.site for refs in mine for r in refs} | {("given", p) for p in given}

    def check_apart(
        self, s: Assign | core.Do, place: ast.expr, alive: set[str],
        without: Collection[Any] = (), items: bool = False, helper: str = "",
    ) -> None:  # fmt: skip
        """Have it checked before an object changes that no name read later stands for it, too."""
        pointing = self.pointing
        refs = pointing.of(place)
        alive = self.captured(alive - indices_of(getattr(s, "value", None)), place)
        if items:
            found = pointing.reach(pointing.items(refs))
            refs = frozenset(Ref(site, view) for site, view in found.items())
        if not refs:
            return
        noted = {
            n.id for c in self.checks.get(key_of(s), ()) for n in ast.walk(c.node)
            if isinstance(n, ast.Name) and not helper
        }  # fmt: skip
        whole: list[str] = []
        viewed: list[str] = []
        inside: list[str] = []  # names of what may hold a view
        if isinstance(place, ast.Name):
            may = self.lineage.may_hold if items else self.may_be_one
            alive = {n for n in alive if may(place.id, n)}
        for n in sorted(alive - noted - pointing.bound):
            reach = pointing.reach(pointing.of(core.name(n)), without, pointing.times.get(id(s)))
            met = [r for r in refs if r.site in reach]
            kinds = [{r.view, reach[r.site]} for r in met]
            if any(not k & {PART, ITEM} for k in kinds):
                whole.append(n)
            if any(k & {PART, ITEM} for k in kinds):
                own = {r.site for r in pointing.of(core.name(n))}
                (viewed if any(r.site in own for r in met) else inside).append(n)
        in_place = isinstance(place, ast.Attribute | ast.Subscript) or core.is_call_of(
            getattr(s, "value", place), "@put_item", "@stored_in"
        )
        if whole:
            made = any(r.site in pointing.arrays for r in refs)
            if not helper:
                helper = "@apart_items" if items else "@apart_arrays" if in_place else "@apart"
                if isinstance(s, Assign) and s.in_place and not made:
                    helper = "@apart_values"
                elif helper == "@apart" and is_users_call(getattr(s, "value", None)):
                    helper = "@apart_containers"
            self.mark_place(s, helper, place, whole, made)
        if viewed and (not items or helper == "@apart_arrays_in"):
            self.mark_place(s, "@apart_views_in" if items else "@apart_views", place, viewed)
        if inside and not items:
            self.mark_place(s, "@apart_held", place, inside)

    def may_be_one(self, changed: str, other: str) -> bool:
        """Whether a name may stand for what another one does, or hold it."""
        if not self.lineage.may_hold(changed, other):
            return False
        if self.lineage.may_meet(changed, other, by_parts=True):
            return True
        pointing = self.pointing
        places = [pointing.held.get(r.site, {}) for r in pointing.of(core.name(other))]
        held = pointing.reach(r for place in places for refs in place.values() for r in refs)
        return any(r.site in held for r in pointing.of(core.name(changed)))

    def captured(self, alive: set[str], place: ast.expr) -> set[str]:
        """Names, nested functions replaced by what they read."""
        found, pending = set(), list(alive)
        while pending:
            n = pending.pop()
            if n in found:
                continue
            found.add(n)
            if n in self.nested:
                pending += core.free_of_function(self.nested[n])
        roots = {core.base(n) for n in core.reads(place)}
        new = {n for n in found - alive if core.base(n) not in roots}
        return new | (alive - self.nested.keys())

    def check_held_once(
        self, s: Assign | core.Do, changed: ast.expr, root: ast.Name, alive: set[str],
        helper: str = "@held_once",
    ) -> None:  # fmt: skip
        """Have it checked that an object which is read later holds what changes in one place."""
        base = core.base(root.id)
        if not any(core.base(n) == base for n in alive):
            return
        refs = self.pointing.of(root)
        sites = {r.site for r in self.pointing.of(changed)} - {r.site for r in refs}
        if helper == "@held_once":
            if any(is_given(r.site) for r in refs):
                return
            sites = {site for site in sites if not is_given(site)}
        if sites and self.pointing.places_of(sites, refs) > 1:
            if all(map(global_of, sites)):  # their lists change where they are
                helper = "@held_once"
            made = not sites.isdisjoint(self.pointing.arrays)
            self.mark_place(s, helper, changed, [root.id], made)

    def needed_beside(self, s: Assign | core.Do, name: str, alive: set[str]) -> set[str]:
        """Names read later, but neither this one nor those kept in step with what is changed."""
        value = getattr(s, "value", None) or getattr(s.node, "value", None)  # type: ignore
        in_step: frozenset[str] = getattr(value, "through", frozenset())
        return {n for n in alive if core.base(n) not in in_step | {core.base(name)}}

    def check_changed(
        self, s: Assign | core.Do, call: ast.Call, function: Function, first: int, alive: set[str]
    ) -> None:
        """What a function changes of its arguments, and of what they hold."""
        for place, items, surely in self.places_changed(call, function, first):
            root = root_of(place) if place is not None else ""
            if place is None or not root or not is_local(root) or root in self.pointing.bound:
                continue
            if isinstance(place, ast.Name) and not items:
                if any(core.base(n) == core.base(root) for n in alive):
                    if surely:
                        self.refuse_change(s, call, root)
                    self.mark_place(s, "@unshared_parts", place, [root])
            owners: set[Any] = set()
            if isinstance(place, ast.Attribute):
                owners = one_site(self.pointing.of(place.value))
                depth = isinstance(place.value, ast.Attribute)
                place.unsure = depth or len(self.callees(call)) > 1  # type: ignore[attr-defined]
                self.check_held_once(s, place, core.name(root), alive)
                needed = any(core.base(n) == core.base(root) for n in alive)
                if needed and not depth and place.attr in self.fields_of_tuples:
                    self.mark_place(s, "@not_of_tuple", place, [root])
            self.check_apart(s, place, self.needed_beside(s, root, alive), owners, items)

    def check_given_back(self, s: Assign | core.Do, call: ast.Call, alive: set[str]) -> None:
        """What a function that gives back what it changes may change of what that holds."""
        for function, first in self.callees(call):
            for place, items, _ in self.places_changed(call, function, first):
                root = root_of(place) if place is not None else ""
                if place is None or not is_local(root) or not items:
                    continue
                beside = self.needed_beside(s, root, alive)
                self.check_apart(s, place, beside, (), items, "@apart_items")
                views = {n for n in alive - beside if core.base(n) != core.base(root)}
                self.check_apart(s, place, views, (), items, "@apart_inside")
                refs = self.pointing.of(place)
                sites = {r.site for r in self.pointing.items(refs) if not r.view}
                if sites and self.pointing.places_of(sites, refs) > 1:
                    self.mark_place(s, "@items_once", place, [])

    def has_places(self, call: ast.Call) -> bool:
        """Whether all that a call changes can be written as an expression."""
        return all(
            place is not None and is_path(place) and root_of(place) not in self.pointing.bound
            for function, first in self.callees(call)
            for place, _, _ in self.places_changed(call, function, first)
        )

    def places_changed(
        self, call: ast.Call, function: Function, first: int
    ) -> list[tuple[ast.expr | None, bool, bool]]:
        """What a function changes of its arguments, as expressions of the caller's.

        And whether of their items; whether surely, or only of arrays.
        """
        summary = self.summary(function)
        given = list(call.args)
        if first:
            receiver = call.func.value if isinstance(call.func, ast.Attribute) else None
            given = [receiver or ast.Constant(None), *given]
        plain = [p.name for p in summary.params if p.kind in ("positional", "normal")]
        args = dict(zip(plain, given, strict=False))
        names = {core.base(p.name): p.name for p in summary.params}
        args |= {names[k.arg]: k.value for k in call.keywords if k.arg in names}
        found = []
        for (site, _), surely in sorted(summary.changed.items(), key=repr):
            if not global_of(site):
                found.append((*place_of(site, args), surely))
        return found

    def check_kept_twice(self, s: Assign | core.Do, place: ast.expr) -> None:
        """An array of a variable of the module changes, which the function has put elsewhere."""
        sites = {r.site for r in self.pointing.of(place) if global_of(r.site)}
        holders = {global_of(holder) for holder, site in self.pointing.since if site in sites}
        own = {global_of(site) for site in sites}
        for name in sorted(holders - {""}):
            self.mark_place(s, "@held_once" if name in own else "@apart_arrays", place, [name])

    def check_copies(self, s: core.Do, alive: set[str]) -> None:
        """A container of others changes: what data chose among such in a program is a copy."""
        node = s.node.value if isinstance(s.node, ast.Expr) else s.node
        places: list[ast.expr] = []
        if isinstance(node, ast.Assign | ast.Delete):
            places = [t.value for t in node.targets if isinstance(t, ast.Subscript)]
            if isinstance(node, ast.Assign) and is_store(node.value):
                places.append(innermost(node.value))  # type: ignore[arg-type]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            places = [node.func.value] if node.func.attr in CHANGING else []
        for place in places:
            sites = {r.site for r in self.pointing.of(place) if global_of(r.site)}
            meant = {
                n for n in alive if any(r.site in sites for r in self.pointing.of(core.name(n)))
            }
            if names := sorted(filter(self.is_chosen, meant)):
                self.mark_place(s, "@no_copies", place, names)

    def check_chosen(self, s: Assign | core.Do, place: ast.expr, alive: set[str]) -> None:
        """The same of an array of a variable of the module."""
        sites = {r.site for r in self.pointing.of(place) if global_of(r.site)}
        whole = {Ref(site) for site in sites}
        meant = {n for n in alive if not whole.isdisjoint(self.pointing.of(core.name(n)))}
        if names := sorted(filter(self.is_chosen, meant)):
            self.mark_place(s, "@not_chosen", place, names)

    def is_chosen(self, name: str) -> bool:
        """Whether data may have chosen what a name stands for."""
        value: ast.expr | None = core.name(name)
        while isinstance(value, ast.Name | ast.Attribute | ast.Subscript):
            if isinstance(value, ast.Name):
                if not is_local(value.id):
                    return False
                value = self.values.get(value.id)
            elif isinstance(value, ast.Subscript) and not isinstance(value.slice, ast.Constant):
                return True
            else:
                value = value.value
        return value is None or isinstance(value, ast.IfExp)

    def check_outside(self, s: Assign | core.Do, place: ast.expr) -> None:
        """What changes may be an array that a variable of the module holds."""
        refs = self.pointing.of(place)
        for views, helper in (((WHOLE, MAYBE), "@apart_arrays"), ((PART, ITEM), "@apart_views")):
            names = {global_of(r.site) for r in refs if r.view in views} - {""}
            if names:
                self.mark_place(s, helper, place, sorted(names))
                name = getattr(place, "id", "")
                merged = name in self.merged or isinstance(self.values.get(name), ast.IfExp)
                if merged and helper == "@apart_arrays":
                    self.mark_place(s, "@not_one_of", place, sorted(names))

    def check_globals(self, s: Assign | core.Do, call: ast.Call, alive: set[str]) -> None:
        """A function changes arrays that variables of the module hold."""
        if isinstance(call.func, ast.Name) and call.func.id.startswith("@"):
            return
        if self.kind(call) == CHANGES and call.args:
            self.check_outside(s, call.args[0])
            return
        if not any(global_of(change.ref.site) for change in self.pointing.changed):
            return
        changes = {c.ref.site: c.owners for c in self.pointing.changes_of(call)}
        for site, owners in sorted(changes.items(), key=repr):
            if name := global_of(site):
                place, items = place_of(site, {name: core.name(name)})
                assert place is not None
                if items:
                    self.check_apart(s, place, alive, (), items, "@apart_arrays_in")
                else:
                    self.check_apart(s, place, alive, owners, helper="@apart_arrays")

    def check_indirect(
        self, s: Assign | core.Do, call: ast.Call, alive: set[str], known: bool = True
    ) -> None:
        """A call of functions that are known by what holds them; or given to another function.

        `known`: what it surely changes is refused at once, and not by the running code.
        """
        given = [*call.args, *(k.value for k in call.keywords)]
        if isinstance(call.func, ast.Name) and call.func.id.startswith("@"):
            return
        values = NOTHING.union(*map(self.pointing.of, given))
        callable_sites = self.pointing.functions.keys() | self.pointing.partials
        handed_on = any(r.site in callable_sites for r in values)
        if self.callees(call) and not handed_on and self.has_places(call):
            return
        in_place = self.changed_in_place()
        changed = self.pointing.changes_of(call)
        changed = {
            c: surely for c, surely in changed.items()
            if c.ref.site not in in_place and not global_of(c.ref.site)
        }  # fmt: skip
        for n in sorted(alive - self.pointing.bound if changed else ()):
            refs = self.pointing.of(core.name(n))
            whole = False
            met = False
            for change, surely in changed.items():
                reach = self.pointing.reach(refs, change.owners)
                r = change.ref
                if r.site not in reach or MAYBE in (r.view, reach[r.site]):
                    continue
                met = True
                whole = whole or r.view < ITEM and reach[r.site] < ITEM
                if surely and known and r.view < ITEM:
                    self.refuse_change(s, call, n)
            if met and whole and given and all(map(is_item, given)):
                for item in given:  # an array of numbers is not changed by what happens to one
                    if isinstance(item, ast.Subscript):
                        self.mark_place(s, "@unshared_item", item, [])
            elif met:
                self.mark_place(s, "@unshared_parts", core.name(n), [n] if whole else [])

    def changed_in_place(self) -> set[Any]:
        """The containers, surely no arrays, that nested functions have from around them.

        Who changes such a one changes it where it stands, unless functions change parameters, too.
        """
        found: set[Any] = set()
        for function, _ in list(self.pointing.functions.values()):
            own = {("given", p.name) for p in function.params}
            if any(r.site in own for r in self.summary(function).changed):
                return set()
            for n in core.free_of_function(function):
                refs = self.pointing.of(core.name(n))
                if all(r.site in self.pointing.containers and not r.view for r in refs):
                    found |= {r.site for r in refs}
        return found

    def refuse_change(self, s: Assign | core.Do, call: ast.Call, other: str) -> None:
        if core.base(other) in self.foreign:  # it is changed where it stands
            return
        f = call.func
        name = f.attr if isinstance(f, ast.Attribute) else core.base(ast.unparse(f))
        self.refuse(
            s,
            f"the function {name!r} changes its argument, and {core.base(other)!r} is read later",
            "Return the changed value from the function and use that.",
        )

    def mark(self, s: Assign, helper: str, names: list[str]) -> None:
        """Have a check run before a store."""
        checked = ast.Expr(ast.Call(core.name(helper), [core.name(n) for n in names], []))
        check = core.Do(checked, replace(s.origin, comment="", above=()))
        found = self.checks.setdefault(list(core.pattern_names(s.target))[-1], [])
        if all(ast.dump(check.node) != ast.dump(other.node) for other in found):
            found.append(check)

    def mark_place(
        self, s: Assign | core.Do, helper: str, place: ast.expr, names: list[str],
        made: bool = False,
    ) -> None:  # fmt: skip
        """Have a check run before a statement that changes what an expression gives.

        What NumPy has made is an array if it has no axes, too: `made`.
        """
        checks = ast.Call(core.name(helper), [looked_up(place), *map(core.name, names)], [])
        if isinstance(place, ast.Attribute | ast.Subscript) and helper.startswith("@apart"):
            beside = place.value
            if isinstance(beside, ast.Attribute) and hasattr(place, "unsure"):
                beside.unsure = place.unsure  # type: ignore[attr-defined]
            checks.keywords = [ast.keyword("beside", looked_up(beside))]
        if made and helper in ("@apart_arrays", "@held_once"):
            checks.keywords.append(ast.keyword("made", ast.Constant(True)))
        checked = ast.Expr(checks)
        check = core.Do(checked, replace(s.origin, comment="", above=()))
        found = self.checks.setdefault(key_of(s), [])
        if all(ast.dump(check.node) != ast.dump(other.node) for other in found):
            found.append(check)

    def refuse(self, s: Assign | core.Do, reason: str, way_out: str) -> None:
        node = ast.Pass()
        node.lineno = s.origin.line
        refusal = Refusal(reason, way_out, node)
        raise refusal.located(s.origin.file, s.origin.line, s.origin.text)


def without_own(data: Data, function: Function) -> Data:
    """What names outside of a function bring; not those that it shares with nested functions."""
    nested = [s.function for s in core.walk(function.body) if isinstance(s, core.Define)]
    names = {n for f in (function, *nested) for n in f.cells}
    nodes = [s.node for s in core.walk(function.body) if isinstance(s, core.Do)]
    own = names - {n for x in nodes if isinstance(x, ast.Global | ast.Nonlocal) for n in x.names}
    return lambda name: "" if name in own else data(name)


def key_of(s: Assign | core.Do) -> str:
    """Under what the checks before a statement are noted."""
    return of_effect(s) if isinstance(s, core.Do) else list(core.pattern_names(s.target))[-1]


def of_effect(s: core.Do) -> str:
    return f"{ast.dump(s.node)}:{s.origin.line}"


def indices_of(store: ast.expr | None) -> set[str]:
    """The names by which a store finds its place: no part of what it stores into."""
    found: set[str] = set()
    while store is not None and is_store(store) and len(store.args) > 2:  # type: ignore[attr-defined]
        found |= core.reads(store.args[1])  # type: ignore[attr-defined]
        store = store.args[2]  # type: ignore[attr-defined]
    return found


def innermost(call: ast.Call) -> ast.expr:
    """What a store changes: of `x[i][j] = v` the item `x[i]`."""
    while is_nested(call):
        call = call.args[2]  # type: ignore[assignment]
    return call.args[0]


def place_of(site: Any, args: dict[str, ast.expr]) -> tuple[ast.expr | None, bool]:
    """A parameter's object, or one that it holds, as an expression of the caller's.

    And whether it is one of the items of what the expression gives.
    """
    if site[0] == "given":
        return args.get(site[1]), False
    place, items = place_of(site[1], args)
    if place is None or items or not site[2]:
        return place, True
    return ast.Attribute(place, site[2], ast.Load()), False


def calls_init(function: Function) -> bool:
    """Whether an `__init__` calls that of another class."""
    nodes = (n for s in core.walk(function.body) if isinstance(s, core.Do)
             for n in ast.walk(s.node))  # fmt: skip
    return any(isinstance(n, ast.Attribute) and n.attr == "__init__" for n in nodes)


def one_site(refs: frozenset[Ref]) -> set[Any]:
    """The object that is meant, if it is sure which."""
    return {r.site for r in refs} if len(refs) == 1 else set()


def looked_up(place: ast.expr) -> ast.expr:
    """A place as an expression; one that is not there, as data or the class of an object decides,
    is None."""
    if not getattr(place, "unsure", False):
        return place
    names: list[ast.expr] = []
    while isinstance(place, ast.Attribute):
        names.insert(0, core.constant(place.attr))
        place = place.value
    return ast.Call(core.name("@held_at"), [place, *names], [])


def root_of(node: ast.expr) -> str:
    """The name that an expression reads first; none of anything but attributes."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def global_of(site: Any) -> str:
    """The variable of the module whose object a site is, or is in; "" for none."""
    if not is_given(site) or is_local(name := given_name(site)):
        return ""
    return name


def is_path(node: ast.expr) -> bool:
    """Whether an expression only reads attributes of a name."""
    return bool(root_of(node))


def is_users_call(node: ast.AST | None) -> bool:
    """Whether a function of the user's is called by its name."""
    return isinstance(node, ast.Call) and not core.base(getattr(node.func, "id", "@")).startswith(
        "@"
    )


def is_deep_copy(call: ast.Call) -> bool:
    """Whether a call is of `copy.deepcopy`."""
    return "deepcopy" in (getattr(call.func, "id", ""), getattr(call.func, "attr", ""))


def is_item(node: ast.expr) -> bool:
    """Whether an expression reads one item of a name, by a name or a number; or is a number."""
    if not isinstance(node, ast.Subscript):
        return isinstance(node, ast.Constant)
    simple = isinstance(node.slice, ast.Name | ast.Constant)
    return isinstance(node.value, ast.Name) and simple


def is_nested(call: ast.Call) -> bool:
    """Whether a store goes into an item of the holder, not into a place of its own."""
    return len(call.args) > 2 and is_store(call.args[2])
