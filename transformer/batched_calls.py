"""The derivative of a call of a vmapped function: its own pullback, run on all lanes."""

from __future__ import annotations

import enum
import types
from collections.abc import Callable, Iterator
from typing import Any

from overt.runtime.asked_again import asked_again
from overt.runtime.aval import aval_of
from overt.runtime.batching import AUTO, vmap_call
from overt.runtime.carried import Spec, spec_of
from overt.runtime.closures import captured_leaves
from overt.runtime.derivatives import materialize
from overt.runtime.lanes import Lanes, move_axis, spread
from overt.runtime.numpy.selected import Selected
from overt.runtime.outer_effects import ChangesOutside
from overt.runtime.parts import NUMBERS, is_array
from overt.runtime.tree import prefix_leaves, tree_flatten, tree_leaves, tree_map
from overt.runtime.unsure import certain
from overt.transformer.recording import leaving


def vjp_of_vmap(
    f: Any, args: tuple[Any, ...], vjp_of: Callable
) -> tuple[Any, Any, Callable] | None:
    """(result, what is saved, backward function) of a call of `vmap(g, in_axes, out_axes)`.

    None where the pullback of one lane is no container of arrays, so that it cannot leave its lane.
    """
    in_axes = tuple(f.in_axes) if isinstance(f.in_axes, list) else f.in_axes

    specs: list[Spec] = []
    selected: list[Any] = []  # what a mask picked belongs to that mask, in its lane

    def pulled(*lane: Any) -> tuple[Any, Any]:
        with leaving():
            out, pull = vjp_of(f.__wrapped__, *lane)
        pull = certain(pull)  # what a lane did not set, its reverse does not read
        specs.append(spec_of(pull, leaves=True))
        arrays = specs[0].decompose(pull)
        selected.extend(x for x in arrays if type(x) is Selected)
        return out, arrays

    try:
        (out, saved), (out_axes, saved_axes) = vmap_call(
            pulled, args, in_axes, AUTO, f.axis_size, None, f.axis_name, f.__wrapped__, True
        )
    except ChangesOutside:
        return None
    if selected or not all(map(is_same_in_all_lanes, specs[0].constants())):
        return None
    places = [
        None if axis is None else axis % max(1, len(aval_of(x).shape))
        for axis, x in zip(
            prefix_leaves(in_axes, args, is_leaf=lambda a: a is None),
            tree_leaves(args),
            strict=True,
        )
    ]
    lanes = f.axis_size or next(
        aval_of(x).shape[axis]
        for x, axis in zip(tree_leaves(args), places, strict=True)
        if axis is not None
    )
    wanted = prefix_leaves(f.out_axes, out, is_leaf=lambda a: a is None)
    leaves, definition = tree_flatten(out)
    mapped = prefix_leaves(out_axes, out, is_leaf=lambda a: a is None)
    shown = [
        placed(x, found, axis, lanes) for x, found, axis in zip(leaves, mapped, wanted, strict=True)
    ]
    bwd = VmapPull(f, specs[0], saved_axes, tuple(places), lanes)
    return definition.unflatten(shown), (saved, args), bwd


def is_same_in_all_lanes(x: Any) -> bool:
    """Whether a constant of a pullback is no value of a lane, and hides none."""
    if isinstance(x, types.FunctionType):
        return not captured_leaves(x, lambda value: type(value) is Lanes)
    if isinstance(type(x), enum.EnumMeta):  # not one that data chose
        return True
    return x is None or isinstance(x, (*NUMBERS, str, type, types.BuiltinFunctionType))


def placed(x: Any, found: Any, wanted: Any, lanes: int) -> Any:
    """A result with its lanes where `out_axes` wants them."""
    if wanted is None or not is_array(x):
        return x
    x = spread(x, lanes) if found is None else x
    return x if wanted == 0 else move_axis(x, 0, wanted % len(x.shape))


def is_none(x: Any) -> bool:
    return x is None


def in_first_lane(out_bar: Any, out_axes: Any, lanes: int) -> Any:
    """Cotangents of results that all lanes share, for one of the lanes: each counts once."""
    from overt.runtime import numpy as np

    leaves, definition = tree_flatten(out_bar)
    axes = prefix_leaves(out_axes, out_bar, is_leaf=is_none)
    return definition.unflatten(
        np.stack([bar, *[np.zeros_like(bar)] * (lanes - 1)])
        if axis is None and is_array(bar)
        else bar
        for bar, axis in zip(leaves, axes, strict=True)
    )


class VmapPull:
    """Cotangents of the arguments: lane by lane, summed for arguments that all lanes share."""

    def __init__(
        self, f: Any, spec: Spec, saved_axes: Any, places: tuple[Any, ...], lanes: int
    ) -> None:
        self.f, self.spec, self.saved_axes = f, spec, saved_axes
        self.places, self.lanes = places, lanes

    def __call__(self, saved: Any, out_bar: Any) -> Any:
        kept, args = saved
        axes = tree_map(lambda x: None if not is_array(x) else 0, out_bar)
        if self.f.out_axes != 0:
            axes, out_bar = self.f.out_axes, in_first_lane(out_bar, self.f.out_axes, self.lanes)
            axes = tree_map(lambda axis: 0 if axis is None else axis, axes, is_leaf=is_none)
        run = lambda lane, bar: self.spec.compose_leaves(lane)(bar)
        in_axes = self.saved_axes, axes
        bars = asked_again(
            lambda: vmap_call(run, (kept, out_bar), in_axes, 0, self.lanes, None, self.f.axis_name)
        )
        places = iter(self.places)
        return (
            None,
            *[self.argument(x, bar, places) for x, bar in zip(args, bars[1:], strict=True)],
        )

    def argument(self, x: Any, bar: Any, places: Iterator[int | None]) -> Any:
        """The cotangent of one argument; None where nothing flows to it."""
        leaves, definition = tree_flatten(x)
        axes = [next(places) for _ in leaves]
        if bar is None:
            return None
        found = definition.flatten_up_to(materialize(bar, x))
        return definition.unflatten([self.joined(b, a) for b, a in zip(found, axes, strict=True)])

    def joined(self, bar: Any, axis: int | None) -> Any:
        if bar is None or not is_array(bar):
            return bar
        if axis is None:
            return bar.sum(axis=0)
        return bar if axis == 0 else move_axis(bar, 0, axis)
