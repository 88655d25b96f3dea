"""Annotations: what can stand for an array, and what for a dtype."""

from __future__ import annotations

from typing import Any, Protocol

import numpy

from overt.runtime.array import Array


class HasDtype(Protocol):
    """Something with a dtype."""

    @property
    def dtype(self) -> numpy.dtype: ...


ArrayLike = Array | numpy.ndarray | numpy.bool_ | numpy.number | bool | int | float | complex
DTypeLike = str | type[Any] | numpy.dtype | HasDtype
