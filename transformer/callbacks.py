"""Calls of Python functions from within programs, and printing."""

from __future__ import annotations

import functools
import logging
import string
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from overt.runtime.aval import Aval, aval_of
from overt.runtime.host import host_callback
from overt.runtime.interop import as_array
from overt.runtime.masks import active_lanes
from overt.runtime.parts import is_array
from overt.runtime.staged_builtins import each_lane
from overt.runtime.tree import tree_flatten, tree_map

VMAP_METHODS = (
    "sequential", "sequential_unrolled", "expand_dims", "broadcast_all", "legacy_vectorized", None,
)  # fmt: skip


def debug_callback(
    callback: Callable | None = None, *args: Any, ordered: bool = False, partitioned: bool = False,
    **kwargs: Any,
) -> Any:  # fmt: skip
    """Call a Python function whenever the program gets here, with arrays as NumPy arrays.

    Under `vmap` it is called for each lane that gets here, under `grad` in the forward pass alone.

    >>> import overt
    >>> seen = []
    >>> overt.jit(lambda x: overt.debug.callback(seen.append, x))(3)
    >>> seen
    [array(3, dtype=int32)]
    """
    if callback is None:
        return functools.partial(debug_callback, ordered=ordered, partitioned=partitioned)

    def with_ndarrays(*args: Any, **kwargs: Any) -> None:
        args, kwargs = tree_map(_ndarray, (args, kwargs))
        callback(*args, **kwargs)

    _call_back(with_ndarrays, args, kwargs, ordered)


def _ndarray(x: Any) -> Any:
    return numpy.asarray(as_array(x)) if is_array(x) else x


def _call_back(callback: Callable, args: tuple, kwargs: dict[str, Any], ordered: bool) -> None:
    leaves, definition = tree_flatten((args, kwargs))
    places = [i for i, x in enumerate(leaves) if is_array(x)]

    def call(values: Sequence[Any]) -> None:
        filled = list(leaves) if len(places) < len(leaves) else [None] * len(leaves)
        for i, value in zip(places, values, strict=True):
            filled[i] = value
        inner_args, inner_kwargs = definition.unflatten(filled)
        callback(*inner_args, **inner_kwargs)

    each_lane([leaves[i] for i in places], active_lanes(), call, ordered)


class Checked(string.Formatter):
    """A formatter that refuses what it is given and does not use."""

    def get_value(self, key: int | str, args: Sequence[Any], kwargs: Any) -> Any:
        super().get_value(key, args, kwargs)
        return Anything()

    def check_unused_args(self, used: Any, args: Sequence[Any], kwargs: Any) -> None:
        unused = [x for i, x in enumerate(args) if i not in used]
        if unused:
            raise ValueError(f"the format has no place for these values: {unused}")
        if unnamed := [name for name in kwargs if name not in used]:
            raise ValueError(
                f"the format does not name these values: {unnamed}; it must be a plain string, not "
                "an f-string, which is filled in before the program runs"
            )


class Anything:
    """Stands for a value that is not known yet, whatever a format asks of it."""

    def __getattr__(self, name: str) -> Any:
        return self

    def __getitem__(self, key: Any) -> Any:
        return self

    def __format__(self, spec: str) -> str:
        return ""


def debug_print(
    fmt: str | None = None, *args: Any, ordered: bool = False, partitioned: bool = False,
    skip_format_check: bool = False, **kwargs: Any,
) -> Any:  # fmt: skip
    """Print values of arrays whenever the program gets here; `fmt` is as for `str.format`.

    With `ordered`, several of them print in the order of the program.

    Errors: ValueError for values that the format does not use.

    >>> import overt
    >>> overt.debug.print("x = {x}", x=overt.numpy.arange(3))
    x = [0 1 2]
    """
    if fmt is None:
        return functools.partial(debug_print, ordered=ordered, partitioned=partitioned)
    return _shown(
        lambda text: sys.stdout.write(text + "\n"), fmt, args, kwargs, ordered, skip_format_check
    )


def debug_log(
    fmt: str | None = None, *args: Any, ordered: bool = False, partitioned: bool = False,
    skip_format_check: bool = False, **kwargs: Any,
) -> Any:  # fmt: skip
    """`debug.print` to the logger "overt.debug", at level INFO.

    >>> debug_log("x = {}", 1)
    """
    if fmt is None:
        return functools.partial(debug_log, ordered=ordered, partitioned=partitioned)
    write = logging.getLogger("overt.debug").info
    return _shown(lambda text: write("%s", text), fmt, args, kwargs, ordered, skip_format_check)


def _shown(
    write: Callable[[str], Any], fmt: str, args: tuple, kwargs: dict[str, Any], ordered: bool,
    unchecked: bool,
) -> None:  # fmt: skip
    if not isinstance(fmt, str):
        raise TypeError(f"the format must be a str, got {type(fmt).__name__}")
    if not unchecked:
        Checked().vformat(fmt, args, kwargs)

    def show(*values: Any, **named: Any) -> None:
        write(fmt.format(*map(_printable, values), **{k: _printable(v) for k, v in named.items()}))

    _call_back(show, args, kwargs, ordered)


def _printable(x: Any) -> Any:
    """A scalar as the number it is, so that formats like `.2f` work; containers hold our arrays."""
    if isinstance(x, numpy.ndarray) or is_array(x):
        return x[()] if isinstance(x, numpy.ndarray) and not x.shape else x
    return tree_map(lambda v: as_array(v) if isinstance(v, numpy.ndarray) else v, x)


def pure_callback(
    callback: Callable, result_shape_dtypes: Any, *args: Any, sharding: Any = None,
    vmap_method: str | None = None, **kwargs: Any,
) -> Any:  # fmt: skip
    """The result of a Python function without side effects, called by the program.

    The function gets NumPy arrays, and gives what `result_shape_dtypes` says.  `vmap_method` says
    how it is called under `vmap`: for each lane ("sequential", "sequential_unrolled", None), or
    once, with the lanes in front; operands without lanes then have an axis of length 1 there
    ("expand_dims"), the lanes too ("broadcast_all"), or none ("legacy_vectorized").

    Errors: TypeError for results of other shapes and dtypes.  It has no derivative: give one by
    `custom_jvp` or `custom_vjp`.

    >>> import overt, numpy
    >>> shape = overt.ShapeDtypeStruct((), "float32")
    >>> float(overt.jit(lambda x: overt.pure_callback(numpy.sin, shape, x))(0.0))
    0.0
    """
    if vmap_method not in VMAP_METHODS:
        raise ValueError(f"vmap_method must be one of {VMAP_METHODS}, got {vmap_method!r}")
    method = vmap_method or "sequential"
    return _called(callback, result_shape_dtypes, args, kwargs, False, method, True)


def io_callback(
    callback: Callable, result_shape_dtypes: Any, *args: Any, sharding: Any = None,
    ordered: bool = False, **kwargs: Any,
) -> Any:  # fmt: skip
    """The result of a Python function that may have side effects, called each time, used or not.

    Under `vmap` it is called once for each lane; in a branch, for those lanes that take it.

    >>> import overt
    >>> shape, numbers = overt.ShapeDtypeStruct((), "int32"), iter(range(10))
    >>> int(overt.jit(lambda: overt.experimental.io_callback(lambda: next(numbers), shape))())
    0
    """
    return _called(callback, result_shape_dtypes, args, kwargs, ordered, "sequential", False)


def _called(
    callback: Callable, shapes: Any, args: tuple, kwargs: dict, ordered: bool, method: str,
    pure: bool,
) -> Any:  # fmt: skip
    avals, out_definition = result_avals(shapes)
    leaves, definition = tree_flatten((args, kwargs))
    mask = None if pure else active_lanes()

    def call(*values: Any) -> Any:
        if mask is not None:
            taken, *values = values  # type: ignore[assignment]
            if not taken:
                return tuple(numpy.zeros(a.shape, a.dtype) for a in avals)
        inner_args, inner_kwargs = definition.unflatten(values)
        results = callback(*inner_args, **inner_kwargs)
        found, structure = tree_flatten(results)
        if structure != out_definition:
            raise TypeError(f"the host function gave {structure}, declared {out_definition}")
        return tuple(found)

    operands = leaves if mask is None else [mask, *leaves]
    results = host_callback(call, avals, *operands, ordered=ordered, method=method, pure=pure)
    return out_definition.unflatten(results)


def result_avals(shapes: Any) -> tuple[list[Aval], Any]:
    leaves, definition = tree_flatten(shapes)
    return [aval_of(x) for x in leaves], definition
