"""The placeholder of a variable that is not set on the path taken."""

from __future__ import annotations

from typing import Any, NoReturn


class UnsetVariable(UnboundLocalError):
    """A placeholder was used: the branch that did so cannot be taken, or is a mistake."""

    __module__, __qualname__ = "builtins", "UnboundLocalError"  # as Python says it


class UndefinedValue:
    """Stands for a variable that has no value yet; any use of it raises UnboundLocalError.

    >>> Undefined("total") + 1
    Traceback (most recent call last):
    UnboundLocalError: variable 'total' is used but was not set on the path taken
    """

    __slots__ = ("name",)

    def __init__(self, name: str = ""):
        object.__setattr__(self, "name", name)

    def __call__(self, *args: Any, **kwargs: Any) -> UndefinedValue:
        if name_of(self) or kwargs or len(args) != 1 or type(args[0]) is not str:
            _refuse(self)
        return UndefinedValue(args[0])

    def __repr__(self) -> str:
        name = name_of(self)
        return f"Undefined({name!r})" if name else "Undefined"

    def __reduce__(self) -> Any:
        return UndefinedValue, (name_of(self),)


def name_of(placeholder: UndefinedValue) -> str:
    """The name of the variable that a placeholder stands for; empty if it has none."""
    return object.__getattribute__(placeholder, "name")


def _refuse(self: UndefinedValue, *_: Any, **__: Any) -> NoReturn:
    name = name_of(self)
    what = f"variable {name!r}" if name else "a variable"
    raise UnsetVariable(f"{what} is used but was not set on the path taken")


def refuse_unset(x: Any) -> None:
    """Refuse to give back a variable of the user's that is not set."""
    if type(x) is UndefinedValue and name_of(x):
        _refuse(x)


def _refuse_attribute(self: UndefinedValue, attribute: str) -> Any:
    # What Python and libraries ask of any object is no use of the variable.
    if attribute.startswith("__") and attribute.endswith("__"):
        if attribute in ("__class__", "__reduce__", "__reduce_ex__", "__repr__", "__dir__"):
            return object.__getattribute__(self, attribute)
        raise AttributeError(attribute)
    return _refuse(self)


USES = """
abs add and bool complex contains delitem divmod enter exit eq float floordiv format ge getitem gt
iadd iand ifloordiv ilshift imatmul imod imul index int invert ior ipow irshift isub iter itruediv
ixor le len lshift lt matmul mod mul ne neg next or pos pow radd rand rdivmod reversed rfloordiv
rlshift rmatmul rmod rmul ror round rpow rrshift rshift rsub rtruediv rxor setattr setitem sub
truediv xor str array array_ufunc
""".split()
for _use in USES:
    setattr(UndefinedValue, f"__{_use}__", _refuse)
setattr(UndefinedValue, "__getattribute__", _refuse_attribute)  # noqa: B010
setattr(UndefinedValue, "__hash__", object.__hash__)  # noqa: B010

# The placeholder itself; `Undefined("x")` is one that knows the variable's name.
Undefined = UndefinedValue()
