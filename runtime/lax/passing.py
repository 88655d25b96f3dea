"""Functions that hand values on, with something to say to the compiler or to the reader."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

import overt.runtime.numpy as np
from overt.runtime.interop import default_backend
from overt.runtime.places import named_scope
from overt.runtime.primitive import Primitive
from overt.runtime.tree import register_pytree_node, tree_flatten, tree_map


def _batch_barrier(values: Any, axes: Any, size: int) -> Any:
    made = barrier(*values)
    return (made, axes) if isinstance(made, tuple) else ((made,), axes)


barrier = Primitive(
    "optimization_barrier",
    shape=lambda *avals: list(avals),
    lower=lambda b, *values, avals, out: b.optimization_barrier(values),
    linear=True,
    vjp=lambda g, out, *operands: barrier(*g),
    jvp=lambda dots, out, *operands: barrier(*dots),
    arrays=("operands",),
    batch=_batch_barrier,
    doc="The operands; the compiler moves no operation past them.",
)


def optimization_barrier(operand: Any, /) -> Any:
    """A tree of values as they are; the compiler moves no operation past this place.

    >>> optimization_barrier({"x": 1.0})
    {'x': Array(1., dtype=float32, weak_type=True)}
    """
    leaves, definition = tree_flatten(operand)
    return definition.unflatten(barrier(*map(np.asarray, leaves))) if leaves else operand


_sink = Primitive(
    "dce_sink",
    shape=lambda x: [],
    lower=lambda b, x, *, avals, out: [],
    vjp=(None,),
    zero_derivative=True,
    effect=True,
    batch=lambda values, axes, size: (_sink(*values), ()),
    doc="Uses a value, so that it is computed.",
)


def dce_sink(val: Any, *, prevent_mlir_dce: bool = False) -> None:
    """Keep what computes a tree of values in the program, although nothing else needs it."""
    if prevent_mlir_dce:
        raise NotImplementedError("dce_sink: XLA itself is free to drop what no result needs")
    tree_map(lambda leaf: _sink(np.asarray(leaf)), val)


class Token:
    """What effects wait for elsewhere; here they happen in the order of the program anyway."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "Token()"


register_pytree_node(Token, lambda token: ((), None), lambda _, parts: Token())


def create_token(_: Any = None) -> Token:
    """A token, for code that hands them on."""
    return Token()


def after_all(*operands: Token) -> Token:
    """One token for several."""
    wrong = [x for x in operands if not isinstance(x, Token)]
    if wrong:
        raise TypeError(f"after_all joins tokens of create_token, got {wrong[0]!r}")
    return Token()


def platform_dependent(
    *args: Any, default: Callable | None = None, **per_platform: Callable
) -> Any:
    """What the function for the platform in use returns: `cpu=`, `cuda=`, `tpu=`, else `default`.

    Errors: NotImplementedError where there is none.

    >>> platform_dependent(3.0, cpu=lambda x: 2 * x, default=lambda x: x)
    6.0
    """
    from overt.runtime import lifted

    platform = default_backend()
    names = ("gpu", "cuda", "rocm") if platform == "gpu" else (platform,)
    chosen = next((per_platform[n] for n in names if n in per_platform), default)
    if chosen is None:
        raise NotImplementedError(
            f"platform_dependent has nothing for {platform}, only for {sorted(per_platform)}; "
            "give a default="
        )
    return lifted(chosen)(*args)


def composite(decomposition: Callable, name: str, version: int = 0) -> Callable:
    """The function, its operations in a scope of that name; keyword arguments are attributes.

    >>> double = composite(lambda x: 2 * x, "my.double")
    >>> double(3.0)
    6.0
    """
    from overt.runtime import lifted

    def composed(*args: Any, **attributes: Any) -> Any:
        with named_scope(f"{name}.{version}" if version else name):
            return lifted(decomposition)(*args, **attributes)

    return composed


def stage(x: Any, /) -> Any:
    """A number or NumPy array as an array of the program being staged, or of ours."""
    return np.asarray(x)


def shape_as_value(shape: Any) -> Any:
    """A shape as an integer array.

    >>> print(shape_as_value((2, 3)))
    [2 3]
    """
    return np.asarray(numpy.array(tuple(shape), numpy.int32))
