"""Rotations of space as unit quaternions (x, y, z, w).

Source: Shuster, "A survey of attitude representations", 1993; Bernardes and Viollet, "Quaternion to
Euler angles conversion", 2022.
"""

from __future__ import annotations

import functools
import itertools
import math
from typing import Any

import numpy

import overt.runtime.numpy as np
from overt.runtime.primitive import composite

# Below this angle functions of it come from their series, whose quotients are not 0 / 0.
SMALL = 1e-3


def axis_sum(x: Any) -> Any:
    """The sum over the last axis, which stays."""
    return np.sum(x, -1, keepdims=True)


def length(x: Any) -> Any:
    """The length of vectors along the last axis, which stays; its slope at 0 is 0."""
    square = axis_sum(x * x)
    zero = square == 0
    return np.where(zero, 0, np.sqrt(np.where(zero, 1, square)))


@composite(arrays=("x",))
def normalized(x: Any) -> Any:
    """Quaternions of length 1."""
    return x / length(x)


@composite(arrays=("p", "q"))
def product(p: Any, q: Any) -> Any:
    """The rotation by q, then by p."""
    a, b = p[..., :3], q[..., :3]
    v, w = p[..., 3:], q[..., 3:]
    return np.concatenate([v * b + w * a + np.cross(a, b), v * w - axis_sum(a * b)], -1)


@composite(arrays=("q",))
def inverse(q: Any) -> Any:
    """The rotations back."""
    return q * numpy.array([-1, -1, -1, 1], q.dtype)


@composite(arrays=("q", "vectors"))
def rotated(q: Any, vectors: Any) -> Any:
    """Vectors, rotated."""
    axis, w = q[..., :3], q[..., 3:]
    axis, vectors = np.broadcast_arrays(axis, vectors)
    turned = np.cross(axis, vectors)
    return vectors + 2 * (w * turned + np.cross(axis, turned))


@composite(arrays=("q",))
def magnitude(q: Any) -> Any:
    """The angles."""
    return 2 * np.arctan2(length(q[..., :3])[..., 0], np.abs(q[..., 3]))


@composite(arrays=("q",))
def canonical(q: Any) -> Any:
    """The one of q and -q, which are the same rotation, whose last number is positive."""
    x, y, z, w = (q[..., k : k + 1] for k in range(4))
    flip = (w < 0) | ((w == 0) & ((x < 0) | ((x == 0) & ((y < 0) | ((y == 0) & (z < 0))))))
    return np.where(flip, -q, q)


@composite(arrays=("q",))
def as_matrix(q: Any) -> Any:
    """Matrices."""
    x, y, z, w = (q[..., k] for k in range(4))
    rows = [
        [x * x - y * y - z * z + w * w, 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), -x * x + y * y - z * z + w * w, 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), -x * x - y * y + z * z + w * w],
    ]
    return np.stack([np.stack(row, -1) for row in rows], -2)


@composite(arrays=("m",))
def from_matrix(m: Any) -> Any:
    """From matrices, by the one of four formulas that divides by the largest number."""
    d = [m[..., k, k] for k in range(3)]
    trace = d[0] + d[1] + d[2]
    choice = np.argmax(np.stack([*d, trace], -1), -1)[..., None]
    found = np.stack(
        [m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1],
         1 + trace], -1,
    )  # fmt: skip
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        parts: list[Any] = [None] * 4
        parts[i] = 1 - trace + 2 * d[i]
        parts[j] = m[..., j, i] + m[..., i, j]
        parts[k] = m[..., k, i] + m[..., i, k]
        parts[3] = m[..., k, j] - m[..., j, k]
        found = np.where(choice == i, np.stack(parts, -1), found)
    return normalized(found)


@composite(arrays=("v",))
def from_rotvec(v: Any) -> Any:
    """From axes times angles."""
    angle = length(v)
    small = angle <= SMALL
    safe = np.where(small, 1, angle)
    square = axis_sum(v * v)
    scale = np.where(small, 0.5 - square / 48 + square**2 / 3840, np.sin(safe / 2) / safe)
    cosine = np.where(small, 1 - square / 8 + square**2 / 384, np.cos(safe / 2))
    return np.concatenate([scale * v, cosine], -1)


@composite(arrays=("q",))
def as_rotvec(q: Any) -> Any:
    """Axes times angles, which are at most half a turn."""
    q = np.where(q[..., 3:] < 0, -q, q)
    sine = length(q[..., :3])
    angle = 2 * np.arctan2(sine, q[..., 3:])
    small = angle <= SMALL
    square = 4 * axis_sum(q[..., :3] ** 2)
    scale = np.where(small, 2 + square / 12 + 3 * square**2 / 320, angle / np.where(small, 1, sine))
    return scale * q[..., :3]


@composite(arrays=("p",))
def from_mrp(p: Any) -> Any:
    """From modified Rodrigues parameters: axes times the tangent of a quarter of the angle."""
    square = axis_sum(p * p)
    return np.concatenate([2 * p, 1 - square], -1) / (1 + square)


@composite(arrays=("q",))
def as_mrp(q: Any) -> Any:
    """Modified Rodrigues parameters of at most length 1."""
    sign = np.where(q[..., 3:] < 0, -1, 1)
    return sign * q[..., :3] / (1 + sign * q[..., 3:])


@composite(arrays=("q", "weights"))
def mean(q: Any, weights: Any) -> Any:
    """The rotation nearest to several ones: the greatest eigenvector of the sum of q q^T.

    Source: Markley, Cheng, Crassidis and Oshman, "Averaging quaternions", 2007.
    """
    return np.linalg.eigh(np.einsum("n,ni,nj->ij", weights, q, q))[1][:, -1]


# Euler angles -------------------------------------------------------------------------------------


def axes_of(seq: str) -> tuple[list[int], bool]:
    """The axes of a sequence such as "xyz", and whether they turn with the body (capitals)."""
    intrinsic = seq.isupper()
    axes = ["xyz".find(letter) for letter in seq.lower()]
    good = 1 <= len(axes) <= 3 and -1 not in axes and (intrinsic or seq.islower())
    if not good or any(a == b for a, b in itertools.pairwise(axes)):
        raise ValueError(
            "a sequence of axes is one to three of x, y, z (fixed axes) or X, Y, Z (axes of the "
            f"body), no two alike beside each other; got {seq!r}"
        )
    return axes, intrinsic


@composite(arrays=("angles",))
def from_euler(angles: Any, seq: str) -> Any:
    """From angles (..., n) about the n axes of a sequence."""
    axes, intrinsic = axes_of(seq)
    turns = []
    for k, axis in enumerate(axes):
        half = angles[..., k] / 2
        parts = [np.zeros_like(half)] * 3 + [np.cos(half)]
        parts[axis] = np.sin(half)
        turns.append(np.stack(parts, -1))
    return functools.reduce(product, turns if intrinsic else turns[::-1])


@composite(arrays=("q",))
def as_euler(q: Any, seq: str) -> Any:
    """Angles about the three axes of a sequence; where only two are determined the third is 0."""
    (i, j, k), intrinsic = axes_of(seq)
    if intrinsic:
        i, k = k, i
    symmetric = i == k
    if symmetric:
        k = 3 - i - j
    sign = (i - j) * (j - k) * (k - i) // 2
    x = [q[..., axis] for axis in range(4)]
    if symmetric:
        a, b, c, d = x[3], x[i], x[j], x[k] * sign
    else:
        a, b, c, d = x[3] - x[j], x[i] + x[k] * sign, x[j] + x[3], x[k] * sign - x[i]
    plus, minus = np.arctan2(b, a), np.arctan2(d, c)
    middle = 2 * np.arctan2(np.hypot(c, d), np.hypot(a, b))
    flat, turned = np.abs(middle) <= 1e-7, np.abs(middle - math.pi) <= 1e-7
    first, third = plus - minus, plus + minus
    if intrinsic:
        first, third = third, first
    first = np.where(flat, 2 * plus, np.where(turned, 2 * minus * (1 if intrinsic else -1), first))
    third = np.where(flat | turned, 0, third)
    if not symmetric:
        middle = middle - math.pi / 2
        if intrinsic:
            first = first * sign
        else:
            third = third * sign
    found = np.stack([first, middle, third], -1)
    return found - 2 * math.pi * np.round(found / (2 * math.pi))
