"""Stored arrays: variables and attributes whose elements a user's functions store into.

def record(self, x):
    self.history[self.n] = x      # whoever needs the `history` of before has to keep a copy of it
"""

from __future__ import annotations

import dis
import functools
import inspect
import types
from collections.abc import Iterator, Mapping
from typing import Any

LOADED_OUTSIDE = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_ATTR", "LOAD_METHOD")
STORING_METHODS = frozenset("fill sort put resize partition itemset".split())
STORING_FUNCTIONS = frozenset("copyto place putmask fill_diagonal shuffle put_along_axis".split())
# How many values on the stack say where an element is stored: the array, and the index.
STORES = {"STORE_SUBSCR": 2, "STORE_SLICE": 3}


def stored_arrays(space: Mapping[str, Any]) -> set[str]:
    """The names that functions of a module, and methods of its classes, store elements of."""
    codes = [f.__code__ for f in functions_of(space)]
    found = set[str]().union(*map(stored_in, codes))
    storing = {c.co_name for c in codes if stores_in_parameters(c)}
    for code in codes:
        if not storing.isdisjoint(code.co_names):
            found |= loaded_in(code)
    kept = [numbers_set_in(c) for c in codes]
    numbers = set[str]().union(*(n for n, _ in kept))
    return found - (numbers - set[str]().union(*(others for _, others in kept)))


@functools.lru_cache(maxsize=4096)
def loaded_in(code: types.CodeType) -> frozenset[str]:
    """The outer variables and attributes that a function reads."""
    return frozenset(i.argval for i in dis.get_instructions(code) if i.opname in LOADED_OUTSIDE)


@functools.lru_cache(maxsize=4096)
def numbers_set_in(code: types.CodeType) -> tuple[frozenset[str], frozenset[str]]:
    """The attributes that a function sets to plain numbers, and those that it sets otherwise."""
    numbers, others = set[str](), set[str]()
    steps = list(dis.get_instructions(code))
    for k, step in enumerate(steps):
        if step.opname != "STORE_ATTR" or steps[k - 1].opname == "SWAP":
            continue
        value = steps[k - 2]
        plain = value.opname == "LOAD_CONST" and isinstance(value.argval, int | float)
        (numbers if plain else others).add(step.argval)
    return frozenset(numbers), frozenset(others)


def functions_of(space: Mapping[str, Any]) -> Iterator[types.FunctionType]:
    """The functions that a module defines, those of its classes among them."""
    for value in list(space.values()):
        members = list(vars(value).values()) if isinstance(value, type) else [value]
        for member in members:
            getter = member.fget if isinstance(member, property) else member
            f = inspect.unwrap(getter) if callable(getter) else getattr(getter, "__func__", None)
            if isinstance(f, types.FunctionType) and f.__globals__ is space:
                yield f


def stored_in(code: types.CodeType) -> frozenset[str]:
    """The outer variables and attributes whose elements a function stores to."""
    return names_of_stores(code)[0]


def stores_in_parameters(code: types.CodeType) -> bool:
    """Whether a function stores into elements of what it is given."""
    return not names_of_stores(code)[1].isdisjoint(code.co_varnames[: code.co_argcount])


@functools.lru_cache(maxsize=4096)
def names_of_stores(code: types.CodeType) -> tuple[frozenset[str], frozenset[str]]:
    """Outer names and variables whose elements are stored to."""
    steps = list(dis.get_instructions(code))
    places: list[dis.Instruction] = []  # the steps that evaluate what is stored into
    for k, step in enumerate(steps):
        if step.opname in STORES and steps[k - 1].opname != "SWAP":
            places += container(steps, k, STORES[step.opname])
        elif step.opname in ("BINARY_SUBSCR", "BINARY_SLICE") and steps[k - 1].opname == "COPY":
            first = k
            while steps[first - 1].opname == "COPY":
                first -= 1
            places += container(steps, first, k - first)
        elif step.opname == "BINARY_OP" and step.argrepr.endswith("="):
            places += [s for s in steps[k + 1 : k + 4] if s.opname.startswith("STORE_")][:1]
        elif step.argval in STORING_METHODS and step.opname in LOADED_OUTSIDE:
            places += container(steps, k, 1)
        elif step.opname in LOADED_OUTSIDE and step.argval in STORING_FUNCTIONS:
            places += steps
    if any(isinstance(c, tuple) and "out" in c for c in code.co_consts):
        places += steps  # `np.add(a, b, out=a)`
    outer, variables = set[str](), set[str]()
    for step in places:
        if step.opname in (*LOADED_OUTSIDE, "STORE_ATTR", "STORE_GLOBAL", "STORE_DEREF"):
            outer.add(step.argval)
        elif "_FAST" in step.opname:
            variables |= locals_of(step)
    for k, step in enumerate(steps):  # `h = self.history`, and then `h[0] = x`
        if step.opname.startswith("STORE_FAST") and not variables.isdisjoint(locals_of(step)):
            found = steps[k - 1]
            if found.opname in ("BINARY_SUBSCR", "BINARY_SLICE"):
                outer |= {s.argval for s in container(steps, k, 1) if s.opname in LOADED_OUTSIDE}
            elif found.opname in LOADED_OUTSIDE:
                outer.add(found.argval)
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            outer |= stored_in(inner)
    return frozenset(outer), frozenset(variables)


def locals_of(step: dis.Instruction) -> set[str]:
    """The variables that one step reads or sets; from 3.13 on there may be two."""
    return set(step.argval) if isinstance(step.argval, tuple) else {step.argval}


def container(steps: list[dis.Instruction], end: int, count: int) -> list[dis.Instruction]:
    """The steps that evaluate the first of the last `count` values on the stack."""
    last = end
    for _ in range(count):
        end, made = last, 0
        while made < 1 and last > 0:
            last -= 1
            made += dis.stack_effect(steps[last].opcode, steps[last].arg, jump=False)
    return steps[last:end]
