"""What the reverse sweep of a checkpointed function keeps, and what it computes again.

A policy is asked of every operation, `policy(operation, *kinds, **parameters)`: whether its result
is kept.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from overt.runtime.primitive import Primitive
from overt.runtime.tree import tree_map

__all__ = [
    "Offloadable", "Recompute", "Saveable", "checkpoint_name", "checkpoint_policies", "keeps",
]  # fmt: skip

Saveable = True
Recompute = False


class Offloadable:
    """A result to be moved to another memory meanwhile; no client does that yet."""

    def __init__(self, src: str, dst: str) -> None:
        self.src, self.dst = src, dst


named = Primitive(
    "name",
    shape=lambda x, *, name: x,
    lower=lambda b, x, *, avals, out, name: x,
    linear=True,
    vjp=(lambda g, out, x, *, name: g,),
    batch=lambda values, axes, size, *, name: (named(values[0], name=name), 0),
    doc="An array with a name by which policies know it.",
)


def checkpoint_name(x: Any, name: str) -> Any:
    """The same arrays, known by a name to policies such as `save_only_these_names`.

    >>> checkpoint_name({"x": 1.0}, "hidden")
    {'x': Array(1., dtype=float32, weak_type=True)}
    """
    return tree_map(lambda leaf: named(leaf, name=name), x)


def keeps(policy: Callable, primitive: Any, avals: list[Any], params: dict[str, Any]) -> bool:
    """Whether a policy keeps the result of an operation."""
    answer = policy(primitive, *avals, **params)
    if isinstance(answer, Offloadable):
        raise NotImplementedError(
            f"a checkpoint policy wants a result moved to {answer.dst}, which is not supported; "
            "keep it (True) or compute it again (False)"
        )
    return bool(answer)


# --- policies


def everything_saveable(prim: Any, *avals: Any, **params: Any) -> bool:
    """Keep all, as without a checkpoint."""
    return True


def nothing_saveable(prim: Any, *avals: Any, **params: Any) -> bool:
    """Keep the arguments alone: the policy of `checkpoint` without one."""
    return False


def dots_saveable(prim: Any, *avals: Any, **params: Any) -> bool:
    """Keep products of matrices and convolutions."""
    return prim.name in ("contract", "convolve_general")


def dots_with_no_batch_dims_saveable(prim: Any, *avals: Any, **params: Any) -> bool:
    """Keep products of matrices that have no batch: those with weights."""
    return prim.name == "contract" and not any(params.get("batch") or ((), ()))


def save_only_these_names(*names_which_can_be_saved: str) -> Callable[..., bool]:
    """Keep what `checkpoint_name` gave one of these names."""
    names = frozenset(names_which_can_be_saved)
    return lambda prim, *avals, **params: prim is named and params["name"] in names


def save_any_names_but_these(*names_not_to_save: str) -> Callable[..., bool]:
    """Keep what has a name that is none of these."""
    names = frozenset(names_not_to_save)
    return lambda prim, *avals, **params: prim is named and params["name"] not in names


def save_anything_except_these_names(*names_not_to_save: str) -> Callable[..., bool]:
    """Keep all but what has one of these names."""
    names = frozenset(names_not_to_save)
    return lambda prim, *avals, **params: not (prim is named and params["name"] in names)


def save_from_both_policies(policy_1: Callable, policy_2: Callable) -> Callable[..., bool]:
    """Keep what either policy keeps."""
    return lambda prim, *avals, **params: (
        keeps(policy_1, prim, list(avals), params) or keeps(policy_2, prim, list(avals), params)
    )


def _offload(*args: Any, **kwargs: Any) -> Any:
    """Not supported."""
    raise NotImplementedError(
        "policies that move results to the host's memory are not supported; keep them or compute "
        "them again"
    )


checkpoint_policies = types.SimpleNamespace(
    everything_saveable=everything_saveable,
    nothing_saveable=nothing_saveable,
    dots_saveable=dots_saveable,
    checkpoint_dots=dots_saveable,
    dots_with_no_batch_dims_saveable=dots_with_no_batch_dims_saveable,
    checkpoint_dots_with_no_batch_dims=dots_with_no_batch_dims_saveable,
    save_only_these_names=save_only_these_names,
    save_any_names_but_these=save_any_names_but_these,
    save_anything_except_these_names=save_anything_except_these_names,
    save_from_both_policies=save_from_both_policies,
    offload_dot_with_no_batch_dims=_offload,
    save_and_offload_only_these_names=_offload,
)
