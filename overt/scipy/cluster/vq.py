"""Nearest entries of a code book."""

from overt.runtime.scipy.vq import vq

__all__ = ["vq"]
