"""Functions whose derivative the user gives: `custom_jvp`, `custom_vjp`, `custom_gradient`."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from overt.runtime import dtypes
from overt.runtime.aval import Aval, aval_of
from overt.runtime.batching import AUTO, vmap_call
from overt.runtime.closures import Captures, captured_leaves
from overt.runtime.derivatives import NoCotangent, add, is_inexact, materialize
from overt.runtime.dual import Dual, dual, primal_at, tangent_at
from overt.runtime.errors import OvertError
from overt.runtime.lanes import Lanes, has_lanes
from overt.runtime.levels import topmost
from overt.runtime.parts import is_array
from overt.runtime.record import Recorded, vjp_call
from overt.runtime.tree import tree_flatten, tree_leaves, tree_map, tree_structure

__all__ = [
    "CustomRule", "CustomVJPPrimal", "SymbolicZero", "custom_gradient", "custom_jvp", "custom_vjp",
    "custom_vjp_primal_tree_values", "instantiated", "zero_from_primal",
]  # fmt: skip


@dataclasses.dataclass(frozen=True)
class CustomVJPPrimal:
    """An argument of a `fwd` rule that asked for symbolic zeros.

    `perturbed` is False if the result is surely not differentiated with respect to it.
    """

    value: Any
    perturbed: bool


class SymbolicZero:
    """A tangent or cotangent that is zero, for rules that asked for symbolic zeros.

    >>> SymbolicZero(Aval((2,), numpy.dtype("float32")))
    SymbolicZero(float32[2])
    """

    def __init__(self, aval: Aval):
        self.aval = aval
        self.shape, self.dtype, self.ndim, self.size = aval.shape, aval.dtype, aval.ndim, aval.size

    def instantiate(self) -> Any:
        """The zero as an array."""
        from overt.runtime import numpy as np

        return np.zeros(self.shape, self.dtype)

    def __repr__(self) -> str:
        return f"SymbolicZero({self.aval})"


def instantiated(x: Any) -> Any:
    """A symbolic zero as an array; other values as they are."""
    return x.instantiate() if isinstance(x, SymbolicZero) else x


def custom_vjp_primal_tree_values(tree: Any) -> Any:
    """The values of the CustomVJPPrimals in a tree.

    >>> custom_vjp_primal_tree_values([CustomVJPPrimal(1.0, True)])
    [1.0]
    """
    return tree_map(lambda leaf: leaf.value, tree)


def zero_from_primal(val: Any, symbolic_zeros: bool = False) -> Any:
    """The zero tangent of a value: an array, or a SymbolicZero.

    >>> zero_from_primal(numpy.ones(2, "float32"), symbolic_zeros=True)
    SymbolicZero(float32[2])
    """
    aval = aval_of(val)
    if not dtypes.is_inexact(aval.dtype):
        aval = Aval(aval.shape, dtypes.float0)
    zero = SymbolicZero(aval)
    if symbolic_zeros:
        return zero
    return (
        numpy.zeros(aval.shape, aval.dtype) if aval.dtype == dtypes.float0 else zero.instantiate()
    )


class CustomRule:
    """A function with a derivative of its own.

    `nondiff_argnums` are positions of arguments that are not differentiated and may be anything.
    """

    symbolic_zeros = False  # whether the rule is told which tangents and cotangents are zero

    def __init__(
        self,
        fun: Callable,
        nondiff_argnums: Sequence[int] = (),
        nondiff_argnames: Sequence[str] = (),
    ):
        functools.update_wrapper(self, fun)
        if not hasattr(self, "__name__"):  # of a partial, say
            self.__name__ = getattr(getattr(fun, "func", fun), "__name__", type(fun).__name__)
        self.fun = fun
        numbers = [nondiff_argnums] if isinstance(nondiff_argnums, int) else nondiff_argnums
        names = [nondiff_argnames] if isinstance(nondiff_argnames, str) else nondiff_argnames
        self._nondiff = tuple(map(operator.index, numbers)), tuple(names)

    @functools.cached_property
    def nondiff_argnums(self) -> tuple[int, ...]:
        """Positions of the arguments that are not differentiated."""
        numbers, names = self._nondiff
        if not names:
            return tuple(sorted(numbers))
        parameters = list(inspect.signature(self.fun).parameters)
        return tuple(sorted({*numbers, *map(parameters.index, names)}))

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        args = self.positional(args, kwargs)
        fixed, given = self.split(args)
        leaves, definition = tree_flatten(given)
        top = topmost(leaves)
        if isinstance(top, (Dual, Recorded)):
            self.check()
        if type(top) is Dual:
            return self._dual_call(top.level, fixed, leaves, definition)
        if type(top) is Recorded:
            return self._recorded_call(top.tape, fixed, leaves, definition)
        if type(top) is Lanes and any(_hides_derivative(x, top.level) for x in leaves):
            return self._lanes_call(top.level, fixed, leaves, definition)
        return self.fun(*args)

    def positional(self, args: tuple, kwargs: dict[str, Any]) -> tuple:
        """All arguments by position, defaults filled in."""
        if not kwargs and len(args) == len(self._signature.parameters):
            return args
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        if bound.kwargs:
            raise TypeError(
                f"{self.__name__}: {sorted(bound.kwargs)} can only be given by keyword; functions "
                "with a custom derivative need positional parameters"
            )
        return bound.args

    @functools.cached_property
    def _signature(self) -> inspect.Signature:
        return inspect.signature(self.fun)

    def split(self, args: tuple) -> tuple[tuple, tuple]:
        """(arguments that are not differentiated, the others)."""
        fixed = self.nondiff_argnums
        return (
            tuple(args[i] for i in fixed),
            tuple(x for i, x in enumerate(args) if i not in fixed),
        )

    def merge(self, fixed: tuple, given: Sequence[Any]) -> list[Any]:
        """All arguments in their places."""
        rest, held = iter(given), dict(zip(self.nondiff_argnums, fixed, strict=True))
        count = len(fixed) + len(given)
        return [held[i] if i in held else next(rest) for i in range(count)]

    def check(self) -> None:
        """Refuse a function whose derivative was not given yet."""
        raise NotImplementedError

    def has_captured(self, wanted: Callable[[Any], bool]) -> bool:
        """Whether the function or its rule has captured a value of that kind."""
        rules = (getattr(self, name, None) for name in ("fun", "jvp", "fwd", "bwd"))
        return any(captured_leaves(rule, wanted) for rule in rules if rule is not None)

    def forward(
        self, fixed: tuple, primals: tuple, tangents: tuple, active: Any = None
    ) -> tuple[Any, Any]:
        """Result and tangent; `active` says which leaves have a tangent, all of them if None."""
        raise NotImplementedError

    def reverse(self, fixed: tuple, primals: tuple, active: Any = None) -> tuple[Any, Callable]:
        """Result and pullback to the cotangents of `primals`."""
        raise NotImplementedError

    def over_lanes(self, axes: tuple, lanes: int, fixed: tuple) -> CustomRule:
        """The same rule for arguments with an axis of lanes in front."""
        raise NotImplementedError

    def _within(self, x: Any, level: int, made: Any) -> Any:
        """What was made of a result at a level, under the levels that the result is of above it.

        They are of values that the function has captured. Errors: OvertError for lanes.
        """
        if getattr(x, "level", 0) <= level:
            return made
        what = (
            f"{self.__name__} has captured a value that a transformation inside of that of its "
            "arguments differentiates or maps; give the value as an argument (closure_convert does)"
        )
        if type(x) is not Recorded:
            raise OvertError(what)
        inner = self._within(x.primal, level, made)
        return x.tape.record([inner], [x], lambda _: [NoCotangent(what)])[0]

    def _dual_call(self, level: int, fixed: tuple, leaves: list, definition: Any) -> Any:
        primals = [primal_at(level, x) for x in leaves]
        dots = [tangent_at(level, x) for x in leaves]
        active = definition.unflatten(dot is not None for dot in dots)
        dots = [_tangent_or_zero(dot, p) for dot, p in zip(dots, primals, strict=True)]
        out, out_dot = self.forward(
            fixed, definition.unflatten(primals), definition.unflatten(dots), active
        )
        made, out_definition = tree_flatten(out)
        results = [_below(x, level) for x in made]
        # The rule is that of the arguments; values that it has captured have their own tangents.
        out_dots = [
            add(primal_at(level, _below(dot, level)), tangent_at(level, x))
            for x, dot in zip(results, out_definition.flatten_up_to(out_dot), strict=True)
        ]
        return out_definition.unflatten(
            self._within(x, level, dual(primal_at(level, result), dot, level))
            for x, result, dot in zip(made, results, out_dots, strict=True)
        )

    def _recorded_call(self, tape: Any, fixed: tuple, leaves: list, definition: Any) -> Any:
        primals = definition.unflatten(map(tape.primal, leaves))
        held = Captures([x for f in fixed for x in captured_leaves(f, tape.owns)])
        fixed = tuple(held.replaced(f, list(map(tape.primal, held.values))) for f in fixed)
        fixed = tree_map(tape.primal, fixed)
        nothing = NoCotangent(
            f"{self.__name__} holds one of its nondiff_argnums fixed, but that, or a value that it "
            "has captured, is differentiated; give the value as an argument (closure_convert does)"
        )
        active = definition.unflatten(tape.primal(x) is not x for x in leaves)
        out, pull = self.reverse(fixed, primals, active)
        whole, out_definition = tree_flatten(out)
        made = [_below(x, tape.level) for x in whole]
        results = list(map(tape.primal, made))
        filled_in = _symbolic if self.symbolic_zeros else materialize
        # What a result owes to differentiated values that the function has captured.
        captured = [i for i, x in enumerate(made) if tape.owns(x)]

        def pullback(gs: list[Any]) -> list[Any]:
            filled = [filled_in(g, x) for g, x in zip(gs, results, strict=True)]
            with tape.bygone():
                bars = tree_map(tape.primal, pull(out_definition.unflatten(filled)))
            own = definition.flatten_up_to(_whole(bars, primals))
            return [*own, *[nothing] * count, *[gs[i] for i in captured]]

        count = len(held.values)
        operands = [*leaves, *held.values, *[made[i] for i in captured]]
        recorded = tape.record(results, operands, pullback)
        return out_definition.unflatten(
            self._within(x, tape.level, y) for x, y in zip(whole, recorded, strict=True)
        )

    def _lanes_call(self, level: int, fixed: tuple, leaves: list, definition: Any) -> Any:
        peers = [type(x) is Lanes and x.level == level for x in leaves]
        values = [x.value if peer else x for x, peer in zip(leaves, peers, strict=True)]
        lanes = next(x.lanes for x, peer in zip(leaves, peers, strict=True) if peer)
        axes = definition.unflatten([0 if peer else None for peer in peers])
        batched = self.over_lanes(axes, lanes, fixed)
        return tree_map(lambda x: Lanes(x, level), batched(*definition.unflatten(values)))


def _below(x: Any, level: int) -> Any:
    """A value as it is at a level and below."""
    while type(x) is Recorded and x.level > level:
        x = x.primal
    return x


def _hides_derivative(x: Any, level: int) -> bool:
    while type(x) is Lanes:
        x = x.value
    return isinstance(x, (Dual, Recorded))


def _tangent_or_zero(dot: Any, x: Any) -> Any:
    if dot is None and is_array(x) and not is_inexact(x):
        return numpy.zeros(aval_of(x).shape, dtypes.float0)
    return materialize(dot, x)


def _whole(bars: Any, primals: tuple) -> tuple:
    """Cotangents in the containers of the arguments; a None stands for a whole argument."""
    if not isinstance(bars, (tuple, list)) or len(bars) != len(primals):
        raise TypeError(
            f"a custom vjp rule must return a tuple of {len(primals)} cotangents, one for each "
            f"differentiated argument, but it returned {type(bars).__name__}"
            + (f" of {len(bars)}" if isinstance(bars, (tuple, list)) else "")
        )
    for i, (bar, x) in enumerate(zip(bars, primals, strict=True)):
        _check_shapes(bar, x, i)
    return tuple(
        tree_map(lambda _: None, x) if bar is None else bar
        for bar, x in zip(bars, primals, strict=True)
    )


def _check_shapes(bar: Any, x: Any, i: int) -> None:
    """Errors: ValueError where a cotangent does not have the shape of its argument."""
    given, definition = tree_flatten(bar)
    wanted, expected = tree_flatten(x)
    if definition != expected:  # None for a part that has no derivative
        return
    for g, value in zip(given, wanted, strict=True):
        if not (is_inexact(value) and is_array(g)) or has_lanes(g) != has_lanes(value):
            continue
        found, shape = aval_of(g).shape, aval_of(value).shape
        if found != shape:
            raise ValueError(
                f"a custom vjp rule (bwd) must return cotangents of the shapes of the arguments, "
                f"but for argument {i}, of shape {shape}, it returned one of shape {found}"
            )


def _without_zeros(bar: Any) -> Any:
    zero = isinstance(bar, SymbolicZero) or getattr(bar, "dtype", None) == dtypes.float0
    return None if zero else bar


def _symbolic(g: Any, x: Any) -> Any:
    return zero_from_primal(x, True) if g is None and is_array(x) else g


class custom_jvp(CustomRule):  # noqa: N801
    """A function whose jvp is given with `defjvp`.

    >>> from overt.runtime import numpy as np
    >>> from overt.runtime.dual import jvp_call
    >>> @custom_jvp
    ... def cube(x):
    ...     return x**3
    >>> @cube.defjvp
    ... def cube_jvp(primals, tangents):
    ...     (x,), (x_dot,) = primals, tangents
    ...     return cube(x), 3 * x**2 * x_dot
    >>> float(jvp_call(cube, (np.array(2.0),), (np.array(1.0),))[1])
    12.0
    """

    jvp: Callable | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        leaves = tree_leaves((args, kwargs))
        top = topmost(leaves)
        if type(top) is Recorded and top.tape.linear:  # a tangent, in a rule: its own, perhaps
            return self.fun(*args, **kwargs)
        return super().__call__(*args, **kwargs)

    def defjvp(self, jvp: Callable, symbolic_zeros: bool = False) -> Callable:
        """Give the rule: `jvp(*nondiff, primals, tangents) -> result, tangent`."""
        self.jvp, self.symbolic_zeros = jvp, symbolic_zeros
        return jvp

    def defjvps(self, *jvps: Callable | None) -> None:
        """Give one rule an argument, `jvp(tangent, result, *primals)`; their results are added."""
        if self.nondiff_argnums:
            raise TypeError("defjvps does not go with nondiff_argnums; use defjvp")

        def jvp(primals: tuple, tangents: tuple) -> tuple[Any, Any]:
            out = self(*primals)
            parts = [
                rule(dot, out, *primals)
                for rule, dot in zip(jvps, tangents, strict=True)
                if rule is not None
            ]
            total = functools.reduce(add, parts, None)
            return out, materialize(total, out)

        self.jvp = jvp

    def check(self) -> None:
        if self.jvp is None:
            raise AttributeError(f"no jvp was given for {self.__name__}; use defjvp")

    def forward(
        self, fixed: tuple, primals: tuple, tangents: tuple, active: Any = None
    ) -> tuple[Any, Any]:
        assert self.jvp is not None
        if self.symbolic_zeros and active is not None:
            tangents = tree_map(
                lambda dot, x, on: dot if on else zero_from_primal(x, True),
                tangents, primals, active,
            )  # fmt: skip
        pair = self.jvp(*fixed, primals, tangents)
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TypeError(
                f"the jvp rule of {self.__name__} must return a pair (result, tangent), not "
                f"{type(pair).__name__}"
            )
        tree_structure(pair[0]).flatten_up_to(pair[1])  # refuses a tangent of other containers
        return pair[0], tree_map(_without_zeros, pair[1])

    def reverse(self, fixed: tuple, primals: tuple, active: Any = None) -> tuple[Any, Callable]:
        leaves, definition = tree_flatten(primals)
        zeros = [_tangent_or_zero(None, x) for x in leaves]

        def along(dots: list[Any]) -> tuple[Any, Any]:
            out, out_dot = self.forward(fixed, primals, definition.unflatten(dots), active)
            return out_dot, out

        _, pull, out = vjp_call(along, zeros, has_aux=True, linear=True)
        return out, lambda out_bar: definition.unflatten(pull(out_bar)[0])

    def over_lanes(self, axes: tuple, lanes: int, fixed: tuple) -> CustomRule:
        def fun(*args: Any) -> Any:
            return vmap_call(lambda *xs: self.fun(*self.merge(fixed, xs)), args, axes, 0, lanes)

        def jvp(primals: tuple, tangents: tuple) -> Any:
            rule = functools.partial(self.forward, fixed)
            return vmap_call(rule, (primals, tangents), (axes, axes), 0, lanes)

        batched = _fixed_arity(custom_jvp, fun, len(axes))
        batched.jvp = jvp
        return batched


class custom_vjp(CustomRule):  # noqa: N801
    """A function whose reverse mode is given with `defvjp`.

    >>> from overt.runtime import numpy as np
    >>> @custom_vjp
    ... def clipped(x):
    ...     return x
    >>> clipped.defvjp(lambda x: (x, None), lambda _, g: (np.clip(g, -1, 1),))
    >>> float(vjp_call(clipped, np.array(2.0))[1](5.0)[0])
    1.0
    """

    fwd: Callable | None = None
    bwd: Callable | None = None

    def defvjp(
        self,
        fwd: Callable,
        bwd: Callable,
        symbolic_zeros: bool = False,
        optimize_remat: bool = False,
    ) -> None:
        """Give the rule: `fwd(*args) -> result, kept`, `bwd(*nondiff, kept, g) -> cotangents`."""
        if symbolic_zeros and optimize_remat:
            raise NotImplementedError("optimize_remat does not go with symbolic_zeros")
        self.fwd, self.bwd, self.symbolic_zeros = fwd, bwd, symbolic_zeros

    def check(self) -> None:
        if self.fwd is None or self.bwd is None:
            raise AttributeError(f"no vjp was given for {self.__name__}; use defvjp")

    def reverse(self, fixed: tuple, primals: tuple, active: Any = None) -> tuple[Any, Callable]:
        assert self.fwd is not None and self.bwd is not None
        bwd, given = self.bwd, primals
        if self.symbolic_zeros:
            active = tree_map(lambda _: True, primals) if active is None else active
            given = tree_map(CustomVJPPrimal, primals, active)
        pair = self.fwd(*self.merge(fixed, given))
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TypeError(
                f"the fwd rule of {self.__name__} must return a pair (result, kept), not "
                f"{type(pair).__name__}"
            )
        out, kept = pair

        def pull(out_bar: Any) -> Any:
            bars = bwd(*fixed, kept, out_bar)
            return tree_map(_without_zeros, _whole(bars, primals))

        return out, pull

    def forward(
        self, fixed: tuple, primals: tuple, tangents: tuple, active: Any = None
    ) -> tuple[Any, Any]:
        # The pullback is linear in the cotangent, so the tangent is its transpose.
        out, pull = self.reverse(fixed, primals, active)

        def bars(out_bar: Any) -> Any:
            return tree_map(materialize, pull(out_bar), primals)

        _, push = vjp_call(lambda out_bar: tree_leaves(bars(out_bar)), tree_map(_zero_of, out))
        dots = [dot for dot in map(_without_zeros, tree_leaves(tangents)) if dot is not None]
        return out, push(dots)[0]

    def over_lanes(self, axes: tuple, lanes: int, fixed: tuple) -> CustomRule:
        def fun(*args: Any) -> Any:
            return vmap_call(lambda *xs: self.fun(*self.merge(fixed, xs)), args, axes, 0, lanes)

        def fwd(*args: Any) -> Any:
            assert self.fwd is not None
            whole, mark = self.fwd, lambda xs: xs
            if self.symbolic_zeros:
                marks = tree_map(lambda x: x.perturbed, args)
                mark = lambda xs: tree_map(CustomVJPPrimal, xs, marks)
                args = custom_vjp_primal_tree_values(args)
            (out, kept), (out_axes, kept_axes) = vmap_call(
                lambda *xs: whole(*self.merge(fixed, mark(xs))), args, axes, AUTO, lanes
            )
            return out, (kept, out_axes, kept_axes, args)

        def bwd(kept_all: Any, g: Any) -> Any:
            assert self.bwd is not None
            rule = functools.partial(self.bwd, *fixed)
            kept, _, kept_axes, args = kept_all
            g = tree_map(instantiated, g)
            bars = vmap_call(lambda k, h: _whole(rule(k, h), args), (kept, g), (kept_axes, 0),
                             0, lanes)  # fmt: skip
            leaves, definition = tree_flatten(args)
            places = tree_leaves(axes, is_leaf=lambda x: x is None)
            summed = [
                bar.sum(axis=0) if axis is None and bar is not None else bar
                for bar, axis in zip(definition.flatten_up_to(bars), places, strict=True)
            ]
            return definition.unflatten(summed)

        batched = _fixed_arity(custom_vjp, fun, len(axes))
        batched.fwd, batched.bwd, batched.symbolic_zeros = fwd, bwd, self.symbolic_zeros
        return batched


def _zero_of(x: Any) -> Any:
    return materialize(None, x)


def _fixed_arity(kind: type, fun: Callable, count: int) -> Any:
    rule = kind(fun)
    rule.positional = lambda args, kwargs: args
    return rule


def custom_gradient(fun: Callable) -> Callable:
    """A function that returns (result, pullback); its derivative is that pullback.

    >>> from overt.runtime import numpy as np
    >>> twice = custom_gradient(lambda x: (x, lambda g: 2 * g))
    >>> float(vjp_call(twice, np.array(1.0))[1](1.0)[0])
    2.0
    """

    @functools.wraps(fun)
    def value(*args: Any) -> Any:
        return fun(*args)[0]

    def fwd(*args: Any) -> Any:
        return fun(*args)

    def bwd(pullback: Callable, g: Any) -> tuple:
        bars = pullback(g)
        return bars if isinstance(bars, tuple) else (bars,)

    rule = custom_vjp(value)
    rule.defvjp(fwd, bwd)
    return rule
