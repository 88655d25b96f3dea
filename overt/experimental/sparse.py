"""Arrays that are mostly zero, as the numbers that are not and where they are."""

from typing import TYPE_CHECKING

from overt.runtime import sparse as _sparse
from overt.runtime.later import found_later as _found_later
from overt.runtime.sparse import __all__ as __all__

if TYPE_CHECKING:
    from overt.runtime.sparse import *

__getattr__, __dir__ = _found_later(globals(), dict.fromkeys(__all__, _sparse.__name__))
