"""The derivative of a checkpointed function: what is computed again, and what a policy keeps."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from overt.runtime import staging
from overt.runtime.array import Array
from overt.runtime.aval import aval_of
from overt.runtime.checkpointing import keeps, nothing_saveable
from overt.runtime.errors import StagingError
from overt.runtime.interop import as_array
from overt.runtime.jaxpr import JaxprEqn, apply_equation, evaluate, jaxpr_of
from overt.runtime.jaxpr_text import short
from overt.runtime.parts import is_array
from overt.runtime.places import line_of
from overt.runtime.primitive import GRAPH, Primitive
from overt.runtime.record import Differentiated, vjp_call
from overt.runtime.regions import subgraph
from overt.runtime.tree import tree_flatten, tree_leaves
from overt.transformer import transformed
from overt.transformer.calls import Recompute, vjp_of
from overt.transformer.pulls import Pullback

__all__ = ["print_saved_residuals", "vjp_of_checkpoint"]


def vjp_of_checkpoint(f: Any, args: tuple, keywords: dict[str, Any]) -> tuple[Any, Pullback]:
    """The result of a checkpointed call, and a pullback that keeps little."""
    if f.policy is not None and f.policy is not nothing_saveable:
        found = with_policy(f, args, keywords)
        if found is not None:
            return found
    again = Again(f.__wrapped__, prevent_cse=f.prevent_cse)
    return f(*args, **keywords), Pullback(again, (args, keywords))


def apart(tree: Any) -> Any:
    """The same arrays for all but XLA, which would find that it has computed this before.

    The cotangent is among them, so that nothing is computed again before it is there.
    """
    if GRAPH.get() is None:
        return tree
    from overt.runtime.lax import optimization_barrier

    leaves, structure = tree_flatten(tree)
    places = [i for i, x in enumerate(leaves) if isinstance(x, Array)]
    for i, x in zip(places, optimization_barrier([leaves[i] for i in places]), strict=True):
        leaves[i] = x
    return structure.unflatten(leaves)


@dataclasses.dataclass(frozen=True)
class Again(Recompute):
    """The pullback of a checkpointed call: it runs again from its arguments, and then back."""

    prevent_cse: bool = True

    def __call__(self, saved: Any, out_bar: Any) -> Any:
        return super().__call__(
            *(apart((saved, out_bar)) if self.prevent_cse else (saved, out_bar))
        )


# --- with a policy: by the equations that the function is staged to


def with_policy(f: Any, args: tuple, keywords: dict[str, Any]) -> tuple[Any, Pullback] | None:
    """The same, keeping what the policy says; None where the function has no equations apart.

    That is inside other transformations and for functions that hold arrays themselves: they keep
    their arguments alone, which costs time and changes no value.
    """
    leaves, structure = tree_flatten((args, keywords))
    places = [i for i, x in enumerate(leaves) if is_array(x)]
    arrays = [as_array(leaves[i]) for i in places]
    if any(x.level for x in arrays) or holds_arrays(f.__wrapped__):
        return None
    shapes: list[Any] = []

    def run(*inputs: Any) -> list[Any]:
        filled = list(leaves)
        for i, x in zip(places, inputs, strict=True):
            filled[i] = x
        given, named = structure.unflatten(filled)
        results, out_structure = tree_flatten(transformed.lifted(f.__wrapped__)(*given, **named))
        shapes[:] = [out_structure]
        return results

    stage = staging.trace if GRAPH.get() is None else subgraph
    try:
        graph = stage(run, [x.aval for x in arrays])
    except (StagingError, NotImplementedError):
        return None
    if graph.effect or graph.capacities or not all(map(is_array, graph.outputs)):
        return None
    closed = jaxpr_of(graph, graph.outputs)
    kept: dict[int, tuple] = {}

    def keep(i: int, eqn: JaxprEqn, values: list[Any]) -> Any:
        made = apply_equation(eqn, values)
        if isinstance(eqn.primitive, Primitive) and keeps(
            f.policy, eqn.primitive, [x.aval for x in eqn.invars], eqn.params
        ):
            kept[i] = made
        return made

    results = evaluate(closed.jaxpr, closed.consts, arrays, keep)
    pull = PolicyPull(closed.jaxpr, tuple(places), structure, len(args), f.prevent_cse)
    saved = (leaves, closed.consts, kept)
    return shapes[0].unflatten(results), Pullback(pull, saved)


def holds_arrays(f: Any) -> bool:
    """Whether a callable has arrays of its own: bound, or in its closure."""
    target = transformed.target_of(f)
    if target.prefix or target.keywords or target.function is None:
        return True
    for cell in target.function.__closure__ or ():
        try:
            found = tree_leaves(cell.cell_contents)
        except ValueError:
            continue
        if any(is_array(x) or callable(x) for x in found):
            return True
    return False


@dataclasses.dataclass(frozen=True, eq=False)
class PolicyPull:
    """The pullback of a checkpointed call that has kept some results."""

    jaxpr: Any
    places: tuple[int, ...]
    structure: Any
    count: int
    prevent_cse: bool

    def __call__(self, saved: Any, out_bar: Any) -> Any:
        leaves, consts, kept = saved
        inputs = [as_array(leaves[i]) for i in self.places]
        if self.prevent_cse:
            inputs, out_bar = apart((inputs, out_bar))

        def known(i: int, eqn: JaxprEqn, values: list[Any]) -> Any:
            return with_result(eqn, values, kept[i]) if i in kept else apply_equation(eqn, values)

        _, pull = vjp_call(lambda *xs: evaluate(self.jaxpr, consts, xs, known), *inputs)
        bars: list[Any] = [None] * len(leaves)
        for i, bar in zip(self.places, pull(tree_leaves(out_bar, lambda x: x is None)),
                          strict=True):  # fmt: skip
            bars[i] = bar
        given, named = self.structure.unflatten(bars)
        return (None, *given, named) if named else (None, *given)


def with_result(eqn: JaxprEqn, values: list[Any], result: tuple) -> tuple:
    """An operation whose result is known, on values that note it for their derivative."""
    top = max(values, key=lambda x: getattr(x, "level", 0), default=None)
    if not isinstance(top, Differentiated):
        return result
    _, many = eqn.primitive.infer(tuple(map(aval_of, values)), eqn.params)

    def known(*operands: Any, **params: Any) -> Any:
        return result if many else result[0]

    made = top.call(eqn.primitive.rule, known, values, eqn.params)
    return made if many else (made,)


# --- looking at it


def print_saved_residuals(f: Callable, *args: Any, **kwargs: Any) -> None:
    """Print what the reverse sweep of a function keeps: kinds of arrays and where they come from.

    >>> import overt
    >>> print_saved_residuals(lambda x: x * overt.numpy.sin(x), 1.0)
    f32[] from the argument 0...
    """
    leaves, structure = tree_flatten((args, kwargs))
    lines: list[str] = []

    def run(*inputs: Any) -> list[Any]:
        given, named = structure.unflatten(inputs)
        out, pull = vjp_of(f, *given, **named)
        for x in dict.fromkeys(map(Seen, tree_leaves(pull))):
            lines.extend(described(x.value, inputs))
        return [x for x in tree_leaves(out) if is_array(x)]

    staging.trace(run, [aval_of(x) for x in leaves])
    print("\n".join(lines))


class Seen:
    """A leaf, told apart by which value of the program it is."""

    def __init__(self, value: Any) -> None:
        self.value = value
        node = getattr(value, "node", None)
        self.key = (id(value),) if node is None else (id(node), value.index)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Seen) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


def described(x: Any, inputs: tuple) -> list[str]:
    """A line about a kept value, if it is an array."""
    if not isinstance(x, Array):
        return []
    kind = short(x.aval)
    node = getattr(x, "node", None)
    if node is None:
        return [f"{kind} from a constant"]
    if node.primitive is None:
        return [f"{kind} from the argument {x.index}"]
    file, line = line_of(node.place) if node.place is not None else ("", 0)
    return [f"{kind} output of {node.primitive.name} at {file}:{line}"]
