"""Transformations that leave a function's values alone: plain rewriting, and `checkpoint`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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

    def __init__(self, fn: Callable, policy: Any = None, prevent_cse: bool = True) -> None:
        super().__init__(fn)
        self.policy, self.prevent_cse = policy, prevent_cse

    def wrapping(self, fn: Callable, leading: int, count: int) -> Identity:
        return type(self)(fn, self.policy, self.prevent_cse)


def checkpoint(
    fun: Callable | None = None, *, prevent_cse: bool | Sequence[bool] = True, policy: Any = None,
    static_argnums: Any = (), static_argnames: Any = (), concrete: bool = False,
) -> Any:  # fmt: skip
    """Mark a function: its derivative keeps the arguments alone and computes the rest again.

    A `policy` (of `overt.checkpoint_policies`, or a function of an operation, kinds of arrays and
    parameters) chooses results to keep as well.  With `prevent_cse=False` XLA may find that it has
    computed them before and keep them after all.  Arguments that are Python values need no mark.

    >>> import overt
    >>> float(overt.grad(overt.checkpoint(lambda x: x * x))(3.0))
    6.0
    """
    if policy is not None and not callable(policy):
        raise TypeError(f"checkpoint: policy= is a function, got {policy!r}")
    apart = prevent_cse if isinstance(prevent_cse, bool) else any(prevent_cse)
    if fun is None:
        return lambda fn: Checkpoint(fn, policy, apart)
    return Checkpoint(fun, policy, apart)


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
