"""Recording in place of rewriting: right, but without a text; said once for each function."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from overt.rewrites.refusal import Refusal
from overt.runtime.errors import say_once
from overt.runtime.primitive import GRAPH

_LEAVING: ContextVar[bool] = ContextVar("overt_leaving", default=False)


@contextmanager
def leaving() -> Iterator[None]:
    """While pullbacks are made that must be trees of arrays, since they leave their lane."""
    token = _LEAVING.set(True)
    try:
        yield
    finally:
        _LEAVING.reset(token)


def must_leave() -> bool:
    """Whether pullbacks leave the branch, the loop or the lane that they are made in."""
    graph = GRAPH.get()
    return _LEAVING.get() or graph is not None and graph.parent is not None


def say(name: str, refusal: Refusal) -> None:
    """Warn that a function's derivative is recorded as it runs, and why."""
    place = f"{refusal.file}:{refusal.line}: " if refusal.line else ""
    say_once(
        (refusal.file, refusal.line, refusal.reason),
        f"the derivative of {name} is recorded while it runs, not written as source: "
        f"{place}{refusal.reason}. {refusal.way_out}".strip(),
        stacklevel=4,
    )
