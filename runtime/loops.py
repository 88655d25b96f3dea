"""Loops executed in Python, iteration by iteration; symbolic or lane-wise conditions mask them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

from overt.runtime.array import Array
from overt.runtime.closures import Captures, captured_leaves
from overt.runtime.dispatch import CHECKS
from overt.runtime.errors import StagingError
from overt.runtime.escape import BY_SOURCE, Escape
from overt.runtime.lanes import has_lanes
from overt.runtime.loop_items import Items, PartItems
from overt.runtime.masks import active_lanes, any_lane, on_lanes
from overt.runtime.places import users_line
from overt.runtime.predicates import both, negated, predicate
from overt.runtime.record import RECORDING
from overt.runtime.rollback import Mark
from overt.runtime.saved import Saved
from overt.runtime.setbacks import (
    AHEAD,
    Changes,
    Differing,
    NewObjects,
    Unlike,
    describe,
)
from overt.runtime.staging import is_known
from overt.runtime.undefined import Undefined

__all__ = ["Loop", "run_in_python"]


class Loop:
    """A `while` loop (`test`) or a `for` loop (`items`), with its body and what it carries."""

    def __init__(
        self,
        body: Callable,
        test: Callable | None = None,
        items: Items | None = None,
        until: int | None = None,
    ):
        names = parameter_names(body)
        self.fn = body
        self.names = names if items is None or names is None else names[1:]
        self.bare = self.names is not None and len(self.names) == 1
        self.test, self.items, self.until = test, items, until
        self.of: Loop | None = None  # the user's, if this is a form of it

    def body(self, item: Any, carry: tuple) -> tuple:
        """One iteration."""
        out = self.fn(*carry) if self.items is None else self.fn(item, *carry)
        if self.bare:
            return (out,)
        if out is None and not carry:
            return ()
        if not isinstance(out, (tuple, list)) or len(out) != len(carry):
            raise TypeError(f"{self.where()}: the body must return the {len(carry)} carried values")
        return tuple(out)

    def with_body(self, body: Callable) -> Loop:
        """The loop with another body, which is what a change of its captured values makes."""
        if body is self.fn:
            return self
        made = Loop(body, self.test, self.items, self.until)
        made.of = self.of or self
        return made

    def asked(self, values: Sequence[Any]) -> Any:
        """What the test says. Errors: AskingChanges, if it would change an object."""
        assert self.test is not None
        token = AHEAD.set(True)
        try:
            return predicate(self.test(*values))
        finally:
            AHEAD.reset(token)

    def functions(self) -> tuple[Callable, Callable | None]:
        """The body and the test of the user's loop."""
        return (self.fn, self.test) if self.of is None else self.of.functions()

    def rest(self) -> Loop:
        """The loop after its first iteration."""
        if self.items is None:
            return self
        return Loop(self.fn, self.test, PartItems(self.items, start=1), self.until)

    def where(self) -> str:
        """The place of the loop, for messages."""
        if self.of is not None:
            return self.of.where()
        code = getattr(self.fn, "__code__", None)
        if code is None:
            return "loop"
        file, line = users_line(code.co_filename, code.co_firstlineno)
        return f"loop at {file}:{line}"

    def name(self, position: int) -> str:
        """The name of a carried variable."""
        if self.of is not None:
            return self.of.name(position)
        if self.names is not None and position < len(self.names):
            return repr(self.names[position])
        return f"number {position}"

    def mismatch(self, position: int, unlike: Unlike) -> TypeError:
        """The error of a variable that is of another kind after an iteration."""
        instead = ""
        if unlike.one.startswith("list of") and unlike.other.startswith("list of"):
            instead = (
                ". Bound the number of iterations (`for _ in range(n)` with `break`), or store "
                "into an array of fixed size and count"
            )
        if unlike.one[:1] in ("'", '"'):
            instead = (
                ". A text that grows has no end here: bound the number of iterations "
                "(`for _ in range(n)` with `break`), or count in numbers what it is made of"
            )
        return (NewObjects if unlike.is_of_objects() else TypeError)(
            f"{self.where()}: variable {self.name(position)}{describe(unlike.path)} is "
            f"{unlike.one} before an iteration and {unlike.other} after it; a loop whose number of "
            f"iterations is known only when the program runs must keep the types of its variables"
            f"{instead}"
        )


def parameter_names(fn: Callable) -> list[str] | None:
    """Names of positional parameters; None where there may be any number."""
    code = getattr(fn, "__code__", None)
    if code is not None and not code.co_flags & inspect.CO_VARARGS:
        bound = int(inspect.ismethod(fn))
        return list(code.co_varnames[bound : code.co_argcount])
    try:
        parameters = inspect.signature(fn).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return None
    return [p.name for p in parameters if p.kind is not p.KEYWORD_ONLY]


def run_in_python(loop: Loop, carry: tuple) -> tuple:
    """Run a loop iteration by iteration."""
    run = _run_while if loop.items is None else _run_for
    if loop.until is None or loop.items is not None and (loop.items.by_lane or not is_short(loop)):
        return run(loop, carry)
    mark = Mark()
    try:
        return run(loop, carry)
    except Differing:
        raise
    except (StagingError, TypeError):  # it may need what Python knows as long as the loop goes on
        if any(type(x) is Saved for x in carry):
            if loop.of is not None:
                raise Differing("a loop changes what its variables are") from None
            if BY_SOURCE.get():
                raise Escape(
                    None, "what a loop computes is known as long as data goes on"
                ) from None
            raise
        mark.restore()
        return _run_nested(loop, carry)


def _run_nested(loop: Loop, carry: tuple) -> tuple:
    """A loop that a flag ends as branches within branches: what is not ended goes on.

    So what Python knows of variables it knows until the loop ends.
    """
    from overt.runtime.branches import cond

    until = loop.until
    assert until is not None
    # What the body has captured goes along, since branches may be recorded or taken apart.
    functions = [f for f in (loop.fn, loop.test) if f]
    captures = Captures(captured_leaves(functions, lambda x: isinstance(x, Array)))

    def rest(values: tuple, items: list[Any], given: list[Any]) -> tuple:
        turned = loop.with_body(captures.replaced(loop.fn, given))
        turned.test = captures.replaced(loop.test, given)
        for i, item in enumerate(items):
            if turned.test is not None and not goes_on(turned, values):
                break
            values = turned.body(item, values)
            stopped = predicate(values[until])
            if stopped is True:
                break
            values = (*values[:until], False, *values[until + 1 :])
            if type(stopped) is not bool and i + 1 < len(items):
                return cond(stopped, ended, rest, (values, items[i + 1 :], given))
        else:
            if loop.items is None:
                raise _not_staged(loop)
        return values

    def ended(values: tuple, *_: Any) -> tuple:
        return (*values[:until], True, *values[until + 1 :])

    return rest(carry, list(loop.items or [None] * SHORT), captures.values)


def goes_on(loop: Loop, values: tuple) -> bool:
    """What the test of a loop says, which Python must know."""
    assert loop.test is not None
    found = predicate(loop.test(*values))
    if type(found) is not bool:
        raise _not_staged(loop)
    return found


def _not_staged(loop: Loop) -> StagingError:
    return StagingError(
        f"{loop.where()}: how often it runs is known only when the program runs, but it cannot be "
        "staged as one loop"
    )


SHORT = 64  # iterations of a loop of known length that are rather unrolled than carry objects


def is_short(loop: Loop) -> bool:
    """Whether Python may as well run the iterations one by one."""
    iterable = getattr(loop.items, "iterable", ())
    if loop.items is None or not hasattr(iterable, "__len__"):  # perhaps without an end
        return False
    length = loop.items.length
    return isinstance(length, int) and length <= SHORT


def _run_while(loop: Loop, carry: tuple) -> tuple:
    assert loop.test is not None
    active: Any = True
    taken = 0
    while True:
        if taken > MOST_TAKEN and not is_known(any_lane(active)):
            raise _not_staged(loop)
        go_on = predicate(_answer(loop, carry, active))
        if type(go_on) is not bool and not (has_lanes(go_on) and is_known(any_lane(go_on))):
            raise _not_staged(loop)
        active = both(active, _among_active(go_on))
        if not _may_run(active):
            return carry
        carry = _stopped_step(loop, None, carry, active)
        active = both(active, _not_stopped(loop, carry))
        if active is False:
            return carry
        taken += 1


def _answer(loop: Loop, carry: tuple, active: Any) -> Any:
    """What the test says; where it changes an object, it does so for the lanes that go on."""
    assert loop.test is not None
    if not has_lanes(active):
        with tested_lanes(active):
            return loop.test(*carry)
    try:
        with on_lanes(active):
            return loop.test(*carry)
    except Changes:
        pass
    ask = loop.test
    asking = Loop(lambda *state: (*state[:-1], predicate(ask(*state[:-1]))))
    asking.of = loop
    return masked_step(asking, None, (*carry, False), active)[-1]


def tested_lanes(active: Any) -> Any:
    """Around the test of a loop: what fails in it fails for those that are active alone."""
    return nullcontext() if active is True or CHECKS.get() is None else on_lanes(active)


def _run_for(loop: Loop, carry: tuple) -> tuple:
    items = loop.items
    assert items is not None
    active: Any = True
    masked = items.by_lane
    sequence: Any = _up_to_longest(items) if masked else iter(items)
    for i, item in enumerate(sequence):
        run = active
        if masked:
            if has_lanes(length := items.length):
                active = both(active, _among_active(i < length))
                run = active
            if (mask := items.lanes_at(i)) is not None:
                run = both(active, mask)
        if not _may_run(run):
            if not _may_run(active):
                break
            continue
        carry = _stopped_step(loop, item, carry, run)
        active = both(active, _not_stopped(loop, carry))
        if active is False:
            break
        if i == MOST_TAKEN and hasattr(getattr(items, "iterable", None), "__next__"):
            if not is_known(any_lane(active)):
                raise StagingError(
                    f"{loop.where()}: it runs over a generator until a value that only the "
                    f"compiled program has says to stop, which may be after more than {MOST_TAKEN} "
                    "steps; make it a `while` loop with the generator's variables"
                )
    return carry


MOST_TAKEN = 500  # steps of a generator before the program is taken not to end


def _up_to_longest(items: Items) -> Any:
    return (items.item(i) for i in range(int(largest(items.length))))


def largest(x: Any) -> Any:
    """The largest value in any lane; a value without lanes."""
    from overt.runtime import numpy as np

    while has_lanes(x):
        x = np.max(x.value, axis=0)
    return x


def _among_active(pred: Any) -> Any:
    """A predicate that differs between lanes counts for those on the path being executed."""
    outer = active_lanes()
    return pred if outer is None or type(pred) is bool else both(pred, outer)


def _may_run(active: Any) -> bool:
    if type(active) is bool:
        return active
    found = any_lane(active)
    return not is_known(found) or bool(found)


def _stopped_step(loop: Loop, item: Any, carry: tuple, run: Any) -> tuple:
    """One iteration for those that have not stopped."""
    if run is True:
        return loop.body(item, carry)
    if has_lanes(run):
        return masked_step(loop, item, carry, run)
    return _conditional_step(loop, item, carry, run)


def _conditional_step(loop: Loop, item: Any, carry: tuple, run: Any) -> tuple:
    """One iteration if a symbolic flag holds; what it saves is kept with that flag."""
    from overt.runtime.changes import changing_loop, has_objects

    loop, item = with_item(loop, item)
    if not (RECORDING.get() and has_objects(loop.fn, loop.test, carry)):
        try:
            return _chosen_step(loop, item, carry, run)
        except Changes:
            pass
    return changing_loop(lambda turned, x: _chosen_step(turned, item, x, run), loop, carry)


def with_item(loop: Loop, item: Any) -> tuple[Loop, Any]:
    """The loop, and its item; one that holds what may change is a part of the loop's body."""
    from overt.runtime.changes import has_objects

    if loop.items is None or not has_objects(item):
        return loop, item
    body, bare = loop.fn, loop.bare

    def step(*carry: Any) -> Any:
        out = body(item, *carry)
        return (out,) if bare else out

    made = Loop(step, until=loop.until)
    made.of = loop.of or loop
    return made, None


def _chosen_step(loop: Loop, item: Any, carry: tuple, run: Any) -> tuple:
    from overt.runtime.branches import chosen
    from overt.runtime.chosen_objects import given_back

    is_saved = [type(x) is Saved for x in carry]
    captures = Captures(captured_leaves(loop.fn, lambda x: isinstance(x, Array)))

    def step(item: Any, given: list[Any], *plain: Any) -> tuple:
        turned, values = loop.with_body(captures.replaced(loop.fn, given)), iter(plain)
        new = turned.body(item, tuple(Saved() if s else next(values) for s in is_saved))
        return tuple(_record(x) if s else x for x, s in zip(new, is_saved, strict=True))

    def keep(item: Any, given: list[Any], *plain: Any) -> tuple:
        values = iter(plain)
        return tuple(Undefined if s else next(values) for s in is_saved)

    plain = [x for x, s in zip(carry, is_saved, strict=True) if not s]
    out = given_back(chosen(run, step, keep, [item, captures.values, *plain]))
    return tuple(
        old.on_lanes(run, old.pushed(new)) if s else new
        for new, old, s in zip(out, carry, is_saved, strict=True)
    )


def _record(saved: Saved) -> Any:
    if saved.length != 1:
        raise StagingError("a staged loop must add one record an iteration to its Saved")
    return saved.store[0]


def masked_step(loop: Loop, item: Any, carry: tuple, run: Any) -> tuple:
    """One iteration for the lanes of a mask; the others keep their values."""
    loop, item = with_item(loop, item)
    try:
        return _masked(loop, item, carry, run)
    except Changes:
        pass
    from overt.runtime.changes import changing_loop

    return changing_loop(lambda turned, values: _masked(turned, item, values, run), loop, carry)


def _masked(loop: Loop, item: Any, carry: tuple, run: Any) -> tuple:
    with on_lanes(run):
        new = loop.body(item, carry)
    return tuple(_kept(loop, i, run, x, y) for i, (x, y) in enumerate(zip(new, carry, strict=True)))


def _kept(loop: Loop, position: int, run: Any, new: Any, old: Any) -> Any:
    from overt.runtime.choice import choose
    from overt.runtime.chosen_objects import note_handed_on

    if type(old) is Saved and type(new) is Saved:
        return old.on_lanes(run, new)
    try:
        kept = choose(run, new, old)
        note_handed_on(old, new, kept, False, loop.functions())
        return kept
    except Unlike as unlike:
        swapped = Unlike(unlike.path, unlike.other, unlike.one)
        raise loop.mismatch(position, swapped) from None


def _not_stopped(loop: Loop, carry: Sequence[Any]) -> Any:
    """Whether the flag that ends the loop is still false."""
    if loop.until is None:
        return True
    return negated(predicate(carry[loop.until]))
