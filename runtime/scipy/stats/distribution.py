"""How a distribution is declared: its support and its functions in standard form, no more.

A class decorated with `continuous` or `discrete` states each function for `loc = 0`, `scale = 1`
and values inside the support.  The decorator makes them public functions: of `loc` and `scale` too,
with their limits outside the support, and NaN for parameters that no distribution has.  Derivatives
are those inside the support, zero outside.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import overt.runtime.numpy as np
from overt.runtime.primitive import composite
from overt.runtime.scipy.error_functions import reals

__all__ = ["continuous", "discrete", "log_of"]

# Each function's values below and above the support, and what it is.
KINDS = {
    "pdf": (0, 0, "Density"),
    "logpdf": (-np.inf, -np.inf, "Logarithm of the density"),
    "pmf": (0, 0, "Probability of a value"),
    "logpmf": (-np.inf, -np.inf, "Logarithm of the probability of a value"),
    "cdf": (0, 1, "Cumulative distribution function"),
    "logcdf": (-np.inf, 0, "Logarithm of the cumulative distribution function"),
    "sf": (1, 0, "Survival function `1 - cdf`"),
    "logsf": (0, -np.inf, "Logarithm of the survival function"),
    "ppf": (np.nan, np.nan, "Inverse of the cumulative distribution function"),
    "isf": (np.nan, np.nan, "Inverse of the survival function"),
}
ROUNDED = {"pmf": False, "logpmf": False, "cdf": True}  # whether other values than integers count


class Support(NamedTuple):
    """From `low` to `high`, with `safe` between: numbers, or functions of the shape parameters."""

    low: Any
    high: Any
    safe: Any

    def at(self, shapes: list) -> list:
        """The three numbers."""
        return [bound(*shapes) if callable(bound) else bound for bound in self]


def continuous(low: Any, high: Any, safe: Any) -> Callable[[type], type]:
    """Declare a distribution on the numbers from `low` to `high`; `safe` is one of them.

    Each is a number or a function of the shape parameters.
    """
    return lambda standard: _public(standard, Support(low, high, safe), {"loc": 0, "scale": 1})


def discrete(low: int, high: Any = np.inf) -> Callable[[type], type]:
    """Declare a distribution on the integers from `low` to `high`."""
    return lambda standard: _public(standard, Support(low, high, low), {"loc": 0})


def _public(standard: type, support: Support, located: dict[str, int]) -> type:
    """The class, its functions made public."""
    functions = {name: f for name, f in vars(standard).items() if name in KINDS}
    density = "pdf" if "scale" in located else "pmf"
    logarithm = functions["log" + density]
    functions.setdefault(density, _exponential(logarithm))
    for name, f in functions.items():
        quantile = name in ("ppf", "isf")
        made = _located(standard, name, f, Support(0, 1, 0.5) if quantile else support, located)
        signature = inspect.signature(f)
        places = [
            inspect.Parameter(k, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=v)
            for k, v in located.items()
        ]
        parameters = [*signature.parameters.values(), *places]
        made.__signature__ = signature.replace(parameters=parameters)
        made.__name__, made.__qualname__ = name, f"{standard.__name__}.{name}"
        made.__module__ = standard.__module__
        title = (standard.__doc__ or "").partition(".")[0]
        made.__doc__ = f"{KINDS[name][2]} of the {title[0].lower()}{title[1:]}."
        setattr(standard, name, composite(arrays=tuple(p.name for p in parameters))(made))
    return standard


def _exponential(logarithm: Callable) -> Callable:
    """The function whose logarithm is given."""

    def density(*args: Any) -> Any:
        return np.exp(logarithm(*args))

    density.__signature__ = inspect.signature(logarithm)
    return density


def _located(standard: type, name: str, f: Callable, support: Support, located: dict) -> Any:
    """The public function, made of the one in standard form."""
    valid = vars(standard).get("valid", lambda *shapes: True)
    below, above, _ = KINDS[name]
    quantile, whole = name in ("ppf", "isf"), "scale" not in located and name in ROUNDED

    def public(**given: Any) -> Any:
        scale = given.pop("scale", 1)
        x, *shapes, loc, scale = reals(f"{standard.__name__}.{name}", *given.values(), scale)
        low, high, safe = support.at(shapes)
        if not quantile:
            x = (x - loc) / scale
        inside = (low <= x) & (x <= high) & np.isfinite(x)
        if whole:
            rounded = np.floor(x)
            inside, x = inside & (ROUNDED[name] | (rounded == x)), rounded
        value = f(np.where(inside, x, safe), *shapes)
        if quantile:
            value = loc + scale * value
        elif name == "pdf":
            value = value / scale
        elif name == "logpdf":
            value = value - np.log(scale)
        value = np.where(inside, value, np.where(np.isnan(x), x, np.where(x > low, above, below)))
        return np.where(valid(*shapes) & (scale > 0), value, np.nan)

    return public


def log_of(p: Any, rest: Any) -> Any:
    """`log(p)` of a probability; `rest` is `1 - p`, accurate where that is small."""
    small = p < 0.5
    return np.where(small, np.log(np.where(small, p, 0.5)), np.log1p(-np.where(small, 0.5, rest)))
