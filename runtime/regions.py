"""Regions of control flow inside a graph: `while` and `case`.

A region may use values of the graphs around it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from overt.runtime.aval import Aval, aval_of
from overt.runtime.primitive import GRAPH, REGISTRY
from overt.runtime.staging import CASE, WHILE, Graph, Symbolic, record, run_in, set_outputs

Region = Graph


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
    records = _carry_records(test, body, inits)
    sites = _carry_capacities(test, body, inits)
    out = tuple(body.source.out)
    results = record(WHILE, inits, {}, (test, body), out)  # type: ignore[arg-type]
    for carried, part in records:
        carried.arrived(results[part])
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


def _carry_records(test: Region, body: Region, inits: list) -> list[tuple[Any, slice]]:
    """Carry what has failed in an iteration to the next one and out of the loop."""
    if test.records:
        raise NotImplementedError("while: the test of a loop cannot fail")
    found = []
    for carried in _leaving(body):
        avals = carried.avals()
        before = [body.add_input(aval) for aval in avals]
        for aval in avals:
            test.add_input(aval)
        body.outputs += run_in(
            body, carried.after_iteration, before, body.records.get(carried.ledger)
        )
        body.out = (*body.out, *avals)
        found.append((carried, slice(len(inits), len(inits) + len(avals))))
        inits += carried.arrays()
    return found


def _leaving(*regions: Region) -> list[Any]:
    if not any(region.records for region in regions):
        return []
    from overt.runtime.checks import leaving

    return leaving(regions)


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
    records = []
    for carried in _leaving(*branches):
        avals = carried.avals()
        records.append((carried, slice(len(out), len(out) + len(avals))))
        out = (*out, *avals)
        for branch in branches:
            failed = branch.records.get(carried.ledger)
            branch.outputs += run_in(branch, carried.arrays, failed)
            branch.out = out
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
    for carried, part in records:
        carried.arrived(results[part])
    graph = GRAPH.get()
    for site, position, room in sites:
        graph.add_capacity(site, results[position], room)
    return results[:plain]


__all__ = ["Region", "case_", "subgraph", "while_"]
