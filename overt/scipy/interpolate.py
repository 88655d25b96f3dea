"""Interpolation on grids."""

from overt.runtime.scipy.interpolate import RegularGridInterpolator

__all__ = ["RegularGridInterpolator"]
