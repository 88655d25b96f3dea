"""`vmap`: a function of one example, run on many at once."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from overt.runtime.asked_again import asked_again
from overt.runtime.batching import vmap_call
from overt.transformer import transformed
from overt.transformer.transformed import Transformed, noted


class Vmap(Transformed):
    """A function mapped over an axis of its arguments."""

    suffix = "batched"
    closed = False  # its text is written for one lane; other passes start from the function itself

    def __init__(
        self, fn: Callable, in_axes: Any, out_axes: Any, axis_size: int | None, axis_name: Any
    ) -> None:
        super().__init__(fn)
        self.in_axes, self.out_axes = in_axes, out_axes
        self.axis_size, self.axis_name = axis_size, axis_name
        _check_axes("in_axes", in_axes)
        self.chain = f"vmap({in_axes!r}, {out_axes!r}, {axis_size!r}, {axis_name!r})"

    def wrapping(self, fn: Callable, leading: int, count: int) -> Vmap:
        axes = self.in_axes
        if leading:
            own = axes if isinstance(axes, (tuple, list)) else (axes,) * count
            axes = (*(None,) * leading, *own)
        return Vmap(fn, axes, self.out_axes, self.axis_size, self.axis_name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with noted():
            return asked_again(lambda: self.batched(args, kwargs))

    def batched(self, args: tuple, kwargs: dict[str, Any]) -> Any:
        return vmap_call(
            transformed.lifted(self.__wrapped__), args, self.in_axes, self.out_axes,
            self.axis_size, kwargs, self.axis_name, self.__wrapped__,
        )  # fmt: skip

    def source(self) -> Any:
        """The batched form: the batch on axis 0 of what has one."""
        from overt.rewrites.batch import batch

        source = transformed.source_of(self.__wrapped__)
        bound = transformed.bound_count(self.__wrapped__)
        axes = self.in_axes
        if bound:
            free = sum(p.kind in ("positional", "normal") for p in source.main.params) - bound
            axes = axes if isinstance(axes, (tuple, list)) else (axes,) * free
            axes = (*(None,) * bound, *axes)
        return batch(source, axes, transformed._source_or_none)


def _check_axes(name: str, axes: Any) -> None:
    if isinstance(axes, (int, tuple, list, dict)) or axes is None:
        return
    raise TypeError(
        f"vmap {name} must be an int, None, or a tuple of entries corresponding to the positional "
        f"arguments passed to the function, but got {axes!r}."
    )


def vmap(
    fun: Callable | None = None, in_axes: Any = 0, out_axes: Any = 0, axis_name: Any = None,
    axis_size: int | None = None, spmd_axis_name: Any = None,
) -> Any:  # fmt: skip
    """Map a function over axes of its arguments; keyword arguments are mapped over axis 0.

    `in_axes` and `out_axes` are ints, None, or trees of them.

    >>> import overt, overt.numpy as np
    >>> def largest(x, bound):
    ...     while x * 2 < bound:
    ...         x = x * 2
    ...     return x
    >>> overt.vmap(largest, in_axes=(0, None))(np.array([1.0, 3.0]), 10.0)
    Array([8., 6.], dtype=float32)
    """
    if fun is None:
        return functools.partial(
            vmap, in_axes=in_axes, out_axes=out_axes, axis_name=axis_name, axis_size=axis_size
        )
    return Vmap(fun, in_axes, out_axes, axis_size, axis_name)
