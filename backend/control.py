"""Regions: loops, branches, and the bodies of reductions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from jaxlib.mlir import ir

from overt.backend.operations import Operations, Value
from overt.backend.types import UNKNOWN


class Regions(Operations):
    """Operations that contain operations."""

    __slots__ = ()

    @contextmanager
    def at(self, block: ir.Block) -> Iterator[None]:
        """Append to `block` inside the `with` statement."""
        before, self.ip = self.ip, ir.InsertionPoint(block)
        try:
            yield
        finally:
            self.ip = before

    @contextmanager
    def before(self, operation: Any) -> Iterator[None]:
        """Put operations directly before `operation` inside the `with` statement."""
        before, self.ip = self.ip, ir.InsertionPoint(operation)
        try:
            yield
        finally:
            self.ip = before

    def region(self, region: ir.Region, types: Sequence[Any], body: Callable) -> None:
        """Fill a region: `body(b, *arguments)` gives the value or values it returns."""
        types = [self.type(t) for t in types]
        block = region.blocks.append(*types, arg_locs=[UNKNOWN] * len(types))
        with self.at(block):
            result = body(self, *block.arguments)
            returned = list(result) if isinstance(result, (list, tuple)) else [result]
            ir.Operation.create(
                "stablehlo.return", results=[], operands=returned, loc=self.location, ip=self.ip
            )

    def _combine(self, body: Callable | str) -> Callable:
        if callable(body):
            return body
        return lambda b, x, y: b.binary(body, x, y)

    def while_(self, inits: Sequence[Value], test: Callable, body: Callable) -> list[Value]:
        """`test(b, *carry)` gives a boolean, `body(b, *carry)` the next carry."""
        types = [v.type for v in inits]
        made = self.op("stablehlo.while", inits, types, regions=2)
        self.region(made.regions[0], types, test)
        self.region(made.regions[1], types, body)
        return list(made.results)

    def case(self, index: Value, branches: Sequence[Callable], types: Sequence[Any]) -> list[Value]:
        """The results of `branches[index](b)`; the index is clamped."""
        made = self.op("stablehlo.case", [index], types, regions=len(branches))
        for region, branch in zip(made.regions, branches, strict=True):
            self.region(region, [], branch)
        return list(made.results)

    def if_(self, p: Value, then: Callable, orelse: Callable, types: Sequence[Any]) -> list[Value]:
        """The results of `then(b)` or `orelse(b)`."""
        made = self.op("stablehlo.if", [p], types, regions=2)
        self.region(made.regions[0], [], then)
        self.region(made.regions[1], [], orelse)
        return list(made.results)
