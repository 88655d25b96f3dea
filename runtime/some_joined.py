"""Containers of different items as one: the two sides of a branch, the lanes of a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from overt.runtime.aval import Aval
from overt.runtime.carried import FLAG, Known, Node, Spec, join, join_values
from overt.runtime.none_or import NoneOr, opened
from overt.runtime.some_of import SomeOf, numpy, of_all, refuse_by_source, same_key, some_of
from overt.runtime.undefined import UndefinedValue

__all__ = ["Some", "grown", "holds_some", "joined", "narrowed", "some_by_lane"]


class Some(Spec):
    """What some items are made of: each one, and its flag."""

    is_value = False

    def __init__(
        self, kind: type, keys: list[Any] | None, values: list[Spec], flags: list[Spec],
        ordered: bool,
    ):  # fmt: skip
        self.kind, self.labels, self.values, self.flags = kind, keys, values, flags
        self.ordered = ordered

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Some)
            and (self.kind, self.labels, self.ordered) == (other.kind, other.labels, other.ordered)
            and self.parts() == other.parts()
        )

    __hash__ = None  # type: ignore[assignment]

    def parts(self) -> list[Spec]:
        return [*self.values, *self.flags]

    def avals(self) -> list[Aval]:
        return [aval for part in self.parts() for aval in part.avals()]

    def constants(self) -> list[Any]:
        return [x for part in self.parts() for x in part.constants()]

    def compose(self, arrays: Iterator[Any]) -> Any:
        refuse_by_source()
        values = [spec.compose(arrays) for spec in self.values]
        flags = [spec.compose(arrays) for spec in self.flags]
        return SomeOf(self.kind, self.labels, values, flags, self.ordered)

    def decompose(self, x: Any) -> list[Any]:
        missing = UndefinedValue("")
        found = SomeOf(self.kind, [], [], []) if type(x) is UndefinedValue else of_all(x)
        values, flags = [], []
        for i in range(len(self.values)):
            place = i if self.labels is None else found.place(self.labels[i])
            there = place is not None and place < len(found.flags)
            values.append(found.contents[place] if there else missing)  # type: ignore[index]
            flags.append(found.flags[place] if there else False)  # type: ignore[index]
        pairs = zip(self.parts(), [*values, *flags], strict=True)
        return [a for spec, v in pairs for a in spec.decompose(v)]

    def spread(self, lanes: int, axis: int = 0) -> Spec:
        values, flags = ([s.spread(lanes, axis) for s in x] for x in (self.values, self.flags))
        return Some(self.kind, self.labels, values, flags, self.ordered)

    def __str__(self) -> str:
        return f"{self.kind.__name__} of some of {len(self.values)} items"


def as_some(spec: Spec) -> Some | None:
    """What a container is made of, as one whose items may be missing; None for anything else."""
    if isinstance(spec, Some):
        return spec
    if type(spec) is Known and type(spec.value) is set:
        keys = list(spec.value)
        nothing: list[Spec] = [Known(None) for _ in keys]
        return Some(set, keys, nothing, [FLAG] * len(keys), len(keys) < 2)
    if isinstance(spec, Node) and spec.kind[0] in (list, dict):
        kind = spec.kind[0]
        if kind is dict:
            held = spec.rebuild([_Position(i) for i in range(len(spec.children))])
            keys, order = list(held), [x.i for x in held.values()]
            children = [spec.children[i] for i in order]
            return Some(dict, keys, children, [FLAG] * len(keys), True)
        return Some(list, None, list(spec.children), [FLAG] * len(spec.children), True)
    return None


class _Position:
    def __init__(self, i: int):
        self.i = i


def joined(a: Spec, b: Spec, path: tuple[Any, ...]) -> Some | None:
    """Two containers of different items as one of some items; None for what are not such."""
    one, other = as_some(a), as_some(b)
    if one is None or other is None or one.kind is not other.kind:
        return None
    keys, order = matched(one, other)
    values: list[Spec] = []
    flags: list[Spec] = []
    for i, j in order:
        if i is None or j is None:
            side, place = (other, j) if i is None else (one, i)
            values.append(side.values[place])  # type: ignore[index]
            flags.append(join_flags(side.flags[place], FLAG, path))  # type: ignore[index]
        else:
            values.append(join(one.values[i], other.values[j], path))
            flags.append(join_flags(one.flags[i], other.flags[j], path))
    ordered = one.ordered and other.ordered and is_increasing([j for _, j in order])
    return Some(one.kind, keys, values, flags, ordered)


def join_flags(a: Spec, b: Spec, path: tuple[Any, ...]) -> Spec:
    """The flag of an item of either; cotangents have none."""
    none = next((x for x in (a, b) if isinstance(x, Known)), None)
    return join_values(a, b, path) if none is None else none


def matched(one: Any, other: Any) -> tuple[list[Any] | None, list[tuple[int | None, int | None]]]:
    """The keys of two containers together, and where each is in the one and in the other."""
    if one.labels is None:
        longest = max(len(one.values), len(other.values))
        ends = len(one.values), len(other.values)
        return None, [
            (k if k < ends[0] else None, k if k < ends[1] else None) for k in range(longest)
        ]
    keys = list(one.labels)
    places: list[int | None] = []
    for key in one.labels:
        places.append(next((j for j, k in enumerate(other.labels) if same_key(k, key)), None))
    order = list(zip(range(len(keys)), places, strict=True))
    extra = [j for j in range(len(other.labels)) if j not in places]
    return [*keys, *(other.labels[j] for j in extra)], [*order, *((None, j) for j in extra)]


def is_increasing(places: Sequence[int | None]) -> bool:
    """Whether the known ones are in ascending order."""
    known = [p for p in places if p is not None]
    return known == sorted(known)


def grown(before: Spec, after: Spec) -> bool:
    """Whether a list somewhere in a value has more items after an iteration of a loop."""
    if isinstance(after, Some) and after.kind is list:
        start = as_some(before)
        if start is None or len(start.values) < len(after.values):
            return True
    children = [getattr(s, "children", None) or getattr(s, "values", None) for s in (before, after)]
    if not all(type(c) is list for c in children):
        return False
    return any(grown(x, y) for x, y in zip(*children, strict=False))  # type: ignore[arg-type]


def holds_some(spec: Spec) -> bool:
    """Whether there is such a container in a value."""
    if isinstance(spec, Some):
        return True
    return isinstance(spec, Node) and any(map(holds_some, spec.children))


def some_by_lane(mask: Any, a: Any, b: Any, choose: Callable) -> Any:
    """Two containers of different items, each lane its own; None for what are not such."""
    if not (is_container(a) and is_container(b)):
        return None
    one, other = of_all(a), of_all(b)
    if one.kind is not other.kind:
        return None
    np = numpy()
    view = Pair(one), Pair(other)
    keys, order = matched(*view)
    values, flags = [], []
    for i, j in order:
        ours = False if i is None else one.flags[i]
        theirs = False if j is None else other.flags[j]
        if i is None or j is None:
            values.append(other.contents[j] if i is None else one.contents[i])  # type: ignore[index]
        else:
            values.append(choose(mask, one.contents[i], other.contents[j]))
        same = type(ours) is type(theirs) is bool and ours == theirs
        flags.append(ours if same else np.where(mask, ours, theirs))
    ordered = one.ordered and other.ordered and is_increasing([j for _, j in order])
    return some_of(one.kind, keys, values, flags, ordered)


class Pair:
    """A container as `matched` reads it."""

    def __init__(self, x: SomeOf):
        self.labels, self.values = x.labels, x.contents


def is_container(x: Any) -> bool:
    return type(x) in (SomeOf, list, dict, set)


def narrowed(out: Any, bar: Any) -> Any:
    """Of the cotangent of a branch's result what belongs to one side, which gave `out`."""
    from overt.runtime.parts import parts_of

    if out is None:
        return None
    if type(bar) is NoneOr and type(out) is not NoneOr:
        return narrowed(out, opened(bar)[0])
    if type(bar) is SomeOf:
        if not is_container(out):
            return bar
        mine = of_all(out)
        places = range(len(mine.flags)) if mine.labels is None else map(bar.place, mine.labels)
        bars = [bar.contents[i] for i in places]  # type: ignore[index]
        inner = [narrowed(x, g) for x, g in zip(mine.contents, bars, strict=True)]
        if type(out) is list:
            return inner
        if type(out) is dict:
            return dict(zip(out, inner, strict=True))
        return SomeOf(mine.kind, mine.labels, inner, mine.flags, mine.ordered)
    one, other = parts_of(out), parts_of(bar)
    if one is None or other is None or len(one.values) != len(other.values):
        return bar
    inner = [narrowed(x, g) for x, g in zip(one.values, other.values, strict=True)]
    return other.rebuild(inner)
