"""Choosing values lane by lane."""

from __future__ import annotations

from typing import Any

from overt.runtime.carried import (
    Known,
    Maybe,
    Node,
    Spec,
    Unset,
    cast,
    flagged,
    join,
    same,
    spec_of,
    zeros,
)
from overt.runtime.chosen_objects import either_object
from overt.runtime.none_or import NoneOr, opened
from overt.runtime.parts import is_array, parts_of
from overt.runtime.repeated import rows_of
from overt.runtime.saved import Buffers, Saved
from overt.runtime.undefined import UndefinedValue
from overt.runtime.unsure import Unsure

__all__ = ["choose"]


COUNTED = (list, dict, set)  # containers that may hold more in some lanes


def choose(mask: Any, a: Any, b: Any, path: tuple[Any, ...] = ()) -> Any:
    """`a` in the lanes of the mask and `b` in the others, leaf by leaf.

    Errors: Unlike, where a value is of another kind on the other side.
    """
    if a is b:
        return a
    for saved, missing in ((a, b), (b, a)):
        kept = type(saved) is Saved or hasattr(type(saved), "__overt_backward__")
        if kept and type(missing) is UndefinedValue:
            return saved  # read only where the same branch is taken again
    if type(a) is Saved and type(b) is Saved:
        return _choose_saved(mask, a, b, path)
    if NoneOr in (type(a), type(b)) or (a is None) is not (b is None) and not _goes_as_array(a, b):
        return _none_or(mask, a, b, path)
    found = either_object(mask, a, b)
    if found is not None:
        return found
    one, other = parts_of(a), parts_of(b)
    if one is not None and other is not None and one.kind == other.kind:
        return one.rebuild([
            choose(mask, x, y, (*path, key))
            for x, y, key in zip(one.values, other.values, one.keys, strict=True)
        ])  # fmt: skip
    if type(a) in COUNTED or type(b) in COUNTED or hasattr(type(a), "__overt_truth__"):
        from overt.runtime.some_joined import some_by_lane

        if (found := some_by_lane(mask, a, b, choose)) is not None:
            return found
    if is_choice(a) and is_choice(b) and not same(a, b):
        from overt.runtime.either import one_by_lane

        return one_by_lane(mask, a, b, choose)
    return _choose_leaf(mask, a, b, join(_spec(a), _spec(b), path))


def _goes_as_array(a: Any, b: Any) -> bool:
    """Whether the one that is not None is an array or not set, which a flag beside it tells."""
    x = b if a is None else a
    return is_array(x) or type(x) is UndefinedValue


def _none_or(mask: Any, a: Any, b: Any, path: tuple[Any, ...]) -> Any:
    from overt.runtime import numpy as np

    one, other = opened(a), opened(b)
    missing = type(one[0]) is UndefinedValue, type(other[0]) is UndefinedValue
    if any(missing):
        value = other[0] if missing[0] else one[0]
    else:
        value = choose(mask, one[0], other[0], path)
    return NoneOr(value, np.where(mask, one[1], other[1]))


def is_choice(x: Any) -> bool:
    """Whether a value may be one of several: a function or a text."""
    return callable(x) or type(x) is str


def _spec(x: Any) -> Spec:
    return spec_of(x, leaves=True)


def _choose_leaf(mask: Any, a: Any, b: Any, spec: Spec) -> Any:
    from overt.runtime import numpy as np

    if isinstance(spec, Known):
        return spec.value
    if isinstance(spec, Unset):
        return a
    if isinstance(spec, Maybe):
        one, other = (flagged(x, spec.none) for x in (a, b))
        value = _choose_leaf(mask, one[0], other[0], spec.inner)
        return Unsure(value, np.where(mask, one[1], other[1]), spec.name, spec.none)
    if isinstance(spec, Node):  # one side is not set
        set_side = parts_of(b if type(a) is UndefinedValue else a)
        assert set_side is not None
        count = len(set_side.values)
        columns = [[x] * count if type(x) is UndefinedValue else set_side.values for x in (a, b)]
        values = [
            _choose_leaf(mask, x, y, child)
            for x, y, child in zip(*columns, spec.children, strict=True)
        ]
        return set_side.rebuild(values)
    (aval,) = spec.avals()
    a, b = (zeros(aval) if type(x) is UndefinedValue else x for x in (a, b))
    return cast(np.where(mask, a, b), aval)


def _choose_saved(mask: Any, a: Saved, b: Saved, path: tuple[Any, ...]) -> Saved:
    from overt.runtime import numpy as np

    counts = [s.steps if s.count is None else s.count for s in (a, b)]
    first, count = np.where(mask, a.first, b.first), np.where(mask, *counts)
    if a.flip != b.flip:
        raise NotImplementedError("records in opposite orders on two sides of a branch")
    if isinstance(a.store, Buffers) and isinstance(b.store, Buffers):
        if a.store.template != b.store.template or a.bound != b.bound:
            raise NotImplementedError("loops with different records on two sides of a branch")
        pairs = zip(a.store.columns, b.store.columns, strict=True)
        columns = [x if x is y else np.where(mask, rows_of(x), rows_of(y)) for x, y in pairs]
        store: Any = Buffers(columns, a.store.template, np.maximum(a.steps, b.steps))
        return Saved(store, 0, a.flip, first, count)
    one, other = a.store[: a.length], b.store[: b.length]
    store = [choose(mask, x, y, path) for x, y in zip(one, other, strict=False)]
    store += one[len(store) :] or other[len(store) :]
    return Saved(store, len(store), a.flip, first, count)
