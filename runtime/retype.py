"""Changing an array's dtype and whether it is weak."""

from __future__ import annotations

from overt.runtime.aval import Aval
from overt.runtime.primitive import Primitive

__all__ = ["retype"]

retype = Primitive(
    "retype",
    shape=lambda x, *, dtype, weak: Aval(x.shape, dtype, weak),
    lower=lambda b, x, *, avals, out, dtype, weak: b.convert(x, dtype),
    linear=True,
    vjp=(lambda g, out, x, *, dtype, weak: np.astype(g, np.result_type(x)),),
    batch=lambda values, axes, size, *, dtype, weak: (
        retype(values[0], dtype=dtype, weak=weak),
        0,
    ),
    doc="The same numbers in another dtype, weak or not.",
)

import overt.runtime.numpy as np  # noqa: E402
