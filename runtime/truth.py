"""`and`, `or`, `not` and the ternary on values that may be symbolic or differ between lanes.

What stands behind the first operand comes as a function, so that it runs only where Python would
run it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from overt.runtime.array import Array
from overt.runtime.branches import cond
from overt.runtime.lanes import has_lanes
from overt.runtime.masks import on_lanes
from overt.runtime.predicates import Truth, both, either, is_asked, negated, predicate
from overt.runtime.primitive import GRAPH
from overt.runtime.staging import Graph, Symbolic, run_in
from overt.runtime.tree import tree_leaves
from overt.runtime.unsure import Unsure

__all__ = ["and_", "if_else", "not_", "or_"]


def and_(first: Any, *rest: Callable[[], Any]) -> Any:
    """`first and second and ...`, all but the first given as functions.

    >>> and_(0, lambda: 1 / 0)
    0
    """
    return _chain(first, rest, stops_at=False)


def or_(first: Any, *rest: Callable[[], Any]) -> Any:
    """`first or second or ...`, all but the first given as functions.

    >>> or_([], lambda: None, lambda: "last")
    'last'
    """
    return _chain(first, rest, stops_at=True)


def not_(x: Any) -> Any:
    """`not x`

    >>> not_([])
    True
    """
    return negated(predicate(x))


def if_else(test: Any, then: Callable[[], Any], orelse: Callable[[], Any]) -> Any:
    """`then() if test else orelse()`

    >>> if_else(2 > 1, lambda: "yes", lambda: 1 / 0)
    'yes'
    """
    return cond(test, then, orelse)


def _chain(value: Any, rest: tuple[Callable[[], Any], ...], stops_at: bool) -> Any:
    for later in rest:
        truth = predicate(value)
        if type(truth) is bool:
            if truth is stops_at:
                return value
            value = later()
        elif hasattr(type(value), "__overt_truth__") and not stops_at:
            some, value = value, _joined(truth, truth, later, stops_at)
            if not _is_flag(value):
                some.refuse("`xs and ...` may give the empty container", "write `if xs:`")
        else:
            value = _joined(truth, value, later, stops_at)
    return value


def _joined(truth: Any, value: Any, later: Callable[[], Any], stops_at: bool) -> Any:
    """`value` where its truth decides, else what `later` gives."""
    goes_on = negated(truth) if stops_at else truth
    if has_lanes(truth):
        with on_lanes(goes_on):
            other = later()
    else:
        done, other = _inline(later)
        if not done:
            return cond(goes_on, later, lambda: _if_it_decides(value, stops_at))
    if type(other) is Truth:
        other = other.flag
    if _is_flag(value) and _is_flag(other):
        return truth | other if stops_at else truth & other
    if is_asked(value) is not is_asked(other):
        flag = predicate(other)
        return Truth(either(truth, flag) if stops_at else both(truth, flag))
    return cond(goes_on, lambda: other, lambda: _if_it_decides(value, stops_at))


def _if_it_decides(value: Any, stops_at: bool) -> Any:
    """The operand of an `or` that is true is not None."""
    return value.value if stops_at and type(value) is Unsure and value.none else value


def _is_flag(x: Any) -> bool:
    if type(x) is Unsure:
        return False
    return type(x) is bool or isinstance(x, Array) and x.dtype == bool and not x.shape


def _inline(fn: Callable[[], Any]) -> tuple[bool, Any]:
    """Record a few simple operations where they are; anything that may loop or print is undone."""
    graph = GRAPH.get()
    if graph is None:
        return True, fn()
    region = Graph([], graph)
    value = run_in(region, fn)
    if (region.effect or region.capacities or region.records
            or any(node.regions for node in region.nodes)):  # fmt: skip
        return False, None
    graph.nodes += region.nodes
    for x in [*(i for node in region.nodes for i in node.inputs), *tree_leaves(value)]:
        if type(x) is Symbolic and x.graph is region:
            x.graph = graph
    return True, value
