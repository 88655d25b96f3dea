"""Probability distributions, each a module of its functions, and summaries of samples.

>>> from overt.scipy.stats import norm
>>> print(norm.cdf(0.0))
0.5
"""

from typing import TYPE_CHECKING

from overt.runtime.later import found_later as _found_later
from overt.runtime.later import places_of as _places_of

if TYPE_CHECKING:
    from overt.runtime.scipy.stats.density_estimate import gaussian_kde as gaussian_kde
    from overt.runtime.scipy.stats.samples import mode as mode
    from overt.runtime.scipy.stats.samples import rankdata as rankdata
    from overt.runtime.scipy.stats.samples import sem as sem

_DISTRIBUTIONS = (
    "bernoulli beta betabinom binom cauchy chi2 dirichlet expon gamma gennorm geom "
    "gumbel_l gumbel_r laplace logistic multinomial multivariate_normal nbinom norm "
    "pareto poisson t truncnorm uniform vonmises wrapcauchy"
)
_PLACES = {name: f"{__name__}.{name}" for name in _DISTRIBUTIONS.split()} | _places_of(
    "overt.runtime.scipy.stats",
    {"density_estimate": "gaussian_kde", "samples": "mode rankdata sem"},
)
__all__ = sorted(_PLACES)
__getattr__, __dir__ = _found_later(globals(), _PLACES)
