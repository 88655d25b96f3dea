"""Relations: which names of a function may stand for one object, or for parts of one."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from overt.rewrites import core
from overt.rewrites.core import Assign, Block, For, Function, If, While, With, is_local
from overt.rewrites.sharing import (
    COPIED,
    DIAGONAL,
    ITEM,
    NOTHING,
    PART,
    SLICE,
    WHOLE,
    Share,
    Shares,
    Sharing,
    inside,
    is_list,
    is_store,
    items_of,
    sliced,
)

Load = Callable[[str], Function | None]
Table = dict[str, set[str]]


class Memo:
    """What functions return of what they are given, for those that were looked at."""

    def __init__(self) -> None:
        self.known: dict[tuple[int, int | None, bool], tuple[Function, Shares]] = {}
        self.cut: set[int] = set()  # functions that call themselves, met within themselves


class Relations:
    """Who may share, from all assignments of a function; statements out of reach count as well."""

    def __init__(
        self, body: Block, arrays: frozenset[str] = frozenset(), load: Load | None = None,
        reading: frozenset[int] = frozenset(), memo: Memo | None = None,
    ) -> None:  # fmt: skip
        self.memo = memo if memo is not None else Memo()
        self.arrays = arrays  # names of arrays made here: a store into one copies
        self.load = load
        self.reading = reading  # functions whose result is being looked at
        self.nested = {d.name: d.function for d in core.walk(body) if isinstance(d, core.Define)}
        self.values = {
            s.target: s.value
            for s in core.walk(body)
            if isinstance(s, Assign) and isinstance(s.target, str)
        }
        self.sharing = Sharing(self.returned)
        self.leader: dict[str, str] = {}
        self.root: dict[str, str] = {}  # a version -> the one before a store
        self.elements: Table = {}  # a name -> names read from it with plain indices
        self.diagonals: Table = {}  # a name -> diagonals of it, which NumPy lets nobody write
        self.stored: Table = {}  # a name -> names of objects that it holds
        self.items: Table = {}  # a name -> names of which it holds items,
        self.slices: Table = {}  # slices,
        self.copies: Table = {}  # or the objects that they hold
        self.parts: Table = {}  # slices of items, if those are arrays,
        self.inner: Table = {}  # containers that hold items of items,
        self.inner_copies: Table = {}  # or, of lists only, the objects in them
        self.deep: Table = {}  # items of items of items
        self.twice: set[str] = set()  # holders of one object in two places
        self.chosen: Table = {}  # a user's name -> names that a condition chose from
        self.known_originals: dict[str, set[str]] = {}
        self.collect(body)

    def find(self, n: str) -> str:
        while self.leader.setdefault(n, n) != n:
            n = self.leader[n]
        return n

    def join(self, a: str, b: str) -> None:
        self.leader[self.find(a)] = self.find(b)

    def collect(self, block: Block) -> None:
        for s in block:
            if isinstance(s, Assign):
                self.assign(s)
            elif isinstance(s, If):
                self.collect(s.then)
                self.collect(s.orelse)
                for m in s.merges:
                    for v in (m.then, m.orelse):
                        self.share(m.name, v)
                    for side in (*s.then, *s.orelse):
                        if isinstance(side, Assign) and isinstance(side.target, str):
                            if core.base(side.target) == core.base(m.name):
                                self.choose(m.name, side.value)
            elif isinstance(s, For | While):
                self.collect(s.body)
                for c in s.carries:
                    self.share(c.name, c.init)
                    self.share(c.name, c.next)
                    self.join(c.out, c.name)
                if isinstance(s, For):
                    self.note_all(s.target, items_of(self.sharing.of(s.items)))
            elif isinstance(s, With):
                self.collect(s.body)

    def assign(self, s: Assign) -> None:
        value = s.value
        if is_store(value):
            self.store(s, value)  # type: ignore[arg-type]
        elif isinstance(s.target, str):
            self.share(s.target, value)
        else:
            self.unpack(s.target, value)
        for filled in fills(s):
            self.root[filled.target] = filled.value.args[0].id  # type: ignore[attr-defined,index]

    def store(self, s: Assign, call: ast.Call) -> None:
        targets = list(core.pattern_names(s.target))
        first = call.args[0]
        if isinstance(first, ast.Name):
            self.root[targets[-1]] = first.id
            if core.base(first.id) in self.arrays:
                return
        if not isinstance(s.target, str):
            self.note_all(targets[0], items_of(self.sharing.of(first)))
            return
        for share in self.kept(call):
            if is_growth(call) and share.kind == ITEM and isinstance(first, ast.Name):
                if core.base(share.name) == core.base(first.id):
                    self.twice.add(s.target)  # `rows.append(rows[-1])`
            if share.kind == WHOLE and is_growth(call) and not share.inside:
                self.elements.setdefault(s.target, set()).add(share.name)
            else:
                self.note_all(s.target, inside(frozenset([share])))

    def kept(self, call: ast.Call) -> Shares:
        """What a store keeps of the values that are stored, in the holder or an item of it."""
        found = NOTHING
        for a in call.args[1 if is_growth(call) else 2 :]:
            found |= inside(self.kept(a)) if is_store(a) else self.sharing.of(a)  # type: ignore
        return found

    def unpack(self, target: core.Pattern, value: ast.expr) -> None:
        assert not isinstance(target, str)
        parts = value.elts if isinstance(value, ast.Tuple | ast.List) else None
        shares: list[Shares] | None = None
        starred = any(not isinstance(t, str) and t and t[0] == "*" for t in target)
        if parts is not None and len(parts) == len(target) and not starred:
            shares = [self.sharing.of(v) for v in parts]
        elif isinstance(value, ast.Call) and (function := self.called(value)) is not None:
            result = function.result
            if isinstance(result, ast.Tuple) and len(result.elts) == len(target):
                shares = [self.returned(value, i) for i in range(len(target))]
            elif getattr(value, "gives_back", False):
                return
        if shares is None:
            self.note_all(target, items_of(self.sharing.of(value)))
            return
        for t, found in zip(target, shares, strict=True):
            self.note_all(t, found if isinstance(t, str) else items_of(found))

    def share(self, name: str, value: ast.expr) -> None:
        """`name = value` may give a name to an object that has one already."""
        self.note_all(name, self.sharing.of(value))
        if isinstance(value, ast.Tuple | ast.List | ast.Dict) and holds_twice(value):
            self.twice.add(name)
        elif isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult):
            if any(holds_mutable(side) for side in (value.left, value.right)):
                self.twice.add(name)  # `[[0.0]] * 3` is one list three times
        elif isinstance(value, ast.IfExp):
            for v in (value.body, value.orelse):
                self.choose(name, v)

    def note_all(self, target: core.Pattern, shares: Iterable[Share]) -> None:
        if isinstance(target, str):
            for share in shares:
                self.note(target, share)
        elif target and target[0] == "*":  # a list of the rest
            self.note_all(target[1], inside(frozenset(shares)))
        else:
            inner = frozenset(shares) | items_of(frozenset(shares))
            for t in target:
                self.note_all(t, shares if isinstance(t, str) or t[:1] == ("*",) else inner)

    def note(self, name: str, share: Share) -> None:
        if share.inside:
            tables = {
                WHOLE: self.stored, ITEM: self.items, SLICE: self.slices, PART: self.parts
            }  # fmt: skip
            if share.inside > 1:
                tables |= {ITEM: self.inner, COPIED: self.inner_copies}
            if share.inside > 2 and share.depth > 2:
                tables |= {ITEM: self.deep, COPIED: self.deep}
            tables.get(share.kind, self.copies).setdefault(name, set()).add(share.name)
        elif share.kind in (ITEM, PART, DIAGONAL):
            table = self.diagonals if share.kind == DIAGONAL else self.elements
            table.setdefault(share.name, set()).add(name)
        else:
            self.join(name, share.name)
            if share.kind == SLICE:
                self.copies.setdefault(name, set()).add(share.name)

    def choose(self, name: str, value: ast.expr) -> None:
        if isinstance(value, ast.Name) and is_local(value.id):
            self.chosen.setdefault(core.base(name), set()).add(core.base(value.id))

    # --- what called functions return

    def called(self, call: ast.Call) -> Function | None:
        """The function of the user's that is called by its name."""
        if not isinstance(call.func, ast.Name):
            return None
        f: ast.expr = call.func
        while isinstance(f, ast.Name) and f.id in self.values:
            f = self.values[f.id]
        if not isinstance(f, ast.Name):
            return None
        name = f.id
        if name in self.nested:
            return self.nested[name]
        if is_local(name) or name.startswith("@") or self.load is None:
            return None
        return self.load(name)

    def returned(self, call: ast.Call, place: int | None = None) -> Shares:
        """What the result of a call, or an item of it, shares with names here."""
        function = self.called(call)
        if function is None:
            return self.constructed(call)
        if id(function) in self.reading:
            self.memo.cut.add(id(function))
            return NOTHING
        if not any(isinstance(a, ast.Starred) for a in call.args):
            given: dict[str, ast.expr] = {
                p.name: a for p, a in zip(function.params, call.args, strict=False)
            }
            names = {core.base(p.name): p.name for p in function.params}
            given |= {names[k.arg]: k.value for k in call.keywords if k.arg in names}
            found: set[Share] = set()
            for share in self.results(function, place):
                if share.name in given:
                    found |= composed(share, self.sharing.of(given[share.name]))
                elif function.name in self.nested or call.func.id in self.nested:  # type: ignore
                    found.add(share)
            return frozenset(found)
        return NOTHING

    def constructed(self, call: ast.Call) -> Shares:
        """What a new object of a user's class holds of its arguments, as its text says."""
        name = call.func.id if isinstance(call.func, ast.Name) else "@"
        if is_local(name) or name.startswith("@") or self.load is None:
            return NOTHING
        init = self.load(f"{name}.__init__")
        if init is None:
            return NOTHING
        if id(init) in self.reading:
            self.memo.cut.add(id(init))
            return NOTHING
        params = [p.name for p in init.params[1:]]
        given = dict(zip(params, call.args, strict=False))
        given |= {p: k.value for p in params for k in call.keywords if core.base(p) == k.arg}
        found = NOTHING
        for share in self.results(init, None, stored=True):
            if share.name in given:
                found |= composed(share, self.sharing.of(given[share.name]))
        return inside(found)

    def results(self, function: Function, place: int | None, stored: bool = False) -> Shares:
        """What a function's result shares with its parameters and with names around it.

        Or what is `stored` by it in objects.
        """
        key = id(function), place, stored
        if key in self.memo.known:
            return self.memo.known[key][1]
        reading = self.reading | {id(function)}
        inner = Relations(function.body, frozenset(), self.load, reading, self.memo)
        values: list[ast.expr] = [function.result]
        if stored:
            nodes = [s.node for s in core.walk(function.body) if isinstance(s, core.Do)]
            values = [n.value for n in nodes if isinstance(n, ast.Assign)]
        elif place is not None:
            values = [function.result.elts[place]]  # type: ignore[attr-defined,union-attr]
        own = core.assigned(function.body)
        found = frozenset(
            share
            for value in values
            for share in inner.reached(inner.sharing.of(value))
            if share.name not in own
        )
        self.memo.cut.discard(id(function))
        if not self.memo.cut:
            self.memo.known[key] = function, found
        return found

    def reached(self, shares: Iterable[Share]) -> Shares:
        """These, and what they come from: back to the parameters."""
        found: set[Share] = set()
        pending = list(shares)
        while pending:
            share = pending.pop()
            if share in found:
                continue
            found.add(share)
            versions = self.originals(share.name)
            pending += [share._replace(name=n) for n in versions]
            if share.kind != COPIED:
                pending += [Share(ITEM, h, share.inside) for h in self.holders(versions)]
                for kind, table in (
                    (WHOLE, self.stored), (ITEM, self.items), (SLICE, self.slices),
                    (PART, self.parts), (ITEM, self.inner), (ITEM, self.deep),
                ):  # fmt: skip
                    held = {Share(kind, n, 1) for n in self.among(table, versions)}
                    pending += held
                    if share.kind == ITEM:
                        pending += items_of(frozenset(held))
            for table in (self.copies, self.inner_copies):
                pending += [Share(COPIED, n, 1) for n in self.among(table, versions)]
        return frozenset(found)

    # --- asking

    def originals(self, n: str) -> set[str]:
        """The versions that a name went through by stores and copies."""
        if n in self.known_originals:
            return self.known_originals[n]
        if not self.known_originals:
            self.groups: Table = {}
            for m in list(self.leader):
                self.groups.setdefault(self.find(m), set()).add(m)
        found = {n}
        pending = [n]
        while pending:
            current = pending.pop()
            before = self.root.get(current)
            same = self.groups.get(self.find(current), {current})
            for m in same | ({before} if before else set()):
                if m not in found:
                    found.add(m)
                    pending.append(m)
        self.known_originals[n] = found
        return found

    def among(self, table: Table, names: Iterable[str]) -> set[str]:
        """What a table has under any of these names."""
        return {m for n in names for m in table.get(n, ())}

    def with_any(self, table: Table, names: set[str]) -> set[str]:
        """The names under which a table has any of these."""
        return {h for h, held in table.items() if held & names}

    def holders(self, names: set[str]) -> set[str]:
        """Names that these were read from with a plain index, or that hold them."""
        return self.with_any(self.elements, names)

    def holding(self, names: set[str]) -> set[str]:
        """Names of containers that hold these, or what these are parts of; at any depth."""
        found = self.with_any(self.stored, self.above(names))
        tables = (
            self.stored, self.items, self.slices, self.copies, self.inner, self.inner_copies,
            self.deep,
        )  # fmt: skip
        pending = set(found)
        while pending:
            versions = self.originals(pending.pop())
            new = versions.union(*(self.with_any(table, versions) for table in tables)) - found
            found |= new
            pending |= new
        return found

    def above(self, names: set[str]) -> set[str]:
        """All versions of these names, and of what they are parts of."""
        found: set[str] = set()
        pending = set(names)
        while pending:
            n = pending.pop()
            versions = self.originals(n)
            new = (versions | self.holders(versions)) - found
            found |= new | {n}
            pending |= new
        return found


def composed(share: Share, given: Shares) -> set[Share]:
    """What a result shares with an argument's names, by what it shares with the parameter."""
    if share.kind == COPIED:
        return {Share(COPIED, s.name, share.inside) for s in given}
    if share.kind in (ITEM, PART):
        given = items_of(given)
    if share.kind in (SLICE, PART):
        given = sliced(given)
    return set(inside(given, share.inside))


def fills(s: Assign) -> list[Assign]:
    """A call that gives back arguments which it has changed, as stores into those."""
    names: frozenset[str] = getattr(s.value, "fills", frozenset())
    targets = {core.base(n): n for n in core.pattern_names(s.target)}
    found = []
    for a in getattr(s.value, "args", ()):
        if isinstance(a, ast.Name) and core.base(a.id) in names & set(targets):
            store = core.call(core.name("@set_item"), a, ast.Constant(...), ast.Constant(None))
            store.through = getattr(s.value, "through", frozenset())  # type: ignore[attr-defined]
            found.append(Assign(targets[core.base(a.id)], store, s.origin))
    return found


OF_ARRAYS = ("sort", "fill")  # methods that arrays have, too


def is_growth(call: ast.Call) -> bool:
    """Whether a call is a change of a list or dictionary that no array has."""
    if core.is_call_of(call, "@changed"):
        method = call.args[1]
        return isinstance(method, ast.Constant) and method.value not in OF_ARRAYS
    return core.is_call_of(call, "@appended", "@popped")


def holds_twice(node: ast.expr) -> bool:
    """Whether a display names one object more than once."""
    parts = node.values if isinstance(node, ast.Dict) else node.elts  # type: ignore[attr-defined]
    names = [p.id for p in parts if isinstance(p, ast.Name) and is_local(p.id)]
    return len(names) != len(set(names))


def holds_mutable(node: ast.expr) -> bool:
    """Whether an expression is a list of what may change: of lists, of calls' results."""
    if isinstance(node, ast.ListComp):
        return holds_mutable(ast.List([node.elt], ast.Load()))
    kinds = ast.Dict | ast.Set | ast.Name | ast.Call
    return isinstance(node, ast.List | ast.Tuple) and any(
        is_list(e) or isinstance(e, kinds) for e in node.elts
    )
