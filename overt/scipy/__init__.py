"""The part of SciPy that Overt offers: `overt.scipy.special`."""

from overt.scipy import special as special
