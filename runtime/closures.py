"""The values a function has captured: finding and replacing them."""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import Any

from overt.runtime.parts import parts_of
from overt.runtime.tree import tree_leaves

__all__ = ["Captures", "Holding", "captured", "captured_leaves", "frozen", "hidden_leaves"]


def captured(fn: Callable) -> list[Any]:
    """The values in a function's closure; None for a cell that is not set."""
    values = []
    for cell in getattr(fn, "__closure__", None) or ():
        try:
            values.append(cell.cell_contents)
        except ValueError:
            values.append(None)
    return values


def hidden_leaves(x: Any, wanted: Callable[[Any], bool]) -> list[Any]:
    """The wanted values in a container that `tree_leaves` does not see, such as a partial's."""
    seen = {id(leaf) for leaf in tree_leaves(x)}
    return [leaf for leaf in captured_leaves(x, wanted) if id(leaf) not in seen]


def captured_leaves(fn: Any, wanted: Callable[[Any], bool]) -> list[Any]:
    """The wanted values among those captured by a function and by functions it uses; each once."""
    found: list[Any] = []
    _visit(fn, wanted, found, set())
    return found


def _visit(x: Any, wanted: Callable[[Any], bool], found: list[Any], seen: set[int]) -> None:
    if id(x) in seen:
        return
    seen.add(id(x))
    if wanted(x):
        found.append(x)
    elif isinstance(x, types.FunctionType):
        for value in (*captured(x), *(x.__defaults__ or ())):
            _visit(value, wanted, found, seen)
    elif (parts := parts_of(x)) is not None:
        for value in parts.values:
            _visit(value, wanted, found, seen)


class Holding:
    """Holds functions without counting as capturing what they have captured."""

    def frozen(self, made: dict[int, Any]) -> Holding:
        """One that holds them with what they have captured as it is now."""
        raise NotImplementedError


class Shield:
    """Holds something without counting as capturing it; `things` stay as they are."""

    def __init__(self, value: Any, things: Sequence[Any] = ()) -> None:
        self.value, self.things = value, things


class Captures:
    """Values that functions have captured and that are to be given anew instead.

    It is an object of its own so that a function that uses it does not count as capturing them.
    """

    def __init__(self, values: Sequence[Any]):
        self.values = list({id(x): x for x in values}.values())
        self.markers = [object() for _ in self.values]

    def given(self, new: Sequence[Any]) -> dict[int, Any]:
        """The new values by the identity of the old ones, and of the markers in their places."""
        pairs = list(zip(self.values, self.markers, new, strict=True))
        return {**{id(x): y for x, _, y in pairs}, **{id(marker): y for _, marker, y in pairs}}

    def replaced(self, x: Any, new: Sequence[Any]) -> Any:
        """A function or a container with the captured values replaced, wherever they occur."""
        return _replaced(x, self.given(new), {})

    def marked(self, x: Any) -> Any:
        """A container with a marker in the place of each captured value."""
        return _replaced(x, self.given(self.markers), {})


def _replaced(x: Any, new: dict[int, Any], made: dict[int, Any]) -> Any:
    if id(x) in new:
        return new[id(x)]
    if id(x) in made:
        return made[id(x)]
    if isinstance(x, types.FunctionType):
        return _replaced_function(x, new, made)
    parts = parts_of(x)
    if parts is None or not parts.values:
        return x
    values = [_replaced(value, new, made) for value in parts.values]
    if all(a is b for a, b in zip(values, parts.values, strict=True)):
        return x
    made[id(x)] = result = parts.rebuild(values)
    return result


def _replaced_function(fn: types.FunctionType, new: dict[int, Any], made: dict[int, Any]) -> Any:
    made[id(fn)] = fn  # a function may have captured itself
    before = captured(fn)
    for value in before:
        if isinstance(value, Shield):
            made.update((id(x), x) for x in value.things)
    old = fn.__closure__ or ()
    pairs = list(zip(old, before, strict=True))
    after = [x if id(cell) in made else _replaced(x, new, made) for cell, x in pairs]
    defaults = fn.__defaults__
    changed = defaults and tuple(_replaced(value, new, made) for value in defaults)
    same = all(a is b for a, b in zip(before, after, strict=True))
    if same and all(a is b for a, b in zip(defaults or (), changed or (), strict=True)):
        return fn
    cells = [
        cell if a is b else types.CellType(b) for cell, a, b in zip(old, before, after, strict=True)
    ]
    made[id(fn)] = copy = _copied(fn, cells, changed)
    return copy


def _copied(fn: types.FunctionType, cells: list[Any], defaults: tuple | None) -> Any:
    copy = types.FunctionType(fn.__code__, fn.__globals__, fn.__name__, defaults, tuple(cells))
    copy.__kwdefaults__ = fn.__kwdefaults__
    copy.__qualname__ = fn.__qualname__
    if any(not name.startswith("__") for name in fn.__dict__):
        copy.__dict__ = fn.__dict__  # what the user keeps there is kept for both
    return copy


def frozen(fn: Any, made: dict[int, Any] | None = None) -> Any:
    """The function with what it has captured as it is now, whatever the variables become later."""
    made = {} if made is None else made
    if isinstance(fn, Holding):
        return fn.frozen(made)
    if not isinstance(fn, types.FunctionType) or not fn.__closure__:
        return fn
    if id(fn) in made:
        return made[id(fn)]
    for value in captured(fn):
        if isinstance(value, Shield):
            made.update((id(x), x) for x in value.things)
    cells = [made.get(id(old)) or types.CellType() for old in fn.__closure__]
    made[id(fn)] = copy = _copied(fn, cells, fn.__defaults__)
    for cell, old in zip(cells, fn.__closure__, strict=True):
        if cell is old:  # it is set whenever the function runs
            continue
        try:
            cell.cell_contents = frozen(old.cell_contents, made)
        except ValueError:  # not set yet
            continue
    return copy
