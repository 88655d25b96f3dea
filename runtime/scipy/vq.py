"""Nearest entries of a code book."""

from __future__ import annotations

from typing import Any

import overt.runtime.numpy as np
from overt.runtime import dtypes
from overt.runtime.numpy.array_function import array_function

__all__ = ["vq"]


@array_function(arrays=("obs", "code_book"))
def vq(obs: Any, code_book: Any, check_finite: bool = True) -> tuple[Any, Any]:
    """For each observation the index of the nearest code, and the distance to it.

    `check_finite` has no effect.

    Shapes: `obs` (m, n), `code_book` (k, n), or (m,) and (k,); results (m,).
    Errors: ValueError for other shapes.

    >>> code, distance = vq(np.array([1.0, 5.0]), np.array([0.0, 4.0]))
    >>> print(code, distance)
    [0 1] [1. 1.]
    """
    dtype = dtypes.to_inexact(np.result_type(obs, code_book))
    obs, code_book = np.asarray(obs).astype(dtype), np.asarray(code_book).astype(dtype)
    if obs.ndim != code_book.ndim or obs.ndim not in (1, 2):
        raise ValueError(
            "vq: obs and code_book must both be vectors or matrices, their shapes are "
            f"{obs.shape} and {code_book.shape}"
        )
    if obs.ndim == 1:
        obs, code_book = obs[:, None], code_book[:, None]
    if obs.shape[1] != code_book.shape[1]:
        raise ValueError(f"vq: rows of {obs.shape[1]} and {code_book.shape[1]} numbers do not fit")
    distances = np.linalg.norm(obs[:, None, :] - code_book[None, :, :], axis=-1)
    return np.argmin(distances, -1), np.min(distances, -1)
