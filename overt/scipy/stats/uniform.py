"""Uniform distribution from `loc` to `loc + scale`.

>>> print(f"{cdf(0.5, 0.0, 2.0):.4f}")
0.2500
"""

from typing import Any as _Any

from overt.runtime.scipy.stats import bounded as _bounded

_uniform: _Any = _bounded.uniform

cdf = _uniform.cdf
logpdf = _uniform.logpdf
pdf = _uniform.pdf
ppf = _uniform.ppf
