"""First values of weights: functions of a key, a shape and a dtype."""

from overt.runtime.initializers import *
from overt.runtime.initializers import __all__ as __all__
