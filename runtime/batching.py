"""Running a function on the lanes of its arguments: the machinery under `vmap`."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

from overt.runtime.aval import aval_of
from overt.runtime.chosen_objects import copied
from overt.runtime.derivatives import is_array
from overt.runtime.errors import EndedInBlock, StagingError
from overt.runtime.joined_values import check, choosing
from overt.runtime.lanes import Lanes, move_axis, spread
from overt.runtime.levels import new_level
from overt.runtime.outer_effects import ChangesOutside, Outside, one_by_one
from overt.runtime.special_methods import lifting_special_methods
from overt.runtime.tree import keystr, prefix_leaves, tree_flatten, tree_leaves_with_path
from overt.runtime.undefined import refuse_unset
from overt.runtime.unsure import settled

__all__ = ["AXES", "AUTO", "vmap_call"]

# The named axes in use: name -> (level, number of lanes).
AXES: ContextVar[dict[Any, tuple[int, int]]] = ContextVar("overt_axes", default={})  # noqa: B039
AUTO = object()


def _is_none(x: Any) -> bool:
    return x is None


def vmap_call(
    fn: Callable,
    args: Sequence[Any],
    in_axes: Any = 0,
    out_axes: Any = 0,
    axis_size: int | None = None,
    kwargs: dict[str, Any] | None = None,
    axis_name: Any = None,
    owner: Any = None,
    alone: bool = False,
) -> Any:
    """Run `fn` once on all lanes of `args`.

    `in_axes` and `out_axes` are trees of ints and None, or prefixes of such; keyword arguments are
    mapped over axis 0.  With `out_axes=AUTO` results that are the same in every lane stay as they
    are, and a pair (results, axes) comes back: what one function leaves for the next.

    `owner` is the user's function, if what it changes outside must end as a loop over the lanes
    leaves it; `alone` raises `ChangesOutside` where that needs the lanes one after another.

    Errors: as JAX's: ValueError for axes that do not fit, sizes that differ, a mapped result whose
    out_axes is None.
    """
    args, kwargs = tuple(args), kwargs or {}
    in_axes = _checked_in_axes(in_axes, args, kwargs)
    leaves, definition = tree_flatten((args, kwargs))
    axes = _flat_in_axes((in_axes, 0), (args, kwargs))
    axes = [_normal_in_axis(axis, leaf) for axis, leaf in zip(axes, leaves, strict=True)]
    lanes = _lane_count(fn, leaves, axes, axis_size, (args, kwargs))

    def at_once() -> Any:
        with lifting_special_methods(owner, fn, args, kwargs), new_level() as level:
            batched = [
                leaf if axis is None else Lanes(_lanes_first(leaf, axis), level)
                for leaf, axis in zip(leaves, axes, strict=True)
            ]
            inner_args, inner_kwargs = definition.unflatten(batched)
            token = None
            if axis_name is not None:
                token = AXES.set({**AXES.get(), axis_name: (level, lanes)})
            try:
                out = fn(*inner_args, **inner_kwargs)
                if out_axes is not AUTO:  # else it is for functions of ours
                    out = copied(out)
                check()
                return out, level
            finally:
                if token is not None:
                    AXES.reset(token)

    if owner is None:
        out, level = choosing(at_once)
        return _unbatched(out, out_axes, level, lanes)

    def lane(k: int) -> Any:
        values = [
            x if axis is None else _lane_of(x, axis, k)
            for x, axis in zip(leaves, axes, strict=True)
        ]
        inner_args, inner_kwargs = definition.unflatten(values)
        return fn(*inner_args, **inner_kwargs)

    outside = Outside(owner, (args, kwargs))
    try:
        out, level = choosing(lambda: outside.run(at_once), outside.undo)
    except (StagingError, TypeError, NotImplementedError) as error:
        if outside.before is None or isinstance(error, EndedInBlock):
            raise
        places = outside.changed() or ["objects"]
    else:
        places = outside.changed()
        if not places or outside.is_settled((out, level), at_once):
            return _unbatched(out, out_axes, level, lanes)
        if not lanes:
            outside.undo()
            return _unbatched(out, out_axes, level, lanes)
    outside.undo()
    if alone:
        raise ChangesOutside
    every = one_by_one(outside, places, lanes, lane, axis_name is not None)
    return _joined(every, out_axes)


def _lanes_first(x: Any, axis: int) -> Any:
    from overt.runtime import numpy as np

    x = np.asarray(x)
    return x if axis == 0 else move_axis(x, axis, 0)


def _lane_of(x: Any, axis: int, k: int) -> Any:
    from overt.runtime import numpy as np

    return np.asarray(x)[(slice(None),) * axis + (k,)]


# ---- arguments ----


def _checked_in_axes(in_axes: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    if isinstance(in_axes, list):
        in_axes = tuple(in_axes)
    expected = (
        "vmap in_axes must be an int, None, or a tuple of entries corresponding to the positional "
        "arguments passed to the function, but got "
    )
    if not (in_axes is None or isinstance(in_axes, tuple) or _is_int(in_axes)):
        raise TypeError(f"{expected}{type(in_axes).__name__}")
    if isinstance(in_axes, tuple) and len(in_axes) != len(args):
        named = (
            f"; keyword arguments (here {', '.join(kwargs)}) have no entry, they are mapped over "
            "axis 0: pass them by position, or bind what is not mapped with functools.partial"
        )
        raise ValueError(
            f"{expected}len(in_axes)={len(in_axes)}, len(args)={len(args)}{named if kwargs else ''}"
        )
    return in_axes


def _is_int(x: Any) -> bool:
    return not isinstance(x, bool) and hasattr(x, "__index__")


def _flat_in_axes(in_axes: Any, args: Any) -> list[Any]:
    try:
        axes = prefix_leaves(in_axes, args, is_leaf=_is_none)
    except ValueError as error:
        raise ValueError(
            "vmap in_axes specification must be a tree prefix of the corresponding value, got "
            f"specification {in_axes[0]} for arguments {args[0]}: {error}"
        ) from None
    if wrong := [axis for axis in axes if not (axis is None or _is_int(axis))]:
        raise TypeError(
            "vmap in_axes must be an int, None, or (nested) container with those types as leaves, "
            f"but got {wrong[0]!r}"
        )
    return axes


def _normal_in_axis(axis: Any, leaf: Any) -> int | None:
    if axis is None:
        return None
    if not is_array(leaf):
        raise TypeError(
            f"vmap maps arrays, but an argument is {leaf!r} of type {type(leaf).__name__}; "
            "give it in_axes=None"
        )
    axis, shape = operator.index(axis), aval_of(leaf).shape
    if not -len(shape) <= axis < len(shape):
        rank = axis + 1 if axis >= 0 else -axis
        raise ValueError(
            f"vmap was requested to map its argument along axis {axis}, which implies that its "
            f"rank should be at least {rank}, but is only {len(shape)} (its shape is {shape})"
        )
    return axis % len(shape)


def _lane_count(fn: Any, leaves: list, axes: list, axis_size: int | None, args: Any) -> int:
    sizes = {
        aval_of(leaf).shape[axis]
        for leaf, axis in zip(leaves, axes, strict=True)
        if axis is not None
    }
    if axis_size is not None:
        is_symbolic = hasattr(axis_size, "symbolic")
        sizes.add(axis_size if is_symbolic else operator.index(axis_size))
    if not sizes:
        raise ValueError("vmap must have at least one non-None value in in_axes")
    if len(sizes) == 1:
        return sizes.pop()
    places = _argument_names(fn, args)
    lines = [
        f"  * axis {axis} of argument {place} of type {aval_of(leaf)} has size "
        f"{aval_of(leaf).shape[axis]}"
        for place, leaf, axis in zip(places, leaves, axes, strict=True)
        if axis is not None
    ]
    if axis_size is not None:
        lines.append(f"  * axis_size is {axis_size}")
    raise ValueError(
        "vmap got inconsistent sizes for array axes to be mapped:\n" + "\n".join(lines)
    )


def _argument_names(fn: Any, args: Any) -> list[str]:
    try:
        names = list(inspect.signature(fn).parameters)
    except (TypeError, ValueError):
        names = []
    return [_argument_name(names, path) for path, _ in tree_leaves_with_path(args)]


def _argument_name(names: list[str], path: tuple[Any, ...]) -> str:
    (_, argument, *rest) = path  # 0 for positional or 1 for keyword arguments; which; where in it
    if hasattr(argument, "key"):
        return f"{argument.key}{keystr(rest)}"
    index = argument.idx
    return (names[index] if index < len(names) else f"args[{index}]") + keystr(rest)


# ---- results ----


def _unbatched(out: Any, out_axes: Any, level: int, lanes: int) -> Any:
    leaves, definition = tree_flatten(out)
    leaves = [settled(x) for x in leaves]
    for x in leaves:
        refuse_unset(x)
    if out_axes is AUTO:
        axes = [0 if _is_peer(leaf, level) else None for leaf in leaves]
        values = [leaf.value if _is_peer(leaf, level) else leaf for leaf in leaves]
        return definition.unflatten(values), definition.unflatten(axes)
    try:
        axes = prefix_leaves(out_axes, out, is_leaf=_is_none)
    except ValueError as error:
        raise ValueError(
            "vmap out_axes specification must be a tree prefix of the corresponding value, got "
            f"specification {out_axes} for value {definition}: {error}"
        ) from None
    return definition.unflatten(
        _result(leaf, axis, level, lanes) for leaf, axis in zip(leaves, axes, strict=True)
    )


def _joined(every: list[Any], out_axes: Any) -> Any:
    """The results of lanes that ran one after another."""
    columns, definition = [], None
    for out in every:
        leaves, found = tree_flatten(out)
        if definition is not None and found != definition:
            raise TypeError(f"the lanes of a vmap give different results: {definition}, {found}")
        definition = found
        columns.append([settled(x) for x in leaves])
    assert definition is not None
    if out_axes is AUTO:
        axes = [0 if is_array(x) else None for x in columns[0]]
    else:
        axes = prefix_leaves(out_axes, every[0], is_leaf=_is_none)
    values = [
        _column(list(c), axis) for c, axis in zip(zip(*columns, strict=True), axes, strict=True)
    ]
    if out_axes is AUTO:
        return definition.unflatten(values), definition.unflatten(axes)
    return definition.unflatten(values)


def _column(values: list[Any], axis: Any) -> Any:
    from overt.runtime import numpy as np

    first = values[0]
    if axis is None:
        if all(x is first for x in values) or not is_array(first):
            return first
        raise ValueError("vmap has mapped output but out_axes is None: the lanes ran one by one")
    if not is_array(first):
        return _result(first, axis, 0, len(values))
    return np.stack(values, axis=axis)


def _is_peer(x: Any, level: int) -> bool:
    return type(x) is Lanes and x.level == level


def _result(leaf: Any, axis: Any, level: int, lanes: int) -> Any:
    if not (axis is None or _is_int(axis)):
        raise TypeError(f"vmap out_axes must hold ints and None, but got {axis!r}")
    if axis is None:
        if _is_peer(leaf, level):
            raise ValueError(
                "vmap has mapped output but out_axes is None: the result differs between lanes "
                f"({leaf.aval})"
            )
        return leaf
    if not is_array(leaf):
        raise TypeError(
            f"the result of a vmapped function must hold arrays, but it holds {leaf!r} of type "
            f"{type(leaf).__name__}; return it with out_axes=None"
        )
    value = leaf.value if _is_peer(leaf, level) else spread(leaf, lanes)
    ndim = len(value.shape)
    axis = operator.index(axis)
    if not -ndim <= axis < ndim:
        raise ValueError(
            f"vmap out_axes {axis} is out of bounds for a result of shape {value.shape}"
        )
    return value if axis % ndim == 0 else move_axis(value, 0, axis % ndim)
