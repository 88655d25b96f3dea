"""Dtypes and how they promote.

>>> from overt import dtypes
>>> dtypes.result_type("int32", 1.0)
dtype('float32')
"""

from overt.runtime.dtypes import bfloat16, finfo, float0, iinfo
from overt.runtime.errors import PromotionError as TypePromotionError
from overt.runtime.kinds import (
    canonicalize_dtype,
    extended,
    issubdtype,
    itemsize_bits,
    prng_key,
    result_type,
    scalar_type_of,
)

__all__ = [
    "TypePromotionError",
    "bfloat16",
    "canonicalize_dtype",
    "extended",
    "finfo",
    "float0",
    "iinfo",
    "issubdtype",
    "itemsize_bits",
    "prng_key",
    "result_type",
    "scalar_type_of",
]
