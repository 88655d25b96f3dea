"""Special functions in SciPy's vocabulary.

>>> from overt.scipy.special import erf
>>> print(erf(0.0))
0.0
"""

from typing import TYPE_CHECKING

from overt.runtime.later import shown_later as _shown_later

if TYPE_CHECKING:
    from overt.runtime.scipy.special import *
    from overt.runtime.scipy.special import __all__ as __all__

__getattr__, __dir__ = _shown_later(globals(), "overt.runtime.scipy.special")
