"""Values that every record of a loop shares, since they come from outside the loop."""

from __future__ import annotations

from typing import Any

from overt.runtime.array import DeviceArray
from overt.runtime.dual import Dual
from overt.runtime.lanes import Lanes
from overt.runtime.staging import Graph, Symbolic
from overt.runtime.tree_registry import register_pytree_node

__all__ = ["Repeated", "comes_from_outside", "rows_of"]


class Repeated:
    """In the place of a buffer of `room` entries: the one value that all of them would be."""

    __slots__ = ("value", "room")

    def __init__(self, value: Any, room: int):
        self.value, self.room = value, room


register_pytree_node(
    Repeated, lambda x: ((x.value,), x.room), lambda room, xs: Repeated(xs[0], room)
)


def rows_of(x: Any) -> Any:
    """A buffer; of a value that all entries share, the buffer of those entries."""
    if type(x) is not Repeated:
        return x
    from overt.runtime import numpy as np

    return np.broadcast_to(x.value, (x.room, *np.shape(x.value)))


def comes_from_outside(x: Any, region: Graph) -> bool:
    """Whether a value is the same in every iteration of the loop whose body is `region`."""
    if type(x) is Symbolic:
        return x.graph is not region and region.within(x.graph)
    if type(x) is Lanes:
        return comes_from_outside(x.value, region)
    if type(x) is Dual:
        return comes_from_outside(x.primal, region) and comes_from_outside(x.tangent, region)
    return type(x) is DeviceArray
