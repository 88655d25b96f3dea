"""The backward functions of pullbacks that Overt itself makes: each a value that can be compared.

Called with what was saved and with a result's cotangent, they give the cotangents of the function
and of its arguments.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from typing import Any

from overt.runtime import numpy as np
from overt.runtime.cotangents import Moved, stack_of
from overt.runtime.derivatives import add, zeros_like_tree
from overt.runtime.tree_registry import register_pytree_node
from overt.transformer.held import cotangents


class Pullback:
    """What one call leaves for its reverse: the backward function and what was saved for it.

    Called with the result's cotangent it gives `(f_bar, *args_bar)`, and last a dictionary of those
    of the keyword arguments, if there were any.
    """

    __slots__ = ("bwd", "saved")
    __overt_backward__ = True  # only the reverse of what was taken calls it

    def __init__(self, bwd: Callable[[Any, Any], Any], saved: Any) -> None:
        self.bwd, self.saved = bwd, saved

    def __call__(self, out_bar: Any) -> Any:
        return self.bwd(self.saved, out_bar)


def parts_of_pullback(p: Pullback) -> tuple[tuple[Any], Any]:
    """What was recorded cannot leave its recording: its parts are the arguments of the call."""
    if is_record(p.bwd):
        p = p.saved.again(p.bwd)
    return (p.saved,), p.bwd


register_pytree_node(Pullback, parts_of_pullback, lambda bwd, kids: Pullback(bwd, kids[0]))


def whole_record(pull: Any, out_bar: Any) -> Any:
    return (None, *pull(out_bar))


def shifted_record(pull: Any, out_bar: Any) -> Any:
    return pull(out_bar)


def is_record(bwd: Any) -> bool:
    """Whether a backward function is a recording's."""
    return bwd in (whole_record, shifted_record) or type(bwd) is VjpPull


@dataclasses.dataclass(frozen=True)
class PartialPull:
    """Cotangents of a partial's own arguments, apart from those of the call."""

    held: int
    given: int
    held_names: tuple[str, ...]
    names: tuple[str, ...]

    def __call__(self, pull: Any, out_bar: Any) -> Any:
        bars = pull(out_bar)
        named = bars[-1] if self.held_names or self.names else {}
        own = bars[1 : 1 + self.held]
        rest = bars[1 + self.held : 1 + self.held + self.given]
        kept = {k: named[k] for k in self.held_names if k not in self.names}
        mine = (tuple(own), kept)
        passed = {k: named[k] for k in self.names}
        return (mine, *rest, passed) if passed else (mine, *rest)

    def joined(self, pull: Any, out_bar: Any) -> Any:
        """The pullback of this split: its result's cotangents, put together again."""
        mine, *rest = out_bar if out_bar is not None else (None,) * (1 + self.given)
        own, kept = mine if mine is not None else ((None,) * self.held, {})
        passed = rest.pop() if self.names and len(rest) > self.given else {}
        bars = (None, *own, *rest)
        named = {**(kept or {}), **(passed or {})}
        return (None, *pull((*bars, named) if self.held_names or self.names else bars))


@dataclasses.dataclass(frozen=True)
class PullOfPullback:
    """The cotangent of a pullback is a pullback that holds that of what it saved."""

    bwd: Any
    given: Any = None  # shape and dtype of the cotangent that it was called with, if an array

    def __call__(self, pull: Any, out_bar: Any) -> Any:
        _, saved_bar, bar = pull(out_bar)
        if bar is None and self.given is not None:
            shape, dtype = self.given
            bar = np.zeros(shape, dtype) if shape else 0.0
        return (None if saved_bar is None else Pullback(self.bwd, saved_bar), bar)


@dataclasses.dataclass(frozen=True)
class Unchanged:
    """The pullback of making a pullback that holds nothing."""

    def __call__(self, pull: Any, out_bar: Any) -> Any:
        return (None, *pull(bare(out_bar)[0]))


@dataclasses.dataclass(frozen=True)
class VjpPull:
    """The pullback of a call of `vjp_of`."""

    named: bool

    def __call__(self, outer: Any, out_bar: Any) -> Any:
        f_bar, rest_bars, named = cotangents(outer(bare(out_bar)))
        bars = (None, f_bar, *rest_bars)
        return (*bars, named) if self.named else bars


@dataclasses.dataclass(frozen=True)
class PartialVjpPull:
    """The pullback of a call of `vjp_of` with a partial."""

    split: PartialPull

    def __call__(self, outer: Any, out_bar: Any) -> Any:
        _, *bars = outer(bare(out_bar))
        return (None, *self.split(lambda _: bars, None))


@dataclasses.dataclass(frozen=True)
class RecomputeVjp:
    """The pullback of a call of `vjp_of` whose own pullback holds the arguments."""

    named: bool
    shifted: bool = False  # these arguments begin with the function

    def __call__(self, pull: Any, out_bar: Any) -> Any:
        y_bar, saved_bar = bare(out_bar)
        f_bar, *bars = pull(y_bar)
        rest_bar, named_bar = saved_bar if saved_bar is not None else ((), {})
        if self.shifted and rest_bar:
            f_bar, rest_bar = add(f_bar, rest_bar[0]), rest_bar[1:]
        if self.named:
            named = bars.pop()
            bars.append({k: add(v, (named_bar or {}).get(k)) for k, v in named.items()})
        for i, bar in enumerate(rest_bar or ()):
            bars[i] = add(bars[i], bar)
        return (None, f_bar, *bars)


@dataclasses.dataclass(frozen=True)
class WrapPull:
    """The cotangent of a transformed function is that of the function."""

    count: int
    names: tuple[str, ...]

    def __call__(self, _: Any, out_bar: Any) -> Any:
        named = ({"fun": out_bar} | dict.fromkeys(self.names),) if self.names else ()
        return (None, *[out_bar] * min(self.count, 1), *[None] * (self.count - 1), *named)


@dataclasses.dataclass(frozen=True)
class MovePull:
    """The pullback of a move: parts of the cotangent go back to where their values came from.

    `rows` says which arguments were arrays, whose rows were moved.
    """

    moved: Moved
    rows: tuple[bool, ...]
    function: bool
    named: bool

    def __call__(self, _: Any, out_bar: Any) -> Any:
        bars = [
            stack_of(shapes, bar) if row and bar is not None else bar
            for row, shapes, bar in zip(
                self.rows, self.moved.shapes, self.moved(out_bar), strict=True
            )
        ]
        if self.named:
            bars.append({})
        return (None, *bars) if self.function else tuple(bars)


@dataclasses.dataclass(frozen=True)
class ReplacePull:
    """The pullback of `dataclasses.replace`: fields that were replaced get nothing."""

    names: tuple[str, ...]

    def __call__(self, before: Any, out_bar: Any) -> Any:
        if out_bar is None:
            return (None, None, dict.fromkeys(self.names))
        kept = copy.copy(out_bar)
        for name in self.names:
            object.__setattr__(kept, name, zeros_like_tree(getattr(before, name)))
        return (None, kept, {name: getattr(out_bar, name) for name in self.names})


@dataclasses.dataclass(frozen=True)
class HeldPull:
    """The pullback of making a partial: the arguments that it holds get their cotangents.

    Python makes one partial of a partial of another: that one held the first `before` of them, and
    the keywords `before_names`, of which `names` are new values.
    """

    names: tuple[str, ...]
    before: int = 0
    before_names: tuple[str, ...] | None = None  # None: what is called is no partial

    def __call__(self, _: Any, out_bar: Any) -> Any:
        if out_bar is None:
            held: Any = ()
            keywords: Any = {}
        else:
            held, keywords = out_bar
        f_bar = None
        if self.before_names is not None and out_bar is not None:
            kept = {k: None if k in self.names else keywords.get(k) for k in self.before_names}
            f_bar = (tuple(held[: self.before]), kept)
        named = {k: keywords.get(k) for k in self.names}
        return (None, f_bar, *held[self.before :], *([named] if self.names else []))


@dataclasses.dataclass(frozen=True)
class FieldPull:
    """Cotangents of a container's fields, as the arguments of its constructor."""

    names: tuple[str, ...]
    count: int

    def __call__(self, _: Any, out_bar: Any) -> Any:
        bars = {n: None if out_bar is None else getattr(out_bar, n) for n in self.names}
        given = [bars[n] for n in self.names[: self.count]]
        named = {n: bars[n] for n in self.names[self.count :]}
        return (None, *given, named) if named else (None, *given)


def drop_function(pull: Any, out_bar: Any) -> Any:
    """`self` takes the place of the function: a method's cotangent is that of its object."""
    return pull(out_bar)[1:]


def drop_mapping(outer: Any, out_bar: Any) -> Any:
    """The same of a call of `vjp_of` with what maps a function over arrays."""
    return (None, *outer(bare(out_bar))[2:])


def spread_list(pull: Any, out_bar: Any) -> Any:
    f_bar, bars = pull(out_bar)
    return (f_bar, *bars)


def beside_method(pull: Any, out_bar: Any) -> Any:
    """Of a list and a method's arguments: the method's name stands between them."""
    f_bar, bar, *bars = pull(out_bar)
    return (f_bar, bar, None, *bars)


def of_result(pull: Any, out_bar: Any) -> Any:
    """Of (error, result), the result alone has a derivative."""
    return pull(None if out_bar is None else out_bar[1])


def pulled_vjp(outer: Any, out_bar: Any) -> Any:
    return (None, *outer(bare(out_bar)))


def bare(out_bar: Any) -> Any:
    """The cotangent of (result, pullback) as that of (result, what the pullback saved)."""
    y_bar, pull_bar = out_bar if out_bar is not None else (None, None)
    return y_bar, pull_bar.saved if isinstance(pull_bar, Pullback) else pull_bar
