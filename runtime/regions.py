"""Regions of control flow inside a graph: `while`, `case`, and calls to the host.

A region may use values of the graphs around it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from overt.runtime import interop
from overt.runtime.aval import Aval, aval_of
from overt.runtime.primitive import GRAPH, REGISTRY, Primitive
from overt.runtime.staging import Graph, Symbolic, record, run_in, set_outputs

Region = Graph


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


def subgraph(fn: Callable, avals: Sequence[Aval]) -> Region:
    """Stage `fn` as a region of the graph being staged; it returns a flat list of values."""
    region = Graph(avals, GRAPH.get())
    set_outputs(region, run_in(region, fn, *region.inputs))
    return region


def while_(test: Region, body: Region, inits: Sequence[Any]) -> tuple[Symbolic, ...]:
    """Repeat `body` on the carry while `test` of it is true; the last carry.

    Regions take the carry as inputs; their avals are the carry's types, to which `inits` are
    converted.
    """
    carry = body.source.out
    _check_carry(test, body, inits)
    inits = list(inits)
    sites = _carry_capacities(test, body, inits)
    out = tuple(body.source.out)
    results = record(WHILE, inits, {}, (test, body), out)  # type: ignore[arg-type]
    graph = GRAPH.get()
    for site, position, room in sites:
        graph.add_capacity(site, results[position], room)
    return results[: len(carry)]


def _check_carry(test: Region, body: Region, inits: Sequence[Any]) -> None:
    carry = body.source.out
    for kind, avals in (
        ("initial value", [aval_of(x) for x in inits]), ("result of the body", body.out)
    ):  # fmt: skip
        if len(avals) != len(carry):
            raise TypeError(f"while: {len(carry)} carried values, but {len(avals)} of {kind}")
        for i, (have, want) in enumerate(zip(avals, carry, strict=True)):
            if have.shape != want.shape:
                raise TypeError(f"while: {kind} {i} is {have}, the carry is {want}")
    if [a.shape for a in test.out] != [()]:
        raise TypeError(f"while: the test must give one scalar, got {test.out}")


def _carry_capacities(test: Region, body: Region, inits: list) -> list[tuple[Any, int, int]]:
    """Carry the largest count of each growing buffer inside the body out of the loop."""
    sites = []
    maximum = REGISTRY.get("maximum")
    for site, count, room in (*body.capacities, *test.capacities):
        aval = Aval((), np.dtype("int32"))
        largest = body.add_input(aval)
        test.add_input(aval)
        joined = run_in(body, maximum, largest, count)  # type: ignore[arg-type]
        body.outputs.append(joined)
        body.out = (*body.out, aval)
        sites.append((site, len(inits), room))
        inits.append(np.zeros((), np.int32))
    body.capacities, test.capacities = [], []
    return sites


def case_(
    index: Any, branches: Sequence[Region], out: Sequence[Aval] | None = None
) -> tuple[Symbolic, ...]:
    """The results of `branches[index]`; branches take no inputs and use values around them.

    A boolean index chooses the second branch where true.  `out` are the results' avals, to which
    each branch's are converted; by default those of the first branch.
    """
    out = tuple(branches[0].out if out is None else out)
    for n, branch in enumerate(branches):
        for i, (have, want) in enumerate(zip(branch.out, out, strict=True)):
            if have.shape != want.shape:
                raise TypeError(f"case: result {i} of branch {n} is {have}, expected {want}")
    plain = len(out)
    sites = []
    for branch in branches:
        for site, count, room in branch.capacities:
            sites.append((site, len(out), room))
            out = (*out, Aval((), np.dtype("int32")))
            for other in branches:
                other.outputs.append(count if other is branch else np.zeros((), np.int32))
                other.out = out
        branch.capacities = []
    results = record(CASE, [index], {}, tuple(branches), out)  # type: ignore[arg-type]
    graph = GRAPH.get()
    for site, position, room in sites:
        graph.add_capacity(site, results[position], room)
    return results[:plain]


# ---- calls to the host ----


def _lower_callback(
    b: Any, *values: Any, avals: Any, out: Any, fn: Callable, result_avals: tuple, ordered: bool
) -> list:
    if not ordered:
        return b.callback(_checked(fn, result_avals, False), values, out)
    token = b.token if b.token is not None else b.full((), 0, np.int32)
    made = b.callback(_checked(fn, result_avals, True), [token, *values], [((), np.int32), *out])
    b.token = made[0]
    return made[1:]


class CallbackErrors:
    """Exceptions raised on the host inside a running program, raised again by whoever runs it."""

    raised: list[BaseException] = []


def _checked(fn: Callable, result_avals: tuple[Aval, ...], ordered: bool) -> Callable:
    """`fn` with its results checked; ordered, with the token handed through."""

    def call(*arrays: np.ndarray) -> tuple:
        token = arrays[:1] if ordered else ()
        staged = GRAPH.set(None)
        try:
            results = convert_results(fn(*arrays[len(token) :]), result_avals)
        except BaseException as error:
            CallbackErrors.raised.append(error)
            raise
        finally:
            GRAPH.reset(staged)
        return (*token, *results)

    return call


def convert_results(results: Any, avals: tuple[Aval, ...]) -> tuple[np.ndarray, ...]:
    """What a host function returned, as ndarrays of the declared avals."""
    if not isinstance(results, (list, tuple)):
        results = () if results is None and not avals else (results,)
    if len(results) != len(avals):
        raise TypeError(f"the host function gave {len(results)} results, {len(avals)} declared")
    made = []
    for i, (x, aval) in enumerate(zip(results, avals, strict=True)):
        array = np.asarray(x)
        if array.shape != aval.shape or not np.can_cast(array.dtype, aval.dtype, "same_kind"):
            raise TypeError(
                f"the host function's result {i} is {array.dtype}{list(array.shape)}, "
                f"declared {aval}"
            )
        made.append(np.ascontiguousarray(array, aval.dtype).reshape(aval.shape))
    return tuple(made)


CALLBACK = Primitive(
    "host_callback",
    shape=lambda *avals, fn, result_avals, ordered: list(result_avals),
    lower=_lower_callback,
    arrays=("operands",),
    effect=True,
    doc="A call of a Python function on the host.",
)


def host_callback(
    fn: Callable, result_avals: Sequence[Aval], *operands: Any, ordered: bool = True
) -> tuple[Any, ...]:
    """Call `fn(*ndarrays)` when the program gets here; a tuple of results of the declared avals.

    At once when nothing is being staged.  Ordered calls happen in the order of the program.
    """
    avals = tuple(result_avals)
    concrete = all(getattr(x, "level", 0) == 0 for x in operands)
    if concrete and GRAPH.get() is None:
        arrays = [np.asarray(x) for x in operands]
        results = convert_results(fn(*arrays), avals)
        return tuple(interop.placed(x, a) for x, a in zip(results, avals, strict=True))
    return CALLBACK(*operands, fn=fn, result_avals=avals, ordered=ordered)


__all__ = ["Region", "case_", "host_callback", "subgraph", "while_"]
