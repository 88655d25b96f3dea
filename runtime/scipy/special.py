"""Special functions: this file has those of logistic regression and of information theory."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import overt.runtime.numpy as np
from overt.runtime.later import found_later, places_of
from overt.runtime.numpy.array_function import array_function
from overt.runtime.numpy.zeros import over, times
from overt.runtime.primitive import composite
from overt.runtime.scipy import error_functions
from overt.runtime.scipy.error_functions import *  # noqa: F403
from overt.runtime.scipy.error_functions import floating, floats, horner, special

if TYPE_CHECKING:
    from overt.runtime.scipy.bessel import *  # noqa: F403
    from overt.runtime.scipy.bessel_orders import *  # noqa: F403
    from overt.runtime.scipy.faddeeva import *  # noqa: F403
    from overt.runtime.scipy.gamma_functions import *  # noqa: F403
    from overt.runtime.scipy.hypergeometric import *  # noqa: F403
    from overt.runtime.scipy.incomplete import *  # noqa: F403
    from overt.runtime.scipy.integrals import *  # noqa: F403
    from overt.runtime.scipy.spherical import *  # noqa: F403

_PLACES = places_of(
    "overt.runtime.scipy",
    {
        "bessel": "bessel_jn i0 i0e i1 i1e",
        "bessel_orders": "iv ive j0 j1 jn y0 y1 yn",
        "faddeeva": "dawsn erfcx fresnel log_ndtr wofz",
        "gamma_functions": "bernoulli beta betaln comb digamma factorial gamma gammaln gammasgn "
        "loggamma multigammaln poch polygamma psi rgamma zeta",
        "hypergeometric": "hyp1f1 hyp2f1",
        "incomplete": "betainc gammainc gammaincc",
        "integrals": "exp1 expi expn owens_t sici spence",
        "spherical": "sph_harm_y",
    },
)
__getattr__, __dir__ = found_later(globals(), _PLACES)

__all__ = [
    *_PLACES, *error_functions.__all__,
    "boxcox", "boxcox1p", "entr", "expit", "kl_div", "log_softmax", "logit", "logsumexp",
    "rel_entr", "softmax", "xlog1py", "xlogy",
]  # fmt: skip


# ---- logistic functions ----


@composite(arrays=("x",), vjp=(lambda g, out, x: times(g, out * expit(-x)),))
def expit(x: Any) -> Any:
    """The logistic function `1 / (1 + exp(-x))`.

    >>> print(expit(0.0))
    0.5
    """
    return _logistic(floating(x))


_logistic = special(
    "expit", "logistic",
    (lambda g, out, x: times(g, out * expit(-x)),),  # 1 - out would round to 0 where x is large
    """The logistic function of a float.""",
    complex_too=True,
)  # fmt: skip

logit = special(
    "logit",
    lambda b, x, *, avals, out: b.unary(
        "log", b.binary("divide", x, b.binary("subtract", b.full_like(x, 1), x))
    ),
    (lambda g, out, x: over(g, x * (1 - x)),),
    """Inverse of the logistic function.

    >>> print(logit(0.5))
    0.0
    """,
    complex_too=True,
)  # fmt: skip


@array_function(arrays=("a", "b", "where"))
def logsumexp(
    a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False,
    where: Any = None,
) -> Any:  # fmt: skip
    """`log(sum(b * exp(a)))` without overflow; with `return_sign`, its magnitude and its sign.

    Its slopes add up to one: where the largest numbers are infinite, they share it evenly.

    >>> print(f"{logsumexp(np.array([1000.0, 1000.0])):.3f}")
    1000.693
    """
    a = floating(a)
    if b is not None:
        a, b = np.broadcast_arrays(np.where(np.equal(b, 0), -np.inf, a), b)
    if where is not None:
        a = np.where(where, a, -np.inf)
    top = _held(np.max(np.real(a), axis, keepdims=True, initial=-np.inf))
    if np.iscomplexobj(a):
        top = np.where(np.isfinite(top), top, 0)
    weights = _weight(a, top)
    if b is not None:
        weights = b * weights
    total = np.sum(weights, axis, keepdims=keepdims)
    top = top if keepdims else np.reshape(top, total.shape)
    nothing = top == -np.inf  # all exponentials are zero
    if return_sign:
        return np.log(np.abs(total)) + top, np.where(nothing, 0, np.sign(total))
    if b is not None and not np.iscomplexobj(total):
        return np.where((total < 0) & ~nothing, np.nan, np.log(np.abs(total))) + top
    return np.log(total) + top


@composite(arrays=("x",), zero_derivative=True)
def _held(x: Any) -> Any:
    """`x`, taken as constant by derivatives: the result does not depend on it."""
    return np.positive(x)


@composite(
    arrays=("x", "top"),
    vjp=(lambda g, out, x, top: times(g, out), lambda g, out, x, top: -times(g, out)),
    elementwise=True,
)
def _weight(x: Any, top: Any) -> Any:
    """`exp(x - top)`, and 1 for an infinity that is the largest."""
    return np.exp(np.where(x == top, 0, x - top))


@array_function(
    arrays=("x",),
    vjp=(lambda g, out, x, *, axis: out * (g - np.sum(g * out, axis, keepdims=True)),),
    jvp=lambda dots, out, x, *, axis: out * (dots[0] - np.sum(dots[0] * out, axis, keepdims=True)),
)
def softmax(x: Any, axis: Any = None) -> Any:
    """`exp(x)` over its sum along `axis`, over all for None: positive weights that add up to one.

    >>> print(softmax(np.array([0.0, 0.0])))
    [0.5 0.5]
    """
    x = floating(x)
    weights = np.exp(x - np.max(x, axis, keepdims=True, initial=-np.inf))
    return weights / np.sum(weights, axis, keepdims=True)


@array_function(
    arrays=("x",),
    vjp=(lambda g, out, x, *, axis: g - np.exp(out) * np.sum(g, axis, keepdims=True),),
    jvp=lambda dots, out, x, *, axis: dots[0] - np.sum(dots[0] * np.exp(out), axis, keepdims=True),
)
def log_softmax(x: Any, axis: Any = None) -> Any:
    """Logarithm of `softmax`, without overflow.

    >>> print(np.round(log_softmax(np.array([0.0, 0.0])), 4))
    [-0.6931 -0.6931]
    """
    x = floating(x)
    x = x - np.max(x, axis, keepdims=True, initial=-np.inf)
    return x - np.log(np.sum(np.exp(x), axis, keepdims=True))


# ---- entropies ----


@composite(
    arrays=("x", "y"),
    vjp=(
        lambda g, out, x, y: np.where((x == 0) & (y == 0), 0, over(g, y)),
        lambda g, out, x, y: np.where((x == 0) & (y == 0), 0, -over(times(g, out), y)),
    ),
    elementwise=True,
)
def quotient(x: Any, y: Any) -> Any:
    """`x / y`, and constantly zero where both are zero.

    >>> print(quotient(0.0, 0.0), quotient(6.0, 3.0))
    0.0 2.0
    """
    both = (x == 0) & (y == 0)
    return np.where(both, 0, over(x, np.where(both, 1, y)))


@composite(
    arrays=("x", "y"),
    vjp=(
        lambda g, out, x, y: times(g, np.log(y)),
        lambda g, out, x, y: times(g, quotient(x, y)),
    ),
    elementwise=True,
)
def xlogy(x: Any, y: Any) -> Any:
    """`x * log(y)`, and zero where `x` is zero.

    >>> print(xlogy(0.0, 0.0))
    0.0
    """
    x, y = floats(x, y)
    return np.where(np.isnan(y), np.nan, times(x, np.log(y)))


@composite(
    arrays=("x", "y"),
    vjp=(
        lambda g, out, x, y: times(g, np.log1p(y)),
        lambda g, out, x, y: times(g, quotient(x, 1 + y)),
    ),
    elementwise=True,
)
def xlog1py(x: Any, y: Any) -> Any:
    """`x * log(1 + y)`, and zero where `x` is zero.

    >>> print(xlog1py(0.0, -1.0))
    0.0
    """
    x, y = floats(x, y)
    return np.where(np.isnan(y), np.nan, times(x, np.log1p(y)))


@composite(arrays=("x",))
def entr(x: Any) -> Any:
    """`-x * log(x)`: zero at zero, -inf below.

    >>> print(entr(1.0))
    -0.0
    """
    x = floating(x)
    return np.where(x < 0, -np.inf, -xlogy(x, np.where(x < 0, 1, x)))


@composite(
    arrays=("p", "q"),
    vjp=(lambda g, out, p, q: over(g, p), lambda g, out, p, q: -over(g, q)),
    elementwise=True,
)
def log_ratio(p: Any, q: Any) -> Any:
    """`log(p / q)` of positive numbers, whose quotient may overflow or vanish.

    >>> print(log_ratio(1.0, 1.0), np.round(log_ratio(1e30, 1e-30), 1))
    0.0 138.2
    """
    ratio = p / q
    usual = (ratio >= np.finfo(ratio.dtype).tiny) & (ratio < np.inf)
    return np.where(usual, np.log(np.where(usual, ratio, 1)), np.log(p) - np.log(q))


@composite(arrays=("p", "q"))
def rel_entr(p: Any, q: Any) -> Any:
    """`p * log(p / q)`: zero where `p` is zero and `q` is not negative, else inf outside.

    >>> print(rel_entr(1.0, 1.0))
    0.0
    """
    p, q = floating(p), floating(q)
    inside, zero = (p > 0) & (q > 0), (p == 0) & (q >= 0)
    outside = np.where(np.isnan(p) | np.isnan(q), np.nan, np.where(zero, 0, np.inf))
    p, q = np.where(inside, p, 1), np.where(inside, q, 1)
    return np.where(inside, p * log_ratio(p, q), outside)


@composite(arrays=("p", "q"))
def kl_div(p: Any, q: Any) -> Any:
    """`p * log(p / q) - p + q`.

    >>> print(kl_div(1.0, 1.0))
    0.0
    """
    return rel_entr(p, q) - p + q


@composite(arrays=("x", "lmbda"))
def boxcox(x: Any, lmbda: Any) -> Any:
    """Box-Cox transformation `(x**lmbda - 1) / lmbda`, `log(x)` for `lmbda == 0`.

    >>> print(boxcox(3.0, 1.0))
    2.0
    """
    x, lmbda = floats(x, lmbda)
    return _boxcox(np.log(x), lmbda)


@composite(arrays=("x", "lmbda"))
def boxcox1p(x: Any, lmbda: Any) -> Any:
    """Box-Cox transformation of `1 + x`, accurate near zero.

    >>> print(boxcox1p(2.0, 0.5 * 2))
    2.0
    """
    x, lmbda = floats(x, lmbda)
    return _boxcox(np.log1p(x), lmbda)


def _boxcox(logarithm: Any, lmbda: Any) -> Any:
    t = lmbda * logarithm
    small = np.abs(t) < 0.01
    near, far = np.where(small, t, 0), np.where(small, 1, t)
    series = horner(tuple(1 / math.factorial(k + 1) for k in range(7, -1, -1)), near)
    ratio = np.where(small, logarithm * series, np.expm1(far) / np.where(lmbda == 0, 1, lmbda))
    return np.where(lmbda == 0, logarithm * series, ratio)
