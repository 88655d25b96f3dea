"""Builtins that ask for a Python number or a truth value, on values that are known only later.

Each is the builtin of the same name on plain values.
"""

from __future__ import annotations

import builtins
import functools
import types
from collections.abc import Callable, Sequence
from typing import Any

from overt.runtime import dtypes
from overt.runtime.arranging import chosen_item, is_open, order_of, picked, place_of
from overt.runtime.array import Array
from overt.runtime.changes import refuse_unless_carried
from overt.runtime.dispatch import AGAIN
from overt.runtime.errors import StagingError
from overt.runtime.handled import CATCHING, in_region, refuse_if_caught
from overt.runtime.host import host_callback
from overt.runtime.lanes import Lanes
from overt.runtime.masks import active_lanes
from overt.runtime.ordering import is_open_key
from overt.runtime.outer_effects import about_to_change, in_turn_only
from overt.runtime.parts import is_array
from overt.runtime.places import noted, origin
from overt.runtime.predicates import both, either, negated, predicate
from overt.runtime.primitive import GRAPH
from overt.runtime.risks import about_to_call
from overt.runtime.some_of import MISSING, SomeOf
from overt.runtime.some_of import chosen as some_chosen
from overt.runtime.texts import Text, completed, open_values, shown
from overt.runtime.truth import and_, or_

__all__ = [
    "all_", "any_", "bool_", "check", "complex_", "each_lane", "float_", "int_",
    "in_turn", "max_", "min_", "once_a_call", "print_", "raise_if", "round_", "sorted_",
]  # fmt: skip


def _extreme(function: Callable, args: tuple, options: dict, reduce: str, better: Callable) -> Any:
    items = args[0] if len(args) == 1 else args
    if type(items) is SomeOf:
        return extreme_of(items, better, **options)
    if isinstance(items, Array) and is_open(items) and items.ndim == 1 and not options:
        return getattr(items, reduce)()
    items = list(items)
    if options.get("key") and items:
        return chosen_item(items, place_of(items, options["key"], function is max))
    if not any(map(is_open_key, items)):
        return function(items, **options)
    if not all(map(is_array, items)):
        return chosen_item(items, place_of(items, None, function is max))
    from overt.runtime import numpy as np

    best = items[0]
    for x in items[1:]:
        best = np.where(better(x, best), x, best)
    return best


def extreme_of(items: SomeOf, better: Callable, key: Any = None, default: Any = MISSING) -> Any:
    """The largest or smallest of some items."""
    best, best_key, found = default, None, False
    for x, flag in zip(items.listed(), items.flags, strict=True):
        rank = x if key is None else key(x)
        if best is MISSING:
            best, best_key, found = x, rank, flag
            continue
        takes = flag
        if best_key is not None:
            takes = both(flag, either(negated(found), predicate(better(rank, best_key))))
            best_key = some_chosen(takes, rank, best_key)
        else:
            best_key = rank
        best, found = some_chosen(takes, x, best), either(found, flag)
    if default is MISSING:
        raise_if(negated(found), ValueError, lambda: ("an empty sequence has no max() or min()",))
    return best


def max_(*args: Any, **options: Any) -> Any:
    """`max`; of equal values the first.

    >>> max_(2, 5, 3)
    5
    """
    return _extreme(max, args, options, "max", lambda x, best: x > best)


def min_(*args: Any, **options: Any) -> Any:
    """`min`; of equal values the first.

    >>> min_([], default=0)
    0
    """
    return _extreme(min, args, options, "min", lambda x, best: x < best)


def any_(items: Any) -> Any:
    """`any`, which stops at the first true item.

    >>> any_(n > 1 for n in [0, 2])
    True
    """
    if is_open(items):
        return items.astype(bool).any(axis=0)
    if type(items) is SomeOf:
        flags = [both(f, predicate(x)) for x, f in zip(items.listed(), items.flags, strict=True)]
        return SomeOf(list, None, flags, flags).__overt_truth__()
    found: Any = False
    for x in items:
        found = or_(found, functools.partial(predicate, x))
        if found is True:
            return True
    return found


def all_(items: Any) -> Any:
    """`all`, which stops at the first false item.

    >>> all_([])
    True
    """
    if is_open(items):
        return items.astype(bool).all(axis=0)
    if type(items) is SomeOf:
        return negated(any_(items.but(lambda x: negated(predicate(x)))))
    found: Any = True
    for x in items:
        found = and_(found, functools.partial(predicate, x))
        if found is False:
            return False
    return found


def sorted_(items: Any, *, key: Callable | None = None, reverse: bool = False) -> Any:
    """`sorted`; values known only later are sorted as the numbers that they are.

    >>> sorted_([3, 1, 2], reverse=True)
    [3, 2, 1]
    """
    if type(items) is SomeOf:
        return sorted_some(items, key, reverse)
    items = list(items)
    return picked(items, order_of(items, key, reverse))


def sorted_some(items: SomeOf, key: Callable | None, reverse: bool) -> SomeOf:
    """Some items in ascending order, those that are missing last."""
    from overt.runtime import numpy as np

    values = items.listed()
    keys = np.stack([np.asarray(x if key is None else key(x)) for x in values])
    flags = np.stack([np.asarray(f) for f in items.flags])
    order = np.lexsort((-keys if reverse else keys, ~flags))
    count = items.number()
    return SomeOf(list, None, picked(values, order), [k < count for k in range(len(values))])


def float_(x: Any = 0.0) -> Any:
    """`float`; of a value known only later, a scalar array of floats.

    >>> float_("1.5")
    1.5
    """
    if (own := _own(x, "__float__")) is not None:
        return float_(own(x))
    return _scalar(x).astype(float) if is_open(x) else float(x)


def item_of_array(x: Any, *place: int) -> Any:
    """`x.item(*place)` of an array whose values are known only later: a scalar array."""
    if len(place) == 1:
        x = x.ravel()[place[0]]
    elif place:
        x = x[place]
    if x.size != 1:
        raise ValueError(f"item() needs an array of one element, got shape {x.shape}")
    number = _scalar(x)
    if number.dtype == bool or dtypes.is_complex(number.dtype):
        return number
    return number.astype(float if dtypes.is_float(number.dtype) else int)


def _own(x: Any, name: str) -> Any:
    """The method by which an object of the user's says which number it is."""
    found = getattr(type(x), name, None)
    return found if isinstance(found, types.FunctionType) and not is_array(x) else None


def complex_(real: Any = 0.0, imag: Any = 0.0) -> Any:
    """`complex`; of values known only later, a scalar array.

    >>> complex_(1.0, 2.0)
    (1+2j)
    """
    if not is_open(real) and not is_open(imag):
        return complex(real, imag)
    return real + 1j * imag


def round_(x: Any, digits: Any = None) -> Any:
    """`round`; of a value known only later, a scalar array, of integers without digits.

    >>> round_(2.6), round_(2.654, 1)
    (3, 2.7)
    """
    if (own := _own(x, "__round__")) is not None:
        return own(x) if digits is None else own(x, digits)
    if not is_open(x):
        return round(x, digits) if digits is not None else round(x)
    from overt.runtime import numpy as np

    if CATCHING.get() and digits is None:
        about_to_call(round, x)
    return np.round(x, digits) if digits is not None else np.round(_scalar(x)).astype(int)


def int_(x: Any = 0, *base: int) -> Any:
    """`int`, which cuts off towards zero; of a value known only later, a scalar array.

    >>> int_(-1.5), int_("ff", 16)
    (-1, 255)
    """
    if not base and (own := _own(x, "__int__")) is not None:
        return int_(own(x))
    if not is_open(x):
        return int(x, *base)
    if CATCHING.get():
        about_to_call(int, x)
    return _scalar(x).astype(int)


def bool_(x: Any = False) -> Any:
    """`bool`; of a value known only later, a scalar array.

    >>> bool_([])
    False
    """
    return predicate(x)


def _scalar(x: Any) -> Any:
    if x.size != 1:
        raise TypeError(f"only an array with one element is a number, this one has shape {x.shape}")
    return x.reshape(())


# --- text that waits for its values


def _open_parts(args: tuple[Any, ...]) -> tuple[list[Any], Callable[[Any], list[Any]]]:
    """The values in `args` that are not known, and how to put them back in."""
    return open_values(args), lambda found: [shown(x) for x in completed(args, iter(found))]


def print_(*args: Any, **options: Any) -> None:
    """`print`, every time that the program gets here; once for each lane of a `vmap`."""
    values, complete = _open_parts(args)
    each_lane(values, active_lanes(), lambda xs: builtins.print(*complete(xs), **options))


def check(test: Any, message: Any = None) -> None:
    """`assert test, message`, when the program gets here; in every lane of a `vmap`.

    >>> check(1 > 2, "wrong order")
    Traceback (most recent call last):
    AssertionError: wrong order
    """
    truth = predicate(test)
    known = () if message is None else (message,)
    if truth is False and active_lanes() is None and not isinstance(message, Text):
        raise AssertionError(*known)
    if truth is True:
        return
    refuse_if_caught(AssertionError)
    values, complete = _open_parts(known)

    def fail(found: Any) -> None:
        if not bool(found[0]):
            raise AssertionError(*complete(found[1:]))

    each_lane([truth, *values], active_lanes(), fail)


def raise_if(
    test: Any,
    kind: Any,
    arguments: Callable[[], tuple] = tuple,
    named: tuple[str, ...] = (),
    cause: Callable[[], Any] | None = None,
) -> None:
    """`if test: raise kind(*arguments())`, when the program gets here; in every lane of a `vmap`.

    The last arguments are given by name, if there are names. `cause` gives what it is raised
    `from`; one that holds values of the program is left out there.

    >>> raise_if(1 > 2, ValueError, lambda: ("wrong order",))
    """
    truth = predicate(test)
    if truth is False:
        return

    def made(given: Sequence[Any]) -> BaseException:
        first = len(given) - len(named)
        by_name = dict(zip(named, given[first:], strict=True))
        error = kind(*given[:first], **by_name) if isinstance(kind, type) else kind
        if origin is not None:
            error.__cause__ = origin
        return error

    origin = cause() if cause is not None else None
    if truth is True and active_lanes() is None and not in_region():
        raise made(arguments())
    if isinstance(kind, type) and issubclass(kind, StopIteration | StopAsyncIteration):
        raise StagingError(
            "whether an iterator ends is known only when the program runs, or differs between "
            "lanes; make it a `while` loop over what the iterator holds"
        )
    refuse_if_caught(kind if isinstance(kind, type) else type(kind))
    if open_values(getattr(origin, "args", ())):
        origin = None
    values, complete = _open_parts(arguments())

    def fail(found: Any) -> None:
        if bool(found[0]):
            raise made(complete(found[1:]))

    each_lane([truth, *values], active_lanes(), fail)


def require(flag: Any, error: Exception) -> None:
    """Raise an error when the program gets here and a flag is false, in any lane that gets here."""
    truth = predicate(flag)
    if truth is True:
        return
    if truth is False and active_lanes() is None:
        raise error

    def fail(found: Any) -> None:
        if not bool(found[0]):
            refuse_if_caught(type(error))
            raise error

    each_lane([truth], active_lanes(), fail)


def each_lane(
    values: Sequence[Any], mask: Any, effect: Callable[[Any], None], ordered: bool = True
) -> None:
    """Run an effect on the host with these values, once for each lane that is active."""
    from overt.runtime.lax import stop_gradient

    if AGAIN.get():
        return
    operands = [stop_gradient(x) if isinstance(x, Array) else x for x in values]
    if GRAPH.get() is None and mask is None and not any(isinstance(x, Lanes) for x in operands):
        effect(operands)
        return

    place = origin()

    def on_host(*arrays: Any) -> tuple:
        if mask is None or bool(arrays[0]):
            try:
                effect(arrays[mask is not None :])
            except Exception as error:
                raise noted(error, place) from error.__cause__
        return ()

    host_callback(on_host, (), *([] if mask is None else [mask]), *operands, ordered=ordered)


def in_turn() -> None:
    """As `once_a_call`, for what cannot be seen: lanes of a `vmap` run one after another."""
    in_turn_only()
    refuse_unless_carried()


def once_a_call() -> None:
    """Say that an object is changed here: once for each time that Python would get here.

    A branch or loop of a compiled program then hands on what objects hold, as it does variables.
    """
    about_to_change()
    refuse_unless_carried()
