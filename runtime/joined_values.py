"""Objects joined as values: what they hold must not change afterwards, else they are references.

best = a if a.cost < b.cost else b      # dataclasses: of their fields, each is chosen by data
best.cost = 0.0                         # one of them changes: they are joined by reference
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from overt.runtime.changes import alike
from overt.runtime.parts import BY_REFERENCE, parts_of
from overt.runtime.undefined import UndefinedValue
from overt.runtime.world import World, attributes_of, is_frozen, is_users_object

__all__ = [
    "attempt",
    "by_reference",
    "check",
    "chosen_from",
    "choosing",
    "is_object",
    "join_by_reference",
    "note",
    "is_copy",
    "note_chosen",
    "note_copy",
    "refuse_copies",
]


def is_object(x: Any) -> bool:
    """Whether a value is an object of the user's that may change, and that others may hold."""
    if isinstance(x, tuple | list | dict | set) or x is None or type(x) is UndefinedValue:
        return False
    return is_users_object(x) and not is_frozen(x) and not isinstance(x, BaseException)


class ByReference(BaseException):
    """Objects of these classes were changed after one of them was chosen: choose among them."""

    def __init__(self, kinds: set[type]) -> None:
        self.kinds = kinds


class Notes:
    """Objects that were joined as values, with what they held then."""

    def __init__(self) -> None:
        self.joined: list[tuple[Any, Any, Callable[[], bool]]] = []
        self.chosen: dict[int, tuple[Any, Any]] = {}  # arrays, and what data chose them from

    def check(self) -> None:
        """Errors: ByReference, or TypeError where that was no help, if one has changed since."""
        for x, before, matters in self.joined:
            if alike(held_now(x), before) or not matters():
                continue
            kind = type(x)
            if is_object(x) and parts_of(x) is not None:
                raise ByReference({kind})
            what = (
                f"an object of the class {kind.__name__}" if is_object(x) else f"a {kind.__name__}"
            )
            raise TypeError(
                f"{what} is changed that may be the one chosen by data: it was taken by value, so "
                "the change would be lost; change it in a branch for each of those to choose from"
            )


_NOTES: ContextVar[Notes | None] = ContextVar("overt_joined_objects", default=None)


def refuse_copies(*objects: Any) -> None:
    """Errors: ByReference for what was joined as a value, since it is asked which one it is."""
    notes = _NOTES.get()
    found = {type(x) for x, *_ in notes.joined if any(x is y for y in objects)} if notes else set()
    if found:
        raise ByReference(found)


def join_by_reference(kinds: set[type]) -> None:
    """Errors: ByReference, in a choice that can be made again."""
    if _NOTES.get() is not None:
        raise ByReference(kinds)


def by_reference(x: Any) -> bool:
    """Whether an object stays itself when data chooses it; a dataclass, if it is changed later."""
    if not is_object(x):
        return False
    return parts_of(x) is None


def always() -> bool:
    return True


def note(*things: Any, matters: Callable[[], bool] = always) -> None:
    """Note what these hold: nothing may be stored in them from now on, if that `matters`."""
    notes = _NOTES.get()
    if notes is not None:
        notes.joined += [(x, held_now(x), matters) for x in things]


def is_copy(x: Any) -> bool:
    """Whether an object or a list was joined as a value from such that others may hold."""
    notes = _NOTES.get()
    return notes is not None and any(y is x and matters() for y, _, matters in notes.joined)


def note_chosen(x: Any, items: Collection[Any]) -> None:
    """Note that an array is one of several, which data chooses."""
    notes = _NOTES.get()
    if notes is not None:
        notes.chosen[id(x)] = x, items


def chosen_from(x: Any) -> Collection[Any]:
    """What data chose an array from; nothing of others."""
    notes = _NOTES.get()
    return notes.chosen.get(id(x), (x, ()))[1] if notes is not None else ()


def note_copy(x: Any, made: Any) -> None:
    """Note the lists and dictionaries in a copy of what was noted."""
    notes = _NOTES.get()
    if notes is None or x is made:
        return
    if isinstance(x, list | dict) and type(x) is type(made):
        found = [matters for y, _, matters in notes.joined if y is x]
        if found:
            note(made, matters=found[0])
    one, other = parts_of(x), parts_of(made)
    if one is not None and other is not None:
        for a, b in zip(one.values, other.values, strict=False):
            note_copy(a, b)


@contextmanager
def attempt() -> Iterator[None]:
    """Around what is done in another way if it fails: then what it joined does not count."""
    notes = _NOTES.get()
    count = len(notes.joined) if notes is not None else 0
    try:
        yield
    except Exception:
        if notes is not None:
            del notes.joined[count:]
        raise


def held_now(x: Any) -> Any:
    """What an object or a list holds, in copies of lists and dictionaries."""
    return World().packed(attributes_of(x) if is_object(x) else x)


def check() -> None:
    """Have what was joined as values looked at, before stores are undone."""
    notes = _NOTES.get()
    if notes is not None:
        notes.check()


def choosing(run: Callable[[], Any], undo: Callable[[], None] | None = None) -> Any:
    """`run()`; again, after `undo`, with those objects by reference that change once chosen."""
    if _NOTES.get() is not None:
        return run()
    kinds: frozenset[type] = frozenset()
    while True:
        token, counted = _NOTES.set(Notes()), BY_REFERENCE.set(kinds)
        try:
            out = run()
            check()
            return out
        except ByReference as found:
            if found.kinds <= kinds:
                names = ", ".join(sorted(kind.__name__ for kind in found.kinds))
                raise TypeError(
                    f"an object of the class {names} is asked for its identity that may be the one "
                    "chosen by data: it was taken by value; compare what decided which one it is"
                ) from None
            kinds |= found.kinds
            if undo is not None:
                undo()
        finally:
            _NOTES.reset(token)
            BY_REFERENCE.reset(counted)
