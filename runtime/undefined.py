"""The placeholder of a variable that is not set on the path taken."""

from __future__ import annotations

from typing import Any, NoReturn


class Undefined:
    """Stands for a variable that has no value yet; any use of it raises UnboundLocalError.

    >>> Undefined("total") + 1
    Traceback (most recent call last):
    UnboundLocalError: variable 'total' is used but was not set on the path taken
    """

    __slots__ = ("name",)

    def __init__(self, name: str = "?"):
        object.__setattr__(self, "name", name)

    def __repr__(self) -> str:
        return f"Undefined({object.__getattribute__(self, 'name')!r})"

    def __reduce__(self) -> Any:
        return Undefined, (object.__getattribute__(self, "name"),)


def name_of(placeholder: Undefined) -> str:
    """The name of the variable that a placeholder stands for."""
    return object.__getattribute__(placeholder, "name")


def _refuse(self: Undefined, *_: Any, **__: Any) -> NoReturn:
    raise UnboundLocalError(f"variable {name_of(self)!r} is used but was not set on the path taken")


def _refuse_attribute(self: Undefined, attribute: str) -> Any:
    # What Python and libraries ask of any object is no use of the variable.
    if attribute.startswith("__") and attribute.endswith("__"):
        if attribute in ("__class__", "__reduce__", "__reduce_ex__", "__repr__", "__dir__"):
            return object.__getattribute__(self, attribute)
        raise AttributeError(attribute)
    if attribute in ("level", "aval"):  # asked of every operand of a primitive
        _refuse(self)
    return _refuse(self)


_USES = """
abs add and bool call complex contains delitem divmod enter exit eq float floordiv format ge getitem
gt iadd iand ifloordiv ilshift imatmul imod imul index int invert ior ipow irshift isub iter itruediv
ixor le len lshift lt matmul mod mul ne neg next or pos pow radd rand rdivmod reversed rfloordiv
rlshift rmatmul rmod rmul ror round rpow rrshift rshift rsub rtruediv rxor setattr setitem sub truediv
xor str array array_ufunc
"""
for _use in _USES.split():
    setattr(Undefined, f"__{_use}__", _refuse)
setattr(Undefined, "__getattribute__", _refuse_attribute)  # noqa: B010
setattr(Undefined, "__hash__", object.__hash__)  # noqa: B010
