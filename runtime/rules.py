"""What is known of a function's derivative, and which of our functions a foreign one stands for."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Rule(NamedTuple):
    """What the source passes know of a function."""

    name: str
    arrays: tuple[str, ...]  # names of the array parameters, in order
    elementwise: bool = False
    linear: bool = False
    vjp: Any = None  # one lambda per array: (g, out, *operands, **static) -> cotangent
    jvp: Any = None  # (dots, out, *operands, **static) -> tangent
    zero: bool = False  # the derivative is zero everywhere
    # Of a function that is linear in each operand, and whose rule depends on its first argument, a
    # constant text: from that and the number of operands, the text of each one's cotangent.
    written: Any = None

    @property
    def differentiable(self) -> bool:
        """Whether a derivative is declared here, a zero one included."""
        return self.zero or self.linear or self.vjp is not None or self.jvp is not None

    @property
    def reversible(self) -> bool:
        """Whether cotangents are declared here, or are zero; else tangents are transposed."""
        return self.zero or self.vjp is not None


def all_none(vjp: Any) -> bool:
    return isinstance(vjp, tuple) and bool(vjp) and all(rule is None for rule in vjp)


_MATH = {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "asinh": "arcsinh",
    "acosh": "arccosh", "atanh": "arctanh", "pow": "power", "fabs": "abs",
}  # fmt: skip
_SPECIAL = {"erf": "erf", "erfc": "erfc", "lgamma": "gammaln"}
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
    "log1p", "sqrt", "cbrt", "hypot", "degrees", "radians", "fmod", "copysign", "isnan", "isinf",
    "isfinite", "floor", "ceil", "trunc",
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

    of = getattr(fn, "__self__", None)
    if isinstance(of, np.ufunc):  # `np.add.at`
        return getattr(counterpart(of), name, None)
    if home == "math" and name in _SPECIAL:
        from overt.runtime.scipy import special

        return getattr(special, _SPECIAL[name])
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
