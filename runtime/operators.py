"""Operators and methods of arrays: each is the function of that name in `overt.numpy`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from overt.runtime.aval import Aval
from overt.runtime.handled import CATCHING


class _Functions(dict):
    """Functions of `overt.runtime.numpy` by name, looked up when first used."""

    def __missing__(self, name: str) -> Callable:
        import overt.runtime.numpy as functions

        self[name] = found = getattr(functions, name)
        return found


functions = _Functions()
_NUMBERS = (int, float, complex, np.ndarray, np.generic)


def _operator(name: str, swapped: bool = False) -> Callable:
    """The method for a binary operator; foreign operands are left to their own classes."""
    if swapped:

        def method(self: Operators, other: Any) -> Any:
            if isinstance(other, _operands):
                return functions[name](other, self)
            return NotImplemented

    else:

        def method(self: Operators, other: Any) -> Any:
            if isinstance(other, _operands):
                return functions[name](self, other)
            return NotImplemented

    return method


def _dividing(name: str, swapped: bool = False) -> Callable:
    """As `_operator`, of one that raises an exception for some numbers of Python's."""
    plain = _operator(name, swapped)

    def method(self: Operators, other: Any) -> Any:
        if CATCHING.get():
            from overt.runtime.risks import about_to_divide, about_to_raise_power

            x, y = (other, self) if swapped else (self, other)
            about_to_raise_power(x, y) if name == "power" else about_to_divide(y)
        return plain(self, other)

    return method


def _unary(name: str) -> Callable:
    def method(self: Operators) -> Any:
        return functions[name](self)

    return method


def _method(name: str) -> Callable:
    def method(self: Operators, *args: Any, **kwargs: Any) -> Any:
        return functions[name](self, *args, **kwargs)

    method.__name__ = name
    method.__doc__ = f"`np.{name}` of this array."
    return method


class Operators:
    """What arrays of every kind can do by way of functions."""

    __slots__ = ()
    aval: Aval

    __add__, __radd__ = _operator("add"), _operator("add", True)
    __sub__, __rsub__ = _operator("subtract"), _operator("subtract", True)
    __mul__, __rmul__ = _operator("multiply"), _operator("multiply", True)
    __truediv__, __rtruediv__ = _dividing("divide"), _dividing("divide", True)
    __floordiv__, __rfloordiv__ = _dividing("floor_divide"), _dividing("floor_divide", True)
    __mod__, __rmod__ = _dividing("remainder"), _dividing("remainder", True)
    __divmod__, __rdivmod__ = _dividing("divmod"), _dividing("divmod", True)
    __pow__, __rpow__ = _dividing("power"), _dividing("power", True)
    __matmul__, __rmatmul__ = _operator("matmul"), _operator("matmul", True)
    __and__, __rand__ = _operator("bitwise_and"), _operator("bitwise_and", True)
    __or__, __ror__ = _operator("bitwise_or"), _operator("bitwise_or", True)
    __xor__, __rxor__ = _operator("bitwise_xor"), _operator("bitwise_xor", True)
    __lshift__, __rlshift__ = _operator("left_shift"), _operator("left_shift", True)
    __rshift__, __rrshift__ = _operator("right_shift"), _operator("right_shift", True)
    __lt__, __le__ = _operator("less"), _operator("less_equal")
    __gt__, __ge__ = _operator("greater"), _operator("greater_equal")
    __eq__, __ne__ = _operator("equal"), _operator("not_equal")  # type: ignore[assignment]
    __neg__, __pos__ = _unary("negative"), _unary("positive")
    __abs__, __invert__ = _unary("abs"), _unary("invert")

    # ---- methods ----

    @property
    def T(self) -> Any:
        return functions["transpose"](self)

    @property
    def mT(self) -> Any:
        return functions["matrix_transpose"](self)

    @property
    def real(self) -> Any:
        return functions["real"](self)

    @property
    def imag(self) -> Any:
        return functions["imag"](self)

    @property
    def flat(self) -> Any:
        return functions["ravel"](self)

    def reshape(self, *shape: Any, order: str = "C") -> Any:
        """The same numbers in another shape."""
        return functions["reshape"](self, shape[0] if len(shape) == 1 else shape, order=order)

    def transpose(self, *axes: Any) -> Any:
        """Axes reordered; reversed when none are given."""
        if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (tuple, list))):
            return functions["transpose"](self, axes[0])
        return functions["transpose"](self, axes or None)

    def astype(self, dtype: Any, copy: bool = False, device: Any = None) -> Any:
        """Converted to another dtype."""
        return functions["astype"](self, dtype, device=device)

    def flatten(self, order: str = "C") -> Any:
        return functions["ravel"](self, order=order)

    def copy(self) -> Any:
        return functions["copy"](self)

    def fill(self, value: Any) -> None:
        raise TypeError("arrays are immutable: use np.full_like(x, value) instead of x.fill(value)")

    def view(self, dtype: Any = None, type: Any = None) -> Any:
        """The same bits read as another dtype."""
        return self if dtype is None else functions["view"](self, dtype)


_METHODS = (
    "all", "any", "argmax", "argmin", "argpartition", "argsort", "choose", "clip", "compress",
    "conj", "conjugate", "cumprod", "cumsum", "diagonal", "dot", "max", "mean", "min", "nonzero",
    "partition", "prod", "ptp", "ravel", "repeat", "round", "searchsorted", "sort", "squeeze",
    "std", "sum", "swapaxes", "take", "trace", "var",
)  # fmt: skip
for _name in _METHODS:
    setattr(Operators, _name, _method(_name))

_operands = (Operators, *_NUMBERS)
