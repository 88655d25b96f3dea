"""Branches and loops of a staged program whose values are recorded: one entry on the tape each.

A region's values exist only inside it, so the tape cannot hold them.  The pullback of a branch runs
the taken side again; that of a loop goes backwards through the saved carries.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from overt.runtime.chosen_objects import Reach, taken_new
from overt.runtime.closures import Captures, Holding, captured_leaves, frozen, hidden_leaves
from overt.runtime.derivatives import add, is_inexact, materialize, zeros_like_tree
from overt.runtime.either import bars_of_side, opened
from overt.runtime.joined_values import note_copy
from overt.runtime.loop_items import EnumeratedItems, Items, loop_zip
from overt.runtime.loops import Loop
from overt.runtime.none_or import told_in
from overt.runtime.one_of import pieces
from overt.runtime.parts import is_array
from overt.runtime.record import Recorded, Tape, vjp_call
from overt.runtime.saved import Saved
from overt.runtime.saved_cotangents import counted_once, leaf_cotangents
from overt.runtime.setbacks import HoldsValues
from overt.runtime.tree import tree_flatten, tree_leaves, tree_map
from overt.runtime.unsure import RECORDED
from overt.runtime.world import Held, attributes_of, is_users_object

__all__ = ["is_recorded", "recorded_cond", "recorded_loop", "top_tape"]


def top_tape(values: Iterable[Any]) -> Tape | None:
    """The innermost tape that some of the values are on."""
    found = [x.tape for x in values if type(x) is Recorded]
    return max(found, key=lambda tape: tape.level, default=None)


def recorded_cond(pred: Any, then: Callable, orelse: Callable, operands: Sequence[Any]) -> Any:
    """`cond` on recorded operands."""
    from overt.runtime.branches import chosen

    seen = [*captured_leaves(then, is_recorded), *captured_leaves(orelse, is_recorded)]
    seen += hidden_leaves(operands, is_recorded)
    tape = top_tape([*tree_leaves(list(operands)), *seen])
    assert tape is not None
    captures = Captures([x for x in seen if tape.owns(x)])

    def side(fn: Callable, where: bool) -> Callable:
        held, is_old = _Opaque(fn), Reach(fn, operands)

        def run(given: Any, inner: Any) -> Any:
            function, arguments = captures.replaced((held.value, given), inner)
            copies = tree_map(lambda x: x, arguments)  # to read a `defaultdict` may change it
            return opened(taken_new(function(*told_in(pred, where, copies)), is_old))

        setattr(run, "__overt_reach__", (fn, operands))  # noqa: B010
        return run

    inputs = (captures.marked(tuple(operands)), captures.values)
    primals = tree_map(tape.primal, inputs)
    with tape.paused():
        out = chosen(pred, side(then, True), side(orelse, False), primals)
    again = side(frozen(then), True), side(frozen(orelse), False)

    def pullback(out_bar: Any) -> Any:
        def back(run: Callable) -> Callable:
            return lambda given, inner, g: _cotangents(run, (given, inner), g)

        return chosen(pred, back(again[0]), back(again[1]), (*primals, out_bar))

    return _noted(tape, inputs, out, pullback)


class _Opaque(Holding):
    """Holds one function."""

    def __init__(self, value: Callable):
        self.value = value

    def frozen(self, made: dict[int, Any]) -> _Opaque:
        return _Opaque(frozen(self.value, made))


def _cotangents(fn: Callable, primals: tuple, out_bar: Any) -> list[Any]:
    out, pull = vjp_call(fn, *primals)
    leaves, definition = tree_flatten(out)
    bars = definition.flatten_up_to(bars_of_side(out, out_bar))
    gs = definition.unflatten(
        materialize(g if is_inexact(x) else None, x) for g, x in zip(bars, leaves, strict=True)
    )
    return _leaves(pull(gs), primals)


def is_recorded(x: Any) -> bool:
    """Whether a value is on a tape."""
    return type(x) is Recorded


def _leaves(bars: Any, like: Any) -> list[Any]:
    return leaf_cotangents(like, bars)


def _noted(tape: Tape, inputs: Any, out: Any, pullback: Callable) -> Any:
    """The result as recorded values, with one entry on the tape."""
    results, definition = tree_flatten(out)

    def pull(gs: list[Any]) -> list[Any]:
        # Integers stay, so that a Saved of cotangents still knows its length.
        pairs = zip(gs, results, strict=True)
        filled = [materialize(g, x) if is_inexact(x) else x for g, x in pairs]
        return pullback(definition.unflatten(filled))

    made = definition.unflatten(tape.record(results, tree_leaves(inputs), pull))
    note_copy(out, made)
    return made


def recorded_loop(loop: Loop, carry: tuple, tape: Tape, run: Callable) -> tuple:
    """A loop on recorded values; `run(loop, carry)` runs the one it is turned into."""
    seen = [x for f in (loop.fn, loop.test) if f for x in captured_leaves(f, is_recorded)]
    arrays = [x for x in ([] if loop.items is None else loop.items.arrays()) if tape.owns(x)]
    captures = Captures([x for x in (*seen, *arrays) if tape.owns(x)])
    inputs = (carry, captures.values)
    start, inner = tree_map(tape.primal, inputs)
    is_saved = [type(x) is Saved for x in carry]
    turned = _Iteration(loop.fn, loop.items, captures, is_saved)
    again = _Iteration(frozen(loop.fn), loop.items, captures, is_saved)

    def body(i: Any, *state: Any) -> tuple:
        *values, passed = state
        plain = turned.plain(values)
        new, records = turned.run(i, plain, inner)
        pairs = zip(turned.saved(values), records, strict=True)
        longer = [saved.pushed(record) for saved, record in pairs]
        return *turned.merged(new, longer), passed.pushed(i, plain)

    def test(*state: Any) -> Any:
        assert loop.test is not None
        return captures.replaced(loop.test, inner)(*state[:-1])

    items = turned.items_with(inner)
    if items is None:
        forward = Loop(lambda *state: body(None, *state), test=test, until=loop.until)
    else:
        # The position counts for all lanes alike, so it is no variable of the loop.
        numbered = EnumeratedItems(items, 0)
        forward = Loop(lambda item, *state: body(item[0], *state), None, numbered, loop.until)
    forward.of = loop
    with tape.paused():
        copies = tree_map(lambda x: x, start)  # to read a `defaultdict` may change it
        *out, passed = run(forward, (*copies, Saved()))
    refuse_new_holders(turned.plain(out), start)

    def pullback(out_bar: Any) -> list[Any]:
        from overt.runtime.control import for_loop

        def back(item: Any, bars: Any, inner_bars: Any) -> tuple:
            (i, values), *record_bars = item
            result, pull = vjp_call(lambda v, given: again.run(i, v, given), values, inner)
            values_bar, more = pull(_only_floats((bars, record_bars), result))
            return _only_floats(values_bar, values), add(inner_bars, more)

        first = _only_floats(turned.plain(out_bar), turned.plain(out)), zeros_like_tree(inner)
        record_bars = [counted_once(saved).reversed() for saved in turned.saved(out_bar)]
        bars, inner_bars = for_loop(loop_zip(passed.reversed(), *record_bars), back, first)
        unchanged = [tree_map(lambda _: None, saved) for saved in turned.saved(start)]
        start_bars = bars_of_side(start, turned.merged(bars, unchanged))
        return [*_leaves(start_bars, start), *_leaves(inner_bars, inner)]

    return _noted(tape, inputs, tuple(out), pullback)


def refuse_new_holders(out: tuple, start: tuple) -> None:
    """Errors: HoldsValues, if the loop has made functions or objects with values of its own."""
    before = {id(x) for x in map(unwrapped, tree_leaves(start))}
    made = [x for x in map(unwrapped, tree_leaves(out)) if id(x) not in before]
    for x in made:
        if any(map(is_inexact, values_within(x, set()))):
            what = "functions" if callable(x) else f"objects of the class {type(x).__name__}"
            raise HoldsValues(
                f"a loop makes {what} that hold values being differentiated, and how often it runs "
                "is known only when the program runs"
            )


def unwrapped(x: Any) -> Any:
    """An object without the stand-in that counts by its identity."""
    return x.value if type(x) is Held else x


def values_within(x: Any, seen: set[int]) -> list[Any]:
    """The arrays and numbers that a function or an object, no array itself, leads to."""
    if id(x) in seen or is_array(x):
        return []
    seen.add(id(x))
    whole = is_users_object(x) and not isinstance(x, types.FunctionType)
    found = [*attributes_of(x).values()] if whole else pieces(x)
    inner = [y for part in found for y in values_within(part, seen)]
    return [*filter(is_array, found), *inner]


class _Iteration(Holding):
    """One iteration as a function of values and captures, which returns what it pushes."""

    def __init__(self, fn: Callable, items: Items | None, captures: Captures, is_saved: list[bool]):
        self.fn, self.items, self.captures, self.is_saved = fn, items, captures, is_saved

    def frozen(self, made: dict[int, Any]) -> _Iteration:
        return _Iteration(frozen(self.fn, made), self.items, self.captures, self.is_saved)

    def plain(self, carry: Sequence[Any]) -> tuple:
        """The carried values other than `Saved`."""
        return tuple(x for x, kept in zip(carry, self.is_saved, strict=True) if not kept)

    def saved(self, carry: Sequence[Any]) -> list[Any]:
        """The `Saved` among the carried values."""
        return [x for x, kept in zip(carry, self.is_saved, strict=True) if kept]

    def merged(self, plain: Sequence[Any], saved: Sequence[Any]) -> tuple:
        """All carried values in their places."""
        values, kept = iter(plain), iter(saved)
        return tuple(next(kept) if is_saved else next(values) for is_saved in self.is_saved)

    def items_with(self, given: Sequence[Any]) -> Items | None:
        """What the loop iterates over, with captured arrays replaced."""
        return None if self.items is None else self.items.replaced(self.captures.given(given))

    def run(self, i: Any, plain: tuple, given: Sequence[Any]) -> tuple[tuple, list[Any]]:
        """The next values, and the record that each `Saved` gets."""
        items = self.items_with(given)
        same = Loop(self.captures.replaced(self.fn, given), items=items)
        fresh = [Saved() for kept in self.is_saved if kept]
        token = RECORDED.set(True)
        try:
            out = same.body(None if items is None else items.item(i), self.merged(plain, fresh))
        finally:
            RECORDED.reset(token)
        if any(saved.length != 1 for saved in self.saved(out)):
            raise NotImplementedError("a staged loop must add one record an iteration to its Saved")
        return self.plain(out), [saved.store[0] for saved in self.saved(out)]


def _only_floats(bars: Any, values: Any) -> Any:
    """Cotangents with None for what has no derivative and zeros for what has none yet."""
    leaves, definition = tree_flatten(values)
    try:
        parts = definition.flatten_up_to(bars)
    except ValueError:  # a `defaultdict` has items by now that the values did not have
        parts = definition.flatten_up_to(materialize(bars, values))
    return definition.unflatten(
        materialize(bar if is_inexact(x) else None, x) for bar, x in zip(parts, leaves, strict=True)
    )
