"""Runs composites at once: each as one executable, its body staged once per avals and statics."""

from __future__ import annotations

from typing import Any

import numpy as np

from overt.runtime import config, eager, staging
from overt.runtime.array import Array, DeviceArray, explained
from overt.runtime.errors import StagingError
from overt.runtime.primitive import Composite, hashable, static_key

_current = config.current
# What a call looked like -> how to run it: a short cut for arrays on the default device.
_calls: dict[tuple, tuple] = {}
_PLAIN = frozenset((int, bool, str, type(None)))


def call_composite(function: Composite, args: tuple, kwargs: dict[str, Any]) -> Any:
    """The result for these arguments; calls that look like an earlier one skip the binding."""
    key, arrays = _call_key(function, args, kwargs)
    if key is not None:
        found = _calls.get(key)
        if found is not None:
            (run, consts, handlers, out), tree = found
            buffers = [x.buffer for x in arrays]
            try:
                made = run(buffers + consts if consts else buffers).consume_with_handlers(handlers)
            except Exception as error:
                raise explained(error, arrays) from None
            return tree([DeviceArray(x, aval) for x, aval in zip(made, out)])  # noqa: B905
    result = function.dispatch(function.bind(args, kwargs))
    if key is not None:
        _shorten(function, key, arrays, args, kwargs)
    return result


def _call_key(function: Composite, args: tuple, kwargs: dict) -> tuple[tuple | None, list]:
    """(key, arrays) of a call of plain static arguments and arrays on the default device."""
    key: list[Any] = [function, _current(), len(args), *kwargs]
    arrays: list[Any] = []
    for x in (*args, *kwargs.values()) if kwargs else args:
        kind = type(x)
        if kind is DeviceArray:
            key.append(x.aval)
            arrays.append(x)
        elif kind in _PLAIN or (kind is float and x):  # 0.0 equals -0.0 and is left out
            key.append((kind, x))
        elif kind is tuple or kind is list:
            key.append(kind)
            for item in x:
                if type(item) is DeviceArray:
                    key.append(item.aval)
                    arrays.append(item)
                elif type(item) is int:
                    key.append(item)
                else:
                    return None, arrays
            key.append(None)
        else:
            return None, arrays
    return tuple(key), arrays


def _shorten(function: Composite, key: tuple, arrays: list, args: tuple, kwargs: dict) -> None:
    """Remember how to run this call, where its arrays are exactly the program's inputs."""
    bound = function.bind(args, kwargs)
    full, inputs = _full_key(function, bound)
    if len(inputs) != len(arrays) or any(x is not y for x, y in zip(inputs, arrays, strict=True)):
        return
    found = _programs.get(full)
    if found is None or found is staging:
        return
    program, tree = found
    if program._ready is not None:
        _calls[key] = program._ready, tree


# ---- the general case ----

_programs: dict[tuple, Any] = {}


def _full_key(function: Composite, bound: dict[str, Any]) -> tuple[tuple, list]:
    arrays: list[Any] = []
    key: list[Any] = [function, config.current()]
    for name, value in bound.items():
        if name in function.arrays:
            key.append(_flatten(value, arrays))
        else:
            key.append((type(value), static_key(hashable(value))))
    arrays = [x if type(x) is DeviceArray else eager.operand(x) for x in arrays]
    key += [x.aval for x in arrays]
    return tuple(key), arrays


def execute_composite(function: Composite, bound: dict[str, Any]) -> Any:
    """The result of a composite on concrete arrays: its body staged once, run as one program."""
    key, arrays = _full_key(function, bound)
    if not all(type(x) is DeviceArray for x in arrays):
        return function.call(bound)
    try:
        found = _programs.get(key)
    except TypeError:
        return function.call(bound)  # a static argument that is not hashable: step by step
    if found is None:
        found = _programs[key] = _compile(function, bound, arrays)
    if found is staging:
        return function.call(bound)
    program, tree = found
    return tree(program.run(arrays))


def _flatten(tree: Any, out: list) -> Any:
    """Append the leaves of `tree` to `out`; its structure as a hashable value."""
    kind = type(tree)
    if kind in (list, tuple):
        return (kind, *[_flatten(item, out) for item in tree])
    if kind is dict:
        return (kind, *[(k, _flatten(item, out)) for k, item in tree.items()])
    if tree is None:
        return None
    out.append(tree)
    return 0


def _compile(function: Composite, bound: dict[str, Any], arrays: list) -> Any:
    """(program, function from result arrays to the result); or the marker `staging`.

    The marker means that the body needs its arrays' values, and so runs step by step.
    """
    slots: list[Any] = []  # the program must not keep the arrays of its first call alive
    arguments = {
        k: _skeleton(v, slots, everything=True) if k in function.arrays else v
        for k, v in bound.items()
    }
    made: list[Any] = []

    def body(*values: Any) -> list:
        leaves = iter(values)
        results: list[Any] = []
        result = function.call({
            k: _filled(v, leaves) if k in function.arrays else v for k, v in arguments.items()
        })  # fmt: skip
        made.append(_skeleton(result, results))
        return results

    try:
        program = staging.stage(body, [x.aval for x in arrays], name=function.__name__)
    except StagingError:
        return staging
    skeleton = made[0]
    if skeleton is _LEAF:
        return program, lambda results: results[0]
    return program, lambda results: _filled(skeleton, iter(results))


_LEAF = object()


def _skeleton(tree: Any, out: list, everything: bool = False) -> Any:
    """The tree with a marker for each array (for `everything` but None), which go to `out`."""
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*[_skeleton(item, out, everything) for item in tree])
    if isinstance(tree, (list, tuple)):
        return type(tree)([_skeleton(item, out, everything) for item in tree])
    if isinstance(tree, dict):
        return {k: _skeleton(item, out, everything) for k, item in tree.items()}
    if isinstance(tree, (Array, np.ndarray, np.generic)) or (everything and tree is not None):
        out.append(tree)
        return _LEAF
    return tree


def _filled(tree: Any, leaves: Any) -> Any:
    """The tree with its markers replaced by the next leaves."""
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*[_filled(item, leaves) for item in tree])
    if isinstance(tree, (list, tuple)):
        return type(tree)([_filled(item, leaves) for item in tree])
    if isinstance(tree, dict):
        return {k: _filled(item, leaves) for k, item in tree.items()}
    return next(leaves) if tree is _LEAF else tree
