"""Rotations of space, and the way between them."""

from overt.runtime.scipy.transform import Rotation, Slerp

__all__ = ["Rotation", "Slerp"]
