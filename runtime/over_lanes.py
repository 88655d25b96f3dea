"""A function with a derivative of its own, on lanes whose values are under differentiation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from overt.runtime.batching import vmap_call
from overt.runtime.custom import CustomRule
from overt.runtime.tree import tree_flatten, tree_leaves

__all__ = ["OverLanes"]


class OverLanes(CustomRule):
    """A rule for every lane: one that has `plain(out)` and `pulled(primals, x, x_bar)` too."""

    def __init__(self, one: Any, axes: tuple, lanes: int) -> None:
        super().__init__(lambda *args: vmap_call(one, args, axes, 0, lanes))
        self.one, self.axes, self.lanes = one, axes, lanes

    def positional(self, args: tuple, kwargs: dict[str, Any]) -> tuple:
        return args

    def check(self) -> None:
        """It is differentiable."""

    def forward(
        self, fixed: tuple, primals: tuple, tangents: tuple, active: Any = None
    ) -> tuple[Any, Any]:
        def along(xs: tuple, dots: tuple) -> tuple[Any, Any]:
            return self.one.forward((), xs, dots)

        return vmap_call(along, (primals, tangents), (self.axes, self.axes), 0, self.lanes)

    def reverse(self, fixed: tuple, primals: tuple, active: Any = None) -> tuple[Any, Callable]:
        out = self(*primals)
        return out, lambda out_bar: self.pulled(primals, self.plain(out), self.plain(out_bar))

    def plain(self, out: Any) -> Any:
        """What of the result has a derivative."""
        return self.one.plain(out)

    def pulled(self, primals: tuple, x: Any, x_bar: Any) -> tuple:
        """The cotangents of all arguments; of those that lanes share, the sum."""
        bars = vmap_call(
            self.one.pulled, (primals, x, x_bar), (self.axes, 0, 0), 0, self.lanes
        )  # fmt: skip
        leaves, definition = tree_flatten(primals)
        places = tree_leaves(self.axes, is_leaf=lambda x: x is None)
        summed = [
            bar.sum(axis=0) if axis is None and bar is not None else bar
            for bar, axis in zip(definition.flatten_up_to(bars), places, strict=True)
        ]
        return definition.unflatten(summed)

    def over_lanes(self, axes: tuple, lanes: int, fixed: tuple) -> CustomRule:
        return OverLanes(self, axes, lanes)
