"""A function chosen by data: several functions, and the number of the one that is meant.

f = np.sin if x > 0 else np.cos      # under `jit` and `vmap` a `OneOf` the two
f(x)                                 # a branch of the program, or each lane its own
"""

from __future__ import annotations

import collections
import functools
import operator
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
    Unlike,
    Value,
    join,
    join_values,
    same,
    spec_of,
)
from overt.runtime.chosen_objects import Chosen, is_chosen, is_object, where_is
from overt.runtime.derivatives import BY_KEY, is_inexact, with_keys
from overt.runtime.dtypes import canonicalize
from overt.runtime.errors import StagingError
from overt.runtime.index_range import range_of
from overt.runtime.lanes import Lanes
from overt.runtime.parts import is_array, parts_of
from overt.runtime.plain import plain
from overt.runtime.predicates import negated
from overt.runtime.primitive import GRAPH
from overt.runtime.record import RECORDING
from overt.runtime.tree import tree_flatten, tree_map
from overt.runtime.tree_registry import register_pytree_node
from overt.runtime.undefined import UndefinedValue
from overt.runtime.world import World

__all__ = [
    "Either", "OneOf", "call_one", "either", "is_open_place", "item_of", "of_callables",
    "one_by_lane", "with_item",
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

    def __overt_spec__(self, leaves: bool) -> Either:
        inner = [[spec_of(x, False, leaves) for x in held_by(f)] for f in self.functions]
        return Either(spec_of(self.index, True, leaves), list(self.functions), inner)

    def others(self) -> OneOf:
        """The same choice, once it is known not to be the first."""
        return OneOf(self.index - 1, self.functions[1:])

    def __eq__(self, other: object) -> bool:
        raise NotImplementedError(
            "which function this is, is known only when the program runs: it cannot be compared; "
            "compare what decided which one it is"
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        names = [getattr(f, "__name__", repr(f)) for f in self.functions]
        return f"one of {', '.join(names)}"


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


def item_of(table: Any, index: Any) -> Any:
    """`table[index]`; of a list also by a number that is known only later.

    Errors: TypeError, if it is not known and the items are of different types.

    >>> item_of({"a": len}, "a") is len
    True
    """
    if not is_open_place(table, index):
        return table[key_of(table, index)]
    if isinstance(table, dict):
        return value_of(table, index)
    from overt.runtime import numpy as np

    if all(map(is_object, table)):
        return chosen_object(np.clip(counted(index, table), 0, len(table) - 1), table)
    if all(map(callable, table)):
        return OneOf(np.clip(counted(index, table), 0, len(table) - 1), table)
    place, found = counted(index, table), table[-1]
    for i in reversed(range(len(table) - 1)):
        found = chosen_item(place <= i if i == 0 else place == i, table[i], found)
    return found


def chosen_object(index: Any, table: Any) -> Any:
    from overt.runtime.arranging import chosen_item as item

    return item(table, index)


def key_of(table: Any, index: Any) -> Any:
    """An array that is known as the number that a dictionary has for a key."""
    if isinstance(table, dict) and isinstance(index, Array) and not index.shape:
        return index.item()
    return index


def value_of(table: dict[Any, Any], key: Any) -> Any:
    """`table[key]` of a dictionary, by a number that is known only later.

    Errors: KeyError when the program runs; a `Counter` counts 0.
    """
    keys = number_keys(table, key, missing=isinstance(table, collections.Counter))
    values = [table[k] for k in keys]
    if isinstance(table, collections.Counter):
        found: Any = 0
    else:
        found = values.pop()
    for k, value in reversed([*zip(keys, values, strict=False)]):
        found = chosen_item(key == k, value, found)
    return found


def number_keys(table: dict[Any, Any], key: Any, missing: bool = False) -> list[Any]:
    """The keys that a number may be.

    Errors: KeyError when the program runs, for another one, if none may be `missing`.
    """
    from overt.runtime.staged_builtins import raise_if
    from overt.runtime.truth import or_

    keys = [k for k in table if isinstance(k, bool | int | float)]
    if not keys and not missing:
        raise KeyError(f"a number that data decides, of a dictionary with the keys {list(table)}")
    held: Any = False
    for k in keys:
        held = or_(held, functools.partial(operator.eq, key, k))
    if not missing:
        raise_if(negated(held), KeyError, lambda: (key,))
        origin = symbolic_of(key)
        if origin is not None:  # a store by this key finds it
            origin.graph.root.learned["key", id(origin)] = origin, keys
    return keys


def has_key(table: dict[Any, Any], key: Any) -> bool:
    """Whether a dictionary surely has a key into which is stored.

    Errors: StagingError in a loop where it may be a new one.
    """
    around, origin = range_of(key), symbolic_of(key)
    if around is not None and around[1] - around[0] < len(table):
        if all(k in table for k in range(around[0], around[1] + 1)):
            return True
    graph = None if origin is None else origin.graph
    read = graph and graph.root.learned.get(("key", id(origin)))
    if read and set(read[1]) <= set(table):
        return True
    while graph is not None:
        if graph.repeats:
            raise StagingError(
                "a loop stores into a dictionary by a number that only the running program knows, "
                "and it may be a new key; set all keys before the loop, and read `d[k]` before it "
                "is stored into"
            )
        graph = graph.parent
    return False


def symbolic_of(x: Any) -> Any:
    """The value of the program being staged that lanes and tangents wrap."""
    from overt.runtime.staging import Symbolic

    while isinstance(x, Array) and (x.transparent or type(x) is Lanes):
        x = x.value if type(x) is Lanes else x.primal  # type: ignore[attr-defined]
    return x if type(x) is Symbolic else None


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


def with_item(table: Any, index: Any, value: Any) -> Any:
    """The items of a list with one replaced, by a number that is known only later."""
    if isinstance(table, dict):
        keys = number_keys(table, index, missing=has_key(table, index))
        items = {k: chosen_item(index == k, value, table[k]) for k in keys}
        return with_keys(table, {**table, **items})
    place = counted(index, table, "assignment ")
    return [chosen_item(place == i, value, item) for i, item in enumerate(table)]


def is_open_place(table: Any, index: Any) -> bool:
    """Whether an index of a list, or a key of a dictionary, is known only later."""
    if not isinstance(index, Array) or index.shape:
        return False
    if type(table) not in BY_KEY:
        if type(table) is not list and type(table) is not tuple or not table:
            return False
        if index.dtype.kind not in "iub":
            return False
    from overt.runtime.staging import is_known

    return not is_known(index)


def counted(index: Any, table: Any, what: str = "") -> Any:
    """An index of a list as an integer counted from the front.

    Errors: IndexError when the program runs, as of Python's lists.
    """
    from overt.runtime import numpy as np
    from overt.runtime.staged_builtins import raise_if

    length, around = len(table), range_of(index)
    index = index.astype(int)
    if around is None or around[0] < -length or around[1] >= length:
        message = f"{type(table).__name__} {what}index out of range"
        raise_if((index < -length) | (index >= length), IndexError, lambda: (message,))
    if around is not None and around[0] >= 0:
        return index
    return np.where(index < 0, index + length, index)


def chosen_item(mask: Any, a: Any, b: Any) -> Any:
    from overt.runtime.choice import choose

    try:
        return choose(mask, a, b)
    except Unlike as unlike:
        raise TypeError(
            f"the items of a list are of different types: {unlike.one} and {unlike.other}; which "
            "of them is meant is known only when the program runs"
        ) from None


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


def _from_flat(data: Any, values: Any) -> OneOf:
    index, *leaves = values
    rest = iter(leaves)
    return OneOf(index, [holding(f, rest) for f in data.functions])


register_pytree_node(OneOf, _flat, _from_flat)


# --- the two sides of a branch


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
    from overt.runtime.some_of import narrowed

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
