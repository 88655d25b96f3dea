"""What `vjp` returns beside the value: a function of cotangents that is a tree of arrays."""

from __future__ import annotations

from typing import Any

from overt.runtime import dtypes
from overt.runtime.aval import Aval, aval_of
from overt.runtime.derivatives import zeros_like_tree
from overt.runtime.interop import as_array
from overt.runtime.parts import is_array
from overt.runtime.tree import register_pytree_node, tree_flatten, tree_structure
from overt.transformer.gradients import FLOAT0, fitted
from overt.transformer.transformed import noted


class VjpFunction:
    """From the cotangent of a function's result to those of its arguments, at one point.

    It is a tree of what the function saved, so that it may be returned, batched and differentiated.
    """

    def __init__(self, pull: Any, out: Any, arguments: Any, aux: Any) -> None:
        self.pull, self.out, self.arguments, self.aux = pull, out, arguments, aux

    def __call__(self, out_bar: Any) -> tuple:
        out_bar = checked_cotangent(rebuilt(self.out), out_bar)
        arguments = rebuilt(self.arguments)
        with noted():
            if self.aux:
                out_bar = (out_bar, zeros_like_tree(rebuilt(self.aux)))
            bars = self.pull(out_bar)[1:]
        return tuple(fitted(bar, x) for bar, x in zip(bars, arguments, strict=True))

    def __repr__(self) -> str:
        return f"VjpFunction({rebuilt(self.out)} -> {rebuilt(self.arguments)})"


register_pytree_node(
    VjpFunction,
    lambda f: ((f.pull,), (f.out, f.arguments, f.aux)),
    lambda data, parts: VjpFunction(parts[0], *data),
)


def shapes_of(tree: Any) -> tuple[Any, tuple[Any, ...]]:
    """A tree without its numbers, as a value that can be compared."""
    leaves, definition = tree_flatten(tree)
    return definition, tuple(aval_of(x) if is_array(x) else type(x) for x in leaves)


def rebuilt(shapes: tuple[Any, tuple[Any, ...]]) -> Any:
    """The tree again, with shapes in place of arrays."""
    from overt.transformer.stages import ShapeDtypeStruct

    definition, avals = shapes
    return definition.unflatten(
        ShapeDtypeStruct(a.shape, a.dtype, weak_type=a.weak) if isinstance(a, Aval) else a
        for a in avals
    )


def checked_cotangent(out: Any, out_bar: Any) -> Any:
    """A cotangent that belongs to the result."""
    leaves, definition = tree_flatten(out)
    try:
        bars = definition.flatten_up_to(out_bar)
    except ValueError:
        raise ValueError(
            "unexpected tree structure of argument to vjp function: got "
            f"{tree_structure(out_bar)}, but expected to match {definition}"
        ) from None
    return definition.unflatten(
        _checked_cotangent(x, bar) for x, bar in zip(leaves, bars, strict=True)
    )


def _checked_cotangent(x: Any, bar: Any) -> Any:
    if not is_array(x) or getattr(bar, "dtype", None) == FLOAT0 or bar is None:
        return None
    have, want = aval_of(bar), aval_of(x)
    if not dtypes.is_inexact(want.dtype):
        return None
    if have.shape != want.shape or have.dtype != want.dtype and not have.weak:
        raise ValueError(
            "unexpected JAX type (e.g. shape/dtype) for argument to vjp function: got "
            f"{have}, but expected {want} because the corresponding output of the function had "
            "that type"
        )
    return as_array(bar).astype(want.dtype)
