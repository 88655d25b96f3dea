"""Random numbers from explicit keys, bit for bit those of JAX.

Every function takes a key and returns the same numbers for the same key; `split` makes new ones.
"""

from overt.runtime.random.continuous import (
    cauchy,
    exponential,
    gumbel,
    laplace,
    logistic,
    lognormal,
    maxwell,
    multivariate_normal,
    normal,
    orthogonal,
    pareto,
    rayleigh,
    triangular,
    truncated_normal,
    weibull_min,
)
from overt.runtime.random.discrete import (
    bernoulli,
    categorical,
    choice,
    geometric,
    permutation,
    rademacher,
)
from overt.runtime.random.keys import (
    Key,
    PRNGKey,
    clone,
    fold_in,
    key,
    key_data,
    key_impl,
    split,
    wrap_key_data,
)
from overt.runtime.random.sampling import bits, randint, uniform

__all__ = [
    "Key",
    "PRNGKey",
    "bernoulli",
    "bits",
    "categorical",
    "cauchy",
    "choice",
    "clone",
    "exponential",
    "fold_in",
    "geometric",
    "gumbel",
    "key",
    "key_data",
    "key_impl",
    "laplace",
    "logistic",
    "lognormal",
    "maxwell",
    "multivariate_normal",
    "normal",
    "orthogonal",
    "pareto",
    "permutation",
    "rademacher",
    "randint",
    "rayleigh",
    "split",
    "triangular",
    "truncated_normal",
    "uniform",
    "weibull_min",
    "wrap_key_data",
]
