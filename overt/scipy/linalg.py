"""Linear algebra in SciPy's vocabulary.

>>> from overt.scipy.linalg import toeplitz
>>> print(toeplitz([1, 2]))
[[1 2]
 [2 1]]
"""

from typing import TYPE_CHECKING

from overt.runtime.later import found_later as _found_later
from overt.runtime.scipy import linalg as _linalg
from overt.runtime.scipy.linalg import __all__ as __all__

if TYPE_CHECKING:
    from overt.runtime.scipy.linalg import *  # noqa: F403

__getattr__, __dir__ = _found_later(globals(), dict.fromkeys(__all__, _linalg.__name__))
