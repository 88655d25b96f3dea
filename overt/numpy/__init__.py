"""NumPy, differentiable, batched and compiled.

>>> import overt.numpy as np
>>> print(np.sum(np.arange(4)))
6
"""

from overt.runtime.numpy import *  # noqa: F403
