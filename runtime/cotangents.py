"""Cotangents of containers: of parts taken out of them, put into them and moved within them.

A cotangent of a container has the container's own structure; None stands for zero, of a part or of
it all.
"""

from __future__ import annotations

import collections
import copy
import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from overt.runtime.aval import Aval, aval_of
from overt.runtime.containers import appended, changed, popped
from overt.runtime.derivatives import (
    BY_KEY,
    add,
    children_of,
    fitted,
    fresh,
    is_inexact,
    materialize,
    ones_like_tree,
    spread_to,
    sum_to,
    zeros_like_tree,
)
from overt.runtime.escape import Escape
from overt.runtime.parts import is_array, parts_of
from overt.runtime.primitive import Rule
from overt.runtime.saved import Saved
from overt.runtime.world import is_users_object

__all__ = [
    "chosen",
    "joined",
    "merged",
    "move",
    "packed",
    "part",
    "place_field",
    "rows",
    "rows_backwards",
    "spread_over",
    "with_items",
    "without_last",
]


def part(g: Any, index: Any) -> Any:
    """One part of a cotangent; of zero, zero.

    >>> part((1.0, None), 0), part(None, 3)
    (1.0, None)
    """
    return None if g is None else g[index]


def without_last(g: Any) -> Any:
    """The cotangent of what a list was before it was appended to."""
    if isinstance(g, collections.deque):
        if g.maxlen is not None:  # whether an item was dropped is not seen here
            raise Escape(g, "a deque of limited length is appended to")
        return collections.deque(list(g)[:-1])
    return None if g is None else g[:-1]


def packed(x: Any, bars: Iterable[Any]) -> Any:
    """The cotangent of `x` from those of its items, as `a, b = x` gave them."""
    bars = list(bars)
    if is_array(x):
        import overt.runtime.numpy as np

        zero = np.zeros_like(x[0]) if len(bars) else None
        return np.stack([zero if bar is None else bar for bar in bars])
    if isinstance(x, (tuple, list)):
        bars = [
            zeros_like_tree(v) if b is None or is_array(v) and not is_inexact(v) else b
            for v, b in zip(x, bars, strict=False)
        ]
    if type(x) is dict:
        return zeros_like_tree(x)  # unpacking a dictionary gives its keys
    parts = parts_of(x)
    if parts is None or not isinstance(x, (tuple, list)):
        return bars
    return parts.rebuild(bars) if hasattr(x, "_fields") else type(x)(bars)


def rows(saved: Any, x: Any) -> Any:
    """The cotangent of what a loop ran over, from those of its items, the last one first.

    Items that the loop did not reach, since it ended early, get zero.
    """
    if isinstance(x, Saved):
        return saved.flipped()
    if hasattr(type(x), "compacted"):
        x.refuse("the derivative of a loop over x[mask] as source")
    return saved.rows_like(x)


def rows_backwards(saved: Any, x: Any) -> Any:
    """`rows` of what a loop ran over from its end: the item reached last stands first in `x`."""
    return _turned(rows(saved, _turned(x)))


def _turned(x: Any) -> Any:
    if isinstance(x, Saved):
        return x.flipped()
    if is_array(x):
        import overt.runtime.numpy as np

        return np.flip(x, 0)
    if x is None or isinstance(x, Mapping):  # a loop over a dictionary runs over its keys
        return x
    items = list(x)[::-1]
    if hasattr(x, "_fields"):
        return type(x)(*items)
    return tuple(items) if isinstance(x, tuple) else items


def place_field(g: Any, x: Any, name: str) -> Any:
    """The cotangent of an object from that of one of its fields."""
    if g is None:
        return None
    computed = getattr(type(x), name, None)
    if isinstance(computed, property) and computed.fget is not None:
        from overt.runtime import vjp_of

        _, x_bar = vjp_of(computed.fget, x)[1](g)
        return x_bar
    parts = children_of(x)
    if getattr(getattr(x, name, None), "__self__", None) is x:  # a method: what it is bound to
        return g
    if parts is None or getattr(x, name, None) is None:
        if is_users_object(x):
            raise Escape(x)
        raise TypeError(
            f"the attribute {name!r} of a {type(x).__name__} cannot be differentiated: register "
            "the class with overt.tree_util, or pass the value itself"
        )
    values, rebuild = parts
    held = getattr(x, name)
    found = [i for i, value in enumerate(values) if value is held]
    if not found:
        if is_users_object(x):
            raise Escape(x)
        raise TypeError(
            f"the attribute {name!r} of a {type(x).__name__} is computed, not a field, so its "
            "derivative is not known; call a function instead"
        )
    bars = [zeros_like_tree(value) for value in values]
    bars[found[0]] = g
    return rebuild(bars)


def with_items(x: Any, bars: dict[Any, Any] | None = None, /, **named: Any) -> Any:
    """The cotangent of a dictionary from those of some of its items; the others' are zero.

    >>> with_items({"w": 1.0, "b": 2.0, "n": 3}, b=5.0)
    {'w': 0.0, 'b': 5.0, 'n': None}
    """
    bars = {**(bars or {}), **named}
    if type(x) is not dict:
        total = zeros_like_tree(x)
        from overt.runtime.numpy.indexing import place

        for key, bar in bars.items():
            total = add(total, place(bar, x, key))
        return total
    unknown = [key for key in bars if key not in x]
    if unknown:
        raise KeyError(unknown[0])
    return {
        key: fitted(bars[key], value) if key in bars else zeros_like_tree(value)
        for key, value in x.items()
    }


def chosen(bars: dict[str, Any], x: dict[str, Any]) -> dict[str, Any]:
    """The cotangent of the keyword arguments `**x` out of those of all keyword arguments."""
    return {key: bars.get(key) for key in x}


def spare(*keywords: dict[str, Any]) -> tuple:
    """What a pullback leaves out when `**keywords` had none: their cotangents."""
    return () if any(keywords) else ({},)


def spread_over(g: Any, xs: Any) -> Any:
    """The cotangent of what `sum(xs)` added: its own, for each item.

    >>> spread_over(2.0, [1.0, 5.0])
    [2.0, 2.0]
    """
    if type(xs) in (list, tuple) and all(map(is_array, xs)):
        return type(xs)(sum_to(g, x) for x in xs)
    from overt.runtime import vjp_of

    return vjp_of(sum, xs)[1](g)[1]


def added_up(h: Any, g: Any) -> Any:
    """The cotangent of `g` from that of `spread_over(g, xs)`; zero if there are no items.

    >>> added_up([2.0, 3.0], 1.0), added_up([], 1.0)
    (5.0, 0.0)
    """
    total = None
    for part_ in h or ():
        total = add(total, part_)
    return zeros_like_tree(g) if total is None else sum_to(total, g)


def joined(a: Any, b: Any) -> Any:
    """`[*a, *b]`, or the same of tuples."""
    return a + b


def merged(a: dict[Any, Any], b: dict[Any, Any]) -> dict[Any, Any]:
    """`a | b` of dictionaries, as which `{**a, **b}` counts too."""
    return {**a, **b} if type(a) is type(b) is dict else a | b


def head_of(g: Any, a: Any) -> Any:
    return None if g is None else g[: len(a)]


def tail_of(g: Any, a: Any) -> Any:
    return None if g is None else g[len(a) :]


def kept_items(g: Any, a: Any, b: Any) -> Any:
    if g is None or not isinstance(a, dict):
        return None
    return {key: zeros_like_tree(a[key]) if key in b else g[key] for key in a}


def merged_dots(dots: Any, out: Any) -> Any:
    """The tangent of dictionaries merged."""
    from overt.runtime.tangents import zero_dot

    a, b = dots
    if not isinstance(out, dict):
        return zero_dot(out)
    return {key: b[key] if b and key in b else a[key] for key in out}


def taken_over(g: Any, b: Any) -> Any:
    return None if g is None or not isinstance(b, dict) else {key: g[key] for key in b}


appended.rule = Rule(  # type: ignore[attr-defined]
    "appended", ("xs", "item"),
    vjp=(lambda g, out, xs, item: without_last(g), lambda g, out, xs, item: part(g, -1)),
    jvp=lambda dots, out, xs, item: appended(dots[0], dots[1]),
)  # fmt: skip
joined.rule = Rule(  # type: ignore[attr-defined]
    "joined", ("a", "b"),
    vjp=(lambda g, out, a, b: head_of(g, a), lambda g, out, a, b: tail_of(g, a)),
    jvp=lambda dots, out, a, b: joined(dots[0], dots[1]),
)  # fmt: skip
merged.rule = Rule(  # type: ignore[attr-defined]
    "merged", ("a", "b"),
    vjp=(lambda g, out, a, b: kept_items(g, a, b), lambda g, out, a, b: taken_over(g, b)),
    jvp=lambda dots, out, a, b: merged_dots(dots, out),
)  # fmt: skip


spread_to.rule = Rule(  # type: ignore[attr-defined]
    "spread_to", ("g", "wide"),
    vjp=(lambda h, out, g, wide: sum_to(h, g), None),
    jvp=lambda dots, out, g, wide: spread_to(dots[0], wide),
)  # fmt: skip
spread_over.rule = Rule(  # type: ignore[attr-defined]
    "spread_over", ("g", "xs"),
    vjp=(lambda h, out, g, xs: added_up(h, g), None),
    jvp=lambda dots, out, g, xs: spread_over(dots[0], xs),
)  # fmt: skip
fresh.rule = Rule(  # type: ignore[attr-defined]
    "fresh", ("g", "x"),
    vjp=(lambda h, out, g, x: fresh(h, g), None),
    jvp=lambda dots, out, g, x: fresh(dots[0], x),
)  # fmt: skip
materialize.rule = Rule(  # type: ignore[attr-defined]
    "materialize", ("x_bar", "x"),
    vjp=(lambda g, out, x_bar, x: g, None),
    jvp=lambda dots, out, x_bar, x: materialize(dots[0], x),
)  # fmt: skip
zeros_like_tree.rule = Rule("zeros_like_tree", ("x",), zero=True)  # type: ignore[attr-defined]
ones_like_tree.rule = Rule("ones_like_tree", ("x",), zero=True)  # type: ignore[attr-defined]
add.rule = Rule(  # type: ignore[attr-defined]
    "add", ("a", "b"), linear=True, vjp=(lambda g, out, a, b: g, lambda g, out, a, b: g)
)
sum_to.rule = Rule(  # type: ignore[attr-defined]
    "sum_to", ("g", "like"),
    vjp=(lambda g, out, x, like: spread_to(g, x), None),
    jvp=lambda dots, out, x, like: sum_to(dots[0], like),
)  # fmt: skip


PARTED = (list, tuple, *BY_KEY)


# --- functions that only move things --------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Token:
    """Stands for one value while a function that only moves values is watched."""

    path: tuple[Any, ...]


@dataclasses.dataclass(frozen=True)
class Moved:
    """Where a function that only moves values has put those of its arguments.

    `traced` is its result with tokens in place of values; `shapes` are of the arguments.
    """

    traced: Any
    shapes: tuple[Any, ...]

    def __call__(self, g: Any) -> list[Any]:
        """The cotangents of the arguments from that of the result."""
        bars: list[Any] = [None] * len(self.shapes)
        found: dict[tuple[Any, ...], Any] = {}
        gather(g, self.traced, found)
        for path, bar in found.items():
            i = path[0]
            bars[i] = add(bars[i], at_path(self.shapes[i], path[1:], bar))
        # A number, or container, of which nothing was taken has a zero: its parts are asked for.
        kept = [
            bar is None and type(x) in (*PARTED, Aval)
            for bar, x in zip(bars, self.shapes, strict=True)
        ]
        return [zeros_in(x) if k else b for k, b, x in zip(kept, bars, self.shapes, strict=True)]


def move(fn: Callable[..., Any], args: tuple[Any, ...], moving: list[bool]) -> tuple[Any, Moved]:
    """Run a function that only moves values about; its result, and its pullback.

    The arguments named by `moving` are replaced by tokens and the function is run on them too:
    where a token turns up in the result says which argument's part that is.
    """
    out = fn(*args)
    marked = [marks(x, (i,)) if m else x for i, (x, m) in enumerate(zip(args, moving, strict=True))]
    traced = fn(*marked)
    if (
        not isinstance(out, (list, tuple, dict))
        and parts_of(out) is None
        and hasattr(out, "__iter__")
    ):
        out, traced = list(out) if not is_array(out) else out, traced
        if not isinstance(traced, Token) and not is_array(out):
            traced = list(traced)
    return out, Moved(tokens_in(traced), tuple(map(shapes_in, args)))


def tokens_in(traced: Any) -> Any:
    """A result of tokens, with None for everything else in it."""
    if isinstance(traced, Token):
        return traced
    parts = None if is_array(traced) else children_of(traced)
    return None if parts is None else parts[1]([tokens_in(value) for value in parts[0]])


def shapes_in(x: Any) -> Any:
    """A value with avals in place of float arrays, and None for what has no derivative."""
    if is_array(x):
        return aval_of(x) if is_inexact(x) else None
    parts = children_of(x)
    return None if parts is None else parts[1]([shapes_in(value) for value in parts[0]])


def zeros_in(shapes: Any) -> Any:
    """The zero cotangent of a value that had these shapes."""
    if isinstance(shapes, Aval):
        import overt.runtime.numpy as np

        return np.zeros(shapes.shape, shapes.dtype) if shapes.shape or not shapes.weak else 0.0
    parts = children_of(shapes)
    return None if parts is None else parts[1]([zeros_in(value) for value in parts[0]])


def marks(x: Any, path: tuple[Any, ...]) -> Any:
    """A container with every item replaced by a token; a leaf is one token."""
    if isinstance(x, dict):
        marked = copy.copy(x)
        marked.update({key: Token((*path, key)) for key in x})
        return marked
    if isinstance(x, collections.deque):
        return collections.deque([Token((*path, i)) for i in range(len(x))], x.maxlen)
    if isinstance(x, (list, tuple)):
        return like(x, [Token((*path, i)) for i in range(len(x))])
    return Token(path)


def gather(g: Any, traced: Any, found: dict[tuple[Any, ...], Any]) -> None:
    """Cotangents by the path of the token in whose place they are."""
    if g is None:
        return
    if isinstance(traced, Token):
        found[traced.path] = add(found.get(traced.path), g)
    elif isinstance(traced, dict):
        for key, inner in traced.items():
            gather(part(g, key), inner, found)
    elif isinstance(traced, (list, tuple)):
        for i, inner in enumerate(traced):
            gather(g[i], inner, found)
    else:
        parts = children_of(traced)
        whole = children_of(g)
        if parts is not None and whole is not None:
            for inner, bar in zip(parts[0], whole[0], strict=True):
                gather(bar, inner, found)


def stack_of(shapes: list[Any], bars: list[Any]) -> Any:
    """The cotangent of an array from those of its rows, None among them a zero."""
    import overt.runtime.numpy as np

    pairs = zip(shapes, bars, strict=True)
    return np.stack([zeros_in(row) if bar is None else bar for row, bar in pairs])


def at_path(shapes: Any, path: tuple[Any, ...], bar: Any) -> Any:
    """A cotangent of what had these shapes that is zero but for one part."""
    if not path:
        return bar
    first, rest = path[0], path[1:]
    if isinstance(shapes, dict):
        return {k: at_path(v, rest, bar) if k == first else zeros_in(v) for k, v in shapes.items()}
    items = [at_path(v, rest, bar) if i == first else zeros_in(v) for i, v in enumerate(shapes)]
    if isinstance(shapes, collections.deque):
        return collections.deque(items, shapes.maxlen)
    return like(shapes, items)


def like(x: Any, items: list[Any]) -> Any:
    """A list or tuple of the kind of `x` with these items."""
    return type(x)(*items) if hasattr(x, "_fields") else type(x)(items)


__all__ += ["changed", "popped"]
