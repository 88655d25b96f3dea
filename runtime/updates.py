"""`x.at[index].set(v)` and its kin: updates of an array that give a new array.

Modes, as in JAX: `None`, "drop" and "fill" leave out writes that are out of range, "clip" moves
them to the nearest place, "promise_in_bounds" trusts the caller. Reads by `get` are kept in
range by default; "fill" (or "drop") gives `fill_value` instead.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy

from overt.runtime import numpy as np
from overt.runtime.array import Array
from overt.runtime.derivatives import sum_to
from overt.runtime.dual import Dual
from overt.runtime.numpy.index_plan import (
    as_entries,
    axes_used,
    spread_ellipsis,
    wide_index,
)
from overt.runtime.numpy.index_plan import is_array as is_indices
from overt.runtime.numpy.indexing import (
    add_at,
    erase,
    place,
    read,
    refuse_unfit,
    set_item,
    stored_part,
    taken,
    write,
)
from overt.runtime.numpy.movement import with_rule
from overt.runtime.plain import plain
from overt.runtime.record import Recorded, vjp_call
from overt.runtime.tangents import call_with_tangents

__all__ = [
    "At",
    "AtIndex",
    "add_at",
    "added_at",
    "erase",
    "place",
    "set_at",
    "set_item",
    "taken",
    "taken_at",
]

WRITE_MODES = {
    None: "drop",
    "drop": "drop",
    "fill": "drop",
    "clip": "clip",
    "promise_in_bounds": "promise",
}
READ_MODES = {**WRITE_MODES, None: "clip", "drop": "fill", "fill": "fill"}


def mode_name(mode: Any, modes: dict[Any, str]) -> str:
    """Our name of a mode. Errors: ValueError for an unknown one."""
    name = getattr(mode, "name", mode)
    name = name.lower() if isinstance(name, str) else name
    aliases = {"fill_or_drop": "fill"}
    name = aliases.get(name, name)
    if name not in modes:
        raise ValueError(f"unknown mode {mode!r}; known: {', '.join(map(str, modes))}")
    return modes[name]


def read_mode(mode: Any, fill_value: Any) -> Any:
    """The mode of a read: a `fill_value` asks for "fill" where no mode is given."""
    return "fill" if mode is None and fill_value is not None else mode


@dataclasses.dataclass(frozen=True, eq=False, repr=False, slots=True)
class At:
    """What `x.at` is: index it, then say what to do there.

    >>> np.array([1.0, 2.0]).at[0].add(5.0)
    Array([6., 2.], dtype=float32)
    """

    x: Any

    def __getitem__(self, index: Any) -> AtIndex:
        return AtIndex(self.x, index)

    def item_placed(self, g: Any, index: Any) -> Any:
        """The cotangent of this from that of one part: both are one of the array."""
        return dataclasses.replace(self, x=g.x)

    def __repr__(self) -> str:
        return f"At({self.x!r})"


@dataclasses.dataclass(frozen=True, eq=False, repr=False, slots=True)
class AtIndex:
    """One part of an array, about to be read or updated. Repeated indices: every update counts."""

    x: Any
    index: Any

    def __repr__(self) -> str:
        return f"AtIndex({self.x!r}, {self.index!r})"

    @plain
    def set(self, values: Any, **how: Any) -> Any:
        """The array with `values` in this part."""
        return update(self.x, self.index, values, combine="set", **how)

    @plain
    def add(self, values: Any, **how: Any) -> Any:
        """The array with `values` added to this part."""
        return update(self.x, self.index, values, combine="add", **how)

    @plain
    def subtract(self, values: Any, **how: Any) -> Any:
        """The array with `values` subtracted from this part."""
        return update(self.x, self.index, np.negative(values), combine="add", **how)

    sub = subtract

    @plain
    def multiply(self, values: Any, **how: Any) -> Any:
        """The array with this part multiplied by `values`."""
        return update(self.x, self.index, values, combine="multiply", **how)

    mul = multiply

    @plain
    def divide(self, values: Any, **how: Any) -> Any:
        """The array with this part divided by `values`."""
        factors = update(np.ones_like(self.x), self.index, values, combine="multiply", **how)
        return np.divide(self.x, factors)

    @plain
    def power(self, values: Any, **how: Any) -> Any:
        """The array with this part raised to `values`."""
        exponents = update(np.ones_like(self.x), self.index, values, combine="multiply", **how)
        return np.power(self.x, exponents)

    @plain
    def min(self, values: Any, **how: Any) -> Any:
        """The array with this part no larger than `values`."""
        return update(self.x, self.index, values, combine="min", **how)

    @plain
    def max(self, values: Any, **how: Any) -> Any:
        """The array with this part no smaller than `values`."""
        return update(self.x, self.index, values, combine="max", **how)

    def apply(self, func: Callable[[Any], Any], **how: Any) -> Any:
        """The array with `func` applied to this part, once for every time it is indexed."""
        count = update(np.zeros(self.x.shape, np.int32), self.index, 1, combine="add", **how)
        most = count.max() if count.size else 0

        def again(k: Any, x: Any) -> Any:
            return np.where(k < count, func(x), x)

        from overt.runtime.control import for_loop, loop_range

        return for_loop(loop_range(0, most, 1), again, self.x)

    @plain
    def get(self, *, mode: Any = None, fill_value: Any = None, indices_are_sorted: bool = False,
            unique_indices: bool = False, wrap_negative_indices: bool = True) -> Any:  # fmt: skip
        """This part. Modes "fill" and "drop": `fill_value`, or NaN, where it is out of range."""
        if mode is None and fill_value is not None:
            mode = "fill"
        return part_at(
            self.x,
            as_meant(self.index, np.shape(self.x), wrap_negative_indices),
            mode=mode_name(mode, READ_MODES),
            fill=fill_value,
            tell=mode is None,
            sorted=indices_are_sorted,
            unique=unique_indices,
        )


def as_meant(index: Any, shape: tuple[int, ...], wraps: bool) -> Any:
    """An index as it is, or with its negative places outside instead of counted from the end.

    >>> as_meant((-1, slice(-1, None)), (3, 4), wraps=False)
    (-4, slice(-1, None, None))
    """
    if wraps:
        return index
    entries: list[Any] = []
    axis = 0
    for entry in spread_ellipsis(as_entries(index), len(shape)):
        n = shape[axis] if axis < len(shape) else 0
        if type(entry) is int:
            entry = -1 - n if entry < 0 else entry
        elif is_indices(entry) and np.dtype(entry.dtype).kind == "i":
            where = numpy.where if isinstance(entry, numpy.ndarray) else np.where
            entry = wide_index(entry) if where is np.where else entry.astype(numpy.int64)
            entry = where(entry < 0, -1 - n, entry)
        axis += axes_used(entry)
        entries.append(entry)
    return tuple(entries)


def held_fixed(x: Any) -> Any:
    """A Python number without a derivative."""
    while type(x) in (Recorded, Dual):
        x = x.primal
    return x.item() if isinstance(x, Array) and x.ndim == 0 else x


@with_rule(
    arrays=("x", "index"),
    vjp=(lambda g, out, x, index, **how: place_at(g, x, index, **how), None),
    jvp=lambda dots, out, x, index, **how: part_at(dots[0], index, **{**how, "fill": 0}),
)
def part_at(x: Any, index: Any, **how: Any) -> Any:
    """`x.at[index].get(...)` as a function."""
    how["fill"] = held_fixed(how["fill"])
    return read(x, index, check=False, **how)


def place_at(
    g: Any, x: Any, index: Any, mode: str, fill: Any, tell: bool, sorted: bool, unique: bool
) -> Any:
    """Transpose of `part_at`: zeros like `x` with `g` added at `index`."""
    how: dict[str, Any] = {"mode": mode, "tell": tell, "sorted": sorted, "unique": unique}
    return write(np.zeros_like(x), index, g, combine="add", check=False, **how)


@with_rule(
    arrays=("x", "index"),
    vjp=(
        lambda g, out, x, index, *, mode, fill_value, wrap_negative_indices, **how: from_part(
            g, x, as_meant(index, np.shape(x), wrap_negative_indices), mode, fill_value
        ),
        None,
    ),
    jvp=lambda dots, out, x, index, *, mode, fill_value, wrap_negative_indices, **how: part_dot(
        dots[0], as_meant(index, np.shape(x), wrap_negative_indices), mode, fill_value
    ),
)
def got_at(
    x: Any, index: Any, *, mode: Any = None, fill_value: Any = None,
    indices_are_sorted: bool = False, unique_indices: bool = False,
    wrap_negative_indices: bool = True,
) -> Any:  # fmt: skip
    """`x.at[index].get(...)` as a function."""
    return x.at[index].get(
        mode=mode, fill_value=fill_value, indices_are_sorted=indices_are_sorted,
        unique_indices=unique_indices, wrap_negative_indices=wrap_negative_indices,
    )  # fmt: skip


def part_dot(dot: Any, index: Any, mode: Any = None, fill_value: Any = None) -> Any:
    """The tangent of `x.at[index].get(...)`: zero where it is out of range and filled."""
    return dot.at[index].get(mode=read_mode(mode, fill_value), fill_value=0)


def from_part(g: Any, x: Any, index: Any, mode: Any = None, fill_value: Any = None) -> Any:
    """The cotangent of `x` from that of `x.at[index].get(...)`."""
    name = mode_name(read_mode(mode, fill_value), READ_MODES)
    return place_at(g, x, index, name, None, tell=False, sorted=False, unique=False)


@with_rule(
    arrays=("x", "index", "values"),
    vjp=(
        lambda g, out, x, index, values, **how: update_bar(g, x, index, values, 0, **how),
        None,
        lambda g, out, x, index, values, **how: update_bar(g, x, index, values, 1, **how),
    ),
    jvp=lambda dots, out, x, index, values, **how: update_dot(dots, x, index, values, **how),
)
def update(
    x: Any, index: Any, values: Any, *, combine: str, mode: Any = None, fill_value: Any = None,
    indices_are_sorted: bool = False, unique_indices: bool = False, out_sharding: Any = None,
    wrap_negative_indices: bool = True,
) -> Any:  # fmt: skip
    """`x` with `values` combined into the part at `index`."""
    x = np.asarray(x)
    refuse_unfit(x, values)
    return write(
        x,
        as_meant(index, x.shape, wrap_negative_indices),
        values,
        combine,
        mode=mode_name(mode, WRITE_MODES),
        check=False,
        tell=mode is None,
        sorted=indices_are_sorted,
        unique=unique_indices,
    )


def update_bar(g: Any, x: Any, index: Any, values: Any, which: int, **how: Any) -> Any:
    """The cotangent of the array, or of the values, of an update."""
    return vjp_call(lambda x, values: update(x, index, values, **how), x, values)[1](g)[which]


def update_dot(dots: Any, x: Any, index: Any, values: Any, **how: Any) -> Any:
    """The tangent of an update."""
    return call_with_tangents(
        lambda x, values: update(x, index, values, **how), (x, values), (dots[0], dots[2])
    )[1]


@with_rule(
    arrays=("x", "index", "value"),
    vjp=(
        lambda g, out, x, index, value: set_at(g, index, 0),
        None,
        lambda g, out, x, index, value: taken_at(g, index, value),
    ),
    jvp=lambda dots, out, x, index, value: set_at(dots[0], index, dots[2]),
)
def set_at(x: Any, index: Any, value: Any) -> Any:
    """`x.at[index].set(value)` as a function."""
    return x.at[index].set(value)


@with_rule(
    arrays=("x", "index", "value"),
    vjp=(
        lambda g, out, x, index, value: g,
        None,
        lambda g, out, x, index, value: sum_to(g.at[index].get(mode="fill", fill_value=0), value),
    ),
    jvp=lambda dots, out, x, index, value: added_at(dots[0], index, dots[2]),
)
def added_at(x: Any, index: Any, value: Any) -> Any:
    """`x.at[index].add(value)` as a function."""
    return x.at[index].add(value)


@with_rule(
    arrays=("g", "index", "value"),
    vjp=(lambda g2, out, g, index, value: set_at(np.zeros_like(g), index, g2), None, None),
    jvp=lambda dots, out, g, index, value: taken_at(dots[0], index, value),
)
def taken_at(g: Any, index: Any, value: Any) -> Any:
    """The part of a cotangent that belongs to `value`, which `x.at[index].set(value)` stored.

    >>> print(taken_at(np.array([1.0, 2.0, 3.0]), np.array([0, 0, 5]), np.ones(3)))
    [0. 1. 0.]
    """
    return stored_part(g, index, value, check=False)
