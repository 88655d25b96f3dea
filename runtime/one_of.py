"""A function or text chosen by data: several of them, and the number of the one that is meant.

f = np.sin if x > 0 else np.cos      # under `jit` and `vmap` a `OneOf` the two
f(x)                                 # a branch of the program, or each lane its own
mode = "up" if x > 0 else "down"     # the same of texts; `mode == "up"` asks the number
"""

from __future__ import annotations

import functools
import operator
import types
from collections.abc import Iterator, Sequence
from typing import Any

from overt.runtime.array import Array
from overt.runtime.asked_again import MAY_BE_CHOSEN, AskedOfText
from overt.runtime.aval import Aval
from overt.runtime.carried import (
    Spec,
    same,
    spec_of,
)
from overt.runtime.chosen_objects import is_chosen, where_is
from overt.runtime.derivatives import is_inexact
from overt.runtime.errors import StagingError
from overt.runtime.parts import is_array, parts_of
from overt.runtime.plain import plain
from overt.runtime.predicates import both, either, negated
from overt.runtime.staging import is_known
from overt.runtime.tree_registry import register_pytree_node
from overt.runtime.world import World

__all__ = [
    "OneOf", "call_one", "of_callables",
]  # fmt: skip


class OneOf:
    """One of several functions, by a number that only the compiled program or a lane knows."""

    def __init__(self, index: Any, functions: Sequence[Any]) -> None:
        self.index, self.functions = index, tuple(functions)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        from overt.runtime.branches import cond

        first, *rest = self.functions
        if not rest:
            return first(*args, **keywords)
        others = self.others()
        return cond(
            self.index == 0,
            lambda *given: first(*given, **keywords),
            lambda *given: others(*given, **keywords),
            args,
        )

    def __overt_each__(self, function: Any) -> OneOf:
        """The same choice among what a function makes of each."""
        return OneOf(self.index, list(map(function, self.functions)))

    def __overt_spec__(self, leaves: bool) -> Spec:
        from overt.runtime.either import Either

        inner = [[spec_of(x, False, leaves) for x in held_by(f)] for f in self.functions]
        return Either(spec_of(self.index, True, leaves), list(self.functions), inner)

    def others(self) -> OneOf:
        """The same choice, once it is known not to be the first."""
        return OneOf(self.index - 1, self.functions[1:])

    @property
    def is_text(self) -> bool:
        """Whether it is one of several texts."""
        return bool(self.functions) and all(type(f) is str for f in self.functions)

    def asked(self, answers: Sequence[bool]) -> Any:
        """What is true of the one that is meant, from what is true of each.

        Errors: AskedOfText where the text has no place for an answer that is known only later.
        """
        from overt.runtime import numpy as np

        if all(answers) or not any(answers):
            return bool(answers) and answers[0]
        if not isinstance(self.index, Array):
            return answers[self.index]
        if not MAY_BE_CHOSEN.get():
            raise AskedOfText(
                "a text that data decides is asked for, and which one it is, is known only when "
                "the program runs; compare what decided which one it is"
            )
        return np.asarray(answers)[self.index]

    def __eq__(self, other: object) -> Any:
        if self.is_text and type(other) is OneOf and other.is_text:
            each = [both(other == f, self.asked([f == g for g in self.functions]))
                    for f in dict.fromkeys(self.functions)]  # fmt: skip
            return functools.reduce(either, each)
        if self.is_text or all(isinstance(f, type) for f in self.functions):
            return self.asked([f == other for f in self.functions])
        raise NotImplementedError(
            "which function this is, is known only when the program runs: it cannot be compared; "
            "compare what decided which one it is"
        )

    def __ne__(self, other: object) -> Any:
        return negated(self == other)

    def __bool__(self) -> Any:
        return self.asked([bool(f) for f in self.functions]) if self.is_text else True

    def __contains__(self, item: Any) -> Any:
        return self.asked([item in f for f in self.functions])

    def __hash__(self) -> int:
        if self.is_text and not MAY_BE_CHOSEN.get():
            self.asked([True, False])
        raise TypeError(
            "which text or function this is, is known only when the program runs: it can be no "
            "member of a set, and no new key of a dictionary"
        )

    def __len__(self) -> int:
        counts = {len(f) for f in self.functions} if self.is_text else set()
        if len(counts) != 1:
            raise StagingError(
                "the length of a text that data decides is known only when the program runs"
            )
        return counts.pop()

    def __add__(self, other: Any) -> Any:
        return self.joined(other, lambda f, g: f + g)

    def __radd__(self, other: Any) -> Any:
        return self.joined(other, lambda f, g: g + f)

    def joined(self, other: Any, join: Any) -> Any:
        if not self.is_text:
            return NotImplemented
        if type(other) is str:
            return OneOf(self.index, [join(f, other) for f in self.functions])
        if type(other) is OneOf and other.is_text:
            count = len(other.functions)
            pairs = [join(f, g) for f in self.functions for g in other.functions]
            return OneOf(self.index * count + other.index, pairs)
        return NotImplemented

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not self.is_text or not hasattr(str, name):
            raise AttributeError(
                f"which object or function this is, is known only when the program runs: it has no "
                f"`.{name}` before; choose by a branch, `if k == 0: first.{name} ...`",
                name=name,
                obj=self,
            )

        def method(*args: Any, **keywords: Any) -> Any:
            found = [getattr(f, name)(*args, **keywords) for f in self.functions]
            if all(type(x) is str for x in found):
                return OneOf(self.index, found)
            if all(type(x) is bool for x in found):
                return self.asked(found)
            from overt.runtime.chosen_objects import chosen_value

            return chosen_value(self.index, found)

        return method

    def __str__(self) -> str:
        if self.is_text and not isinstance(self.index, Array):
            return self.functions[self.index]
        return repr(self)

    def __repr__(self) -> str:
        if self.is_text and is_known(self.index):
            return repr(self.functions[int(self.index)])
        names = [getattr(f, "__name__", repr(f)) for f in self.functions]
        return f"one of {', '.join(names)}"


def place_among(index: Any, choices: Sequence[Any], keys: Sequence[Any]) -> Any:
    """The place of the one that is meant among the keys of a dictionary.

    Errors: KeyError when the program runs, for one that is no key.
    """
    from overt.runtime import numpy as np
    from overt.runtime.staged_builtins import raise_if

    known = {key: i for i, key in enumerate(keys)}
    places = [known.get(x, -1) for x in choices]
    if not isinstance(index, Array):
        return places[index]
    for i, place in enumerate(places):
        if place < 0:
            raise_if(index == i, KeyError, functools.partial(tuple, [choices[i]]))
    return np.maximum(np.asarray(places)[index], 0)


def of_callables(f: Any) -> Any:
    """A callable object chosen by data as a function chosen by data; any other as it is."""
    return OneOf(f.__overt_index__, f.__overt_objects__) if is_chosen(f) else f


@plain
def call_one(chosen: Any, *args: Any, **keywords: Any) -> Any:
    """The chosen function's value, as the passes read it."""
    if len(chosen.functions) == 1:
        return chosen.functions[0](*args, **keywords)
    if chosen.index == 0:
        return chosen.functions[0](*args, **keywords)
    return call_one(chosen.others(), *args, **keywords)


def is_same(f: Any, function: Any) -> Any:
    """`f is function`, where only the running program may know which function `f` is.

    >>> is_same(len, len)
    True
    """
    if type(f) is not OneOf:
        return where_is(f, function)
    from overt.runtime.truth import or_

    held: Any = False
    for place in [i for i, each in enumerate(f.functions) if each is function]:
        held = or_(held, functools.partial(operator.eq, f.index, place))
    return held


def holds_floats(chosen: OneOf) -> bool:
    """Whether some of the functions hold floats, also in objects whose methods they are."""
    held = [*World(*chosen.functions).leaves(), *(x for f in chosen.functions for x in held_by(f))]
    return any(isinstance(x, Array) and is_inexact(x) for x in held)


# --- functions as containers of the values that they have captured


def is_leaf(x: Any) -> bool:
    """Whether a captured value is an array or a number, or stands for one of its kind."""
    return is_array(x) or isinstance(x, Aval)


def held_by(x: Any, seen: set[int] | None = None) -> list[Any]:
    """The arrays and numbers that a function has captured, those of functions it uses too."""
    seen = set() if seen is None else seen
    if is_leaf(x):
        return [x]
    if id(x) in seen:
        return []
    seen.add(id(x))
    return [leaf for part in pieces(x) for leaf in held_by(part, seen)]


def pieces(x: Any) -> list[Any]:
    """What a function or container holds directly; nothing of others."""
    if isinstance(x, types.FunctionType):
        cells = []
        for cell in x.__closure__ or ():
            try:
                cells.append(cell.cell_contents)
            except ValueError:  # not set yet
                cells.append(None)
        return [*cells, *(x.__defaults__ or ())]
    if isinstance(x, functools.partial):
        return [x.func, *x.args, *x.keywords.values()]
    found = parts_of(x)
    return [] if found is None else found.values


def holding(x: Any, values: Iterator[Any], made: dict[int, Any] | None = None) -> Any:
    """The function with other values in the places of `held_by`."""
    made = {} if made is None else made
    if is_leaf(x):
        return next(values)
    if id(x) in made:
        return made[id(x)]
    made[id(x)] = x
    old = pieces(x)
    if not old:
        return x
    if isinstance(x, types.FunctionType):
        count = len(x.__closure__ or ())
        cells = [types.CellType() for _ in range(count)]
        copy = types.FunctionType(x.__code__, x.__globals__, x.__name__, None, tuple(cells))
        copy.__kwdefaults__, copy.__qualname__ = x.__kwdefaults__, x.__qualname__
        copy.__dict__.update(x.__dict__)
        made[id(x)] = copy
        new = [holding(part, values, made) for part in old]
        for cell, value in zip(cells, new, strict=False):
            cell.cell_contents = value
        copy.__defaults__ = tuple(new[count:]) or None
        return copy
    new = [holding(part, values, made) for part in old]
    if isinstance(x, functools.partial):
        count = 1 + len(x.args)
        made[id(x)] = functools.partial(
            new[0], *new[1:count], **dict(zip(x.keywords, new[count:], strict=True))
        )
    elif any(a is not b for a, b in zip(old, new, strict=True)):
        found = parts_of(x)
        assert found is not None
        made[id(x)] = found.rebuild(new)
    return made[id(x)]


def alike(a: Any, b: Any, seen: set[tuple[int, int]] | None = None) -> bool:
    """Whether two functions differ at most in the values that they have captured."""
    seen = set() if seen is None else seen
    if a is b or (id(a), id(b)) in seen or is_leaf(a) and is_leaf(b):
        return True
    seen.add((id(a), id(b)))
    if type(a) is not type(b):
        return False
    if isinstance(a, types.FunctionType) and a.__code__ is not b.__code__:
        return False
    ours, theirs = pieces(a), pieces(b)
    if not ours and not theirs:
        return same(a, b)
    if isinstance(a, functools.partial) and tuple(a.keywords) != tuple(b.keywords):
        return False
    if not isinstance(a, types.FunctionType | functools.partial):
        kinds = [parts_of(x) for x in (a, b)]
        if kinds[0].kind != kinds[1].kind:  # type: ignore[union-attr]
            return False
    pairs = zip(ours, theirs, strict=False)
    return len(ours) == len(theirs) and all(alike(x, y, seen) for x, y in pairs)


class Functions:
    """The functions of a `OneOf` without the values that they have captured."""

    def __init__(self, functions: tuple[Any, ...]) -> None:
        self.functions = functions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Functions) or len(self.functions) != len(other.functions):
            return False
        return all(map(alike, self.functions, other.functions))

    def __hash__(self) -> int:
        return len(self.functions)


def _flat(x: OneOf) -> tuple[tuple[Any, ...], Functions]:
    return (x.index, *(leaf for f in x.functions for leaf in held_by(f))), Functions(x.functions)


def _from_flat(data: Any, values: Any) -> Any:
    index, *leaves = values
    if all(type(f) is str for f in data.functions) and type(index) is not object:
        if type(index) is int or isinstance(index, Array) and is_known(index) and not index.shape:
            return data.functions[int(index)]
    rest = iter(leaves)
    return OneOf(index, [holding(f, rest) for f in data.functions])


register_pytree_node(OneOf, _flat, _from_flat)
