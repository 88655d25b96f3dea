"""Exported functions of any size: their equations, in which a call fills in the sizes."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from overt.runtime import staging
from overt.runtime.aval import Aval, aval_of
from overt.runtime.dimensions import Dim, evaluate, names_of
from overt.runtime.export_equations import Reader, Writer, array_from_json, array_to_json
from overt.runtime.exported import PLATFORMS, DisabledSafetyCheck, Exported, common_parts
from overt.runtime.interop import as_array
from overt.runtime.jaxpr import ClosedJaxpr, eval_jaxpr
from overt.runtime.primitive import GRAPH
from overt.runtime.symbolic_shapes import SymbolicScope, parsed

__all__ = ["Equations", "SizedExported", "sized_from"]


class Equations:
    """A program for any size: its equations as JSON, and what its sizes have to fulfil.

    `assumed` are sizes, as texts, that the program takes to be different from zero.
    """

    def __init__(
        self, text: dict[str, Any], constants: Sequence[Any], scope: SymbolicScope,
        assumed: Sequence[str], platforms: Sequence[str],
    ) -> None:  # fmt: skip
        self.text, self.constants = text, list(constants)
        self.scope, self.assumed = scope, list(assumed)
        self.platforms = tuple(platforms)
        self.programs: dict[tuple, Any] = {}

    @classmethod
    def of(
        cls, closed: ClosedJaxpr, name: str, scope: SymbolicScope, assumed: Sequence[str],
        platforms: Sequence[str],
    ) -> Equations:  # fmt: skip
        writer = Writer(name)
        program = writer.program(closed.jaxpr)
        constants = [numpy.asarray(x) for x in closed.consts]
        text = {"program": program, "vars": writer.kinds}
        return cls(text, constants, scope, assumed, platforms)

    def function(self, sizes: dict[str, Any]) -> Callable[..., list]:
        """The program for sizes."""
        jaxpr = Reader(self.text, SymbolicScope(), sizes).jaxpr
        return lambda *arrays: eval_jaxpr(jaxpr, self.constants, *arrays)


class SizedExported(Exported):
    """A function exported for any size; `call` finds the sizes in its arguments."""

    body: Any

    @property
    def platforms(self) -> tuple[str, ...]:
        return self.body.platforms

    def results(self, arrays: list[Any]) -> Sequence[Any]:
        sizes = self.sizes([aval_of(x) for x in arrays])
        if GRAPH.get() is not None or any(getattr(x, "level", 0) for x in arrays):
            results = self.body.function(sizes)(*arrays)
            self.check_results([aval_of(x) for x in results], sizes)
            return results
        self.check_platform()
        return self.program(sizes, tuple(x.aval for x in arrays)).run(arrays)

    def check_platform(self) -> None:
        from overt.backend.client import default_platform

        here = default_platform()
        if here not in self.platforms and DisabledSafetyCheck.platform() not in (
            self.disabled_safety_checks
        ):
            raise ValueError(
                f"{self.fun_name} was exported for {', '.join(self.platforms)}, but is called on "
                f"{here}; export it with platforms=[{here!r}, ...]"
            )

    def program(self, sizes: dict[str, Any], avals: tuple[Aval, ...]) -> Any:
        """The program for sizes, staged once."""
        key = (*sorted(sizes.items()), avals)
        found = self.body.programs.get(key)
        if found is None:
            function = self.body.function(sizes)
            found = self.body.programs[key] = staging.stage(function, avals, self.fun_name)
            self.check_results(found.out, sizes)
        return found

    def check_results(self, avals: Sequence[Aval], sizes: dict[str, Any]) -> None:
        """The program for these sizes must give what was promised for any."""
        for have, want in zip(avals, self.out_avals, strict=True):
            shape = tuple(evaluate(n, sizes) for n in want.shape)
            if have.shape != shape or have.dtype != want.dtype:
                raise ValueError(
                    f"{self.fun_name} gives {have} where it was exported to give {want}, for "
                    + ", ".join(f"{k} = {v}" for k, v in sorted(sizes.items()))
                )

    def sizes(self, avals: Sequence[Aval]) -> dict[str, Any]:
        """The sizes that the arguments have, checked."""
        found: dict[str, Any] = {}
        pairs = []
        for i, (have, want) in enumerate(zip(avals, self.in_avals, strict=True)):
            if have.dtype != want.dtype or len(have.shape) != len(want.shape):
                raise self.mismatch(i, have)
            pairs += [(i, n, m) for n, m in zip(have.shape, want.shape, strict=True)]
        for _, n, m in pairs:
            name = single_name(m)
            if name is not None:
                found.setdefault(name, n)
        for _, n, m in pairs:  # k*name + c
            names = set(names_of(m)) - set(found)
            if len(names) == 1 and type(m) is Dim:
                solve(m, n, names.pop(), found)
        for i, n, m in pairs:
            missing = set(names_of(m)) - set(found)
            if missing:
                raise ValueError(
                    f"{self.fun_name}: the size {min(missing)} cannot be found out from {m} = {n}"
                )
            if evaluate(m, found) != n:
                raise self.mismatch(i, avals[i], found)
        self.check_sizes(found)
        return found

    def mismatch(self, i: int, have: Aval, sizes: dict[str, Any] | None = None) -> ValueError:
        filled = "".join(f", {k} = {v}" for k, v in sorted((sizes or {}).items()))
        return ValueError(
            f"{self.fun_name} was exported for {self.in_avals[i].strong()} as its argument {i}"
            f"{filled}, but is called with {have.strong()}"
        )

    def check_sizes(self, sizes: dict[str, Any]) -> None:
        """Refuse sizes that the program is not for."""
        said = ", ".join(f"{k} = {v}" for k, v in sorted(sizes.items()))
        scope = self.body.scope
        for name, n in sizes.items():
            if n < 1:
                raise ValueError(f"{self.fun_name}: sizes are at least 1, got {name} = {n}")
        for rest in scope.at_least:
            if set(names_of(rest)) <= set(sizes) and evaluate(rest, sizes) < 0:
                raise ValueError(
                    f"{self.fun_name} was exported for sizes with {rest} >= 0, got {said}"
                )
        for factor, value in scope.equal.items():
            left = Dim({((factor, 1),): 1}, scope)
            if set(names_of(left)) <= set(sizes) and evaluate(left, sizes) != evaluate(
                value, sizes
            ):
                raise ValueError(
                    f"{self.fun_name} was exported for sizes with {left} == {value}, got {said}"
                )
        for text in self.body.assumed:
            if evaluate(parsed(text, SymbolicScope()), sizes) == 0:
                raise ValueError(
                    f"{self.fun_name} does something else where {text} == 0, as for {said}; export "
                    "it for these sizes"
                )

    def body_bytes(self, platform: str) -> bytes:
        raise ValueError(
            f"{self.fun_name} was exported for any size and has a StableHLO module for each: "
            "mlir_module_for(b=4)"
        )

    def mlir_module_for(self, **sizes: int) -> str:
        """The program as StableHLO, with sizes filled in."""
        self.check_sizes(sizes)
        avals = tuple(
            a.update(shape=tuple(evaluate(n, sizes) for n in a.shape)) for a in self.in_avals
        )
        return self.program(dict(sizes), avals).text(self.platforms[0])

    def parts(self) -> tuple[dict[str, Any], list[bytes]]:
        body = self.body
        constants = [array_to_json(x) for x in body.constants]
        whole = json.dumps({**body.text, "constants": constants}).encode()
        parts = {
            "platforms": {PLATFORMS.get(p, p): 0 for p in self.platforms},
            "equations": True,
            "constraints": body.scope.constraints,
            "assumed": body.assumed,
        }
        return parts, [whole]


def sized_from(
    header: dict[str, Any], payloads: list[bytes], get_vjp: Callable[[], Exported] | None
) -> SizedExported:
    """An exported function of any size, from the parts of its bytes."""
    scope = SymbolicScope(header["constraints"])
    name, trees, in_avals, out_avals, checks = common_parts(header, scope)
    text = json.loads(payloads[0])
    constants = [as_array(array_from_json(x)) for x in text.pop("constants")]
    body = Equations(text, constants, scope, header["assumed"], tuple(header["platforms"]))
    return SizedExported(
        name, trees, in_avals, out_avals, body,  # type: ignore[arg-type]
        disabled_safety_checks=checks, get_vjp=get_vjp,
    )  # fmt: skip


def single_name(m: Any) -> str | None:
    """The name that a size is."""
    if type(m) is Dim and list(m.terms.values()) == [1]:
        (term,) = m.terms
        if len(term) == 1 and term[0][1] == 1 and isinstance(term[0][0], str):
            return term[0][0]
    return None


def solve(m: Dim, n: Any, name: str, found: dict[str, Any]) -> None:
    """Find `name` from `k*name + rest == n`, where that has an answer."""
    at_zero, at_one = (evaluate(m, {**found, name: i}) for i in (0, 1))
    slope = at_one - at_zero
    linear = evaluate(m, {**found, name: 2}) - at_one == slope
    if linear and slope and (n - at_zero) % slope == 0:
        found[name] = (n - at_zero) // slope
