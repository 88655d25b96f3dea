"""Transformations that leave a function's values alone: plain rewriting, and `checkpoint`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from overt.transformer import transformed
from overt.transformer.transformed import Transformed, noted


class Identity(Transformed):
    """The function itself, rewritten: stores into arrays work, and staged or batched values do."""

    chain = "rewritten"
    suffix = "rewritten"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        fn = self.__wrapped__
        with noted():
            if transformed.needs_lifting(args, kwargs):
                return transformed.lifted(fn)(*args, **kwargs)
            if not transformed.has_source(fn):
                return fn(*args, **kwargs)
            return transformed.plain(fn)(*args, **kwargs)


class Checkpoint(Identity):
    """A function whose intermediate values the reverse sweep computes again instead of keeping."""

    chain = "checkpoint"
    suffix = "checkpoint"
    recompute = True


def checkpoint(
    fun: Callable | None = None, *, prevent_cse: bool = True, policy: Any = None,
    static_argnums: Any = (), concrete: bool = False,
) -> Any:  # fmt: skip
    """Mark a function: its derivative keeps the arguments alone and computes the rest again.

    >>> import overt
    >>> float(overt.grad(overt.checkpoint(lambda x: x * x))(3.0))
    6.0
    """
    if fun is None:
        return lambda fn: Checkpoint(fn)
    return Checkpoint(fun)


def named_call(fun: Callable, *, name: str | None = None) -> Any:
    """The function under another name."""
    made = Identity(fun)
    if name is not None:
        made.__name__ = made.__qualname__ = name
    return made
