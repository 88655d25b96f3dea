"""Functions of `math` that are none of `overt.numpy`, as plain Python for the passes to read."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import overt.runtime.numpy as np
from overt.runtime.plain import plain

__all__ = ["TWINS"]


@plain
def log_of(x: Any, base: Any = None) -> Any:
    """`math.log(x, base)`."""
    return np.log(x) if base is None else np.log(x) / np.log(base)


@plain
def hypot_of(*coordinates: Any) -> Any:
    """`math.hypot(*coordinates)`."""
    if len(coordinates) == 2:
        return np.hypot(coordinates[0], coordinates[1])
    return np.linalg.norm(np.stack([*coordinates]))


@plain
def dist_of(p: Any, q: Any) -> Any:
    """`math.dist(p, q)`."""
    total = 0.0
    for a, b in zip(p, q, strict=True):
        total = total + (a - b) ** 2
    return np.sqrt(total)


@plain
def prod_of(items: Any, *, start: Any = 1) -> Any:
    """`math.prod(items, start=start)`."""
    total = start
    for item in items:
        total = total * item
    return total


@plain
def sumprod_of(p: Any, q: Any) -> Any:
    """`math.sumprod(p, q)`."""
    total = 0
    for a, b in zip(p, q, strict=True):
        total = total + a * b
    return total


@plain
def fma_of(x: Any, y: Any, z: Any) -> Any:
    """`math.fma(x, y, z)`, but rounded twice."""
    return x * y + z


@plain
def floor_of(x: Any) -> Any:
    """`math.floor(x)`, an integer."""
    return np.floor(x).astype(int)


@plain
def ceil_of(x: Any) -> Any:
    """`math.ceil(x)`, an integer."""
    return np.ceil(x).astype(int)


@plain
def trunc_of(x: Any) -> Any:
    """`math.trunc(x)`, an integer."""
    return np.trunc(x).astype(int)


@plain
def ldexp_of(x: Any, i: Any) -> Any:
    """`math.ldexp(x, i)`."""
    return x * 2.0**i


@plain
def gamma_of(x: Any) -> Any:
    """`math.gamma(x)`."""
    from overt.runtime.scipy.special import gamma

    return gamma(x)


@plain
def modf_of(x: Any) -> Any:
    """`math.modf(x)`: the part after the point and that before it."""
    whole = np.trunc(x)
    return x - whole, whole


@plain
def remainder_of(x: Any, y: Any) -> Any:
    """`math.remainder(x, y)`: what is left over from the nearest multiple of y."""
    return x - y * np.round(x / y)


@plain
def isclose_of(a: Any, b: Any, *, rel_tol: float = 1e-9, abs_tol: float = 0.0) -> Any:
    """`math.isclose(a, b)`, which is symmetric in both, unlike NumPy's."""
    room = np.maximum(rel_tol * np.maximum(np.abs(a), np.abs(b)), abs_tol)
    return (a == b) | np.isfinite(a) & np.isfinite(b) & (np.abs(a - b) <= room)


TWINS: dict[Callable[..., Any], Callable[..., Any]] = {
    math.log: log_of,
    math.hypot: hypot_of,
    math.dist: dist_of,
    math.prod: prod_of,
    math.floor: floor_of,
    math.ceil: ceil_of,
    math.trunc: trunc_of,
    math.modf: modf_of,
    math.ldexp: ldexp_of,
    math.gamma: gamma_of,
    math.remainder: remainder_of,
    math.isclose: isclose_of,
}
for _name, _twin in (("sumprod", sumprod_of), ("fma", fma_of)):  # newer than Python 3.11
    if hasattr(math, _name):
        TWINS[getattr(math, _name)] = _twin
