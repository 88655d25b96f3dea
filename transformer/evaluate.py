"""Shapes without numbers, and functions over whole trees of arrays."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from overt.runtime import config, interop
from overt.runtime.array import Array, DeviceArray
from overt.runtime.aval import Aval, aval_of
from overt.runtime.dispatch import GRAPH
from overt.runtime.parts import is_array
from overt.runtime.tree import tree_leaves, tree_map


def eval_shape(fun: Callable, *args: Any, **kwargs: Any) -> Any:
    """Shapes and dtypes of what a function returns, without running it.

    >>> import overt, overt.numpy as np
    >>> overt.eval_shape(np.sum, overt.ShapeDtypeStruct((3,), np.float32))
    ShapeDtypeStruct(shape=(), dtype=float32)
    """
    from overt.transformer.jit import Jitted

    return Jitted(fun).eval_shape(*args, **kwargs)


def device_put(
    x: Any, device: Any = None, *, src: Any = None, donate: Any = False, may_alias: Any = None
) -> Any:
    """A tree of arrays on a device, where they stay: operations on them run there.

    `device` and `donate` may be trees, prefixes of `x`.  Without a device, arrays are put on the
    default one and may go elsewhere.  `donate` gives the memory of the originals away; with
    `may_alias=False` it is never shared with them.

    Errors: RuntimeError for an array that was deleted or donated.

    >>> import overt
    >>> overt.device_put({"w": 1.0}, overt.devices()[0])["w"].committed
    True
    """
    from overt.runtime.tree import prefix_leaves, tree_structure

    leaves, structure = tree_leaves(x), tree_structure(x)

    def each(value: Any) -> list[Any]:
        if isinstance(value, (list, tuple, dict)):
            return prefix_leaves(value, x, is_leaf=lambda v: v is None)
        return [value] * len(leaves)

    moved = []
    for leaf, where, given in zip(leaves, each(device), each(donate), strict=True):
        given = given and where is not None
        copy = may_alias is False or (given and may_alias is not True) or None
        made = interop.device_put(leaf, where, copy)
        if given and isinstance(leaf, DeviceArray) and made is not leaf:
            made.block_until_ready()
            leaf.delete()
        moved.append(made)
    return structure.unflatten(moved)


def device_get(x: Any) -> Any:
    """A tree of arrays as NumPy arrays.

    >>> import overt.numpy as np
    >>> device_get({"a": np.arange(2)})
    {'a': array([0, 1], dtype=int32)}
    """
    return tree_map(interop.device_get, x)


def block_until_ready(x: Any) -> Any:
    """Wait until every array in a tree has its numbers; the tree.

    >>> import overt.numpy as np
    >>> x = block_until_ready({"a": np.ones(2)})
    >>> print(x["a"])
    [1. 1.]
    """
    interop.block_until_ready(leaf for leaf in tree_leaves(x) if isinstance(leaf, Array))
    return x


def effects_barrier() -> None:
    """Wait until all printing and other effects of programs have happened."""
    import sys

    sys.stdout.flush()


def disable_jit(disable: bool = True) -> Any:
    """In a `with` block, jitted functions run statement by statement.

    >>> import overt
    >>> import overt.numpy as np
    >>> @overt.jit
    ... def f(x): print(x); return x
    >>> with disable_jit(): f(np.float32(1.5)) and None
    1.5
    """
    return config.disable_jit(disable)


def device_count(backend: str | None = None) -> int:
    """How many devices there are."""
    return len(interop.devices(backend))


def local_device_count(backend: str | None = None) -> int:
    """How many devices this process can use."""
    return len(interop.local_devices(backend=backend))


def process_index(backend: str | None = None) -> int:
    """The number of this process among those that work together.

    >>> process_index()
    0
    """
    return interop.devices(backend)[0].client.process_index()


def process_count(backend: str | None = None) -> int:
    """How many processes work together.

    >>> process_count()
    1
    """
    return max(device.process_index for device in interop.devices(backend)) + 1


def process_indices(backend: str | None = None) -> list[int]:
    """The numbers of all processes that work together.

    >>> process_indices()
    [0]
    """
    return list(range(process_count(backend)))


host_id, host_count, host_ids = process_index, process_count, process_indices


def typeof(x: Any) -> Aval:
    """Shape, dtype and weakness of an array or number.

    >>> import overt, overt.numpy as np
    >>> overt.typeof(np.ones((2, 3)))
    float32[2,3]
    """
    return aval_of(x)


def copy_to_host_async(x: Any) -> None:
    """Begin to copy every array of a tree to the host, so that reading it waits less.

    >>> import numpy
    >>> import overt.numpy as np
    >>> x = np.arange(3)
    >>> copy_to_host_async(x)
    >>> print(numpy.asarray(x))
    [0 1 2]
    """
    for leaf in tree_leaves(x):
        if isinstance(leaf, DeviceArray):
            leaf.copy_to_host_async()


def ds(start: Any, size: int | None = None, stride: int | None = None) -> slice:
    """A slice given by its first place and its size; of one number, from 0 to there.

    Errors: TypeError for a place that is not known yet.

    >>> import overt
    >>> overt.ds(2, 3)
    slice(2, 5, None)
    """
    if size is None:
        start, size = 0, start
    try:
        start, size = operator.index(start), operator.index(size)
    except TypeError as error:
        raise TypeError(
            "ds needs a start and a size that are known; lax.dynamic_slice takes a start that is "
            "not"
        ) from error
    if stride is None:
        return slice(start, start + size)
    return slice(start, start + size * stride, stride)


@contextmanager
def ensure_compile_time_eval() -> Iterator[None]:
    """A block whose operations on known values are done at once, also while a program is staged.

    Errors: StagingError for an operation in it on a value that is not known yet.

    >>> import overt, overt.numpy as np
    >>> def padded(x):
    ...     with overt.ensure_compile_time_eval():
    ...         size = int(np.sqrt(np.array(9.0)))
    ...     return np.pad(x, (0, size))
    >>> overt.jit(padded)(np.ones(1)).shape
    (4,)
    """
    token = GRAPH.set(None)
    try:
        yield
    finally:
        GRAPH.reset(token)


def clear_caches() -> None:
    """Forget all programs and generated functions of this process."""
    from overt.runtime import composites, eager
    from overt.transformer import jit, rewrite

    for table in (eager._cache, composites._calls, composites._programs, rewrite._memory):
        table.clear()
    for jitted in list(jit.EVERY):
        jitted.clear_cache()


__all__ = ["is_array"]
