"""From graph to StableHLO: dead code is dropped, then the rest is written in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from overt.backend.module import location
from overt.backend.types import UNKNOWN
from overt.runtime.array import DeviceArray
from overt.runtime.aval import Aval
from overt.runtime.errors import StagingError
from overt.runtime.places import line_of
from overt.runtime.primitive import LITERALS
from overt.runtime.staging import CASE, WHILE, Graph, Node, Symbolic


class Liveness:
    """Which results of which nodes are needed; regions included."""

    def __init__(self, graph: Graph, outputs: Sequence[Any]):
        self.used: dict[Node, set[int]] = {}
        self.mark(graph, outputs)

    def need(self, x: Any) -> None:
        if type(x) is Symbolic:
            self.used.setdefault(x.node, set()).add(x.index)

    def mark(self, graph: Graph, outputs: Sequence[Any]) -> None:
        """Mark what `outputs` of a graph need, and what its effects need."""
        for x in outputs:
            self.need(x)
        used = self.used
        for node in reversed(graph.nodes):
            if node not in used and not node.effect:
                continue
            if node.primitive is WHILE:
                self._mark_while(node)
            elif node.primitive is CASE:
                self.need(node.inputs[0])
                live = self.live(node)
                for region in node.regions:
                    self.mark(region, [region.outputs[i] for i in live])
            else:
                for x in node.inputs:
                    if type(x) is Symbolic:
                        used.setdefault(x.node, set()).add(x.index)

    def _mark_while(self, node: Node) -> None:
        test, body = node.regions
        self.mark(test, test.outputs)
        before = -1
        while before != len(live := self.live(node)):
            before = len(live)
            self.mark(body, [body.outputs[i] for i in live])
        for i in live:
            self.need(node.inputs[i])

    def live(self, node: Node) -> list[int]:
        """Positions of the results (for `while`: of the carry) that are needed."""
        found = set(self.used.get(node, ()))
        if node.primitive is WHILE:
            for region in node.regions:
                found |= self.used.get(region.source, set())
        return sorted(found)


class Emitter:
    """Writes one graph with a builder; concrete arrays it meets become inputs of `main`."""

    def __init__(
        self, b: Any, graph: Graph, outputs: Sequence[Any], arguments: list, contained: bool = False
    ):
        self.b = b
        self.contained = contained  # concrete arrays are written into the program
        self.block = b.ip.block
        self.graph = graph
        self.values: dict[Node, list[Any]] = {graph.source: arguments}
        self.hoisted: dict[Node, list[Any]] = {}
        self.live = Liveness(graph, outputs)
        self.consts: dict[int, tuple[DeviceArray, Any]] = {}
        self.start: Any = None  # the operation of `main` that hoisted ones go before
        self.name = ""  # of the program
        self.locations: dict[tuple, Any] = {}

    def emit(self, graph: Graph) -> None:
        """Write the needed nodes of a graph."""
        b, values, used = self.b, self.values, self.live.used
        for node in graph.nodes:
            if node not in used and not node.effect:
                continue
            primitive = node.primitive
            b.location = self.location(node)
            if primitive is WHILE:
                self._while(node)
            elif primitive is CASE:
                self._case(node)
            elif node.values is not None and isinstance(node.values[0], np.ndarray):
                values[node] = [b.constant(v) for v in node.values]  # Python asked for it
            else:
                values[node] = primitive.emit(
                    b, self._operands(node), node.avals, node.out, node.many, node.params
                )

    def location(self, node: Node) -> Any:
        """Where a node was recorded, for XLA's messages and profiles."""
        if node.place is None:
            return UNKNOWN
        key = (node.place, node.primitive.name)
        found = self.locations.get(key)
        if found is None:
            name = "/".join((self.name, *node.place.scopes, node.primitive.name))
            function = node.place.code.co_name
            found = self.locations[key] = location(name, function, *line_of(node.place))
        return found

    def _operands(self, node: Node) -> list[Any]:
        literal = node.primitive.elementwise
        return [
            x if literal and type(x) in LITERALS else self.value(x, a)
            for x, a in zip(node.inputs, node.avals, strict=True)
        ]

    def value(self, x: Any, aval: Aval) -> Any:
        """The MLIR value of a node's input."""
        if type(x) is Symbolic:
            found = self.values.get(x.node) or self.hoisted.get(x.node)
            if found is None:
                return self._hoist(x)
            return found[x.index]
        if type(x) in LITERALS:
            return self.b.full((), x, aval.dtype)
        if isinstance(x, np.ndarray):
            return self.b.constant(x)
        if self.contained:
            return self.b.constant(x.numbers())
        if id(x) not in self.consts:
            type_ = self.b.type(x.aval)
            self.consts[id(x)] = (x, self.block.add_argument(type_, self.b.location))
        return self.consts[id(x)][1]

    def converted(self, x: Any, aval: Aval) -> Any:
        """The MLIR value of `x`, converted to the dtype of `aval`."""
        if type(x) in LITERALS:
            return self.b.full(aval.shape, x, aval.dtype)
        own = x.aval if hasattr(x, "aval") else Aval(x.shape, x.dtype)
        return self.b.convert(self.value(x, own), aval.dtype)

    def _hoist(self, x: Symbolic) -> Any:
        """Write a value that was recorded in a region that is closed, at the start of `main`."""
        if not x.evaluable:
            raise StagingError(
                f"a value ({x.aval}) computed inside a branch or loop body was used outside of it; "
                "return it from the branch or carry it through the loop"
            )
        pending, b = [x.node], self.b
        if self.start is None:
            self.start = self.block.operations[0]
        with b.before(self.start):
            while pending:
                node = pending[-1]
                if node in self.hoisted:
                    pending.pop()
                    continue
                inputs = [i.node for i in node.inputs if type(i) is Symbolic]
                missing = [n for n in inputs if n not in self.hoisted]
                if missing:
                    pending += missing
                    continue
                operands = [
                    self.hoisted[i.node][i.index] if type(i) is Symbolic
                    else i if type(i) in LITERALS and node.primitive.elementwise
                    else self.value(i, a)
                    for i, a in zip(node.inputs, node.avals, strict=True)
                ]  # fmt: skip
                b.location = self.location(node)
                self.hoisted[node] = node.primitive.emit(
                    b, operands, node.avals, node.out, node.many, node.params
                )
                pending.pop()
        return self.hoisted[x.node][x.index]

    # ---- control flow ----

    def _region(self, graph: Graph, live: Sequence[int], out: Sequence[Aval]) -> list[Any]:
        """Write a region's nodes; its needed outputs.  Its values are forgotten afterwards."""
        outer = self.values
        self.values = dict(outer)
        try:
            self.emit(graph)
            return [self.converted(graph.outputs[i], out[i]) for i in live]
        finally:
            self.values = outer

    def _while(self, node: Node) -> None:
        test, body = node.regions
        live = self.live.live(node)
        b, carry = self.b, body.source.out
        ordered = node.effect
        inits = [self.converted(node.inputs[i], carry[i]) for i in live]
        if ordered:
            inits.append(self._token())

        def arguments(graph: Graph, given: tuple) -> None:
            slots: list[Any] = [None] * len(carry)
            for i, v in zip(live, given):  # noqa: B905 - the token comes last
                slots[i] = v
            self.values[graph.source] = slots
            if ordered:
                b.token = given[-1]

        def write_test(_: Any, *given: Any) -> Any:
            arguments(test, given)
            return self._region(test, [0], (Aval((), np.dtype(bool)),))

        def write_body(_: Any, *given: Any) -> Any:
            arguments(body, given)
            results = self._region(body, live, carry)
            return [*results, b.token] if ordered else results

        made = b.while_(inits, write_test, write_body)
        if ordered:
            b.token = made.pop()
        self._keep(node, live, made)

    def _case(self, node: Node) -> None:
        b, live = self.b, self.live.live(node)
        index, aval = node.inputs[0], node.avals[0]
        chosen = self.value(index, aval)
        ordered = node.effect
        before = self._token() if ordered else b.token

        def branch(region: Graph) -> Any:
            def write(_: Any) -> list[Any]:
                if ordered:
                    b.token = before
                results = self._region(region, live, node.out)
                return [*results, b.token] if ordered else results

            return write

        types = [node.out[i] for i in live] + ([((), np.dtype("int32"))] if ordered else [])
        writers = [branch(r) for r in node.regions]
        if aval.dtype == np.bool_ and len(writers) == 2:
            made = b.if_(chosen, writers[1], writers[0], types)
        else:
            made = b.case(b.convert(chosen, np.int32), writers, types)
        if ordered:
            b.token = made.pop()
        self._keep(node, live, made)

    def _keep(self, node: Node, live: Sequence[int], made: list) -> None:
        slots: list[Any] = [None] * len(node.out)
        for i, v in zip(live, made, strict=True):
            slots[i] = v
        self.values[node] = slots

    def _token(self) -> Any:
        if self.b.token is None:
            self.b.token = self.b.full((), 0, np.int32)
        return self.b.token
