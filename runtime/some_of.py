"""A list, set or dictionary of which only the running program knows what it holds.

big = []
for v in xs:
    if v > limit:
        big.append(v)        # under `jit` and `vmap` a `SomeOf`: every v, each with its condition
"""

from __future__ import annotations

import operator
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

from numpy import bool_, ndarray

from overt.runtime.array import Array
from overt.runtime.asked_again import AskedOfText
from overt.runtime.carried import Spec, Unlike, spec_of
from overt.runtime.errors import StagingError
from overt.runtime.escape import BY_SOURCE, Escape
from overt.runtime.none_or import NoneOr, opened
from overt.runtime.predicates import both, either, negated, predicate
from overt.runtime.staging import is_known
from overt.runtime.tree_registry import register_pytree_node

__all__ = [
    "SomeOf",
    "holds",
    "is_kind",
    "kind_of",
    "of_kind",
    "some_of",
]

WHY = "only the running program knows what this {} holds"
GROWS = "a list, set or dictionary grows in a branch on data"


class SomeOf:
    """Items each with a flag that says whether it is there; of sets and dictionaries, with keys.

    `ordered` says whether the items that are there surely are in the order that Python has.
    """

    def __init__(
        self, kind: type, keys: Sequence[Any] | None, values: Sequence[Any], flags: Sequence[Any],
        ordered: bool = True,
    ):  # fmt: skip
        self.kind, self.labels = kind, None if keys is None else list(keys)
        self.contents, self.flags, self.ordered = list(values), list(flags), ordered

    def __overt_snapshot__(self) -> SomeOf:
        return self.__copy__()

    def __overt_alike__(self, other: SomeOf) -> bool:
        """Whether one is a snapshot of the other."""
        mine, theirs = ([*x.contents, *x.flags] for x in (self, other))
        same = len(mine) == len(theirs) and all(map(operator.is_, mine, theirs))
        return same and self.ordered == other.ordered

    def __copy__(self) -> SomeOf:
        return SomeOf(self.kind, self.labels, self.contents, self.flags, self.ordered)

    def __overt_spec__(self, leaves: bool) -> Spec:
        from overt.runtime.some_joined import Some

        return Some(
            self.kind,
            self.labels,
            [spec_of(x, False, leaves) for x in self.contents],
            [spec_of(x, True, leaves) for x in self.flags],
            self.ordered,
        )

    def __overt_truth__(self) -> Any:
        found: Any = False
        for flag in self.flags:
            found = either(found, flag)
        return found

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(self.kind, name):
            raise AttributeError(name)
        self.refuse(f".{name}() of a container", "write it as a loop over the items")

    def refuse(self, what: str, instead: str, kind: type[Exception] = StagingError) -> NoReturn:
        raise kind(f"{what}: {WHY.format(self.kind.__name__)}; {instead}")

    def __bool__(self) -> bool:
        return bool(self.__overt_truth__())

    def __len__(self) -> int:
        number = self.number()
        if type(number) is int:
            return number
        instead = "count it where it is made, or pass the number"
        self.refuse("len() gives a Python number", instead, AskedOfText)

    def __iter__(self) -> Iterator[Any]:
        if not all(type(f) is bool for f in self.flags):  # where a TypeError is not taken for ours
            self.refuse("this iterates in Python", "write a `for` loop over it", AskedOfText)
        yield from [x for x, f in zip(self.listed(), self.flags, strict=True) if f]

    def __eq__(self, other: object) -> bool:
        self.refuse("a comparison of containers", "compare their items")

    def __lt__(self, other: object) -> bool:
        self.refuse("a comparison of containers", "compare their items")

    __le__ = __gt__ = __ge__ = __lt__
    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        self.refuse("its text is used as a value", "print it, or make the text outside")

    def __format__(self, spec: str) -> str:
        return str(self)

    def __contains__(self, item: Any) -> bool:
        return bool(holds(self, item))

    def __repr__(self) -> str:
        return f"{self.kind.__name__} of some of {len(self.flags)} items"

    # --- what it holds

    def number(self) -> Any:
        """How many items there are."""
        return counted(self.flags)

    def listed(self) -> list[Any]:
        """What a loop over it gives: items, or keys."""
        return self.contents if self.labels is None else self.labels

    def in_order(self) -> SomeOf:
        """Itself, where the order of its items is known. Errors: StagingError."""
        if not self.ordered:
            self.refuse("the order of the items is asked for", "sort them, or ask for one by key")
        return self

    def rank(self, i: int) -> Any:
        """How many items are before that of position `i`."""
        return counted(self.flags[:i])

    def at(self, k: Any) -> Any:
        """The item before which there are `k` others; anything where there is none."""
        found = MISSING
        self.in_order()
        for i in reversed(range(len(self.flags))):
            here = both(self.flags[i], predicate(self.rank(i) == k))
            if here is not False:
                item = self.listed()[i]
                found = item if found is MISSING else chosen(here, item, found)
        return found

    def items(self) -> SomeOf:
        """The pairs of a dictionary."""
        assert self.labels is not None
        pairs = list(zip(self.labels, self.contents, strict=True))
        return SomeOf(list, None, pairs, self.flags, self.ordered)

    def keys(self) -> SomeOf:
        """The keys of a dictionary."""
        assert self.labels is not None
        return SomeOf(list, None, self.labels, self.flags, self.ordered)

    def values(self) -> SomeOf:
        """The values of a dictionary."""
        return SomeOf(list, None, self.contents, self.flags, self.ordered)

    def place(self, key: Any) -> int | None:
        """The position of a key."""
        if isinstance(key, Array) and not is_known(key):
            self.refuse("a key that data decides", "use keys that are the same in every run")
        assert self.labels is not None
        return next((i for i, k in enumerate(self.labels) if same_key(k, key)), None)

    def but(self, make: Callable[[Any], Any]) -> SomeOf:
        """A list of what a function makes of each item."""
        return SomeOf(list, None, list(map(make, self.listed())), self.flags, self.ordered)

    # --- reading

    def __getitem__(self, index: Any) -> Any:
        if self.labels is not None:
            return self.of_key(index)
        if isinstance(index, slice):
            return self.part(index)
        count = self.number()
        k = index
        if type(index) is int:
            k = index if index >= 0 else count + index
        else:
            index = index.astype(int)
            k = numpy().where(index < 0, index + count, index)
        self.check((k < 0) | (k >= count), IndexError, "list index out of range")
        return self.at(k)

    def of_key(self, key: Any) -> Any:
        i = self.place(key)
        there = False if i is None else self.flags[i]
        self.check(negated(there), KeyError, key)
        return MISSING if i is None else self.contents[i]

    def part(self, index: slice) -> SomeOf:
        """A slice: its bounds as ranks."""
        if (index.start, index.stop, index.step) == (None, None, -1):
            return SomeOf(list, None, self.contents[::-1], self.flags[::-1], self.ordered)
        if index.step not in (None, 1):
            self.refuse("a slice with a step", "loop over the items")
        self.in_order()
        flags, count = self.flags, self.number()
        for bound, inside in ((index.start, operator.ge), (index.stop, operator.lt)):
            if bound is not None:
                limit = bound if bound >= 0 else count + bound
                ranks = [self.rank(i) for i in range(len(flags))]
                pairs = zip(flags, ranks, strict=True)
                flags = [both(f, predicate(inside(r, limit))) for f, r in pairs]
        return some_of(list, None, self.contents, flags)

    def get(self, key: Any, default: Any = None) -> Any:
        """`d.get(key, default)`"""
        i = self.place(key)
        return default if i is None else chosen(self.flags[i], self.contents[i], default)

    def index(self, value: Any) -> Any:
        """`xs.index(value)` of a list."""
        ranks = [self.rank(i) for i in range(len(self.flags))]
        pairs = zip(self.flags, self.contents, strict=True)
        hits = SomeOf(list, None, ranks, [both(f, predicate(x == value)) for f, x in pairs])
        hits.check(negated(predicate(hits)), ValueError, "the list does not hold this value")
        return hits.at(0)

    def count(self, value: Any) -> Any:
        """`xs.count(value)` of a list."""
        pairs = zip(self.flags, self.contents, strict=True)
        return counted([both(f, predicate(x == value)) for f, x in pairs])

    def check(self, failed: Any, kind: type[Exception], *arguments: Any) -> None:
        from overt.runtime.staged_builtins import raise_if

        raise_if(failed, kind, lambda: arguments)

    # --- changing a copy of it

    def append(self, item: Any) -> None:
        self.contents.append(item)
        self.flags.append(True)

    def extend(self, items: Any) -> None:
        other = items if type(items) is SomeOf else of_all(list(items))
        self.contents += other.contents
        self.flags += other.flags
        self.ordered = self.ordered and other.ordered

    def add(self, key: Any) -> None:
        self.__setitem__(key, None)

    def __setitem__(self, key: Any, value: Any) -> None:
        if self.labels is None:
            self.refuse("a store into a list", "build another list")
        i = self.place(key)
        if i is None:
            self.labels.append(key)
            self.append(value)
            return
        if self.flags[i] is not True and any(f is not False for f in self.flags[i + 1 :]):
            self.ordered = False  # where it was missing it is last now
        self.contents[i], self.flags[i] = value, True

    def update(self, other: Any = (), **named: Any) -> None:
        if type(other) is SomeOf and other.labels is not None:
            for key, value, flag in zip(other.labels, other.contents, other.flags, strict=True):
                self.put(key, value, flag)
        elif self.kind is set:
            for key in other:
                self.add(key)
        else:
            for key, value in {**dict(other), **named}.items():
                self[key] = value

    def put(self, key: Any, value: Any, flag: Any) -> None:
        """`d[key] = value` where the flag holds."""
        i = self.place(key)
        if i is None or self.flags[i] is False or flag is True:
            self[key] = value
            self.flags[self.place(key)] = flag  # type: ignore[index]
            return
        if self.flags[i] is not True:
            self.ordered = False
        self.contents[i] = chosen(flag, value, self.contents[i])
        self.flags[i] = either(self.flags[i], flag)

    def setdefault(self, key: Any, default: Any = None) -> Any:
        value = self.get(key, default)
        self[key] = value
        return value

    def pop(self, *args: Any) -> Any:
        """`xs.pop()`, `xs.pop(0)`, `d.pop(key)` and `d.pop(key, default)`."""
        if self.labels is not None:
            key, *default = args
            value = self.get(key, default[0]) if default else self.of_key(key)
            self.discard(key)
            return value
        (k,) = args or (-1,)
        value, count = self[k], self.number()
        rank = k if type(k) is int and k >= 0 else count + k
        ranks = [self.rank(i) for i in range(len(self.flags))]
        self.flags = [both(f, predicate(r != rank)) for f, r in zip(self.flags, ranks, strict=True)]
        return value

    def popleft(self) -> Any:
        return self.pop(0)

    def discard(self, key: Any) -> None:
        i = self.place(key)
        if i is not None:
            self.flags[i] = False

    def __delitem__(self, key: Any) -> None:
        self.pop(key)

    def remove(self, key: Any) -> None:
        if self.labels is None:
            self.pop(self.index(key))
        else:
            self.of_key(key)
            self.discard(key)

    def clear(self) -> None:
        self.labels, self.contents, self.flags = [] if self.labels is not None else None, [], []

    def reverse(self) -> None:
        self.contents.reverse()
        self.flags.reverse()

    def copy(self) -> SomeOf:
        return self.__copy__()

    def __add__(self, other: Any) -> SomeOf:
        if type(other) is not list and getattr(other, "kind", None) is not list:
            raise TypeError(f"a {type(other).__name__} cannot be joined to a list")
        made = self.__copy__()
        made.extend(other)
        return made

    def __radd__(self, other: Any) -> SomeOf:
        if type(other) is not list:
            raise TypeError(f"a list cannot be joined to a {type(other).__name__}")
        made = of_all(list(other))
        made.extend(self)
        return made

    def __mul__(self, times: Any) -> SomeOf:
        if self.kind is not list or type(times) is not int:
            self.refuse("a product with it", "compute with its items in a `for` loop")
        return SomeOf(list, None, self.contents * times, self.flags * times, self.ordered)

    __rmul__ = __mul__

    def __or__(self, other: Any) -> SomeOf:
        made = self.__copy__()
        made.update(other)
        return made

    def __ror__(self, other: Any) -> SomeOf:
        made = of_all(other).__copy__()
        made.update(self)
        return made

    def __and__(self, other: Any) -> Any:
        return self.kept(lambda key: holds(other, key))

    def __sub__(self, other: Any) -> Any:
        return self.kept(lambda key: negated(holds(other, key)))

    def kept(self, test: Callable[[Any], Any]) -> Any:
        """Of a set, the keys that pass a test."""
        if self.kind is not set or self.labels is None:
            self.refuse("an operator of sets", "write it as a loop over the items")
        flags = [both(f, test(key)) for f, key in zip(self.flags, self.labels, strict=True)]
        return some_of(set, self.labels, self.contents, flags, False)

    def __rand__(self, other: Any) -> Any:
        return of_all(other).kept(lambda key: holds(self, key))

    def __rsub__(self, other: Any) -> Any:
        return of_all(other).kept(lambda key: negated(holds(self, key)))

    union, intersection, difference = __or__, __and__, __sub__

    # --- as an array

    def as_array(self) -> Any:
        """The items of a list as an array, of which a mask selects those that are there."""
        from overt.runtime.numpy.selected import Selected

        np = numpy()
        if not self.contents:
            return np.array([])
        self.in_order()
        rows = np.stack([np.asarray(x) for x in self.contents])
        mask = np.stack([np.asarray(f) for f in self.flags])
        return Selected(rows, np.reshape(mask, (len(self.flags), *(1,) * (rows.ndim - 1))), 0, 1)


class Missing:
    """The place of an item that no run has."""


MISSING: Any = Missing()


def numpy() -> Any:
    from overt.runtime import numpy as np

    return np


def counted(flags: Sequence[Any]) -> Any:
    known = sum(f for f in flags if type(f) is bool)
    for f in flags:
        if type(f) is not bool:
            known = f.astype(int) + known
    return known


def chosen(flag: Any, a: Any, b: Any) -> Any:
    """`a` where the flag holds, else `b`: both are there already."""
    if type(flag) is bool:
        return a if flag else b
    if a is MISSING or b is MISSING:
        return a if b is MISSING else b
    from overt.runtime.choice import choose

    try:
        return choose(flag, a, b)
    except Unlike as unlike:
        raise TypeError(
            f"the items of a container are of different types: {unlike.one} and {unlike.other}; "
            "which of them is meant is known only when the program runs"
        ) from None


def same_key(a: Any, b: Any) -> bool:
    return a is b or hash(a) == hash(b) and bool(a == b)


def of_all(x: Any) -> SomeOf:
    """A container all of whose items are there."""
    if type(x) is SomeOf:
        return x
    if type(x) is dict:
        return SomeOf(dict, list(x), list(x.values()), [True] * len(x))
    if type(x) in (set, frozenset):
        return SomeOf(set, list(x), [None] * len(x), [True] * len(x), len(x) < 2)
    return SomeOf(list, None, x, [True] * len(x))


def some_of(
    kind: type, keys: Any, values: Sequence[Any], flags: Sequence[Any], ordered: bool = True
) -> Any:
    """Some items; a plain container where Python knows which."""
    flags = [bool(f) if type(f) is bool or is_flag(f) and is_known(f) else f for f in flags]
    if all(type(f) is bool for f in flags) and (ordered or kind is set):
        left = [i for i, f in enumerate(flags) if f]
        if kind is list:
            return [values[i] for i in left]
        return {keys[i]: values[i] for i in left} if kind is dict else {keys[i] for i in left}
    refuse_by_source()
    return SomeOf(kind, keys, values, flags, ordered)


def refuse_by_source() -> None:
    """Errors: Escape in generated derivative code, which follows containers item by item."""
    if BY_SOURCE.get():
        raise Escape(None, GROWS)


def is_flag(x: Any) -> bool:
    return isinstance(x, (Array, ndarray, bool_)) and not x.shape


def kind_of(x: Any) -> Any:
    """`type(x)`, where `x` may be such a container.

    >>> kind_of([1])
    <class 'list'>
    """
    if hasattr(type(x), "__overt_objects__"):
        from overt.runtime.one_of import OneOf

        kinds = [type(each) for each in x.__overt_objects__]
        return OneOf(x.__overt_index__, kinds) if len(set(kinds)) > 1 else kinds[0]
    return x.kind if type(x) is SomeOf else type(x)


def of_kind(kind: type, x: Any) -> Any:
    """`list(x)`, `set(x)` or `dict(x)`, where `x` may be such a container.

    >>> of_kind(list, (1, 2))
    [1, 2]
    """
    if type(x) is not SomeOf:
        return kind(x)
    if kind is x.kind:
        return x.copy()
    if kind is list:
        return x.but(lambda item: item)
    made = SomeOf(kind, [], [], [], kind is dict)
    for item, flag in zip(x.listed(), x.flags, strict=True):
        key, value = item if kind is dict else (item, None)
        made.put(key, value, flag)
    return some_of(kind, made.labels, made.contents, made.flags, made.ordered)


def is_kind(x: Any, kinds: Any) -> Any:
    """`isinstance(x, kinds)`, where `x` may be such a container.

    >>> is_kind([1], (list, tuple))
    True
    """
    if hasattr(type(x), "__overt_objects__"):
        from overt.runtime.chosen_objects import chosen_kind

        return chosen_kind(x, kinds)
    if type(x) is NoneOr:
        value, flag = opened(x)
        return either(
            both(flag, is_kind(value, kinds)), both(negated(flag), isinstance(None, kinds))
        )
    return issubclass(x.kind, kinds) if type(x) is SomeOf else isinstance(x, kinds)


def is_one(x: Any) -> bool:
    """Whether a value is one of several functions or texts, by data."""
    return hasattr(type(x), "__overt_each__")


def holds(container: Any, item: Any) -> Any:
    """`item in container`, where only the running program may know.

    >>> holds([1, 2], 2), holds({"a": 1}, "b")
    (True, False)
    """
    if type(container) is SomeOf and container.labels is not None:
        i = container.place(item)
        return False if i is None else container.flags[i]
    if isinstance(container, Array):
        return (container == item).any()
    open_items = isinstance(item, Array) and not is_known(item) or is_one(item)
    if type(container) is not SomeOf:
        if not isinstance(container, (list, tuple, set, frozenset, dict, range)):
            own = getattr(type(container), "__contains__", None)
            if isinstance(own, types.FunctionType):
                return predicate(own(container, item))
            return item in container
        if not open_items and not any(
            isinstance(x, Array) and not is_known(x) or is_one(x) for x in container
        ):
            return item in container
    found: Any = False
    some = of_all(container if type(container) is SomeOf else list(container))
    for x, flag in zip(some.contents, some.flags, strict=True):
        if is_one(x) or is_one(item):
            found = either(found, both(flag, predicate(x == item)))
        elif isinstance(x, str) or isinstance(item, str):
            found = either(found, both(flag, x == item if type(x) is type(item) else False))
        else:
            found = either(found, both(flag, True if x is item else predicate(x == item)))
    return found


# --- containers as trees


def _flat(x: SomeOf) -> tuple[tuple[Any, ...], tuple]:
    keys = None if x.labels is None else tuple(x.labels)
    return (*x.contents, *x.flags), (x.kind, keys, len(x.flags), x.ordered)


def _from_flat(data: tuple, leaves: Any) -> Any:
    kind, keys, count, ordered = data
    leaves = list(leaves)
    values, flags = leaves[:count], leaves[count:]
    if all(type(f) is bool or is_flag(f) for f in flags):
        return some_of(kind, keys, values, flags, ordered)
    if all(isinstance(f, Array) for f in flags):  # of a whole batch
        raise StagingError(
            f"the result has a {kind.__name__} that holds other items in each lane of a `vmap`; "
            "return an array of one length and a mask, or what you compute from it"
        )
    return SomeOf(kind, keys, values, flags, ordered)


register_pytree_node(SomeOf, _flat, _from_flat)
