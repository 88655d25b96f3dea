"""`make_jaxpr`: the equations that a function is staged to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from overt.transformer.jit import Jitted
from overt.transformer.transformed import Transformed, name_of


class MakeJaxpr(Transformed):
    """A function of arguments that gives the program for them."""

    closed = False
    chain = "make_jaxpr"

    def __init__(self, fun: Callable, static_argnums: Any, return_shape: bool) -> None:
        super().__init__(fun)
        self.jitted = Jitted(fun, static_argnums=static_argnums)
        self.return_shape = return_shape
        self.__name__ = f"make_jaxpr({name_of(fun)})"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        traced = self.jitted.trace(*args, **kwargs)
        return (traced.jaxpr, traced.out_info) if self.return_shape else traced.jaxpr


def make_jaxpr(
    fun: Callable, static_argnums: int | Sequence[int] = (),
    axis_env: Sequence[tuple[Any, int]] | None = None, return_shape: bool = False,
) -> Callable[..., Any]:  # fmt: skip
    """A function of arguments, or of their shapes, that gives the program `fun` is staged to.

    The program has its equations in `eqns`, the arrays that it uses in `consts`, and prints in
    JAX's notation.  With `return_shape` the shapes of the results come second.

    >>> import overt, overt.numpy as np
    >>> overt.make_jaxpr(lambda x: np.sin(x) * 2)(overt.ShapeDtypeStruct((3,), np.float32))
    { lambda ; a:f32[3]. let b:f32[3] = sin a; c:f32[3] = mul b 2:i32[] in (c,) }
    """
    if axis_env:
        raise NotImplementedError(
            "make_jaxpr: an axis has its name and size from vmap; write "
            "make_jaxpr(vmap(f, axis_name=..., axis_size=...)) in place of axis_env="
        )
    return MakeJaxpr(fun, static_argnums, return_shape)
