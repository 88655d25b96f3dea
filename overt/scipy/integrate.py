"""Integrals of tabulated values."""

from overt.runtime.numpy.calculus import trapezoid

__all__ = ["trapezoid"]
