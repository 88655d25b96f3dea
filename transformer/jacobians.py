"""`jvp`, `vjp`, `linearize` and what is made of them: Jacobians and Hessians."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from overt.runtime import dtypes
from overt.runtime import numpy as np
from overt.runtime.aval import aval_of
from overt.runtime.interop import as_array
from overt.runtime.jacobians import columns_of, rows_of
from overt.runtime.parts import is_array, with_aux
from overt.runtime.tangents import tangent_for
from overt.runtime.tree import tree_flatten, tree_leaves, tree_map, tree_structure
from overt.transformer import transformed, where_it_stands
from overt.transformer.escapes import or_on_values
from overt.transformer.gradients import FLOAT0, Gradient, behind
from overt.transformer.held import LinearFunction
from overt.transformer.pullbacks import VjpFunction, shapes_of
from overt.transformer.transformed import Transformed, noted


def runner(fn: Callable, *trees: Any) -> Callable:
    """`fn` in the form that these arguments need."""
    if isinstance(fn, Transformed) or not transformed.has_source(fn):
        return fn
    if not transformed.needs_lifting(trees, of=fn):
        return transformed.plain(fn)
    return where_it_stands.from_outside(transformed.lifted(fn))


# --- forward mode


def jvp(fun: Callable, primals: Sequence, tangents: Sequence, has_aux: bool = False) -> tuple:
    """The value of a function and its derivative along `tangents`.

    Errors: as JAX's, TypeError or ValueError for tangents that do not belong to the primals.

    >>> import overt, overt.numpy as np
    >>> out, out_dot = overt.jvp(np.sin, (0.0,), (2.0,))
    >>> float(out_dot)
    2.0
    """
    if not isinstance(primals, (tuple, list)) or not isinstance(tangents, (tuple, list)):
        raise TypeError(
            "primal and tangent arguments to jvp must be tuples or lists; found "
            f"{type(primals).__name__} and {type(tangents).__name__}."
        )
    primals, tangents = checked_tangents(tuple(primals), tuple(tangents))
    with noted():
        return forward(fun, primals, tangents, has_aux)


def forward(fun: Callable, primals: tuple, tangents: tuple, has_aux: bool) -> tuple:
    """(value, tangent), and what else the function returned."""
    from overt.transformer.tangent_calls import jvp_at_top

    out, out_dot = jvp_at_top(fun, primals, tangents)
    aux = None
    if has_aux:
        out, aux = with_aux(out)
        out_dot = out_dot if out_dot is None else out_dot[0]
    out_dot = tree_map(_shown_tangent, out, out_dot)
    out = tree_map(_as_result, out)
    return (out, out_dot, aux) if has_aux else (out, out_dot)


def _as_result(x: Any) -> Any:
    return as_array(x) if is_array(x) else x


def _shown_tangent(x: Any, dot: Any) -> Any:
    if not is_array(x):
        return None
    aval = aval_of(x)
    if not dtypes.is_inexact(aval.dtype):
        return numpy.zeros(aval.shape, FLOAT0)
    return (
        np.zeros(aval.shape, aval.dtype) if dot is None else as_array(tangent_for(dot, as_array(x)))
    )


def checked_tangents(primals: tuple, tangents: tuple) -> tuple[tuple, tuple]:
    """Primals as arrays, and tangents that belong to them (None for integers)."""
    leaves, definition = tree_flatten(primals)
    try:
        dots = definition.flatten_up_to(tangents)
        same = len(primals) == len(tangents)
    except ValueError:
        same = False
    if not same:
        raise TypeError(
            "primal and tangent arguments to jvp must have the same tree structure; but "
            f"primals has tree structure {definition} whereas tangents has tree structure "
            f"{tree_structure(tangents)}."
        )
    pairs = [checked_tangent(x, dot) for x, dot in zip(leaves, dots, strict=True)]
    return definition.unflatten([x for x, _ in pairs]), definition.unflatten([d for _, d in pairs])


def checked_tangent(x: Any, dot: Any) -> tuple[Any, Any]:
    if not is_array(x):
        if is_array(dot):
            raise TypeError(
                f"jvp got a tangent for a value of type {type(x).__name__}, not an array"
            )
        if dot is not None and not isinstance(x, (str, bytes)) and not callable(x):
            raise TypeError(
                f"jvp got a value of type {type(x).__name__}, whose parts would have no tangent. "
                "Register its class with overt.tree_util, or give None as its tangent"
            )
        return x, None
    x = as_array(x)
    given = getattr(dot, "dtype", None)
    if not dtypes.is_inexact(x.dtype):
        if given == FLOAT0 or dot is None:
            return x, None
        found = aval_of(dot).dtype.name
        raise _tangent_dtype(x.dtype.name, "float0", found)
    if given == FLOAT0 or not is_array(dot):
        raise _tangent_dtype(x.dtype.name, x.dtype.name, str(given or type(dot).__name__))
    dot = as_array(dot)
    if dot.dtype != x.dtype:
        raise _tangent_dtype(x.dtype.name, x.dtype.name, dot.dtype.name)
    if dot.shape != x.shape:
        raise ValueError(
            f"jvp called with different primal and tangent shapes;Got primal shape {x.shape} and "
            f"tangent shape as {dot.shape}"
        )
    return x, dot


def _tangent_dtype(primal: str, expected: str, found: str) -> TypeError:
    return TypeError(
        "primal and tangent arguments to jvp do not match; dtypes must be equal, or in case "
        f"of int/bool primal dtype the tangent dtype must be float0.Got primal dtype {primal} and "
        f"so expected tangent dtype {expected}, but got tangent dtype {found} instead."
    )


def linearize(fun: Callable, *primals: Any, has_aux: bool = False) -> tuple:
    """The value of a function, and the linear function of tangents that approximates it there.

    >>> import overt
    >>> out, f_dot = overt.linearize(lambda x: x * x, 3.0)
    >>> float(f_dot(1.0)), float(f_dot(2.0))
    (6.0, 12.0)
    """
    arrays = tree_map(_as_result, primals)
    with noted():
        out = runner(fun, arrays)(*arrays)
    out, aux = with_aux(out) if has_aux else (out, None)

    f_dot = LinearFunction(fun, arrays, has_aux)
    out = tree_map(_as_result, out)
    return (out, f_dot, aux) if has_aux else (out, f_dot)


# --- reverse mode


def vjp(fun: Callable, *primals: Any, has_aux: bool = False, reduce_axes: Any = ()) -> tuple:
    """The value of a function, and the function from its cotangent to those of the arguments.

    >>> import overt
    >>> out, pullback = overt.vjp(lambda x, y: x * y, 2.0, 3.0)
    >>> [float(bar) for bar in pullback(1.0)]
    [3.0, 2.0]
    """
    from overt.transformer.calls import recorded_whole, vjp_from_outside

    arrays = tree_map(_as_result, primals)
    with noted():
        out, pull = or_on_values(
            lambda: vjp_from_outside(fun, *arrays),
            lambda: recorded_whole(fun, arrays),
            transformed.name_of(fun),
            fun, arrays,
        )  # fmt: skip
    out, aux = with_aux(out) if has_aux else (out, None)
    out = tree_map(_as_result, out)
    pullback = VjpFunction(pull, shapes_of(out), shapes_of(arrays), has_aux and shapes_of(aux))
    return (out, pullback, aux) if has_aux else (out, pullback)


# --- Jacobians


class Jacobian(Transformed):
    """The matrix of partial derivatives, in the trees of results and arguments."""

    closed = False

    def __init__(
        self, fn: Callable, argnums: Any, has_aux: bool, holomorphic: bool, allow_int: bool,
        reverse: bool,
    ) -> None:  # fmt: skip
        super().__init__(fn)
        many = isinstance(argnums, (tuple, list))
        self.argnums: Any = (
            tuple(operator.index(i) for i in argnums) if many else operator.index(argnums)
        )
        self.has_aux, self.holomorphic, self.allow_int = has_aux, holomorphic, allow_int
        self.reverse = reverse
        self.suffix = "jacrev" if reverse else "jacfwd"
        self.chain = f"{self.suffix}({self.argnums})"

    def wrapping(self, fn: Callable, leading: int, count: int) -> Jacobian:
        argnums = behind(self.argnums, leading)
        return Jacobian(fn, argnums, self.has_aux, self.holomorphic, self.allow_int, self.reverse)

    def source(self) -> Any:
        """What runs, for one number if this is the Jacobian of a Jacobian."""
        from overt.rewrites.jacobian import jacobian

        if self.has_aux:
            raise TypeError(f"overt.source shows no {self.suffix} of functions that return aux")
        shift = transformed.bound_count(self.__wrapped__)
        if isinstance(self.argnums, int):
            argnums: Any = self.argnums + shift
        else:
            argnums = tuple(i + shift for i in self.argnums)
        inner = self.__wrapped__
        if not isinstance(inner, Jacobian):
            source = transformed.source_of(inner)
            return jacobian(source, argnums, self.reverse, f"{source.main.name}_{self.suffix}")
        if inner.argnums != self.argnums or isinstance(inner.__wrapped__, Jacobian):
            raise TypeError(
                "overt.source shows Jacobians and Hessians; of derivatives beyond, print those of "
                "the gradient: overt.source(overt.jacfwd(overt.grad(f)))"
            )
        first = Gradient(inner.__wrapped__, inner.argnums, False, False, False, False).source()
        name = transformed.source_of(inner.__wrapped__).main.name
        return jacobian(first, argnums, self.reverse, f"{name}_hessian")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        count = len(args)
        single = isinstance(self.argnums, int)
        wanted: Any = (self.argnums,) if single else self.argnums
        if any(not -count <= i < count for i in wanted):
            raise ValueError(
                f"{self.suffix} needs arguments {wanted}, but was called with {count} of them"
            )
        positions = [i % count for i in wanted]
        chosen = tuple(tree_map(self.checked, args[i]) for i in positions)

        def of_chosen(*values: Any) -> Any:
            full = list(args)
            for i, x in zip(positions, values, strict=True):
                full[i] = x
            return runner(self.__wrapped__, full, kwargs)(*full, **kwargs)

        with noted():
            build = self.by_rows if self.reverse else self.by_columns
            return build(of_chosen, chosen, single)

    def checked(self, x: Any) -> Any:
        if not is_array(x):
            return x
        x = as_array(x)
        if self.holomorphic and not dtypes.is_complex(x.dtype):
            raise TypeError(
                f"{self.suffix} with holomorphic=True requires inputs with complex dtype, "
                f"but got {x.dtype.name}."
            )
        if not self.holomorphic and dtypes.is_complex(x.dtype) and not self.reverse:
            raise TypeError(
                f"{self.suffix} requires real-valued inputs (input dtype that is a sub-dtype of "
                f"np.floating), but got {x.dtype.name}. For holomorphic differentiation, pass "
                "holomorphic=True. For differentiation of non-holomorphic functions involving "
                "complex inputs, use jvp directly."
            )
        if not dtypes.is_inexact(x.dtype) and not self.allow_int:
            raise TypeError(
                f"{self.suffix} requires real- or complex-valued inputs (input dtype that is a "
                f"sub-dtype of np.inexact), but got {x.dtype.name}. If you want to use Boolean- or "
                "integer-valued inputs, use vjp or set allow_int to True."
            )
        return x

    def by_columns(self, fn: Callable, chosen: tuple, single: bool) -> Any:
        """Forward mode: one run for all directions of the arguments."""
        aux: list[Any] = []

        def push(dots: Any) -> tuple:
            found = forward(fn, chosen, (dots,) if single else dots, self.has_aux)
            aux.extend(found[2:])
            return found[:2]

        jacobian = columns_of(push, chosen[0] if single else chosen)
        return (jacobian, aux[0]) if self.has_aux else jacobian

    def by_rows(self, fn: Callable, chosen: tuple, single: bool) -> Any:
        """Reverse mode: one backward run for all entries of the result."""
        found = vjp(fn, *chosen, has_aux=self.has_aux)
        out, pullback = found[:2]
        for x in tree_leaves(out):
            self.check_result(x)

        def pull(out_bar: Any) -> Any:
            bars = pullback(out_bar)
            return bars[0] if single else bars

        jacobian = rows_of(pull, out, chosen[0] if single else chosen)
        return (jacobian, found[2]) if self.has_aux else jacobian

    def check_result(self, x: Any) -> None:
        if self.holomorphic:
            if not dtypes.is_complex(x.dtype):
                raise TypeError(
                    f"{self.suffix} with holomorphic=True requires outputs with complex dtype, "
                    f"but got {x.dtype.name}."
                )
        elif dtypes.is_complex(x.dtype) or not dtypes.is_inexact(x.dtype):
            raise TypeError(
                f"{self.suffix} requires real-valued outputs (output dtype that is a sub-dtype of "
                f"np.floating), but got {x.dtype.name}. For holomorphic differentiation, pass "
                "holomorphic=True. For differentiation of functions with other outputs, use vjp "
                "directly."
            )


def jacfwd(
    fun: Callable, argnums: int | Sequence[int] = 0, has_aux: bool = False,
    holomorphic: bool = False,
) -> Jacobian:  # fmt: skip
    """The Jacobian by forward mode: for functions of few numbers.

    >>> print(jacfwd(lambda x: np.stack([x, x**2]))(3.0))
    [1. 6.]
    """
    return Jacobian(fun, argnums, has_aux, holomorphic, False, reverse=False)


def jacrev(
    fun: Callable, argnums: int | Sequence[int] = 0, has_aux: bool = False,
    holomorphic: bool = False, allow_int: bool = False,
) -> Jacobian:  # fmt: skip
    """The Jacobian by reverse mode: for functions with few results.

    >>> import overt, overt.numpy as np
    >>> overt.jacrev(lambda x: x * x)(np.array([1.0, 2.0]))
    Array([[2., 0.],
           [0., 4.]], dtype=float32)
    """
    return Jacobian(fun, argnums, has_aux, holomorphic, allow_int, reverse=True)


jacobian = jacrev


def hessian(
    fun: Callable, argnums: int | Sequence[int] = 0, has_aux: bool = False,
    holomorphic: bool = False,
) -> Jacobian:  # fmt: skip
    """The matrix of second derivatives: forward mode over reverse mode.

    >>> print(hessian(lambda x: x[0] ** 2 * x[1])(np.array([2.0, 3.0])))
    [[6. 4.]
     [4. 0.]]
    """
    return jacfwd(jacrev(fun, argnums, has_aux, holomorphic), argnums, has_aux, holomorphic)
