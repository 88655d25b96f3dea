"""Foreign names: local names of lists, dictionaries and sets that others hold too.

    log = self.log            # changing `log` changes `self.log`: it is done where it stands
    log.append(x)

    rows = []                 # so is changing what was put into an object before
    self.rows = rows
    rows.append(x)

Containers of a function's own are values, and changing one gives a new version of its name.
Arrays are values whoever holds them, so only names that are used as containers count.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING, Any

from overt.rewrites.held_outside import (
    Outside,
    given,
    names_in,
    only_catches,
    paired,
)
from overt.rewrites.operated import grows, merges, operated_containers
from overt.rewrites.scopes import CHANGING, locals_of, own_nodes, parameters, root_name, yields
from overt.rewrites.shared_defaults import changed_defaults
from overt.rewrites.viewed import helper, loaded
from overt.rewrites.views import assigned_names

if TYPE_CHECKING:
    from overt.rewrites.building import Text

Definition = Callable[[str], ast.FunctionDef | None]
# Methods that arrays have as well, so that they tell nothing.
OF_ARRAYS = frozenset("sort fill".split())
# Methods whose name a module of functions has as well: `np.insert(x, 0, 1)`.
ALSO_FUNCTIONS = frozenset("append insert sort remove copy fill".split())
LISTS = (ast.List, ast.ListComp)
COPYING = frozenset("list dict copy OrderedDict".split())


def foreign_names(
    node: ast.FunctionDef, local: set[str], text: Text, shared: set[str], plain: Outside
) -> tuple[set[str], set[str], Outside]:
    """Names of containers that others hold too; those that may be, or be arrays; what is outside.

    `shared` are the parameters whose values others hold; `plain` is what is held outside without
    these.
    """
    body, definition = node.body, text.definition
    outside = held_outside(node, local, text, shared) if shared else plain
    found = set(outside.found)
    stored_at = stored_surely(body)
    found |= {n for n in put_outside(body, local, found, definition, stored_at)} & local
    found |= {n for n in stored_after_put(body, local, found).values() if n not in stored_at}
    copies = held_by_copies(body) & local
    used = {n for s in body for n in used_as_container(s, definition)} | stored_at
    used |= operated_containers(body, local, text.object)
    nodes = [inner for s in body for inner in own_nodes(s)]
    stored = {
        n
        for inner in nodes
        if isinstance(inner, ast.Subscript) and isinstance(inner.ctx, ast.Store)
        for n in root_name(inner.value)
    }
    used |= shared & changed_defaults(node)
    inside = {n for inner in nodes for n in changed_inside(inner, surely=True)}
    sure = found & used | outside.holding & inside
    unsure = (
        found & stored | {n for inner in nodes for n in changed_inside(inner)} & outside.holding
    )
    return sure | copies, unsure - sure - used - copies, outside


def held_outside(
    node: ast.FunctionDef, local: set[str], text: Text, shared: Collection[str] = ()
) -> Outside:
    """What of a function's variables others hold, `shared` among it."""
    work = Outside(local, set(shared), text.definition, text.methods, text.object)
    work.read = text.read
    return work.look_at(node.body)


def taken_from_globals(body: list[ast.stmt], local: set[str], names: set[str]) -> set[str]:
    """Those of some names that stand for items of global containers alone: `row = ROWS[0]`."""
    values: dict[str, list[ast.expr]] = {}
    for target, value in (pair for s in body for pair in given(s)):
        for name in set(names_in(target)) & names:
            values.setdefault(name, []).append(value if isinstance(target, ast.Name) else target)
    return {n for n, vs in values.items() if all(is_global_item(v, local) for v in vs)}


def is_global_item(node: ast.expr, local: set[str]) -> bool:
    while isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
        node = node.value
    return isinstance(node, ast.Name) and node.id not in local


def run_over_outside(node: ast.FunctionDef, local: set[str], outside: Outside) -> set[str]:
    """The variables of loops over what others hold: an operator such as `+=` changes it there."""
    loops = [n for s in node.body for n in own_nodes(s) if isinstance(n, ast.For)]
    over = [n for n in loops if outside.given_on(n.iter)]
    return {name for n in over for name in names_in(n.target)} & local


def given_outside(
    s: ast.stmt, local: set[str], found: set[str], definition: Definition
) -> Iterator[str]:
    """The names that a statement, or one inside it, gives to what others hold."""
    yield from Outside(local, found, definition).look_at([s]).found


def held_by_copies(body: list[ast.stmt]) -> set[str]:
    """Names of containers and of shallow copies of them, where what these hold is changed.

    `shallow = copy.copy(config)`, then `config["gains"][0] = 1.0`: both hold the changed list.
    """
    nodes = [n for s in body for n in own_nodes(s)]
    made: dict[str, list[ast.expr]] = {}
    for n in nodes:
        if isinstance(n, ast.Assign):
            for t, v in ((t, v) for target in n.targets for t, v in paired(target, n.value)):
                for name in names_in(t):
                    made.setdefault(name, []).append(v)
    literal = {n for n, values in made.items() if all(map(holds_containers, values))}
    groups = {n: {n} for n in literal}
    for name, values in made.items():
        for source in {c for v in values for c in copied_names(v)} & set(groups):
            if all(c in groups for v in values for c in copied_names(v)):
                groups[name] = groups.setdefault(name, {name}) | groups[source]
                for member in groups[name]:
                    groups[member] = groups[name]
    changed = {name for n in nodes for name in changed_inside(n)}
    return {n for group in groups.values() if len(group) > 1 and group & changed for n in group}


def holds_containers(node: ast.expr) -> bool:
    """Whether an expression surely is a list or dictionary of its own with containers in it."""
    items: list[ast.expr | None] = []
    if isinstance(node, ast.List):
        items = [*node.elts]
    elif isinstance(node, ast.Dict):
        items = [*node.values]
    elif isinstance(node, ast.ListComp):
        items = [node.elt]
    kinds = ast.List | ast.Dict | ast.ListComp | ast.DictComp
    return any(isinstance(item, kinds) for item in items)


def copied_names(node: ast.expr) -> Iterator[str]:
    """The names whose items an expression holds, as a list or dictionary of its own."""
    if isinstance(node, ast.Call):
        f, given = node.func, node.args
        if isinstance(f, ast.Attribute) and f.attr == "copy":
            given = node.args or [f.value]  # `copy.copy(x)`, `x.copy()`
        elif not (isinstance(f, ast.Name) and f.id in COPYING):
            return
        yield from (a.id for a in given if isinstance(a, ast.Name))
    elif isinstance(node, ast.Subscript):
        if isinstance(node.slice, ast.Slice) and isinstance(node.value, ast.Name):
            yield node.value.id
    elif isinstance(node, ast.List):
        starred = [e.value for e in node.elts if isinstance(e, ast.Starred)]
        yield from (e.id for e in starred if isinstance(e, ast.Name))
    elif isinstance(node, ast.Dict):
        merged = [v for k, v in zip(node.keys, node.values, strict=True) if k is None]
        yield from (v.id for v in merged if isinstance(v, ast.Name))


def changed_inside(n: ast.AST, surely: bool = False) -> Iterator[str]:
    """Names of containers of which a node changes what they hold: `x[i][j] = v`.

    `surely`, if that is no array.
    """
    place: ast.expr | None = None
    if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store | ast.Del):
        text = isinstance(n.slice, ast.Constant) and isinstance(n.slice.value, str)
        place = n.value if text or not surely else None
    elif isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr in CHANGING:
        place = n.func.value
    if isinstance(place, ast.Subscript):
        yield from root_name(place)


def lists_spread(body: list[ast.stmt], local: set[str], found: set[str]) -> None:
    """`rows += more` of others' rows, where `more` surely is a list, as `rows += [*more]`."""
    declared = [n for s in body for n in own_nodes(s) if isinstance(n, ast.Global | ast.Nonlocal)]
    local = local - {name for n in declared for name in n.names}
    made: dict[str, list[ast.expr]] = {}
    for s in body:
        for target, value in given(s):
            for name in names_in(target):
                whole = isinstance(target, ast.Name)
                made.setdefault(name, []).append(value if whole else ast.Constant(None))
    lists = {n for n, vs in made.items() if all(isinstance(v, LISTS) for v in vs)}
    for s in body:
        for n in own_nodes(s):
            if not isinstance(n, ast.AugAssign) or not isinstance(n.op, ast.Add):
                continue
            own = isinstance(n.target, ast.Name) and n.target.id in local - found
            if not own and isinstance(n.value, ast.Name) and n.value.id in lists:
                spread = ast.List([ast.Starred(n.value, ast.Load())], ast.Load())
                for part in (spread, *spread.elts):
                    ast.copy_location(part, n.value)
                n.value = spread


def stored_surely(body: list[ast.stmt]) -> set[str]:
    """Names of what surely is a list or dictionary made here, and whose items are set."""
    made: dict[str, bool] = {}
    stored: set[str] = set()
    for s in body:
        for target, value in given(s):
            for name in names_in(target):
                shown = isinstance(target, ast.Name) and is_display(value)
                made[name] = made.get(name, True) and shown
        stored |= {n.value.id for n in own_nodes(s) if is_item_store(n)}  # type: ignore[attr-defined]
    return {n for n in stored if made.get(n)}


def is_item_store(n: ast.AST) -> bool:
    """Whether a node is what `name[...] = v` stores into."""
    return (
        isinstance(n, ast.Subscript)
        and isinstance(n.ctx, ast.Store)
        and isinstance(n.value, ast.Name)
    )


def is_display(node: ast.expr) -> bool:
    """Whether an expression makes a list or dictionary: `[x]`, `[0.0] * n`."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Add):
        return any(isinstance(side, ast.List | ast.ListComp) for side in (node.left, node.right))
    return isinstance(node, ast.List | ast.Dict | ast.ListComp | ast.DictComp)


def put_outside(
    body: list[ast.stmt], local: set[str], found: set[str], definition: Definition,
    stored_at: set[str],
) -> Iterator[str]:  # fmt: skip
    """Own containers that are changed after they were put into something of others."""
    changes: dict[str, list[tuple[tuple[int, int], set[int]]]] = {}
    puts: list[tuple[str, tuple[int, int], set[int]]] = []

    def visit(block: list[ast.stmt], loops: set[int]) -> None:
        for s in block:
            inner = loops | {id(s)} if isinstance(s, ast.For | ast.While) else loops
            at = (getattr(s, "lineno", 0), getattr(s, "col_offset", 0))
            if isinstance(s, ast.For):
                held = given_to_generators(ast.Expr(s.iter), definition)
                puts.extend((name, at, loops) for name in held)
            if isinstance(s, ast.With):
                puts.extend((name, at, loops) for name in given_to_managers(s))
            blocks = [getattr(s, field, None) for field in ("body", "orelse", "finalbody")]
            if any(blocks) and not isinstance(s, ast.FunctionDef | ast.ClassDef):
                for part in blocks:
                    visit(part or [], inner)
                for handler in getattr(s, "handlers", ()):
                    visit(handler.body, inner)
                continue
            puts.extend((name, at, loops) for name in kept_by(s, local, found))
            puts.extend((name, at, loops) for name in given_to_generators(s, definition))
            at_items = {n.value.id for n in own_nodes(s) if is_item_store(n)} & stored_at  # type: ignore[attr-defined]
            for name in {*used_as_container(s, definition), *at_items}:
                changes.setdefault(name, []).append((at, loops))

    visit(body, set())
    for name, at, loops in puts:
        if any(later > at or loops & around for later, around in changes.get(name, ())):
            yield name


def stored_after_put(
    body: list[ast.stmt], local: set[str], found: set[str], operators: bool = False
) -> dict[int, str]:  # fmt: skip
    """The stores `name[i] = v` into what was put into something of others before, by their nodes.

    That may be a list or an array; what got its name after it was put there is another one. With
    `operators`, `name += v` of what was put outside of the function as well.
    """
    puts: list[tuple[str, int, set[int]]] = []
    stores: list[tuple[str, int, set[int], ast.stmt]] = []
    binds: list[tuple[str, int, set[int]]] = []
    count = 0

    def visit(block: list[ast.stmt], loops: set[int]) -> None:
        nonlocal count
        for s in block:
            count += 1
            inner = loops | {id(s)} if isinstance(s, ast.For | ast.While) else loops
            if isinstance(s, ast.FunctionDef | ast.ClassDef):
                continue
            for target, _ in given(s) if not hasattr(s, "body") else ():
                binds.extend((name, count, loops) for name in names_in(target))
            if isinstance(s, ast.For):
                binds.extend((name, count, inner) for name in names_in(s.target))
            if not hasattr(s, "body"):
                puts.extend((name, count, loops) for name in kept_by(s, local, found))
                for n in own_nodes(s):
                    if is_item_store(n):
                        stores.append((n.value.id, count, loops, s))  # type: ignore[attr-defined]
                if operators and isinstance(s, ast.AugAssign) and isinstance(s.target, ast.Name):
                    stores.append((s.target.id, count, loops, s))
            for field in ("body", "orelse", "finalbody"):
                visit(getattr(s, field, None) or [], inner)
            for handler in getattr(s, "handlers", ()):
                visit(handler.body, inner)

    visit(body, set())
    shown: dict[int, str] = {}
    for name, at, around, s in stores:
        mine = [(where, loops) for n, where, loops in binds if n == name]
        for put, put_at, put_in in puts:
            if put != name or name not in local:
                continue
            after = put_at < at and not any(put_at < where < at for where, _ in mine)
            again = put_in & around and not any(loops & put_in & around for _, loops in mine)
            if after or again:
                shown[id(s)] = name
    return shown


def with_checks_of_arrays(
    body: list[ast.stmt], local: set[str], foreign: set[str], outside: Outside
) -> list[ast.stmt]:  # fmt: skip
    """The statements, with a check before such a store that it is into no array."""
    shown = stored_after_put(body, local, outside.found, operators=True)
    if not any(name not in foreign for name in shown.values()):
        return body

    class Adds(ast.NodeTransformer):
        def generic_visit(self, node: ast.AST) -> Any:
            node = super().generic_visit(node)
            name = shown.get(id(node))
            if name is None or name in foreign:
                return node
            check = ast.Expr(helper("@own_array", loaded(name)))
            for n in ast.walk(check):
                ast.copy_location(n, node)
            return [check, node]

    return [new for s in body for new in listed(Adds().visit(s))]


def listed(x: Any) -> list[Any]:
    return x if isinstance(x, list) else [x]


def kept_by(s: ast.stmt, local: set[str], found: set[str]) -> Iterator[str]:
    """Local names that a statement puts into an attribute, a global, a container of others."""

    def is_outside(target: ast.expr) -> bool:
        root = target
        while isinstance(root, ast.Attribute | ast.Subscript):
            if isinstance(root, ast.Attribute):
                return True
            root = root.value
        return isinstance(root, ast.Name) and (root.id not in local or root.id in found)

    for n in own_nodes(s):
        if isinstance(n, ast.Assign) and any(map(is_outside, n.targets)):
            yield from shown_names(n.value)
        elif isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute):
            if n.func.attr in CHANGING and is_outside(n.func.value):
                for a in n.args:
                    yield from shown_names(a)


def takes_turns(node: ast.FunctionDef | None) -> bool:
    """Whether a function is a generator whose caller sees what it changes at each step."""
    return node is not None and yields(node) and changes_others(node)


def given_to_generators(s: ast.stmt, definition: Definition) -> Iterator[str]:
    """The names whose objects generators are given that change what others see."""
    for n in own_nodes(s):
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Name):
            if takes_turns(definition(n.func.id)):
                for a in (*n.args, *(k.value for k in n.keywords)):
                    yield from shown_names(a)


def given_to_managers(s: ast.With) -> Iterator[str]:
    """The names whose objects the context managers of a block are given, and may change later."""
    for item in s.items:
        call = item.context_expr
        if isinstance(call, ast.Call) and not only_catches(call):
            for a in (*call.args, *(k.value for k in call.keywords)):
                yield from shown_names(a)


def shown_names(node: ast.expr) -> Iterator[str]:
    """The names whose objects a value holds as they are."""
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Tuple | ast.List):
        for e in node.elts:
            yield from shown_names(e)
    elif isinstance(node, ast.Dict):
        for e in node.values:
            yield from shown_names(e)


def used_as_container(s: ast.stmt, definition: Definition) -> Iterator[str]:
    """Names that a statement, or one inside it, changes as only containers are changed."""
    for n in ast.walk(s):
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute):
            if n.func.attr in CHANGING - OF_ARRAYS and isinstance(n.func.value, ast.Name):
                yield n.func.value.id
        elif isinstance(n, ast.Subscript) and isinstance(n.value, ast.Name):
            text = isinstance(n.slice, ast.Constant) and isinstance(n.slice.value, str)
            if isinstance(n.ctx, ast.Del) or isinstance(n.ctx, ast.Store) and text:
                yield n.value.id
        elif isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name):
            if grows(n) or merges(n):
                yield n.target.id
        elif isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.args:
            yield from given_to_helper(n, definition(n.func.id))


def given_to_helper(call: ast.Call, helper: ast.FunctionDef | None) -> Iterator[str]:
    """Names given to a helper that changes them as only containers are changed."""
    if helper is None:
        return
    names = [a.arg for a in (*helper.args.posonlyargs, *helper.args.args)]
    used = {n for s in helper.body for n in used_as_container(s, lambda name: None)}
    for name, value in zip(names, call.args, strict=False):
        if name in used and isinstance(value, ast.Name):
            yield value.id


def changes_others(node: ast.FunctionDef) -> bool:
    """Whether a generator changes objects that are not its own, or yields one that it goes on
    to change: then it matters when its statements run.
    """
    statements = {id(n.value) for n in own_nodes(node) if isinstance(n, ast.Expr)}
    bound = {n for s in node.body for n in assigned_names(s)}
    local = locals_of(node)
    others = parameters(node) - bound
    while True:
        more = {n for s in node.body for n in given_outside(s, local, others, lambda _: None)}
        if more & local <= others:
            break
        others |= more & local
    yielded = {
        n.value.id
        for n in own_nodes(node)
        if isinstance(n, ast.Yield) and isinstance(n.value, ast.Name)
    }
    for n in own_nodes(node):
        place: ast.expr | None = None
        surely_container = False
        if isinstance(n, ast.Subscript | ast.Attribute):
            if isinstance(n.ctx, ast.Store | ast.Del):
                place = n.value if isinstance(n, ast.Subscript) else n
        elif isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute):
            method = n.func.attr
            if method in CHANGING and (id(n) in statements or method not in ALSO_FUNCTIONS):
                place, surely_container = n.func.value, method != "sort"
        while isinstance(place, ast.Subscript):
            place = place.value
        if isinstance(place, ast.Attribute):
            return True
        if isinstance(place, ast.Name):
            if place.id in others or place.id not in local:
                return True
            if surely_container and place.id in yielded:
                return True
    return False
