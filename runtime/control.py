"""What lifted code calls for control flow: branches and loops whose conditions may be symbolic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from overt.runtime.closures import captured_leaves
from overt.runtime.errors import StagingError
from overt.runtime.escape import Escape
from overt.runtime.loop_items import (
    items_of,
    loop_enumerate,
    loop_range,
    loop_reversed,
    loop_zip,
)
from overt.runtime.loops import Loop, is_short, run_in_python
from overt.runtime.predicates import predicate
from overt.runtime.primitive import GRAPH
from overt.runtime.record import RECORDING, Tape
from overt.runtime.rollback import Mark
from overt.runtime.setbacks import (
    AskingChanges,
    Changes,
    Differing,
    HoldsValues,
    More,
    NewObjects,
    Shared,
    Unlike,
)
from overt.runtime.tree import tree_leaves
from overt.runtime.unrolling import Unrolled

__all__ = [
    "for_loop",
    "loop_enumerate",
    "loop_range",
    "loop_reversed",
    "loop_zip",
    "while_loop",
]


def while_loop(test: Callable, body: Callable, carry: Any, until: int | None = None) -> Any:
    """`while test(*carry): carry = body(*carry)`; the last carry.

    The carry is a tuple, or the one value itself where `body` takes one parameter.  `until` is the
    position of a flag in the carry that ends the loop after an iteration.

    Under staging the loop becomes one region of the program, and its variables' types are promoted
    until an iteration keeps them.  If its body needs Python values it is unrolled.

    Errors: TypeError naming the variable whose type changes; StagingError if it would have to be
    unrolled but its length is not known.

    >>> while_loop(lambda x: x < 100, lambda x: 2 * x, 3)
    192
    """
    return _loop(Loop(body, test=test, until=until), carry)


def for_loop(items: Any, body: Callable, carry: Any, until: int | None = None) -> Any:
    """`for item in items: carry = body(item, *carry)`; the last carry.

    As `while_loop`.  Ranges, arrays (by rows), `Saved` and zips of those stay loops when staged;
    lists and other Python objects are unrolled.

    >>> for_loop(range(4), lambda i, total: total + i, 0)
    6
    """
    return _loop(Loop(body, items=items_of(items), until=until), carry)


def _loop(loop: Loop, carry: Any) -> Any:
    values = (carry,) if loop.bare else tuple(carry)
    if GRAPH.get() is None or not _worth_rolling(loop):
        values = run_in_python(loop, values)
    else:
        mark = Mark()
        try:
            values = _with_objects(loop, values)
        except AskingChanges:
            mark.restore()
            *values, _ = _with_objects(*asking_ahead(loop, values))  # type: ignore[assignment]
    return values[0] if loop.bare else tuple(values)


def asking_ahead(loop: Loop, values: tuple) -> tuple[Loop, tuple]:
    """A loop that asks in its body whether there is another iteration, and its variables."""
    from overt.runtime.branches import cond

    ask = loop.test
    assert ask is not None

    def body(*state: Any) -> tuple:
        new = loop.body(None, state[:-1])
        stopped = False if loop.until is None else new[loop.until]
        return *new, cond(stopped, lambda *_: False, ask, new)

    made = Loop(body, lambda *state: state[-1], until=loop.until)
    made.of = loop
    return made, (*values, ask(*values))


def _with_objects(loop: Loop, values: tuple) -> tuple:
    """A staged loop; one that changes objects carries what they hold, or is unrolled if short."""
    from overt.runtime.changes import changing_loop, has_objects

    if RECORDING.get() and has_objects(loop.fn, loop.test, values):
        mark = Mark()
        try:
            return changing_loop(_staged, loop, values)
        except (Shared, RecursionError, IndexError, NotImplementedError) as error:
            if not _may_run_in_python(loop, values) or isinstance(error, More):
                raise
        mark.restore()
        return run_in_python(loop, values)
    mark = Mark()
    try:
        return _staged(loop, values)
    except Changes:
        pass
    except (NewObjects, StagingError):
        if not has_new_objects(loop, values):
            raise
        mark.restore()
        return changing_loop(_staged, loop, values, by_parts=True)
    if is_short(loop):
        return run_in_python(loop, values)
    mark = Mark()
    try:
        return changing_loop(_staged, loop, values)
    except (Escape, More):
        raise
    except (NewObjects, StagingError):
        if not has_new_objects(loop, values):
            raise
        mark.restore()
        return changing_loop(_staged, loop, values, by_parts=True)
    except Exception:
        if loop.until is not None or first_answer(loop, values) is None:
            raise
    mark.restore()  # Python knows what the test asks, such as whether a list is empty
    return run_in_python(loop, values)


def has_new_objects(loop: Loop, values: tuple) -> bool:
    """Whether a `while` may give its variables new objects in each iteration."""
    from overt.runtime.changes import holds_objects

    return loop.items is None and any(map(holds_objects, values))


def _may_run_in_python(loop: Loop, values: tuple) -> bool:
    """Whether a loop is short, or asks for nothing that only the running program knows."""
    if is_short(loop):
        return True
    return loop.until is None and first_answer(loop, values) is not None


def _worth_rolling(loop: Loop) -> bool:
    """Whether a loop has items that can be indexed, and more than one."""
    items = loop.items
    if items is None:
        return True
    return items.rollable and not (isinstance(items.length, int) and items.length < 2)


def _staged(loop: Loop, values: tuple) -> tuple:
    """Roll a loop if that is possible; else run it in Python, at first for one iteration only."""
    from overt.runtime.recorded_control import recorded_loop
    from overt.runtime.rolled import recall, remember, roll

    if (tape := _tape_of(loop, values)) is not None:
        if any(x is None for x in values) and is_short(loop):
            return run_in_python(loop, values)  # each iteration is recorded with what is set in it
        mark = Mark()
        try:
            return recorded_loop(loop, values, tape, _staged)
        except HoldsValues as error:
            goes_on = isinstance(error, Differing) and first_answer(loop, values) is not None
            if not _may_run_in_python(loop, values) and not goes_on:
                raise
            if isinstance(error, Differing) and loop.of is not None:
                raise
        mark.restore()
        return run_in_python(loop, values)
    site = "unrolled", getattr(loop.fn, "site", None) or getattr(loop.fn, "__code__", loop.fn)
    if recall(site) and _starts(loop, values):
        return run_in_python(loop, values)
    try:
        return roll(loop, values)
    except (Changes, Escape, More):
        raise
    except Exception as error:
        if first_answer(loop, values) is False:
            return values
        if isinstance(error, Unlike) and _wants_none(loop, values, error):
            try:
                return roll(loop, values, none=True)
            except Unlike as again:
                error = again
        if not _starts(loop, values):
            raise _explained(loop, error) from None
        if isinstance(error, Unlike):
            # A variable may only get its type in the first iteration: do that one in Python.
            before = values
            values = loop.body(None if loop.items is None else loop.items.item(0), values)
            if loop.until is not None and predicate(values[loop.until]) is not False:
                if not is_short(loop):
                    raise _explained(loop, error) from None
                if loop.of is not None:
                    raise Differing("a loop changes what its variables are") from None
                return run_in_python(loop, before)
            loop = loop.rest()
            try:
                return _loop_tuple(loop, values)
            except (Changes, Escape, More):
                raise
            except Exception as again:
                if isinstance(again, Unlike) and again.is_none():
                    return _loop_tuple(loop, values, none=True)
                if first_answer(loop, values) is False:
                    return values
                if not _starts(loop, values):
                    raise _explained(loop, again) from None
        if isinstance(error, Unrolled):  # for these lists, which may be others the next time
            return run_in_python(loop, values)
    remember(site, True)
    return run_in_python(loop, values)


def _wants_none(loop: Loop, values: tuple, error: Unlike) -> bool:
    """Whether a variable is None until an iteration sets it, and none can be done beforehand."""
    if not error.is_none():
        return False
    from overt.runtime.saved import Saved

    records = any(type(x) is Saved for x in values)
    return records or loop.until is not None or not _starts(loop, values)


def _tape_of(loop: Loop, values: tuple) -> Tape | None:
    """The innermost tape that values of a loop are recorded on."""
    from overt.runtime.recorded_control import is_recorded, top_tape

    captures = [x for f in (loop.fn, loop.test) if f for x in captured_leaves(f, is_recorded)]
    arrays = loop.items.arrays() if loop.items is not None else []
    return top_tape([*tree_leaves(values), *arrays, *captures])


def _loop_tuple(loop: Loop, values: tuple, none: bool = False) -> tuple:
    from overt.runtime.rolled import roll

    return roll(loop, values, none) if _worth_rolling(loop) else run_in_python(loop, values)


def _starts(loop: Loop, values: Sequence[Any]) -> bool:
    """Whether Python can know that there is a first iteration, and go on in Python."""
    if loop.items is not None:
        length = loop.items.length
        return isinstance(length, int)
    return loop.asked(values) is True


def first_answer(loop: Loop, values: Sequence[Any]) -> bool | None:
    """What a loop's test says at first; None where Python does not know, or nothing is asked."""
    answer = None if loop.test is None else loop.asked(values)
    return answer if type(answer) is bool else None


def _explained(loop: Loop, error: Exception) -> Exception:
    if isinstance(error, Unlike):
        return loop.mismatch(getattr(error, "position", 0), error)
    return error
