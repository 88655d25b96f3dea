"""NumPy's vocabulary over primitives; `overt.numpy` shows the public part of it, `__all__`.

What every program needs is imported at once, the other modules when one of their names is used.
"""

import sys  # noqa: I001  (the modules are imported in the order they need each other)
from typing import TYPE_CHECKING

from overt.runtime.later import found_later, places_of
from overt.runtime.numpy.zeros import *  # noqa: F403
from overt.runtime.numpy.movement import *  # noqa: F403
from overt.runtime.numpy.array_function import *  # noqa: F403
from overt.runtime.numpy.constants import *  # noqa: F403
from overt.runtime.numpy.scalar_types import *  # noqa: F403
from overt.runtime.numpy.creation import *  # noqa: F403
from overt.runtime.numpy.arithmetic import *  # noqa: F403
from overt.runtime.numpy.arithmetic import integer_power, power_slope  # noqa: F401
from overt.runtime.numpy.elementwise import *  # noqa: F403
from overt.runtime.numpy.elementwise import rsqrt  # noqa: F401
from overt.runtime.numpy.logic import *  # noqa: F403
from overt.runtime.numpy.selection import *  # noqa: F403
from overt.runtime.numpy.reducing import *  # noqa: F403
from overt.runtime.numpy.reductions import *  # noqa: F403
from overt.runtime.numpy.shaping import *  # noqa: F403

if TYPE_CHECKING:
    from overt.runtime.numpy.calculus import *  # noqa: F403
    from overt.runtime.numpy.convolution import *  # noqa: F403
    from overt.runtime.numpy.cumulative import *  # noqa: F403
    from overt.runtime.numpy.cumulative import cummax, cummin  # noqa: F401
    from overt.runtime.numpy.diagonals import *  # noqa: F403
    from overt.runtime.numpy.einstein_sums import *  # noqa: F403
    from overt.runtime.numpy.functional import *  # noqa: F403
    from overt.runtime.numpy.histograms import *  # noqa: F403
    from overt.runtime.numpy.indexing import *  # noqa: F403
    from overt.runtime.numpy.joining import *  # noqa: F403
    from overt.runtime.numpy.moments import *  # noqa: F403
    from overt.runtime.numpy.packing import *  # noqa: F403
    from overt.runtime.numpy.polynomial import *  # noqa: F403
    from overt.runtime.numpy.products import *  # noqa: F403
    from overt.runtime.numpy.repeating import *  # noqa: F403
    from overt.runtime.numpy.rounding import *  # noqa: F403
    from overt.runtime.numpy.selecting import *  # noqa: F403
    from overt.runtime.numpy.sequences import *  # noqa: F403
    from overt.runtime.numpy.sets import *  # noqa: F403
    from overt.runtime.numpy.sorting import *  # noqa: F403
    from overt.runtime.numpy.statistics import *  # noqa: F403
    from overt.runtime.numpy.text_and_files import *  # noqa: F403
    from overt.runtime.numpy.trigonometry import *  # noqa: F403
    from overt.runtime.numpy.vector_products import *  # noqa: F403
    from overt.runtime.numpy.windows import *  # noqa: F403

# Modules that are imported when one of their names is first used.
_LATER = {
    "indexing": "getitem set_item",
    "joining": "append array_split block column_stack concat concatenate dsplit dstack "
    "hsplit hstack split stack unstack vsplit vstack",
    "diagonals": "diag diag_indices diag_indices_from diagflat diagonal fill_diagonal "
    "indices ix_ mask_indices ravel_multi_index trace tri tril tril_indices tril_indices_from "
    "triu triu_indices triu_indices_from unravel_index",
    "einstein_sums": "einsum einsum_path",
    "selecting": "argwhere choose compress delete extract flatnonzero insert nonzero "
    "place put put_along_axis take take_along_axis",
    "sorting": "argpartition argsort bincount digitize lexsort partition searchsorted "
    "sort sort_complex top_k",
    "sets": "in1d intersect1d isin setdiff1d setxor1d union1d unique unique_all "
    "unique_counts unique_inverse unique_values",
    "repeating": "pad repeat tile",
    "convolution": "convolve correlate",
    "products": "dot inner matmul outer tensordot vdot",
    "vector_products": "cross kron matvec vecdot vecmat",
    "cumulative": "cumprod cumsum cumulative_prod cumulative_sum nancumprod nancumsum "
    "cummax cummin",
    "sequences": "arange c_ geomspace linspace logspace meshgrid mgrid ogrid r_ s_ trim_zeros",
    "calculus": "diff ediff1d gradient interp trapezoid",
    "statistics": "average corrcoef cov median nanargmax nanargmin nanmax nanmean "
    "nanmedian nanmin nanpercentile nanprod nanquantile nanstd nansum nanvar percentile "
    "quantile",
    "polynomial": "poly polyadd polyder polydiv polyfit polyint polymul polysub polyval "
    "roots vander",
    "histograms": "histogram histogram2d histogram_bin_edges histogramdd",
    "functional": "apply_along_axis apply_over_axes frompyfunc vectorize",
    "windows": "bartlett blackman hamming hanning kaiser",
    "text_and_files": "ComplexWarning array_repr array_str errstate get_printoptions index_exp "
    "iterable load printoptions save savez set_printoptions",
    "packing": "packbits unpackbits",
    "trigonometry": "acos acosh arccos arccosh arcsin arcsinh arctan arctan2 arctanh "
    "asin asinh atan atan2 atanh cos cosh sin sinh tan tanh unwrap",
    "rounding": "abs absolute angle around ceil conj conjugate copysign fabs fix floor "
    "frexp heaviside imag ldexp nan_to_num nextafter real rint round sign signbit spacing "
    "trunc",
    "moments": "mean std var",
}
_PLACES = places_of(__name__, _LATER)
_INTERNAL = {"cummax", "cummin", "getitem", "set_item"}

# What a user of `overt.numpy` sees; the other modules serve rules and other functions.
_PUBLIC = [
    "constants", "scalar_types", "creation", "arithmetic", "elementwise", "logic", "selection",
    "reductions", "shaping",
]  # fmt: skip
__all__: list[str] = [name for name in _PLACES if name not in _INTERNAL]
for _name in _PUBLIC:
    __all__ += sys.modules[f"{__name__}.{_name}"].__all__

_PLACES |= {name: f"{__name__}.{name}" for name in ("linalg", "fft")}
_PLACES["i0"] = "overt.runtime.scipy.bessel"
for _name in ("__array_api_version__", "__array_namespace_info__"):
    _PLACES[_name] = f"{__name__}.namespace"
__getattr__, __dir__ = found_later(globals(), _PLACES)
