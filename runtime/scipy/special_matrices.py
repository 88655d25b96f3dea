"""Matrices with a structure, made from a few numbers or from their size alone."""

from __future__ import annotations

import math
from typing import Any

import numpy

from overt.runtime import dtypes
from overt.runtime import numpy as np
from overt.runtime.numpy.solving import as_inexact

__all__ = [
    "block_diag", "circulant", "companion", "convolution_matrix", "dft", "fiedler",
    "fiedler_companion", "hadamard", "hankel", "helmert", "hilbert", "invhilbert", "invpascal",
    "leslie", "pascal", "toeplitz",
]  # fmt: skip


# made from arrays ---------------------------------------------------------------------------------


def places(rows: int, columns: int) -> tuple[Any, Any]:
    """The row and the column of every element, to be broadcast together."""
    return numpy.arange(rows)[:, None], numpy.arange(columns)[None, :]


def vectors(x: Any, name: str, least: int = 0) -> Any:
    """Vectors in the last axis. Errors: ValueError where they are too short."""
    x = np.atleast_1d(np.asarray(x))
    if x.shape[-1] < least:
        raise ValueError(f"{name} needs vectors of at least {least} elements, got shape {x.shape}")
    return x


def joined(first: Any, second: Any) -> Any:
    """Vectors of two arrays end to end, batches broadcast together."""
    lead = np.broadcast_shapes(first.shape[:-1], second.shape[:-1])
    parts = [np.broadcast_to(x, (*lead, x.shape[-1])) for x in (first, second)]
    return np.concatenate(parts, axis=-1)


def block_diag(*arrs: Any) -> Any:
    """Matrices along the diagonal, zeros elsewhere.

    >>> block_diag(1, [[2, 3]])
    Array([[1, 0, 0],
           [0, 2, 3]], dtype=int32)
    """
    blocks = [np.atleast_2d(np.asarray(x)) for x in arrs] or [np.zeros((1, 0))]
    for block in blocks:
        if block.ndim > 2:
            raise ValueError(f"block_diag needs matrices or less, got shape {block.shape}")
    dtype = np.result_type(*blocks)
    width, row = sum(block.shape[1] for block in blocks), 0
    bands = []
    for block in blocks:
        around = ((0, 0), (row, width - row - block.shape[1]))
        bands.append(np.pad(block.astype(dtype), around))
        row += block.shape[1]
    return np.concatenate(bands, axis=0)


def circulant(c: Any) -> Any:
    """The matrix with first column c whose other columns are turned on by one each.

    >>> circulant([1, 2, 3])
    Array([[1, 3, 2],
           [2, 1, 3],
           [3, 2, 1]], dtype=int32)
    """
    c = vectors(c, "circulant", 1)
    rows, columns = places(c.shape[-1], c.shape[-1])
    return c[..., (rows - columns) % c.shape[-1]]


def toeplitz(c: Any, r: Any = None) -> Any:
    """Constant diagonals: first column c, first row r (by default the conjugate of c).

    The first element of r does not count.

    >>> toeplitz([1, 2], [1, 5, 6])
    Array([[1, 5, 6],
           [2, 1, 5]], dtype=int32)
    """
    c = vectors(c, "toeplitz")
    r = np.conj(c) if r is None else vectors(r, "toeplitz")
    rows, columns = places(c.shape[-1], r.shape[-1])
    return joined(c[..., ::-1], r[..., 1:])[..., c.shape[-1] - 1 - rows + columns]


def hankel(c: Any, r: Any = None) -> Any:
    """Constant antidiagonals: first column c, last row r (by default zeros).

    The first element of r does not count.

    >>> hankel([1, 2], [9, 3, 4])
    Array([[1, 2, 3],
           [2, 3, 4]], dtype=int32)
    """
    c = vectors(c, "hankel")
    r = np.zeros_like(c) if r is None else vectors(r, "hankel")
    rows, columns = places(c.shape[-1], r.shape[-1])
    return joined(c, r[..., 1:])[..., rows + columns]


def companion(a: Any) -> Any:
    """The matrix whose characteristic polynomial has the coefficients a, highest first.

    >>> companion([1.0, -3.0, 2.0])
    Array([[ 3., -2.],
           [ 1.,  0.]], dtype=float32)
    """
    a = vectors(as_inexact(a), "companion", 2)
    first = -a[..., 1:] / a[..., :1]
    n = first.shape[-1]
    below = np.broadcast_to(np.eye(n - 1, n, dtype=first.dtype), (*first.shape[:-1], n - 1, n))
    return np.concatenate([first[..., None, :], below], axis=-2)


def fiedler_companion(a: Any) -> Any:
    """A companion matrix of five diagonals: the characteristic polynomial has the coefficients a.

    Source: M. Fiedler, "A note on companion matrices" (2003).

    >>> fiedler_companion([1.0, -3.0, 2.0])
    Array([[ 3., -2.],
           [ 1.,  0.]], dtype=float32)
    """
    a = vectors(as_inexact(a), "fiedler_companion", 1)
    n = a.shape[-1] - 1
    if n == 0:
        return np.zeros((*a.shape[:-1], 0), a.dtype)
    scaled = a / a[..., :1]
    ones, which = numpy.zeros((n, n)), numpy.zeros((n, n), int)
    which[0, 0] = 1
    for k in range(1, n):  # coefficient k + 1, alternately right of the diagonal and left of it
        row, column = (k - 1, k) if k % 2 else (k, k - 1)
        which[row, column] = k + 1
        beyond = (k, k - 1) if k == 1 else (k, k - 2) if k % 2 else (k - 2, k)
        ones[beyond] = 1.0
    return np.where(which > 0, -scaled[..., which], 0.0) + ones.astype(a.dtype)


def convolution_matrix(a: Any, n: int, mode: str = "full") -> Any:
    """The matrix m with m @ v = convolve(a, v, mode) for vectors v of n elements.

    >>> convolution_matrix([1, 2], 2)
    Array([[1, 0],
           [2, 1],
           [0, 2]], dtype=int32)
    """
    if n <= 0:
        raise ValueError(f"convolution_matrix: n must be positive, not {n}")
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"convolution_matrix: unknown mode {mode!r}; known: full, same, valid")
    a = vectors(a, "convolution_matrix", 1)
    length = a.shape[-1]
    rows, columns = places(length + n - 1, n)
    shift = rows - columns
    inside = (shift >= 0) & (shift < length)
    whole = np.where(inside, a[..., numpy.where(inside, shift, 0)], np.zeros((), a.dtype))
    least = min(length, n) - 1
    first = {"full": 0, "same": least // 2, "valid": least}[mode]
    last = {"full": 0, "same": least - first, "valid": least}[mode]
    return whole[..., first : length + n - 1 - last, :]


def fiedler(a: Any) -> Any:
    """The distances between all pairs of elements.

    >>> fiedler([1, 4])
    Array([[0, 3],
           [3, 0]], dtype=int32)
    """
    a = vectors(a, "fiedler")
    return np.abs(a[..., :, None] - a[..., None, :])


def leslie(f: Any, s: Any) -> Any:
    """The model of a population by age: f children of each age in the first row, s who survive.

    >>> leslie([1.0, 2.0], [0.5])
    Array([[1. , 2. ],
           [0.5, 0. ]], dtype=float32)
    """
    f, s = vectors(f, "leslie"), vectors(s, "leslie", 1)
    if f.shape[-1] != s.shape[-1] + 1:
        raise ValueError(
            f"leslie needs one survival rate less than ages, got {f.shape[-1]} and {s.shape[-1]}"
        )
    dtype = np.result_type(f, s)
    n = f.shape[-1]
    lead = np.broadcast_shapes(f.shape[:-1], s.shape[:-1])
    first = np.broadcast_to(f.astype(dtype)[..., None, :], (*lead, 1, n))
    below = np.eye(n - 1, n, dtype=dtype) * s.astype(dtype)[..., :, None]
    return np.concatenate([first, np.broadcast_to(below, (*lead, n - 1, n))], axis=-2)


# made from their size -----------------------------------------------------------------------------


def size_of(n: Any, name: str) -> int:
    """A size. Errors: ValueError if it is negative."""
    n = int(n)
    if n < 0:
        raise ValueError(f"{name}: the size must not be negative, got {n}")
    return n


def floats(numbers: Any, shape: tuple[int, ...]) -> Any:
    """An array of the default float type from exact numbers."""
    exact = numpy.array(numbers, dtype=float).reshape(shape)
    return np.asarray(exact.astype(dtypes.canonicalize(float)))


def dft(n: int, scale: str | None = None, *, dtype: Any = None) -> Any:
    """The matrix of the discrete Fourier transform; `scale` "sqrtn" (unitary) or "n".

    >>> print(np.round(dft(2)))
    [[ 1.+0.j  1.+0.j]
     [ 1.+0.j -1.-0.j]]
    """
    if scale not in (None, "sqrtn", "n"):
        raise ValueError(f"dft: scale must be None, 'sqrtn' or 'n', not {scale!r}")
    n = size_of(n, "dft")
    dtype = dtypes.canonicalize(complex if dtype is None else dtype)
    if not dtypes.is_complex(dtype):
        raise ValueError(f"dft: dtype must be complex, not {dtype}")
    rows, columns = places(n, n)
    waves = numpy.exp(-2j * numpy.pi * (rows * columns % max(n, 1)) / max(n, 1))
    size = {None: 1.0, "sqrtn": math.sqrt(n), "n": float(n)}[scale]
    return np.asarray((waves / size).astype(dtype))


def hadamard(n: int, dtype: Any = int) -> Any:
    """Rows of 1 and -1 at right angles; n is a power of 2.

    >>> hadamard(2)
    Array([[ 1,  1],
           [ 1, -1]], dtype=int32)
    """
    n = int(n)
    if n < 1 or n & (n - 1):
        raise ValueError(f"hadamard: the size must be a power of 2, not {n}")
    signs = [[-1 if (i & j).bit_count() % 2 else 1 for j in range(n)] for i in range(n)]
    return np.asarray(numpy.array(signs).astype(dtypes.canonicalize(dtype)))


def helmert(n: int, full: bool = False) -> Any:
    """Rows at right angles, of length 1 and to ones; with `full` also the row of equal elements.

    >>> print(np.round(helmert(2), 4))
    [[ 0.7071 -0.7071]]
    """
    n = size_of(n, "helmert")
    rows, columns = places(n, n)
    contrasts = numpy.where(columns < rows, 1.0, numpy.where(columns == rows, -rows, 0.0))
    lengths = numpy.sqrt(numpy.maximum(rows * (rows + 1.0), 1.0))
    matrix = numpy.where(rows == 0, 1 / math.sqrt(max(n, 1)), contrasts / lengths)
    return floats(matrix if full else matrix[1:], (n if full else max(n - 1, 0), n))


def hilbert(n: int) -> Any:
    """Elements 1 / (i + j + 1): famous for its condition number.

    >>> print(hilbert(2)[1, 0])
    0.5
    """
    rows, columns = places(size_of(n, "hilbert"), n)
    return floats(1 / (rows + columns + 1.0), (n, n))


def invhilbert(n: int) -> Any:
    """The inverse of `hilbert(n)`: integers, here as floats.

    >>> print(invhilbert(2))
    [[ 4. -6.]
     [-6. 12.]]
    """
    n = size_of(n, "invhilbert")
    numbers = [
        [
            (-1) ** (i + j)
            * (i + j + 1)
            * math.comb(n + i, n - j - 1)
            * math.comb(n + j, n - i - 1)
            * math.comb(i + j, i) ** 2
            for j in range(n)
        ]
        for i in range(n)
    ]
    return floats(numbers, (n, n))


def pascal(n: int, kind: str | None = None) -> Any:
    """Binomial coefficients: "symmetric" (default), or in the "lower" or "upper" triangle.

    >>> print(pascal(3))
    [[1. 1. 1.]
     [1. 2. 3.]
     [1. 3. 6.]]
    """
    return floats(exact_pascal(size_of(n, "pascal"), kind, "pascal"), (n, n))


def exact_pascal(n: int, kind: str | None, name: str, sign: int = 1) -> Any:
    """Pascal's matrix in integers of any size; its inverse with sign -1."""
    if kind not in (None, "symmetric", "lower", "upper"):
        raise ValueError(f"{name}: kind must be 'symmetric', 'lower' or 'upper', not {kind!r}")
    lower = numpy.empty((n, n), object)
    for i in range(n):
        for j in range(n):
            lower[i, j] = sign ** (i + j) * math.comb(i, j)
    if kind == "lower":
        return lower
    if kind == "upper":
        return lower.T
    return lower @ lower.T if sign > 0 else lower.T @ lower


def invpascal(n: int, kind: str | None = None) -> Any:
    """The inverse of `pascal(n, kind)`.

    >>> print(invpascal(2))
    [[ 2. -1.]
     [-1.  1.]]
    """
    return floats(exact_pascal(size_of(n, "invpascal"), kind, "invpascal", -1), (n, n))
