"""NumPy's vocabulary over primitives; `overt.numpy` shows the public part of it."""

from overt.runtime.numpy.zeros import *  # noqa: F403
from overt.runtime.numpy.movement import *  # noqa: F403
from overt.runtime.numpy.array_function import *  # noqa: F403
from overt.runtime.numpy.constants import *  # noqa: F403
from overt.runtime.numpy.scalar_types import *  # noqa: F403
from overt.runtime.numpy.creation import *  # noqa: F403
from overt.runtime.numpy.arithmetic import *  # noqa: F403
from overt.runtime.numpy.elementwise import *  # noqa: F403
from overt.runtime.numpy.trigonometry import *  # noqa: F403
from overt.runtime.numpy.rounding import *  # noqa: F403
from overt.runtime.numpy.logic import *  # noqa: F403
from overt.runtime.numpy.selection import *  # noqa: F403
from overt.runtime.numpy.reductions import *  # noqa: F403
from overt.runtime.numpy.shaping import *  # noqa: F403
from overt.runtime.numpy.joining import *  # noqa: F403
from overt.runtime.numpy.indexing import *  # noqa: F403
from overt.runtime.numpy.selecting import *  # noqa: F403
from overt.runtime.numpy.diagonals import *  # noqa: F403
from overt.runtime.numpy.sorting import *  # noqa: F403
from overt.runtime.numpy.products import *  # noqa: F403
from overt.runtime.numpy.einsum import *  # noqa: F403
from overt.runtime.numpy.cumulative import *  # noqa: F403
from overt.runtime.numpy.sequences import *  # noqa: F403
from overt.runtime.numpy.calculus import *  # noqa: F403
from overt.runtime.numpy.statistics import *  # noqa: F403
