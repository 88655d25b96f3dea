"""`guard`: a value whose derivative counts only on the path taken."""

from __future__ import annotations

from typing import Any

from overt.runtime.derivatives import is_inexact
from overt.runtime.primitive import Primitive
from overt.runtime.tree import tree_map

__all__ = ["guard"]

_guarded = Primitive(
    "guard",
    elementwise=True,
    unpromoted=(0,),
    lower=lambda b, mask, x, *, avals, out: x,
    arrays=("mask", "x"),
    vjp=(None, lambda g, out, mask, x: np.where(mask, g, np.zeros_like(g))),
    doc="`x`, with derivative zero where the mask is false, whatever comes from there.",
)


def guard(mask: Any, tree: Any) -> Any:
    """The same values; where the mask is false their derivative is exactly zero, never NaN.

    >>> guard(True, (2, "name"))
    (2, 'name')
    """
    return tree_map(lambda x: _guarded(mask, x) if is_inexact(x) else x, tree)


import overt.runtime.numpy as np  # noqa: E402
