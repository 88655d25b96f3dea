"""Special functions in SciPy's vocabulary.

>>> from overt.scipy.special import erf
>>> print(erf(0.0))
0.0
"""

from overt.runtime.scipy.special import *  # noqa: F403
from overt.runtime.scipy.special import __all__ as __all__
