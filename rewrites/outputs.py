"""Arguments that a call writes into, as values that it gives back.

    fill(buf, k, v)                  _, buf = fill_changed(buf, k, v)

`fill_changed` is `fill` with the arguments that it stores into returned beside its result.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator

from overt.rewrites import core, memory
from overt.rewrites.calls_apart import CallsApart
from overt.rewrites.in_place import InPlace, Known, copy_in_place, with_copies
from overt.rewrites.numpy_stores import NumpyStores, Resolve, everything_stored
from overt.rewrites.refusal import Refusal
from overt.rewrites.scopes import NESTED, is_not_in_place, new_name, own_nodes, yields
from overt.rewrites.shared_defaults import changed_defaults
from overt.rewrites.viewed import (
    changed_roots,
    has_slice,
    helper,
    is_name,
    kinds_of,
    loaded,
    returned_expression,
    viewed_holder,
)
from overt.rewrites.views import (
    Definition,
    assigned_names,
    located,
    operated_names,
    placed,
    stored_names,
)

Variant = tuple[str, list[int], list[int]]  # its name, what it changes, what only if arrays
BLOCKS = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.FunctionDef)


def outputs_returned(
    body: list[ast.stmt], local: set[str], taken: set[str], definition: Definition,
    foreign: set[str], known: dict[tuple[str, bool], Variant | None], resolve: Resolve,
    outside: Callable[[ast.expr], bool], in_place: Known,
) -> list[ast.stmt]:  # fmt: skip
    """The body of a function in which every call gives back what it writes into.

    `foreign` are names of containers that others hold too; `known` the functions around this one
    that give back what they change, `in_place` those that change it where it stands; `resolve`
    gives what names outside mean, `outside` whether others may hold what an expression gives.
    """
    work = Outputs(local, taken, definition, resolve)
    work.foreign = foreign
    work.known.update(known)
    work.in_place.update(in_place)
    work.given_by_others = outside
    work.made = kinds_of(body).made
    work.apart = CallsApart(body, work.changed_by, work.fresh)
    for s in body:
        work.find(s)
    made = [*with_copies(work.block(body), work.beside)]
    variants = {v[0]: f for (f, _), v in work.known.items() if v is not None}
    return used([*work.copies, *made], variants)


class Outputs(NumpyStores):
    """One function: which callees write into their arguments."""

    def __init__(
        self, local: set[str], taken: set[str], definition: Definition, resolve: Resolve
    ) -> None:
        super().__init__(local, definition, resolve)
        self.taken = taken
        self.foreign: set[str] = set()
        self.made: set[str] = set()  # names of what surely are arrays
        self.effects: set[str] = set()  # names of functions that surely change what they are given
        self.apart = CallsApart([], self.changed_by, self.fresh)
        self.copies: list[ast.stmt] = []
        self.known: dict[tuple[str, bool], Variant | None] = {}
        self.in_place: Known = {}
        self.given_by_others: Callable[[ast.expr], bool] = lambda node: False
        self.beside: dict[str, list[ast.FunctionDef]] = {}  # those of functions nested here
        self.open: list[str] = []  # functions that are being looked at
        self.met_again: set[str] = set()  # those of them that what they call calls

    def find(self, s: ast.stmt) -> None:
        for n in own_nodes(s) if not isinstance(s, ast.FunctionDef) else [s]:
            if isinstance(n, ast.FunctionDef):
                self.nested[n.name] = n
            elif isinstance(n, ast.Expr) and isinstance(n.value, ast.Call):
                if isinstance(n.value.func, ast.Name):
                    self.effects.add(n.value.func.id)
            elif isinstance(n, ast.Call) and isinstance(n.func, ast.Name):
                if any(isinstance(a, ast.Name) for a in n.args):
                    self.effects.add(n.func.id)

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        done: list[ast.stmt] = []
        inside = InPlace(self.outside_places, self.kept_in_place)
        for s in body:
            before, s = self.apart.statement(inside.in_head(s))
            done += self.block(before)
            if isinstance(s, ast.If | ast.For | ast.While | ast.With | ast.Try):
                s = copy.copy(s)
                if isinstance(s, ast.For | ast.While):
                    self.apart.loops.append(s)
                for field in ("body", "orelse", "finalbody"):
                    if getattr(s, field, None):
                        setattr(s, field, self.block(getattr(s, field)))
                if isinstance(s, ast.For | ast.While):
                    self.apart.loops.pop()
                done.append(s)
            else:
                done += self.statement(s)
        return done

    def statement(self, s: ast.stmt) -> list[ast.stmt]:
        if isinstance(s, ast.FunctionDef):
            kinds = (False, True) if s.name in self.effects else (False,)
            found = {v[0]: v for effect in kinds if (v := self.variant(s.name, effect))}
            return [s, *(changed_copy(s, v, self.known) for v in found.values())]
        value = s.value if isinstance(s, ast.Expr | ast.Assign | ast.Return) else None
        if not isinstance(value, ast.Call) or isinstance(s, ast.Assign) and len(s.targets) > 1:
            return [s]
        if (out := self.out_of(value)) is not None:
            return self.out_argument(s, value, out)
        if isinstance(s, ast.Return):
            return [s]
        if isinstance(s, ast.Expr) and (changed := self.changing_call(value)) is not None:
            place, call = changed
            if isinstance(place, ast.Name) and (
                is_not_in_place(call) or core.is_call_of(call, "@partitioned")
            ):
                return [self.filling(placed(place.id, call, s), {place.id})]
            return [everything_stored(place, call, s)]
        if isinstance(value.func, ast.Name):
            return self.helper_call(s, value, value.func.id)
        return [s]

    def filling(self, s: ast.stmt, names: set[str]) -> ast.stmt:
        s.fills = frozenset(names)  # type: ignore[attr-defined]
        return s

    def helper_call(self, s: ast.stmt, value: ast.Call, name: str) -> list[ast.stmt]:
        found = self.variant_called(value, isinstance(s, ast.Expr), s)
        bound = self.by_place(value, found[1]) if found is not None else None
        if found is None or bound is None:
            return [s]
        new, places, unsure = found
        value = bound
        before: list[ast.stmt] = []
        for i in places:
            if i < len(value.args) and self.is_part(value.args[i]):
                held = self.fresh("part")
                before.append(placed(held, value.args[i], s))
                value.args[i] = loaded(held)
        given = [value.args[i] for i in places if i < len(value.args)]
        after: list[ast.stmt] = []
        names, own = [], set()
        for i, a in zip(places, given, strict=False):
            if self.is_outside(a):
                names.append(self.fresh("changed"))
                after.append(kept_outside(a, names[-1], s))
            elif isinstance(a, ast.Name) and a.id in self.local:
                self.refuse_twice(i, value, s)
                if i in unsure and a.id not in self.made:  # a number is changed there alone
                    names.append(self.fresh("changed"))
                    again = helper("@changed_too", loaded(a.id), loaded(names[-1]))
                    after.append(self.filling(placed(a.id, again, s), {a.id}))
                else:
                    names.append(a.id)
                    own.add(a.id)
            elif isinstance(a, ast.Constant | ast.BinOp | ast.UnaryOp):  # nobody else has it
                names.append(self.fresh("changed"))
        if len(names) != len(places) or len(set(names)) != len(names):
            return [s]
        call = copy.copy(value)
        call.func = loaded(new)
        first: ast.expr = ast.Name("_", ast.Store())
        if isinstance(s, ast.Assign):
            first = s.targets[0]
            same = self.returned_place(name)
            a = value.args[same] if same in places else first
            if isinstance(a, ast.Name) and a.id in own:  # the result is the argument itself
                first = ast.Name("_", ast.Store())
                after.append(located(ast.Assign([s.targets[0]], loaded(a.id)), s))
            elif isinstance(a, ast.Name) and a is not first and isinstance(first, ast.Name):
                for kept in after:  # the result is the object that they change
                    kept.through = frozenset((first.id, a.id))  # type: ignore[attr-defined]
                again = helper("@changed_too", loaded(first.id), loaded(a.id))
                after.append(placed(first.id, again, s))
            elif isinstance(first, ast.Name) and self.returns_new(name):
                for kept in after:
                    kept.through = frozenset((first.id, *kept_names(kept)))  # type: ignore
        if is_name(first, "_"):
            self.local.add("_")
        targets = [first, *[ast.Name(n, ast.Store()) for n in names]]
        made = located(ast.Assign([ast.Tuple(targets, ast.Store())], call), s)
        made.gives_back = True  # type: ignore[attr-defined]
        return [*before, self.filling(made, own), *after]

    def variant_called(
        self, call: ast.Call, effect: bool = False, s: ast.stmt | None = None
    ) -> Variant | None:
        """The function to call that also returns what it changes; in a statement, what it needs."""
        assert isinstance(call.func, ast.Name)
        name = call.func.id
        both = self.variant(name, True) if not effect and name in self.effects else None
        anew = set() if s is None else assigned_names(s)
        for i, a in enumerate(call.args):
            if both is not None and i in both[2] and isinstance(a, ast.Name):
                if s is None or a.id not in anew and self.apart.is_needed(call, {a.id}):
                    return both
        return self.variant(name, effect)

    def outside_places(self, call: ast.Call) -> frozenset[int]:
        """The places at which a call is given containers of others, and all that it changes."""
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        if not name or self.written(name) is None or self.variant_called(call) is None:
            return frozenset()
        found = self.variant(name)  # without what changes arrays alone
        bound = self.by_place(call, found[1]) if found is not None else None
        if found is None or bound is None:
            return frozenset()
        given = [(i, bound.args[i]) for i in found[1] if i < len(bound.args)]
        outside = {i for i, a in given if self.is_outside(a) and not self.is_part(a)}
        own = [a for i, a in given if i not in outside and changed_roots(a) & self.local]
        return frozenset() if own else frozenset(outside)

    def kept_in_place(self, name: str, places: frozenset[int]) -> str:
        """The function that changes what it is given at these places where it stands."""
        if (name, places) not in self.in_place:
            node = self.written(name)
            assert node is not None
            new = self.fresh(f"{name}_in_place")
            self.in_place[name, places] = new
            names = [parameters(node)[i] for i in sorted(places)]
            made = copy_in_place(node, new, names, self.in_place)
            if name in self.nested:
                self.beside.setdefault(name, []).append(made)
            else:
                self.copies.append(made)
        return self.in_place[name, places]

    def by_place(self, call: ast.Call, places: list[int]) -> ast.Call | None:
        """The call with what it changes given by position; None where that cannot be seen."""
        assert isinstance(call.func, ast.Name)
        node = self.written(call.func.id)
        if node is None or any(isinstance(a, ast.Starred) for a in call.args):
            return None
        call = copy.copy(call)
        call.args, call.keywords = list(call.args), list(call.keywords)
        names = parameters(node)
        changed = {names[i] for i in places}
        while any(k.arg is None or k.arg in changed for k in call.keywords):
            following = names[len(call.args)] if len(call.args) < len(names) else ""
            found = [k for k in call.keywords if k.arg == following]
            if not found:
                return None
            call.keywords.remove(found[0])
            call.args.append(found[0].value)
        return call

    def written(self, name: str) -> ast.FunctionDef | None:
        """The text of a function that is called by its name."""
        return self.nested.get(name) or (None if name in self.local else self.definition(name))

    def changed_by(self, call: ast.Call) -> set[str]:
        """The local names whose objects a call of a helper changes."""
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        found = self.variant_called(call) if name and self.written(name) is not None else None
        bound = self.by_place(call, found[1]) if found is not None else None
        if found is None or bound is None:
            return set()
        given = [bound.args[i] for i in found[1] if i < len(bound.args)]
        return set().union(*map(changed_roots, given)) & self.local

    def returns_new(self, name: str) -> bool:
        """Whether a function surely returns numbers or arrays that nobody else has."""
        node = self.written(name)
        assert node is not None
        returns = [n.value for n in own_nodes(node) if isinstance(n, ast.Return)]
        return all(isinstance(v, ast.BinOp | ast.UnaryOp | ast.Compare) for v in returns)

    def returned_place(self, name: str) -> int | None:
        """The position of the parameter that a function surely returns."""
        node = self.written(name)
        assert node is not None
        found = returned_expression(node)
        names = parameters(node)
        return names.index(found.id) if isinstance(found, ast.Name) and found.id in names else None

    def refuse_twice(self, place: int, call: ast.Call, s: ast.stmt) -> None:
        """Refuse `f(a, a)` where the helper changes one of its parameters, then reads the other."""
        assert isinstance(call.func, ast.Name)
        changed = call.args[place]
        node = self.written(call.func.id)
        assert isinstance(changed, ast.Name) and node is not None
        names = parameters(node)
        for other, name in zip(call.args, names, strict=False):
            if other is changed or changed.id not in changed_roots(other):
                continue
            if is_read_after(node, name, names[place]):
                raise Refusal(
                    f"the function `{call.func.id}` changes {changed.id!r}, which it is given a "
                    "second time",
                    f"Give it `{changed.id}.copy()` there.",
                    s,
                )

    def is_outside(self, node: ast.expr) -> bool:
        """Whether an argument is a container that others hold too."""
        if isinstance(node, ast.Call | ast.IfExp | ast.BoolOp):
            return self.given_by_others(node)
        root = node
        while isinstance(root, ast.Attribute | ast.Subscript):
            root = root.value
        if not isinstance(root, ast.Name):
            return False
        if isinstance(node, ast.Attribute) or root.id in self.foreign:
            return True
        return root.id not in self.local and root.id not in self.nested

    def is_part(self, node: ast.expr) -> bool:
        """Whether an argument is a part of something that a name stands for."""
        root: ast.expr | None = node
        while isinstance(root, ast.Subscript | ast.Attribute | ast.Call):
            root = (
                root.value if isinstance(root, ast.Attribute) else viewed_holder(root, self.local)
            )
        return root is not node and isinstance(root, ast.Name) and root.id in self.local

    def fresh(self, stem: str) -> str:
        name = new_name(stem, self.taken)
        self.local.add(name)
        return name

    def variant(self, name: str, effect: bool = False) -> Variant | None:
        """A function that also returns what it changes: its name, and which arguments.

        Called for its `effect`, it surely changes the parameters that it sets by `v *= 2`.
        """
        if (name, effect) in self.known:
            if name in self.open:
                self.met_again.add(name)
            return self.known[name, effect]
        self.known[name, effect] = None
        node = self.nested.get(name)
        outside = node is None and name not in self.local
        if outside:
            node = self.definition(name)
            if node is not None and memory.known("changes nothing", node):
                return None
        if node is None or outside and self.local & {n.id for n in names_in(node)} - bound_in(node):
            return None
        self.open.append(name)
        places, unsure = self.changed_places(node)
        self.open.pop()
        if outside and not places and not unsure and not self.met_again:
            memory.keep("changes nothing", node, answer=True)
        self.met_again -= {name}
        if effect and not unsure:
            self.known[name, effect] = self.variant(name)
        if effect and unsure:
            places = sorted({*places, *unsure})
        if not places or effect and not unsure:
            return self.known[name, effect]
        new = f"{name}_changed"
        while new in self.taken:
            new += "_"
        self.taken.add(new)
        self.local.add(new)
        self.known[name, effect] = new, places, unsure if effect else []
        if outside:
            self.copies.append(changed_copy(node, self.known[name, effect], self.known))  # type: ignore
        return self.known[name, effect]

    def changed_places(self, node: ast.FunctionDef) -> tuple[list[int], list[int]]:
        """The positions of a function's parameters that it stores into, and never sets anew.

        And of those that only an operator such as `+=` changes, if they are arrays.
        """
        if node.decorator_list or yields(node):
            return [], []
        shared = changed_defaults(node)  # which are changed where they stand
        shared |= getattr(node, "given_back", frozenset())
        operated = {n for s in node.body for n in operated_names(s)}
        stored = {n for s in node.body for n in stored_names(s)}
        sure = {n for s in node.body for n in stored_names(s, operators=False)}
        sure |= stored & kinds_of(node.body).wide
        bound = {n for s in node.body for n in assigned_names(s, operators=False)}
        alone = {id(s.value) for s in own_nodes(node) if isinstance(s, ast.Expr)}
        for n in own_nodes(node):
            if isinstance(n, ast.Call):
                more, perhaps = self.changed_by_helper(n, id(n) in alone, bound)
                sure |= more
                operated |= perhaps
        views = list(views_in(node, kinds_of(node.body).wide))
        while True:
            written = {p for n, bases, _ in views if n in sure for p in bases} - sure
            written |= {p for n, bases, sliced in views if sliced and n in operated for p in bases}
            perhaps = {p for n, bases, _ in views if n in operated for p in bases} - operated
            if not (written - sure or perhaps):
                break
            sure |= written
            operated |= perhaps
        names = parameters(node)
        places = [i for i, n in enumerate(names) if n in sure - bound - shared]
        unsure = [i for i, n in enumerate(names) if n in operated - sure - bound - shared]
        return places, unsure

    def changed_by_helper(
        self, call: ast.Call, effect: bool, bound: set[str]
    ) -> tuple[set[str], set[str]]:
        """The names whose objects a call of a helper changes, and those it changes if arrays."""
        found: tuple[set[str], set[str]] = set(), set()
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        if name and name not in bound and (variant := self.variant(name, effect)) is not None:
            _, places, unsure = variant
            for i in places:
                if i < len(call.args):
                    found[i in unsure].update(changed_roots(call.args[i]))
        return found


def views_in(node: ast.FunctionDef, wide: set[str]) -> Iterator[tuple[str, set[str], bool]]:
    """The names in a function that stand for parts of others: of which, and whether for slices.

    `wide` are names that surely are arrays or containers.
    """
    for s in own_nodes(node):
        if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name):
            name = s.targets[0].id
            if isinstance(s.value, ast.IfExp):
                for side in (s.value.body, s.value.orelse):
                    yield name, changed_roots(side) - {name}, isinstance(side, ast.Name)
                continue
            if isinstance(s.value, ast.Name):
                sliced = bool({name, s.value.id} & wide)
            else:
                sliced = not isinstance(s.value, ast.Subscript) or has_slice(s.value.slice)
            if sliced or isinstance(s.value, ast.Subscript):
                yield name, changed_roots(s.value) - {name}, sliced
        elif isinstance(s, ast.For):
            bases = set().union(*map(changed_roots, iterated(s.iter)))
            for n in ast.walk(s.target):
                if isinstance(n, ast.Name):
                    yield n.id, bases - {n.id}, False


def iterated(items: ast.expr) -> list[ast.expr]:
    """What a loop runs over: in `zip(a, b)` both."""
    if isinstance(items, ast.Call) and isinstance(items.func, ast.Name):
        if items.func.id in ("zip", "enumerate", "reversed"):
            return items.args
    return [items]


def used(body: list[ast.stmt], variants: dict[str, str]) -> list[ast.stmt]:
    """The statements without those variants of functions that nothing calls.

    Functions nested here call a variant where they call the function now.
    """
    made = set(variants)
    nodes = [n for s in body for n in ast.walk(s)]
    nested = [f for f in nodes if isinstance(f, NESTED) and getattr(f, "name", "") not in made]
    names = {n.id for s in body for n in read_in(s, made)}
    called = {n.id for f in nested for n in ast.walk(f) if isinstance(n, ast.Name)}
    while True:  # what variants call that are called themselves
        found = [f for f in nodes if isinstance(f, ast.FunctionDef) and f.name in names & made]
        called |= {n.id for f in found for n in ast.walk(f) if isinstance(n, ast.Name)}
        more = {v for v, f in variants.items() if v in called or f in called} - names
        if not more:
            break
        names |= more

    class Drops(ast.NodeTransformer):
        def visit_FunctionDef(self, s: ast.FunctionDef) -> ast.FunctionDef | None:
            return None if s.name in made - names else s

    return [s for s in map(Drops().visit, body) if s is not None]


def kept_names(s: ast.stmt) -> frozenset[str]:
    """The names of what a statement changes, as it notes them."""
    return getattr(s, "fills", frozenset())


def read_in(node: ast.AST, made: set[str]) -> Iterator[ast.Name]:
    """The names read in a statement, but not in functions of `made`."""
    if isinstance(node, ast.FunctionDef) and node.name in made:
        return
    if isinstance(node, ast.Name):
        yield node
    for child in ast.iter_child_nodes(node):
        yield from read_in(child, made)


def names_in(node: ast.FunctionDef) -> Iterator[ast.Name]:
    return (n for n in own_nodes(node) if isinstance(n, ast.Name))


def bound_in(node: ast.FunctionDef) -> set[str]:
    """The names that a function binds itself."""
    stored = {n.id for n in names_in(node) if isinstance(n.ctx, ast.Store)}
    return stored | {a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)}


def parameters(node: ast.FunctionDef) -> list[str]:
    """The names of the parameters that calls may give by their places."""
    return [a.arg for a in (*node.args.posonlyargs, *node.args.args)]


def is_read_after(node: ast.FunctionDef, name: str, changed: str) -> bool:
    """Whether a function reads a parameter below a change of another, or in one loop with it."""
    changes = [s.lineno for s in own_nodes(node) if isinstance(s, ast.stmt)
               and not isinstance(s, BLOCKS) and changed in stored_names(s)]  # fmt: skip
    reads = [n.lineno for n in own_nodes(node) if isinstance(n, ast.Name) and n.id == name]
    loops = [n for n in own_nodes(node) if isinstance(n, ast.For | ast.While)]
    if any(max(reads, default=0) > at for at in changes):
        return True
    return any(
        any(n.lineno <= at <= (n.end_lineno or at) for at in changes)
        and any(n.lineno <= at <= (n.end_lineno or at) for at in reads)
        for n in loops
    )


def kept_outside(outer: ast.expr, name: str, s: ast.stmt) -> ast.stmt:
    """The statement that lets a container of others hold what a helper has made of it."""
    call = ast.Call(loaded("@put_contents"), [copy.deepcopy(outer), loaded(name)], [])
    made = ast.Expr(call)
    for node in ast.walk(made):
        ast.copy_location(node, s)
    return made


def changed_copy(
    node: ast.FunctionDef, variant: Variant, known: dict[tuple[str, bool], Variant | None]
) -> ast.FunctionDef:
    """A function that returns its result and what it has changed."""
    made = copy.deepcopy(node)
    made.name, places, _ = variant
    made.variants = known  # type: ignore[attr-defined]
    names = parameters(made)
    changed = [names[i] for i in places]

    class Returns(ast.NodeTransformer):
        def visit_Return(self, s: ast.Return) -> ast.Return:
            first = s.value if s.value is not None else ast.Constant(None)
            value = ast.Tuple([first, *map(loaded, changed)], ast.Load())
            return ast.fix_missing_locations(ast.copy_location(ast.Return(value), s))

        def visit_FunctionDef(self, s: ast.FunctionDef) -> ast.FunctionDef:
            return s

        def visit_Lambda(self, s: ast.Lambda) -> ast.Lambda:
            return s

    visitor = Returns()
    made.body = [visitor.visit(s) for s in made.body]
    if not isinstance(made.body[-1], ast.Return):
        last = ast.Return(ast.Tuple([ast.Constant(None), *map(loaded, changed)], ast.Load()))
        made.body.append(ast.fix_missing_locations(ast.copy_location(last, made.body[-1])))
    return made
