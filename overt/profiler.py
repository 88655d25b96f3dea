"""Where time and device memory go: traces for TensorBoard and Perfetto, profiles for pprof."""

from overt.runtime.profiler import *
from overt.runtime.profiler import __all__ as __all__
