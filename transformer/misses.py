"""What happens before a function is staged: whether that is allowed, and why it is needed."""

from __future__ import annotations

import logging
from typing import Any

from overt.runtime.config import config

LOG = logging.getLogger("overt")


def before_staging(jitted: Any, call: Any) -> None:
    """Note that a function is going to be staged for a call.

    Errors: RuntimeError where the setting `no_tracing` is on.
    """
    name = getattr(jitted, "__name__", "a function")
    if config.no_tracing:
        raise RuntimeError(
            f"{name} would be staged for {_kinds(call)}, but the setting no_tracing is on: "
            f"{reason(jitted, call)}"
        )
    if config.explain_cache_misses:
        LOG.warning("%s is staged for %s: %s", name, _kinds(call), reason(jitted, call))


def _kinds(call: Any) -> str:
    return f"({', '.join(map(str, call.avals))})"


def reason(jitted: Any, call: Any) -> str:
    """Why none of a function's programs fits a call."""
    structure, settings, *leaves = call.key
    known = [key for key, variants in jitted.programs.items() if any(variants.table.values())]
    if not known:
        return "it was not staged before"
    if call.key in known:
        return "what it reads besides its arguments has changed"
    same = [key for key in known if key[0] == structure]
    if not same:
        return f"it was staged for other containers: {known[-1][0]}"
    if not (here := [key for key in same if key[1] is settings]):
        return "settings have changed since it was staged"
    nearest = min(here, key=lambda key: _differences(key[2:], leaves))
    pairs = zip(nearest[2:], leaves, strict=True)
    changes = [f"leaf {i} was {a}, is {b}" for i, (a, b) in enumerate(pairs) if a != b]
    return f"its arguments differ from those it was staged for: {'; '.join(changes)}"


def _differences(one: Any, other: Any) -> int:
    return sum(a != b for a, b in zip(one, other, strict=True))
