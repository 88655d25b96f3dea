"""Bits packed into bytes, and back."""

from __future__ import annotations

from typing import Any

import overt.runtime.numpy as np
from overt.runtime.numpy.array_function import array_function
from overt.runtime.numpy.movement import normal_axis

__all__ = ["packbits", "unpackbits"]


def _weights(bitorder: str) -> Any:
    if bitorder not in ("big", "little"):
        raise ValueError(f"bitorder must be 'big' or 'little', got {bitorder!r}")
    shifts = range(7, -1, -1) if bitorder == "big" else range(8)
    return np.array([1 << n for n in shifts], "uint8")


@array_function(zero_derivative=True)
def packbits(a: Any, axis: int | None = None, bitorder: str = "big") -> Any:
    """Truth values packed into bytes, eight each; the last is filled up with zeros.

    >>> print(np.packbits(np.array([1, 0, 1])))
    [160]
    """
    a = np.asarray(a)
    if a.dtype.kind not in "biu":
        raise TypeError(f"packbits needs truth values or integers, got {a.dtype.name}")
    a = np.astype(a, bool)
    if axis is None:
        a, axis = np.ravel(a), 0
    axis = normal_axis(axis, a.ndim)
    rows = np.moveaxis(a, axis, -1)
    filled = -rows.shape[-1] % 8
    if filled:
        rows = np.concatenate([rows, np.zeros((*rows.shape[:-1], filled), bool)], axis=-1)
    groups = np.reshape(rows, (*rows.shape[:-1], rows.shape[-1] // 8, 8))
    packed = np.sum(np.where(groups, _weights(bitorder), 0), -1, dtype="uint8")
    return np.moveaxis(packed, -1, axis)


@array_function(zero_derivative=True)
def unpackbits(
    a: Any, axis: int | None = None, count: int | None = None, bitorder: str = "big"
) -> Any:
    """The bits of bytes, as zeros and ones.

    >>> print(np.unpackbits(np.array([160], dtype="uint8"), count=4))
    [1 0 1 0]
    """
    a = np.asarray(a)
    if a.dtype != "uint8":
        raise TypeError(f"unpackbits needs uint8, got {a.dtype.name}")
    if axis is None:
        a, axis = np.ravel(a), 0
    axis = normal_axis(axis, a.ndim)
    rows = np.moveaxis(a, axis, -1)
    bits = np.astype((rows[..., None] & _weights(bitorder)) != 0, "uint8")
    bits = np.reshape(bits, (*rows.shape[:-1], rows.shape[-1] * 8))
    if count is not None:
        n = bits.shape[-1]
        if count > n:
            bits = np.concatenate([bits, np.zeros((*bits.shape[:-1], count - n), "uint8")], axis=-1)
        bits = bits[..., :count]
    return np.moveaxis(bits, -1, axis)
