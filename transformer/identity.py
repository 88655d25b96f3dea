"""Transformations that leave a function's values alone: plain rewriting, and `checkpoint`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from overt.runtime.places import named_scope
from overt.transformer import transformed
from overt.transformer.transformed import Transformed, noted


class Identity(Transformed):
    """The function itself, rewritten: stores into arrays work, and staged or batched values do."""

    chain = "rewritten"
    suffix = "rewritten"

    def wrapping(self, fn: Callable, leading: int, count: int) -> Identity:
        return type(self)(fn)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        fn = self.__wrapped__
        with noted():
            if transformed.needs_lifting(args, kwargs, of=fn):
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
        return Checkpoint
    return Checkpoint(fun)


class Named(Identity):
    """A function whose operations carry its name in compiled programs and profiles."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with named_scope(self.__name__):
            return super().__call__(*args, **kwargs)


def named_call(fun: Callable, *, name: str | None = None) -> Any:
    """The function, its operations in a scope of its name or of another one.

    >>> import overt, overt.numpy as np
    >>> layer = overt.named_call(np.sin, name="layer")
    >>> "/layer/sin" in overt.jit(lambda x: layer(x)).lower(1.0).as_text(debug_info=True)
    True
    """
    made = Named(fun)
    made.__name__ = made.__qualname__ = name or getattr(fun, "__name__", "call")
    return made
