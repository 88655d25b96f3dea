"""A tree of arrays as one vector, and back."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import overt.runtime.numpy as np
from overt.runtime import dtypes
from overt.runtime.aval import Aval, aval_of
from overt.runtime.tree import tree_flatten

__all__ = ["ravel_pytree"]


def ravel_pytree(pytree: Any) -> tuple[Any, Callable[[Any], Any]]:
    """The numbers of a tree in one vector, and the function that makes such a tree of a vector.

    The vector's dtype is what the leaves promote to; on the way back each gets its own again.

    >>> vector, tree_of = ravel_pytree({"w": np.ones((2, 2)), "b": 3.0})
    >>> print(vector)
    [3. 1. 1. 1. 1.]
    >>> float(tree_of(2 * vector)["b"])
    6.0
    """
    leaves, definition = tree_flatten(pytree)
    parts = [aval_of(leaf) for leaf in leaves]
    if not leaves:
        return np.zeros(0), _Unravel(definition, parts, dtypes.canonicalize(float))
    dtype, _ = dtypes.result_kind(*((part.dtype, part.weak) for part in parts))
    vector = np.concatenate([np.ravel(np.asarray(leaf, dtype)) for leaf in leaves])
    return vector, _Unravel(definition, parts, dtype)


class _Unravel:
    """The way back; equal for trees of equal structure and types, so it may be static under jit."""

    def __init__(self, definition: Any, parts: list[Aval], dtype: Any):
        self.definition, self.parts, self.dtype = definition, tuple(parts), dtype

    def __call__(self, vector: Any) -> Any:
        vector = np.asarray(vector)
        sizes = [math.prod(part.shape) for part in self.parts]
        if vector.shape != (sum(sizes),):
            raise TypeError(
                f"this tree is made of a vector of {sum(sizes)} numbers; got shape {vector.shape}"
            )
        if vector.dtype != self.dtype:
            raise TypeError(
                f"this tree is made of a vector of {self.dtype}, not {vector.dtype}; convert it "
                "with astype, which then has the derivative too"
            )
        ends = itertools.accumulate(sizes, initial=0)
        pieces = [
            np.reshape(vector[start:stop], part.shape).astype(part.dtype)
            for part, (start, stop) in zip(self.parts, itertools.pairwise(ends), strict=True)
        ]
        return self.definition.unflatten(pieces)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Unravel) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((self.definition, self.parts, self.dtype))
