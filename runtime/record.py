"""Reverse mode at run time, for functions that have no derivative rule: record, then go back.

Source transformation differentiates the user's functions; this serves what they call.  Operations
on `Recorded` values are noted on a tape with their operands; the pullback reads it backwards and
applies the rules, which are ordinary code, so it can be differentiated again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from overt.runtime.array import Array
from overt.runtime.aval import aval_of
from overt.runtime.derivatives import NoCotangent, add, is_inexact, materialize
from overt.runtime.differentiation import has_rule, operand_cotangents
from overt.runtime.errors import OvertError
from overt.runtime.interop import as_array, snapshot
from overt.runtime.levels import new_level
from overt.runtime.parts import is_array, with_aux
from overt.runtime.primitive import Composite, Primitive, Rule
from overt.runtime.tree import tree_flatten

__all__ = ["Recorded", "vjp_call"]


# What Python may ask of a value under differentiation: the answers have no derivative.
DISCRETE = ("bool()", "int()", "an index")


RECORDING: ContextVar[int] = ContextVar("overt_recording", default=0)  # how many tapes there are


class Entry(NamedTuple):
    """One recorded call: where its results and operands are on the tape, and its pullback."""

    results: list[int | None]
    operands: list[int | None]
    pullback: Callable[[list[Any]], Sequence[Any]]


class Tape:
    """The calls of one level, in order."""

    __slots__ = ("level", "linear", "entries", "count", "pauses", "rules", "finished")

    def __init__(self, level: int, linear: bool = False):
        self.level = level
        self.linear = linear  # whether what is recorded is promised to be linear
        self.entries: list[Entry] = []
        self.count = 0
        self.pauses = self.rules = 0
        self.finished = False

    @contextmanager
    def paused(self) -> Iterator[None]:
        """While a region is staged, whose values must not get here."""
        self.pauses += 1
        try:
            yield
        finally:
            self.pauses -= 1

    @contextmanager
    def bygone(self) -> Iterator[None]:
        """Compute with values of this tape after it has ended, without their derivative.

        It is for the rule of a function that has captured such values.
        """
        self.rules += 1
        try:
            yield
        finally:
            self.rules -= 1

    def variable(self, primal: Any) -> Recorded:
        """A new value on this tape."""
        self.count += 1
        return Recorded(primal, self, self.count - 1)

    def record(self, results: Sequence[Any], operands: Sequence[Any], pullback: Callable) -> list:
        """Note a call; its results as recorded values (integers as they are)."""
        if self.finished:
            if self.rules:
                return list(results)
            raise OvertError(
                "a value is used after the function that it was differentiated in has returned: it "
                "was kept in a variable outside or in a result that is not a container of arrays"
            )
        if self.pauses:
            raise NotImplementedError(
                "a branch or loop of a staged program uses a value under differentiation that is "
                "neither one of its operands nor captured directly; pass it as an operand"
            )
        wrapped = [self.variable(out) if is_inexact(out) else out for out in results]
        places = [out.index if self.owns(out) else None for out in wrapped]
        if any(place is not None for place in places):
            indexes = [x.index if self.owns(x) else None for x in operands]
            self.entries.append(Entry(places, indexes, pullback))
        return wrapped

    def owns(self, x: Any) -> bool:
        """Whether a value was recorded here."""
        return type(x) is Recorded and x.tape is self

    def primal(self, x: Any) -> Any:
        """The value below this level."""
        return x.primal if type(x) is Recorded and x.tape is self else x

    def pull(self, bars: dict[int, Any]) -> dict[int, Any]:
        """Cotangents of all variables from those of the results; `bars` is used up."""
        for entry in reversed(self.entries):
            gs = [None if i is None else bars.pop(i, None) for i in entry.results]
            if all(g is None for g in gs):
                continue
            unknown = next((g for g in gs if type(g) is NoCotangent), None)
            made = [unknown] * len(entry.operands) if unknown else entry.pullback(gs)
            for i, bar in zip(entry.operands, made, strict=True):
                if i is not None and bar is not None:
                    bars[i] = add(bars.get(i), bar)
        return bars


class Differentiated(Array):
    """A value under differentiation, whose `call` applies a function by its derivative rule."""

    __slots__ = ()
    primal: Any
    transparent = True

    def call(self, rule: Rule, fn: Callable, operands: Sequence[Any], params: dict) -> Any:
        """Call a function of operands of which some are such values."""
        raise NotImplementedError

    def handle(self, primitive: Primitive, operands: Sequence[Any], params: dict) -> Any:
        """Apply a primitive by its rule."""
        return self.call(primitive.rule, primitive, operands, params)

    def handle_composite(self, function: Composite, operands: Sequence[Any], static: dict) -> Any:
        """Apply a composite by its rule; one without rule runs its body on such values."""
        if not has_rule(function.rule):
            return NotImplemented
        return self.call(function.rule, _positional(function), operands, static)

    def concrete(self, purpose: str) -> Any:
        if purpose in DISCRETE:
            return as_array(self.primal).concrete(purpose)
        raise TypeError(
            f"{purpose} of a value that is being differentiated ({self.aval}) would lose its "
            "derivative; apply stop_gradient first"
        )


class Recorded(Differentiated):
    """A value whose use is noted on a tape."""

    __slots__ = ("primal", "tape", "index", "level", "aval")

    def __init__(self, primal: Any, tape: Tape, index: int):
        self.primal = primal
        self.tape = tape
        self.index = index
        self.level = tape.level
        self.aval = aval_of(primal)

    def call(self, rule: Rule, fn: Callable, operands: Sequence[Any], params: dict) -> Any:
        """Call a function of the primals and note it."""
        return _recorded_call(self.tape, rule, fn, operands, params)

    def __str__(self) -> str:
        return str(self.primal)

    def __repr__(self) -> str:
        """That of the value: a text of it may be used as one."""
        return repr(self.primal)


def _positional(function: Composite) -> Callable:
    names = function.arrays

    def call(*operands: Any, **static: Any) -> Any:
        return function(**dict(zip(names, operands, strict=True)), **static)

    return call


def _recorded_call(
    tape: Tape, rule: Rule, fn: Callable, operands: Sequence[Any], params: dict
) -> Any:
    leaves, definition = tree_flatten(tuple(operands))
    primals = definition.unflatten(snapshot(tape.primal(x)) for x in leaves)
    out = fn(*primals, **params)
    if rule.zero:
        return out
    many = isinstance(out, (tuple, list))
    wanted = [any(map(tape.owns, tree_flatten(x)[0])) for x in operands]

    def pullback(gs: list[Any]) -> list[Any]:
        g = tuple(map(materialize, gs, out)) if many else gs[0]
        bars = operand_cotangents(rule, fn, g, out, primals, params, wanted)
        return operand_leaves(bars, operands)

    results = tape.record(list(out) if many else [out], leaves, pullback)
    # named tuples are built by _make
    return getattr(out, "_make", type(out))(results) if many else results[0]


def operand_leaves(bars: list[Any], operands: Sequence[Any]) -> list[Any]:
    """The cotangents of all leaves of the operands, in order; a None stands for a whole operand."""
    from overt.runtime.saved_cotangents import leaf_cotangents

    leaves: list[Any] = []
    for bar, operand in zip(bars, operands, strict=True):
        leaves += [bar] if is_array(operand) else leaf_cotangents(operand, bar)
    return leaves


def vjp_call(
    fn: Callable,
    *primals: Any,
    has_aux: bool = False,
    after: Callable[[Tape, Any], None] | None = None,
    linear: bool = False,
) -> Any:
    """Run `fn(*primals)`; its result, and the function from its cotangent to those of `primals`.

    Arguments and result are trees.  Cotangents come back with zeros for floats and None for
    integers.  With `has_aux`, `fn` returns (result, aux), and aux comes last here.  `after`
    is called with the tape and the result once `fn` has returned.  A function that is `linear` is
    transposed as it stands: rules for its derivatives are not asked.

    >>> from overt.runtime import numpy as np
    >>> out, pullback = vjp_call(lambda x: np.sin(x) * x, np.array(0.0))
    >>> float(pullback(1.0)[0])
    0.0
    """
    from overt.runtime.saved_cotangents import bookkeeping, leaf_cotangents, records_counted_once

    leaves, definition = tree_flatten(primals)
    with new_level() as level:
        tape = Tape(level, linear)
        inputs = [tape.variable(x) if is_inexact(x) else x for x in leaves]
        token = RECORDING.set(RECORDING.get() + 1)
        try:
            out = fn(*definition.unflatten(inputs))
        finally:
            RECORDING.reset(token)
        tape.finished = True
    if after is not None:
        after(tape, out)
    aux = None
    if has_aux:
        out, aux = with_aux(out)
        aux = _without_tape(tape, aux)
    results, out_definition = tree_flatten(out)
    for x in results:
        if hasattr(type(x), "compacted"):  # it holds values of this tape
            x.refuse("the derivative of a function that gives x[mask]")
    kept = bookkeeping(primals)

    def pullback(out_bar: Any) -> tuple[Any, ...]:
        bars: dict[int, Any] = {}
        for result, bar in zip(results, leaf_cotangents(out, out_bar), strict=True):
            if tape.owns(result) and bar is not None:
                bars[result.index] = add(bars.get(result.index), _fit_cotangent(bar, result))
        bars = tape.pull(bars)
        input_bars = [bars.get(x.index) if tape.owns(x) else None for x in inputs]
        found = definition.unflatten(
            leaf if i in kept else materialize(bar, leaf)
            for i, (bar, leaf) in enumerate(zip(input_bars, leaves, strict=True))
        )
        return tuple(records_counted_once(found) if kept else found)

    primal_out = out_definition.unflatten(map(tape.primal, results))
    return (primal_out, pullback, aux) if has_aux else (primal_out, pullback)


def _fit_cotangent(bar: Any, result: Recorded) -> Any:
    if (shape := getattr(bar, "shape", ())) != result.shape:
        raise ValueError(
            f"the cotangent has shape {shape}, but the result it belongs to has {result.shape}"
        )
    return bar


def _without_tape(tape: Tape, tree: Any) -> Any:
    leaves, definition = tree_flatten(tree)
    return definition.unflatten(map(tape.primal, leaves))
