"""Primitives and composites: the functions everything is made of, with all that is known of them.

A primitive is declared in one block: shape and dtype rule, lowering, derivative, batching.  Calling
one dispatches on its operands: to the highest transformation level among them, else into the graph
being staged, else to a cached executable.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from overt.runtime import config, dispatch, dtypes
from overt.runtime.aval import Aval
from overt.runtime.composite import Composite, composite
from overt.runtime.dispatch import CHECKS, GRAPH, LITERALS, hashable, static_key
from overt.runtime.rules import Rule, all_none, counterpart, rule_of

__all__ = [
    "GRAPH", "LITERALS", "REGISTRY", "Composite", "Primitive", "Rule", "broadcast_shapes",
    "composite", "counterpart", "hashable", "rule_of", "static_key",
]  # fmt: skip

REGISTRY: dict[str, Primitive] = {}
_OPTIONAL = frozenset(("out", "where"))  # keywords of NumPy's that may be given as None


def _array_names(lower: Any, vjp: Any) -> tuple[str, ...]:
    """Operand names, read from the lowering (b, x, y) or from a rule (g, out, x, y)."""
    if vjp and callable(source := next((r for r in vjp if r is not None), None)):
        skip = 2
    elif lower.__name__ == "named_lowering":
        return ("x",)
    else:
        source, skip = lower, 1
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(source).parameters.values()
    return tuple(p.name for p in parameters if p.kind in kinds)[skip:]


class Primitive:
    """A function with a lowering of its own; operands are positional arrays, parameters keywords.

    `shape(*avals, **params)` gives the result's aval, or a list of them.  `lower(b, *values, avals,
    out, **params)` builds it; a string names the StableHLO or CHLO operation.  With `elementwise`,
    operands are broadcast and promoted before `lower` sees them: `result` replaces the result's
    dtype (a dtype, or a function of the operands'), `float_only` promotes integers to float,
    `unpromoted` are positions that keep their dtype (the predicate of `where`).
    """

    def __init__(
        self,
        name: str,
        *,
        lower: Callable | str,
        shape: Callable | None = None,
        elementwise: bool = False,
        linear: bool = False,
        vjp: Any = None,
        jvp: Callable | None = None,
        batch: Callable | None = None,
        zero_derivative: bool = False,
        result: Any = None,
        float_only: bool = False,
        unpromoted: tuple[int, ...] = (),
        arrays: tuple[str, ...] | None = None,
        effect: bool = False,
        doc: str = "",
    ):
        if shape is None and not elementwise:
            raise TypeError(f"primitive {name}: give a shape rule, or elementwise=True")
        self.name = self.__name__ = self.__qualname__ = name
        self.__doc__ = doc
        self.lower: Callable = _named_lowering(lower) if isinstance(lower, str) else lower
        self.shape = shape or self._elementwise_shape
        self.elementwise = elementwise
        self.linear = linear
        self.batch = batch
        self.result = np.dtype(result) if result is not None and not _is_hook(result) else result
        self.float_only = float_only
        self.unpromoted = unpromoted
        self.effect = effect
        self._arrays = arrays
        self._vjp, self._jvp = vjp, jvp
        self._zero = zero_derivative or all_none(vjp)
        self._inferred: dict[tuple, tuple] = {}
        self.home = _declaring_module()
        if name in REGISTRY:
            raise ValueError(f"there are two primitives named {name!r}")
        REGISTRY[name] = self

    @functools.cached_property
    def rule(self) -> Rule:
        names = self._arrays or _array_names(self.lower, self._vjp)
        return Rule(
            self.name, names, self.elementwise, self.linear, self._vjp, self._jvp, self._zero
        )

    def __call__(self, *operands: Any, **params: Any) -> Any:
        if params and not _OPTIONAL.isdisjoint(params):
            for name in _OPTIONAL & params.keys() - self._parameters.keys():
                if params.pop(name) is not None:
                    raise TypeError(f"{self.name}() {unknown_keyword(name)}")
        if CHECKS.get() is not None:
            return dispatch.checked(self, operands, params)
        top, level = None, 0
        for x in operands:
            n = getattr(x, "level", 0)
            if n > level:
                top, level = x, n
        if top is not None:
            return top.handle(self, operands, params)
        if GRAPH.get() is not None:
            return dispatch.record(self, operands, params)
        return dispatch.execute(self, operands, params)

    @functools.cached_property
    def __signature__(self) -> inspect.Signature:
        if type(self).__call__ is not Primitive.__call__:  # it looks at its operands itself
            return inspect.signature(self.__call__)
        kind, names = inspect.Parameter, self.rule.arrays
        if self.elementwise and len(names) == 2:
            names = ("x1", "x2")
        operands = [kind(name, kind.POSITIONAL_ONLY) for name in names]
        return inspect.Signature([*operands, *self._parameters.values()])

    @functools.cached_property
    def _parameters(self) -> dict[str, inspect.Parameter]:
        """The static parameters, from the rule that gives the result's shape or its lowering."""
        source, given = (self.lower, ("avals", "out")) if self.elementwise else (self.shape, ())
        found = inspect.signature(source).parameters
        only = inspect.Parameter.KEYWORD_ONLY
        return {n: p for n, p in found.items() if p.kind is only and n not in given}

    # ---- what NumPy's ufuncs have ----

    nout = 1

    @property
    def nin(self) -> int:
        """How many arrays it takes."""
        return len(self.rule.arrays)

    @property
    def nargs(self) -> int:
        """How many arrays it takes and gives."""
        return self.nin + self.nout

    @property
    def identity(self) -> Any:
        """The number that combined with any other gives that one, or None."""
        from overt.runtime.numpy import ufuncs

        return ufuncs.identity(self)

    def reduce(
        self, a: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: bool = False,
        initial: Any = None, where: Any = None,
    ) -> Any:  # fmt: skip
        """The elements along `axis` (None: all) combined."""
        from overt.runtime.numpy import ufuncs

        return ufuncs.reduce(self, a, axis, dtype, out, keepdims, initial, where)

    def accumulate(self, a: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        """The elements up to each one along `axis` combined."""
        from overt.runtime.numpy import ufuncs

        return ufuncs.accumulate(self, a, axis, dtype, out)

    def reduceat(
        self, a: Any, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None
    ) -> Any:
        """The elements from each index to the next combined."""
        from overt.runtime.numpy import ufuncs

        return ufuncs.reduceat(self, a, indices, axis, dtype, out)

    def at(self, a: Any, indices: Any, b: Any = None, /, *, inplace: bool = True) -> Any:
        """`a` with the function applied at `indices`; `inplace=False` must be said."""
        from overt.runtime.numpy import ufuncs

        return ufuncs.at(self, a, indices, b, inplace=inplace)

    def outer(self, A: Any, B: Any, /, **kwargs: Any) -> Any:
        """The function of every element of `A` with every element of `B`."""
        from overt.runtime.numpy import ufuncs

        return ufuncs.outer(self, A, B, **kwargs)

    def infer(self, avals: tuple[Aval, ...], params: dict[str, Any]) -> tuple[tuple, bool]:
        """(result avals, whether the result is a tuple), remembered."""
        settings = config.current()
        key: tuple = (avals, settings)
        if params:
            key = (*key, static_key(params))
        found = self._inferred.get(key)
        if found is None or settings.numpy_rank_promotion == "warn":
            out: Any = self.shape(*avals, **params)
            many = isinstance(out, (list, tuple))
            found = self._inferred[key] = (tuple(out) if many else (out,), many)
        return found

    def operand_dtype(self, avals: tuple[Aval, ...]) -> tuple[np.dtype, bool]:
        """(dtype, weak) that an elementwise primitive computes in."""
        kinds = [(a.dtype, a.weak) for i, a in enumerate(avals) if i not in self.unpromoted]
        dtype, weak = dtypes.result_kind(*kinds)
        if self.float_only:
            dtype = dtypes.to_inexact(dtype)
        return dtype, weak

    def _check_call(self, count: int, params: dict[str, Any]) -> None:
        """Errors: TypeError for a wrong number of arrays, or a keyword there is not."""
        names = self.rule.arrays
        if count != len(names):
            wanted = "1 array" if len(names) == 1 else f"{len(names)} arrays"
            raise TypeError(f"{self.name}() takes {wanted}, got {count}")
        for name in params:
            if name not in self._parameters:
                raise TypeError(f"{self.name}() {unknown_keyword(name)}")

    def _elementwise_shape(self, *avals: Aval, **params: Any) -> Aval:
        self._check_call(len(avals), params)
        dtype, weak = self.operand_dtype(avals)
        if self.result is not None:
            dtype = np.dtype(self.result(dtype) if _is_hook(self.result) else self.result)
            weak = weak and dtype != np.bool_
        return Aval(broadcast_shapes(*(a.shape for a in avals), name=self.name), dtype, weak)

    def emit(
        self, b: Any, values: list, avals: tuple, out: tuple, many: bool, params: dict
    ) -> list:  # fmt: skip
        """Build the operation with builder `b`; the list of its results."""
        if self.elementwise:
            values = self._prepared(b, values, avals, out[0].shape)
        result = self.lower(b, *values, avals=avals, out=list(out) if many else out[0], **params)
        return list(result) if many else [result]

    def _prepared(self, b: Any, values: list, avals: tuple, shape: tuple) -> list:
        dtype, _ = self.operand_dtype(avals)
        if all(a.shape == shape and a.dtype == dtype for a in avals) and not any(
            type(v) in LITERALS for v in values
        ):
            return values
        # Comparing uint32 with int32 has no common dtype in 32 bits: b.compare does it by value.
        exact = self.result == np.bool_ and dtypes.is_integer(dtype) and _mixed_signs(avals)
        prepared = []
        for i, (v, aval) in enumerate(zip(values, avals, strict=True)):
            to = aval.dtype if exact or i in self.unpromoted else dtype
            if type(v) in LITERALS:
                prepared.append(b.full(shape, v, to))
                continue
            if aval.dtype != to:
                v = b.convert(v, to)
            prepared.append(v if aval.shape == shape else b.broadcast_to(v, shape))
        return prepared

    def __repr__(self) -> str:
        return f"<primitive {self.name}>"

    def __reduce__(self) -> tuple:
        return _primitive, (self.name,)


def unknown_keyword(name: str) -> str:
    """Why a keyword is refused, and what to do instead where NumPy knows it."""
    instead = {
        "out": "arrays are immutable; use the result",
        "where": "use np.where(condition, result, otherwise)",
        "dtype": "convert the operands with .astype, or the result",
        "casting": "convert the operands with .astype",
    }.get(name)
    return f"does not take {name}=" + (f": {instead}" if instead else "")


def _declaring_module() -> str:
    """The module being imported, which declares a primitive."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code.co_name != "<module>":
        frame = frame.f_back
    return frame.f_globals["__name__"] if frame is not None else ""


def _primitive(name: str) -> Primitive:
    return REGISTRY[name]


def _is_hook(result: Any) -> bool:
    return callable(result) and not isinstance(result, type)


def _mixed_signs(avals: tuple[Aval, ...]) -> bool:
    return {dtypes.category(a.dtype) for a in avals} == {"i", "u"} and not any(
        a.weak for a in avals
    )


def _named_lowering(name: str) -> Callable:
    def named_lowering(b: Any, *values: Any, avals: Any, out: Any) -> Any:
        return b.elementwise(name, values, out)

    return named_lowering


def broadcast_shapes(*shapes: tuple[int, ...], name: str = "broadcast") -> tuple[int, ...]:
    """NumPy's broadcasting rule.

    >>> broadcast_shapes((2, 1), (3,))
    (2, 3)
    """
    first = shapes[0] if shapes else ()
    if all(s == first for s in shapes):
        return first
    ndim = max(map(len, shapes))
    if any(len(s) not in (ndim, 0) for s in shapes):
        _check_rank_promotion(shapes, name)
    result = [1] * ndim
    for shape in shapes:
        for i, n in enumerate(shape, ndim - len(shape)):
            if n != 1 and result[i] != n:
                if result[i] != 1:
                    listed = ", ".join(map(str, shapes))
                    raise ValueError(f"{name}: shapes {listed} cannot be broadcast together")
                result[i] = n
    return tuple(result)


def _check_rank_promotion(shapes: tuple, name: str) -> None:
    mode = config.current().numpy_rank_promotion
    if mode == "allow":
        return
    text = f"{name}: operands of ranks {[len(s) for s in shapes]} are broadcast together"
    if mode == "raise":
        raise ValueError(f"{text}, and numpy_rank_promotion is 'raise'; reshape them to one rank")
    import warnings

    warnings.warn(text, stacklevel=4)
