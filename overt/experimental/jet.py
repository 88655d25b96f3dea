"""Derivatives of higher order along a path."""

from overt.runtime.jet import jet

__all__ = ["jet"]
