"""Arrays that are mostly zero, as the numbers that are not and where they are."""

from typing import TYPE_CHECKING

from overt.runtime.later import found_later, places_of

if TYPE_CHECKING:
    from overt.runtime.sparse.coordinates import *
    from overt.runtime.sparse.making import *
    from overt.runtime.sparse.products import *
    from overt.runtime.sparse.rows import *

_PLACES = places_of(
    __name__,
    {
        "coordinates": "BCOO",
        "making": "bcoo_fromdense bcoo_todense empty eye sparsify todense",
        "products": "bcoo_dot_general",
        "rows": "BCSR",
    },
)
__all__ = list(_PLACES)
__getattr__, __dir__ = found_later(globals(), _PLACES)
