"""Fourier transforms over the last axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import overt.runtime.numpy as np
from overt.runtime import dtypes
from overt.runtime.lax.kinds import FftType
from overt.runtime.numpy.fft import fourier


def fft(x: Any, fft_type: FftType | str, fft_lengths: Sequence[int]) -> Any:
    """A Fourier transform over the last one to three axes, which have the given lengths.

    `fft_type` is an FftType or its name; for "IRFFT" the lengths are those of the result.

    >>> fft(np.ones(4, "complex64"), "FFT", (4,)).real.tolist()
    [4.0, 0.0, 0.0, 0.0]
    """
    kind = FftType[fft_type.upper()] if isinstance(fft_type, str) else FftType(fft_type)
    x, lengths = np.asarray(x), tuple(map(int, fft_lengths))
    if kind is FftType.RFFT:
        if dtypes.is_complex(x.dtype) or not dtypes.is_inexact(x.dtype):
            raise ValueError(f"RFFT takes floating numbers, got {x.dtype}")
    elif not dtypes.is_complex(x.dtype):
        x = x.astype(dtypes.complex_of(x.dtype))
    rank = len(lengths)
    if not 1 <= rank <= 3 or rank > x.ndim:
        raise ValueError(f"fft goes over one to three axes, got {rank} of {x.ndim}")
    last = lengths[-1] // 2 + 1 if kind is FftType.IRFFT else lengths[-1]
    if x.shape[x.ndim - rank :] != (*lengths[:-1], last):
        raise ValueError(f"fft of lengths {lengths} does not fit shape {x.shape}")
    return fourier(x, kind=kind.name, lengths=lengths)
