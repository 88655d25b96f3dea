"""What batched code calls: entering and leaving the lanes of a batch, and asking about them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from overt.runtime import masks
from overt.runtime.batching import vmap_call

__all__ = ["any_lane", "batched"]


def batched(in_axes: Any = 0, out_axes: Any = 0) -> Callable[[Callable], Callable]:
    """A decorator: the function is written for one lane, and called with the batches of all.

    >>> from overt.runtime import numpy as np
    >>> @batched(in_axes=(0, None))
    ... def scaled(x, factor):
    ...     return x * factor
    >>> scaled(np.ones((2, 3)), np.array([1.0, 2.0, 3.0]))
    Array([[1., 2., 3.], [1., 2., 3.]], dtype=float32)
    """

    return functools.partial(Batched, in_axes=in_axes, out_axes=out_axes)


class Batched:
    """A function of one lane, called with the batches of all."""

    def __init__(self, function: Callable, in_axes: Any, out_axes: Any):
        functools.update_wrapper(self, function)
        self.function, self.in_axes, self.out_axes = function, in_axes, out_axes

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return vmap_call(self.function, args, self.in_axes, self.out_axes, kwargs=kwargs)


def any_lane(active: Any) -> Any:
    """Whether a loop goes on in any lane that is on the path being executed."""
    outer = masks.active_lanes()
    return masks.any_lane(active if outer is None else outer & active)
