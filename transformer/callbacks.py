"""Calls of Python functions from within programs, and printing."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from overt.runtime.aval import Aval, aval_of
from overt.runtime.parts import is_array
from overt.runtime.regions import host_callback
from overt.runtime.tree import tree_flatten


def debug_callback(
    callback: Callable, *args: Any, ordered: bool = False, partitioned: bool = False, **kwargs: Any
) -> None:
    """Call a Python function with the values of arrays whenever the program gets here."""
    leaves, definition = tree_flatten((args, kwargs))
    places = [i for i, x in enumerate(leaves) if is_array(x)]

    def call(*values: Any) -> None:
        filled = list(leaves) if len(places) < len(leaves) else [None] * len(leaves)
        for i, value in zip(places, values, strict=True):
            filled[i] = value
        inner_args, inner_kwargs = definition.unflatten(filled)
        callback(*inner_args, **inner_kwargs)

    host_callback(call, (), *[leaves[i] for i in places], ordered=ordered)


def debug_print(fmt: str, *args: Any, ordered: bool = False, **kwargs: Any) -> None:
    """Print values of arrays whenever the program gets here; `fmt` is as for `str.format`.

    >>> import overt
    >>> overt.debug.print("x = {x}", x=overt.numpy.arange(3))
    x = [0 1 2]
    """
    fmt.format(
        *args, **{k: "" if is_array(v) else v for k, v in kwargs.items()}
    ) if not args else None

    def show(*values: Any, **named: Any) -> None:
        sys.stdout.write(fmt.format(*values, **named) + "\n")

    debug_callback(show, *args, ordered=ordered, **kwargs)


def result_avals(shapes: Any) -> tuple[list[Aval], Any]:
    leaves, definition = tree_flatten(shapes)
    return [aval_of(x) for x in leaves], definition


def pure_callback(
    callback: Callable, result_shape_dtypes: Any, *args: Any, sharding: Any = None,
    vmap_method: str | None = None, **kwargs: Any,
) -> Any:  # fmt: skip
    """The result of a Python function without side effects, called by the program.

    >>> import overt, numpy
    >>> shape = overt.ShapeDtypeStruct((), "float32")
    >>> float(overt.jit(lambda x: overt.pure_callback(numpy.sin, shape, x))(0.0))
    0.0
    """
    return _called(callback, result_shape_dtypes, args, kwargs, False)


def io_callback(
    callback: Callable, result_shape_dtypes: Any, *args: Any, sharding: Any = None,
    ordered: bool = False, **kwargs: Any,
) -> Any:  # fmt: skip
    """The result of a Python function that may have side effects, called once each time."""
    return _called(callback, result_shape_dtypes, args, kwargs, ordered)


def _called(callback: Callable, shapes: Any, args: tuple, kwargs: dict, ordered: bool) -> Any:
    avals, out_definition = result_avals(shapes)
    leaves, definition = tree_flatten((args, kwargs))

    def call(*values: Any) -> Any:
        inner_args, inner_kwargs = definition.unflatten(values)
        return tuple(tree_flatten(callback(*inner_args, **inner_kwargs))[0])

    return out_definition.unflatten(host_callback(call, avals, *leaves, ordered=ordered))
