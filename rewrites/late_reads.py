"""Iterators that would read what has changed since they were made: refused.

    it = iter(xs)
    xs.append(v)            # Python's `it` has one more item
    return sum(it)

Here an iterator runs over what was there when it was made.  So does one that is given to a method
of what it reads: `xs.extend(map(lambda m: m * xs[-1], rates))`.  Of a statement
with a generator expression, `lengthened` makes a loop.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from overt.rewrites.iterators import MAKERS, assignments, place_of, uses_in
from overt.rewrites.refusal import Refusal
from overt.rewrites.scopes import CHANGING, free_names, locals_of, own_nodes, targets_of, yields

Known = Callable[[ast.expr], str]  # "module.name" of what an expression names outside
Nested = dict[str, ast.FunctionDef | ast.Lambda]
LOOPS = (ast.For, ast.While)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def refuse_late_reads(node: ast.FunctionDef, known: Known) -> None:
    """Errors: Refusal where a variable's iterator is used after a change of what it runs over."""
    found = [n for s in node.body for n in (s, *own_nodes(s))]
    refuse_stores_in_comprehensions(found, known)
    refuse_changes_of_what_is_read(node, found, known)
    made = [
        (name, value, n)
        for n in found
        for name, value in assignments(n)
        if isinstance(value, ast.GeneratorExp)
        or isinstance(value, ast.Call)
        and known(value.func) in MAKERS
    ]
    if not made:
        return
    uses = uses_in(node.body, False)
    loops = [n for n in found if isinstance(n, LOOPS)]
    for name, value, s in made:
        if name not in uses:
            continue
        over, late = run_over(value, known), read_late(value)
        around = [set(map(id, ast.walk(loop))) for loop in loops]
        around = [loop for loop in around if id(s) in loop]
        start, end = place_of(s), uses[name].last
        for n in found:
            if n is s or not isinstance(n, ast.stmt):
                continue
            if not (start < place_of(n) < end or any(id(n) in loop for loop in around)):
                continue
            changed = set(contents_changed(n)) & (over | late) | bound(n) & late
            for other in sorted(changed - {name}):
                raise Refusal(
                    f"{other!r} changes while the iterator {name!r}, which reads it when it is "
                    "advanced, is in use",
                    f"Make a list of the iterator: `{name} = list(...)`.",
                    n,
                )


def refuse_stores_in_comprehensions(found: list[ast.AST], known: Known) -> None:
    """Errors: Refusal for `any(d.__setitem__(k, v) for ...)`, whose stores have no statements."""
    comprehensions = (n for n in found if isinstance(n, COMPREHENSIONS))
    for n in (n for made in comprehensions for n in ast.walk(made)):
        if not isinstance(n, ast.Call):
            continue
        method = getattr(n.func, "attr", "") in ("__setitem__", "__delitem__")
        if method or known(n.func) in ("_operator.setitem", "_operator.delitem"):
            raise Refusal(
                f"{ast.unparse(n.func)} changes a container in a comprehension",
                "Write a loop of stores: `for k, v in pairs: d[k] = v`.",
                n,
            )


def refuse_changes_of_what_is_read(
    node: ast.FunctionDef, found: list[ast.AST], known: Known
) -> None:
    """Errors: Refusal for `xs.extend(it)` where the items of `it` are made from `xs`."""
    nested: Nested = {n.name: n for n in found if isinstance(n, ast.FunctionDef)}
    for n in found:
        nested |= {name: f for name, f in assignments(n) if isinstance(f, ast.Lambda)}
    local = locals_of(node)
    looped = {id(n.value) for n in found if isinstance(n, ast.Expr)}
    target: ast.expr
    for n in found:
        if isinstance(n, ast.AugAssign):
            target, given, in_loop = n.target, [n.value], True
        elif isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute):
            if n.func.attr not in ("extend", "update"):
                continue
            target, given = n.func.value, n.args
            in_loop = id(n) in looped
        else:
            continue
        if root_of(target) not in local:
            continue
        for items in given:
            if reads_holder(items, target, nested, known) or runs_over(items, target, n, known):
                if not (in_loop and is_loop(items, n)):
                    raise Refusal(
                        f"{ast.unparse(target)!r} changes while an iterator that reads it is "
                        "given to it",
                        "Write the loop, or make a list of the iterator first.",
                        n,
                    )


def is_loop(items: ast.expr, s: ast.AST) -> bool:
    """Whether `lengthened` makes a loop of this: of pairs for a dictionary, of items for a list."""
    if not isinstance(items, ast.GeneratorExp):
        return False
    return not is_update(s) or isinstance(items.elt, ast.Tuple) and len(items.elt.elts) == 2


def is_update(s: ast.AST) -> bool:
    call = s.value if isinstance(s, ast.Expr) else s
    return isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "update"


def reads_holder(items: ast.expr, place: ast.expr, nested: Nested, known: Known) -> bool:
    """Whether an iterator made here reads, when it is advanced, what holds a place."""
    inner: list[ast.FunctionDef | ast.Lambda] = []
    if isinstance(items, ast.Call):
        makes = nested.get(items.func.id) if isinstance(items.func, ast.Name) else None
        if isinstance(makes, ast.FunctionDef) and yields(makes):
            inner = [makes]
        elif known(items.func) in MAKERS:
            inner = [nested[a.id] for a in items.args if isinstance(a, ast.Name) and a.id in nested]
        else:
            return False
    elif not isinstance(items, ast.GeneratorExp):
        return False
    while isinstance(place, ast.Subscript):
        place = place.value
    if isinstance(place, ast.Name):
        return place.id in read_late(items).union(*map(free_names, inner))
    holder = ast.unparse(place)
    parts = [n for part in (items, *inner) for n in ast.walk(part)]
    return any(isinstance(n, ast.Attribute) and ast.unparse(n) == holder for n in parts)


def runs_over(items: ast.expr, place: ast.expr, s: ast.AST, known: Known) -> bool:
    """Whether a list is lengthened by an iterator over itself, from its start."""
    if is_update(s) or not isinstance(items, ast.Call) or not isinstance(place, ast.Name):
        return False
    return known(items.func) in MAKERS - {"builtins.reversed"} and place.id in run_over(
        items, known
    )


def root_of(place: ast.expr) -> str:
    """`rows` of `rows[k].items`; empty where finding the place again computes something."""
    while isinstance(place, ast.Subscript | ast.Attribute):
        if isinstance(place, ast.Subscript) and not isinstance(
            place.slice, ast.Name | ast.Constant
        ):
            return ""
        place = place.value
    return place.id if isinstance(place, ast.Name) else ""


def run_over(value: ast.expr, known: Known) -> set[str]:
    """The variables whose objects an iterator runs over."""
    if isinstance(value, ast.GeneratorExp):
        return run_over(value.generators[0].iter, known)
    if isinstance(value, ast.Call):
        if known(value.func) in MAKERS:
            return set().union(*(run_over(a, known) for a in value.args))
        method = value.func
        if isinstance(method, ast.Attribute) and method.attr in ("items", "values", "keys"):
            return run_over(method.value, known)
        return set()
    while isinstance(value, ast.Subscript | ast.Attribute | ast.Starred):
        value = value.value
    return {value.id} if isinstance(value, ast.Name) else set()


def read_late(value: ast.expr) -> set[str]:
    """The variables that an iterator reads whenever it is advanced."""
    found: set[str] = set()
    for n in ast.walk(value):
        if isinstance(n, ast.Lambda):
            found |= free_names(n)
        elif isinstance(n, ast.GeneratorExp):
            first = {id(m) for m in ast.walk(n.generators[0].iter)}
            names = [m for m in ast.walk(n) if isinstance(m, ast.Name) and id(m) not in first]
            found |= {m.id for m in names} - targets_of(n)
    return found


def contents_changed(s: ast.stmt) -> Iterator[str]:
    """The variables whose object a statement changes itself."""
    places: list[ast.expr] = []
    for n in parts(s):
        if isinstance(n, ast.Subscript | ast.Attribute) and isinstance(n.ctx, ast.Store | ast.Del):
            places.append(n.value)
        elif isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute):
            if n.func.attr in CHANGING:
                places.append(n.func.value)
    if isinstance(s, ast.AugAssign):
        places.append(s.target)
    for place in places:
        while isinstance(place, ast.Subscript | ast.Attribute):
            place = place.value
        if isinstance(place, ast.Name):
            yield place.id


def bound(s: ast.stmt) -> set[str]:
    return {n.id for n in parts(s) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}


def parts(s: ast.stmt) -> list[ast.AST]:
    """The parts of a statement that are in none of its blocks."""
    found: list[ast.AST] = []
    for value in ast.iter_child_nodes(s):
        if not isinstance(value, ast.stmt | ast.ExceptHandler | ast.match_case):
            found += ast.walk(value)
    return found
