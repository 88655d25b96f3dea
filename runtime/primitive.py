"""Primitives and composites: the functions everything is made of, with all that is known of them.

A primitive is declared in one block: shape and dtype rule, lowering, derivative, batching.  Calling
one dispatches on its operands: to the highest transformation level among them, else into the graph
being staged, else to a cached executable.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any, NamedTuple

import numpy as np

from overt.runtime import config, dtypes
from overt.runtime.aval import Aval
from overt.runtime.errors import StagingError

# Python numbers stay as they are in a graph, and become constants where they are used.
LITERALS = frozenset((bool, int, float, complex))
REGISTRY: dict[str, Primitive] = {}
# The graph that operations of this context are recorded in; None means: run at once.
GRAPH: ContextVar[Any] = ContextVar("overt_graph", default=None)


class Rule(NamedTuple):
    """What the source passes know of a function."""

    name: str
    arrays: tuple[str, ...]  # names of the array parameters, in order
    elementwise: bool = False
    linear: bool = False
    vjp: Any = None  # one lambda per array: (g, out, *operands, **static) -> cotangent
    jvp: Any = None  # (dots, out, *operands, **static) -> tangent
    zero: bool = False  # the derivative is zero everywhere

    @property
    def differentiable(self) -> bool:
        """Whether a derivative is declared here, a zero one included."""
        return self.zero or self.linear or self.vjp is not None or self.jvp is not None


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
        self._zero = zero_derivative or _all_none(vjp)
        self._inferred: dict[tuple, tuple] = {}
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
        top, level = None, 0
        for x in operands:
            n = getattr(x, "level", 0)
            if n > level:
                top, level = x, n
        if top is not None:
            return top.handle(self, operands, params)
        if GRAPH.get() is not None:
            return record(self, operands, params)
        return execute(self, operands, params)

    def infer(self, avals: tuple[Aval, ...], params: dict[str, Any]) -> tuple[tuple, bool]:
        """(result avals, whether the result is a tuple), remembered."""
        key: tuple = (avals, config.current())
        if params:
            key = (*key, static_key(params))
        found = self._inferred.get(key)
        if found is None:
            out = self.shape(*avals, **params)
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

    def _elementwise_shape(self, *avals: Aval, **params: Any) -> Aval:
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


def _primitive(name: str) -> Primitive:
    return REGISTRY[name]


def _is_hook(result: Any) -> bool:
    return callable(result) and not isinstance(result, type)


def _all_none(vjp: Any) -> bool:
    return isinstance(vjp, tuple) and bool(vjp) and all(rule is None for rule in vjp)


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


def static_key(value: Any) -> Any:
    """A hashable key that tells 1 from True from 1.0, and 0.0 from -0.0, in static parameters."""
    kind = type(value)
    if kind is str or value is None:
        return value
    if kind is int:
        return value
    if kind is tuple or kind is list:
        for item in value:
            if type(item) is not int:
                return (kind, *map(static_key, value))
        return (kind, *value)
    if kind is dict:
        return tuple([(k, static_key(v)) for k, v in value.items()])
    if kind is float:
        return (float, value if value else repr(value))
    if isinstance(value, np.ndarray):
        return (np.ndarray, value.shape, value.dtype, value.tobytes())
    return (kind, value)


def record(primitive: Primitive, operands: tuple, params: dict) -> Any:
    """Record an operation in the graph being staged."""
    from overt.runtime import staging

    globals()["record"] = staging.record
    return staging.record(primitive, operands, params)


def execute(primitive: Primitive, operands: tuple, params: dict) -> Any:
    """Run an operation at once."""
    from overt.runtime import eager

    globals()["execute"] = eager.execute
    return eager.execute(primitive, operands, params)


# ---- composites ----


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
    ):
        functools.update_wrapper(self, fn)
        self.arrays = arrays
        self.linear = linear
        self.batch = batch
        zero = zero_derivative or _all_none(vjp)
        self.rule = Rule(fn.__name__, arrays, False, linear, vjp, jvp, zero)
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
        try:
            full = self.__signature__.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self.__name__}() {error}") from None
        full.apply_defaults()
        return dict(full.arguments)

    def call(self, bound: dict[str, Any]) -> Any:
        """Run the body on bound parameters."""
        if self._fixed is not None:
            return self.fn(**bound)
        arguments = inspect.BoundArguments(self.__signature__, bound)  # type: ignore[arg-type]
        return self.fn(*arguments.args, **arguments.kwargs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if GRAPH.get() is None:
            return call_composite(self, args, kwargs)
        return self.dispatch(self.bind(args, kwargs))

    def dispatch(self, bound: dict[str, Any]) -> Any:
        """Call on bound parameters: at the level of the arrays among them."""
        top, level = None, 0
        for name in self.arrays:
            for x in leaves(bound[name]):
                n = getattr(x, "level", 0)
                if n > level:
                    top, level = x, n
        if top is not None:
            operands = tuple(bound[name] for name in self.arrays)
            static = {k: hashable(v) for k, v in bound.items() if k not in self.arrays}
            result = top.handle_composite(self, operands, static)
            return self.call(bound) if result is NotImplemented else result
        if GRAPH.get() is not None or config.current().disable_jit:
            return self.call(bound)
        return execute_composite(self, bound)

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
) -> Callable[[Callable], Composite]:
    """Make a function over primitives one operation; `arrays` names its array parameters."""

    def decorate(fn: Callable) -> Composite:
        return Composite(fn, tuple(arrays), vjp, jvp, linear, batch, zero_derivative)

    return decorate


def execute_composite(function: Composite, bound: dict[str, Any]) -> Any:
    """Run a composite at once, as one executable."""
    from overt.runtime import composites

    globals()["execute_composite"] = composites.execute_composite
    return composites.execute_composite(function, bound)


def call_composite(function: Composite, args: tuple, kwargs: dict[str, Any]) -> Any:
    """Call a composite where nothing is being staged."""
    from overt.runtime import composites

    globals()["call_composite"] = composites.call_composite
    return composites.call_composite(function, args, kwargs)


def leaves(tree: Any) -> Iterator[Any]:
    """The leaves of lists, tuples and dicts of arrays; None is an empty tree."""
    if type(tree) in (list, tuple):
        for item in tree:
            yield from leaves(item)
    elif type(tree) is dict:
        for item in tree.values():
            yield from leaves(item)
    elif tree is not None:
        yield tree


def hashable(value: Any) -> Any:
    """A static argument as a hashable value: lists become tuples, small integer arrays too."""
    kind = type(value)
    if kind in (int, str, bool, float, tuple) or value is None:
        return tuple(map(hashable, value)) if kind is tuple else value
    if kind is list:
        return tuple(map(hashable, value))
    if kind is dict:
        return tuple((k, hashable(v)) for k, v in value.items())
    if isinstance(value, np.ndarray):
        return hashable(value.tolist())
    if isinstance(value, np.generic) and isinstance(value, (np.integer, np.bool_)):
        return value.item()
    if getattr(value, "aval", None) is not None and getattr(value, "level", 1) == 0:
        try:
            return hashable(value.tolist())
        except StagingError:
            return value  # the function says what it needs
    return value


# ---- rules of functions that are not ours ----

_MATH = {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "asinh": "arcsinh",
    "acosh": "arccosh", "atanh": "arctanh", "pow": "power", "fabs": "abs",
}  # fmt: skip
_OPERATOR = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "neg": "negative",
    "pos": "positive", "floordiv": "floor_divide", "mod": "remainder", "pow": "power",
    "matmul": "matmul", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal",
    "eq": "equal", "ne": "not_equal", "and_": "bitwise_and", "or_": "bitwise_or",
    "xor": "bitwise_xor", "invert": "invert", "abs": "abs", "lshift": "left_shift",
    "rshift": "right_shift", "getitem": "getitem",
}  # fmt: skip
_SAME_IN_MATH = frozenset((
    "sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "exp2", "expm1", "log", "log2", "log10",
    "log1p", "sqrt", "cbrt", "hypot",
))  # fmt: skip


def counterpart(fn: Any) -> Any | None:
    """Our function with the meaning of a NumPy function or ufunc, of `math`, `operator`, or `abs`.

    >>> counterpart(np.tanh)
    <primitive tanh>
    """
    name = getattr(fn, "__name__", None)
    if not isinstance(name, str):
        return None
    home = "numpy" if isinstance(fn, np.ufunc) else getattr(fn, "__module__", None)
    import overt.runtime.numpy as ours

    if home == "math":
        name = _MATH.get(name, name if name in _SAME_IN_MATH else "")
        return getattr(ours, name, None)
    if home in ("_operator", "operator"):
        return getattr(ours, _OPERATOR.get(name, ""), None)
    if home == "builtins":
        return {abs: ours.abs, pow: ours.power}.get(fn) if fn in (abs, pow) else None
    if home in ("numpy.linalg", "numpy.fft", "numpy.linalg._linalg", "numpy.fft._pocketfft"):
        part = home.split(".")[1]
        if getattr(getattr(np, part), name, None) is fn:
            return getattr(getattr(ours, part, None), name, None)
        return None
    if (home or "").split(".")[0] == "numpy" and getattr(np, name, None) is fn:
        return getattr(ours, name, None)
    return None


def rule_of(fn: Any) -> Rule | None:
    """The derivative rule of a function: ours, or that of our counterpart of a foreign one."""
    rule = getattr(fn, "rule", None)
    if isinstance(rule, Rule):
        return rule
    try:
        ours = counterpart(fn)
    except TypeError:  # unhashable callables
        return None
    rule = getattr(ours, "rule", None)
    return rule if isinstance(rule, Rule) else None
