"""Linear functions and their transposes, and functions without hidden inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from overt.runtime import dtypes
from overt.runtime import numpy as np
from overt.runtime.array import Array, DeviceArray
from overt.runtime.aval import aval_of
from overt.runtime.closures import Captures, captured_leaves
from overt.runtime.emission import Liveness
from overt.runtime.program import Program
from overt.runtime.tree import tree_flatten, tree_map
from overt.transformer.custom import custom_vjp
from overt.transformer.evaluate import eval_shape
from overt.transformer.jacobians import vjp


def linear_transpose(fun: Callable, *primals: Any, reduce_axes: Any = ()) -> Callable:
    """The transpose of a linear function: a function from cotangents to a tuple of cotangents.

    `primals` are arrays, or ShapeDtypeStructs, that say what `fun` takes.

    Errors: TypeError for arguments that are not real or complex; ValueError if `fun` turns out
    not to be linear.

    >>> import overt
    >>> transposed = overt.linear_transpose(lambda x: 3 * x, 1.0)
    >>> float(transposed(2.0)[0])
    6.0
    """
    if reduce_axes:
        raise NotImplementedError("linear_transpose: there are no axes of devices to reduce over")
    zeros = tree_map(_zero_like, primals)
    _, pull = vjp(fun, *zeros)
    _check_linear(fun, zeros)

    def transposed(cotangents: Any) -> tuple:
        return pull(cotangents)

    return transposed


def _zero_like(x: Any) -> Any:
    aval = aval_of(x)
    if not dtypes.is_inexact(aval.dtype):
        raise TypeError(
            f"linear_transpose needs arguments that are real or complex, got {aval.dtype}"
        )
    return np.zeros(aval.shape, aval.dtype)


def _check_linear(fun: Callable, primals: tuple) -> None:
    """Errors: ValueError if the derivative of `fun` depends on where it is taken."""
    leaves, definition = tree_flatten(primals)
    results, out = tree_flatten(eval_shape(fun, *primals))
    count = len(leaves)

    def pulled(*values: Any) -> list[Any]:
        at = definition.unflatten(values[:count])
        _, pull = vjp(fun, *at)
        return tree_flatten(pull(out.unflatten(values[count:])))[0]

    graph = Program(pulled, tuple(map(aval_of, (*leaves, *results)))).graph
    used = Liveness(graph, graph.outputs).used.get(graph.source, set())
    if any(i < count for i in used):
        name = getattr(fun, "__name__", "the function")
        raise ValueError(
            f"linear_transpose: {name} is not linear, since its derivative depends on its argument "
            f"{min(used)}; use vjp, which takes the point where to differentiate"
        )


def closure_convert(fun: Callable, *example_args: Any) -> tuple[Callable, list[Any]]:
    """A function like `fun` that takes what it has captured as further arguments, and these.

    Only floating values that a transformation is following are taken out: what a function with a
    derivative of its own must be given, to be differentiated by it.

    >>> import overt
    >>> def scaled(a, x):
    ...     pure, hidden = overt.closure_convert(lambda y: a * y, x)
    ...     return pure(x, *hidden)
    >>> float(overt.jit(scaled)(2.0, 3.0))
    6.0
    """
    captures = Captures(captured_leaves(fun, _is_followed))
    count = len(captures.values)
    without = captures.marked(fun)  # so that what comes from it holds none of them

    def converted(*args: Any) -> Any:
        end = len(args) - count
        return captures.replaced(without, args[end:])(*args[:end])

    return converted, list(captures.values)


def _is_followed(x: Any) -> bool:
    return (
        isinstance(x, Array)
        and not isinstance(x, DeviceArray)
        and dtypes.is_inexact(x.dtype)
    )  # fmt: skip


def fwd_and_bwd(
    fun: Callable, argnums: int | Sequence[int], has_aux: bool = False, jitted: bool = True
) -> tuple[Callable, Callable]:
    """The two halves of a derivative: `fwd(*args) -> out, kept`, `bwd(kept, out_bar) -> bars`.

    >>> import overt
    >>> fwd, bwd = overt.fwd_and_bwd(lambda x, y: x * y, argnums=(0, 1))
    >>> out, kept = fwd(2.0, 3.0)
    >>> [float(bar) for bar in bwd(kept, 1.0)]
    [3.0, 2.0]
    """

    def fwd(*args: Any) -> Any:
        made = vjp(fun, *args, has_aux=has_aux)
        return (made[0], made[2], made[1]) if has_aux else made

    def bwd(kept: Callable, out_bar: Any) -> Any:
        bars = kept(out_bar)
        return bars[argnums] if isinstance(argnums, int) else tuple(bars[i] for i in argnums)

    return fwd, bwd


def linear_call(
    fun: Callable, fun_transpose: Callable, residual_args: Any, linear_args: Any
) -> Any:
    """`fun(residual_args, linear_args)`, linear in the latter, with a transpose of its own.

    `fun_transpose(residual_args, out_bar)` gives the cotangent of `linear_args`; the transpose of
    that is `fun` again. Derivatives with respect to `residual_args` are those of `fun`.

    >>> import overt
    >>> third = lambda x: linear_call(lambda r, x: x / r, lambda r, g: g / r, 3.0, x)
    >>> print(overt.grad(third)(6.0))
    0.33333334
    """
    called = custom_vjp(fun)

    def bwd(kept: tuple, out_bar: Any) -> tuple[Any, Any]:
        residuals, x = kept
        _, pull = vjp(lambda r: fun(r, x), residuals)
        return *pull(out_bar), linear_call(fun_transpose, fun, residuals, out_bar)

    called.defvjp(lambda residuals, x: (fun(residuals, x), (residuals, x)), bwd)
    return called(residual_args, linear_args)
