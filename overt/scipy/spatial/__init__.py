"""Geometry: `overt.scipy.spatial.transform`."""

from overt.scipy.spatial import transform as transform
