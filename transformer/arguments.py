"""The arguments of a call of a jitted function: inputs of a program, and the key it is found by."""

from __future__ import annotations

import functools
import inspect
import types
from typing import Any

import numpy

from overt.runtime import config
from overt.runtime.array import Array, DeviceArray
from overt.runtime.aval import aval_of
from overt.runtime.interop import as_array, copied
from overt.runtime.ownership import is_library
from overt.runtime.parts import is_array
from overt.runtime.tree import tree_leaves_with_path
from overt.runtime.tree_registry import LENIENT
from overt.runtime.treedef import keystr
from overt.transformer import transformed
from overt.transformer.parted import pairs_of, snapshot_of
from overt.transformer.static import Static, marked
from overt.transformer.trees import is_unregistered, take_apart


class Call:
    """The arguments of one call: arrays for the program, the rest for its key."""

    def __init__(
        self, jitted: Any, args: tuple, kwargs: dict[str, Any], to_run: bool = True
    ) -> None:
        self.jitted = jitted
        self.args, self.kwargs = args, kwargs
        if jitted.static:
            args, kwargs = marked(jitted.static, args, kwargs)
        self.given = args, kwargs
        tree = (args, kwargs) if kwargs else args
        self.flat = take_apart(tree)
        self.has_keywords = bool(kwargs)
        self.every: list[Any] = []
        self.all_leaves: list[Any] = []
        self.all_dynamic: list[int] = []
        key: list[Any] = [self.flat.structure, config.current()]
        objects: list[Any] = []
        self.original = self.flat.leaves
        for i, x in enumerate(self.flat.leaves):
            x = x if not is_array(x) else spec(x, to_run)
            self.every.append(x.value if type(x) is Static else x)
            if is_array(x):
                self.all_dynamic.append(i)
                self.all_leaves.append(x)
                key.append(aval_of(x))
            elif type(x) is Static:
                key.append(x.key)
                if has_state(x.value):  # equal ones may hold different things later
                    objects.append(x.value)
            elif is_object(x):
                objects.append(x)
                key.append(("object", type(x)))
            else:
                key.append(value_key(x))
        if nodes_have_state(self.flat.structure):  # nodes that are the same may hold other data
            objects += data_with_state(self.flat.structure)
        self.objects = objects + jitted.bound
        self.key = tuple(key)
        self.promote(())

    def promote(self, promoted: tuple[int, ...]) -> None:
        """Treat some of the arrays as static values."""
        self.promoted = promoted
        self.dynamic = [i for i in self.all_dynamic if i not in promoted]
        self.leaves = [
            x for i, x in zip(self.all_dynamic, self.all_leaves, strict=True) if i not in promoted
        ]
        self.avals = [aval_of(x) for x in self.leaves]
        self.promoted_values = tuple(
            int(x) for i, x in zip(self.all_dynamic, self.all_leaves, strict=True) if i in promoted
        )

    def run(self, inputs: list[Any]) -> Any:
        """The function on symbolic values."""
        every = list(self.every)
        for i, x in zip(self.dynamic, inputs, strict=True):
            every[i] = x
        for i, value in zip(self.promoted, self.promoted_values, strict=True):
            every[i] = bool(value) if aval_of(self.every[i]).dtype.kind == "b" else value
        args, kwargs = self.rebuilt(every)
        return self.jitted.function()(*args, **kwargs)

    def rebuilt(self, every: list[Any]) -> tuple[tuple, dict[str, Any]]:
        tree = self.flat.rebuild(every)
        return tree if self.has_keywords else (tree, {})

    def donated_inputs(self) -> tuple[int, ...]:
        """Which inputs of the program the caller gives away."""
        chosen = self.jitted.donated
        positions = chosen.positions(len(self.args))
        marks: list[bool] = []
        for i, x in enumerate(self.given[0]):
            marks += [i in positions] * len(take_apart((x,)).leaves)
        for name in sorted(self.kwargs):
            marks += [name in chosen.names] * len(take_apart((self.given[1][name],)).leaves)
        return tuple(k for k, i in enumerate(self.dynamic) if marks[i])

    def own_donated(self, donated: tuple[int, ...]) -> list[Any]:
        """The program's arguments, those to be given away not shared with anything of Overt's."""
        own = list(self.leaves)
        for k in donated:
            if not isinstance(self.original[self.dynamic[k]], Array):
                own[k] = copied(own[k])
        return own

    def leaf_name(self, i: int) -> str:
        """The argument that a leaf belongs to, and where in it."""
        try:
            names = list(inspect.signature(self.jitted.__wrapped__).parameters)
        except (TypeError, ValueError):
            names = []
        numbered = self.rebuilt(list(range(len(self.flat.leaves))))
        for (_, place, *inner), leaf in tree_leaves_with_path(numbered):
            if leaf == i or type(leaf) is not int and i in take_apart((leaf,)).leaves:
                k = getattr(place, "idx", None)
                name = place.key if k is None else names[k] if k < len(names) else str(k)
                return f"argument {name}{keystr(inner)}" if inner else f"argument {name!r}"
        return f"argument {i}"


def spec(x: Any, to_run: bool) -> Any:
    """A leaf of the arguments as a concrete array; a ShapeDtypeStruct stays one.

    Where nothing is going to run, only shapes count and NumPy's arrays stay where they are.
    """
    if isinstance(x, Array) or getattr(x, "is_shape", False):
        return x
    if not to_run and type(x) is numpy.ndarray and x.ndim:
        return x
    return as_array(x)


def bound_objects(fn: Any) -> list[Any]:
    """What a callable has bound: the object of a method, a partial, a callable object."""
    if isinstance(fn, types.FunctionType | type):
        return []
    if isinstance(fn, transformed.Transformed):
        return bound_objects(fn.__wrapped__)
    if isinstance(fn, types.MethodType):
        return [*bound_objects(fn.__func__), fn.__self__]
    return [fn] if pairs_of(fn) is not None else []


def is_object(x: Any) -> bool:
    """Whether an argument is an object whose attributes the program may read."""
    return not (is_unregistered(x) or LENIENT.is_node(type(x))) and has_state(x)


def has_state(x: Any) -> bool:
    """Whether a value is an object that may hold other things later, or a tuple of some."""
    if type(x) in (tuple, frozenset):
        return any(map(has_state, x))
    return pairs_of(x) is not None or snapshot_of(x) is not None


def data_with_state(structure: Any) -> list[Any]:
    """Objects among the static data of the user's nodes in a structure of `take_apart`."""
    if isinstance(structure, tuple):
        return [x for part in structure for x in data_with_state(part)]
    if not hasattr(structure, "node_data"):
        return []
    data = structure.node_data()
    found = [] if data is None or is_library(data[0].__module__) else [data[1]]
    below = [x for child in structure.children() for x in data_with_state(child)]
    return [x for x in found if has_state(x)] + below


@functools.lru_cache(maxsize=1024)
def nodes_have_state(structure: Any) -> bool:
    """Whether any such data may change, kept for each structure: it is asked at each call."""
    return bool(data_with_state(structure))


def value_key(x: Any) -> Any:
    """The key of an argument that is a Python value: a text, a function, a class."""
    try:
        hash(x)
    except TypeError:
        raise TypeError(
            f"an argument of type {type(x).__name__} ({x!r}) is neither an array nor a container "
            "nor hashable, so it cannot be an argument of a jitted function"
        ) from None
    return (type(x), x)


def is_small_integer(x: Any) -> bool:
    aval = aval_of(x)
    return aval.shape == () and aval.dtype.kind in "iub" and isinstance(x, DeviceArray)


def needed_inputs(error: BaseException) -> set[int]:
    """The program's inputs that the value depends on which a staging error is about."""
    from overt.runtime.staging import Symbolic

    value, trace = None, error.__traceback__
    while trace is not None:
        found = trace.tb_frame.f_locals.get("self")
        if type(found) is Symbolic:
            value = found
        trace = trace.tb_next
    if value is None:
        return set()
    found_inputs: set[int] = set()
    pending, seen = [value], set()
    while pending:
        x = pending.pop()
        if id(x.node) in seen:
            continue
        seen.add(id(x.node))
        if x.node is x.graph.source:
            if x.graph.parent is None:
                found_inputs.add(x.index)
            seen.discard(id(x.node))
            continue
        pending += [i for i in x.node.inputs if type(i) is Symbolic]
    return found_inputs
