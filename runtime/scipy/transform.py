"""Rotations of space, and the way between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import overt.runtime.numpy as np
from overt.runtime import dtypes, random
from overt.runtime.plain import plain
from overt.runtime.scipy import quaternions

__all__ = ["Rotation", "Slerp"]


def _floats(x: Any, last: int, name: str) -> Any:
    x = np.asarray(x)
    if x.ndim not in (1, 2) or x.shape[-1] != last:
        raise ValueError(
            f"{name} has shape ({last},), or (n, {last}) for n rotations, not {x.shape}"
        )  # fmt: skip
    return x.astype(dtypes.to_inexact(x.dtype))


class Rotation(NamedTuple):
    """One or several rotations, as unit quaternions (x, y, z, w).

    `p * q` is the rotation by q, then by p. Several rotations are indexed like an array.

    Shapes: `quat` (4,) for one, (n, 4) for n.

    >>> quarter = Rotation.from_euler("z", 90, degrees=True)
    >>> print(np.abs(np.round(quarter.apply(np.array([1.0, 0.0, 0.0])), 3)))
    [0. 1. 0.]
    """

    quat: Any

    @classmethod
    def from_quat(cls, quat: Any) -> Rotation:
        """From quaternions (x, y, z, w) of any length but 0."""
        return cls(quaternions.normalized(_floats(quat, 4, "a quaternion")))

    @classmethod
    def from_matrix(cls, matrix: Any) -> Rotation:
        """From orthogonal matrices (3, 3) or (n, 3, 3)."""
        matrix = np.asarray(matrix)
        if matrix.ndim not in (2, 3) or matrix.shape[-2:] != (3, 3):
            raise ValueError(f"a matrix has shape (3, 3) or (n, 3, 3), not {matrix.shape}")
        return cls(quaternions.from_matrix(matrix.astype(dtypes.to_inexact(matrix.dtype))))

    @classmethod
    def from_rotvec(cls, rotvec: Any, degrees: bool = False) -> Rotation:
        """From axes times angles."""
        rotvec = _floats(rotvec, 3, "a rotation vector")
        return cls(quaternions.from_rotvec(np.deg2rad(rotvec) if degrees else rotvec))

    @classmethod
    def from_mrp(cls, mrp: Any) -> Rotation:
        """From modified Rodrigues parameters: axes times the tangent of a quarter of the angle."""
        return cls(quaternions.from_mrp(_floats(mrp, 3, "an array of parameters")))

    @classmethod
    def from_euler(cls, seq: str, angles: Any, degrees: bool = False) -> Rotation:
        """From angles about a sequence of axes: "xyz" fixed ones, "XYZ" those of the body.

        Shapes: (k,) for k axes, or (n, k); for one axis a number, (n,) or (n, 1).
        Errors: ValueError for other shapes and letters.
        """
        count = len(quaternions.axes_of(seq)[0])
        angles = np.asarray(angles)
        angles = angles.astype(dtypes.to_inexact(angles.dtype))
        if count == 1 and angles.ndim < 2:
            angles = angles[..., None]
        if angles.ndim not in (1, 2) or angles.shape[-1] != count:
            raise ValueError(f"{count} axes {seq!r} do not fit angles of shape {angles.shape}")
        return cls(quaternions.from_euler(np.deg2rad(angles) if degrees else angles, seq))

    @classmethod
    def identity(cls, num: int | None = None, dtype: Any = float) -> Rotation:
        """The rotation that changes nothing, `num` times."""
        quat = np.array([0, 0, 0, 1], dtype)
        return cls(quat if num is None else np.tile(quat, (num, 1)))

    @classmethod
    def random(cls, random_key: Any, num: int | None = None) -> Rotation:
        """Rotations from the uniform distribution.

        Source: Shoemake, "Uniform random rotations", 1992.
        """
        shape = (4,) if num is None else (num, 4)
        return cls(quaternions.normalized(random.normal(random_key, shape)))

    @classmethod
    def concatenate(cls, rotations: Sequence[Rotation]) -> Rotation:
        """All rotations of several objects in one."""
        return cls(np.concatenate([np.atleast_2d(r.quat) for r in rotations]))

    @property
    def single(self) -> bool:
        """Whether this is one rotation, not a sequence of them."""
        return np.ndim(self.quat) == 1

    def __len__(self) -> int:
        if self.single:
            raise TypeError("a single rotation has no length")
        return np.shape(self.quat)[0]

    def __getitem__(self, indexer: Any) -> Rotation:  # type: ignore[override]
        if self.single:
            raise TypeError("a single rotation cannot be indexed")
        return Rotation(self.quat[indexer])

    def __mul__(self, other: Rotation) -> Rotation:  # type: ignore[override]
        return Rotation(quaternions.product(self.quat, other.quat))

    def apply(self, vectors: Any, inverse: bool = False) -> Any:
        """Vectors (3,) or (n, 3), rotated; back with `inverse`."""
        vectors = _floats(vectors, 3, "a vector")
        return quaternions.rotated(
            quaternions.inverse(self.quat) if inverse else self.quat, vectors
        )  # fmt: skip

    def inv(self) -> Rotation:
        """The rotations back."""
        return Rotation(quaternions.inverse(self.quat))

    def magnitude(self) -> Any:
        """The angles, between 0 and half a turn."""
        return quaternions.magnitude(self.quat)

    def mean(self, weights: Any = None) -> Rotation:
        """The rotation nearest to all of them."""
        quat = np.atleast_2d(self.quat)
        if weights is None:
            weights = np.ones(quat.shape[0], quat.dtype)
        weights = np.asarray(weights).astype(quat.dtype)
        if weights.shape != quat.shape[:1]:
            raise ValueError(f"mean of {quat.shape[0]} rotations got weights {weights.shape}")
        return Rotation(quaternions.mean(quat, weights))

    def as_quat(self, canonical: bool = False, scalar_first: bool = False) -> Any:
        """Quaternions (x, y, z, w), or (w, x, y, z) with `scalar_first`.

        With `canonical` the first number of (w, x, y, z) that is not 0 is positive.
        """
        quat = quaternions.canonical(self.quat) if canonical else self.quat
        return np.roll(quat, 1, -1) if scalar_first else quat

    def as_matrix(self) -> Any:
        """Matrices (3, 3) or (n, 3, 3)."""
        return quaternions.as_matrix(self.quat)

    def as_rotvec(self, degrees: bool = False) -> Any:
        """Axes times angles."""
        rotvec = quaternions.as_rotvec(self.quat)
        return np.rad2deg(rotvec) if degrees else rotvec

    def as_mrp(self) -> Any:
        """Modified Rodrigues parameters."""
        return quaternions.as_mrp(self.quat)

    def as_euler(self, seq: str, degrees: bool = False) -> Any:
        """Angles about a sequence of three axes, as of `from_euler`.

        The first and third are between -pi and pi. Where the axes fall together the third is 0.
        """
        if len(seq) != 3:
            raise ValueError(f"as_euler needs three axes, got {seq!r}")
        angles = quaternions.as_euler(self.quat, seq)
        return np.rad2deg(angles) if degrees else angles


@plain
class Slerp(NamedTuple):
    """The way between rotations at given times, at constant speed from each to the next.

    `Slerp.init(times, rotations)` makes one; called with times it gives the rotations then.

    >>> way = Slerp.init([0.0, 2.0], Rotation.from_euler("z", [0, 80], degrees=True))
    >>> print(np.round(way(np.array(0.5)).magnitude() * 180 / np.pi))
    20.0
    """

    times: Any
    timedelta: Any
    rotations: Rotation
    rotvecs: Any

    @classmethod
    def init(cls, times: Any, rotations: Rotation) -> Slerp:
        """From increasing times and as many rotations, two or more. Errors: ValueError."""
        times = np.asarray(times)
        times = times.astype(dtypes.to_inexact(times.dtype))
        if rotations.single or len(rotations) < 2:
            raise ValueError("Slerp needs two rotations or more")
        if times.shape != (len(rotations),):
            raise ValueError(f"Slerp of {len(rotations)} rotations got times {times.shape}")
        steps = rotations[:-1].inv() * rotations[1:]
        return cls(times, np.diff(times), rotations, steps.as_rotvec())

    @plain
    def __call__(self, times: Any) -> Rotation:
        """The rotations at these times."""
        return Rotation(
            between(self.times, self.timedelta, self.rotations.quat, self.rotvecs, times)
        )


@quaternions.composite(arrays=("knots", "gaps", "quat", "rotvecs", "times"))
def between(knots: Any, gaps: Any, quat: Any, rotvecs: Any, times: Any) -> Any:
    """The quaternions of a `Slerp` at some times."""
    times = np.asarray(times).astype(knots.dtype)
    at = np.clip(np.searchsorted(knots, times, side="right") - 1, 0, gaps.shape[0] - 1)
    share = (times - knots[at]) / gaps[at]
    return quaternions.product(quat[at], quaternions.from_rotvec(rotvecs[at] * share[..., None]))
