"""An object chosen by data: several objects, and the number of the one that is meant.

best = a if a.cost < b.cost else b      # under `jit` and `vmap` a `Chosen` of the two
best.cost                               # a choice between what they hold
best.move(x)                            # a branch for each, so that the right one is changed
best.cost = x                           # each keeps its own, but for the one that is meant
"""

from __future__ import annotations

import enum
import functools
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

from overt.runtime.array import Array, DeviceArray
from overt.runtime.asked_again import MAY_BE_CHOSEN, AskedOfText
from overt.runtime.changes import with_parts
from overt.runtime.errors import StagingError
from overt.runtime.joined_values import (
    by_reference,
    is_copy,
    is_object,
    join_by_reference,
    note,
    refuse_copies,
)
from overt.runtime.none_or import NoneOr, opened
from overt.runtime.parts import blank, is_array, parts_of
from overt.runtime.record import RECORDING
from overt.runtime.tree_registry import register_pytree_node
from overt.runtime.undefined import UndefinedValue
from overt.runtime.world import CONTAINERS, Held, World, attributes_of, is_container

# Operations that give one of their operands.
CHOOSING = frozenset("where select maximum minimum fmax fmin clip".split())

__all__ = [
    "Chosen", "Reach", "copied", "either_object", "is_chosen", "note_containers", "note_handed_on",
    "note_joined",    "of_objects", "referred", "where_is",
]  # fmt: skip

MISSING: Any = type("Missing", (), {})()


def is_chosen(x: Any) -> bool:
    """Whether a value stands for one of several objects."""
    return type(x) is Chosen


class Same:
    """Objects that count by their identity."""

    def __init__(self, objects: Sequence[Any]) -> None:
        self.objects = tuple(objects)

    def __eq__(self, other: object) -> bool:
        return (
            type(other) is Same
            and len(self.objects) == len(other.objects)
            and all(map(operator.is_, self.objects, other.objects))
        )

    def __hash__(self) -> int:
        return hash(tuple(map(id, self.objects)))


class Chosen:
    """One of several objects, by a number that only the compiled program or a lane knows."""

    __slots__ = ("__overt_index__", "__overt_objects__")

    def __init__(self, index: Any, objects: Sequence[Any]) -> None:
        object.__setattr__(self, "__overt_index__", index)
        object.__setattr__(self, "__overt_objects__", tuple(objects))
        if len(kinds_of(self)) > 1 and not MAY_BE_CHOSEN.get():
            raise AskedOfText(
                "data decides of which class an object is; ask what decided it instead of the "
                "object, or give both sides objects of one class"
            )

    @property
    def __class__(self) -> Any:
        kinds = kinds_of(self)
        return kinds.pop() if len(kinds) == 1 else Chosen

    @__class__.setter
    def __class__(self, kind: type) -> None:
        raise NotImplementedError("the class of an object chosen by data cannot be changed")

    def __getattr__(self, name: str) -> Any:
        return attribute(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        set_attribute(self, name, value)

    def __delattr__(self, name: str) -> None:
        raise NotImplementedError(
            f"attribute {name!r} of an object chosen by data cannot be deleted; write a branch "
            "for each object"
        )

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return applied(self, lambda x, *given: lifted(x)(*given, **keywords), args)

    def __bool__(self) -> bool:
        from overt.runtime.predicates import predicate

        return bool(predicate(self))

    def __iter__(self) -> Iterator[Any]:
        rows = [list(x) for x in self.__overt_objects__]
        if len({len(row) for row in rows}) > 1:
            raise TypeError(
                "objects of different lengths cannot be iterated over where data chooses one"
            )
        return iter([chosen_value(self.__overt_index__, column) for column in zip(*rows)])  # noqa: B905

    def __len__(self) -> int:
        counts = {len(x) for x in self.__overt_objects__}
        if len(counts) > 1:
            raise TypeError("the length of an object chosen by data is known only later")
        return counts.pop()

    def __hash__(self) -> int:
        raise TypeError(
            "which object this is, is known only when the program runs: it can be no key of a "
            "dictionary and no member of a set"
        )

    def __repr__(self) -> str:
        return f"one of {', '.join(map(repr, self.__overt_objects__))}"

    def __eq__(self, other: object) -> Any:
        if all(type(x).__eq__ is object.__eq__ for x in self.__overt_objects__):
            return where_is(self, other)
        return applied(self, operator.eq, (other,))

    def __ne__(self, other: object) -> Any:
        from overt.runtime.truth import not_

        return not_(self == other)


def kinds_of(x: Chosen) -> set[type]:
    """The classes of which the chosen object may be."""
    return {type(each) for each in x.__overt_objects__}


def chosen_kind(x: Chosen, kinds: Any) -> Any:
    """`isinstance(x, kinds)`"""
    from overt.runtime import numpy as np

    answers = [isinstance(each, kinds) for each in x.__overt_objects__]
    if all(answers) or not any(answers):
        return answers[0]
    return np.asarray(answers)[x.__overt_index__]


def _method(call: Callable) -> Callable:
    return lambda self, *args: applied(self, call, args)


def _swapped(call: Callable) -> Callable:
    return lambda self, other: applied(self, lambda x, y: call(y, x), (other,))


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_"):
    _plain = _name.rstrip("_")
    setattr(Chosen, f"__{_plain}__", _method(getattr(operator, _name)))
    setattr(Chosen, f"__r{_plain}__", _swapped(getattr(operator, _name)))
for _name in ("lt", "le", "gt", "ge", "neg", "pos", "abs", "invert", "getitem", "setitem"):
    setattr(Chosen, f"__{_name}__", _method(getattr(operator, _name)))


def lifted(f: Any) -> Any:
    from overt.runtime import lifted as lifted_form

    return lifted_form(f)


def of_objects(index: Any, objects: Sequence[Any]) -> Any:
    """The object of this number; itself, where Python knows the number."""
    from overt.runtime.staging import is_known

    if type(index) is int or isinstance(index, Array) and is_known(index) and not index.shape:
        return objects[int(index)]
    return Chosen(index, objects)


register_pytree_node(
    Chosen,
    lambda x: ((x.__overt_index__,), Same(x.__overt_objects__)),
    lambda same, values: of_objects(next(iter(values)), same.objects),
)


# --- what is done with such an object


def applied(chosen: Chosen, f: Callable, args: tuple[Any, ...]) -> Any:
    """`f(object, *args)` of the object that is meant; only that one is changed."""
    from overt.runtime.branches import cond

    first, *rest = chosen.__overt_objects__
    if not rest:
        return f(first, *args)
    index = chosen.__overt_index__
    others = Chosen(index - 1, rest)
    return cond(
        index == 0,
        lambda *given: f(first, *given),
        lambda *given: applied(others, f, given),
        args,
    )


def attribute(chosen: Chosen, name: str) -> Any:
    """`chosen.name`."""
    objects = chosen.__overt_objects__
    if name.startswith("__") and name.endswith("__"):
        raise AttributeError(f"an object chosen by data has no attribute {name!r} yet")
    if all(name in attributes_of(x) for x in objects):
        held = [getattr(x, name) for x in objects]
        return chosen_value(chosen.__overt_index__, held, f"attribute {name!r}")
    if any(isinstance(getattr(type(x), name, None), property) for x in objects):
        return applied(chosen, lambda x: property_of(x, name), ())
    held = [getattr(x, name) for x in objects]
    if all(map(callable, held)):
        return lambda *args, **keywords: applied(
            chosen, lambda x, *given: lifted(getattr(x, name))(*given, **keywords), args
        )
    return chosen_value(chosen.__overt_index__, held, f"attribute {name!r}")


def property_of(x: Any, name: str) -> Any:
    from overt.runtime import lifted_attribute

    return lifted_attribute(x, name)


def set_attribute(chosen: Chosen, name: str, value: Any) -> None:
    """`chosen.name = value`."""
    objects, index = chosen.__overt_objects__, chosen.__overt_index__
    if any(has_setter(type(x), name) for x in objects):
        applied(chosen, lambda x, given: setattr(x, name, given), (value,))
        return
    for i, x in enumerate(objects):
        before = getattr(x, name, MISSING)
        if before is MISSING:
            raise TypeError(
                f"attribute {name!r} is given to one of several objects chosen by data, of the "
                f"class {type(x).__name__}, that has none yet; set it in all of them first"
            )
        setattr(x, name, chosen_value(index == i, [before, value], f"attribute {name!r}"))


def has_setter(kind: type, name: str) -> bool:
    """Whether storing an attribute runs code of the user's."""
    return kind.__setattr__ is not object.__setattr__ or isinstance(
        getattr(kind, name, None), property
    )


def chosen_value(index: Any, values: Sequence[Any], what: str = "a value") -> Any:
    """The value of this number; a flag is a number too."""
    from overt.runtime.choice import choose
    from overt.runtime.setbacks import Unlike
    from overt.runtime.staging import is_known

    if is_known(index):
        return values[int(index)]
    found = values[0]
    if any(isinstance(x, list | dict | set) and x is not found for x in values):
        note(*values)
    for i, value in enumerate(values[1:], 1):
        try:
            found = choose(index if index.dtype == bool else index == i, value, found)
        except Unlike as unlike:
            raise TypeError(
                f"{what} of objects chosen by data is of different types: {unlike.one} and "
                f"{unlike.other}; which of them is meant is known only when the program runs"
            ) from None
    if isinstance(found, list | dict | set) and any(x is not found for x in values):
        note(found)
    return found


def where_is(x: Any, other: Any) -> Any:
    """`x is other`, where one of them or both are chosen by data, or may be None."""
    if NoneOr in (type(x), type(other)):
        from overt.runtime.predicates import both, predicate

        one, other_one = opened(x), opened(other)
        if not all(type(each[0]) is not UndefinedValue for each in (one, other_one)):
            return (x if type(x) is NoneOr else other) == None  # noqa: E711
        there = both(predicate(one[1]), predicate(other_one[1]))
        return both(there, predicate(where_is(one[0], other_one[0])))
    from overt.runtime.truth import or_

    if not is_chosen(x):
        x, other = other, x
    if not is_chosen(x):
        if is_object(x) and is_object(other) and x is not other:
            refuse_copies(x, other)
        refuse_values(x, other)
        return x is other
    found: Any = False
    for i, each in enumerate(x.__overt_objects__):
        if is_chosen(other):
            for j, theirs in enumerate(other.__overt_objects__):
                if each is theirs:
                    both = (x.__overt_index__ == i) & (other.__overt_index__ == j)
                    found = or_(found, functools.partial(bool_of, both))
        elif each is other:
            found = or_(found, functools.partial(bool_of, x.__overt_index__ == i))
    return found


def bool_of(x: Any) -> Any:
    return x


def refuse_values(x: Any, other: Any) -> None:
    """Refuse to say of two numbers or arrays whether they are one, where that may be so."""
    from overt.runtime.arranging import is_open

    if x is other or not (is_open(x) or is_open(other)) or not (is_array(x) and is_array(other)):
        return
    if (
        not stands_for_another(x)
        and not stands_for_another(other)
        and not (is_argument(x) and is_argument(other))
    ):
        return
    raise StagingError(
        "`is` asks whether two numbers or arrays are one object, which a value that is known only "
        "later does not tell; compare them, `a == b`, or keep a flag or an index of what was chosen"
    )


def is_argument(x: Any) -> bool:
    """Whether a value is an argument of the function that is staged, or of a region in it."""
    from overt.runtime.staging import Symbolic

    return type(x) is Symbolic and x.node is x.graph.source


def stands_for_another(x: Any) -> bool:
    """Whether a value may be one that a branch or loop was given or has chosen."""
    from overt.runtime.staging import Control, Symbolic

    if type(x) is not Symbolic:
        return isinstance(x, Array) and not isinstance(x, DeviceArray)
    if is_argument(x):
        return x.graph.parent is not None
    made_by = x.node.primitive
    return isinstance(made_by, Control) or made_by.name in CHOOSING


def copied(x: Any, stays: Callable[[Any], bool] = lambda x: False) -> Any:
    """What leaves a transformed function: of an object chosen by data that it has made, a copy.

    `stays` tells those that were there before.
    """
    if is_chosen(x):
        objects, index = x.__overt_objects__, x.__overt_index__
        found = list(map(stays, objects))
        if all(found):
            return x
        if any(found):
            raise TypeError(
                "the result may be an object that was there before and one that the compiled "
                "function has made: return what you need of it"
            )
        kinds = {type(each) for each in objects}
        if len(kinds) > 1:
            names = " or ".join(sorted(kind.__name__ for kind in kinds))
            raise TypeError(
                f"the result is an object of the class {names}; which, is known only when the "
                "program runs: return what you need of it"
            )
        made = blank(kinds.pop())
        for name in attributes_of(objects[0]):
            held = [copied(getattr(each, name), stays) for each in objects]
            object.__setattr__(made, name, chosen_value(index, held, f"attribute {name!r}"))
        return made
    if type(x) in (list, tuple, dict):
        parts = parts_of(x)
        assert parts is not None
        values = [copied(part, stays) for part in parts.values]
        if any(a is not b for a, b in zip(values, parts.values, strict=True)):
            return parts.rebuild(values)
    return x


# --- the two sides of a branch


class Taken:
    """An object that one side of a branch has made, as what it holds.

    It is a `copy` if the other side gives one that was there before, which others may hold.
    """

    def __init__(self, kind: type, held: dict[str, Any], copy: bool = False) -> None:
        self.kind, self.held, self.copy = kind, held, copy


register_pytree_node(
    Taken,
    lambda x: (tuple(x.held.values()), (x.kind, tuple(x.held), x.copy)),
    lambda data, values: Taken(data[0], dict(zip(data[1], values, strict=True)), data[2]),
)


def taken_new(x: Any, is_old: Callable[[Any], bool]) -> Any:
    """What a side gives, with the objects that it has made as what they hold."""
    bare = x.value if type(x) is Held else x
    if by_reference(bare) and not is_old(bare) and not isinstance(bare, enum.Enum):
        return taken(bare)
    return with_parts(lambda part: taken_new(part, is_old), x)


def given_back(x: Any) -> Any:
    """A result with objects in the places of what they hold."""
    if type(x) is Taken:
        made = blank(x.kind)
        for name, value in x.held.items():
            object.__setattr__(made, name, given_back(value))
        if x.copy:
            note(made)
        return made
    return with_parts(given_back, x)


def referred(
    a: Any, b: Any, on_a: Callable, on_b: Callable, is_old: Callable[[Any], bool]
) -> tuple[Any, Any]:
    """The results of two sides, so that objects that differ can be joined.

    Two that were there before are a choice between these; two that the sides have made are one of
    what they hold.  `on_a` and `on_b` run code where the side runs.
    """
    if a is b:
        return a, b
    if NoneOr in (type(a), type(b)) or (a is None) is not (b is None):
        return none_or_referred(a, b, on_a, on_b, is_old)
    one, other = _as_chosen(a), _as_chosen(b)
    if (
        type(a) is not type(b)
        and Taken in (type(a), type(b))
        and (one is not None or other is not None)
    ):
        refuse_mixed(other if one is None else one)
    if one is not None and other is not None:
        objects = [*one.__overt_objects__, *other.__overt_objects__]
        fresh = [x for x in objects if not is_old(x)]
        if RECORDING.get() and 0 < len(fresh) < len(objects):
            refuse_mixed(*objects)
        if fresh and len({type(x) for x in objects}) == 1:
            note(*filter(is_old, objects))
            copy = len(fresh) < len(objects)
            return on_a(lambda: taken(a, copy)), on_b(lambda: taken(b, copy))
        if any(map(holds_inner, fresh)):
            return a, b
        objects = [x for i, x in enumerate(objects) if not any(x is y for y in objects[:i])]
        return on_a(lambda: renumbered(one, objects)), on_b(lambda: renumbered(other, objects))
    if type(a) is Held and type(b) is Held and a != b:
        kinds = {type(x.value) for x in (a, b) if parts_of(x.value) is not None}
        if kinds:
            join_by_reference(kinds)
    if type(a) is type(b) and type(a) in (list, tuple, dict):
        ours, theirs = parts_of(a), parts_of(b)
        assert ours is not None and theirs is not None
        if ours.kind == theirs.kind and len(ours.values) == len(theirs.values):
            pairs = [
                referred(x, y, on_a, on_b, is_old)
                for x, y in zip(ours.values, theirs.values, strict=True)
            ]
            one_side, other_side = map(list, zip(*pairs, strict=True)) if pairs else ([], [])
            return ours.rebuild(one_side), theirs.rebuild(other_side)
    return a, b


def none_or_referred(
    a: Any, b: Any, on_a: Callable, on_b: Callable, is_old: Callable[[Any], bool]
) -> tuple[Any, Any]:
    """The same of two results of which at least one may be None."""
    one, other = (UndefinedValue() if x is None else opened(x)[0] for x in (a, b))
    if type(one) is UndefinedValue:
        other = on_b(lambda: taken_new(other, is_old))
    elif type(other) is UndefinedValue:
        one = on_a(lambda: taken_new(one, is_old))
    else:
        one, other = referred(one, other, on_a, on_b, is_old)
    made = [
        value if type(x) is not NoneOr else NoneOr(value, opened(x)[1])
        for x, value in ((a, one), (b, other))
    ]
    return (None if a is None else made[0]), (None if b is None else made[1])


def refuse_mixed(*objects: Any) -> NoReturn:
    """Errors: TypeError, since such a choice cannot be recorded."""
    names = " or ".join(sorted({x.__class__.__name__ for x in objects}))
    raise TypeError(
        f"a branch in a compiled derivative gives a new object of the class {names} on one side, "
        "and one that was there before on the other; make a new one on both sides"
    )


def note_joined(a: Any, b: Any, joined: Any, is_old: Callable[[Any], bool]) -> None:
    """Note objects that were joined as values, if others may hold them."""
    if a is b and a is joined:
        return
    a, b, joined = (opened(x)[0] if type(x) is NoneOr else x for x in (a, b, joined))
    if is_object(joined) and joined is not a and joined is not b:
        old = [x for x in (a, b) if is_object(x) and (RECORDING.get() or is_old(x))]
        if old:
            note(joined, *old)
    every = [parts_of(x) for x in (a, b, joined)]
    if all(x is not None for x in every) and type(a) is type(b) is type(joined):
        for ours, theirs, ones in zip(*[x.values for x in every], strict=False):  # type: ignore[union-attr]
            note_joined(ours, theirs, ones, is_old)


def note_containers(a: Any, b: Any, joined: Any, is_old: Callable[[Any], bool]) -> None:
    """Note lists and dictionaries that were joined as values: others may hold the two."""
    a, b, joined = (opened(x)[0] if type(x) is NoneOr else x for x in (a, b, joined))
    if is_container(joined) and joined is not a and joined is not b:
        note(joined, matters=lambda: any(is_old(x) for x in (a, b) if isinstance(x, CONTAINERS)))
    if not (type(a) is type(b) is type(joined) and type(joined) in (list, tuple, dict)):
        return
    keys = range(len(joined)) if not isinstance(joined, dict) else joined
    for key in keys if len(a) == len(b) == len(joined) else ():
        if not isinstance(joined, dict) or key in a and key in b:
            note_containers(a[key], b[key], joined[key], is_old)


def note_handed_on(init: Any, new: Any, final: Any, surely: bool, functions: Sequence[Any]) -> None:
    """Note what a loop hands on as a value, if others may hold the object that is meant.

    `surely` says that there is an iteration, so that it is no longer what was there before.
    """
    is_old = Reach(*functions)
    if isinstance(final, CONTAINERS):
        note_containers(init, new, final, is_old)
    init, new, final = (opened(x)[0] if type(x) is NoneOr else x for x in (init, new, final))
    if is_object(final) and final is not init and final is not new:
        old = None if surely else init
        note(final, matters=lambda: is_object(old) or is_copy(new) or is_old(new))


def holds_inner(x: Any) -> bool:
    from overt.runtime.either import holds_inner as holds_values_of_its_side

    return holds_values_of_its_side(x)


def taken(x: Any, copy: bool = False, within: tuple[int, ...] = ()) -> Any:
    """An object, and those it holds, as what they hold."""
    if type(x) is Held:
        x = x.value
    if is_chosen(x):
        x = copied(x)
    if id(x) in within or not by_reference(x) or isinstance(x, enum.Enum):
        return x
    held = attributes_of(x)
    within = (*within, id(x))
    return Taken(type(x), {k: taken(v, copy, within) for k, v in held.items()}, copy)


def _as_chosen(x: Any) -> Chosen | None:
    if is_chosen(x):
        return x
    if type(x) is Held:
        x = x.value
    return Chosen(0, (x,)) if by_reference(x) else None


def renumbered(x: Chosen, objects: Sequence[Any]) -> Chosen:
    """The same choice among more objects."""
    from overt.runtime import numpy as np

    places = [next(i for i, y in enumerate(objects) if y is each) for each in x.__overt_objects__]
    index = x.__overt_index__
    if not isinstance(index, Array):
        return Chosen(places[index], objects)
    if places == list(range(len(places))):
        return Chosen(index, objects)
    return Chosen(np.asarray(places)[index], objects)


def either_object(mask: Any, a: Any, b: Any) -> Any:
    """Where the mask is true the object a, else b; None for what does not count by reference."""
    from overt.runtime import numpy as np

    one, other = _as_chosen(a), _as_chosen(b)
    if one is None or other is None:
        return None
    objects = [*one.__overt_objects__, *other.__overt_objects__]
    objects = [x for i, x in enumerate(objects) if not any(x is y for y in objects[:i])]
    i, j = (renumbered(x, objects).__overt_index__ for x in (one, other))
    return Chosen(np.where(mask, i, j), objects)


MOST = 500_000  # objects that are looked at to see which were there before


def behind(side: Any) -> Any:
    """What a side of a branch was, that is run on other values than its own."""
    found = getattr(side, "__overt_reach__", None) if callable(side) else None
    return side if found is None else list(map(behind, found))


class Reach:
    """Whether objects were there before a branch: reached from it, or enumerated."""

    def __init__(self, *roots: Any) -> None:
        self.roots = list(map(behind, roots))
        self.seen: set[int] | None = None
        self.complete = True

    def __call__(self, x: Any) -> bool:
        if isinstance(x, enum.Enum):
            return True
        if self.seen is None:
            world = World(*self.roots, most=MOST)
            self.seen, self.complete = world.seen, world.complete
        if id(x) in self.seen or self.complete:
            return id(x) in self.seen
        raise TypeError(
            f"whether an object of the class {type(x).__name__} was there before a branch is not "
            f"known, since too many objects lead to it (more than {MOST}); give the function only "
            "what it uses"
        )
