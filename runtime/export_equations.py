"""A program's equations as JSON, for programs whose sizes are filled in when they are called.

    program     {"consts": [variable], "in": [variable], "out": [atom], "eqns": [equation]}
    variable    its number; its kind is in the table "vars": [shape, dtype, weak]
    atom        a variable, or ["literal", value, kind]
    equation    [operation, home of the operation, [atom], [variable or null], {parameter: value}]

A size is a number or a text such as "2*b + 1".  Values of parameters that JSON does not know are
written as {"kind": ...}.  Operations are Overt's own, by name; they are read again by the version
of the format that they were written in.
"""

from __future__ import annotations

import base64
import importlib
import math
from typing import Any

import numpy

from overt.runtime.aval import Aval
from overt.runtime.dimensions import Dim, evaluate
from overt.runtime.jaxpr import ClosedJaxpr, DropVar, Jaxpr, JaxprEqn, Literal, Var
from overt.runtime.primitive import REGISTRY, Primitive
from overt.runtime.symbolic_shapes import parsed

__all__ = ["Reader", "Writer", "array_from_json", "array_to_json", "size_from_json", "size_to_json"]

CONTROL = ("while", "case")
HOME = "overt.runtime."  # operations and record types are looked up in modules below it alone


def size_to_json(n: Any) -> Any:
    return str(n) if type(n) is Dim else int(n)


def size_from_json(n: Any, scope: Any) -> Any:
    return parsed(n, scope) if isinstance(n, str) else n


def array_to_json(array: numpy.ndarray) -> dict[str, Any]:
    """An array's numbers, exactly."""
    data = base64.b64encode(numpy.ascontiguousarray(array).tobytes()).decode()
    return {"kind": "array", "dtype": array.dtype.name, "shape": list(array.shape), "data": data}


def array_from_json(text: dict[str, Any]) -> numpy.ndarray:
    data = base64.b64decode(text["data"])
    return numpy.frombuffer(data, dtype_named(text["dtype"])).reshape(text["shape"]).copy()


def dtype_named(name: str) -> numpy.dtype:
    from overt.runtime import dtypes

    return numpy.dtype(getattr(dtypes, name, name))


class Writer:
    """Writes down one program."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.numbers: dict[Var, int] = {}
        self.kinds: list[list[Any]] = []

    def variable(self, var: Var) -> int | None:
        if type(var) is DropVar:
            return None
        if var not in self.numbers:
            self.numbers[var] = len(self.kinds)
            self.kinds.append(self.aval(var.aval))
        return self.numbers[var]

    def aval(self, aval: Aval) -> list[Any]:
        return [[size_to_json(n) for n in aval.shape], aval.dtype.name, aval.weak]

    def atom(self, atom: Any) -> Any:
        if type(atom) is Literal:
            value = atom.val.item() if isinstance(atom.val, numpy.generic) else atom.val
            return ["literal", self.value(value), self.aval(atom.aval)]
        return self.variable(atom)

    def program(self, jaxpr: Jaxpr) -> dict[str, Any]:
        return {
            "consts": [self.variable(v) for v in jaxpr.constvars],
            "in": [self.variable(v) for v in jaxpr.invars],
            "eqns": [self.equation(e) for e in jaxpr.eqns],
            "out": [self.atom(v) for v in jaxpr.outvars],
        }

    def equation(self, eqn: JaxprEqn) -> list[Any]:
        primitive = eqn.primitive
        name, home = primitive.name, ""
        if isinstance(primitive, Primitive):
            if primitive.effect:
                raise ValueError(
                    f"{self.name} calls a Python function while it runs (a print, assert, "
                    "callback), which cannot be part of an exported program"
                )
            home = primitive.home if REGISTRY.get(name) is primitive else ""
        if not home.startswith(HOME) and name not in CONTROL:
            raise ValueError(
                f"{self.name} calls {name}, which cannot be part of a program for any size"
            )
        inputs = [self.atom(x) for x in eqn.invars]
        params = {k: self.value(v) for k, v in eqn.params.items()}
        return [name, home, inputs, [self.variable(v) for v in eqn.outvars], params]

    def value(self, x: Any) -> Any:
        """A parameter's value."""
        if x is None or type(x) in (bool, int, str):
            return x
        if type(x) is float:
            return x if math.isfinite(x) else {"kind": "float", "text": repr(x)}
        if type(x) is Dim:
            return {"kind": "size", "text": str(x)}
        if type(x) is complex:
            return {"kind": "complex", "parts": [x.real, x.imag]}
        if isinstance(x, numpy.dtype) or (isinstance(x, type) and issubclass(x, numpy.generic)):
            return {"kind": "dtype", "name": numpy.dtype(x).name}
        if isinstance(x, ClosedJaxpr):
            return {"kind": "program", "program": self.program(x.jaxpr)}
        if isinstance(x, numpy.generic):
            return {**array_to_json(numpy.asarray(x)), "kind": "scalar"}
        if isinstance(x, numpy.ndarray):
            return array_to_json(x)
        if isinstance(x, slice):
            return {"kind": "slice", "parts": [self.value(p) for p in (x.start, x.stop, x.step)]}
        if isinstance(x, dict):
            return {"kind": "dict", "items": [[self.value(k), self.value(v)] for k, v in x.items()]}
        if type(x) in (tuple, list):
            return {"kind": type(x).__name__, "items": [self.value(v) for v in x]}
        module = type(x).__module__
        if isinstance(x, tuple) and hasattr(x, "_fields") and module.startswith(HOME):
            where = [module, type(x).__qualname__]
            return {"kind": "record", "type": where, "items": [self.value(v) for v in x]}
        raise ValueError(
            f"{self.name} has an operation with a parameter of type {type(x).__name__} ({x!r}), "
            "which cannot be part of a program for any size"
        )


class Reader:
    """Reads a program, with its sizes filled in."""

    def __init__(self, text: dict[str, Any], scope: Any, sizes: dict[str, Any]) -> None:
        self.scope, self.sizes = scope, sizes
        self.vars = [Var(self.aval(kind)) for kind in text["vars"]]
        self.jaxpr = self.program(text["program"])

    def size(self, n: Any) -> Any:
        return evaluate(parsed(n, self.scope), self.sizes) if isinstance(n, str) else n

    def aval(self, kind: list[Any]) -> Aval:
        shape, dtype, weak = kind
        return Aval(tuple(map(self.size, shape)), dtype_named(dtype), weak)

    def atom(self, atom: Any) -> Any:
        if isinstance(atom, list):
            return Literal(self.value(atom[1]), self.aval(atom[2]))
        return self.vars[atom]

    def program(self, text: dict[str, Any]) -> Jaxpr:
        return Jaxpr(
            [self.vars[i] for i in text["consts"]],
            [self.vars[i] for i in text["in"]],
            [self.atom(a) for a in text["out"]],
            [self.equation(*e) for e in text["eqns"]],
        )

    def equation(self, name: str, home: str, inputs: Any, outputs: Any, params: Any) -> JaxprEqn:
        if name in CONTROL:
            from overt.runtime.staging import CASE, WHILE

            primitive: Any = WHILE if name == "while" else CASE
        else:
            if name not in REGISTRY and home.startswith(HOME):
                importlib.import_module(home)
            primitive = REGISTRY.get(name)
            if primitive is None:
                raise ValueError(f"an exported function has an unknown operation {name!r}")
        anything = Aval((), numpy.dtype(bool))
        made = [DropVar(anything) if i is None else self.vars[i] for i in outputs]
        values = {k: self.value(v) for k, v in params.items()}
        return JaxprEqn([self.atom(a) for a in inputs], made, primitive, values)

    def value(self, x: Any) -> Any:
        if not isinstance(x, dict):
            return x
        kind = x["kind"]
        if kind in ("tuple", "list"):
            return (tuple if kind == "tuple" else list)(map(self.value, x["items"]))
        if kind == "size":
            return self.size(x["text"])
        if kind == "float":
            return float(x["text"])
        if kind == "complex":
            return complex(*x["parts"])
        if kind == "dtype":
            return dtype_named(x["name"])
        if kind == "program":
            return ClosedJaxpr(self.program(x["program"]), [])
        if kind == "scalar":
            return array_from_json(x)[()]
        if kind == "array":
            return array_from_json(x)
        if kind == "slice":
            return slice(*map(self.value, x["parts"]))
        if kind == "dict":
            return {self.value(k): self.value(v) for k, v in x["items"]}
        if kind == "record":
            module, name = x["type"]
            if module.startswith(HOME) and "." not in name:
                found = getattr(importlib.import_module(module), name, None)
                if isinstance(found, type) and issubclass(found, tuple):
                    return found(*map(self.value, x["items"]))
        raise ValueError(f"an exported function holds a value of unknown kind {kind!r}")
