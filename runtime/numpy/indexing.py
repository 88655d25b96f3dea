"""Reading and replacing parts of arrays and containers: what `x[i]` and `x[i] = v` mean."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy

from overt.runtime import dtypes
from overt.runtime.called import call_method
from overt.runtime.containers import COPIED
from overt.runtime.derivatives import is_inexact
from overt.runtime.dispatch import CHECKS, GRAPH
from overt.runtime.errors import NonConcreteBooleanIndexError
from overt.runtime.escape import BY_SOURCE, Escape
from overt.runtime.numpy.gather_scatter import gather, last_writes, scatter
from overt.runtime.numpy.index_plan import MaskPlan, Plan, make_plan
from overt.runtime.numpy.movement import shape_of, with_rule
from overt.runtime.numpy.open_slices import two_steps
from overt.runtime.numpy.static_parts import pick, picked_shape, store
from overt.runtime.tree import tree_leaves
from overt.runtime.world import is_users_object

__all__ = ["getitem", "set_item"]

HOST = (numpy.ndarray, numpy.generic)


def on_device(x: Any) -> bool:
    """Whether `x` is an array of ours, of any kind."""
    return isinstance(x, Array)


def holds_ours(tree: Any) -> bool:
    """Whether a value, an index or a container has an array of ours in it."""
    if isinstance(tree, (tuple, list)):
        return any(holds_ours(part) for part in tree)
    if isinstance(tree, slice):
        return any(on_device(part) for part in (tree.start, tree.stop, tree.step))
    return on_device(tree)


def is_host_array(x: Any) -> bool:
    return isinstance(x, HOST)


# reading ------------------------------------------------------------------------------------------


def read(x: Any, index: Any, mode: str = "clip", fill: Any = None, check: bool = True,
         tell: bool = True, sorted: bool = False, unique: bool = False) -> Any:  # fmt: skip
    """The part of an array that any NumPy index selects."""
    if isinstance(x, Selected):
        from overt.runtime.numpy.selected_functions import item_of

        return item_of(x, index)
    if hasattr(type(index), "__overt_truth__"):  # a list of some positions
        index = index.as_array()
    if type(index) is int and check and (GRAPH.get() or CHECKS.get()) is None and x.aval.shape:
        return read_row(x, index)
    if isinstance(index, Selected) or type(index) is tuple and any(map(is_selection, index)):
        from overt.runtime.numpy.selected_functions import selected_by

        if (found := selected_by(x, index)) is not None:
            return found
    if (steps := two_steps(index, x.ndim)) is not None:
        return read(read(x, steps[0]), steps[1])
    plan = make_plan(index, x.shape, check, tell)
    part = x if plan.whole else pick(x, spec=plan.spec)
    if isinstance(plan, MaskPlan):
        return Selected(part, plan.mask, plan.start, plan.covered, plan.sliced)
    if not plan.indices:
        return part
    return gather(
        part, *plan.indices, axes=plan.axes, at=plan.at, mode=mode, wrap=plan.wrap, fill=fill,
        sorted=sorted, unique=unique,
    )  # fmt: skip


def is_selection(x: Any) -> bool:
    return isinstance(x, Selected)


ROW = {
    "axes": (0,), "at": 0, "mode": "clip", "wrap": False, "fill": None, "sorted": False,
    "unique": False,
}  # fmt: skip


def read_row(x: Any, index: int) -> Any:
    """`x[index]`, eagerly: the most frequent index, without the general machinery."""
    n = x.aval.shape[0]
    if not -n <= index < n:
        raise IndexError(f"index {index} is out of bounds for axis 0 with size {n}")
    return gather(x, index + n if index < 0 else index, **ROW)


@with_rule(
    arrays=("x", "index"),
    vjp=(lambda g, out, x, index: place(g, x, index), None),
    jvp=lambda dots, out, x, index: getitem(dots[0], index),
)
def getitem(x: Any, index: Any) -> Any:
    """`x[index]` as a function: arrays by NumPy's rules, any other object by its own.

    Indices known only at run time are kept in range; known ones are checked.

    Errors: IndexError for a known index out of range; StagingError for a boolean index whose
    values are known only at run time.

    >>> getitem(np.array([1.0, 2.0, 3.0]), slice(None, None, -1))
    Array([3., 2., 1.], dtype=float32)
    """
    if on_device(x):
        return read(x, index)
    if is_host_array(x) and holds_ours(index):
        return read(np.asarray(x), index)
    return item_at(x, index)


def is_from_data(index: Any) -> bool:
    """Whether an index is an array, or a key one that data chooses or a tuple with arrays."""
    if type(index) is tuple:
        return any(isinstance(part, Array) for part in index)
    return isinstance(index, Array) or hasattr(type(index), "__overt_each__") or is_chosen(index)


def item_at(x: Any, index: Any) -> Any:
    """An item of a container; its number or key may be known only later."""
    if is_from_data(index):
        from overt.runtime.tables import item_of

        return item_of(x, index)
    return x[index]


@with_rule(
    arrays=("piece", "x", "index"),
    vjp=(lambda g, out, piece, x, index: fitted(getitem(g, index), piece), None, None),
    jvp=lambda dots, out, piece, x, index: place(dots[0], x, index),
)
def place(piece: Any, x: Any, index: Any) -> Any:
    """Zeros like `x` with `piece` at `index`; where an index occurs twice, the pieces add up.

    >>> place(2.0, np.array([1.0, 1.0, 1.0]), 1)
    Array([0., 2., 0.], dtype=float32)
    """
    if not (on_device(x) or is_host_array(x)):
        if hasattr(type(x), "item_placed"):  # `x.at`
            return None if piece is None else x.item_placed(piece, index)
        zero, item = zeros_like_tree(x), item_at(x, index)
        if piece is None or is_array(item) and not is_inexact(item):
            return zero
        refuse_joined(piece, item)
        return replaced(zero, index, fitted(piece, item))
    return add_at(np.zeros(x.shape, float_like(x, piece)), index, piece)


def is_wider(found: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    """Whether a shape is a broadcast of another one."""
    if len(found) != len(shape):
        return len(found) > len(shape)
    return any(n != m and m == 1 for n, m in zip(found, shape, strict=True))


def narrowed(piece: Any, x: Any, index: Any) -> Any:
    """A cotangent of what an index picks, a broadcast of that part undone."""
    if getattr(piece, "shape", ()):
        shape = shape_at(x.shape, index)
        if shape is not None and is_wider(piece.shape, shape):
            return sum_to_shape(piece, shape)
    return piece


def shape_at(shape: tuple[int, ...], index: Any) -> tuple[int, ...] | None:
    """The shape that an index picks; None where that depends on values not known yet."""
    if any(hasattr(n, "symbolic") for n in shape):
        plan = make_plan(index, shape, check=False, tell=False)
        return None if isinstance(plan, MaskPlan) or plan.indices else picked_shape(plan.spec)
    entries = index if isinstance(index, tuple) else (index,)
    plain = []
    for entry in entries:
        if on_device(entry):
            if entry.dtype == bool:
                return None
            entry = numpy.zeros(entry.shape, numpy.int8)
        plain.append(entry)
    try:
        return numpy.broadcast_to(numpy.int8(0), shape)[tuple(plain)].shape
    except (IndexError, TypeError):
        return None


def float_like(x: Any, piece: Any) -> Any:
    """Dtype of a cotangent of `x`: its own, or that of the cotangent's piece."""
    return x.dtype if dtypes.is_inexact(x.dtype) else np.asarray(piece).dtype


# replacing ----------------------------------------------------------------------------------------


def write(x: Any, index: Any, value: Any, combine: str = "set", mode: str = "drop",
          check: bool = True, tell: bool = True, sorted: bool = False,
          unique: bool = False) -> Any:  # fmt: skip
    """An array with `value` stored at, or combined into, the part that an index selects."""
    if (steps := two_steps(index, x.ndim)) is not None:
        return write(x, steps[0], write(read(x, steps[0]), steps[1], value, combine), mode=mode)
    plan = make_plan(index, x.shape, check, tell)
    if isinstance(plan, MaskPlan):
        if plan.whole:
            return masked_write(x, plan, value, combine)
        part = masked_write(pick(x, spec=plan.spec), plan, value, combine)
        return store(x, part, spec=plan.spec)
    if not plan.indices:
        if combine == "set":
            return store(x, unpadded(value, picked_shape(plan.spec)), spec=plan.spec)
        old = pick(x, spec=plan.spec)
        value = unpadded(value, old.shape)
        return store(x, combined(old, np.asarray(value).astype(x.dtype), combine), spec=plan.spec)
    how = {
        "axes": plan.axes, "at": plan.at, "mode": mode, "wrap": plan.wrap, "sorted": sorted,
        "unique": unique or distinct(plan), "combine": combine,
    }  # fmt: skip
    if plan.whole:
        return scatter(x, trimmed(value, x, plan), *plan.indices, **how)
    part = pick(x, spec=plan.spec)
    return store(x, scatter(part, trimmed(value, part, plan), *plan.indices, **how), spec=plan.spec)


def trimmed(value: Any, part: Any, plan: Plan) -> Any:
    """A value to scatter, without superfluous leading axes of length 1."""
    rest = len(part.shape) - len(plan.axes)
    rank = rest + max(len(shape_of(i)) for i in plan.indices)
    return unpadded(value, (0,) * rank)


def unpadded(value: Any, shape: tuple[int, ...]) -> Any:
    """A value without leading axes of length 1 that the target does not have, as NumPy allows."""
    lengths = shape_of(value)
    extra = len(lengths) - len(shape)
    if extra > 0 and all(n == 1 for n in lengths[:extra]):
        return np.reshape(value, lengths[extra:])
    return np.asarray(value) if isinstance(value, (list, tuple)) else value


def distinct(plan: Plan) -> bool:
    """Whether it is plain that no place is written twice."""
    if not any(shape_of(i) for i in plan.indices):
        return True
    if len(plan.indices) == 1 and isinstance(plan.indices[0], numpy.ndarray):
        return numpy.unique(plan.indices[0]).size == plan.indices[0].size
    return False


def combined(old: Any, value: Any, combine: str) -> Any:
    """Old and new elements put together."""
    if combine == "add":
        return np.logical_or(old, value) if old.dtype == bool else old + value
    if combine == "multiply":
        return old * value
    return np.minimum(old, value) if combine == "min" else np.maximum(old, value)


def masked_write(x: Any, plan: MaskPlan, value: Any, combine: str) -> Any:
    """`x[mask] = value` for a mask whose values are not known yet."""
    if isinstance(value, Selected):
        value = value.stored_from(plan)
    else:
        value = np.asarray(value)
        after = len(x.shape) - plan.start - plan.covered
        lead = value.shape[: max(value.ndim - after, 0)]
        if any(n != 1 for n in lead):
            raise NonConcreteBooleanIndexError(
                f"{'x[a:b]' if plan.sliced else 'x[mask]'} = value with a value of shape "
                f"{value.shape}: which element goes where is "
                "known only at run time; give one value for every place and write "
                "x = np.where(mask, value, x)"
            )
        value = unpadded(value, (1,) * after)
    value = value.astype(x.dtype)
    return np.where(plan.mask, value if combine == "set" else combined(x, value, combine), x)


@with_rule(
    arrays=("x", "index", "value"),
    vjp=(
        lambda g, out, x, index, value: erase(g, index),
        None,
        lambda g, out, x, index, value: taken(g, index, value),
    ),
    jvp=lambda dots, out, x, index, value: set_item(dots[0], index, dots[2]),
)
def set_item(x: Any, index: Any, value: Any) -> Any:
    """What `x` is after `x[index] = value`; `x` itself stays as it was.

    Arrays follow NumPy's rules (the last of several writes to one place wins), and writes at an
    index that turns out of range at run time are dropped. Of lists, dictionaries and other
    containers a copy is changed.

    Errors: IndexError for a known index out of range.

    >>> set_item(np.array([1.0, 2.0, 3.0]), 1, 9.0)
    Array([1., 9., 3.], dtype=float32)
    >>> set_item({"a": 1}, "b", 2)
    {'a': 1, 'b': 2}
    """
    if on_device(x):
        refuse_unfit(x, value)
        return write(x, index, value)
    if is_host_array(x):
        if holds_ours(index) or holds_ours(value):
            refuse_unfit(x, value)
            return write(np.asarray(x), index, value)
        x = x.copy()
        x[index] = value
        return x
    return replaced(x, index, value)


def refuse_unfit(x: Any, value: Any) -> None:
    """Errors: TypeError for a complex value in an array that is not complex.

    ValueError and OverflowError, as in NumPy, for a known NaN or infinity in one of integers.
    """
    if type(value) is float and not math.isfinite(value) and dtypes.is_integer(x.dtype):
        int(value)  # says so
    kind = getattr(value, "dtype", None)
    if kind is None and type(value) is not complex or dtypes.is_complex(x.dtype):
        return
    if type(value) is complex or dtypes.is_complex(kind):
        raise TypeError(
            f"a complex value cannot be stored in an array of {x.dtype}: take np.real(value), or "
            "make the array complex"
        )


def replaced(x: Any, index: Any, value: Any) -> Any:
    """A copy of a container with one item replaced; tuples count as containers here."""
    if is_from_data(index):
        from overt.runtime.tables import is_open_place, key_of, with_item

        if is_open_place(x, index):
            items = with_item(x, index, value)
            return items if isinstance(x, dict) else type(x)(items)
        index = key_of(x, index)
    if isinstance(x, tuple):
        items = list(x)
        items[index] = value
        return type(x)(*items) if hasattr(x, "_fields") else type(x)(items)
    if x is None and BY_SOURCE.get():  # the tangent of an object that has none
        raise Escape(x)
    if is_users_object(x) and not isinstance(x, COPIED):
        if BY_SOURCE.get() and any(map(is_inexact, tree_leaves(value))):
            raise Escape(x)
        # It changes itself, as its `__setitem__` says.
        call_method(x, "__setitem__", index, value)
        return x
    x = copy.copy(x)
    x[index] = value
    return x


@with_rule(
    arrays=("x", "index", "value"),
    vjp=(
        lambda g, out, x, index, value: g,
        None,
        lambda g, out, x, index, value: fitted(getitem(g, index), value),
    ),
    jvp=lambda dots, out, x, index, value: add_at(dots[0], index, dots[2]),
)
def add_at(x: Any, index: Any, value: Any) -> Any:
    """`x` with `value` added at `index`; repeated indices add up. Of a container, one item grows.

    >>> add_at(np.zeros(3), np.array([1, 1]), 2.0)
    Array([0., 4., 0.], dtype=float32)
    """
    if value is None:
        return x
    if hasattr(type(x), "item_placed"):  # `x.at`
        return add(x, x.item_placed(value, index))
    if on_device(x) or is_host_array(x):
        return write(np.asarray(x), index, narrowed(value, x, index), "add", mode="clip")
    item = item_at(x, index)
    if is_array(item) and is_wider(getattr(value, "shape", ()), getattr(item, "shape", ())):
        value = sum_to_shape(value, getattr(item, "shape", ()))
    return replaced(x, index, add(item, value))


@with_rule(
    arrays=("x", "index"),
    vjp=(lambda g, out, x, index: erase(g, index), None),
    jvp=lambda dots, out, x, index: erase(dots[0], index),
)
def erase(x: Any, index: Any) -> Any:
    """A cotangent with zero at `index`: of what a store overwrites nothing comes back.

    >>> erase(np.ones(3), 0)
    Array([0., 1., 1.], dtype=float32)
    """
    if x is None:
        return None
    if on_device(x) or is_host_array(x):
        return set_item(x, index, 0)
    if isinstance(x, dict) and not is_from_data(index) and index not in x:
        return x
    if isinstance(index, slice):
        return replaced(x, index, zeros_like_tree(x[index]))
    item = item_at(x, index)
    from overt.runtime.tables import is_open_place

    known = not is_array(item) and not is_open_place(x, index)
    return replaced(x, index, None if known else zeros_like_tree(item))


@with_rule(
    arrays=("g", "index", "value"),
    vjp=(lambda g2, out, g, index, value: put_back(g2, g, index, value), None, None),
    jvp=lambda dots, out, g, index, value: taken(dots[0], index, value),
)
def taken(g: Any, index: Any, value: Any) -> Any:
    """The part of the cotangent `g` of an array that belongs to `value`, stored at `index`.

    >>> taken(np.array([1.0, 2.0, 3.0]), slice(1, 3), 0.0)
    Array(5., dtype=float32)
    """
    return stored_part(g, index, value)


def stored_part(g: Any, index: Any, value: Any, check: bool = True) -> Any:
    """`taken`; without `check` what lies out of range is left out."""
    if g is None:
        return None
    if isinstance(g, dict) and not is_from_data(index):
        # An item of a `defaultdict` that nothing has set comes from nowhere.
        return g.get(index)
    if not (on_device(g) or is_host_array(g)):
        return item_at(g, index)
    g = np.asarray(g)
    if (steps := two_steps(index, g.ndim)) is not None:
        return stored_part(read(g, steps[0]), steps[1], value, check)
    plan = make_plan(index, g.shape, check=check, tell=False)
    part = g if plan.whole else pick(g, spec=plan.spec)
    if isinstance(plan, MaskPlan):
        if isinstance(value, Selected):
            return value.alike(part)
        return sum_to(np.where(plan.mask, part, 0), value)
    if plan.indices:
        how = {"axes": plan.axes, "at": plan.at, "wrap": plan.wrap, "sorted": False, "unique": True}
        kept = gather(part, *plan.indices, mode="fill", fill=0, **how)
        if not distinct(plan):
            how |= {"mode": "drop", "combine": "set"}
            kept = np.where(last_writes(part, kept.shape, plan.indices, how), kept, 0)
        part = kept
    return fitted(fitted_back(part, value), value)


def fitted_back(part: Any, value: Any) -> Any:
    """Gives back the leading axes of length 1 that a stored value had to spare."""
    extra = len(shape_of(value)) - len(part.shape)
    return np.reshape(part, (1,) * extra + part.shape) if extra > 0 else part


@with_rule(
    arrays=("g", "index", "value"),
    vjp=(lambda g2, out, g, index, value: returned(g2, g, index, value), None, None),
    jvp=lambda dots, out, g, index, value: withdrawn(dots[0], index, value),
)
def withdrawn(g: Any, index: Any, value: Any) -> tuple[Any, Any]:
    """`taken(g, index, value)` and `erase(g, index)`: what belongs to a stored value, and the rest.

    >>> withdrawn(np.array([1.0, 2.0, 3.0]), 0, 0.0)
    (Array(1., dtype=float32), Array([0., 2., 3.], dtype=float32))
    """
    if on_device(g) and g.shape and two_steps(index, g.ndim) is None:
        plan = make_plan(index, g.shape, tell=False)
        if isinstance(plan, Plan) and plan.whole and one_place(plan):
            part, rest = exchange(g, 0, *plan.indices, axes=plan.axes, wrap=plan.wrap)
            return fitted(fitted_back(part, value), value), rest
    return taken(g, index, value), erase(g, index)


def one_place(plan: Plan) -> bool:
    return bool(plan.indices) and not any(map(shape_of, plan.indices))


def returned(g2: Any, g: Any, index: Any, value: Any) -> Any:
    """Transpose of `withdrawn`."""
    value_bar, rest_bar = g2
    rest = None if rest_bar is None else erase(rest_bar, index)
    return rest if value_bar is None else add(rest, put_back(value_bar, g, index, value))


def put_back(g: Any, like: Any, index: Any, value: Any) -> Any:
    """Transpose of `taken`: zeros like an array, with `g` where the value was stored."""
    if not (on_device(like) or is_host_array(like)):
        return place(g, like, index)
    return set_item(np.zeros(like.shape, like.dtype), index, g)


from overt.runtime import numpy as np  # noqa: E402
from overt.runtime.array import Array  # noqa: E402
from overt.runtime.chosen_objects import is_chosen  # noqa: E402
from overt.runtime.derivatives import (  # noqa: E402
    add,
    fitted,
    refuse_joined,
    sum_to,
    sum_to_shape,
    zeros_like_tree,
)
from overt.runtime.numpy.exchange import exchange  # noqa: E402
from overt.runtime.numpy.selected import Selected  # noqa: E402
from overt.runtime.parts import is_array  # noqa: E402
