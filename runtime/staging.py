"""Staging: run a function on symbolic values and record a graph of what it does.

Operations on concrete values are recorded like any other, so that a large constant is computed by
the program; a value that depends on concrete ones alone is still computed when Python asks for it.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

from overt.runtime import config, interop
from overt.runtime.array import Array, DeviceArray
from overt.runtime.aval import Aval, aval_of
from overt.runtime.errors import UnexpectedTracerError, conversion_error
from overt.runtime.places import Place, asked_by_a_program, line_of, origin
from overt.runtime.primitive import GRAPH, LITERALS, Primitive

# Host arrays up to this many elements are written into the program; larger ones are its inputs.
SMALL = 16


class Node:
    """One recorded operation."""

    __slots__ = ("primitive", "inputs", "avals", "params", "out", "many", "regions", "effect",
                 "values", "place")  # fmt: skip

    def __init__(
        self, primitive: Any, inputs: list, avals: tuple[Aval, ...], params: dict,
        out: tuple[Aval, ...], many: bool, regions: tuple[Graph, ...] = (), effect: bool = False,
    ):  # fmt: skip
        self.primitive = primitive
        self.inputs = inputs  # Symbolic, DeviceArray, Python number or small ndarray
        self.avals = avals
        self.params = params
        self.out = out
        self.many = many
        self.regions = regions
        self.effect = effect
        self.values: Any = None  # results, once Python has asked for them
        self.place: Place | None = None  # where it was recorded

    def __repr__(self) -> str:
        return f"{', '.join(map(str, self.out))} = {getattr(self.primitive, 'name', 'input')}"


class Control:
    """A control-flow operation; its parts are the node's regions."""

    elementwise = False
    effect = False

    def __init__(self, name: str):
        self.name = self.__name__ = name

    def __repr__(self) -> str:
        return f"<control {self.name}>"


WHILE = Control("while")
CASE = Control("case")


class Graph:
    """What one function, or one region of control flow inside it, does."""

    __slots__ = ("parent", "root", "nodes", "source", "inputs", "outputs", "out", "capacities",
                 "effect", "closed", "learned", "records", "trips", "repeats",
                 "counted")  # fmt: skip

    def __init__(self, avals: Sequence[Aval], parent: Graph | None = None):
        self.parent = parent
        self.root: Graph = parent.root if parent is not None else self
        self.nodes: list[Node] = []
        self.source = Node(None, [], (), {}, tuple(avals), True)
        self.inputs = [Symbolic(a, self, self.source, i, False) for i, a in enumerate(avals)]
        self.outputs: list[Any] = []
        self.out: tuple[Aval, ...] = ()
        self.capacities: list[tuple[Any, Any, int]] = []
        self.effect = False
        self.closed = False
        self.learned: dict[Any, Any] = {}  # of the root: what was found out about loops
        self.records: dict[Any, Any] = {}  # what has failed, by who is told: see `checks`
        self.trips: int | None = None  # of a loop's body, whose first input is the iteration
        self.repeats = False  # whether this is a loop's body
        self.counted = False  # and Python could run the loop, or if it ran those around it

    def add_input(self, aval: Aval) -> Symbolic:
        """One more input."""
        self.source.out = (*self.source.out, aval)
        self.inputs.append(x := Symbolic(aval, self, self.source, len(self.inputs), False))
        return x

    def add_capacity(self, site: Any, count: Any, capacity: int) -> None:
        """After a run, compare `count` with `capacity`; if larger, stage again with room enough."""
        self.capacities.append((site, count, capacity))

    def within(self, other: Graph) -> bool:
        """Whether values of `other` may be used here."""
        graph: Graph | None = self
        while graph is not None and graph is not other:
            graph = graph.parent
        return graph is not None

    def __repr__(self) -> str:
        inputs, outputs = (", ".join(map(str, avals)) for avals in (self.source.out, self.out))
        return f"<graph of {len(self.nodes)} nodes, ({inputs}) -> ({outputs})>"


class Symbolic(Array):
    """A value of the graph being staged."""

    __slots__ = ("aval", "graph", "node", "index", "evaluable")

    def __init__(self, aval: Aval, graph: Graph, node: Node, index: int, evaluable: bool):
        self.aval = aval
        self.graph = graph
        self.node = node
        self.index = index
        self.evaluable = evaluable

    def numbers(self, purpose: str = "reading the numbers") -> np.ndarray:
        if not self.evaluable and self.graph.root.closed:
            raise UnexpectedTracerError(
                f"{purpose} needs the value of {self.aval}, which was {self.made()} and outlived "
                "it, kept by a variable or an object; return it from the function instead"
            )
        if not self.evaluable:
            raise conversion_error(purpose)(
                f"{purpose} needs the value of {self.aval}, which is known only when the compiled "
                "program runs; mark the argument it comes from as static, or use overt.numpy "
                "operations on it instead"
            )
        return np.asarray(evaluate(self))

    def item(self, *args: int) -> Any:
        if self.evaluable or self.graph.root.closed:
            return super().item(*args)
        from overt.runtime.staged_builtins import item_of_array

        return item_of_array(self, *args)

    def concrete(self, purpose: str) -> DeviceArray:
        if not self.evaluable:
            self.numbers(purpose)
        value = evaluate(self)
        if not isinstance(value, DeviceArray):
            value = interop.placed(value, self.aval)
            self.node.values[self.index] = value
        return value

    def made(self) -> str:
        """When and where this value was made."""
        if self.node.place is None:
            return "made while a function was compiled"
        file, line = line_of(self.node.place)
        text = linecache.getline(file, line).strip()
        return f"made while a function was compiled ({file}:{line}: {text})"

    def __str__(self) -> str:
        return str(self.concrete("a text of it")) if asked_by_a_program() else repr(self)

    def __repr__(self) -> str:
        if asked_by_a_program():
            return repr(self.concrete("a text of it"))
        return f"Symbolic({self.aval})"


_SCALAR_AVALS: dict[tuple, Aval] = {}


def _scalar_aval(x: Any, settings: Any) -> Aval:
    key = (type(x), settings.enable_x64)
    found = _SCALAR_AVALS.get(key)
    if found is None:
        found = _SCALAR_AVALS[key] = aval_of(x)
    if type(x) is int and not -0x80000000 <= x <= 0x7FFFFFFF:
        interop.host_scalar(x, found.dtype)
    return found


def constant(x: Any) -> Any:
    """A concrete operand in the form a node keeps: small host arrays copied, others on a device."""
    if isinstance(x, (DeviceArray, Symbolic)):
        return x
    if hasattr(x, "symbolic"):  # a size that is not known yet
        return x.value()
    if isinstance(x, (np.ndarray, np.generic)):
        if x.size <= SMALL:
            return np.array(x, aval_of(x).dtype)
        return interop.as_array(x)
    for kind in (bool, int, float, complex):  # subclasses of Python's numbers
        if isinstance(x, kind):
            return kind(x)  # type: ignore[arg-type]
    return interop.as_array(x)


def record(
    primitive: Any, operands: Sequence[Any], params: dict, regions: tuple = (), out: Any = None
) -> Any:
    """Append an operation to the graph of this context; its symbolic result."""
    graph = GRAPH.get()
    settings = config.current()
    inputs, avals = [], []
    evaluable = not (primitive.effect or regions)
    integer = None
    for x in operands:
        kind = type(x)
        if kind is Symbolic:
            if x.graph.root is not graph.root:
                x = x.concrete("using a value of another staged function")
            elif not x.evaluable:
                evaluable = False
            avals.append(x.aval)
        elif kind is DeviceArray:
            avals.append(x.aval)
        elif kind in LITERALS:
            avals.append(_scalar_aval(x, settings))
            if kind is int and x:
                integer = x
        else:
            x = constant(x)
            if isinstance(x, Symbolic) and not x.evaluable:
                evaluable = False
            avals.append(aval_of(x))
        inputs.append(x)
    key = tuple(avals)
    result, many = primitive.infer(key, params) if out is None else (out, True)
    if integer is not None and primitive.elementwise:
        _check_integer(primitive, key, inputs)
    effect = primitive.effect or (bool(regions) and any(r.effect for r in regions))
    node = Node(primitive, inputs, key, params, result, many, regions, effect)
    node.place = origin()
    graph.nodes.append(node)
    if effect:
        graph.effect = True
    if many:
        return tuple([Symbolic(a, graph, node, i, evaluable) for i, a in enumerate(result)])
    return Symbolic(result[0], graph, node, 0, evaluable)


def _check_integer(primitive: Primitive, avals: tuple, inputs: list) -> None:
    from overt.runtime.eager import integer_range

    bounds = integer_range(primitive, avals)
    for x in inputs:
        if bounds and type(x) is int and not bounds[0] <= x <= bounds[1]:
            raise OverflowError(
                f"Python integer {x} is out of bounds for {bounds[2]}; convert the array first"
            )


# ---- values that Python asks for while staging ----

_EXACT = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "negative": np.negative,
    "maximum": np.maximum, "minimum": np.minimum, "abs": np.abs, "equal": np.equal,
    "not_equal": np.not_equal, "less": np.less, "less_equal": np.less_equal,
    "greater": np.greater, "greater_equal": np.greater_equal, "logical_and": np.logical_and,
    "logical_or": np.logical_or, "logical_not": np.logical_not,
    "bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or,
}  # fmt: skip


def evaluate(x: Symbolic) -> Any:
    """The value of an evaluable symbolic: an ndarray or a DeviceArray, kept on its node."""
    pending = [x.node]
    while pending:  # an explicit stack: chains of operations are longer than Python's recursion
        node = pending[-1]
        if node.values is not None:
            pending.pop()
            continue
        missing = [i.node for i in node.inputs if type(i) is Symbolic and i.node.values is None]
        if missing:
            pending += missing
            continue
        operands = [i.node.values[i.index] if type(i) is Symbolic else i for i in node.inputs]
        node.values = _evaluate_node(node, operands)
        pending.pop()
    return x.node.values[x.index]


def _evaluate_node(node: Node, operands: list) -> list[Any]:
    exact = _EXACT.get(node.primitive.name)
    if exact is not None and all(a.dtype.kind in "iub" and a.size <= SMALL for a in node.avals):
        # Integer arithmetic of shapes and counters: NumPy gives the same and starts faster.
        dtype, _ = node.primitive.operand_dtype(node.avals)
        if not any(a.dtype.kind == "u" for a in node.avals):
            with np.errstate(over="ignore"):
                made = exact(*[np.asarray(v).astype(dtype) for v in operands])
            return [np.asarray(made).astype(node.out[0].dtype)]
    from overt.runtime.eager import execute

    token = GRAPH.set(None)
    try:
        operands = [
            interop.placed(v, a) if isinstance(v, np.ndarray) else v
            for v, a in zip(operands, node.avals, strict=True)
        ]
        result = execute(node.primitive, tuple(operands), node.params)
    finally:
        GRAPH.reset(token)
    return list(result) if node.many else [result]


# ---- staging a function ----


def run_in(graph: Graph, fn: Callable, *args: Any) -> Any:
    """Call `fn` with its operations recorded in `graph`."""
    token = GRAPH.set(graph)
    try:
        return fn(*args)
    finally:
        GRAPH.reset(token)


def set_outputs(graph: Graph, results: Sequence[Any]) -> None:
    """Declare what a graph returns."""
    if not isinstance(results, (list, tuple)):
        results = [results]
    results = [run_in(graph, x.settled) if hasattr(x, "settled") else x for x in results]
    for x in results:
        if isinstance(x, Array) and x.level:
            if hasattr(x, "refuse"):  # x[mask] of a mask known only at run time
                x.refuse("a result x[mask] of a compiled function")
            raise UnexpectedTracerError(
                f"a value of an enclosing transformation ({x!r}) left its program"
            )
    graph.outputs = [x if type(x) in LITERALS else constant(x) for x in results]
    for i, x in enumerate(graph.outputs):
        if type(x) is Symbolic and x.graph.root is not graph.root:
            graph.outputs[i] = x.concrete("returning a value of another staged function")
    graph.out = tuple(aval_of(x) for x in graph.outputs)


def stage(fn: Callable, avals: Sequence[Aval], name: str | None = None) -> Any:
    """Run `fn` on symbolic values of these avals; the Program of what it did.

    `fn` returns a flat list of arrays and numbers, the program's results.
    """
    from overt.runtime.program import Program

    return Program(fn, tuple(avals), name or str(getattr(fn, "__name__", "main")))


def trace(fn: Callable, avals: Sequence[Aval]) -> Graph:
    """The graph of `fn` on symbolic values of these avals."""
    graph = Graph(avals)
    set_outputs(graph, run_in(graph, fn, *graph.inputs))
    graph.closed = True
    if config.current().check_tracer_leaks:
        from overt.runtime.leaks import refuse_leaks

        refuse_leaks(graph)
    return graph


def is_known(x: Any) -> bool:
    """Whether Python can have the value of `x` now."""
    if isinstance(x, Array):
        return x.level == 0 and (type(x) is not Symbolic or x.evaluable)
    return not hasattr(x, "symbolic")  # a size that is not known yet


# ---- capacities of buffers whose length is not known ----

_capacities: dict[Any, int] = {}
# What programs get that cannot be staged again with more.
LEAST_CAPACITY: ContextVar[int] = ContextVar("overt_least_capacity", default=0)


def capacity(site: Any, start: int = 64) -> int:
    """How large a buffer to give the loop at `site`: what it needed before, or `start`."""
    return max(_capacities.get(site, start), LEAST_CAPACITY.get())


def learn_capacity(site: Any, needed: int) -> None:
    """Remember that the loop at `site` needs room for `needed` records."""
    _capacities[site] = max(_capacities.get(site, 0), 1 << max(0, int(needed) - 1).bit_length())
