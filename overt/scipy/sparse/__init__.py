"""Linear equations in large matrices: `overt.scipy.sparse.linalg`."""

from overt.scipy.sparse import linalg as linalg
