"""Composites that take lists where NumPy takes "array-like" arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import overt.runtime.numpy as np
from overt.runtime.primitive import Composite

__all__ = ["array_function"]


class ArrayFunction(Composite):
    """A composite whose array parameters may be (nested) lists: each becomes one array first."""

    def bind(self, args: tuple, kwargs: dict[str, Any]) -> dict[str, Any]:
        bound = super().bind(args, kwargs)
        for name in self.arrays:
            if isinstance(bound[name], (list, tuple, range)):
                bound[name] = np.array(bound[name])
            elif hasattr(type(bound[name]), "__overt_truth__"):  # a list of some items
                bound[name] = bound[name].as_array()
        return bound


def array_function(arrays: tuple[str, ...] = ("a",), **rules: Any) -> Callable[[Callable], Any]:
    """Like `composite`, for functions whose parameters named in `arrays` may be lists.

    >>> int(np.sum([1, 2, 3]))
    6
    """
    return lambda fn: ArrayFunction(fn, arrays, **rules)
