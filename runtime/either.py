"""Different functions as one chosen by data: the two sides of a branch, the lanes of a batch."""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator, Sequence
from typing import Any

from overt.runtime.array import Array
from overt.runtime.aval import Aval
from overt.runtime.carried import (
    Dualed,
    Known,
    Laned,
    Node,
    Spec,
    Value,
    join,
    join_values,
    spec_of,
)
from overt.runtime.chosen_objects import Chosen, is_chosen
from overt.runtime.derivatives import is_inexact
from overt.runtime.dtypes import canonicalize
from overt.runtime.one_of import OneOf, alike, held_by, holding
from overt.runtime.primitive import GRAPH
from overt.runtime.record import RECORDING
from overt.runtime.tree import tree_flatten, tree_map
from overt.runtime.undefined import UndefinedValue
from overt.runtime.world import World

__all__ = ["Either", "bars_of_side", "either", "holds_inner", "one_by_lane", "opened"]


class Either(Spec):
    """What a function chosen by data is made of: its number, and what each function holds."""

    is_value = False

    def __init__(self, index: Spec, functions: list[Any], inner: list[list[Spec]]) -> None:
        self.index, self.functions, self.inner = index, functions, inner

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Either)
            and self.index == other.index
            and len(self.functions) == len(other.functions)
            and all(map(alike, self.functions, other.functions))
            and self.inner == other.inner
        )

    __hash__ = None  # type: ignore[assignment]

    def parts(self) -> list[Spec]:
        return [self.index, *(spec for specs in self.inner for spec in specs)]

    def avals(self) -> list[Aval]:
        return [aval for part in self.parts() for aval in part.avals()]

    def constants(self) -> list[Any]:
        return [x for part in self.parts() for x in part.constants()]

    def compose(self, arrays: Iterator[Any]) -> Any:
        index = self.index.compose(arrays)
        held = [[spec.compose(arrays) for spec in specs] for specs in self.inner]
        return OneOf(
            index, [holding(f, iter(xs)) for f, xs in zip(self.functions, held, strict=True)]
        )

    def decompose(self, x: Any) -> list[Any]:
        found = as_one(x) if type(x) is not UndefinedValue else OneOf(0, ())
        numbers, given = renumbered(found, self.functions)
        arrays = self.index.decompose(numbers)
        for f, specs in zip(given, self.inner, strict=True):
            values = [UndefinedValue("")] * len(specs) if f is None else held_by(f)
            arrays += [a for s, v in zip(specs, values, strict=True) for a in s.decompose(v)]
        return arrays

    def spread(self, lanes: int, axis: int = 0) -> Spec:
        inner = [[spec.spread(lanes, axis) for spec in specs] for specs in self.inner]
        return Either(self.index.spread(lanes, axis), self.functions, inner)

    def __str__(self) -> str:
        return repr(OneOf(0, self.functions))


MOST_TEXTS = 32  # of which data chooses one; a text that a loop makes longer has no end

NUMBER = Value(Aval((), canonicalize(int)))


def either(a: Spec, b: Spec, path: tuple[Any, ...]) -> Either | None:
    """Two different functions as one chosen by data; None for what are not functions."""
    one, other = _as_either(a), _as_either(b)
    if one is None or other is None:
        return None
    functions, inner = list(one.functions), [list(specs) for specs in one.inner]
    for f, specs in zip(other.functions, other.inner, strict=True):
        place = place_of(f, functions)
        if place is None:
            functions.append(f)
            inner.append(specs)
            texts = [type(g) is str for g in functions]
            if any(texts) and (not all(texts) or len(texts) > MOST_TEXTS):
                return None
        else:
            pairs = zip(inner[place], specs, strict=True)
            inner[place] = [join(x, y, path) for x, y in pairs]
    return Either(join_values(one.index, other.index, path), functions, inner)


def _as_either(spec: Spec) -> Either | None:
    if isinstance(spec, Either):
        return spec
    if isinstance(spec, Node):
        if spec.kind[0] is not functools.partial:
            return None
        value = spec.compose(iter(spec.avals()))
    elif type(spec) is Known and type(spec.value) is str:
        value = spec.value
    elif type(spec) is Known and callable(spec.value) and not holds_inner(spec.value):
        value = spec.value
    else:
        return None
    return Either(NUMBER, [value], [[_spec_of_held(x) for x in held_by(value)]])


def _spec_of_held(x: Any) -> Spec:
    return Value(x) if isinstance(x, Aval) else _of_kinds(spec_of(x))


def _of_kinds(spec: Spec) -> Spec:
    """What a value is made of, where kinds of arrays stand for arrays: in a tangent, in lanes."""
    if type(spec) is Known and isinstance(spec.value, Aval):
        return Value(spec.value)
    if isinstance(spec, Dualed):
        return Dualed(_of_kinds(spec.primal), _of_kinds(spec.tangent), spec.level)
    if isinstance(spec, Laned):
        return Laned(_of_kinds(spec.inner), spec.lanes, spec.level)
    return spec


def opened(tree: Any) -> Any:
    """A tree with functions that hold floats as containers of these."""

    def one(x: Any) -> Any:
        return OneOf(0, (x,)) if callable(x) and any(map(is_inexact, held_by(x))) else x

    return tree_map(one, tree)


def bars_of_side(out: Any, bar: Any) -> Any:
    """Of the cotangent of a branch's result what belongs to one side, which gave `out`."""
    from overt.runtime.some_joined import narrowed

    bar = narrowed(out, bar)
    chosen = lambda x: type(x) is OneOf or is_chosen(x)
    parts, definition = tree_flatten(out, is_leaf=chosen)
    if not any(map(chosen, parts)):
        return bar
    return definition.unflatten(map(_bars_of_functions, parts, definition.flatten_up_to(bar)))


def _bars_of_functions(x: Any, bar: Any) -> Any:
    if is_chosen(x):
        return Chosen(bar.__overt_index__, x.__overt_objects__)
    if type(x) is not OneOf:
        return bar
    return OneOf(x.index, [next(g for g in bar.functions if alike(f, g)) for f in x.functions])


def holds_inner(x: Any) -> bool:
    """Whether an object holds what a branch cannot hand on: values made in it, or recorded."""
    graph, around = GRAPH.get(), []
    while graph is not None:
        around.append(graph)
        graph = graph.parent
    if isinstance(x, types.FunctionType):
        return False
    leaves = [v for v in World(x).leaves() if isinstance(v, Array)]
    if RECORDING.get() and any(map(is_inexact, leaves)):
        return True
    return any(getattr(v, "graph", None) not in [None, *around] for v in leaves)


def as_one(x: Any) -> OneOf:
    return x if type(x) is OneOf else OneOf(0, (x,))


def place_of(f: Any, functions: Sequence[Any]) -> int | None:
    return next((i for i, g in enumerate(functions) if alike(f, g)), None)


def renumbered(x: OneOf, functions: Sequence[Any]) -> tuple[Any, list[Any]]:
    """The number of the chosen one among `functions`, and for each of these that of x, or None."""
    from overt.runtime import numpy as np

    places: list[Any] = [place_of(f, functions) for f in x.functions]
    given: list[Any] = [None] * len(functions)
    for f, place in zip(x.functions, places, strict=True):
        assert place is not None
        given[place] = f
    if x.index is None:  # of a cotangent
        return None, given
    if not isinstance(x.index, Array):
        return (places[x.index] if places else 0), given
    if places == list(range(len(places))):
        return x.index, given
    return np.asarray(places)[x.index], given


def one_by_lane(mask: Any, a: Any, b: Any, choose: Any) -> OneOf:
    """In the lanes of the mask the function a, in the others b."""
    from overt.runtime import numpy as np

    one, other = as_one(a), as_one(b)
    functions = list(one.functions)
    functions += [f for f in other.functions if place_of(f, functions) is None]
    (i, ours), (j, theirs) = renumbered(one, functions), renumbered(other, functions)
    made = []
    for f, g in zip(ours, theirs, strict=True):
        if f is None or g is None:
            made.append(g if f is None else f)
        else:
            pairs = zip(held_by(f), held_by(g), strict=True)
            made.append(holding(f, iter([choose(mask, x, y) for x, y in pairs])))
    return OneOf(np.where(mask, i, j), made)
