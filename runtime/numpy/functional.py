"""Functions of functions: vectorize, apply_along_axis and their kind."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy

import overt.runtime.numpy as np
from overt import runtime
from overt.runtime.array import DeviceArray
from overt.runtime.batching import vmap_call
from overt.runtime.called import call as called
from overt.runtime.errors import BatchedPredicateError
from overt.runtime.numpy import ufuncs
from overt.runtime.numpy.movement import normal_axes, normal_axis
from overt.runtime.plain import plain
from overt.runtime.tree import tree_map

__all__ = ["apply_along_axis", "apply_over_axes", "frompyfunc", "vectorize"]


def apply_along_axis(func1d: Callable, axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """`func1d` of every line of an array along `axis`; its result takes that axis' place.

    >>> print(np.apply_along_axis(np.sum, 1, np.array([[1, 2], [3, 4]])))
    [3 7]
    """
    arr = np.asarray(arr)
    axis = normal_axis(axis, arr.ndim)
    lines = np.moveaxis(arr, axis, -1)
    of_line = call = functools.partial(_called, func1d, args, kwargs)
    for _ in range(arr.ndim - 1):
        call = functools.partial(_mapped, call)
    try:
        result = call(lines)
    except BatchedPredicateError:  # it asks for values, `np.where(line)` say
        if not isinstance(arr, DeviceArray):
            raise
        rows = np.reshape(lines, (-1, arr.shape[axis]))
        made = np.stack([np.asarray(of_line(row)) for row in rows])
        result = np.reshape(made, (*lines.shape[:-1], *made.shape[1:]))
    made = result.ndim - (arr.ndim - 1)
    sources = range(arr.ndim - 1, arr.ndim - 1 + made)
    return np.moveaxis(result, list(sources), list(range(axis, axis + made)))


def _called(f: Callable, args: tuple, kwargs: dict[str, Any], line: Any) -> Any:
    return called(f, line, *args, **kwargs)


def _mapped(f: Callable, *args: Any) -> Any:
    return vmap_call(f, args)


def apply_over_axes(func: Callable, a: Any, axes: Any) -> Any:
    """`func(a, axis)` for one axis after another; axes that it removes are put back.

    >>> print(np.apply_over_axes(np.sum, np.ones((2, 3)), [0, 1]))
    [[6.]]
    """
    a = np.asarray(a)
    for axis in normal_axes(axes, a.ndim):
        result = called(func, a, axis)
        a = result if result.ndim == a.ndim else np.expand_dims(result, axis)
    return a


def frompyfunc(func: Callable, nin: int, nout: int, *, identity: Any = None) -> Callable:
    """`func` of numbers as a function of arrays, with what NumPy's ufuncs have: `reduce`, `outer`.

    >>> plus = np.frompyfunc(lambda x, y: x + y, 2, 1, identity=0)
    >>> print(plus(np.array([1, 2]), 3), plus.reduce(np.array([1, 2, 3])))
    [4 5] 6
    """
    return _Ufunc(func, nin, nout, identity)


# ---- vectorize ----

_NAME = r"\w+"
_DIMENSIONS = rf"\(\s*(?:{_NAME}(?:\s*,\s*{_NAME})*\s*,?)?\s*\)"
_SIDE = rf"{_DIMENSIONS}(?:\s*,\s*{_DIMENSIONS})*"
_SIGNATURE = re.compile(rf"^\s*(?:{_SIDE})?\s*->\s*{_SIDE}\s*$")


def _parsed(signature: str) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    if not _SIGNATURE.match(signature):
        raise ValueError(f"not a valid gufunc signature: {signature!r}")
    sides = signature.split("->")
    ins, outs = ([tuple(re.findall(_NAME, part)) for part in re.findall(_DIMENSIONS, side)]
                 for side in sides)  # fmt: skip
    return ins, outs


class vectorize:  # noqa: N801
    """A function of numbers (or, with a signature, of small arrays) as a function of arrays.

    `signature` as in NumPy, e.g. `"(n,m),(m)->(n)"`; `excluded` are positions and names that are
    passed on as they are. All other axes are broadcast and mapped over. `otypes` are the dtypes of
    the results: a list of them, or a string of NumPy's letters.

    >>> dot = np.vectorize(np.dot, signature="(n),(n)->()")
    >>> print(dot(np.ones((2, 3)), np.arange(3.0)))
    [3. 3.]
    """

    def __init__(
        self, pyfunc: Callable, *, excluded: Any = (), signature: str | None = None,
        otypes: Any = None, doc: str | None = None, cache: bool = False,
    ):  # fmt: skip
        functools.update_wrapper(self, pyfunc, updated=())
        self.pyfunc = pyfunc
        self.excluded = frozenset(excluded)
        self.signature = signature
        self._sides = None if signature is None else _parsed(signature)
        self._dtypes = None if otypes is None else [numpy.dtype(t) for t in otypes]
        if doc is not None:
            self.__doc__ = doc

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        held = {k: v for k, v in kwargs.items() if k in self.excluded}
        named = [k for k in kwargs if k not in self.excluded]
        places = [i for i in range(len(args)) if i not in self.excluded]
        arrays = [np.asarray(args[i]) for i in places] + [np.asarray(kwargs[k]) for k in named]

        def call(*given: Any) -> Any:
            filled = list(args)
            for i, x in zip(places, given, strict=False):
                filled[i] = x
            by_name = dict(zip(named, given[len(places) :], strict=True))
            return called(self.pyfunc, *filled, **held, **by_name)

        cores = [()] * len(arrays) if self._sides is None else self._sides[0]
        if len(cores) != len(arrays):
            raise TypeError(
                f"vectorize: {self.signature} takes {len(cores)} arrays, got {len(arrays)}"
            )
        sizes = _sizes(cores, arrays, self.signature)
        lead = [x.shape[: x.ndim - len(core)] for x, core in zip(arrays, cores, strict=True)]
        if self._sides is not None:
            call = functools.partial(_checked, call, self._sides[1], sizes, self.signature)
        result = _broadcast_mapped(call, arrays, lead)
        if self._dtypes is None:
            return result
        results = result if isinstance(result, tuple) else (result,)
        if len(results) != len(self._dtypes):
            raise ValueError(
                f"vectorize: otypes has {len(self._dtypes)} dtypes for {len(results)} results"
            )
        cast = tuple(np.astype(x, t) for x, t in zip(results, self._dtypes, strict=True))
        return cast if isinstance(result, tuple) else cast[0]


@plain
def of_each(f: Callable, *arrays: Any) -> Any:
    """`f` of all elements of arrays that are broadcast to one shape.

    >>> of_each(np.add, np.array([1.0, 2.0]), 1.0).tolist()
    [2.0, 3.0]
    """
    shape = common_shape(arrays)
    rows = [np.ravel(np.broadcast_to(x, shape)) for x in arrays]
    return shaped(runtime.vmap(f)(*rows), shape)


def common_shape(arrays: Sequence[Any]) -> tuple[int, ...]:
    """The shape that arrays are broadcast to."""
    return numpy.broadcast_shapes(*map(np.shape, arrays))


def shaped(rows: Any, shape: tuple[int, ...]) -> Any:
    """Arrays with other axes in the place of the first."""
    return tree_map(lambda x: np.reshape(x, (*shape, *np.shape(x)[1:])), rows)


def _sizes(cores: Sequence, arrays: list, signature: Any) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for core, x in zip(cores, arrays, strict=True):
        if x.ndim < len(core):
            raise ValueError(
                f"vectorize: shape {x.shape} has fewer axes than {core} in {signature}"
            )
        for name, n in zip(core, x.shape[x.ndim - len(core) :], strict=True):
            if sizes.setdefault(name, int(name) if name.isdigit() else n) != n:
                raise ValueError(
                    f"vectorize: dimension {name} of {signature} is both {sizes[name]} and {n}"
                )
    return sizes


def _checked(
    call: Callable, outs: Sequence, sizes: dict[str, int], signature: Any, *xs: Any
) -> Any:
    """Results must have the shapes that the signature says."""
    result = call(*xs)
    found = list(result) if isinstance(result, (tuple, list)) else [result]
    if len(found) != len(outs):
        raise TypeError(f"vectorize: {signature} gives {len(outs)} results, got {len(found)}")
    made = []
    for core, out in zip(outs, found, strict=True):
        shape = np.shape(out)
        wanted = tuple(sizes.get(name, n) for name, n in zip(core, shape, strict=False))
        if len(core) != len(shape) or wanted != shape:
            raise ValueError(f"vectorize: a result of shape {shape} does not fit {signature}")
        made.append(np.asarray(out))
    return tuple(made) if isinstance(result, (tuple, list)) else made[0]


def _broadcast_mapped(call: Callable, arrays: list, lead: list[tuple[int, ...]]) -> Any:
    """Map over the leading axes, the last of them innermost; axes of length one are shared."""
    shape = numpy.broadcast_shapes(*lead)
    squeezed, axes = [], []
    for x, own in zip(arrays, lead, strict=True):
        missing = len(shape) - len(own)
        shared = [i for i, n in enumerate(own) if n == 1 and shape[missing + i] != 1]
        squeezed.append(np.squeeze(x, tuple(shared)) if shared else x)
        axes.append({missing + i for i in range(len(own)) if i not in shared})
    for at in reversed(range(len(shape))):
        in_axes = tuple(0 if at in own else None for own in axes)
        call = functools.partial(_mapped_over, call, in_axes, shape[at])
    return call(*squeezed)


def _mapped_over(call: Callable, in_axes: tuple, size: int, *xs: Any) -> Any:
    return vmap_call(call, xs, in_axes, axis_size=size)


class _Ufunc(vectorize):
    """A function of so many numbers, mapped over arrays."""

    def __init__(self, func: Callable, nin: int, nout: int, identity: Any):
        super().__init__(func)
        self.nin, self.nout, self.nargs, self.identity = nin, nout, nin + nout, identity

    def __call__(self, *args: Any) -> Any:  # type: ignore[override]
        if len(args) != self.nin:
            raise TypeError(f"{self.__name__}() takes {self.nin} arrays, got {len(args)}")
        return super().__call__(*args)

    reduce, accumulate, reduceat = ufuncs.reduce, ufuncs.accumulate, ufuncs.reduceat
    at, outer = ufuncs.at, ufuncs.outer
