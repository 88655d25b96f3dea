"""`x.at[index].set(v)` and its kin: updates of an array that give a new array.

Modes, as in JAX: `None`, "drop" and "fill" leave out writes that are out of range, "clip" moves
them to the nearest place, "promise_in_bounds" trusts the caller. Reads by `get` are kept in
range by default; "fill" (or "drop") gives `fill_value` instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from overt.runtime import numpy as np
from overt.runtime.numpy.indexing import add_at, erase, place, read, set_item, taken, write
from overt.runtime.numpy.movement import with_rule

__all__ = ["At", "AtIndex", "add_at", "erase", "place", "set_item", "taken"]

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


class At:
    """What `x.at` is: index it, then say what to do there.

    >>> np.array([1.0, 2.0]).at[0].add(5.0)
    Array([6., 2.], dtype=float32)
    """

    __slots__ = ("x",)

    def __init__(self, x: Any):
        self.x = x

    def __getitem__(self, index: Any) -> AtIndex:
        return AtIndex(self.x, index)

    def __repr__(self) -> str:
        return f"At({self.x!r})"


class AtIndex:
    """One part of an array, about to be read or updated. Repeated indices: every update counts."""

    __slots__ = ("x", "index")

    def __init__(self, x: Any, index: Any):
        self.x, self.index = x, index

    def __repr__(self) -> str:
        return f"AtIndex({self.x!r}, {self.index!r})"

    def set(self, values: Any, **how: Any) -> Any:
        """The array with `values` in this part."""
        return update(self.x, self.index, values, combine="set", **how)

    def add(self, values: Any, **how: Any) -> Any:
        """The array with `values` added to this part."""
        return update(self.x, self.index, values, combine="add", **how)

    def subtract(self, values: Any, **how: Any) -> Any:
        """The array with `values` subtracted from this part."""
        return update(self.x, self.index, np.negative(values), combine="add", **how)

    sub = subtract

    def multiply(self, values: Any, **how: Any) -> Any:
        """The array with this part multiplied by `values`."""
        return update(self.x, self.index, values, combine="multiply", **how)

    mul = multiply

    def divide(self, values: Any, **how: Any) -> Any:
        """The array with this part divided by `values`."""
        factors = update(np.ones_like(self.x), self.index, values, combine="multiply", **how)
        return np.divide(self.x, factors)

    def power(self, values: Any, **how: Any) -> Any:
        """The array with this part raised to `values`."""
        exponents = update(np.ones_like(self.x), self.index, values, combine="multiply", **how)
        return np.power(self.x, exponents)

    def min(self, values: Any, **how: Any) -> Any:
        """The array with this part no larger than `values`."""
        return update(self.x, self.index, values, combine="min", **how)

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

    def get(self, *, mode: Any = None, fill_value: Any = None, indices_are_sorted: bool = False,
            unique_indices: bool = False) -> Any:  # fmt: skip
        """This part. Modes "fill" and "drop": `fill_value`, or NaN, where it is out of range."""
        if mode is None and fill_value is not None:
            mode = "fill"
        return part_at(
            self.x,
            self.index,
            mode=mode_name(mode, READ_MODES),
            fill=fill_value,
            tell=mode is None,
            sorted=indices_are_sorted,
            unique=unique_indices,
        )


@with_rule(
    arrays=("x", "index"),
    vjp=(lambda g, out, x, index, **how: place_at(g, x, index, **how), None),
    jvp=lambda dots, out, x, index, **how: part_at(dots[0], index, **how),
)
def part_at(x: Any, index: Any, **how: Any) -> Any:
    """`x.at[index].get(...)` as a function."""
    return read(x, index, check=False, **how)


def place_at(
    g: Any, x: Any, index: Any, mode: str, fill: Any, tell: bool, sorted: bool, unique: bool
) -> Any:
    """Transpose of `part_at`: zeros like `x` with `g` added at `index`."""
    how: dict[str, Any] = {"mode": mode, "tell": tell, "sorted": sorted, "unique": unique}
    return write(np.zeros_like(x), index, g, combine="add", check=False, **how)


def update(
    x: Any, index: Any, values: Any, *, combine: str, mode: Any = None, fill_value: Any = None,
    indices_are_sorted: bool = False, unique_indices: bool = False, out_sharding: Any = None,
    wrap_negative_indices: bool = True,
) -> Any:  # fmt: skip
    """`x` with `values` combined into the part at `index`."""
    return write(
        np.asarray(x),
        index,
        values,
        combine,
        mode=mode_name(mode, WRITE_MODES),
        check=False,
        tell=mode is None,
        sorted=indices_are_sorted,
        unique=unique_indices,
    )
