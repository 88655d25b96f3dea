"""`grad` and `value_and_grad`: reverse mode, by generated code that runs forwards and then back."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from overt.rewrites.refusal import Refusal
from overt.runtime import dtypes
from overt.runtime.array import Array
from overt.runtime.aval import aval_of
from overt.runtime.derivatives import NoCotangent, is_array, materialize, refuse_joined
from overt.runtime.dispatch import CHECKS
from overt.runtime.escape import settled
from overt.runtime.interop import as_array
from overt.runtime.parts import parts_of, with_aux
from overt.runtime.tree import flatten_strict, tree_flatten
from overt.transformer import transformed
from overt.transformer.escapes import or_on_values
from overt.transformer.recording import say
from overt.transformer.transformed import Transformed, noted

FLOAT0 = numpy.dtype([("float0", numpy.void, 0)])


class Gradient(Transformed):
    """A function that gives the gradient of another one, with its value where asked."""

    def __init__(
        self, fn: Callable, argnums: int | Sequence[int], value: bool, has_aux: bool,
        holomorphic: bool, allow_int: bool,
    ) -> None:  # fmt: skip
        super().__init__(fn)
        self.argnums = _checked_argnums(argnums)
        self.value, self.has_aux = value, has_aux
        self.holomorphic, self.allow_int = holomorphic, allow_int
        self.suffix = "value_and_grad" if value else "grad"
        aux = ", aux" if has_aux else ""
        self.chain = f"{self.suffix}({self.argnums}{aux})"
        self.checked: set[Any] = set()
        self.records = False  # its derivative has no text

    def wrapping(self, fn: Callable, leading: int, count: int) -> Gradient:
        argnums = behind(self.argnums, leading)
        return Gradient(fn, argnums, self.value, self.has_aux, self.holomorphic, self.allow_int)

    def argument_positions(self, count: int) -> tuple[int, ...]:
        """The differentiated arguments as positions among `count` of them."""
        single = isinstance(self.argnums, int)
        wanted: Any = (self.argnums,) if single else self.argnums
        for i in wanted:
            if not -count <= i < count:
                raise ValueError(
                    f"{self.suffix} needs argument {i} of {transformed.name_of(self)}, "
                    f"but it was called with {count} positional arguments"
                )
        return tuple(i % count if count else i for i in wanted)

    def source(self) -> Any:
        return self.derived(self.value)

    def derived(self, value: bool) -> Any:
        """The gradient's source; `argnums` count from the bound arguments on."""
        from overt.rewrites.reverse import gradient

        source = transformed.source_of(self.__wrapped__)
        shift = transformed.bound_count(self.__wrapped__)
        if isinstance(self.argnums, int):
            argnums: Any = _from_start(self.argnums, shift, source)
        else:
            argnums = tuple(_from_start(i, shift, source) for i in self.argnums)
        return gradient(source, argnums, value, self.has_aux)

    def runs(self, value: bool, lift: bool) -> Callable[..., Any]:
        """The live function: with the value or without, lifted or not."""
        inner = transformed.target_of(self.__wrapped__)
        aux = ", aux" if self.has_aux else ""
        step = f"|{'value_and_grad' if value else 'grad'}({self.argnums}{aux})"
        chain = inner.chain + step + ("|lift" if lift else "")

        def make() -> Any:
            source = self.derived(value)
            return transformed.lift(source, outermost=False) if lift else source

        function = transformed.alive(self.__wrapped__, chain, make)
        return transformed.with_bound(function, inner)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        positions = self.argument_positions(len(args))
        prepared = list(args)
        for i in positions:
            prepared[i] = self.prepared(args[i])
        lift = transformed.needs_lifting(prepared, kwargs, of=self)
        with noted():
            if not transformed.has_source(self.__wrapped__):
                result = self.recorded(prepared, positions, kwargs)
            elif self.value or lift or CHECKS.get() is not None:
                # What fails may be a step to the value that the gradient does without.
                result = self.with_value(lift, prepared, kwargs)
            else:
                leaves, definition = flatten_strict((prepared, kwargs))
                key = (definition, *[x.aval if isinstance(x, Array) else type(x) for x in leaves])
                if key in self.checked and not self.records:
                    found = or_on_values(
                        lambda: self.runs(False, False)(*prepared, **kwargs),
                        lambda: None,
                        transformed.name_of(self),
                        self.__wrapped__, prepared, kwargs,
                    )  # fmt: skip
                    if found is None:
                        self.records = True
                        return self(*args, **kwargs)
                    grads, aux = found if self.has_aux else (found, None)
                    grads = self.finished(grads, [prepared[i] for i in positions])
                    return (grads, aux) if self.has_aux else grads
                result = self.with_value(False, prepared, kwargs)
                self.checked.add(key)
        value, grads = result
        inner = self.__wrapped__
        if isinstance(inner, Gradient) and not (inner.value or inner.has_aux or self.has_aux):
            # Of `n * x` it is n, perhaps a Python integer, where the text is all that has run.
            value = inner.finished(
                value, [prepared[i] for i in inner.argument_positions(len(args))]
            )
        self.check_output(with_aux(value)[0] if self.has_aux else value)
        grads = self.finished(grads, [prepared[i] for i in positions])
        if self.value:
            if self.has_aux:
                return (_scalar(value[0]), value[1]), grads
            return _scalar(value), grads
        return (grads, value[1]) if self.has_aux else grads

    def with_value(self, lift: bool, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Value and gradient; if that fails since the function's result is no scalar, say so."""
        positions = self.argument_positions(len(args))
        if self.records:
            return self.recorded(args, positions, kwargs)
        try:
            run = self.runs(True, lift)
        except Refusal as refusal:
            if not refusal.recordable:
                raise
            say(transformed.name_of(self), refusal)
            return self.recorded(args, positions, kwargs)
        try:
            return or_on_values(
                lambda: self.unjoined(run, args, kwargs),
                lambda: self.recorded(args, positions, kwargs),
                transformed.name_of(self),
                self.__wrapped__, args, kwargs,
            )  # fmt: skip
        except (TypeError, ValueError, LookupError, AttributeError) as error:
            failure = error
        try:
            forwards = transformed.lifted_form if lift else transformed.plain
            out = forwards(self.__wrapped__)(*args, **kwargs)
        except Exception:
            raise failure from None
        self.check_output(with_aux(out)[0] if self.has_aux else out)
        raise failure

    # --- arguments and results

    def prepared(self, argument: Any) -> Any:
        """An argument with its numbers as arrays, checked to have a derivative."""
        leaves, definition = tree_flatten(argument)
        if len(leaves) == 1 and leaves[0] is argument and not self.is_differentiable(argument):
            raise TypeError(
                f"{self.suffix} requires real- or complex-valued inputs, arrays or containers of "
                f"them; got a value of type {type(argument).__name__}. Register its class with "
                "overt.tree_util, or pass what is differentiated by itself."
            )
        return definition.unflatten([self.prepared_leaf(x) for x in leaves])

    def is_differentiable(self, x: Any) -> bool:
        """Whether a value that is no tree may have parts with a derivative."""
        return is_array(x) or parts_of(x) is not None or callable(x)

    def prepared_leaf(self, x: Any) -> Any:
        if not is_array(x):
            return x
        x = as_array(x)
        name = self.suffix
        if self.holomorphic:
            if not dtypes.is_complex(x.dtype):
                raise TypeError(
                    f"{name} with holomorphic=True requires inputs with complex dtype, "
                    f"but got {x.dtype.name}."
                )
        elif not dtypes.is_inexact(x.dtype) and not self.allow_int:
            raise TypeError(
                f"{name} requires real- or complex-valued inputs (input dtype that is a sub-dtype "
                f"of np.inexact), but got {x.dtype.name}. If you want to use Boolean- or integer-"
                "valued inputs, use vjp or set allow_int to True."
            )
        return x

    def check_output(self, value: Any) -> None:
        """The differentiated function must give one real number."""
        if isinstance(value, NoCotangent):
            value.refuse()
        if not is_array(value):
            raise TypeError(
                f"Gradient only defined for scalar-output functions. Output was: {value!r}."
            )
        aval = aval_of(value)
        if aval.shape != ():
            raise TypeError(
                "Gradient only defined for scalar-output functions. "
                f"Output had shape: {aval.shape}. "
                "Reduce it to one number, with `sum` for example, or use jacobian or vjp."
            )
        name = self.suffix
        if self.holomorphic:
            if not dtypes.is_complex(aval.dtype):
                raise TypeError(
                    f"{name} with holomorphic=True requires outputs with complex dtype, "
                    f"but got {aval.dtype.name}."
                )
        elif dtypes.is_complex(aval.dtype):
            raise TypeError(
                f"{name} requires real-valued outputs (output dtype that is a sub-dtype of "
                f"np.floating), but got {aval.dtype.name}. For holomorphic differentiation, pass "
                "holomorphic=True. For differentiation of non-holomorphic functions involving "
                "complex outputs, use vjp directly."
            )
        elif not dtypes.is_inexact(aval.dtype) and type(value) is not int:  # `return 0`: constant
            raise TypeError(
                f"{name} requires real-valued outputs (output dtype that is a sub-dtype of "
                f"np.floating), but got {aval.dtype.name}. For differentiation of functions with "
                "integer outputs, use vjp directly."
            )

    def unjoined(self, run: Callable[..., Any], args: list[Any], kwargs: dict) -> Any:
        """Value and gradient, if none is that of a list that was made of an argument."""
        value, grads = run(*args, **kwargs)
        several = (grads,) if isinstance(self.argnums, int) else grads
        for i, grad in zip(self.argument_positions(len(args)), several, strict=True):
            refuse_joined(grad, args[i])
        return value, grads

    def finished(self, grads: Any, arguments: list[Any]) -> Any:
        """Gradients in the containers, shapes and dtypes of their arguments."""
        if isinstance(self.argnums, int):
            return fitted(grads, arguments[0])
        return tuple(fitted(g, x) for g, x in zip(grads, arguments, strict=True))

    def recorded(self, args: list[Any], positions: tuple[int, ...], kwargs: dict) -> Any:
        """The same for a function whose derivative has no text: by recording what it calls."""
        from overt.runtime.record import vjp_call
        from overt.runtime.special_methods import lifting_special_methods

        self.records = True
        fn = self.__wrapped__
        if transformed.has_source(fn) and not isinstance(fn, Transformed):
            fn = transformed.lifted_form(fn)  # in all it calls, stores into arrays are ours

        def of_chosen(*chosen: Any) -> Any:
            full = list(args)
            for i, x in zip(positions, chosen, strict=True):
                full[i] = x
            return fn(*full, **kwargs)

        def after(tape: Any, _: Any) -> None:
            settled(tape.level, self.__wrapped__, args, kwargs)

        chosen = [args[i] for i in positions]
        with lifting_special_methods(self.__wrapped__, args, kwargs):
            found = vjp_call(of_chosen, *chosen, has_aux=self.has_aux, after=after)
        out, pullback = found[:2]
        self.check_output(out)
        bars = pullback(as_array(1.0).astype(aval_of(out).dtype))
        grads = bars[0] if isinstance(self.argnums, int) else tuple(bars)
        return ((out, found[2]), grads) if self.has_aux else (out, grads)


def behind(argnums: Any, leading: int) -> Any:
    """Numbers of arguments where as many more come first; those from the end stay."""
    if isinstance(argnums, int):
        return argnums + leading if argnums >= 0 else argnums
    return tuple(behind(i, leading) for i in argnums)


def _scalar(value: Any) -> Any:
    return as_array(value) if is_array(value) else value


def _checked_argnums(argnums: Any) -> Any:
    if isinstance(argnums, (tuple, list)):
        return tuple(operator.index(i) for i in argnums)
    try:
        return operator.index(argnums)
    except TypeError:
        raise TypeError(f"argnums must be an int or a tuple of ints, got {argnums!r}") from None


def _from_start(argnum: int, shift: int, source: Any) -> int:
    if argnum >= 0:
        return argnum + shift
    count = sum(p.kind in ("positional", "normal") for p in source.main.params)
    return count + argnum


def fitted(bar: Any, x: Any) -> Any:
    """A cotangent as the user gets it: zeros where it is zero, in the dtype and shape of `x`."""
    leaves, definition = tree_flatten(x)
    bar = materialize(bar, x)
    try:
        bars = definition.flatten_up_to(bar)
    except ValueError:
        return bar
    return definition.unflatten(map(_fitted_leaf, bars, leaves))


def _fitted_leaf(bar: Any, x: Any) -> Any:
    if not is_array(x):
        return materialize(bar, x)
    aval = aval_of(x)
    if not dtypes.is_inexact(aval.dtype):
        return numpy.zeros(aval.shape, FLOAT0)
    bar = as_array(bar)
    if bar.dtype != aval.dtype:
        if dtypes.is_complex(bar.dtype) and not dtypes.is_complex(aval.dtype):
            bar = bar.real
        bar = bar.astype(aval.dtype)
    if bar.shape != aval.shape:
        from overt.runtime import numpy as np

        bar = np.broadcast_to(bar, aval.shape)
    return bar


def grad(
    fun: Callable, argnums: int | Sequence[int] = 0, has_aux: bool = False,
    holomorphic: bool = False, allow_int: bool = False,
) -> Gradient:  # fmt: skip
    """The gradient of a function of floats that gives one float.

    With several `argnums` a tuple of gradients; with `has_aux` the function gives (value, aux) and
    its gradient (gradient, aux).

    Errors: TypeError for integer arguments (unless `allow_int`), and for results that are no
    real scalar.

    >>> import overt
    >>> overt.grad(lambda x: x * x)(3.0)
    Array(6., dtype=float32, weak_type=True)
    """
    return Gradient(fun, argnums, False, has_aux, holomorphic, allow_int)


def value_and_grad(
    fun: Callable, argnums: int | Sequence[int] = 0, has_aux: bool = False,
    holomorphic: bool = False, allow_int: bool = False,
) -> Gradient:  # fmt: skip
    """A function that gives (value, gradient); with `has_aux` ((value, aux), gradient).

    >>> value, slope = value_and_grad(lambda x: x**3)(2.0)
    >>> print(value, slope)
    8.0 12.0
    """
    return Gradient(fun, argnums, True, has_aux, holomorphic, allow_int)
