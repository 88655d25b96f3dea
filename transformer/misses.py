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
    """The arguments by name, with shapes and dtypes."""
    return ", ".join(f"{call.leaf_name(i)}: {aval}" for i, aval in named_avals(call)) or "nothing"


def named_avals(call: Any) -> list[tuple[int, Any]]:
    return list(zip(call.dynamic, call.avals, strict=True))


def reason(jitted: Any, call: Any) -> str:
    """Why none of a function's programs fits a call."""
    structure, settings, *leaves = call.key
    known = [key for key, variants in jitted.programs.items() if any(variants.table.values())]
    if not known:
        return "it was not staged before"
    if call.key in known:
        return captured(jitted.programs[call.key], call)
    same = [key for key in known if key[0] == structure]
    if not same:
        then, now = shown(known[-1][0]), shown(structure)
        return f"its arguments are other containers than those it was staged for: {then}, now {now}"
    if not (here := [key for key in same if key[1] is settings]):
        now, then = settings.items, same[-1][1].items
        changes = [f"{k} was {then[k]!r}, is {v!r}" for k, v in now.items() if v != then[k]]
        return f"settings differ from those it was staged with: {'; '.join(changes)}"
    nearest = min(reversed(here), key=lambda key: _differences(key[2:], leaves))
    pairs = zip(nearest[2:], leaves, strict=True)
    changes = [
        f"{call.leaf_name(i)} was {value(a)}, is {value(b)}"
        for i, (a, b) in enumerate(pairs)
        if a != b
    ]
    return f"its arguments differ from those it was staged for: {'; '.join(changes)}"


class Star:
    """Stands for an array in a printed container."""

    def __repr__(self) -> str:
        return "*"


def shown(structure: Any) -> str:
    """The containers of a call as the user wrote them: positional arguments, then keywords."""
    native = getattr(structure, "native", structure)
    return repr(native.unflatten([Star()] * native.num_leaves))


def value(part: Any) -> Any:
    """A part of a key as the user knows it: an array's type, or the value of a static argument."""
    return part[-1] if isinstance(part, tuple) else part


def captured(variants: Any, call: Any) -> str:
    """Which variable or attribute that a function reads has changed."""
    known = variants.table.get(call.promoted_values)
    if not known:
        return "its shapes depend on the value of an argument, which is new"
    changes = known[0].guards.changed(call.objects)
    return f"what it reads has changed: {'; '.join(changes) or 'an object'}"


def _differences(one: Any, other: Any) -> int:
    return sum(a != b for a, b in zip(one, other, strict=True))
