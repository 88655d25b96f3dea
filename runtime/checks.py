"""Checks whose failure is a value of the program, not an exception: the machinery of `checkify`.

While a function is checked there is a `Ledger`.  Whatever can fail reports to it: a user's check,
an operation that makes a NaN or divides by zero, an index out of range.  What has failed so far is
a `Record`, one for each graph: the number of the first site that failed and the values for its
message.  `case_` and `while_` hand the records of their regions on, so control flow needs to know
nothing of checks.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from overt.runtime import dtypes
from overt.runtime.array import DeviceArray
from overt.runtime.aval import Aval, aval_of
from overt.runtime.carried import Spec, join, spec_of
from overt.runtime.dispatch import CHECKS, GRAPH
from overt.runtime.dual import Dual
from overt.runtime.lanes import Lanes
from overt.runtime.levels import new_level
from overt.runtime.masks import active_lanes
from overt.runtime.record import Recorded
from overt.runtime.tree import tree_flatten
from overt.runtime.undefined import Undefined

__all__ = ["Ledger", "Record", "Site", "checked", "leaving", "opened", "report", "watches"]

# Operations that hand numbers on as they are: a NaN among them was made elsewhere.
MOVES = frozenset(
    """_stopped astype bitcast broadcast_in concat concatenate conj convert diag diagonal exchange
    expand_dims fill flip fliplr flipud gather guard imag index_of_max index_of_min iota join
    matrix_transpose moveaxis over pad_with partition permute permute_dims pick ravel read_record
    real repeat_evenly reshape reshape_to retype reverse rollaxis rot90 scatter shifted slice_at
    sort sorted_along squeeze stack store store_at swapaxes take_along_axis tile transpose tril triu
    where write_record""".split()
)
# Which operand of an operation must not be zero.
DIVISIONS = {
    "divide": 1, "floor_divide": 1, "fmod": 1, "lax_div": 1, "lax_rem": 1, "reciprocal": 0,
    "remainder": 1,
}  # fmt: skip
LINES = 3  # how many of the user's lines a site keeps, the innermost first


class Site(NamedTuple):
    """A place where a check may fail: what is said then, and the lines of code that led there."""

    kind: str
    text: str  # a format
    definition: Any  # of the arguments of the format, whose leaves come when it has failed
    avals: tuple[Aval, ...]
    lanes: int  # how many of the leaves, the first ones, are indexes of lanes
    lines: tuple[tuple[str, int], ...]


class Record:
    """What has failed so far: the number of the first site, 0 if none, and the sites' values."""

    __slots__ = ("code", "values")

    def __init__(self) -> None:
        self.code: Any = 0
        self.values: dict[int, list[Any]] = {}

    def add(self, code: Any, values: dict[int, list[Any]]) -> None:
        """Something further has failed if `code` is not 0."""
        for n, new in values.items():
            old = self.values.get(n)
            if old is not None:
                first = self.code == n
                new = [np.where(first, x, y) for x, y in zip(old, new, strict=True)]
            self.values[n] = new
        nothing_yet = type(self.code) is int
        self.code = code if nothing_yet else np.where(self.code == 0, code, self.code)

    def items(self) -> Iterator[tuple[tuple[int, int], Any]]:
        """All its arrays with their places: (number of the site, which of its values)."""
        yield (0, 0), self.code
        for n in sorted(self.values):
            for i, x in enumerate(self.values[n]):
                yield (n, i), x


class Ledger:
    """The kinds of checks that are made while a function runs, and the sites met so far."""

    def __init__(self, kinds: frozenset[str], level: int, outer: Ledger | None):
        self.kinds, self.level, self.outer = kinds, level, outer
        self.numbers: dict[Site, int] = {}
        self.eager = Record()

    @property
    def every_kind(self) -> frozenset[str]:
        """The kinds that this one or one around it checks."""
        return self.kinds if self.outer is None else self.kinds | self.outer.every_kind

    def record(self) -> Record:
        """The record of the graph being staged, or of what runs at once."""
        graph = GRAPH.get()
        if graph is None:
            return self.eager
        return graph.records.setdefault(self, Record())

    def number(self, site: Site) -> int:
        return self.numbers.setdefault(site, len(self.numbers) + 1)

    def fail(
        self, failed: Any, kind: str, text: str, args: tuple = (), kwargs: Any = None,
        lines: tuple[tuple[str, int], ...] | None = None,
    ) -> None:  # fmt: skip
        """Note that a check fails where `failed`; the other arguments are for its message."""
        mask = active_lanes()
        leaves, definition = tree_flatten((args, kwargs or {}))
        if mask is not None:
            failed = mask & failed
        lanes, (failed, *leaves) = self.lowered(failed, leaves)
        leaves = [*lanes, *leaves]
        if failed is False or (type(failed) is DeviceArray and not bool(failed)):
            return
        avals = tuple(aval_of(x).strong() for x in leaves)
        lines = user_lines() if lines is None else lines
        n = self.number(Site(kind, text, definition, avals, len(lanes), lines))
        self.record().add(np.where(failed, np.int32(n), np.int32(0)), {n: leaves})

    def lowered(self, failed: Any, leaves: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """The values without the lanes of vmaps inside: those of the first lane that failed.

        First come the indexes of the lanes, the outermost first.
        """
        values = [failed, *(stop_gradient(x) for x in leaves)]
        found: list[Any] = []
        while levels := [x.level for x in values if self.is_inner(x)]:
            top = max(levels)
            first = values[0]
            k: Any = 0
            if type(first) is Lanes and first.level == top:
                k = np.argmax(first.value, axis=0)
                values[0] = np.any(first.value, axis=0)
            values[1:] = [
                x.value[k] if type(x) is Lanes and x.level == top else x for x in values[1:]
            ]
            found = [k, *[x.value[k] if self.at(x, top) else x for x in found]]
        return found, values

    def is_inner(self, x: Any) -> bool:
        return type(x) is Lanes and x.level > self.level

    def at(self, x: Any, level: int) -> bool:
        return type(x) is Lanes and x.level == level

    def absorb(self, code: Any, values: dict[int, list[Any]], sites: Sequence[Site]) -> None:
        """Note what another ledger found: its code, the values by its numbers, its sites."""
        numbers = list(values)
        flat = [code, *(x for n in numbers for x in values[n])]
        lanes, (_, code, *rest) = self.lowered(code != 0, flat)
        leaves, new, renumbered = iter(rest), {}, np.int32(0)
        for n in numbers:
            site = sites[n - 1]
            own = [next(leaves) for _ in values[n]]
            site = site._replace(lanes=site.lanes + len(lanes))
            mine = self.number(
                site._replace(avals=(*(aval_of(k).strong() for k in lanes), *site.avals))
            )
            new[mine] = [*lanes, *own]
            renumbered = np.where(code == n, np.int32(mine), renumbered)
        if new:
            self.record().add(renumbered, new)


@contextmanager
def opened(kinds: frozenset[str]) -> Iterator[Ledger]:
    """Check what runs in the block; its ledger."""
    with new_level() as level:
        ledger = Ledger(kinds, level, CHECKS.get())
        token = CHECKS.set(ledger)
        try:
            yield ledger
        finally:
            CHECKS.reset(token)


@contextmanager
def unchecked() -> Iterator[None]:
    """Check nothing in the block."""
    token = CHECKS.set(None)
    try:
        yield
    finally:
        CHECKS.reset(token)


def watches(kind: str) -> Ledger | None:
    """The innermost ledger for a kind of check."""
    ledger = CHECKS.get()
    while ledger is not None and kind not in ledger.kinds:
        ledger = ledger.outer
    return ledger


def report(kind: str, failed: Any, text: str, *args: Any, **kwargs: Any) -> bool:
    """Note a check of some kind; whether anyone asked for it."""
    ledger = watches(kind)
    if ledger is None:
        return False
    lines = user_lines()
    with unchecked():
        ledger.fail(failed, kind, text, args, kwargs, lines)
    return True


def report_index(index: Any, shape: tuple[int, ...], axis: int, size: int, wraps: bool) -> bool:
    """Note an index, or the start of a slice, if it is out of range; whether anyone asked for it.

    With `wraps`, negative ones count from the end.
    """
    if watches("index") is None:
        return False
    n = shape[axis]
    with unchecked():
        index = np.asarray(index)
        if not index.size:
            return True
        outside = np.ravel((index < (-n if wraps else 0)) | (index > n - size))
        bad, failed = np.ravel(index)[np.argmax(outside)], np.any(outside)
    text = f"out-of-bounds indexing for array of shape {shape}: index {{}} is out of bounds for "
    return report("index", failed, f"{text}axis {axis} with size {n}.", bad)


def user_lines() -> tuple[tuple[str, int], ...]:
    """(file, line) of the innermost frames that are not Overt's own; lines may be generated."""
    found: list[tuple[str, int]] = []
    frame = sys._getframe(1)
    while frame is not None and len(found) < LINES:
        module = str(frame.f_globals.get("__name__"))
        if not module.startswith(("overt.", "numpy.", "contextlib")):
            found.append((frame.f_code.co_filename, frame.f_lineno))
        frame = frame.f_back  # type: ignore[assignment]
    return tuple(found)


# ---- operations ----


def checked(function: Callable, operands: Sequence[Any], params: dict[str, Any]) -> Any:
    """Call a primitive or composite and look at what went in and came out; not at its steps."""
    name = function.__name__
    nan, division = watches("nan"), watches("div") if name in DIVISIONS else None
    with unchecked():
        result = function(*operands, **params)
        if division is not None:
            zero = any_of([x == 0 for x in values_of(operands[DIVISIONS[name]])])
            division.fail(zero, "div", "division by zero")
        if nan is not None and name not in MOVES:
            made = [v for x in tree_flatten(result)[0] for v in values_of(x) if has_nans(v)]
            if made:
                found = any_of([np.isnan(x) for x in made])
                nan.fail(found, "nan", f"nan generated by primitive: {name}.")
    return result


def values_of(x: Any) -> list[Any]:
    """A value below its derivatives; of a dual number, its tangent too."""
    if type(x) is Recorded:
        return values_of(x.primal)
    if type(x) is Dual:
        return [*values_of(x.primal), *values_of(x.tangent)]
    if type(x) is Selected:
        return [np.where(x.mask, x.whole, np.zeros((), x.dtype))]
    return [x]


def has_nans(x: Any) -> bool:
    """Whether a value is of a kind that has NaNs."""
    return hasattr(x, "aval") and x.size > 0 and dtypes.is_inexact(x.dtype)


def any_of(flags: Sequence[Any]) -> Any:
    """Whether any element of any flag is true, in each lane."""
    found = flags[0] if type(flags[0]) is bool else np.any(flags[0])
    for flag in flags[1:]:
        found = found | np.any(flag)
    return found


# ---- regions of control flow ----


class Carried:
    """Records of one ledger as they leave regions: as arrays."""

    def __init__(self, ledger: Ledger, regions: Sequence[Any]):
        self.ledger = ledger
        self.specs: dict[tuple[int, int], Spec] = {}
        self.sites: dict[int, None] = {}
        for region in regions:
            record = region.records.get(ledger, Record())
            self.sites |= dict.fromkeys(record.values)
            for place, x in record.items():
                spec = spec_of(x, numbers=True)
                known = self.specs.get(place)
                self.specs[place] = spec if known is None else join(known, spec)

    def avals(self) -> list[Aval]:
        """The avals of the arrays."""
        return [aval for spec in self.specs.values() for aval in spec.avals()]

    def arrays(self, record: Record | None = None) -> list[Any]:
        """A record, or an empty one, as arrays."""
        found = dict((record or Record()).items())
        with unchecked():
            return [
                a
                for place, spec in self.specs.items()
                for a in spec.decompose(found.get(place, Undefined))
            ]

    def composed(self, arrays: Sequence[Any]) -> Record:
        """A record from arrays."""
        leaves, made = iter(arrays), Record()
        made.values = {n: [] for n in self.sites}
        for (n, _), spec in self.specs.items():
            x = spec.compose(leaves)
            if n:
                made.values[n].append(x)
            else:
                made.code = x
        return made

    def after_iteration(self, before: Sequence[Any], record: Record | None) -> list[Any]:
        """What has failed before an iteration or else in it, as arrays."""
        if record is None:
            return list(before)
        merged = self.composed(before)
        with unchecked():
            merged.add(record.code, record.values)
        return self.arrays(merged)

    def arrived(self, arrays: Sequence[Any]) -> None:
        """The arrays are out of the regions: what failed there has failed here."""
        record = self.composed(arrays)
        with unchecked():
            self.ledger.record().add(record.code, record.values)


def leaving(regions: Sequence[Any]) -> list[Carried]:
    """The records to take out of regions, one of each ledger."""
    ledgers = dict.fromkeys(ledger for region in regions for ledger in region.records)
    return [Carried(ledger, regions) for ledger in ledgers]


from overt.runtime import numpy as np  # noqa: E402
from overt.runtime.lax import stop_gradient  # noqa: E402
from overt.runtime.numpy.selected import Selected  # noqa: E402
