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
from overt.runtime.jaxpr_text import short
from overt.runtime.levels import new_level
from overt.runtime.numbered import Numbers
from overt.runtime.parts import is_array
from overt.runtime.places import line_of
from overt.runtime.primitive import GRAPH
from overt.runtime.tree import tree_flatten, tree_leaves, tree_map
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


# --- with a policy --------------------------------------------------------------------------------


def with_policy(f: Any, args: tuple, keywords: dict[str, Any]) -> tuple[Any, Pullback] | None:
    """The same, keeping what the policy says; None where results cannot be told apart.

    That is in functions that hold arrays themselves, and where a loop or branch of a compiled
    program uses them: they keep their arguments alone, which costs time and changes no value.
    """
    if holds_arrays(f.__wrapped__):
        return None
    kept: dict[int, Any] = {}
    refused: list[Exception] = []

    def keep(primitive: Any, number: int, kinds: list, params: dict, compute: Callable) -> Any:
        made = compute()
        try:
            if number not in kept and keeps(f.policy, primitive, kinds, params):
                kept[number] = made
        except NotImplementedError as error:
            refused.append(error)
            raise
        return made

    graph = GRAPH.get()
    before = (0, 0, False) if graph is None else (
        len(graph.nodes), len(graph.capacities), graph.effect
    )  # fmt: skip
    with new_level() as level:
        numbers = Numbers(level, keep)
        given, named = numbered(numbers, args, keywords)
        try:
            out = transformed.lifted(f.__wrapped__)(*given, **named)
        except (StagingError, NotImplementedError):
            if refused:
                raise
            if graph is not None:
                count, capacities, graph.effect = before
                del graph.nodes[count:], graph.capacities[capacities:]
            return None
        out = tree_map(numbers.below, out)
    pull = PolicyPull(f.__wrapped__, numbers, tuple(kept), f.prevent_cse)
    return out, Pullback(pull, (args, keywords, list(kept.values())))


def numbered(numbers: Numbers, args: tuple, keywords: dict[str, Any]) -> Any:
    """The arguments, with numbers."""
    leaves, structure = tree_flatten((args, keywords))
    return structure.unflatten(
        numbers.argument(i, x) if is_array(x) else x for i, x in enumerate(leaves)
    )


class PolicyPull:
    """The pullback of a checkpointed call that has kept some results."""

    def __init__(self, function: Any, numbers: Numbers, kept: tuple[int, ...], apart: bool) -> None:
        self.function, self.numbers, self.kept, self.prevent_cse = function, numbers, kept, apart

    def __eq__(self, other: object) -> bool:
        return (
            type(other) is PolicyPull and self.function is other.function
            and self.kept == other.kept and self.prevent_cse == other.prevent_cse
            and self.numbers.made == other.numbers.made
        )  # fmt: skip

    def __hash__(self) -> int:
        return hash((id(self.function), self.kept))

    def __call__(self, saved: Any, out_bar: Any) -> Any:
        args, keywords, kept = saved
        if self.prevent_cse:
            (args, keywords), out_bar = apart(((args, keywords), out_bar))
        found = dict(zip(self.kept, kept, strict=True))

        def known(primitive: Any, number: int, kinds: list, params: dict, compute: Callable) -> Any:
            return found[number] if number in found else compute()

        with new_level() as level:
            numbers = Numbers(level, known, self.numbers)
            given, named = numbered(numbers, args, keywords)
            bars = vjp_of(self.function, *given, **named)[1](out_bar)
            return tree_map(numbers.below, bars)


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


# --- looking at it


def print_saved_residuals(f: Callable, *args: Any, **kwargs: Any) -> None:
    """Print what the reverse sweep of a function keeps: kinds of arrays and where they come from.

    >>> import overt
    >>> print_saved_residuals(lambda x: x * overt.numpy.sin(x), 1.0)
    f32[] from the argument 0...
    """
    leaves, structure = tree_flatten((args, kwargs))
    kept: list[Any] = []

    def run(*inputs: Any) -> list[Any]:
        given, named = structure.unflatten(inputs)
        out, pull = vjp_of(f, *given, **named)
        kept.extend(x.value for x in dict.fromkeys(map(Seen, tree_leaves(pull))))
        return [x for x in tree_leaves(out) if is_array(x)]

    graph = staging.trace(run, [aval_of(x) for x in leaves])
    places = {id(node): i for i, node in enumerate(graph.nodes)}

    def place(x: Any) -> tuple[int, int]:
        """Arguments come first, then the results of operations in the program's order."""
        node = getattr(x, "node", None)
        if node is not None and node.primitive is None:
            return -1, x.index
        return places.get(id(node), len(places)), 0

    print("\n".join(line for x in sorted(kept, key=place) for line in described(x)))


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


def described(x: Any) -> list[str]:
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
