"""What gives another value at each call, and so must not become a constant of a program.

Random numbers of Python's and NumPy's generators, clocks, and files are refused while staging.
Generators are found out by their state; clocks and files by watching what is called, which is done
only where the names in the code give reason to.
"""

from __future__ import annotations

import ast
import datetime
import dis
import importlib
import io
import linecache
import os
import sys
import time
import types
from collections.abc import Iterable
from typing import Any

from overt.rewrites.refusal import Refusal
from overt.runtime.ownership import is_users_file
from overt.transformer.parted import snapshot_of

CLOCKS = frozenset(
    getattr(time, name)
    for name in (
        "time", "time_ns", "perf_counter", "perf_counter_ns", "monotonic", "monotonic_ns",
        "process_time", "process_time_ns",
    )
)  # fmt: skip
DATES = frozenset(("now", "today", "utcnow"))
SUSPICIOUS = DATES | frozenset(f.__name__ for f in CLOCKS) | frozenset(
    "open input urandom default_rng read_text read_bytes load loadtxt genfromtxt fromfile "
    "uuid1 uuid4 token_bytes token_hex randbits".split()
)  # fmt: skip
PASSING = ("importlib", "linecache", "logging", "warnings", "traceback", "tokenize", "inspect")


class Generators:
    """The generators behind `random.random()` and `numpy.random.rand()`, with their states."""

    def __init__(self) -> None:
        self.before: dict[str, tuple[Any, Any]] = {}
        self.look()

    def look(self) -> None:
        """Note the states of those that are in use."""
        found = []
        if (module := sys.modules.get("random")) is not None:
            found.append(("random", module._inst))  # type: ignore[attr-defined]
        if (module := sys.modules.get("numpy.random")) is not None:
            found.append(("numpy.random", module.mtrand._rand))  # type: ignore[attr-defined]
        for name, x in found:
            if name not in self.before:
                self.before[name] = x, snapshot_of(x)

    def expect(self, names: frozenset[str]) -> None:
        """Code with these names is going to run."""
        if "random" in names and len(self.before) < 2:
            importlib.import_module("random")
            importlib.import_module("numpy.random")
            self.look()

    def check(self, functions: Iterable[Any]) -> None:
        """Errors: Refusal if random numbers were drawn."""
        for name, (x, state) in self.before.items():
            if snapshot_of(x) != state:
                refusal = Refusal(
                    f"a compiled function draws random numbers from the global state of `{name}`: "
                    "the program would repeat those of its first call",
                    "Draw them outside and pass them on, or use `overt.random` with a key.",
                )
                raise placed(refusal, functions, "random")


class Calls:
    """The calls of clocks and files that are made in a program, with the user's lines."""

    def __init__(self) -> None:
        self.found: list[tuple[str, str, int]] = []
        self.watching = False

    def expect(self, names: frozenset[str]) -> None:
        """Watch what is called from now on, if names in the code give reason to."""
        if not self.watching and SUSPICIOUS & names and sys.getprofile() is None:
            self.watching = True
            sys.setprofile(self.note)

    def note(self, frame: types.FrameType, event: str, f: Any) -> None:
        what = volatile_name(f) if event == "c_call" else None
        if what is not None:
            caller = calling(frame, f in CLOCKS)
            if caller is not None:
                self.found.append((what, caller.f_code.co_filename, caller.f_lineno))

    def stop(self) -> None:
        if self.watching:
            sys.setprofile(None)

    def check(self) -> None:
        """Errors: Refusal for the first of the calls."""
        from overt.transformer.rewrite import behind

        for what, file, line in self.found:
            place = behind(file, line)
            if place[1]:
                file, line, text = place
            else:
                text = linecache.getline(file, line)
            refusal = Refusal(
                f"a compiled function calls {what}: the program would keep what its first call got",
                "Call it outside, and pass the value as an argument.",
            )
            raise refusal.located(file, line, text)


def volatile_name(f: Any) -> str | None:
    """The name of a builtin function whose result changes by itself; None for others."""
    try:
        if f in CLOCKS:
            return f"time.{f.__name__}()"
    except TypeError:
        return None
    if f is io.open:
        return "open()"
    if f is input:
        return "input()"
    if f is os.urandom:
        return "random numbers of the system"
    if f.__name__ in DATES and getattr(f, "__self__", None) in (datetime.datetime, datetime.date):
        return f"{f.__self__.__name__}.{f.__name__}()"
    return None


def calling(frame: types.FrameType | None, directly: bool) -> types.FrameType | None:
    """The frame of the user's code that a call comes from; None if it is not the user's affair."""
    while frame is not None:
        file = frame.f_code.co_filename
        name = frame.f_globals.get("__name__", "")
        if is_users_file(file) and not name.startswith("overt."):
            return frame
        top = name.partition(".")[0]
        if directly or top == "overt" or top in PASSING or "importlib" in file:
            return None
        frame = frame.f_back
    return None


def refuse_used(x: Any, functions: Iterable[Any]) -> None:
    """Errors: Refusal for something outside the function that was used up, or changed inside."""
    raise placed(
        Refusal(
            f"a compiled function uses up or changes an object of type {type(x).__name__} that is "
            "not its own: the program would repeat what its first call got from it",
            "Use it outside, and pass on what it gives.",
        ),
        functions,
    )


def placed(refusal: Refusal, functions: Iterable[Any], name: str = "") -> Refusal:
    """The refusal at the first line of these functions whose code has the name."""
    every = list(functions)
    for f in every:
        for i in dis.get_instructions(f):
            if i.argval == name and i.positions and (line := i.positions.lineno):
                node = refusal.node = ast.Name(
                    "", lineno=line, col_offset=i.positions.col_offset or 0
                )
                node.end_lineno, node.end_col_offset = line, i.positions.end_col_offset
                file = f.__code__.co_filename
                return refusal.located(file, line, linecache.getline(file, line))
    for f in every[:1]:
        file, line = f.__code__.co_filename, f.__code__.co_firstlineno
        return refusal.located(file, line, linecache.getline(file, line))
    return refusal
