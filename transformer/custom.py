"""`custom_jvp` and `custom_vjp` for functions that the transformer rewrites."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from overt.runtime import custom
from overt.transformer.identity import Identity
from overt.transformer.transformed import has_source

__all__ = ["custom_gradient", "custom_jvp", "custom_vjp"]


def rewritten(fn: Callable) -> Callable:
    return Identity(fn) if has_source(fn) else fn


class custom_jvp(custom.custom_jvp):  # noqa: N801
    """A function whose jvp is given with `defjvp`.

    >>> import overt
    >>> @overt.custom_jvp
    ... def cube(x):
    ...     return x**3
    >>> @cube.defjvp
    ... def cube_jvp(primals, tangents):
    ...     (x,), (x_dot,) = primals, tangents
    ...     return cube(x), 3 * x**2 * x_dot
    >>> float(overt.jvp(cube, (2.0,), (1.0,))[1])
    12.0
    """

    def __init__(self, fun: Callable, *args: Any, **kwargs: Any):
        super().__init__(rewritten(fun), *args, **kwargs)

    def defjvp(self, jvp: Callable, symbolic_zeros: bool = False) -> Callable:
        super().defjvp(rewritten(jvp), symbolic_zeros)
        return jvp


class custom_vjp(custom.custom_vjp):  # noqa: N801
    """A function whose reverse mode is given with `defvjp`.

    >>> import overt
    >>> @overt.custom_vjp
    ... def clipped(x):
    ...     return x
    >>> clipped.defvjp(lambda x: (x, None), lambda _, g: (overt.numpy.clip(g, -1, 1),))
    >>> float(overt.grad(lambda x: 5 * clipped(x))(2.0))
    1.0
    """

    def __init__(self, fun: Callable, *args: Any, **kwargs: Any):
        super().__init__(rewritten(fun), *args, **kwargs)

    def defvjp(self, fwd: Callable, bwd: Callable, *args: Any, **kwargs: Any) -> None:
        super().defvjp(rewritten(fwd), rewritten(bwd), *args, **kwargs)


def custom_gradient(fun: Callable) -> Callable:
    """A function that returns (result, pullback); its derivative is that pullback.

    >>> import overt
    >>> @custom_gradient
    ... def clipped(x): return x**2, lambda g: min(g * 2 * x, 1.0)
    >>> print(overt.grad(clipped)(3.0))
    1.0
    """
    return custom.custom_gradient(rewritten(fun))
