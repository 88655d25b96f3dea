"""What generated code calls: arrays, primitives with all their rules, NumPy, random numbers.

Names are found when they are first asked for, so importing one part does not import all.
"""

from __future__ import annotations

import importlib
from typing import Any

_NAMES = {
    "containers": "appended at changed is_mapping is_sequence popped",
    "control": "Saved Undefined cond for_loop guard loop_enumerate loop_range loop_reversed "
    "loop_zip while_loop",
    "derivatives": "add materialize ones_like_tree sum_to zeros_like_tree",
    "lanes": "Lanes",
    "masks": "active_lanes any_lane on_lanes",
    "numpy.indexing": "add_at erase set_item taken",
    "numpy.arithmetic": "power_slope",
    "numpy.creation": "array_of_tangents parts_like",
    "numpy.cumulative": "carried_from_records pulled_through_products pulled_to_records "
    "pushed_through_products running_sum",
    "numpy.elementwise": "sinc_at_zero",
    "numpy.moments": "deviation",
    "numpy.reducing": "count product_of_others reduce_sum ties unreduce",
    "numpy.rounding": "direction",
    "numpy.selection": "at_lower at_upper clip_tangent inside",
    "numpy.zeros": "over times",
    "scipy.bessel": "i1 i1e slope_of_i1e",
    "scipy.gamma_functions": "digamma polygamma zeta",
    "scipy.incomplete": "beta_density gamma_density no_derivative",
    "staged_builtins": "all_ any_ bool_ check float_ formatted int_ max_ min_ print_ sorted_",
    "truth": "and_ if_else not_ or_",
}
_PLACES = {name: module for module, names in _NAMES.items() for name in names.split()}

# What only the layer above can do: rewriting what a name turns out to be when the code runs.
_HOOKS = {"lifted": "transformed", "vjp_of": "calls", "jvp_of": "calls"}


def __getattr__(name: str) -> Any:
    module = _PLACES.get(name)
    if module is not None:
        value = getattr(importlib.import_module(f"overt.runtime.{module}"), name)
        globals()[name] = value
        return value
    if name == "np":
        return importlib.import_module("overt.runtime.numpy")
    if name in _HOOKS:
        return getattr(importlib.import_module(f"overt.transformer.{_HOOKS[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_PLACES, *_HOOKS, "np"])
