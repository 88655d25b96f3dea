"""Slices whose ends only the running program knows.

x[i : i + 3]     the elements at i, i + 1, i + 2, where these surely lie within the axis
x[:i]            a selection, as `x[np.arange(n) < i]` is one

Others need the numbers: what an argument says makes it static, and a loop is unrolled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from overt.runtime.array import Array
from overt.runtime.index_range import apart, range_of
from overt.runtime.lanes import Lanes
from overt.runtime.staging import Symbolic, is_known

__all__ = ["closed", "is_open", "two_steps"]


def is_open(entry: Any) -> bool:
    """Whether an entry of an index is a slice with an end that is not known yet."""
    return isinstance(entry, slice) and any(
        isinstance(end, Array) and not is_known(end) for end in (entry.start, entry.stop)
    )


def closed(entries: list[Any], shape: Sequence[int]) -> list[Any]:
    """The entries of an index, with an array of places or a mask for an open slice.

    One that neither can stand for is left as it is.
    """
    from overt.runtime.numpy.index_plan import Unknown

    if sum(map(is_open, entries)) != 1 or not all(map(is_simple, entries)):
        return entries
    place = next(k for k, entry in enumerate(entries) if is_open(entry))
    n = shape[sum(entry is not None for entry in entries[:place])]
    if hasattr(n, "symbolic"):
        return entries
    found = window(entries[place], n)
    if found is None:
        mask = mask_of(entries[place], n) if may_be_selected(entries[place]) else None
        found = None if mask is None else Unknown(mask, sliced=True)
    return entries if found is None else [*entries[:place], found, *entries[place + 1 :]]


def two_steps(index: Any, rank: int) -> tuple[tuple[Any, ...], tuple[Any, ...]] | None:
    """`x[i, :k]` is `x[i][:k]`: the first index, and the one with the open slices.

    None where integers that are not known do not stand beside such a slice.
    """
    if type(index) is not tuple or not any(map(is_open, index)):
        return None
    if not any(isinstance(entry, Array) for entry in index):
        return None
    from overt.runtime.numpy.index_plan import FULL, as_entries, spread_ellipsis

    entries = spread_ellipsis(as_entries(index), rank)
    if not all(is_simple(entry) or is_integer(entry) for entry in entries):
        return None
    first = tuple(FULL if is_open(entry) else entry for entry in entries)
    axes = [entry for entry in entries if entry is None or isinstance(entry, slice)]
    return first, tuple(entry if is_open(entry) else FULL for entry in axes)


def is_integer(entry: Any) -> bool:
    return isinstance(entry, Array) and not entry.shape and entry.dtype.kind in "iu"


def is_simple(entry: Any) -> bool:
    """Whether an entry leaves the axes of the others where they are."""
    return entry is None or type(entry) in (int, slice)


def window(part: slice, n: int) -> Any:
    """The places of a slice of known length that lies within an axis; None for any other."""
    if part.start is None or part.stop is None or part.step not in (None, 1):
        return None
    length = distance(part.start, part.stop)
    if length is None or not 0 < length <= n:
        return None
    inside = values_between(part.start)
    if inside is None and not is_of_lanes(part.start):
        return None
    if inside is not None and (inside[0] < 0 or inside[1] + length > n):
        return None
    from overt.runtime import numpy as np

    start = part.start if inside is not None else np.clip(part.start, 0, n - length)
    return start + numpy.arange(length, dtype=numpy.int32)


def inmost(x: Any) -> Any:
    """A value without what transformations have put around it: for lanes, those of all of them."""
    while isinstance(x, Array) and (x.transparent or type(x) is Lanes):
        x = x.value if type(x) is Lanes else x.primal  # type: ignore[attr-defined]
    return x


def is_of_lanes(x: Any) -> bool:
    while isinstance(x, Array) and x.transparent:
        x = x.primal  # type: ignore[attr-defined]
    return type(x) is Lanes


def values_between(x: Any) -> tuple[int, int] | None:
    """The least and the largest value of an integer, in all lanes; None where that is not clear."""
    numbers = numbers_of(x)
    return range_of(x) if numbers is None else (int(numbers.min()), int(numbers.max()))


def numbers_of(x: Any) -> numpy.ndarray | None:
    """The values that an integer has in all lanes, where they are at hand."""
    found = inmost(x)
    if isinstance(found, Array) and not is_known(found):
        return None
    numbers = numpy.asarray(found)
    return numbers if numbers.dtype.kind in "iu" and numbers.size else None


def distance(a: Any, b: Any) -> int | None:
    """`b - a` for two integers, where it surely is one number."""
    (one, first), (other, second) = apart(inmost(a)), apart(inmost(b))
    if one is other:
        return second - first
    if numbers_of(a) is None or numbers_of(b) is None:
        return None
    from overt.runtime import numpy as np

    gaps = numbers_of(np.subtract(b, a))
    return None if gaps is None or gaps.min() != gaps.max() else int(gaps.min())


def may_be_selected(part: slice) -> bool:
    """Whether no value can be had for an end, and with it the length of the result."""
    if part.step not in (None, 1):
        return False
    ends = [x for x in (part.start, part.stop) if isinstance(x, Array) and not is_known(x)]
    return all(x.dtype.kind in "iu" and not x.shape for x in ends) and any(map(varies, ends))


def varies(x: Any) -> bool:
    """Whether a number is another one for each turn of a loop or for each lane, or is data.

    Of one that integer arguments give the program may be made for its value.
    """
    while isinstance(x, Array) and x.transparent:
        x = x.primal  # type: ignore[attr-defined]
    if type(x) is not Symbolic:
        return type(x) is Lanes
    pending, seen = [x], set[int]()
    while pending:
        x = pending.pop()
        if id(x.node) in seen:
            continue
        if x.node.regions or is_within_loop(x.graph):
            return True
        if x.node.primitive is None:
            if x.shape or x.dtype.kind not in "iu":
                return True
            continue
        seen.add(id(x.node))
        pending += [i for i in x.node.inputs if type(i) is Symbolic]
    return False


def is_within_loop(graph: Any) -> bool:
    while graph is not None and not graph.repeats:
        graph = graph.parent
    return graph is not None


def mask_of(part: slice, n: int) -> Any:
    """Which elements of an axis a slice takes."""
    from overt.runtime import numpy as np

    places = np.arange(n, dtype=np.int32)
    tests = []
    if part.start is not None:
        tests.append(places >= counted(part.start, n))
    if part.stop is not None:
        tests.append(places < counted(part.stop, n))
    return tests[0] if len(tests) == 1 else np.logical_and(*tests)


def counted(end: Any, n: int) -> Any:
    """An end of a slice, counted from the beginning of an axis of length n."""
    if not isinstance(end, Array):
        return end if end >= 0 else max(end + n, 0)
    inside = range_of(end)
    if inside is not None and inside[0] >= 0:
        return end
    from overt.runtime import numpy as np

    return np.where(end < 0, end + n, end)
