"""Recording in place of rewriting: right, but without a text; said once for each function."""

from __future__ import annotations

import warnings

from overt.rewrites.refusal import Refusal
from overt.runtime.errors import RecordedWarning

_said: set[tuple[str, int, str]] = set()


def say(name: str, refusal: Refusal) -> None:
    """Warn that a function's derivative is recorded as it runs, and why."""
    key = (refusal.file, refusal.line, refusal.reason)
    if key in _said:
        return
    _said.add(key)
    place = f"{refusal.file}:{refusal.line}: " if refusal.line else ""
    warnings.warn(
        f"the derivative of {name} is recorded while it runs, not written as source: "
        f"{place}{refusal.reason}. {refusal.way_out}".strip(),
        RecordedWarning,
        stacklevel=4,
    )
