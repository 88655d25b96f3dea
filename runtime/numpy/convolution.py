"""Convolution and correlation of sequences."""

from __future__ import annotations

from typing import Any

from overt.runtime import dtypes
from overt.runtime.numpy.movement import shape_of
from overt.runtime.numpy.zeros import zero_with
from overt.runtime.primitive import composite

__all__ = ["convolve", "correlate"]


def sliding_products(
    x: Any, w: Any, low: int, high: int, precision: Any = None, dtype: Any = None
) -> Any:
    """Sums of products of `w` with the stretches of `x` under it, `x` padded with zeros."""
    from overt.runtime.lax.convolution import convolve as convolve_general

    if dtypes.is_complex(x.dtype) or dtypes.is_complex(w.dtype):  # XLA:CPU convolves real numbers
        parts = [
            sliding_products(p, q, low, high, precision, dtype and dtypes.real_type(dtype))
            for p in (np.real(x), np.imag(x))
            for q in (np.real(w), np.imag(w))
        ]
        return parts[0] - parts[3] + 1j * (parts[1] + parts[2])
    result = convolve_general(
        x[None, None, :], w[None, None, :], strides=(1,), padding=((low, high),), x_dilation=(1,),
        w_dilation=(1,), groups=1, precision=precision,
        out_dtype=None if dtype is None else dtypes.canonicalize(dtype),
    )  # fmt: skip
    return result[0, 0]


def pads_of(mode: str, n: int, m: int) -> tuple[int, int]:
    """How far a kernel of length m <= n hangs out at both ends."""
    if mode == "valid":
        return 0, 0
    if mode == "same":
        return m // 2, m - 1 - m // 2
    if mode == "full":
        return m - 1, m - 1
    raise ValueError(f"mode must be 'full', 'same' or 'valid', not {mode!r}")


@composite(
    arrays=("a", "v"),
    vjp=(
        lambda g, out, a, v, *, mode, **_: convolve_bar(g, a, v, mode),
        lambda g, out, a, v, *, mode, **_: convolve_bar(g, v, a, mode),
    ),
    jvp=lambda dots, out, a, v, *, mode, **_: (
        np.convolve(dots[0], v, mode) + np.convolve(a, dots[1], mode)
    ),
)
def convolve(
    a: Any, v: Any, mode: str = "full", *, precision: Any = None, preferred_element_type: Any = None
) -> Any:
    """Convolution of two vectors: the coefficients of a product of polynomials.

    Modes: "full", "same" (as long as the longer one), "valid" (no padding).

    >>> convolve(np.array([1, 2]), np.array([1, 1, 1]))
    Array([1, 3, 3, 2], dtype=int32)
    """
    a, v = as_vectors(a, v, "convolve")
    if a.shape[0] < v.shape[0]:
        a, v = v, a
    low, high = pads_of(mode, a.shape[0], v.shape[0])
    return sliding_products(a, v[::-1], low, high, precision, preferred_element_type)


def as_vectors(a: Any, v: Any, name: str) -> tuple[Any, Any]:
    """Two vectors of one dtype. Errors: ValueError for other ranks and for empty ones."""
    a, v = np.asarray(a), np.asarray(v)
    if a.ndim != 1 or v.ndim != 1:
        raise ValueError(f"{name} needs vectors, got shapes {a.shape} and {v.shape}")
    if 0 in (a.shape[0], v.shape[0]):
        raise ValueError(f"{name}: a and v cannot be empty")
    dtype = np.result_type(a, v)
    return a.astype(dtype), v.astype(dtype)


def window_start(mode: str, n: int, m: int) -> int:
    """Where the result of a mode begins in the full convolution of lengths n and m."""
    n, m = max(n, m), min(n, m)
    return m - 1 - pads_of(mode, n, m)[0]


@zero_with
def convolve_bar(g: Any, a: Any, v: Any, mode: str = "full") -> Any:
    """Cotangent of a in `np.convolve(a, v, mode)`: the cotangent correlated with v."""
    n, m = shape_of(a)[0], shape_of(v)[0]
    start = window_start(mode, n, m)
    whole = np.pad(g, (start, n + m - 1 - start - g.shape[0]))
    return sliding_products(whole, np.asarray(v).astype(g.dtype), 0, 0)


def correlate(
    a: Any,
    v: Any,
    mode: str = "valid",
    *,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """Sums of products of a with shifted, conjugated v.

    >>> correlate(np.array([1, 2, 3]), np.array([0, 1]))
    Array([2, 3], dtype=int32)
    """
    a, v = as_vectors(a, v, "correlate")
    how = {"precision": precision, "preferred_element_type": preferred_element_type}
    if a.shape[0] < v.shape[0]:
        return np.convolve(np.conj(v), a[::-1], mode, **how)[::-1]
    return np.convolve(a, np.conj(v)[::-1], mode, **how)


from overt.runtime import numpy as np  # noqa: E402
