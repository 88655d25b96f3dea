"""`custom_vmap` and `sequential_vmap` for functions that the transformer rewrites."""

from __future__ import annotations

from collections.abc import Callable

from overt.runtime import custom_batching
from overt.transformer.custom import rewritten

__all__ = ["custom_vmap", "sequential_vmap"]


class custom_vmap(custom_batching.custom_vmap):  # noqa: N801
    """A function whose way under `vmap` is given with `def_vmap`.

    The rule takes the number of lanes, which arguments are mapped, and the arguments, with the
    lanes on axis 0 of the mapped ones; it returns the results, and which of them are mapped.
    Derivatives taken outside of `vmap` are those of the rule; inside, they are mapped by it.

    >>> import overt, overt.numpy as np
    >>> @overt.custom_batching.custom_vmap
    ... def double(x):
    ...     return x + x
    >>> @double.def_vmap
    ... def double_lanes(axis_size, in_batched, x):
    ...     print(axis_size, in_batched)
    ...     return 2 * x, in_batched[0]
    >>> overt.vmap(double)(np.arange(3.0))
    3 (True,)
    Array([0., 2., 4.], dtype=float32)
    """

    def __init__(self, fun: Callable):
        super().__init__(rewritten(fun))

    def def_vmap(self, vmap_rule: Callable) -> Callable:
        super().def_vmap(rewritten(vmap_rule))
        return vmap_rule


def sequential_vmap(f: Callable) -> custom_vmap:
    """`f`, which `vmap` calls for one lane after another, in a loop.

    >>> import overt, overt.numpy as np
    >>> shown = sequential_vmap(lambda x: np.sum(x) ** 2)
    >>> overt.vmap(shown)(np.ones((2, 3)))
    Array([9., 9.], dtype=float32)
    """
    mapped = custom_vmap(f)
    mapped.def_vmap(custom_batching.sequential_rule(mapped.fun))
    return mapped
