"""What an index means: NumPy's rules, worked out once for reading and for writing."""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

import numpy

from overt.runtime.array import Array
from overt.runtime.dispatch import CHECKS, GRAPH
from overt.runtime.errors import NonConcreteBooleanIndexError, StagingError
from overt.runtime.numpy.movement import shape_of
from overt.runtime.numpy.open_slices import closed, is_open

FULL = slice(None)


class Plan(NamedTuple):
    """An index in normal form: first a static part, then index arrays into what that leaves."""

    spec: tuple[Any, ...]  # for `pick` and `store`
    whole: bool  # the static part keeps everything as it is
    indices: tuple[Any, ...]  # index arrays, for `gather` and `scatter`
    axes: tuple[int, ...]  # the axes of the picked part that they belong to
    at: int  # where their common axes go
    wrap: bool  # some may still be negative


class Unknown:
    """A boolean index known only at run time, or a slice as one, and the axes that it covers."""

    def __init__(self, mask: Any, sliced: bool = False):
        self.mask, self.sliced = mask, sliced


class OnNewAxis:
    """An index array for a new axis of length one: what a boolean without axes means."""

    def __init__(self, values: Any):
        self.values = values


def is_array(x: Any) -> bool:
    """Whether an index entry is an array of any kind (numbers and lists are not)."""
    return isinstance(x, Array) or hasattr(x, "shape") and hasattr(x, "dtype")


def as_entries(index: Any) -> list[Any]:
    """The entries of an index, lists turned into arrays."""
    entries = list(index) if isinstance(index, tuple) else [index]
    return [as_entry(entry) for entry in entries]


def as_entry(entry: Any) -> Any:
    """An entry as an integer, a slice, None, Ellipsis, or an array of integers or booleans."""
    if entry is None or entry is Ellipsis or type(entry) in (int, slice):
        return entry
    if isinstance(entry, (bool, numpy.bool_)):
        return numpy.asarray(entry)
    if isinstance(entry, (list, tuple, range)):
        entry = list(entry)
        nested = any(is_array(part) for part in entry)
        entry = np.stack([np.asarray(part) for part in entry]) if nested else numpy.asarray(entry)
        if entry.size == 0 and entry.dtype.kind == "f":
            entry = entry.astype(numpy.int32)
    if is_array(entry):
        kind = numpy.dtype(entry.dtype).kind
        if kind not in "iub":
            raise IndexError(
                f"arrays used as indices must be of integer or boolean type, not {entry.dtype}"
            )
        host = isinstance(entry, (numpy.ndarray, numpy.generic))
        return int(entry) if host and not entry.shape and kind != "b" else entry
    try:
        return operator.index(entry)
    except TypeError:
        if isinstance(entry, slice):
            return entry
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or "
            f"boolean arrays are valid indices, not {type(entry).__name__}"
        ) from None


def is_boolean(entry: Any) -> bool:
    return is_array(entry) and entry.dtype == bool


def axes_used(entry: Any) -> int:
    """How many axes of the array an entry covers."""
    if entry is None:
        return 0
    return len(entry.shape) if is_boolean(entry) else 1


def spread_ellipsis(entries: list[Any], ndim: int) -> list[Any]:
    """Entries for every axis: the ellipsis, or the end, filled with full slices."""
    places = [k for k, entry in enumerate(entries) if entry is Ellipsis]
    if len(places) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    used = sum(axes_used(entry) for entry in entries if entry is not Ellipsis)
    if used > ndim:
        raise IndexError(
            f"too many indices for array: array is {ndim}-dimensional, but {used} were indexed"
        )
    place = places[0] if places else len(entries)
    return entries[:place] + [FULL] * (ndim - used) + entries[place + 1 :]


def host_value(x: Any) -> Any:
    """An index array's values as NumPy where they are known, else None."""
    if isinstance(x, (numpy.ndarray, numpy.generic)):
        return numpy.asarray(x)
    if getattr(x, "level", 1) or hasattr(x, "node"):
        return None
    return numpy.asarray(x) if isinstance(x, DeviceArray) else None


def mask_value(mask: Any, what: str) -> Any:
    """A boolean index's values. Errors: StagingError where they are known only at run time."""
    if (known := host_value(mask)) is not None:
        return known
    try:
        return numpy.asarray(mask)
    except (StagingError, TypeError) as error:
        raise NonConcreteBooleanIndexError(
            f"{what} selects a number of elements that is known only at run time, and shapes must "
            "be known when the program is compiled; write np.where(mask, x, other), or np.nonzero "
            "with size=..., instead"
        ) from error


def mask_if_known(mask: Any) -> Any:
    """A boolean index's values, or None where they are known only at run time."""
    if (known := host_value(mask)) is not None:
        return known
    if not getattr(mask, "evaluable", False):
        return None
    return numpy.asarray(mask)


def expand_masks(entries: list[Any], shape: tuple[int, ...]) -> list[Any]:
    """Boolean arrays replaced by the integer arrays of their nonzero places."""
    result: list[Any] = []
    axis = 0
    for entry in entries:
        if not is_boolean(entry):
            result.append(entry)
            axis += entry is not None
            continue
        for k, n in enumerate(entry.shape):
            if n != shape[axis + k]:
                raise IndexError(
                    f"boolean index did not match indexed array along axis {axis + k}; size of "
                    f"axis is {shape[axis + k]} but size of corresponding boolean axis is {n}"
                )
        known = mask_if_known(entry)
        if known is None:
            result.append(Unknown(entry))
        else:
            if known.ndim:
                result.extend(numpy.nonzero(known))
            else:  # x[True] has a new axis of length one, x[False] of length zero
                result.append(OnNewAxis(numpy.zeros(int(known), numpy.int32)))
        axis += len(entry.shape)
    return result


def check_range(values: Any, axis: int, n: int) -> None:
    """Errors: IndexError where an index lies outside an axis of length n."""
    if values.size == 0:
        return
    low, high = values.min(), values.max()
    if low < -n or high >= n:
        bad = int(low if low < -n else high)
        raise IndexError(f"index {bad} is out of bounds for axis {axis} with size {n}")


def told(index: Any, shape: tuple[int, ...], axis: int, size: int = 1, wraps: bool = True) -> bool:
    """Whether `checkify` was told of an index, or the start of a slice, if it is out of range."""
    if CHECKS.get() is None:
        return False
    from overt.runtime.checks import report_index

    return report_index(index, shape, axis, size, wraps)


def wide_index(index: Any) -> Any:
    """Indices in a dtype that holds the length of an axis, too.

    >>> wide_index(np.array([-1], np.int8)).dtype
    dtype('int32')
    """
    index = np.asarray(index)
    return np.astype(index, np.int32) if index.dtype.itemsize < 4 else index


def slice_triple(part: slice, n: int) -> tuple[int, int, int]:
    """(start, size, step) of a slice of an axis of length n."""
    if hasattr(n, "symbolic"):
        return symbolic_slice(part, n)
    start, stop, step = part.indices(n)
    size = len(range(start, stop, step))
    return (start, size, step) if size else (0, 0, 1)


def symbolic_slice(part: slice, n: Any) -> tuple[Any, Any, int]:
    """The same for a length that is not known yet: the ends have to lie within the axis.

    Errors: InconclusiveDimensionOperation where that depends on the length.
    """
    step = 1 if part.step is None else part.step
    if step == -1 and part.start is None and part.stop is None:
        return n - 1, n, -1
    if step < 1:
        part.indices(n)  # which needs the length

    def end(given: Any, otherwise: Any) -> Any:
        if given is None:
            return otherwise
        place = given if given >= 0 else n + given
        return place if 0 <= place <= n else part.indices(n)

    start, stop = end(part.start, 0), end(part.stop, n)
    size = stop - start if start <= stop else 0
    return start, (size + step - 1) // step, step


def make_plan(
    index: Any, shape: tuple[int, ...], check: bool = True, tell: bool = True
) -> Plan | MaskPlan:
    """Work out an index into an array of the given shape; `tell` checkify what is out of range.

    Errors: IndexError for too many entries, wrong masks, known integers out of range (`check`).
    """
    entries = spread_ellipsis(as_entries(index), len(shape))
    entries = expand_masks(entries, shape)
    if any(map(is_open, entries)):
        entries = closed(entries, shape)
    if any(isinstance(entry, Unknown) for entry in entries):
        return masked_plan(entries, shape)
    draft = Draft(shape, check, tell)
    for entry in entries:
        draft.add(entry)
    return draft.plan()


class Draft:
    """A plan being made, entry by entry."""

    def __init__(self, shape: tuple[int, ...], check: bool, tell: bool):
        self.shape, self.check, self.tell = shape, check, tell
        self.spec: list[Any] = []
        self.indices: list[Any] = []
        self.axes: list[int] = []
        self.lengths: list[int] = []  # of the axes that the indices are for
        self.axis = 0  # of the array
        self.width = 0  # axes of the picked part so far
        self.kept = 0  # axes of the result so far that no advanced entry made
        self.runs = 0  # stretches of adjacent advanced entries
        self.at = 0
        self.wrap = False
        self.whole = True
        self.last_advanced = False
        # eagerly an integer is an operand, so that x[0], x[1], ... share one executable
        self.integers_are_operands = GRAPH.get() is None

    def add(self, entry: Any) -> None:
        advanced = not (entry is None or isinstance(entry, slice))
        if advanced and not self.last_advanced:
            self.at = self.at if self.runs else self.kept
            self.runs += 1
        self.last_advanced = advanced
        if entry is None:
            self.keep(None, False)
        elif isinstance(entry, slice):
            n = self.shape[self.axis]
            triple = slice_triple(entry, n)
            self.keep(triple, triple == (0, n, 1))
            self.axis += 1
        elif isinstance(entry, OnNewAxis):
            self.attach(entry.values, 1)
            self.keep(None, False)
            self.kept -= 1
        elif type(entry) is int:
            self.add_integer(entry)
        else:
            self.add_array(entry)

    def keep(self, part: Any, whole: bool) -> None:
        """A part of the specification that leaves an axis."""
        self.spec.append(part)
        self.width += 1
        self.kept += 1
        self.whole = self.whole and whole

    def attach(self, index: Any, length: int) -> None:
        """An index array for the next axis of the picked part."""
        self.axes.append(self.width)
        self.indices.append(index)
        self.lengths.append(length)

    def along(self, index: Any) -> None:
        """An index array for the next axis of the array."""
        self.attach(index, self.shape[self.axis])
        self.keep((0, self.shape[self.axis], 1), True)
        self.kept -= 1
        self.axis += 1

    def add_integer(self, number: int) -> None:
        n = self.shape[self.axis]
        inside = -n <= number < n
        if not (inside or self.told(number)) and self.check:
            raise IndexError(f"index {number} is out of bounds for axis {self.axis} with size {n}")
        number = number + n if number < 0 else number
        if inside and not self.integers_are_operands:
            self.spec.append(number)
            self.whole = False
            self.axis += 1
        else:
            self.along(max(min(number, n), -1))

    def add_array(self, index: Any) -> None:
        n = self.shape[self.axis]
        known = host_value(index)
        if known is None:
            self.wrap = self.wrap or numpy.dtype(index.dtype).kind == "i"
        if not self.told(index) and self.check and known is not None:
            check_range(known, self.axis, n)
        if known is not None:
            if known.size and known.dtype.kind == "i" and known.min() < 0:
                wide = known.astype(numpy.promote_types(known.dtype, numpy.int32))
                index = known = numpy.where(known < 0, wide + n, wide)
            if isinstance(index, numpy.ndarray) and n < 2**31:
                index = (
                    numpy.clip(index, -1, n).astype(numpy.int32) if index.itemsize > 4 else index
                )
        self.along(index)

    def told(self, index: Any) -> bool:
        """Whether `checkify` was told of an index that may be out of range."""
        return self.tell and told(index, self.shape, self.axis)

    def plan(self) -> Plan:
        at = self.at if self.runs < 2 or not any(shape_of(i) for i in self.indices) else 0
        indices = self.indices
        if self.wrap:
            indices = [below(i, n) for i, n in zip(indices, self.lengths, strict=True)]
        return Plan(tuple(self.spec), self.whole, tuple(indices), tuple(self.axes), at, self.wrap)


def below(index: Any, n: int) -> Any:
    """A known index, whose negative places are before the first, as one that will be wrapped."""
    if isinstance(index, int):
        return index - n if index < 0 else index
    if isinstance(index, numpy.ndarray) and index.dtype.kind == "i":
        return numpy.where(index < 0, index - n, index).astype(index.dtype)
    return index


class MaskPlan(NamedTuple):
    """A boolean index of unknown values: the part it applies to, and the mask's place there."""

    spec: tuple[Any, ...]
    whole: bool
    mask: Any  # with axes of length 1 for those it does not cover
    start: int
    covered: int
    sliced: bool = False


def masked_plan(entries: list[Any], shape: tuple[int, ...]) -> MaskPlan:
    """Work out an index with one boolean array of unknown values among integers and slices."""
    spec: list[Any] = []
    mask: Any = None
    sliced = False
    start, covered, axis, width, whole = 0, 0, 0, 0, True
    for entry in entries:
        if isinstance(entry, Unknown) and mask is None:
            mask, start, covered = entry.mask, width, len(entry.mask.shape)
            sliced = entry.sliced
            spec += [(0, n, 1) for n in shape[axis : axis + covered]]
            axis, width = axis + covered, width + covered
        elif isinstance(entry, slice):
            triple = slice_triple(entry, shape[axis])
            whole = whole and triple == (0, shape[axis], 1)
            spec.append(triple)
            axis, width = axis + 1, width + 1
        elif type(entry) is int:
            n = shape[axis]
            if not -n <= entry < n:
                raise IndexError(f"index {entry} is out of bounds for axis {axis} with size {n}")
            spec.append(entry % n)
            axis, whole = axis + 1, False
        else:
            raise NonConcreteBooleanIndexError(
                "a boolean index whose values are known only at run time can be combined with "
                "integers and slices only; write np.where(mask, x, other) instead"
            )
    after = width - start - covered
    if start or after:
        mask = np.reshape(mask, (*(1,) * start, *mask.shape, *(1,) * after))
    return MaskPlan(tuple(spec), whole, mask, start, covered, sliced)


import overt.runtime.numpy as np  # noqa: E402
from overt.runtime.array import DeviceArray  # noqa: E402
