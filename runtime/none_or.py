"""A container or object of which data says whether it is there or None.

hit = Hit(t) if t > 0 else None      # under `jit` and `vmap` a `NoneOr`
if hit is not None: ...              # asks its flag; in this branch it is the object itself
hit.t                                # elsewhere this is checked when the program runs
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy

from overt.runtime.array import Array
from overt.runtime.asked_again import MAY_BE_CHOSEN, AskedOfText
from overt.runtime.errors import StagingError
from overt.runtime.tree_registry import register_pytree_node
from overt.runtime.undefined import UndefinedValue

__all__ = ["NoneOr", "opened", "told_apart", "told_in"]


class NoneOr:
    """A value, and the flag that says whether it is there; else it is None.

    Errors: TypeError, when the program uses it where it is None.
    """

    __slots__ = ("__overt_flag__", "__overt_name__", "__overt_value__")

    def __init__(self, value: Any, flag: Any, name: str = "") -> None:
        object.__setattr__(self, "__overt_value__", value)
        object.__setattr__(self, "__overt_flag__", flag)
        object.__setattr__(self, "__overt_name__", name)
        if not MAY_BE_CHOSEN.get():
            raise AskedOfText("data decides whether a value is None; ask what decided it instead")

    def __overt_there__(self) -> Any:
        """The value, checked where the program is now."""
        from overt.runtime.staged_builtins import require

        what = f"variable {self.__overt_name__!r}" if self.__overt_name__ else "a value"
        kind = type(self.__overt_value__).__name__
        require(
            self.__overt_flag__,
            TypeError(
                f"{what} is None on the path taken and used as a {kind}; ask `is None` first"
            ),
        )
        return self.__overt_value__

    def __overt_truth__(self) -> Any:
        from overt.runtime.predicates import both, predicate

        return both(predicate(self.__overt_flag__), predicate(self.__overt_value__))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(f"what data may make None has no attribute {name!r} yet")
        if not hasattr(self.__overt_value__, name):  # as None has none
            raise AttributeError(f"what may be None has no attribute {name!r}")
        return getattr(self.__overt_there__(), name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.__overt_there__(), name, value)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.__overt_there__())

    def __len__(self) -> int:
        return len(self.__overt_there__())

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self.__overt_there__()(*args, **keywords)

    def __contains__(self, item: Any) -> Any:
        return item in self.__overt_there__()

    def __hash__(self) -> int:
        raise TypeError("whether this is None is known only when the program runs: it is no key")

    def __repr__(self) -> str:
        return f"None or {self.__overt_value__!r}"

    def __eq__(self, other: object) -> Any:
        from overt.runtime.predicates import both, negated, predicate

        flag = predicate(self.__overt_flag__)
        if other is None:
            return negated(flag)
        return both(flag, predicate(self.__overt_value__ == other))

    def __ne__(self, other: object) -> Any:
        from overt.runtime.truth import not_

        return not_(self == other)


def _method(call: Callable) -> Callable:
    return lambda self, *args: call(self.__overt_there__(), *args)


def _swapped(call: Callable) -> Callable:
    return lambda self, other: call(other, self.__overt_there__())


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"):
    setattr(NoneOr, f"__{_name}__", _method(getattr(operator, _name)))
    setattr(NoneOr, f"__r{_name}__", _swapped(getattr(operator, _name)))
for _name in ("lt", "le", "gt", "ge", "neg", "pos", "abs", "getitem", "setitem"):
    setattr(NoneOr, f"__{_name}__", _method(getattr(operator, _name)))


def _rebuilt(name: str, parts: Sequence[Any]) -> Any:
    value, flag = parts
    if isinstance(flag, (Array, numpy.ndarray)) and flag.shape:
        raise StagingError(
            "the result is None in some lanes of a `vmap`; return a mask and what you compute"
        )
    if isinstance(flag, (bool, numpy.bool_, numpy.ndarray)) or _is_ready(flag):
        return value if flag else None
    return NoneOr(value, flag, name)


def _is_ready(flag: Any) -> bool:
    from overt.runtime.primitive import GRAPH
    from overt.runtime.staging import is_known

    return isinstance(flag, Array) and GRAPH.get() is None and is_known(flag)


register_pytree_node(
    NoneOr,
    lambda x: ((x.__overt_value__, x.__overt_flag__), x.__overt_name__),
    lambda name, parts: _rebuilt(name, list(parts)),
)


def opened(x: Any) -> tuple[Any, Any]:
    """The value of what may be None, and whether it is not."""
    if type(x) is NoneOr:
        return x.__overt_value__, x.__overt_flag__
    return (UndefinedValue() if x is None else x), x is not None


# --- in the sides of a branch


def told_apart(pred: Any, operands: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
    """The operands of the two sides of a branch, which know what its test says of them."""
    return told_in(pred, True, operands), told_in(pred, False, operands)


def told_in(pred: Any, side: bool, operands: Sequence[Any]) -> Sequence[Any]:
    """The same of one side, where the predicate is `side`."""
    if not any(type(x) is NoneOr for x in operands):
        return operands
    return tuple(
        x.__overt_value__ if type(x) is NoneOr and told(pred, side, x.__overt_flag__) else x
        for x in operands
    )


def told(pred: Any, side: bool, flag: Any) -> bool | None:
    """What a flag surely is where a predicate is `side`; None where that is not sure."""
    from overt.runtime.lanes import Lanes
    from overt.runtime.staging import Symbolic, is_known

    if pred is flag:
        return side
    if type(pred) is Lanes and type(flag) is Lanes and pred.level == flag.level:
        return told(pred.value, side, flag.value)
    if type(pred) is Symbolic:
        name = getattr(pred.node.primitive, "name", "")
        if name == "invert":
            return told(pred.node.inputs[0], not side, flag)
        if name == ("bitwise_and" if side else "bitwise_or"):
            found = [told(x, side, flag) for x in pred.node.inputs]
            return next((x for x in found if x is not None), None)
        return None
    if isinstance(pred, Array) and isinstance(flag, Array) and is_known(pred) and is_known(flag):
        seen = set(flag.numbers()[pred.numbers() == side].ravel().tolist())
        return seen.pop() if len(seen) == 1 else None
    return None
