"""Equations in JAX's notation.

`{ lambda a:f32[9] ; b:f32[]. let c:f32[9] = mul a b in (c,) }`: constants, arguments, equations,
results.  Operations keep their own parameters; those that JAX has as well carry JAX's name.
"""

from __future__ import annotations

import itertools
import string
from collections.abc import Iterator
from typing import Any

import numpy

from overt.runtime.aval import Aval
from overt.runtime.jaxpr import ClosedJaxpr, DropVar, Jaxpr, JaxprEqn, Literal, Var

__all__ = ["Printer", "short"]

NAMES = {
    "subtract": "sub", "multiply": "mul", "divide": "div", "negative": "neg", "power": "pow",
    "maximum": "max", "minimum": "min", "remainder": "rem", "arccos": "acos", "arcsin": "asin",
    "arctan": "atan", "arctan2": "atan2", "arccosh": "acosh", "arcsinh": "asinh",
    "arctanh": "atanh", "equal": "eq", "not_equal": "ne", "less": "lt", "less_equal": "le",
    "greater": "gt", "greater_equal": "ge", "logical_and": "and", "logical_or": "or",
    "logical_not": "not", "logical_xor": "xor", "bitwise_and": "and", "bitwise_or": "or",
    "bitwise_xor": "xor", "invert": "not", "convert": "convert_element_type",
    "retype": "convert_element_type", "contract": "dot_general", "permute": "transpose",
    "reshape_to": "reshape", "broadcast_in": "broadcast_in_dim", "fill": "broadcast_in_dim",
    "join": "concatenate", "expit": "logistic", "lax_logistic": "logistic", "reverse": "rev",
    "pad_with": "pad", "slice_at": "dynamic_slice", "index_of_max": "argmax",
    "index_of_min": "argmin", "running_sum": "cumsum", "running_product": "cumprod",
    "running_max": "cummax", "running_min": "cummin", "sorted_along": "sort", "rint": "round",
    "bitcast": "bitcast_convert_type", "cholesky_factor": "cholesky", "eigh_factor": "eigh",
    "solve_triangular": "triangular_solve", "fourier": "fft", "case": "cond",
    "convolve_general": "conv_general_dilated", "lax_clz": "clz", "lax_div": "div",
    "lax_rem": "rem", "lax_population_count": "population_count", "gammaln": "lgamma",
}  # fmt: skip

_SHORT = {"float": "f", "int": "i", "uint": "u", "complex": "c", "bfloat": "bf"}


def short(aval: Aval) -> str:
    """A shape and dtype as JAX writes them.

    >>> short(Aval((2, 3), "float32"))
    'f32[2,3]'
    """
    name = aval.dtype.name
    letters = name.rstrip(string.digits)
    name = _SHORT[letters] + name[len(letters) :] if letters in _SHORT else name
    return f"{name}[{','.join(map(str, aval.shape))}]"


def _letters() -> Iterator[str]:
    for size in itertools.count(1):
        for letters in itertools.product(string.ascii_lowercase, repeat=size):
            yield "".join(letters)


class Printer:
    """Names variables in the order in which they are met."""

    def __init__(self) -> None:
        self.names: dict[Var, str] = {}
        self.fresh = _letters()

    def name(self, var: Any) -> str:
        if type(var) is Literal:
            value = var.val.item() if isinstance(var.val, numpy.generic) else var.val
            return f"{value}:{short(var.aval)}"
        if var not in self.names:
            self.names[var] = next(self.fresh)
        return self.names[var]

    def typed(self, var: Var) -> str:
        name = "_" if type(var) is DropVar else self.name(var)
        return f"{name}:{short(var.aval)}"

    def program(self, jaxpr: Jaxpr, indent: int) -> str:
        constants = "".join(f" {self.typed(v)}" for v in jaxpr.constvars)
        arguments = " ".join(self.typed(v) for v in jaxpr.invars)
        lines = [self.equation(e, indent + 4) for e in jaxpr.eqns]
        results = ", ".join(map(self.name, jaxpr.outvars))
        results += "," if len(jaxpr.outvars) == 1 else ""
        head = f"{{ lambda{constants} ; {arguments}. let"
        flat = f"{head} {'; '.join(lines)} in ({results}) }}"
        if "\n" not in flat and len(flat) + indent <= 80:
            return flat
        gap = "\n" + " " * indent
        return f"{head}{''.join(f'{gap}    {line}' for line in lines)}{gap}  in ({results}) }}"

    def equation(self, eqn: JaxprEqn, indent: int) -> str:
        inputs = "".join(f" {self.name(x)}" for x in eqn.invars)
        out = " ".join(map(self.typed, eqn.outvars))
        params = self.params(eqn.params, indent)
        name = NAMES.get(eqn.primitive.name, eqn.primitive.name)
        return f"{out} = {name}{params}{inputs}" if out else f"{name}{params}{inputs}"

    def params(self, params: dict[str, Any], indent: int) -> str:
        if not params:
            return ""
        texts = [f"{k}={self.param(v, indent + 2)}" for k, v in sorted(params.items())]
        if not any("lambda" in text for text in texts):
            return f"[{' '.join(texts)}]"
        gap = "\n" + " " * indent
        return f"[{''.join(f'{gap}  {text}' for text in texts)}{gap}]"

    def param(self, value: Any, indent: int) -> str:
        if isinstance(value, ClosedJaxpr):
            return self.program(value.jaxpr, indent)
        if isinstance(value, tuple) and value and isinstance(value[0], ClosedJaxpr):
            gap = "\n" + " " * indent
            inner = [self.program(v.jaxpr, indent + 2) for v in value]
            return f"({''.join(f'{gap}  {text}' for text in inner)}{gap})"
        if isinstance(value, (numpy.dtype, type)):
            return numpy.dtype(value).name
        return getattr(value, "__name__", None) or repr(value)
