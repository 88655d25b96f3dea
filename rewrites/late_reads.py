"""Iterators that would read what has changed since they were made: refused.

    it = iter(xs)
    xs.append(v)            # Python's `it` has one more item
    return sum(it)

Here an iterator runs over what was there when it was made.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from overt.rewrites.iterators import MAKERS, assignments, place_of, uses_in
from overt.rewrites.refusal import Refusal
from overt.rewrites.scopes import CHANGING, free_names, own_nodes, targets_of

Known = Callable[[ast.expr], str]  # "module.name" of what an expression names outside
LOOPS = (ast.For, ast.While)


def refuse_late_reads(node: ast.FunctionDef, known: Known) -> None:
    """Errors: Refusal where a variable's iterator is used after a change of what it runs over."""
    found = [n for s in node.body for n in (s, *own_nodes(s))]
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
