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
from overt.rewrites.core import Assign, Block, For, Function, If, Stmt, While, With, is_local, reads
from overt.rewrites.liveness import Pruner
from overt.rewrites.refusal import Refusal
from overt.rewrites.scopes import SET_ITEM

VIEWS = frozenset("T real imag flat mT".split())
VIEW_CALLS = frozenset(
    "reshape ravel view transpose swapaxes squeeze asarray atleast_1d atleast_2d moveaxis diagonal "
    "broadcast_to expand_dims rollaxis flip items values".split()
)
MAKERS = frozenset(
    "zeros ones empty full array arange linspace eye zeros_like ones_like empty_like "
    "full_like".split()
)
STORES = frozenset((*SET_ITEM, "@stored_back", "@appended", "@changed", "@popped"))


def check_aliases(
    function: Function,
    makes_array: Callable[[ast.expr], bool] = lambda callee: False,
    load: Callable[[str], Function | None] | None = None,
) -> Function:
    """The function, with what can only be known at run time marked for a check; or a refusal.

    `makes_array` tells of a callee whether it is NumPy's `zeros` or the like: a store into an array
    copies what is stored, a store into a list keeps it. `load` gives a user's function by its name.
    """
    keeper = StoresKept(function, {})
    needed = replace(function, body=keeper.block(function.body, keeper.reads(function.result))[0])
    given = {core.base(p.name) for p in function.params} | {core.base(n) for n in function.cells}
    work = Aliases(needed, arrays_in(function.body, makes_array) - given, load)
    work.block(needed.body, work.live(needed.result))

    def inside(nested: Function) -> Function:
        return check_aliases(nested, makes_array, load)

    return replace(function, body=with_checks(function.body, work.checks, inside))


class StoresKept(Pruner):
    """Leaves out what is never read again, but no store: it may show under another name."""

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
        if isinstance(s, Assign) and isinstance(s.target, str) and s.target in checks:
            done += checks[s.target]
        elif isinstance(s, If):
            then, orelse = (with_checks(b, checks, inside) for b in (s.then, s.orelse))
            s = replace(s, then=then, orelse=orelse)
        elif isinstance(s, For | While | With):
            s = replace(s, body=with_checks(s.body, checks, inside))
        elif isinstance(s, core.Define):
            s = replace(s, function=inside(s.function))
        done.append(s)
    return tuple(done)


class Lineage:
    """Where the object that a name stands for may come from, and in which loops it is made.

    What one iteration makes anew is not what the iteration before has left in another name:
    `new = np.zeros(n)` at the top of a loop and `u = new` at its end never share.
    """

    def __init__(self, body: Block) -> None:
        self.sources: dict[str, set[str]] = {}
        self.carried: dict[str, int] = {}  # names that a loop carries, with the loop
        self.nexts: dict[str, tuple[set[str], set[str]]] = {}  # and where their values come from
        self.turning: set[str] = set()  # carried names of loops that pass objects round
        self.loops: dict[str, tuple[int, ...]] = {}  # the loops around a name's definition
        self.visit(body, ())

    def visit(self, block: Block, loops: tuple[int, ...]) -> None:
        for s in block:
            if isinstance(s, Assign):
                value = s.value.args[0] if is_store(s.value) else s.value  # type: ignore
                found = set() if is_new(value) else self.live(value)
                for n in core.pattern_names(s.target):
                    self.loops[n] = loops
                    self.sources[n] = found
                if isinstance(value, ast.Tuple) and len(value.elts) == len(s.target):
                    for t, v in zip(s.target, value.elts, strict=True):
                        for n in core.pattern_names(t):
                            self.sources[n] = set() if is_new(v) else self.live(v)
            elif isinstance(s, If):
                self.visit(s.then, loops)
                self.visit(s.orelse, loops)
                for m in s.merges:
                    self.loops[m.name] = loops
                    self.sources[m.name] = self.live(m.then) | self.live(m.orelse)
            elif isinstance(s, For | While):
                inner = (*loops, id(s))
                for c in s.carries:
                    self.nexts[c.name] = (self.live(c.init), self.live(c.next))
                    self.carried[c.name] = id(s)
                    self.loops[c.name], self.loops[c.out] = inner, loops
                    self.sources[c.name] = self.live(c.init) | self.live(c.next)
                    self.sources[c.out] = {c.name}
                if isinstance(s, For):
                    for n in core.pattern_names(s.target):
                        self.loops[n] = inner
                        self.sources[n] = self.live(s.items)
                self.visit(s.body, inner)
                self.turns(s)
            elif isinstance(s, With):
                self.visit(s.body, loops)

    def live(self, node: ast.expr) -> set[str]:
        if isinstance(node, ast.Subscript):
            node = node.value
        return {n for n in reads(node) if is_local(n)}

    def origins(self, n: str, ended: tuple[int, ...] = ()) -> set[str]:
        """All names that an object may have come through; not from other runs of `ended` loops."""
        found, pending = {n}, [n]
        while pending:
            current = pending.pop()
            if self.carried.get(current) in ended:
                continue
            for m in self.sources.get(current, ()):
                if m not in found:
                    found.add(m)
                    pending.append(m)
        return found

    def turns(self, s: For | While) -> None:
        """Note a loop that passes objects round: `old, new = new, old`."""
        carried = {c.name for c in s.carries}
        after = {c.name: self.one_source(core.reads(c.next), carried) for c in s.carries}
        swapped = [n for n, m in after.items() if m is not None and m != n]
        round_ = {after[n] for n in swapped}
        inits = {c.name: self.origins_of(c.init) for c in s.carries if c.name in swapped}
        apart = all(not (inits[n] & inits[m]) for n in swapped for m in swapped if n != m) and all(
            inits.values()
        )
        if round_ == set(swapped) and apart:
            self.turning |= set(swapped)

    def origins_of(self, node: ast.expr) -> set[str]:
        return {m for n in core.reads(node) if is_local(n) for m in self.origins(n)}

    def one_source(
        self, names: set[str], ends: set[str] | frozenset[str], within: frozenset[str] = frozenset()
    ) -> str | None:
        """The one of `ends` that an object comes from for certain, by stores and plain names.

        `within` are the carried names whose own turn is being followed.
        """
        seen = set(within)
        while len(names) == 1:
            (n,) = names
            if n in ends:
                return n
            if n in seen or n not in self.sources:
                return None
            seen.add(n)
            names = set(self.sources[n])
            if n in self.nexts:  # an inner loop that only stores into it
                start, end = self.nexts[n]
                back = self.one_source(end, frozenset([n]), within | {n})
                names = start if back == n else set()
        return None

    def may_meet(self, stored: str, other: str) -> bool:
        """Whether two names may stand for one object while `stored` is changed."""
        places = [self.one_source({n}, self.turning) for n in (stored, other)]
        if None not in places and places[0] != places[1]:
            return False
        mine = self.origins(stored)
        starts = {n for n in mine if not self.sources.get(n)}
        homes = {self.loops.get(n, ()) for n in starts}
        if len(homes) != 1 or not (home := homes.pop()):
            return True  # made outside of all loops
        if any(self.loops.get(n, ())[: len(home)] != home for n in mine):
            return True
        return bool(self.origins(other, home) & mine)


def is_new(value: ast.expr) -> bool:
    """Whether an expression surely makes a new object: `np.zeros(n)`, `[0.0] * n`, `a + b`."""
    if isinstance(value, ast.Call) and not is_store(value):
        f = value.func
        return isinstance(f, ast.Attribute) and f.attr in (*MAKERS, "copy")
    if isinstance(value, ast.List | ast.ListComp | ast.BinOp):
        return not any(isinstance(n, ast.List) for n in ast.walk(value) if n is not value)
    return False


class Aliases:
    """Which names may share one object, and which of them are still needed at each store."""

    def __init__(
        self,
        function: Function,
        arrays: frozenset[str] = frozenset(),
        load: Callable[[str], Function | None] | None = None,
    ) -> None:
        self.arrays = arrays
        self.leader: dict[str, str] = {}
        self.elements: dict[str, set[str]] = {}  # root -> names read from it with plain indices
        self.stored: dict[str, set[str]] = {}  # a holder -> names stored into it
        self.twice: set[str] = set()  # holders of one object in two places
        self.load = load
        self.nested = {
            d.name: d.function for d in core.walk(function.body) if isinstance(d, core.Define)
        }
        self.root: dict[str, str] = {}
        self.checks: dict[str, list[core.Do]] = {}  # by the name that a store sets
        self.lineage = Lineage(function.body)
        self.chosen: dict[str, set[str]] = {}  # a user's name -> names that a condition chose from
        self.collect(function.body)

    def find(self, n: str) -> str:
        while self.leader.setdefault(n, n) != n:
            n = self.leader[n]
        return n

    def join(self, a: str, b: str) -> None:
        self.leader[self.find(a)] = self.find(b)

    # --- who may share

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
                    for n in core.pattern_names(s.target):
                        for held in held_by(s.items):
                            self.elements.setdefault(held, set()).add(n)
            elif isinstance(s, With):
                self.collect(s.body)

    def assign(self, s: Assign) -> None:
        if isinstance(s.target, str):
            if is_store(s.value):
                assert isinstance(s.value, ast.Call)
                first = s.value.args[0]
                if isinstance(first, ast.Name):
                    self.root[s.target] = first.id
                    if core.base(first.id) in self.arrays:
                        return
                for a in s.value.args[1 if is_growth(s.value) else 2 :]:
                    for n in held_by(a):
                        table = self.elements if is_growth(s.value) else self.stored
                        table.setdefault(s.target, set()).add(n)
                return
            self.share(s.target, s.value)
            return
        targets = list(core.pattern_names(s.target))
        if isinstance(s.value, ast.Tuple) and len(s.value.elts) == len(targets):
            for t, v in zip(targets, s.value.elts, strict=True):
                self.share(t, v)
        elif is_store(s.value):
            first = s.value.args[0]  # type: ignore[attr-defined]
            if isinstance(first, ast.Name):
                self.root[targets[-1]] = first.id
        for filled in fills(s):
            self.root[filled.target] = filled.value.args[0].id  # type: ignore[attr-defined,index]

    def share(self, name: str, value: ast.expr) -> None:
        """`name = value` may give a name to an object that has one already."""
        if isinstance(value, ast.Name):
            if is_local(value.id):
                self.join(name, value.id)
        elif isinstance(value, ast.Subscript):
            held = value.value
            if isinstance(held, ast.Name) and is_local(held.id):
                if has_slice(value.slice):
                    self.join(name, held.id)
                else:
                    self.elements.setdefault(held.id, set()).add(name)
        elif isinstance(value, ast.Attribute) and value.attr in VIEWS:
            self.share(name, value.value)
        elif core.is_call_of(value, "@changed_too"):
            for a in value.args:  # type: ignore[attr-defined]
                self.share(name, a)
        elif core.is_call_of(value, "@read_again"):
            held, _, part = value.args  # type: ignore[attr-defined]
            self.share(name, held)
            self.share(name, part)
        elif isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
            if value.func.attr in VIEW_CALLS:
                inner = value.func.value
                given = value.args[0] if value.args else None
                plain = isinstance(inner, ast.Name) and is_local(inner.id)
                if plain or given is not None:
                    self.share(name, inner if plain else given)  # type: ignore[arg-type]
        elif isinstance(value, ast.Tuple | ast.List | ast.Dict):
            self.stored.setdefault(name, set()).update(held_by(value))
            if holds_twice(value):
                self.twice.add(name)
        elif isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult):
            if any(holds_mutable(side) for side in (value.left, value.right)):
                self.twice.add(name)  # `[[0.0]] * 3` is one list three times
        elif isinstance(value, ast.IfExp):
            for v in (value.body, value.orelse):
                self.share(name, v)
                self.choose(name, v)

    def choose(self, name: str, value: ast.expr) -> None:
        if isinstance(value, ast.Name) and is_local(value.id):
            self.chosen.setdefault(core.base(name), set()).add(core.base(value.id))

    def originals(self, n: str) -> set[str]:
        """The versions that a name went through by stores and copies."""
        found = {n}
        pending = [n]
        while pending:
            current = pending.pop()
            before = self.root.get(current)
            top = self.find(current)
            same = {m for m in list(self.leader) if self.find(m) == top}
            for m in same | ({before} if before else set()):
                if m not in found:
                    found.add(m)
                    pending.append(m)
        return found

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
            elif s.in_place:
                self.check_operator(s, alive - targets)
            self.check_calls(s, s.value, alive - targets)
            return s, (alive - targets) | self.live(s.value)
        if isinstance(s, If):
            rest = alive - {m.name for m in s.merges}
            then = self.block(s.then, rest | self.live(*[m.then for m in s.merges]), loops)
            first = self.before
            orelse = self.block(s.orelse, rest | self.live(*[m.orelse for m in s.merges]), loops)
            new = replace(s, then=then, orelse=orelse)
            return new, first | self.before | self.live(s.test)
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
            return replace(s, body=body), self.before | self.live(
                *[i.context_expr for i in s.items]
            )
        if isinstance(s, core.Define):
            return s, (alive - {s.name}) | core.free_of_function(s.function)
        if isinstance(s, core.Do):
            self.check_calls(s, s.node, alive)
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
            if over & versions and not own and isinstance(call.func, ast.Name):
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
        holders = {h for v in versions for h in self.holders(v)}
        needed = set().union(*map(self.originals, alive), set()) if holders else set()
        outer = {h for h in holders & needed if core.base(h) not in {mine, *in_step}}
        if outer and not is_growth(call):
            other = core.base(sorted(outer)[0])
            self.refuse(
                s,
                f"{mine!r} may be a part of {other!r}, which is read later: in NumPy this store "
                "changes both",
                f"Store into {other!r} itself, or write `{mine} = {mine}.copy()` first.",
            )
        kept = {e for v in versions for e in self.elements.get(v, ())} & alive
        kept = {e for e in kept if core.base(e) != mine} - reads(index)
        if kept and core.is_call_of(call, "@set_item"):
            self.mark(s, "@no_views", [holder.id, *sorted(kept)])
        if is_nested(call):
            if versions & self.twice:
                self.refuse(
                    s,
                    f"{mine!r} holds one object in several places: in Python this store changes "
                    "them all",
                    "Make a new object for each place, for instance in a comprehension.",
                )
            inner = {n for v in versions for n in self.stored.get(v, ())} & alive
            if inner:
                self.mark(s, "@no_parts", sorted(inner))
        holding = {h for h, parts in self.stored.items() if parts & versions}
        needed = set().union(*map(self.originals, alive), set()) if holding else set()
        holding = {n for n in alive for h in self.originals(n) if h in holding & needed}
        holding = {h for h in holding if core.base(h) not in {mine, *in_step}}
        if holding:
            self.mark(s, "@not_kept", sorted(holding))

    def check_operator(self, s: Assign, alive: set[str]) -> None:
        """`x += v` changes an array itself; mark it where another name for it is needed later."""
        operation = s.value
        assert isinstance(operation, ast.BinOp | ast.Call)
        old = operation.left if isinstance(operation, ast.BinOp) else operation.args[0]
        if not isinstance(old, ast.Name) or not is_local(old.id):
            return
        mine = core.base(old.id)
        versions = self.originals(old.id)
        in_step: frozenset[str] = getattr(s.value, "through", frozenset())
        alive = {n for n in alive if core.base(n) not in in_step or core.base(n) == mine}
        needed = set().union(*map(self.originals, alive), set())
        others = {n for n in alive & versions if core.base(n) != mine}
        rows = {
            h for v in versions for h in self.holders(v) if h in needed and core.base(h) != mine
        }
        if others or rows:
            ours = isinstance(operation, ast.BinOp)
            self.mark(s, "@unshared" if ours else "@unshared_values", [old.id])

    def check_calls(self, s: Assign | core.Do, node: ast.AST, alive: set[str]) -> None:
        """Refuse a call of a function that changes an argument which is needed later."""
        for call in ast.walk(node):
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
                continue
            if getattr(call, "gives_back", False):
                continue
            changing = self.changed_params(call.func.id)
            for place, a in enumerate(call.args):
                while place in changing and isinstance(a, ast.Subscript):
                    a = a.value
                if place in changing and isinstance(a, ast.Name) and is_local(a.id):
                    mine = {n for n in alive if core.base(n) == core.base(a.id)}
                    if mine & self.originals(a.id) or (a.id in alive):
                        self.refuse(
                            s,
                            f"the function {core.base(call.func.id)!r} changes its argument "
                            f"{core.base(a.id)!r}, which is read later",
                            "Return the changed value from the function and use that.",
                        )

    def changed_params(self, name: str) -> set[int]:
        """Which positional parameters a function stores into."""
        function = self.nested.get(name)
        if function is None and not is_local(name) and self.load is not None:
            function = self.load(name)
        return params_changed(function) if function is not None else set()

    def mark(self, s: Assign, helper: str, names: list[str]) -> None:
        """Have a check run before a store."""
        checked = ast.Expr(ast.Call(core.name(helper), [core.name(n) for n in names], []))
        check = core.Do(checked, replace(s.origin, comment="", above=()))
        found = self.checks.setdefault(s.target, [])
        if all(ast.dump(check.node) != ast.dump(other.node) for other in found):
            found.append(check)

    def holders(self, n: str) -> set[str]:
        """Names whose object `n` was read from with a plain index, or that hold it."""
        return {h for h, parts in self.elements.items() if n in parts}

    def refuse(self, s: Assign | core.Do, reason: str, way_out: str) -> None:
        node = ast.Pass()
        node.lineno = s.origin.line
        refusal = Refusal(reason, way_out, node)
        raise refusal.located(s.origin.file, s.origin.line, s.origin.text)


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


def params_changed(function: Function) -> set[int]:
    """Positions of the parameters that a function stores into, under their own names."""
    places = {p.name: i for i, p in enumerate(function.params)}
    found: set[int] = set()
    roots: dict[str, str] = {}
    for s in core.walk(function.body):
        if isinstance(s, Assign):
            value, targets = s.value, list(core.pattern_names(s.target))
            if is_store(value):
                first = value.args[0]  # type: ignore[attr-defined]
                if isinstance(first, ast.Name):
                    roots[targets[-1]] = roots.get(first.id, first.id)
                    if roots[targets[-1]] in places:
                        found.add(places[roots[targets[-1]]])
        elif isinstance(s, For | While):
            for c in s.carries:
                if isinstance(c.init, ast.Name):
                    roots[c.name] = roots.get(c.init.id, c.init.id)
    return found


def is_store(value: ast.expr) -> bool:
    return (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Name)
        and value.func.id in STORES
        and bool(value.args)
    )


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


def holds_twice(node: ast.expr) -> bool:
    """Whether a display names one object more than once."""
    parts = node.values if isinstance(node, ast.Dict) else node.elts  # type: ignore[attr-defined]
    names = [p.id for p in parts if isinstance(p, ast.Name) and is_local(p.id)]
    return len(names) != len(set(names))


def holds_mutable(node: ast.expr) -> bool:
    """Whether an expression is a list of lists, dictionaries or sets."""
    return isinstance(node, ast.List | ast.Tuple) and any(
        isinstance(e, ast.List | ast.Dict | ast.Set | ast.ListComp) for e in node.elts
    )


def is_nested(call: ast.Call) -> bool:
    """Whether a store goes into an item of the holder, not into a place of its own."""
    return len(call.args) > 2 and is_store(call.args[2])


def is_growth(call: ast.Call) -> bool:
    return core.is_call_of(call, "@appended", "@popped")


def has_slice(index: ast.expr) -> bool:
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return any(
        isinstance(p, ast.Slice) or isinstance(p, ast.Constant) and p.value in (..., None)
        for p in parts
    )


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
