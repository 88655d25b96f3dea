"""The number of elements that a mask selects, where only the running program knows it."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from overt.runtime.errors import NonConcreteBooleanIndexError

if TYPE_CHECKING:
    from overt.runtime.numpy.selected import Selected

__all__ = ["Length"]


class Length:
    """Such a number: arithmetic and comparisons give arrays, an `int` of it there is not."""

    __slots__ = ("owner",)

    def __init__(self, owner: Selected):
        self.owner = owner

    def value(self) -> Any:
        """The number, as an array."""
        from overt.runtime import numpy as np

        return np.sum(self.owner.mask)

    def __eq__(self, other: Any) -> Any:
        if not isinstance(other, Length):
            return self.value() == other
        from overt.runtime.numpy.selected import same_value

        return same_value(self.owner.mask, other.owner.mask)

    def __ne__(self, other: Any) -> Any:
        return not self == other if isinstance(other, Length) else self.value() != other

    def __hash__(self) -> int:
        return id(self.owner)

    def __index__(self) -> NoReturn:
        raise NonConcreteBooleanIndexError(
            "the number of elements that a boolean index selects is known only at run time, but "
            "was needed as a Python number; write np.where(mask, x, other) instead"
        )

    __int__ = __bool__ = __index__

    def __repr__(self) -> str:
        return "<number of true elements>"


def _of_value(function: Callable, swapped: bool) -> Callable:
    def apply(self: Length, *other: Any) -> Any:
        values = [x.value() if isinstance(x, Length) else x for x in (self, *other)]
        return function(*(values[::-1] if swapped else values))

    return apply


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    setattr(Length, f"__{_name}__", _of_value(getattr(operator, _name), False))
    setattr(Length, f"__r{_name}__", _of_value(getattr(operator, _name), True))
for _name in ("lt", "le", "gt", "ge", "neg"):
    setattr(Length, f"__{_name}__", _of_value(getattr(operator, _name), False))
