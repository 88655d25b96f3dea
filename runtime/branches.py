"""`cond`: an `if` whose predicate may be symbolic or differ between lanes."""

from __future__ import annotations

import dis
import functools
from collections.abc import Callable, Sequence
from typing import Any

from overt.runtime.carried import join, spec_of, zeros
from overt.runtime.changes import changing_cond, has_objects
from overt.runtime.choice import choose
from overt.runtime.chosen_objects import (
    Reach,
    given_back,
    note_containers,
    note_joined,
    referred,
)
from overt.runtime.closures import captured_leaves
from overt.runtime.derivatives import NoCotangent
from overt.runtime.errors import StagingError
from overt.runtime.guards import guard
from overt.runtime.lanes import has_lanes
from overt.runtime.masks import active_lanes, any_lane, on_lanes
from overt.runtime.none_or import told_apart
from overt.runtime.predicates import both, negated, predicate
from overt.runtime.primitive import GRAPH
from overt.runtime.record import RECORDING, Recorded
from overt.runtime.regions import case_
from overt.runtime.setbacks import Changes, Unlike, describe
from overt.runtime.staging import Graph, is_known, run_in, set_outputs
from overt.runtime.tree import tree_leaves
from overt.runtime.undefined import UnsetVariable
from overt.runtime.unsure import Unsure, named

__all__ = ["cond"]


def cond(pred: Any, then: Callable, orelse: Callable, operands: Sequence[Any] = ()) -> Any:
    """`then(*operands)` if `pred` else `orelse(*operands)`.

    With a predicate that Python knows, one of them is called.  With a symbolic one both are staged
    and their results joined: numbers are promoted, what one side does not set gets a placeholder.
    With one that differs between lanes both run and each lane takes its side's results.

    Errors: TypeError naming the value whose types on the two sides have nothing in common.

    >>> cond(True, lambda x: x + 1, lambda x: x - 1, (3,))
    4
    """
    pred = predicate(pred)
    if type(pred) is bool:
        return then(*operands) if pred else orelse(*operands)
    if RECORDING.get() and has_objects(then, orelse, list(operands)):
        return changing_cond(chosen, pred, then, orelse, operands)
    try:
        return given_back(chosen(pred, then, orelse, operands))
    except Changes:
        pass
    return changing_cond(chosen, pred, then, orelse, operands)


def chosen(pred: Any, then: Callable, orelse: Callable, operands: Sequence[Any]) -> Any:
    if has_lanes(pred):
        return _by_lane(pred, then, orelse, operands)
    if RECORDING.get() and is_on_tape(then, orelse, operands):
        from overt.runtime.recorded_control import recorded_cond

        return recorded_cond(pred, then, orelse, operands)
    return _staged(pred, then, orelse, operands)


def is_on_tape(then: Callable, orelse: Callable, operands: Sequence[Any]) -> bool:
    """Whether a branch has recorded values to work on."""
    if any(type(x) is Recorded for x in tree_leaves(list(operands))):
        return True
    return any(captured_leaves(f, lambda x: type(x) is Recorded) for f in (then, orelse))


def _by_lane(pred: Any, then: Callable, orelse: Callable, operands: Sequence[Any]) -> Any:
    from overt.runtime.staged_builtins import require

    ours, theirs = told_apart(pred, operands)
    if not _some(pred):
        return orelse(*theirs)
    otherwise = negated(pred)
    if not _some(otherwise):
        return then(*ours)
    if any(isinstance(x, Recorded) for x in tree_leaves(list(operands))):
        ours, theirs = guard(pred, tuple(ours)), guard(otherwise, tuple(theirs))
    try:
        try:
            with on_lanes(pred):
                a = then(*ours)
        except UnsetVariable as error:
            require(otherwise, error)
            with on_lanes(otherwise):
                return orelse(*theirs)
        try:
            with on_lanes(otherwise):
                b = orelse(*theirs)
        except UnsetVariable as error:
            require(pred, error)
            return a
    except RecursionError:
        raise StagingError(
            "a function that calls itself until its values say so cannot be compiled for several "
            "lanes; end the recursion by a shape or a static argument, or write a loop"
        ) from None
    a, b = _unknown_alike(a, b), _unknown_alike(b, a)
    try:
        is_old = Reach(then, orelse, list(operands))
        one, other = referred(a, b, call_it, call_it, is_old)
        result = choose(pred, one, other)
        note_joined(one, other, result, is_old)
        note_containers(a, b, result, is_old)
        if type(result) is tuple and any(type(x) is Unsure for x in result):
            named(result, returned_names(then, len(result)))
        return result
    except Unlike as unlike:
        raise _mismatch(unlike, then, a) from None


def call_it(run: Callable[[], Any]) -> Any:
    return run()


def _some(mask: Any) -> bool:
    """Whether any lane may be on this path; False only if none is for certain."""
    outer = active_lanes()
    found = any_lane(mask if outer is None else both(mask, outer))
    return not is_known(found) or bool(found)


def _unknown_alike(a: Any, b: Any) -> Any:
    """`a` without the cotangents that `b` does not know: after the branch nobody knows them."""
    if type(b) is NoCotangent:
        return b
    if type(a) is tuple and type(b) is tuple and len(a) == len(b):
        found = tuple(_unknown_alike(x, y) for x, y in zip(a, b, strict=True))
        return a if all(x is y for x, y in zip(found, a, strict=True)) else found
    return a


def _staged(pred: Any, then: Callable, orelse: Callable, operands: Sequence[Any]) -> Any:
    graph = GRAPH.get()
    regions = Graph([], graph), Graph([], graph)
    ours, theirs = told_apart(pred, operands)
    try:
        try:
            b = run_in(regions[0], orelse, *theirs)
        except UnsetVariable as error:
            a = run_in(regions[1], then, *ours)
            return _one_side(pred, 1, regions[1], a, error)
        try:
            a = run_in(regions[1], then, *ours)
        except UnsetVariable as error:
            return _one_side(pred, 0, regions[0], b, error)
    except RecursionError:
        if graph is None or graph.parent is not None:
            raise
        pred.numbers("a condition that ends a recursion")
        raise
    a, b = _unknown_alike(a, b), _unknown_alike(b, a)
    if type(a) is tuple and type(b) is tuple and len(a) == len(b):
        # What neither side changes need not go through the branch.
        same = [x is y for x, y in zip(a, b, strict=True)]
    else:
        same = []
    is_old = Reach(then, orelse, list(operands))
    changed_a, changed_b = referred(
        _without(a, same),
        _without(b, same),
        functools.partial(run_in, regions[1]),
        functools.partial(run_in, regions[0]),
        is_old,
    )
    try:
        spec = join(spec_of(changed_a), spec_of(changed_b))
    except Unlike as unlike:
        raise _mismatch(unlike, then, a, same) from None
    for region, value in zip(regions, (changed_b, changed_a), strict=True):
        set_outputs(region, run_in(region, spec.decompose, value))
    joined = spec.compose_leaves(list(case_(pred, regions, spec.avals())))
    note_joined(changed_a, changed_b, joined, is_old)
    note_containers(_without(a, same), _without(b, same), joined, is_old)
    if not same:
        return joined
    if any(type(x) is Unsure for x in joined):
        names = returned_names(then, len(a)) or []
        named(joined, [n for n, kept in zip(names, same, strict=False) if not kept])
    changed = iter(joined)
    return tuple(x if kept else next(changed) for x, kept in zip(a, same, strict=True))


def _one_side(pred: Any, side: int, region: Graph, value: Any, error: UnsetVariable) -> Any:
    """The value of the one side that can be taken: the other reads a variable that is not set."""
    from overt.runtime.staged_builtins import require

    require(pred if side else negated(pred), error)
    spec = spec_of(value)
    blank = Graph([], GRAPH.get())
    set_outputs(region, run_in(region, spec.decompose, value))
    set_outputs(blank, run_in(blank, lambda: [zeros(aval) for aval in spec.avals()]))
    regions = (blank, region) if side else (region, blank)
    return spec.compose_leaves(list(case_(pred, regions, spec.avals())))


def _without(values: Any, same: list[bool]) -> Any:
    if not same:
        return values
    return tuple(x for x, kept in zip(values, same, strict=True) if not kept)


def _mismatch(
    unlike: Unlike, then: Callable, value: Any, same: list[bool] | None = None
) -> TypeError:
    path = unlike.path
    name = ""
    inner = getattr(then, "__wrapped__", None)
    if inner is not None and path:  # the result, and what objects hold
        place = [i for i in range(len(value)) if not (same and same[i])][path[0].idx]
        if place == 0:
            return _mismatch(Unlike(path[1:], unlike.one, unlike.other), inner, value[0])
        name, path = then.names[place - 1], path[1:]  # type: ignore[attr-defined]
        value = None
    if type(value) is tuple and path:
        place = path[0].idx
        kept = [i for i in range(len(value)) if not (same and same[i])]
        names = returned_names(then, len(value))
        name, path = names[kept[place]] if names else f"result {kept[place]}", path[1:]
    what = f"{name}{describe(path)}" or "the result"
    if unlike.one == unlike.other and unlike.one.startswith("an object of"):
        return TypeError(
            f"the two sides of a branch give {what} two different objects, each {unlike.one}, and "
            "which side is taken is known only when the program runs; choose between the numbers "
            "that they hold instead, or make the class a frozen dataclass"
        )
    return TypeError(
        f"the two sides of a branch give {what} different types: {unlike.one} and {unlike.other}; "
        "which side is taken is known only when the program runs"
    )


def returned_names(fn: Callable, count: int) -> list[str] | None:
    """The names in the tuple that a function returns last, if they are plain variables."""
    code = getattr(fn, "__code__", None)
    if code is None:
        return None
    names: list[Any] = []
    found = None
    for instruction in dis.get_instructions(code):
        if instruction.opname.startswith("LOAD_FAST") or instruction.opname == "LOAD_DEREF":
            value = instruction.argval
            names += value if isinstance(value, tuple) else [value]
        elif instruction.opname == "BUILD_TUPLE" and instruction.arg == count:
            found = names[-count:] if len(names) >= count else None
        elif instruction.opname != "RETURN_VALUE":
            names = []
    return found
