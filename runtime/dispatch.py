"""Where operations go: into the graph being staged, or to an executable; keys of their calls."""

from __future__ import annotations

from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

import numpy as np

from overt.runtime.errors import StagingError

# Python numbers stay as they are in a graph, and become constants where they are used.
LITERALS = frozenset((bool, int, float, complex))
# The graph that operations of this context are recorded in; None means: run at once.
GRAPH: ContextVar[Any] = ContextVar("overt_graph", default=None)
# Who is told of what fails in a function that is being checked; None means: nobody.
CHECKS: ContextVar[Any] = ContextVar("overt_checks", default=None)
# Whether what runs has run before, so that printing and the like have happened already.
AGAIN: ContextVar[bool] = ContextVar("overt_again", default=False)


def record(primitive: Any, operands: tuple, params: dict) -> Any:
    """Record an operation in the graph being staged."""
    from overt.runtime import staging

    globals()["record"] = staging.record
    return staging.record(primitive, operands, params)


def execute(primitive: Any, operands: tuple, params: dict) -> Any:
    """Run an operation at once."""
    from overt.runtime import eager

    globals()["execute"] = eager.execute
    return eager.execute(primitive, operands, params)


def execute_composite(function: Any, bound: dict[str, Any]) -> Any:
    """Run a composite at once, as one executable."""
    from overt.runtime import composites

    globals()["execute_composite"] = composites.execute_composite
    return composites.execute_composite(function, bound)


def call_composite(function: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """Call a composite where nothing is being staged."""
    from overt.runtime import composites

    globals()["call_composite"] = composites.call_composite
    return composites.call_composite(function, args, kwargs)


def on_keys(function: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """Call a function that moves elements about on random keys."""
    from overt.runtime.random import keys

    return keys.on_words(function, args, kwargs)


def checked(function: Any, operands: tuple, params: dict[str, Any]) -> Any:
    """Call a primitive or composite in a function that is being checked."""
    from overt.runtime import checks

    globals()["checked"] = checks.checked
    return checks.checked(function, operands, params)


def static_key(value: Any) -> Any:
    """A hashable key that tells 1 from True from 1.0, and 0.0 from -0.0, in static parameters."""
    kind = type(value)
    if kind is str or value is None:
        return value
    if kind is int:
        return value
    if kind is tuple or kind is list:
        for item in value:
            if type(item) is not int:
                return (kind, *map(static_key, value))
        return (kind, *value)
    if kind is dict:
        return tuple([(k, static_key(v)) for k, v in value.items()])
    if kind is float:
        return (float, value if value else repr(value))
    if isinstance(value, np.ndarray):
        return (np.ndarray, value.shape, value.dtype, value.tobytes())
    return (kind, value)


def leaves(tree: Any) -> Iterator[Any]:
    """The leaves of lists, tuples and dicts of arrays; None is an empty tree."""
    if type(tree) in (list, tuple):
        for item in tree:
            yield from leaves(item)
    elif type(tree) is dict:
        for item in tree.values():
            yield from leaves(item)
    elif tree is not None:
        yield tree


def hashable(value: Any) -> Any:
    """A static argument as a hashable value: lists become tuples, small integer arrays too."""
    kind = type(value)
    if kind in (int, str, bool, float, tuple) or value is None:
        return tuple(map(hashable, value)) if kind is tuple else value
    if kind is list:
        return tuple(map(hashable, value))
    if kind is dict:
        return tuple((k, hashable(v)) for k, v in value.items())
    if isinstance(value, np.ndarray):
        return hashable(value.tolist())
    if isinstance(value, np.generic) and isinstance(value, (np.integer, np.bool_)):
        return value.item()
    if getattr(value, "aval", None) is not None and getattr(value, "level", 1) == 0:
        try:
            return hashable(value.tolist())
        except StagingError:
            return value  # the function says what it needs
    return value
