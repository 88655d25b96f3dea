"""Iterators that come to an end, as lists of what is left of them.

    it = iter(xs)                           it = list(xs)
    first = next(it)             ->         first = it.pop(0)
    for x in it:                            for x in it:
        ...                                     ...
                                            it = []

    next(v for v in xs if v > 0)  ->        for v in xs:
                                                if v > 0:
                                                    found = v
                                                    break

Only where every use of the iterator says how much it takes; others stay what they are.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Sequence
from typing import NamedTuple

from overt.rewrites.foreign import changes_others
from overt.rewrites.generators import listed
from overt.rewrites.grown import COMPREHENSIONS
from overt.rewrites.refusal import Refusal
from overt.rewrites.scopes import (
    NESTED,
    Renamed,
    free_names,
    free_names_of_class,
    new_name,
    own_nodes,
    targets_of,
    yields,
)
from overt.rewrites.statement_walk import StatementWalk

Known = Callable[[ast.expr], str]  # "module.name" of what an expression names outside
Definition = Callable[[str], ast.FunctionDef | None]


class Uses(NamedTuple):
    """How often a variable is read, and where last; in a loop it is read again and again."""

    often: int
    last: tuple[int, int]


Rest = dict[str, Uses]

MAKERS = frozenset(
    [f"builtins.{n}" for n in ("iter", "enumerate", "zip", "map", "filter", "reversed")]
    + [
        f"itertools.{n}"
        for n in (
            "accumulate", "chain", "combinations", "combinations_with_replacement", "compress",
            "groupby", "islice", "pairwise", "permutations", "product", "starmap", "zip_longest",
        )
    ]
)  # fmt: skip
WHOLE = frozenset(
    f"builtins.{n}" for n in ("sum", "list", "tuple", "max", "min", "sorted", "dict", "set")
)
ADVANCING = ("builtins.next", "builtins.iter", "itertools.takewhile")
NAMED = ast.Lambda | ast.Name | ast.Attribute  # may be written where it is called
FIRST = ("builtins.filter", "itertools.dropwhile", "itertools.filterfalse")
ALL = WHOLE | {"builtins.enumerate"}


class NotClear(Exception):
    """An iterator is used in a way that does not say what is left of it."""


def iterators_as_lists(
    node: ast.FunctionDef, known: Known, definition: Definition, taken: set[str]
) -> ast.FunctionDef:
    """A function with its iterators as lists; those of nested functions are theirs."""
    found = [n for s in node.body if not isinstance(s, NESTED) for n in own_nodes(s)]
    for n in found:
        if isinstance(n, ast.For):
            n.iter = groups_as_lists(n, n.body, known)
        elif isinstance(n, COMPREHENSIONS) and len(n.generators) == 1:
            items = [n.key, n.value] if isinstance(n, ast.DictComp) else [n.elt]
            (g,) = n.generators
            g.iter = groups_as_lists(g, [*g.ifs, *items], known)
    calls = [n for n in found if isinstance(n, ast.Call)]
    if any(isinstance(n, ast.Name) and n.id == "StopIteration" for n in found):
        return node
    makes = maker_of_lists(node, found, known, definition)
    names = iterators_of(node, found, makes)
    names = {n: uses for n, uses in names.items() if uses.often > 1}
    if not names and not any(known(n.func) in ADVANCING for n in calls):
        return node
    unclear: set[str] = set()
    while True:
        work = Iterators(known, taken, names, makes, unclear)
        try:
            body = work.block(copy.deepcopy(node.body))
            break
        except NotClear as found_unclear:
            unclear.add(found_unclear.args[0])
            names = {n: c for n, c in names.items() if n not in unclear}
    uses = uses_in(node.body, False)
    for s in (n for n in found if isinstance(n, ast.For)):
        for name in sorted(unclear & loads(s.iter)):
            end = s.end_lineno or s.lineno, s.end_col_offset or 0
            breaks = any(isinstance(n, ast.Break) for inner in s.body for n in ast.walk(inner))
            if breaks and uses[name].last > end:
                refuse_what_is_left(name, s)
    made = copy.copy(node)
    made.body = body
    return ast.fix_missing_locations(made)


def refuse_what_is_left(name: str, node: ast.AST) -> None:
    raise Refusal(
        f"how much is left of the iterator {name!r} depends on its values",
        "Make it a list, and read that by index.",
        node,
    )


def groups_as_lists(
    loop: ast.For | ast.comprehension, body: Sequence[ast.AST], known: Known
) -> ast.expr:
    """What a loop over `groupby` runs over, each group a list where it is read once, and whole."""
    names = [t.id for t in getattr(loop.target, "elts", ()) if isinstance(t, ast.Name)]
    made = isinstance(loop.iter, ast.Call) and known(loop.iter.func) == "itertools.groupby"
    if not made or len(names) != 2 or names[0] == names[1]:
        return loop.iter
    key, group = names
    nodes = [n for inner in body for n in ast.walk(inner)]
    reads = [n for n in nodes if isinstance(n, ast.Name) and n.id == group]
    whole: list[ast.expr] = []
    for n in nodes:
        if isinstance(n, ast.For):
            whole.append(n.iter)
        elif isinstance(n, COMPREHENSIONS):
            whole.append(n.generators[0].iter)
        elif isinstance(n, ast.Call) and known(n.func) in WHOLE:
            whole += n.args
    loops = [n for n in nodes if isinstance(n, ast.For | ast.While)]
    again = [n for inner in loops for s in inner.body for n in ast.walk(s)]
    if most_reads(body, group) != 1 or any(r not in whole or r in again for r in reads):
        return loop.iter
    items = ast.Call(ast.Name("list", ast.Load()), [ast.Name(group, ast.Load())], [])
    pair = ast.Tuple([ast.Name(key, ast.Load()), items], ast.Load())
    target = ast.Tuple([ast.Name(n, ast.Store()) for n in names], ast.Store())
    lists = ast.ListComp(pair, [ast.comprehension(target, loop.iter, [], 0)])
    return ast.fix_missing_locations(ast.copy_location(lists, loop.iter))


def most_reads(body: Sequence[ast.AST], name: str) -> int:
    """How often a variable is read on the path that reads it most."""
    count = 0
    for s in body:
        if isinstance(s, ast.If):
            most = max(most_reads(s.body, name), most_reads(s.orelse, name))
            count += most_reads([s.test], name) + most
        else:
            count += sum(isinstance(n, ast.Name) and n.id == name for n in ast.walk(s))
    return count


def maker_of_lists(
    node: ast.FunctionDef, found: list[ast.AST], known: Known, definition: Definition
) -> Callable[[ast.expr], bool]:
    """Which expressions make an iterator that comes to an end."""
    nested = [n for n in found if isinstance(n, ast.FunctionDef)]
    nested += [s for s in node.body if isinstance(s, ast.FunctionDef)]
    generators = {f.name for f in nested if yields(f) and becomes_list(f)}
    changing = {f.name for f in nested if changes_others(f)}

    def makes(value: ast.expr) -> bool:
        if isinstance(value, ast.GeneratorExp):
            return not any(isinstance(n, ast.Name) and n.id in changing for n in ast.walk(value))
        if not isinstance(value, ast.Call):
            return False
        name = known(value.func)
        if name == "builtins.iter" and len(value.args) != 1:
            return False
        if name in MAKERS:
            return True
        if not isinstance(value.func, ast.Name):
            return False
        other = definition(value.func.id)
        outer = other is not None and yields(other) and becomes_list(other)
        return value.func.id in generators or outer

    return makes


def iterators_of(
    node: ast.FunctionDef, found: list[ast.AST], makes: Callable[[ast.expr], bool]
) -> Rest:
    """The variables that only ever hold iterators, with how often they are used."""
    inner = set().union(
        *[
            free_names(n)
            for n in [*node.body, *found]
            if isinstance(n, ast.FunctionDef | ast.Lambda)
        ],
        *[free_names_of_class(n) for n in node.body if isinstance(n, ast.ClassDef)],
    )
    made: dict[str, bool] = {}
    stores: dict[str, int] = {}
    for n in found:
        for name, value in assignments(n):
            made[name] = made.get(name, True) and makes(value)
            stores[name] = stores.get(name, 0) - 1
        if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load):
            stores[n.id] = stores.get(n.id, 0) + 1
    uses = uses_in(node.body, False)
    arguments = {a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)}
    return {
        n: uses.get(n, Uses(0, (0, 0)))
        for n, good in made.items()
        if good and not stores[n] and n not in inner | arguments
    }


def assignments(s: ast.AST) -> list[tuple[str, ast.expr]]:
    """The variables that a statement sets to a value each: `a = x`, and `a, b = x, y`."""
    if not isinstance(s, ast.Assign) or len(s.targets) != 1:
        return []
    target, value = s.targets[0], s.value
    if isinstance(target, ast.Name):
        return [(target.id, value)]
    both = isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List)
    if not both or len(target.elts) != len(value.elts):  # type: ignore[attr-defined]
        return []
    pairs = zip(target.elts, value.elts, strict=True)  # type: ignore[attr-defined]
    return [(t.id, v) for t, v in pairs if isinstance(t, ast.Name)]


def uses_in(body: list[ast.stmt], again: bool) -> Rest:
    """How often variables are read by statements; `again`: these are in a loop."""
    found: Rest = {}

    def see(node: ast.AST, again: bool) -> None:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            count, last = found.get(node.id, (0, (0, 0)))
            here = (10**9, 0) if again else place_of(node)
            found[node.id] = Uses(count + 1 + again, max(last, here))
        for key, part in ast.iter_fields(node):
            inside = again or isinstance(node, ast.For | ast.While) and key in ("body", "test")
            for n in part if isinstance(part, list) else [part]:
                if isinstance(n, ast.AST):
                    see(n, inside)

    for s in body:
        see(s, again)
    return found


def becomes_list(node: ast.FunctionDef) -> bool:
    return listed(node, set()) is not node


class Iterators(StatementWalk):
    """Rewrites the statements of one function."""

    def __init__(
        self,
        known: Known,
        taken: set[str],
        names: Rest,
        makes: Callable[[ast.expr], bool],
        unclear: set[str],
    ) -> None:
        self.known, self.taken, self.names, self.makes = known, taken, names, makes
        self.unclear = unclear  # iterators that stay what they are
        self.before: list[ast.stmt] = []
        self.after: list[ast.stmt] = []
        self.read_again: set[str] = set()  # what the statement reads more than once

    # --- statements

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        done: list[ast.stmt] = []
        for s in body:
            outer = self.before, self.after
            self.before, self.after = [], []
            reads = [n.id for n in ast.walk(s) if isinstance(n, ast.Name)]
            self.read_again = {n for n in self.names if reads.count(n) > 1}
            new = self.statement(s)
            done += [ast.copy_location(n, s) for n in (*self.before, *new, *self.after)]
            self.before, self.after = outer
        return done

    def statement(self, s: ast.stmt) -> list[ast.stmt]:
        if isinstance(s, NESTED):
            return [s]
        for name, value in assignments(s):
            lazy = isinstance(value, ast.Call) and self.known(value.func) in MAKERS
            if lazy or isinstance(value, ast.GeneratorExp):
                self.refuse_if_taken_later(name, value)
            if name in self.names:
                made = value
                if isinstance(value, ast.Call) and self.known(value.func) == "builtins.iter":
                    made = value.args[0]
                made = call("list", self.visit(made))
                if value is s.value:  # type: ignore[attr-defined]
                    s.value = made  # type: ignore[attr-defined]
                    return [s]
                elements = s.value.elts  # type: ignore[attr-defined]
                elements[elements.index(value)] = made
        if isinstance(s, ast.For) and isinstance(s.iter, ast.Name) and s.iter.id in self.names:
            return self.loop(s, s.iter.id)
        if isinstance(s, ast.For) and isinstance(s.iter, ast.Call) and not s.orelse:
            if self.known(s.iter.func) == "itertools.takewhile":
                test, s.iter = s.iter.args
                return self.while_holds(s, test)
        if isinstance(s, ast.For) and any(n in self.names for n in loads(s.iter)):
            inside = {n for b in s.body for n in loads(b)}
            for n in sorted(inside & loads(s.iter) & set(self.names)):
                raise NotClear(n)
        self.walk(s)
        return [s]

    def part(self, s: ast.stmt, key: str, value: ast.AST) -> ast.AST:
        if key == "value" and isinstance(value, ast.Name) and is_unpacking(s):
            return self.whole(value)
        return self.visit(value)

    def source(self, node: ast.expr) -> ast.expr:
        return self.whole(node)

    def loop(self, s: ast.For, name: str) -> list[ast.stmt]:
        inside = [n for b in (*s.body, *s.orelse) for n in ast.walk(b)]
        touched = any(isinstance(n, ast.Name) and n.id == name for n in inside)
        leaves = any(isinstance(n, ast.Break | ast.Return) for n in inside)
        if not touched and not (leaves and self.names[name].often > 1):
            s.body, s.orelse = self.block(s.body), self.block(s.orelse)
            return [s, empty(name)] if self.names[name].often > 1 else [s]
        step: ast.stmt = ast.Assign([s.target], first_of(name))
        body = [ast.copy_location(step, s), *self.block(s.body)]
        return [ast.While(some_left(name), body, self.block(s.orelse))]

    def while_holds(self, s: ast.For, test: ast.expr) -> list[ast.stmt]:
        """`for v in takewhile(test, xs)`: the loop is left once the test does not hold."""
        item = new_name("item", self.taken)
        ends = ast.UnaryOp(ast.Not(), ast.Call(test, [ast.Name(item, ast.Load())], []))
        given = ast.Assign([s.target], ast.Name(item, ast.Load()))
        s.target = ast.Name(item, ast.Store())
        s.body = [
            ast.copy_location(n, s) for n in (ast.If(ends, [ast.Break()], []), given)
        ] + s.body
        return self.statement(s)

    # --- expressions

    def visit_Name(self, node: ast.Name) -> ast.Name:
        if node.id in self.names and isinstance(node.ctx, ast.Load):
            raise NotClear(node.id)
        return node

    def whole(self, node: ast.expr) -> ast.expr:
        """All that is left of an iterator; of other things what they are."""
        if not isinstance(node, ast.Name) or node.id not in self.names:
            return self.visit(node)
        if self.names[node.id].often > 1:
            if self.fixed:
                raise NotClear(node.id)
            if node.id in self.read_again:
                return emptied(node)
            self.after.append(empty(node.id))
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        name = self.known(node.func)
        if name == "builtins.next" and node.args:
            return ast.copy_location(self.next(node), node)
        if name == "builtins.zip" and len(node.args) > 1:
            first = node.args[0]
            same = isinstance(first, ast.Name) and first.id in self.names
            if same and len({ast.dump(a) for a in node.args}) == 1:
                count = len(node.args)
                if self.fixed or self.names[first.id].last > place_of(node.args[-1]):  # type: ignore[union-attr]
                    raise NotClear(first.id)  # type: ignore[union-attr]
                self.after.append(empty(first.id))  # type: ignore[union-attr]
                parts = [every(first, i, count) for i in range(count)]
                return ast.copy_location(ast.Call(node.func, parts, node.keywords), node)
        if name == "itertools.islice" and len(node.args) == 2 and not self.fixed:
            held = node.args[0]
            if isinstance(held, ast.Name) and held.id in self.names:
                return ast.copy_location(self.some(held.id, self.visit(node.args[1])), node)
        if name in ("builtins.any", "builtins.all"):
            self.refuse_if_used_later(node)
        if name in WHOLE or name in MAKERS:
            for a in node.args:
                if isinstance(a, ast.Name) and a.id in self.names and name not in ALL:
                    if self.names[a.id].last > place_of(a):
                        raise NotClear(a.id)  # how much of it is left?
            node.args = [self.whole(a) for a in node.args]
            return node
        return self.generic_visit(node)  # type: ignore[return-value]

    def refuse_if_used_later(self, node: ast.Call) -> None:
        """Where `any` and `all` stop depends on values, and so does what they leave."""
        for n in ast.walk(node):
            if isinstance(n, ast.Name) and n.id in self.names:
                if self.names[n.id].last > place_of(n):
                    refuse_what_is_left(n.id, node)

    def refuse_if_taken_later(self, name: str, value: ast.expr) -> None:
        """An iterator over another one takes its items one by one, not at once."""
        others = loads(value) - {name}
        if others & self.unclear and name in self.names:
            raise NotClear(name)
        for other in sorted(others & set(self.names)):
            reads = [n for n in ast.walk(value) if isinstance(n, ast.Name) and n.id == other]
            if self.names[other].last > max(map(place_of, reads)):
                raise NotClear(other)

    def comprehension(self, node: ast.AST) -> ast.AST:
        """One that takes items from what it runs over leaves to Python when they are taken."""
        generators: list[ast.comprehension] = node.generators  # type: ignore[attr-defined]
        for held in sorted(loads(node) & set(self.names)):
            reads = [n for n in ast.walk(node) if isinstance(n, ast.Name) and n.id == held]
            run_over = any(held in loads(g.iter) for g in generators)
            if run_over and len(reads) > 1 and not is_zip_of(generators, held, len(reads)):
                raise NotClear(held)
        return super().comprehension(node)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = comprehension

    def next(self, node: ast.Call) -> ast.expr:
        source = node.args[0]
        if isinstance(source, ast.Name) and source.id in self.names:
            taken = first_of(source.id)
            if len(node.args) == 1:
                return taken
            return ast.IfExp(some_left(source.id), taken, self.visit(node.args[1]))
        if isinstance(source, ast.Call) and isinstance(source.func, ast.Name):
            if self.makes(source) and self.known(source.func) not in MAKERS:
                node.args[0] = call("iter", source)  # a list by now
        if isinstance(source, ast.Call) and not self.fixed:
            source = self.as_expression(source)
        simple = isinstance(source, ast.GeneratorExp) and len(source.generators) == 1
        if self.fixed or not simple:
            return self.generic_visit(node)  # type: ignore[return-value]
        assert isinstance(source, ast.GeneratorExp)
        return self.searched(source, node.args[1:])

    def as_expression(self, source: ast.Call) -> ast.expr:
        """`filter(f, xs)` as `(v for v in xs if f(v))`, where the first item is asked for."""
        name, args = self.known(source.func), source.args
        if name not in FIRST or len(args) != 2 or not isinstance(args[0], NAMED):
            return source
        item = new_name("item", self.taken)
        test: ast.expr = ast.Call(args[0], [ast.Name(item, ast.Load())], [])
        if name != "builtins.filter":
            test = ast.UnaryOp(ast.Not(), test)
        every = ast.comprehension(ast.Name(item, ast.Store()), args[1], [test], 0)
        made = ast.GeneratorExp(ast.Name(item, ast.Load()), [every])
        return ast.fix_missing_locations(ast.copy_location(made, source))

    def searched(self, source: ast.GeneratorExp, default: list[ast.expr]) -> ast.expr:
        """The first value of a generator expression, by a loop."""
        source.generators[0].iter = self.visit(source.generators[0].iter)
        found, statements = search(source, [self.visit(d) for d in default], self.taken)
        self.before += statements
        return found

    def some(self, name: str, count: ast.expr) -> ast.expr:
        """The next few."""
        held = new_name("taken", self.taken)
        parts = (ast.Slice(None, count, None), ast.Slice(count, None, None))
        for target, part in zip((held, name), parts, strict=True):
            value = ast.Subscript(ast.Name(name, ast.Load()), part, ast.Load())
            self.before.append(ast.Assign([ast.Name(target, ast.Store())], value))
        return ast.Name(held, ast.Load())

    visit_IfExp = visit_BoolOp = visit_Lambda = StatementWalk.conditional


def search(
    source: ast.GeneratorExp, default: list[ast.expr], taken: set[str]
) -> tuple[ast.expr, list[ast.stmt]]:
    """`next(v for v in xs if ...)`: the name of what is found, and the loop that finds it."""
    found = new_name("found", taken)
    (generator,) = source.generators
    renamed = Renamed({n: new_name(n, taken) for n in sorted(targets_of(source))})
    step: list[ast.stmt] = [
        ast.Assign([ast.Name(found, ast.Store())], renamed.visit(source.elt)), ast.Break()
    ]  # fmt: skip
    for condition in reversed(generator.ifs):
        step = [ast.If(renamed.visit(condition), step, [])]
    loop = ast.For(renamed.visit(generator.target), generator.iter, step, [])
    before: list[ast.stmt] = [ast.Assign([ast.Name(found, ast.Store())], d) for d in default]
    return ast.Name(found, ast.Load()), [*before, loop]


def is_zip_of(generators: list[ast.comprehension], held: str, reads: int) -> bool:
    """Whether a comprehension reads an iterator in `zip(it, it)` only, over which it runs first."""
    items = generators[0].iter
    if not (isinstance(items, ast.Call) and len(items.args) == reads):
        return False
    return all(isinstance(a, ast.Name) and a.id == held for a in items.args)


def is_unpacking(s: ast.stmt) -> bool:
    return isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Tuple | ast.List)


def place_of(node: ast.AST) -> tuple[int, int]:
    """Where an expression stands; those that a pass has made stand nowhere."""
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def loads(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def call(name: str, *args: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), list(args), [])


def first_of(name: str) -> ast.expr:
    pop = ast.Attribute(ast.Name(name, ast.Load()), "pop", ast.Load())
    return ast.Call(pop, [ast.Constant(0)], [])


def some_left(name: str) -> ast.expr:
    return ast.Compare(call("len", ast.Name(name, ast.Load())), [ast.Gt()], [ast.Constant(0)])


def empty(name: str) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], ast.List([], ast.Load()))


def emptied(node: ast.Name) -> ast.expr:
    """What a list holds, after which it is empty: `(it, it := [])[0]`."""
    step = ast.NamedExpr(ast.Name(node.id, ast.Store()), ast.List([], ast.Load()))
    pair = ast.Tuple([node, step], ast.Load())
    return ast.Subscript(pair, ast.Constant(0), ast.Load())


def every(held: ast.expr, start: int, step: int) -> ast.expr:
    part = ast.Slice(ast.Constant(start), None, ast.Constant(step))
    return ast.Subscript(copy.copy(held), part, ast.Load())
