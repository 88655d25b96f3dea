"""Values of `vmap`: one array that stands for one array a lane."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy

from overt.runtime import config
from overt.runtime.array import Array
from overt.runtime.aval import Aval, aval_of
from overt.runtime.errors import BatchedPredicateError
from overt.runtime.interop import as_array
from overt.runtime.parts import NUMBERS
from overt.runtime.places import asked_by_a_program
from overt.runtime.primitive import Composite, Primitive, broadcast_shapes

# Operands that are no arrays of ours yet.
HOST = (*NUMBERS, numpy.ndarray, numpy.generic)

__all__ = ["Lanes", "has_lanes", "spread"]


class Lanes(Array):
    """An array that differs from lane to lane of one `vmap`; the lanes are axis 0 of `value`.

    Its shape and dtype are those of one lane.  `level` tells nested vmaps apart.
    """

    __slots__ = ("value", "level", "aval")

    def __init__(self, value: Any, level: int):
        self.value = value
        self.level = level
        aval = aval_of(value)
        self.aval = Aval(aval.shape[1:], aval.dtype, aval.weak)

    @property
    def lanes(self) -> int:
        """How many lanes there are."""
        return self.value.shape[0]

    def handle(self, primitive: Primitive, operands: Sequence[Any], params: dict) -> Any:
        """Apply a primitive in every lane at once."""
        if config.current().numpy_rank_promotion != "allow":  # asked of lanes, not of their axis
            if primitive.elementwise:
                broadcast_shapes(*(aval_of(x).shape for x in operands), name=primitive.name)
            with config.override("numpy_rank_promotion", "allow"):
                return self.handle(primitive, operands, params)
        values = [self._inner(x) for x in operands]
        axes = [0 if self._is_peer(x) else None for x in operands]
        if primitive.elementwise:
            values = _aligned(values, axes, operands)
            return Lanes(primitive(*values, **params), self.level)
        if primitive.batch is None:
            return self._lane_by_lane(primitive, values, axes, params)
        values = [as_array(x) if isinstance(x, HOST) else x for x in values]
        return self._wrapped(*primitive.batch(values, axes, self.lanes, **params))

    def handle_composite(self, function: Composite, operands: Sequence[Any], static: dict) -> Any:
        """Apply a composite that has a batching rule of its own; others run their body."""
        if function.batch is None:
            return NotImplemented
        values = [self._inner(x) for x in operands]
        axes = [0 if self._is_peer(x) else None for x in operands]
        return self._wrapped(*function.batch(values, axes, self.lanes, **static))

    def _is_peer(self, x: Any) -> bool:
        return type(x) is Lanes and x.level == self.level

    def _inner(self, x: Any) -> Any:
        return x.value if type(x) is Lanes and x.level == self.level else x

    def _wrapped(self, value: Any, axis: Any) -> Any:
        if isinstance(value, (tuple, list)):
            axes = axis if isinstance(axis, (tuple, list)) else [axis] * len(value)
            return tuple(self._wrapped(v, a) for v, a in zip(value, axes, strict=True))
        if axis is None:
            return value
        return Lanes(value if axis == 0 else move_axis(value, axis, 0), self.level)

    def _lane_by_lane(self, primitive: Primitive, values: list, axes: list, params: dict) -> Any:
        from overt.runtime import numpy as np

        results = [
            primitive(
                *(x if a is None else x[k] for x, a in zip(values, axes, strict=True)), **params
            )
            for k in range(self.lanes)
        ]
        if not isinstance(results[0], tuple):
            return Lanes(np.stack(results), self.level)
        return tuple(Lanes(np.stack(column), self.level) for column in zip(*results, strict=True))

    def item(self, *args: int) -> Any:
        from overt.runtime.staged_builtins import item_of_array

        return item_of_array(self, *args)

    def concrete(self, purpose: str) -> NoReturn:
        raise BatchedPredicateError(
            f"{purpose} needs one value, but this one differs between the {self.lanes} lanes of a "
            f"vmap ({self.aval}); `if`, `while` and `for` inside transformed functions accept it, "
            "elsewhere use np.where"
        )

    def __str__(self) -> str:
        return str(self.numbers("a text of it")) if asked_by_a_program() else repr(self)

    def __repr__(self) -> str:
        if asked_by_a_program():
            return repr(self.numbers("a text of it"))
        return f"Lanes({self.aval}, {self.lanes} lanes, {self.value!r})"


def _aligned(values: list, axes: list, operands: Sequence[Any]) -> list:
    """Put the lanes in front of the longest shape, where broadcasting cannot mistake them."""
    ndim = max(len(getattr(x, "shape", ())) for x in operands)
    return [
        x if axis is None or len(x.shape) == ndim + 1 else _with_rank(x, ndim + 1)
        for x, axis in zip(values, axes, strict=True)
    ]


def _with_rank(x: Any, ndim: int) -> Any:
    from overt.runtime import numpy as np

    lanes, *shape = x.shape
    return np.reshape(x, (lanes, *(1,) * (ndim - len(x.shape)), *shape))


def move_axis(x: Any, source: int, target: int) -> Any:
    """`x` with one axis in another place."""
    from overt.runtime import numpy as np

    return np.moveaxis(x, source, target)


def spread(x: Any, lanes: int) -> Any:
    """The same value for every lane, as an array with the lanes in front."""
    from overt.runtime import numpy as np

    return np.broadcast_to(x, (lanes, *aval_of(x).shape))


def has_lanes(x: Any) -> bool:
    """Whether a value differs between lanes, at any level."""
    while type(x) is not Lanes:
        x = getattr(x, "primal", None) if isinstance(x, Array) else None
        if x is None:
            return False
    return True
