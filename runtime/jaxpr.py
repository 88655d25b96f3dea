"""A staged program as equations: made from a graph, and evaluated again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy

from overt.runtime.array import DeviceArray
from overt.runtime.aval import Aval, aval_of
from overt.runtime.primitive import LITERALS

__all__ = ["ClosedJaxpr", "DropVar", "Jaxpr", "JaxprEqn", "Literal", "Var", "eval_jaxpr"]


def printer() -> Any:
    """What names variables in the order in which they are met."""
    from overt.runtime.jaxpr_text import Printer

    return Printer()


class Var:
    """A value of a program."""

    __slots__ = ("aval",)

    def __init__(self, aval: Aval) -> None:
        self.aval = aval

    def __repr__(self) -> str:
        return f"Var:{self.aval}"


class DropVar(Var):
    """A result that nothing needs."""

    __slots__ = ()


class Literal:
    """A number that is written into a program."""

    __slots__ = ("val", "aval")

    def __init__(self, val: Any, aval: Aval) -> None:
        self.val, self.aval = val, aval

    def __repr__(self) -> str:
        return f"{self.val}:{self.aval}"


class JaxprEqn(NamedTuple):
    """One operation: what it computes, from what, into what."""

    invars: list[Any]
    outvars: list[Var]
    primitive: Any
    params: dict[str, Any]

    def __repr__(self) -> str:
        return printer().equation(self, 0)


class Jaxpr:
    """Equations, and the names of what goes in and comes out."""

    def __init__(
        self, constvars: list[Var], invars: list[Var], outvars: list[Any], eqns: list[JaxprEqn]
    ) -> None:
        self.constvars, self.invars, self.outvars, self.eqns = constvars, invars, outvars, eqns

    def __repr__(self) -> str:
        return printer().program(self, 0)

    pretty_print = __repr__


class ClosedJaxpr:
    """A program with the values of its constants."""

    def __init__(self, jaxpr: Jaxpr, consts: Sequence[Any]) -> None:
        self.jaxpr, self.consts = jaxpr, list(consts)

    eqns = property(lambda self: self.jaxpr.eqns)
    literals = property(lambda self: self.consts)
    in_avals = property(lambda self: [v.aval for v in self.jaxpr.invars])
    out_avals = property(lambda self: [v.aval for v in self.jaxpr.outvars])

    def __repr__(self) -> str:
        return repr(self.jaxpr)

    pretty_print = __repr__


# --- from graphs


class Writer:
    """The equations of one graph; values of graphs around it become its first arguments."""

    def __init__(self, graph: Any, live: Any, parent: Writer | None = None) -> None:
        self.graph, self.live, self.parent = graph, live, parent
        self.vars: dict[Any, Any] = {}
        self.captured: list[tuple[Any, Var]] = []  # (outside, inside)
        self.consts: list[Any] = []
        self.eqns: list[JaxprEqn] = []
        self.hoisted: list[JaxprEqn] = []
        self.invars = self.declare(graph.source, range(len(graph.source.out)))

    def declare(self, node: Any, places: Any) -> list[Var]:
        """New variables for results of a node."""
        made = [Var(node.out[i]) for i in places]
        self.vars |= {(node, i): v for i, v in zip(places, made, strict=True)}
        return made

    def atom(self, x: Any, aval: Aval) -> Any:
        """The variable or number that an input of a node is."""
        kind = type(x)
        if kind in LITERALS:
            return Literal(x, aval)
        if isinstance(x, numpy.ndarray) and x.ndim == 0:
            return Literal(x[()], aval)
        if isinstance(x, (numpy.ndarray, DeviceArray)):
            return self.outer(id(x), x, aval)
        found = self.vars.get((x.node, x.index))
        return found if found is not None else self.outer((x.node, x.index), x, aval)

    def outer(self, key: Any, x: Any, aval: Aval) -> Any:
        """A value from outside: a constant of the whole program, or of a graph around this one."""
        if key in self.vars:
            return self.vars[key]
        if self.parent is None:
            if isinstance(x, (numpy.ndarray, DeviceArray)) or (
                x.graph is not self.graph and self.graph.within(x.graph)
            ):  # a region's own program takes values around it as constants
                self.consts.append(x)
                inside = Var(aval)
                self.captured.append((x, inside))
            else:
                self.hoist(x.node)
                return self.vars[key]
        else:
            outside = self.parent.atom(x, aval)
            if type(outside) is Literal:
                return outside
            inside = Var(aval)
            self.captured.append((outside, inside))
        self.vars[key] = inside
        return inside

    def hoist(self, node: Any) -> None:
        """A value computed in a region that is closed, from constants: it comes first."""
        pending = [node]
        while pending:
            node = pending[-1]
            missing = [
                i.node for i in node.inputs if hasattr(i, "node") and (i.node, 0) not in self.vars
            ]
            if missing:
                pending += missing
                continue
            pending.pop()
            self.hoisted.append(self.operation(node, node.primitive, node.params))

    def operation(self, node: Any, primitive: Any, params: dict[str, Any]) -> JaxprEqn:
        inputs = [self.atom(x, a) for x, a in zip(node.inputs, node.avals, strict=True)]
        self.declare(node, range(len(node.out)))
        used = self.live.used.get(node, range(len(node.out)))
        out = [self.vars[node, i] if i in used else DropVar(a) for i, a in enumerate(node.out)]
        return JaxprEqn(inputs, out, primitive, params)

    def write(self) -> Writer:
        """Write all that is needed."""
        from overt.runtime.staging import CASE, WHILE

        for node in self.graph.nodes:
            if node not in self.live.used and not node.effect:
                continue
            if node.primitive is WHILE:
                self.loop(node)
            elif node.primitive is CASE:
                self.branches(node)
            else:
                self.eqns.append(self.operation(node, node.primitive, node.params))
        return self

    def result(self, x: Any, aval: Aval) -> Any:
        """A value that leaves the graph, in the dtype that it leaves with."""
        own = x.aval if hasattr(x, "aval") else aval
        if isinstance(x, numpy.ndarray):
            own = Aval(x.shape, x.dtype)
        return self.converted(self.atom(x, own), aval)

    def converted(self, atom: Any, aval: Aval) -> Any:
        if atom.aval.dtype == aval.dtype or type(atom) is Literal:
            return atom
        import overt.runtime.retype as retype

        made = Var(aval)
        params = {"dtype": aval.dtype, "weak": aval.weak}
        self.eqns.append(JaxprEqn([atom], [made], retype.retype, params))
        return made

    def region(self, graph: Any, places: Sequence[int], out: Sequence[Aval]) -> tuple:
        """(writer, results) of a region of which only some results are needed."""
        writer = Writer(graph, self.live, self).write()
        return writer, [writer.result(graph.outputs[i], out[i]) for i in places]

    def closed(self, writer: Writer, captured: list[Any], results: list, places: Any) -> Any:
        """A region as a program of the captured values and its own inputs."""
        inside = {id(o): i for o, i in writer.captured}
        first = [inside.get(id(o)) or Var(o.aval) for o in captured]
        return ClosedJaxpr(
            Jaxpr([], [*first, *[writer.invars[i] for i in places]], results, writer.eqns), []
        )

    def loop(self, node: Any) -> None:
        test, body = node.regions
        places, carry = self.live.live(node), body.source.out
        inits = [self.converted(self.atom(node.inputs[i], node.avals[i]), carry[i]) for i in places]
        test_writer, tested = self.region(test, [0], (Aval((), numpy.dtype(bool)),))
        body_writer, stepped = self.region(body, places, carry)
        of_test, of_body = ([o for o, _ in w.captured] for w in (test_writer, body_writer))
        params = {
            "body_jaxpr": self.closed(body_writer, of_body, stepped, places),
            "body_nconsts": len(of_body),
            "cond_jaxpr": self.closed(test_writer, of_test, tested, places),
            "cond_nconsts": len(of_test),
        }
        self.finish(node, [*of_test, *of_body, *inits], places, params)

    def branches(self, node: Any) -> None:
        places = self.live.live(node)
        index = self.atom(node.inputs[0], node.avals[0])
        index = self.converted(index, Aval((), numpy.dtype("int32")))
        made = [self.region(r, places, node.out) for r in node.regions]
        captured = list({id(o): o for w, _ in made for o, _ in w.captured}.values())
        closed = tuple(self.closed(w, captured, results, ()) for w, results in made)
        self.finish(node, [index, *captured], places, {"branches": closed})

    def finish(self, node: Any, inputs: list, places: Sequence[int], params: dict) -> None:
        made = self.declare(node, places)
        used = self.live.used.get(node, ())
        out = [v if i in used else DropVar(v.aval) for i, v in zip(places, made, strict=True)]
        self.eqns.append(JaxprEqn(inputs, out, node.primitive, params))


def jaxpr_of(graph: Any, outputs: Sequence[Any]) -> ClosedJaxpr:
    """The equations that compute some values of a graph; what they do not need is left out."""
    from overt.runtime.emission import Liveness

    writer = Writer(graph, Liveness(graph, outputs)).write()
    results = [writer.result(x, aval_of(x)) for x in outputs]
    constants = [inside for _, inside in writer.captured]
    eqns = [*writer.hoisted, *writer.eqns]
    return ClosedJaxpr(Jaxpr(constants, writer.invars, results, eqns), writer.consts)


# --- evaluation


def eval_jaxpr(jaxpr: Jaxpr, consts: Sequence[Any], *args: Any) -> list[Any]:
    """The results of a program's equations for constants and arguments, one after the other.

    >>> import overt
    >>> made = overt.make_jaxpr(lambda x: 2 * x + 1)(3.0)
    >>> eval_jaxpr(made.jaxpr, made.consts, 5.0)
    [Array(11., dtype=float32, weak_type=True)]
    """
    return evaluate(jaxpr, consts, args)


def evaluate(
    jaxpr: Jaxpr, consts: Sequence[Any], args: Sequence[Any], apply: Callable | None = None
) -> list[Any]:
    """The same; `apply(position, equation, values)` gives the results of each equation."""
    known: dict[Var, Any] = dict(zip(jaxpr.constvars, consts, strict=True))
    known |= dict(zip(jaxpr.invars, args, strict=True))

    def value(atom: Any) -> Any:
        return atom.val if type(atom) is Literal else known[atom]

    for i, eqn in enumerate(jaxpr.eqns):
        values = [value(x) for x in eqn.invars]
        results = apply_equation(eqn, values) if apply is None else apply(i, eqn, values)
        known |= dict(zip(eqn.outvars, results, strict=True))
    return [value(x) for x in jaxpr.outvars]


def apply_equation(eqn: JaxprEqn, values: list[Any]) -> tuple:
    """The results of an equation."""
    from overt.runtime.staging import CASE, WHILE

    if eqn.primitive is WHILE:
        made = _eval_loop(values, eqn.params)
    elif eqn.primitive is CASE:
        made = _eval_branches(values[0], values[1:], eqn.params["branches"])
    else:
        made = eqn.primitive(*values, **eqn.params)
    return tuple(made) if isinstance(made, (tuple, list)) else (made,)


def _function(closed: ClosedJaxpr) -> Callable:
    return lambda *args: tuple(eval_jaxpr(closed.jaxpr, closed.consts, *args))


def _eval_loop(values: list[Any], params: dict[str, Any]) -> Any:
    from overt.runtime.control import while_loop

    test, body = _function(params["cond_jaxpr"]), _function(params["body_jaxpr"])
    first, second = params["cond_nconsts"], params["body_nconsts"]
    of_test, of_body, carry = (
        values[:first], values[first : first + second], values[first + second :],
    )  # fmt: skip
    if not carry:
        return ()
    return while_loop(
        lambda carry: test(*of_test, *carry)[0], lambda carry: body(*of_body, *carry), tuple(carry)
    )


def _eval_branches(index: Any, operands: list[Any], branches: Sequence[ClosedJaxpr]) -> Any:
    from overt.runtime.branches import cond

    if len(branches) == 1:
        return _function(branches[0])(*operands)
    middle = len(branches) // 2
    return cond(
        index < middle,
        lambda *xs: _eval_branches(index, list(xs), branches[:middle]),
        lambda *xs: _eval_branches(index - middle, list(xs), branches[middle:]),
        tuple(operands),
    )
