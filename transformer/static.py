"""Static arguments of `jit`: which they are, and how a call is split."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Iterable
from typing import Any

from overt.runtime.primitive import static_key

POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class Chosen:
    """Arguments chosen by position and by name, each by both where the signature allows."""

    def __init__(self, fn: Callable, argnums: Any, argnames: Any, what: str) -> None:
        self.numbers = _as_numbers(argnums, what)
        self.names = _as_names(argnames, what)
        try:
            parameters = list(inspect.signature(fn).parameters.values())
        except (TypeError, ValueError):
            return
        positional = [p.name for p in parameters if p.kind in POSITIONAL]
        variadic = any(p.kind is p.VAR_POSITIONAL for p in parameters)
        count = len(positional)
        for i in self.numbers:
            if not variadic and not -count <= i < count:
                raise ValueError(
                    f"jitted function has {what}_argnums={tuple(self.numbers)}, "
                    f"but only accepts {count} positional arguments."
                )
        keywords = any(p.kind is p.VAR_KEYWORD for p in parameters)
        known = {p.name for p in parameters if p.kind in (POSITIONAL[1], p.KEYWORD_ONLY)}
        wrong = [n for n in self.names if n not in known]
        if wrong and not keywords:
            raise ValueError(
                f"jitted function has invalid argnames {set(wrong)} in {what}_argnames. "
                "Function does not take these args."
            )
        self.numbers = tuple(i + count if i < 0 and not variadic else i for i in self.numbers)
        by_number = [positional[i] for i in self.numbers if 0 <= i < count]
        by_name = [positional.index(n) for n in self.names if n in positional]
        self.numbers = tuple(sorted({*self.numbers, *by_name}))
        self.names = tuple(sorted({*self.names, *by_number}))

    def __bool__(self) -> bool:
        return bool(self.numbers or self.names)

    def refuse_common(self, static: Chosen) -> None:
        """Errors: ValueError where a donated argument is static too."""
        both: list[Any] = sorted({*self.names} & {*static.names})
        both = both or sorted({*self.numbers} & {*static.numbers})
        if both:
            raise ValueError(
                f"arguments {both} are both donated and static; a static argument is a part of the "
                "program and has no memory to give away"
            )

    def positions(self, count: int) -> list[int]:
        """Those among `count` positional arguments."""
        return sorted({i % count for i in self.numbers if -count <= i < count})


def _as_numbers(argnums: Any, what: str) -> tuple[int, ...]:
    if argnums is None:
        return ()
    if isinstance(argnums, Iterable):
        return tuple(operator.index(i) for i in argnums)
    try:
        return (operator.index(argnums),)
    except TypeError:
        raise TypeError(
            f"{what}_argnums must be an int or several of them, got {argnums!r}"
        ) from None


def _as_names(argnames: Any, what: str) -> tuple[str, ...]:
    if argnames is None:
        return ()
    names = (argnames,) if isinstance(argnames, str) else tuple(argnames)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"{what}_argnames must be a str or several of them, got {name!r}")
    return names


class Static:
    """A static argument inside a tree of arguments: a leaf that compares by value."""

    __slots__ = ("value", "key")

    def __init__(self, value: Any):
        self.value = value
        try:
            compared = without_slices(value)
            hash(compared)
            self.key = (type(value), static_key(compared))
        except TypeError as error:
            raise ValueError(
                "Non-hashable static arguments are not supported. An error occurred when trying to "
                f"hash an object of type {type(value)}, {value!r}. The error was: "
                f"TypeError: {error}"
            ) from None


def without_slices(value: Any) -> Any:
    """A value to compare; slices, which Python has no hash for before 3.12, by their parts."""
    if type(value) is slice:
        return slice, value.start, value.stop, value.step
    return tuple(map(without_slices, value)) if type(value) is tuple else value


def marked(chosen: Chosen, args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
    """The call's arguments with the static ones wrapped."""
    positions = chosen.positions(len(args))
    new = tuple(Static(x) if i in positions else x for i, x in enumerate(args))
    return new, {k: Static(v) if k in chosen.names else v for k, v in kwargs.items()}
