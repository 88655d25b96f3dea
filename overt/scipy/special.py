"""Special functions in SciPy's vocabulary.

>>> from overt.scipy.special import erf
>>> print(erf(0.0))
0.0
"""

from typing import TYPE_CHECKING

from overt.runtime.later import found_later as _found_later
from overt.runtime.scipy import special as _special
from overt.runtime.scipy.special import __all__ as __all__

if TYPE_CHECKING:
    from overt.runtime.scipy.special import *  # noqa: F403

__getattr__, __dir__ = _found_later(globals(), dict.fromkeys(__all__, _special.__name__))
