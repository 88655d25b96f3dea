"""Applying derivative rules: the tangent, and the operands' cotangents, of one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from overt.runtime.derivatives import is_inexact, materialize, sum_to
from overt.runtime.parts import is_array
from overt.runtime.primitive import Rule
from overt.runtime.tree import tree_map

__all__ = ["has_rule", "operand_cotangents", "tangent"]


def has_rule(rule: Rule) -> bool:
    """Whether a function declares its derivative."""
    return rule.zero or rule.linear or rule.vjp is not None or rule.jvp is not None


def require_rule(rule: Rule) -> None:
    """Refuse a function without derivative."""
    if not has_rule(rule):
        name = "io_callback" if rule.name == "host_callback" else rule.name
        raise NotImplementedError(
            f"{name} has no derivative rule; define one with custom_jvp or custom_vjp, or "
            "keep its arguments constant with stop_gradient"
        )


def operand_cotangents(
    rule: Rule, fn: Callable, g: Any, out: Any, operands: Sequence[Any], params: dict, wanted: list
) -> list[Any]:
    """The cotangent of each operand from that of the result; None where not wanted or zero."""
    require_rule(rule)
    if rule.zero:
        return [None] * len(operands)
    if rule.vjp is None:
        return _transposed(rule, fn, g, out, operands, params, wanted)
    if callable(rule.vjp):  # one function for any number of operands
        bars = rule.vjp(g, out, *operands, **params)
    else:
        bars = [
            vjp(g, out, *operands, **params) if vjp is not None and use else None
            for vjp, use in zip(rule.vjp, wanted, strict=True)
        ]
    return [
        _fitted(bar, x) if use else None for bar, x, use in zip(bars, operands, wanted, strict=True)
    ]


def _fitted(bar: Any, x: Any) -> Any:
    if isinstance(x, (list, tuple, dict)):
        if bar is None:
            return None
        if is_array(bar):  # of the array that the function made of the list
            return materialize(bar, x)
        return tree_map(lambda part, b: sum_to(b, part), x, bar)
    return sum_to(bar, x)


def _transposed(
    rule: Rule, fn: Callable, g: Any, out: Any, operands: Sequence[Any], params: dict, wanted: list
) -> list[Any]:
    """Cotangents from a function's jvp, which is linear in the tangents."""
    from overt.runtime.record import vjp_call

    places = [i for i, use in enumerate(wanted) if use]

    def forward(*given: Any) -> Any:
        dots: list[Any] = [None] * len(operands)
        for i, dot in zip(places, given, strict=True):
            dots[i] = dot
        return tangent(rule, fn, dots, out, operands, params)

    _, pullback = vjp_call(forward, *(zeros(operands[i]) for i in places))
    bars: list[Any] = [None] * len(operands)
    if type(g) is tuple and hasattr(out, "_make"):  # named tuples are told apart by their class
        g = out._make(g)
    for i, bar in zip(places, pullback(g), strict=True):
        bars[i] = bar
    return bars


def zeros(x: Any) -> Any:
    """Zeros for every array in a tree, integers included."""
    from overt.runtime import numpy as np

    return tree_map(np.zeros_like, x)


def _full(dot: Any, x: Any) -> Any:
    """A tangent with zeros for what has none, integers in a list of arrays included."""
    if dot is None:
        return zeros(x)
    if isinstance(x, (list, tuple)):
        return [_full(d, item) for d, item in zip(dot, x, strict=True)]
    return dot


def tangent(
    rule: Rule, fn: Callable, dots: Sequence[Any], out: Any, operands: Sequence[Any], params: dict
) -> Any:
    """The tangent of the result from those of the operands (None is zero)."""
    require_rule(rule)
    if rule.zero or all(dot is None for dot in dots):
        return None
    if rule.jvp is not None:
        return rule.jvp(_materialized(dots, operands), out, *operands, **params)
    if rule.linear:
        return fn(*map(_full, dots, operands), **params)
    if rule.elementwise:
        total = None
        for vjp, dot in zip(rule.vjp, dots, strict=True):
            if vjp is not None and dot is not None:
                part = sum_to(vjp(sum_to_shape_of(dot, out), out, *operands, **params), out)
                total = part if total is None else total + part
        return total
    return _untransposed(rule, fn, dots, out, operands, params)


def _materialized(dots: Sequence[Any], operands: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(materialize(dot, x) for dot, x in zip(dots, operands, strict=True))


def sum_to_shape_of(dot: Any, out: Any) -> Any:
    """A tangent repeated along the axes that broadcasting adds to it."""
    from overt.runtime import numpy as np

    return dot if getattr(dot, "shape", ()) == out.shape else np.broadcast_to(dot, out.shape)


def _untransposed(
    rule: Rule, fn: Callable, dots: Sequence[Any], out: Any, operands: Sequence[Any], params: dict
) -> Any:
    """The tangent from a function's vjp: that is linear in the cotangent, so transpose it."""
    from overt.runtime.record import vjp_call

    wanted = [dot is not None for dot in dots]

    def backward(g: Any) -> Any:
        bars = operand_cotangents(rule, fn, g, out, operands, params, wanted)
        triples = zip(bars, operands, wanted, strict=True)
        return [materialize(bar, x) for bar, x, use in triples if use]

    _, pullback = vjp_call(backward, zeros_of_result(out))
    (out_dot,) = pullback([dot for dot in dots if dot is not None])
    return out_dot


def zeros_of_result(out: Any) -> Any:
    """A zero cotangent of a result; None for its integer parts."""
    return (
        tuple(map(zeros_of_result, out))
        if isinstance(out, tuple)
        else (zeros(out) if is_inexact(out) else None)
    )
