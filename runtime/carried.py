"""What a value is made of, when it enters or leaves a region of a staged program.

Regions pass plain arrays.  A `Spec` says which arrays a tree of values consists of and what is
fixed: containers, Python constants, lanes and tangents.  Specs of the two sides of a branch, or of
a loop's start and the end of its body, are joined: numbers and dtypes are promoted, a value without
lanes is repeated, one without tangent gets a zero one, an unset variable gets a placeholder.
"""

from __future__ import annotations

import enum
import types
from collections.abc import Iterator
from typing import Any

from overt.runtime import dtypes
from overt.runtime.aval import Aval, aval_of
from overt.runtime.closures import captured
from overt.runtime.dual import Dual
from overt.runtime.lanes import Lanes, spread
from overt.runtime.none_or import NoneOr, opened
from overt.runtime.parts import NUMBERS, is_array, parts_of
from overt.runtime.repeated import Repeated, rows_of
from overt.runtime.retype import retype
from overt.runtime.setbacks import Unlike
from overt.runtime.undefined import Undefined, UndefinedValue, name_of
from overt.runtime.unsure import Unsure

__all__ = ["Known", "Spec", "flagged", "join", "levels_of", "spec_of"]


class Spec:
    """What a value is made of; equal specs have equal arrays and constants in the same places."""

    level = 0
    is_value = True  # one array, with lanes and tangents or without

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and all(
            getattr(self, name) == getattr(other, name) for name in self._compared
        )

    _compared: tuple[str, ...] = ()
    __hash__ = None  # type: ignore[assignment]

    def avals(self) -> list[Aval]:
        """The arrays it consists of, in order."""
        return []

    def constants(self) -> list[Any]:
        """The Python constants in it."""
        return []

    def compose(self, arrays: Iterator[Any]) -> Any:
        """The value, from its arrays."""
        raise NotImplementedError

    def decompose(self, x: Any) -> list[Any]:
        """The arrays of a value, converted to what the spec says."""
        return []

    def spread(self, lanes: int, axis: int = 0) -> Spec:
        """With one more axis, for lanes."""
        return self

    def compose_leaves(self, arrays: list[Any]) -> Any:
        """The value, from a list of its arrays."""
        return self.compose(iter(arrays))


class Known(Spec):
    """A Python constant."""

    _compared = ("value",)

    def __init__(self, value: Any):
        self.value = value

    def __eq__(self, other: object) -> bool:
        return type(other) is Known and same(self.value, other.value)

    __hash__ = None  # type: ignore[assignment]

    def constants(self) -> list[Any]:
        return [self.value]

    def compose(self, arrays: Iterator[Any]) -> Any:
        return self.value

    def __str__(self) -> str:
        value = self.value
        if _may_lie(value) and type(value).__repr__ is object.__repr__:
            return f"an object of the class {type(value).__name__}"
        return "None" if value is None else f"{value!r} of type {type(value).__name__}"


class Unset(Spec):
    """A variable that is not set."""

    def __init__(self, name: str):
        self.name = name

    def compose(self, arrays: Iterator[Any]) -> Any:
        return UndefinedValue(self.name)

    def __str__(self) -> str:
        return "an unset variable"


class Value(Spec):
    """One array."""

    _compared = ("aval",)

    def __init__(self, aval: Aval):
        self.aval = aval

    def avals(self) -> list[Aval]:
        return [self.aval]

    def compose(self, arrays: Iterator[Any]) -> Any:
        return next(arrays)

    def decompose(self, x: Any) -> list[Any]:
        return [zeros(self.aval) if type(x) is UndefinedValue else cast(rows_of(x), self.aval)]

    def spread(self, lanes: int, axis: int = 0) -> Spec:
        shape = self.aval.shape
        return Value(self.aval.update(shape=(*shape[:axis], lanes, *shape[axis:])))

    def __str__(self) -> str:
        return str(self.aval.strong())


class Maybe(Spec):
    """A variable that is set on some paths only, or with `none` is None on the others."""

    _compared = ("inner", "flag", "none")

    def __init__(self, inner: Spec, flag: Spec, name: str, none: bool = False):
        self.inner, self.flag, self.name, self.none = inner, flag, name, none

    def avals(self) -> list[Aval]:
        return self.inner.avals() + self.flag.avals()

    def compose(self, arrays: Iterator[Any]) -> Any:
        value, flag = self.inner.compose(arrays), self.flag.compose(arrays)
        return possible(value, flag, self.name, self.none)

    def decompose(self, x: Any) -> list[Any]:
        x, flag = flagged(x, self.none)
        return self.inner.decompose(x) + self.flag.decompose(flag)

    def spread(self, lanes: int, axis: int = 0) -> Spec:
        inner, flag = self.inner.spread(lanes, axis), self.flag.spread(lanes, axis)
        return Maybe(inner, flag, self.name, self.none)

    def __str__(self) -> str:
        return str(self.inner)


class Laned(Spec):
    """Lanes of one `vmap`."""

    _compared = ("inner", "lanes", "level")

    def __init__(self, inner: Spec, lanes: int, level: int):
        self.inner, self.lanes, self.level = inner, lanes, level

    def avals(self) -> list[Aval]:
        return self.inner.avals()

    def compose(self, arrays: Iterator[Any]) -> Any:
        return Lanes(self.inner.compose(arrays), self.level)

    def decompose(self, x: Any) -> list[Any]:
        x = rows_of(x)
        if type(x) is Lanes and x.level == self.level:
            return self.inner.decompose(x.value)
        return self.inner.decompose(x if type(x) is UndefinedValue else spread(x, self.lanes))

    def spread(self, lanes: int, axis: int = 0) -> Spec:
        return Laned(self.inner.spread(lanes, axis + 1), self.lanes, self.level)

    def __str__(self) -> str:
        return f"{self.inner} over {self.lanes} lanes"


class Dualed(Spec):
    """A value with its tangent."""

    _compared = ("primal", "tangent", "level")

    def __init__(self, primal: Spec, tangent: Spec, level: int):
        self.primal, self.tangent, self.level = primal, tangent, level

    def avals(self) -> list[Aval]:
        return self.primal.avals() + self.tangent.avals()

    def compose(self, arrays: Iterator[Any]) -> Any:
        primal = self.primal.compose(arrays)
        return Dual(primal, self.tangent.compose(arrays), self.level)

    def decompose(self, x: Any) -> list[Any]:
        x = rows_of(x)
        if type(x) is Dual and x.level == self.level:
            return self.primal.decompose(x.primal) + self.tangent.decompose(x.tangent)
        return self.primal.decompose(x) + self.tangent.decompose(Undefined)

    def spread(self, lanes: int, axis: int = 0) -> Spec:
        return Dualed(self.primal.spread(lanes, axis), self.tangent.spread(lanes, axis), self.level)

    def __str__(self) -> str:
        return str(self.primal)


class Node(Spec):
    """A container."""

    _compared = ("kind", "children")

    def __init__(self, kind: Any, keys: list[Any], children: list[Spec], rebuild: Any):
        self.kind, self.keys, self.children, self.rebuild = kind, keys, children, rebuild

    def avals(self) -> list[Aval]:
        return [aval for child in self.children for aval in child.avals()]

    def constants(self) -> list[Any]:
        return [value for child in self.children for value in child.constants()]

    def compose(self, arrays: Iterator[Any]) -> Any:
        return self.rebuild([child.compose(arrays) for child in self.children])

    def decompose(self, x: Any) -> list[Any]:
        if type(x) is UndefinedValue:
            values = [x] * len(self.children)
        else:
            parts = parts_of(x)
            assert parts is not None
            values = parts.values
        return [a for c, v in zip(self.children, values, strict=True) for a in c.decompose(v)]

    def spread(self, lanes: int, axis: int = 0) -> Spec:
        children = [child.spread(lanes, axis) for child in self.children]
        return Node(self.kind, self.keys, children, self.rebuild)

    def __str__(self) -> str:
        kind = self.kind[0]
        if kind is dict:
            return f"dict with keys {[key.key for key in self.keys]}"
        if kind.__name__ == "Taken":  # an object that one side of a branch has made
            return f"an object of the class {self.kind[1].node_data()[1][0].__name__}"
        return f"{kind.__name__} of {len(self.children)}"


def spec_of(x: Any, numbers: bool = False, leaves: bool = False) -> Spec:
    """What a value is made of.

    With `numbers`, a Python number counts as an array, not as a constant.  With `leaves`, lanes and
    tangents are not taken apart: they belong to the arrays.
    """
    if type(x) in NUMBERS:
        return Value(aval_of(x)) if numbers else Known(x)
    if type(x) is UndefinedValue:
        return Unset(name_of(x))
    if type(x) is Unsure:
        inner, flag = spec_of(x.value, True, leaves), spec_of(x.flag, True, leaves)
        return Maybe(inner, flag, x.name, x.none)
    if type(x) is NoneOr:
        value, flag = opened(x)
        return Maybe(spec_of(value, True, leaves), spec_of(flag, True, leaves), "", True)
    if hasattr(type(x), "__overt_spec__"):  # a function chosen by data among several
        return x.__overt_spec__(leaves)
    if not leaves and type(x) is Lanes:
        return Laned(spec_of(x.value, True), x.lanes, x.level)
    if not leaves and type(x) is Dual:
        return Dualed(spec_of(x.primal, True), spec_of(x.tangent, True), x.level)
    if not leaves and getattr(x, "transparent", False):
        raise NotImplementedError(
            "a recorded value enters a staged branch or loop other than by its operands"
        )
    if leaves and isinstance(type(x), enum.EnumMeta):  # one that is a number, too, keeps its name
        return Known(x)
    if is_array(x):
        return Value(aval_of(x))
    parts = parts_of(x)
    if parts is None:
        return Known(x)
    children = [spec_of(value, False, leaves) for value in parts.values]
    return Node(parts.kind, parts.keys, children, parts.rebuild)


def flagged(x: Any, none: bool) -> tuple[Any, Any]:
    """The value of a variable that may not be set (may be None), and whether it is (is not)."""
    if type(x) is Unsure and x.none is none:
        return x.value, x.flag
    if none and type(x) is NoneOr:
        return opened(x)
    missing = type(x) is UndefinedValue or none and x is None
    return (UndefinedValue() if missing else x), not missing


def possible(value: Any, flag: Any, name: str, none: bool) -> Any:
    """What is set, or with `none` is not None, only where the flag is true."""
    if none and not is_array(value):
        return NoneOr(value, flag, name)
    return Unsure(value, flag, name, none)


def row_spec(stacked: Any, columns: list[Any]) -> Spec:
    """What a record is made of, from all records of a loop as one; adds the arrays to `columns`."""
    if type(stacked) is Repeated and is_array(stacked.value):
        columns.append(stacked)
        return Value(aval_of(stacked.value))
    if type(stacked) in NUMBERS:
        return Known(stacked)
    if type(stacked) is UndefinedValue:
        return Unset(name_of(stacked))
    if type(stacked) is Unsure:
        inner = row_spec(stacked.value, columns)
        return Maybe(inner, row_spec(stacked.flag, columns), stacked.name, stacked.none)
    if type(stacked) is NoneOr:
        value, flag = (row_spec(x, columns) for x in opened(stacked))
        return Maybe(value, flag, "", True)
    if is_array(stacked):
        columns.append(stacked)
        aval = aval_of(stacked)
        return Value(Aval(aval.shape[1:], aval.dtype, aval.weak))
    parts = parts_of(stacked)
    if parts is None:
        return Known(stacked)
    children = [row_spec(value, columns) for value in parts.values]
    return Node(parts.kind, parts.keys, children, parts.rebuild)


def join(a: Spec, b: Spec, path: tuple[Any, ...] = (), none: bool = True) -> Spec:
    """The spec that values of both can be converted to; with `none`, of None and a number too.

    Errors: Unlike, with the place.
    """
    if isinstance(a, Unset):
        return _maybe(b, a.name)
    if isinstance(b, Unset):
        return _maybe(a, b.name)
    if a == b:
        return a
    if isinstance(a, Maybe) or isinstance(b, Maybe) or none and (_is_none(a) or _is_none(b)):
        return _join_unsure(a, b, path)
    if isinstance(a, Node) and isinstance(b, Node):
        if a.kind != b.kind or len(a.children) != len(b.children):
            return _of_others(a, b, path)
        children = [
            join(x, y, (*path, key), none)
            for x, y, key in zip(a.children, b.children, a.keys, strict=True)
        ]
        return Node(a.kind, a.keys, children, a.rebuild)
    one, other = _as_value(_of_rows(a)), _as_value(_of_rows(b))
    if one is None or other is None:
        return _of_others(a, b, path)
    return join_values(one, other, path)


def _of_others(a: Spec, b: Spec, path: tuple[Any, ...]) -> Spec:
    """Of two functions: either; of containers: some of both. Errors: Unlike, for others."""
    from overt.runtime.either import either
    from overt.runtime.some_joined import joined

    found = joined(a, b, path) or either(a, b, path)
    if found is None:
        raise Unlike(path, str(a), str(b))
    return found


def _of_rows(spec: Spec) -> Spec:
    """Of what all records of a loop share: the buffer in whose place it is."""
    if isinstance(spec, Node) and spec.kind[0] is Repeated:
        return spec.children[0].spread(spec.rebuild([None]).room)
    return spec


def _maybe(spec: Spec, name: str) -> Spec:
    """What a variable is that has this value on some paths and none on the others."""
    if not name or isinstance(spec, Unset) or isinstance(spec, Maybe) and not spec.none:
        return spec
    if isinstance(spec, Maybe):
        return Maybe(spec, FLAG, name)
    if isinstance(spec, Node):
        children = [_maybe(child, name) for child in spec.children]
        return Node(spec.kind, spec.keys, children, spec.rebuild)
    value = _as_value(spec)
    return spec if value is None else Maybe(value, FLAG, name)


def levels_of(spec: Spec | list[Any]) -> list[int]:
    """The levels of the values with lanes and with tangents that a spec describes."""
    if isinstance(spec, list):  # of what functions hold that data chooses from
        return [level for part in spec for level in levels_of(part)]
    parts = [getattr(spec, name) for name in ("inner", "primal", "tangent") if hasattr(spec, name)]
    parts += getattr(spec, "children", ())
    inner = [level for part in parts for level in levels_of(part)]
    return [spec.level, *inner] if spec.level else inner


def _is_none(spec: Spec) -> bool:
    return type(spec) is Known and spec.value is None


def _join_unsure(a: Spec, b: Spec, path: tuple[Any, ...]) -> Spec:
    none = not any(isinstance(x, Maybe) and not x.none for x in (a, b))  # else one may be unset
    one, other = (
        x if isinstance(x, Maybe) and x.none is none else Maybe(x, FLAG, "", none) for x in (a, b)
    )
    if none and (_is_none(a) or _is_none(b)):
        inner = other.inner if _is_none(a) else one.inner
        inner = _as_value(inner) or inner
    else:
        inner = join(one.inner, other.inner, path)
    if not none and isinstance(inner, Known | Node):
        raise Unlike(path, str(a), str(b))
    flag = join_values(one.flag, other.flag, path)
    return Maybe(inner, flag, one.name or other.name, none)


FLAG = Value(Aval((), dtypes.canonicalize(bool)))


def _as_value(spec: Spec) -> Spec | None:
    if type(spec) is Known:
        x = spec.value
        if isinstance(x, enum.Enum) and isinstance(x, int):
            x = int(x)  # a member of an `IntEnum`, of which data chooses one
        return Value(aval_of(x)) if type(x) in NUMBERS else None
    return None if isinstance(spec, Node) or not spec.is_value else spec


def join_values(a: Spec, b: Spec, path: tuple[Any, ...]) -> Spec:
    if a.level < b.level:
        a, b = b, a
    if isinstance(a, Value) and isinstance(b, Value):
        if a.aval.shape != b.aval.shape:
            raise Unlike(path, str(a), str(b))
        kinds = [(x.aval.dtype, x.aval.weak) for x in (a, b)]
        return Value(Aval(a.aval.shape, *dtypes.result_kind(*kinds)))
    if isinstance(a, Laned):
        inner = b.inner if isinstance(b, Laned) and b.level == a.level else b.spread(a.lanes)
        return Laned(join_values(a.inner, inner, path), a.lanes, a.level)
    assert isinstance(a, Dualed)
    if isinstance(b, Dualed) and b.level == a.level:
        primal = join_values(a.primal, b.primal, path)
        tangent = join_values(a.tangent, b.tangent, path)
    else:
        primal, tangent = join_values(a.primal, b, path), a.tangent
    return Dualed(primal, join_values(tangent, _like(primal), path), a.level)


def _like(primal: Spec) -> Spec:
    """The spec of a primal value below its tangents: what its own tangent must at least be."""
    while isinstance(primal, Dualed):
        primal = primal.primal
    return primal


def same(a: Any, b: Any) -> bool:
    """Whether two Python constants are interchangeable."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, types.FunctionType):
        return a.__code__ is b.__code__ and _same_all(_captured(a), _captured(b))
    if isinstance(a, types.MethodType):
        return a.__func__ is b.__func__ and a.__self__ is b.__self__
    if isinstance(a, float):
        return repr(a) == repr(b)
    if type(a).__eq__ is not object.__eq__ and _may_lie(a):
        from overt.runtime.world import attributes_of

        one, other = attributes_of(a), attributes_of(b)
        if not one and not other:
            return False
        return list(one) == list(other) and _same_all([*one.values()], [*other.values()])
    try:
        return bool(a == b)
    except Exception:  # what cannot be compared is not the same
        return False


def _may_lie(x: Any) -> bool:
    """Whether a class of the user's says which of its objects are equal: others may differ too."""
    from overt.runtime.world import is_users_object

    return is_users_object(x) and not isinstance(x, enum.Enum)


def _captured(fn: types.FunctionType) -> list[Any]:
    return [*captured(fn), *(fn.__defaults__ or ()), *(fn.__kwdefaults__ or {}).values()]


def _same_all(xs: list[Any], ys: list[Any]) -> bool:
    return len(xs) == len(ys) and all(map(same, xs, ys))


def zeros(aval: Aval) -> Any:
    """The placeholder of an array that is not set."""
    from overt.runtime import numpy as np

    return cast(np.zeros(aval.shape, aval.dtype), aval)


def cast(x: Any, aval: Aval) -> Any:
    """An array with the dtype and weakness that are asked for."""
    if aval_of(x) is aval and not isinstance(x, NUMBERS):
        return x
    return retype(x, dtype=aval.dtype, weak=aval.weak)
