"""Annotations: what can stand for an array, and what for a dtype.

>>> from overt.typing import ArrayLike
>>> isinstance(1.0, ArrayLike), isinstance([1.0], ArrayLike)
(True, False)
"""

from overt.runtime.annotations import ArrayLike, DTypeLike

__all__ = ["ArrayLike", "DTypeLike"]
