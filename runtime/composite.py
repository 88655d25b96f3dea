"""Composites: functions over primitives that run as one operation."""

from __future__ import annotations

import collections
import functools
import inspect
from collections.abc import Callable
from typing import Any

from overt.runtime import config, dispatch
from overt.runtime.dispatch import CHECKS, GRAPH, hashable, leaves
from overt.runtime.errors import KeyIsNoNumber
from overt.runtime.rules import Rule, all_none


class Composite:
    """A function over primitives: eagerly one executable; staged, its body is recorded."""

    def __init__(
        self,
        fn: Callable,
        arrays: tuple[str, ...],
        vjp: Any = None,
        jvp: Callable | None = None,
        linear: bool = False,
        batch: Callable | None = None,
        zero_derivative: bool = False,
        open: bool = False,
        elementwise: bool = False,
    ):
        functools.update_wrapper(self, fn)
        self.arrays = arrays
        self.linear = linear
        self.batch = batch
        self.open = open  # whether its steps are checked by `checkify`, not its result
        zero = zero_derivative or all_none(vjp)
        self.rule = Rule(fn.__name__, arrays, elementwise, linear, vjp, jvp, zero)
        self.fn = fn

    @functools.cached_property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self.fn)

    @functools.cached_property
    def _fixed(self) -> tuple[tuple[str, ...], dict[str, Any], int] | None:
        """(names, defaults, how many may be positional), or None where there is a `*args`."""
        parameters = list(self.__signature__.parameters.values())
        if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD, p.POSITIONAL_ONLY) for p in parameters):
            return None
        defaults = {p.name: p.default for p in parameters}
        positional = sum(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters)
        return tuple(defaults), defaults, positional

    def bind(self, args: tuple, kwargs: dict[str, Any]) -> dict[str, Any]:
        """Every parameter's value, by name, defaults filled in."""
        if self._fixed is not None:
            names, defaults, positional = self._fixed
            bound = {**defaults, **dict(zip(names, args)), **kwargs}  # noqa: B905
            if (
                len(args) <= positional
                and len(bound) == len(names)
                and not any(v is inspect.Parameter.empty for v in bound.values())
                and not (kwargs and any(n in kwargs for n in names[: len(args)]))
            ):
                return bound
        if kwargs.get("out", 0) is None and "out" not in self.__signature__.parameters:
            del kwargs["out"]
        try:
            full = self.__signature__.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self.__name__}() {self._refused(kwargs, error)}") from None
        full.apply_defaults()
        return dict(full.arguments)

    def _refused(self, kwargs: dict[str, Any], error: TypeError) -> str:
        if "out" in kwargs and "out" not in self.__signature__.parameters:
            return "does not take out=: arrays are immutable; use the result"
        return str(error)

    def call(self, bound: dict[str, Any]) -> Any:
        """Run the body on bound parameters."""
        if self._fixed is not None:
            return self.fn(**bound)
        arguments = inspect.BoundArguments(self.__signature__, bound)  # type: ignore[arg-type]
        return self.fn(*arguments.args, **arguments.kwargs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            if CHECKS.get() is not None and not self.open:
                return dispatch.checked(self, args, kwargs)
            if GRAPH.get() is None and CHECKS.get() is None:
                return dispatch.call_composite(self, args, kwargs)
            return self.dispatch(self.bind(args, kwargs))
        except KeyIsNoNumber:
            return dispatch.on_keys(self, args, kwargs)

    def dispatch(self, bound: dict[str, Any]) -> Any:
        """Call on bound parameters: at the level of the arrays among them."""
        top, level = None, 0
        for name, x in bound.items():
            if getattr(x, "level", 0) and name not in self.arrays:
                return self.call(bound)  # a parameter that no rule asks for has a derivative
        for name in self.arrays:
            if type(bound[name]) is collections.deque:
                bound[name] = list(bound[name])
            for x in leaves(bound[name]):
                n = getattr(x, "level", 0)
                if n > level:
                    top, level = x, n
        if top is not None:
            operands = tuple(bound[name] for name in self.arrays)
            static = {k: hashable(v) for k, v in bound.items() if k not in self.arrays}
            result = top.handle_composite(self, operands, static)
            return self.call(bound) if result is NotImplemented else result
        if (GRAPH.get() or CHECKS.get()) is not None or config.current().disable_jit:
            return self.call(bound)
        return dispatch.execute_composite(self, bound)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self) -> str:
        return f"<function {self.__name__}>"

    def __reduce__(self) -> str:
        return self.__qualname__


def composite(
    arrays: tuple[str, ...],
    vjp: Any = None,
    jvp: Callable | None = None,
    linear: bool = False,
    batch: Callable | None = None,
    zero_derivative: bool = False,
    open: bool = False,
    elementwise: bool = False,
) -> Callable[[Callable], Composite]:
    """Make a function over primitives one operation; `arrays` names its array parameters.

    `elementwise` says that these are broadcast together: cotangents are summed to their shapes.
    """

    def decorate(fn: Callable) -> Composite:
        return Composite(
            fn, tuple(arrays), vjp, jvp, linear, batch, zero_derivative, open, elementwise
        )

    return decorate
