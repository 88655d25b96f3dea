"""Plain NumPy functions called on our arrays: answered by our function of the same name."""

from __future__ import annotations

from typing import Any

import numpy as np

from overt.runtime.array import Array
from overt.runtime.primitive import counterpart

_ABOUT_MEMORY = (np.may_share_memory, np.shares_memory)  # asked by libraries before they write


def _missing(name: str) -> TypeError:
    return TypeError(
        f"numpy.{name} was called on an Overt array and has no counterpart in overt.numpy; "
        "convert the array with numpy.asarray(x) first"
    )


def array_function(function: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """`numpy.function(*args, **kwargs)` where an argument is one of our arrays."""
    if isinstance(kwargs.get("out"), np.ndarray):
        return _into(function, args, kwargs)
    if function in _ABOUT_MEMORY:
        return function(*map(np.asarray, args), **kwargs)
    ours = counterpart(function)
    if ours is None:
        raise _missing(function.__name__)
    return ours(*args, **kwargs)


def array_ufunc(ufunc: Any, method: str, inputs: tuple, kwargs: dict[str, Any]) -> Any:
    """`numpy.ufunc.method(*inputs, **kwargs)` where an input is one of our arrays."""
    if kwargs.get("out") is not None:
        return _into(getattr(ufunc, method), inputs, kwargs)
    name = ufunc.__name__
    if method == "__call__":
        ours = counterpart(ufunc)
        if name == "clip":  # that of the method `clip`, which has no other name
            from overt.runtime.numpy import clip as ours
        if ours is None:
            raise _missing(name)
        return ours(*inputs, **kwargs)
    found = getattr(counterpart(ufunc), method, None) if method != "at" else None
    if found is not None:
        return found(*inputs, **kwargs)
    raise _missing(f"{name}.{method}")


def _into(function: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """NumPy itself, where the result is to be written into a NumPy array."""
    outs = kwargs["out"] if isinstance(kwargs["out"], tuple) else (kwargs["out"],)
    if any(isinstance(out, Array) for out in outs):
        raise TypeError("arrays are immutable, so they cannot be given as out=; use the result")
    args = tuple(np.asarray(x) if isinstance(x, Array) else x for x in args)
    return function(*args, **kwargs)
