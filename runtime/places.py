"""Where operations come from: the user's line, and the named scopes around it."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import CodeType
from typing import NamedTuple

from overt.runtime.ownership import is_users_file

__all__ = [
    "GENERATED", "SCOPES", "Place", "asked_by_a_program", "line_of", "named_scope", "noted",
    "origin",
]  # fmt: skip

# The names of the scopes that code of this context is in.
SCOPES: ContextVar[tuple[str, ...]] = ContextVar("overt_scopes", default=())
# Generated file -> (file, line, text) of the user's line behind each of its lines.
GENERATED: dict[str, list[tuple[str, int, str]]] = {}

_ROOT = str(Path(__file__).parent.parent) + "/"
_ours: set[str] = set()  # files of Overt's own that were met


class Place(NamedTuple):
    """An instruction, and the scopes that it was run in."""

    code: CodeType
    instruction: int
    scopes: tuple[str, ...]


def asked_by_a_program() -> bool:
    """Whether the caller's caller is code of the user's, rewritten or not, rather than a tool."""
    frame = sys._getframe(2)
    if frame.f_code.co_name == "__format__" and frame.f_back is not None:
        frame = frame.f_back
    file = frame.f_code.co_filename
    return file in GENERATED or not file.startswith("<") and is_users_file(file)


@contextmanager
def named_scope(name: str) -> Iterator[None]:
    """Name the operations of a `with` block in compiled programs and profiles.

    Errors: TypeError for a name that is no text.

    >>> import overt, overt.numpy as np
    >>> def f(x):
    ...     with overt.named_scope("layer"):
    ...         return np.sin(x)
    >>> "f/layer/sin" in overt.jit(f).lower(1.0).as_text(debug_info=True)
    True
    """
    if not isinstance(name, str):
        raise TypeError(f"named_scope needs a text, got {name!r}")
    token = SCOPES.set((*SCOPES.get(), name))
    try:
        yield
    finally:
        SCOPES.reset(token)


def origin() -> Place | None:
    """The instruction, outside of Overt, that is being run."""
    frame = sys._getframe(2)
    while frame is not None:
        code = frame.f_code
        file = code.co_filename
        if file not in _ours:
            if not file.startswith(_ROOT):
                return Place(code, frame.f_lasti, SCOPES.get())
            _ours.add(file)
        frame = frame.f_back  # type: ignore[assignment]
    return None


def noted(error: BaseException, place: Place | None) -> BaseException:
    """An exception with a note of the user's line, if it has none yet."""
    if place is None:
        return error
    file, line = line_of(place)
    note = f'in the code generated from\n  File "{file}", line {line}\n    '
    note += linecache.getline(file, line).strip()
    if note not in getattr(error, "__notes__", ()):
        error.add_note(note)
    return error


def line_of(place: Place) -> tuple[str, int]:
    """The user's file and line; of generated code those that it was made from."""
    line = 0
    for start, end, number in place.code.co_lines():
        if start <= place.instruction < end:
            line = number or 0
            break
    return users_line(place.code.co_filename, line)


def users_line(file: str, line: int) -> tuple[str, int]:
    """The user's file and line that a line of a generated file was made from; any other itself."""
    lines = GENERATED.get(file)
    if lines:  # a line without an origin belongs to the nearest that has one
        near = sorted((abs(i - line), i) for i, found in enumerate(lines, 1) if found[1])
        if near:
            file, line, _ = lines[near[0][1] - 1]
    return file, line
