"""Numbers that an integer of the program surely lies between: an index in range needs no check."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from overt.runtime.array import Array
from overt.runtime.lanes import Lanes
from overt.runtime.staging import CASE, Symbolic, is_known

__all__ = ["apart", "range_of"]

Range = tuple[int, int]
DEPTH = 12  # operations that are looked through
STEPS = 40  # additions in a row
MANY = 1 << 20  # numbers of which the extremes are looked for


def range_of(x: Any, depth: int = DEPTH) -> Range | None:
    """The least and the largest value of an integer; None where that is not clear.

    >>> range_of(3)
    (3, 3)
    """
    while isinstance(x, Array) and (x.transparent or type(x) is Lanes):
        x = x.value if type(x) is Lanes else x.primal  # type: ignore[attr-defined]
    if type(x) in (bool, int):
        return int(x), int(x)
    if getattr(getattr(x, "dtype", None), "kind", "") not in tuple("iub") or not x.size:
        return None
    if is_known(x):
        from overt.runtime.interop import as_array

        numbers = as_array(x).numbers() if x.size <= MANY else None
        return None if numbers is None else (int(numbers.min()), int(numbers.max()))
    if type(x) is not Symbolic or not depth:
        return None
    if x.node.primitive is None:
        trips = x.graph.trips if x.index == 0 else None
        return (0, trips - 1) if trips else boolean(x)
    if x.node.primitive is CASE:
        return together([r.outputs[x.index] for r in x.node.regions], depth)
    found = of_operation(x.node, depth)
    return found or boolean(x)


def boolean(x: Array) -> Range | None:
    return (0, 1) if x.dtype == bool else None


def of_operation(node: Any, depth: int) -> Range | None:
    name = node.primitive.name
    if name in ("index_of_max", "index_of_min"):
        shape = node.avals[0].shape
        return 0, shape[node.params["axis"]] - 1
    if name == "read_record":
        return range_of(node.inputs[0], depth - 1)
    if name == "where":
        return of_choice(node.inputs, depth)
    if name == "remainder" and (divisor := range_of(node.inputs[1], depth - 1)):
        return (0, divisor[1] - 1) if divisor[0] > 0 else None
    if name == "bitwise_and":
        masks = [r for r in (range_of(i, depth - 1) for i in node.inputs) if r and r[0] >= 0]
        return (0, min(r[1] for r in masks)) if masks else None
    if name in ("maximum", "minimum"):
        return extreme(node.inputs, name == "maximum", depth)
    parts = [range_of(i, depth - 1) for i in node.inputs] if name in EXACT or name in SAME else []
    if not parts or any(r is None for r in parts):
        return None
    if name in SAME:
        return parts[0]
    ends = [EXACT[name](*corner) for corner in corners(parts)]  # type: ignore[arg-type]
    wraps = max(map(abs, ends)) >= 1 << 31
    return None if wraps else (min(ends), max(ends))


SAME = frozenset(("convert", "reshape_to", "broadcast_to", "stop_gradient"))
EXACT: dict[str, Callable[..., int]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "negative": lambda a: -a,
}


def corners(parts: Sequence[Range]) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = [()]
    for part in parts:
        found = [(*corner, end) for corner in found for end in part]
    return found


def of_choice(inputs: Sequence[Any], depth: int) -> Range | None:
    """Of `where(test, a, b)`; with a test like `a > b` it is the larger one."""
    test, a, b = inputs
    name = getattr(getattr(getattr(test, "node", None), "primitive", None), "name", "")
    if name in ("greater", "less"):
        for given, larger in (((a, b), name == "greater"), ((b, a), name == "less")):
            if all(map(is_same, test.node.inputs, given)):
                return extreme(given, larger, depth)
    return together((a, b), depth)


def together(values: Sequence[Any], depth: int) -> Range | None:
    """Of what is one of several."""
    ranges = [range_of(x, depth - 1) for x in values]
    known = [r for r in ranges if r is not None]
    if len(known) < len(ranges):
        return None
    return min(low for low, _ in known), max(high for _, high in known)


def is_same(a: Any, b: Any) -> bool:
    return a is b or type(a) is type(b) is int and a == b


NO_END = 1 << 62


def extreme(inputs: Sequence[Any], largest: bool, depth: int) -> Range | None:
    """Of the larger or smaller one of two, of which one alone may be clear."""
    ranges = [range_of(i, depth - 1) or (-NO_END, NO_END) for i in inputs]
    choose = max if largest else min
    return choose(r[0] for r in ranges), choose(r[1] for r in ranges)


def apart(x: Any) -> tuple[Any, int]:
    """What an integer is computed from by adding a known number, and that number."""
    offset = 0
    for _ in range(STEPS):
        if type(x) is not Symbolic or x.node.primitive is None:
            break
        name, inputs = x.node.primitive.name, x.node.inputs
        if name == "convert" and x.dtype.kind in "iu":
            x = inputs[0]
        elif name in ("add", "subtract") and (known := number(inputs[1])) is not None:
            x, offset = inputs[0], offset + (known if name == "add" else -known)
        elif name == "add" and (known := number(inputs[0])) is not None:
            x, offset = inputs[1], offset + known
        else:
            break
    known = number(x)
    return (x, offset) if known is None else (None, known + offset)


def number(x: Any) -> int | None:
    """An integer that is known, and the same in all lanes."""
    if type(x) is int:
        return x
    kind = getattr(getattr(x, "dtype", None), "kind", "")
    if kind not in ("i", "u") or x.shape or type(x) is Lanes or not is_known(x):
        return None
    return int(x)
