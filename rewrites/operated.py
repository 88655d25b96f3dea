"""Operators such as `*=` on names of what others hold: a list, dictionary or set changes there.

    xs = G                    xs = G
    xs *= 2             ->    change_there(xs, "*", 2)

Where only the running code tells what a name found outside stands for, the text asks first that it
is a number.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from overt.rewrites.held_outside import given, name_of
from overt.rewrites.scopes import own_nodes
from overt.runtime.containers import COPIED
from overt.runtime.parts import NUMBERS

Meaning = Callable[[ast.expr], Any]
OF_CONTAINERS = (ast.Add, ast.Mult, ast.Sub, ast.BitOr, ast.BitAnd, ast.BitXor)
DISPLAYS = (ast.Set, ast.Dict, ast.SetComp, ast.DictComp)
MAKING = frozenset("set frozenset dict".split())


def grows(s: ast.AugAssign) -> bool:
    """Whether `xs += [x]` adds to a list."""
    return isinstance(s.op, ast.Add) and isinstance(s.value, ast.List | ast.ListComp)


def merges(s: ast.AugAssign) -> bool:
    """Whether `d |= {...}`, `s -= {...}` surely changes a dictionary or set."""
    made = isinstance(s.value, ast.Call) and name_of(s.value.func) in MAKING
    return isinstance(s.op, OF_CONTAINERS) and (made or isinstance(s.value, DISPLAYS))


def operated_names(body: list[ast.stmt]) -> set[str]:
    found = [n for s in body for n in own_nodes(s) if isinstance(n, ast.AugAssign)]
    return {n.target.id for n in found if isinstance(n.target, ast.Name)}


def operated_containers(body: list[ast.stmt], local: set[str], meaning: Meaning) -> set[str]:
    """The names that operators change and that are given a container found outside."""

    def is_container(value: ast.expr) -> bool:
        return isinstance(held_now(value, meaning), COPIED)

    return {n for n in operated_names(body) if any(map(is_container, found_values(n, body, local)))}


def shared_when_operated(body: list[ast.stmt], local: set[str], meaning: Meaning) -> set[str]:
    """The names that operators change and that may be given an array or container found outside."""

    def is_number(value: ast.expr) -> bool:
        return isinstance(meaning(value), NUMBERS)

    names = operated_names(body)
    return {n for n in names if not all(map(is_number, found_values(n, body, local)))}


def found_values(name: str, body: list[ast.stmt], local: set[str]) -> list[ast.expr]:
    """What a name is given that is found outside: `G`, `G[0]`, `config.rates`."""
    pairs = [pair for s in body for pair in given(s)]
    values = [v for target, v in pairs if isinstance(target, ast.Name) and target.id == name]
    return [v for v in values if is_found(v, local.__contains__)]


def is_found(node: ast.expr | None, is_local: Callable[[str], bool]) -> bool:
    """Whether an expression is a variable outside of the function, or a part of one."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice | ast.Tuple):
            return False
        node = node.value
    return isinstance(node, ast.Name) and not is_local(node.id)


def held_now(node: ast.expr, meaning: Meaning) -> Any:
    """What an expression of what is found outside stands for now; None if that is not seen."""
    found = meaning(node)
    if found is not None or isinstance(node, ast.Name):
        return found
    if isinstance(node, ast.Attribute):
        return getattr(held_now(node.value, meaning), "__dict__", {}).get(node.attr)
    owner = held_now(node.value, meaning) if isinstance(node, ast.Subscript) else None
    if type(owner) is dict:
        return next(iter(owner.values()), None)
    return owner[0] if type(owner) is list and owner else None
