"""Functions that hold values: partials, methods, and transformations of those.

A closure over a value under differentiation is a partial in generated code, and may be wrapped in
any transformation.  The cotangent of a transformed function is that of the function it wraps.
"""

from __future__ import annotations

import functools
import types
from typing import Any

from overt.runtime.derivatives import children_of, is_inexact
from overt.runtime.parts import parts_of
from overt.runtime.saved import Saved
from overt.runtime.tree import tree_flatten, tree_map
from overt.runtime.tree_registry import register_pytree_node
from overt.transformer.transformed import Transformed

WRAPPERS = frozenset(
    "checkpoint grad hessian jacfwd jacrev jit named_call value_and_grad vmap".split()
)


def is_wrapper(f: Any) -> bool:
    """Whether calling this only wraps a function: `grad`, `jit`, `vmap` and the like."""
    module = getattr(f, "__module__", None) or ""
    return module.startswith("overt.transformer.") and getattr(f, "__name__", "") in WRAPPERS


def innermost(f: Any) -> Any:
    """What a transformed function wraps in the end."""
    while isinstance(f, Transformed):
        f = f.__wrapped__
    return f


def kinds_around(f: Any) -> tuple[Any, ...]:
    """The transformations of a function, from the outermost one."""
    kinds: list[Any] = []
    while isinstance(f, Transformed):
        kinds.append((type(f), f.chain))
        f = f.__wrapped__
    return tuple(kinds)


def rewrapped(f: Any, inner: Any) -> Any:
    """The same transformations of another function."""
    if not isinstance(f, Transformed):
        return inner
    return f.wrapping(rewrapped(f.__wrapped__, inner), 0, 0)


def shifted(f: Any, count: int) -> tuple[Any, tuple[Any, ...]] | None:
    """A transformed partial as a function of what it holds too, before `count` arguments."""
    held = innermost(f)
    if not isinstance(held, functools.partial) or held.keywords:
        return None

    def around(g: Any) -> Any:
        if not isinstance(g, Transformed):
            return held.func
        inner = around(g.__wrapped__)
        return None if inner is None else g.wrapping(inner, len(held.args), count)

    made = around(f)
    return None if made is None else (made, held.args)


class Opened:
    """A function that holds values, as a container of them, so that they can be recorded."""

    def __init__(self, values: tuple[Any, ...], like: Any) -> None:
        self.values, self.like = values, like

    def closed(self) -> Any:
        """The function."""
        values = [closed(x) for x in self.values]
        if isinstance(self.like, functools.partial):
            return functools.partial(self.like.func, *values[0], **values[1])
        if isinstance(self.like, types.MethodType):
            return types.MethodType(self.like.__func__, values[0])
        if isinstance(self.like, Transformed):
            return rewrapped(self.like, values[0])
        parts = parts_of(self.like)
        assert parts is not None
        return parts.rebuild(values)

    def cotangent(self) -> Any:
        """The cotangent that this is, in the form that generated code expects."""
        values = [cotangents(x) for x in self.values]
        if isinstance(self.like, functools.partial):
            return tuple(values)
        if isinstance(self.like, types.MethodType | Transformed):
            return values[0]
        parts = parts_of(self.like)
        assert parts is not None
        return parts.rebuild(values)


class _Like:
    """Compares as the kind of function that it holds, whatever values that holds."""

    def __init__(self, f: Any) -> None:
        self.f = f

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Like) or type(self.f) is not type(other.f):
            return False
        return kinds_around(self.f) == kinds_around(other.f)

    def __hash__(self) -> int:
        return hash(type(self.f))


register_pytree_node(
    Opened, lambda x: (x.values, _Like(x.like)), lambda like, values: Opened(tuple(values), like.f)
)


def opened(tree: Any) -> Any:
    """A tree with every function that holds floats taken apart."""
    return tree_map(_opened_leaf, tree)


def _opened_leaf(x: Any) -> Any:
    if isinstance(x, functools.partial):
        values: tuple[Any, ...] = (opened(x.args), opened(x.keywords))
    elif isinstance(x, types.MethodType):
        values = (opened(x.__self__),)
    elif isinstance(x, Transformed):
        values = (opened(innermost(x)),)
    elif not isinstance(x, type) and (parts := parts_of(x)) is not None:
        values = tuple(map(opened, parts.values))
    else:
        return x
    made = Opened(values, x)
    return made if any(map(is_inexact, tree_flatten(made)[0])) else x


def closed(tree: Any) -> Any:
    """The tree again, with functions in their places."""
    return tree_map(lambda x: x.closed() if type(x) is Opened else x, tree, is_leaf=_is_opened)


def cotangents(tree: Any) -> Any:
    """Cotangents of an opened tree as those of the tree itself."""
    return tree_map(
        lambda x: x.cotangent() if type(x) is Opened else x,
        tree,
        is_leaf=lambda x: isinstance(x, Opened | LinearFunction),
    )


def opened_bars(tree: Any, bar: Any) -> Any:
    """A cotangent of a tree in the form of the opened tree."""
    if bar is None:
        return None
    if type(tree) is Opened:
        if isinstance(tree.like, types.MethodType | Transformed):
            parts: Any = (bar,)
        else:
            parts = (children_of(bar) or (bar,))[0]
        pairs = zip(tree.values, parts, strict=True)
        return Opened(tuple(opened_bars(x, b) for x, b in pairs), tree.like)
    # Records of loops and their cotangents may be kept in different ways.
    pieces, definition = tree_flatten(tree, lambda x: _is_opened(x) or type(x) is Saved)
    if not any(map(_is_opened, pieces)):
        return bar
    pairs = zip(pieces, definition.flatten_up_to(bar), strict=True)
    return definition.unflatten([opened_bars(x, b) if _is_opened(x) else b for x, b in pairs])


def _is_opened(x: Any) -> bool:
    return type(x) is Opened


class LinearFunction:
    """From the tangents of a function's arguments to that of its result, at one point."""

    def __init__(self, function: Any, arguments: Any, has_aux: bool) -> None:
        self.function, self.arguments, self.has_aux = opened(function), arguments, has_aux

    def __call__(self, *tangents: Any) -> Any:
        from overt.transformer.jacobians import jvp

        return jvp(closed(self.function), self.arguments, tangents, self.has_aux)[1]


register_pytree_node(
    LinearFunction,
    lambda f: ((f.function, f.arguments), f.has_aux),
    lambda has_aux, parts: LinearFunction(parts[0], parts[1], has_aux),  # type: ignore[call-arg]
)
