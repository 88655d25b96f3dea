"""Functions of neural networks: activations, softmax and what goes with them.

At kinks derivatives take JAX's value: that of the left side for `relu`, so 0 at 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import overt.runtime.numpy as np
from overt.runtime import dtypes
from overt.runtime.later import found_later
from overt.runtime.lax.convert import stop_gradient
from overt.runtime.numpy.zeros import over, times
from overt.runtime.primitive import composite
from overt.runtime.scipy.special import erfc, expit, logsumexp

if TYPE_CHECKING:
    from overt.runtime.attention import dot_product_attention
    from overt.runtime.lax.ragged import scaled_matmul

__all__ = [
    "celu", "dot_product_attention", "elu", "gelu", "glu", "hard_sigmoid", "hard_silu",
    "hard_swish", "hard_tanh", "identity", "leaky_relu", "log1mexp", "log_sigmoid", "log_softmax",
    "logmeanexp", "logsumexp", "mish", "one_hot", "relu", "relu6", "scaled_matmul", "selu",
    "sigmoid", "silu", "soft_sign", "softmax", "softplus", "sparse_plus", "sparse_sigmoid",
    "squareplus", "standardize", "swish", "tanh",
]  # fmt: skip
__getattr__, __dir__ = found_later(
    globals(),
    {
        "dot_product_attention": "overt.runtime.attention",
        "scaled_matmul": "overt.runtime.lax.ragged",
    },
)

SELU_ALPHA = 1.6732632423543772848170429916717
SELU_SCALE = 1.0507009873554804934193349852946

tanh = np.tanh


def _inexact(x: Any) -> Any:
    x = np.asarray(x)
    return x.astype(dtypes.to_inexact(x.dtype))


def identity(x: Any) -> Any:
    """`x` as an array.

    >>> print(identity(np.array([1.0, 2.0])))
    [1. 2.]
    """
    return np.asarray(x)


# rectified ----------------------------------------------------------------------------------------


@composite(arrays=("x",), vjp=(lambda g, out, x: np.where(x > 0, g, 0),))
def relu(x: Any) -> Any:
    """`max(x, 0)`, whose derivative at 0 is 0.

    >>> print(relu(np.array([-1.0, 2.0])))
    [0. 2.]
    """
    return np.maximum(x, 0)


@composite(arrays=("x",), vjp=(lambda g, out, x: np.where((x > 0) & (x < 6), g, 0),))
def relu6(x: Any) -> Any:
    """`x` held between 0 and 6.

    >>> print(relu6(np.array([-1.0, 3.0, 9.0])))
    [0. 3. 6.]
    """
    return np.minimum(np.maximum(x, 0), 6.0)


@composite(
    arrays=("x", "negative_slope"),
    vjp=(
        lambda g, out, x, negative_slope: np.where(x >= 0, g, negative_slope * g),
        lambda g, out, x, negative_slope: np.where(x >= 0, 0, times(g, x)),
    ),
    elementwise=True,
)
def leaky_relu(x: Any, negative_slope: Any = 0.01) -> Any:
    """`x` where it is positive, else `negative_slope * x`.

    >>> print(leaky_relu(np.array([-1.0, 2.0]), 0.5))
    [-0.5  2. ]
    """
    x = _inexact(x)
    return np.where(x >= 0, x, negative_slope * x)


@composite(arrays=("x",), vjp=(lambda g, out, x: np.where(np.abs(x) <= 1, g, 0),))
def hard_tanh(x: Any) -> Any:
    """`x` held between -1 and 1.

    >>> print(hard_tanh(np.array([-4.0, 0.5, 4.0])))
    [-1.   0.5  1. ]
    """
    x = np.asarray(x)
    return np.where(x > 1, 1, np.where(x < -1, -1, x))


@composite(arrays=("x",), vjp=(lambda g, out, x: np.where(np.abs(x) < 3, g / 6, 0),))
def hard_sigmoid(x: Any) -> Any:
    """A sigmoid of three straight pieces: `relu6(x + 3) / 6`.

    >>> print(hard_sigmoid(np.array([-4.0, 0.0, 4.0])))
    [0.  0.5 1. ]
    """
    return relu6(_inexact(x) + 3.0) / 6.0


@composite(arrays=("x",))
def hard_silu(x: Any) -> Any:
    """`x * hard_sigmoid(x)`.

    >>> print(hard_silu(np.array([-4.0, 0.0, 4.0])))
    [-0.  0.  4.]
    """
    x = _inexact(x)
    return x * hard_sigmoid(x)


hard_swish = hard_silu


# exponential --------------------------------------------------------------------------------------


@composite(
    arrays=("x", "alpha"),
    vjp=(
        lambda g, out, x, alpha: np.where(x > 0, g, times(g, out + alpha)),
        lambda g, out, x, alpha: np.where(x > 0, 0, times(g, np.expm1(x))),
    ),
    elementwise=True,
)
def elu(x: Any, alpha: Any = 1.0) -> Any:
    """`x` where it is positive, else `alpha * (exp(x) - 1)`.

    Source: Clevert, Unterthiner, Hochreiter, 2015.

    >>> print(elu(np.array([-1.0, 0.0, 2.0])).round(4))
    [-0.6321  0.      2.    ]
    """
    x = _inexact(x)
    return np.where(x > 0, x, alpha * np.expm1(np.where(x > 0, 0.0, x)))


@composite(arrays=("x", "alpha"))
def celu(x: Any, alpha: Any = 1.0) -> Any:
    """`max(x, 0) + min(alpha * (exp(x / alpha) - 1), 0)`.

    Source: Barron, 2017.

    >>> print(celu(np.array([-1.0, 0.0, 2.0])).round(4))
    [-0.6321  0.      2.    ]
    """
    x = _inexact(x)
    return np.maximum(x, 0.0) + alpha * np.expm1(np.minimum(x, 0.0) / alpha)


@composite(
    arrays=("x",),
    vjp=(
        lambda g, out, x: np.where(x > 0, SELU_SCALE * g, times(g, out + SELU_SCALE * SELU_ALPHA)),
    ),
)
def selu(x: Any) -> Any:
    """`elu` scaled so that activations keep mean 0 and variance 1.

    Source: Klambauer, Unterthiner, Mayr, Hochreiter, 2017.

    >>> print(selu(np.array([-1.0, 0.0, 2.0])).round(4))
    [-1.1113  0.      2.1014]
    """
    return SELU_SCALE * elu(x, SELU_ALPHA)


@composite(arrays=("x",), vjp=(lambda g, out, x: times(g, out * sigmoid(-x)),))
def sigmoid(x: Any) -> Any:
    """`1 / (1 + exp(-x))`.

    >>> print(sigmoid(0.0))
    0.5
    """
    return expit(_inexact(x))


@composite(arrays=("x",), vjp=(lambda g, out, x: times(g, sigmoid(x)),))
def softplus(x: Any) -> Any:
    """`log(1 + exp(x))`, a smooth `relu`.

    >>> print(softplus(np.array([-1.0, 0.0, 2.0])).round(4))
    [0.31329998 0.6931     2.1269    ]
    """
    return np.logaddexp(x, 0.0)


@composite(arrays=("x",), vjp=(lambda g, out, x: times(g, sigmoid(-x)),))
def log_sigmoid(x: Any) -> Any:
    """`log(sigmoid(x))`, also where the sigmoid underflows.

    >>> print(log_sigmoid(np.array([-100.0, 0.0])).round(4))
    [-100.       -0.6931]
    """
    return -softplus(-_inexact(x))


@composite(arrays=("x",), vjp=(lambda g, out, x: times(g, sigmoid(x) + out * sigmoid(-x)),))
def silu(x: Any) -> Any:
    """`x * sigmoid(x)`, also known as swish.

    Source: Elfwing, Uchibe, Doya, 2017.

    >>> print(silu(np.array([-1.0, 0.0, 2.0])).round(4))
    [-0.2689     0.         1.7615999]
    """
    return x * sigmoid(x)


swish = silu


@composite(arrays=("x",), vjp=(lambda g, out, x: over(g, (np.abs(x) + 1) ** 2),))
def soft_sign(x: Any) -> Any:
    """`x / (|x| + 1)`.

    >>> print(soft_sign(np.array([-1.0, 0.0, 3.0])))
    [-0.5   0.    0.75]
    """
    x = _inexact(x)
    return x / (np.abs(x) + 1)


@composite(arrays=("x",))
def gelu(x: Any, approximate: bool = True) -> Any:
    """`x` times the normal distribution function of `x`, by default in its tanh approximation.

    Source: Hendrycks, Gimpel, 2016.

    >>> print(gelu(np.array([-1.0, 0.0, 2.0])).round(4))
    [-0.15879999  0.          1.9546    ]
    """
    x = _inexact(x)
    if approximate:
        near = np.clip(x, -20, 20)  # beyond, tanh is 1, and a cube would overflow in float16
        return x * (0.5 * (1.0 + np.tanh((2 / np.pi) ** 0.5 * (near + 0.044715 * near**3))))
    return 0.5 * x * erfc(-x * 0.5**0.5)


@composite(arrays=("x",))
def mish(x: Any) -> Any:
    """`x * tanh(softplus(x))`.

    Source: Misra, 2019.

    >>> print(mish(np.array([-1.0, 0.0, 2.0])).round(4))
    [-0.30339998  0.          1.944     ]
    """
    x = _inexact(x)
    return x * np.tanh(softplus(x))


@composite(arrays=("x", "b"))
def squareplus(x: Any, b: Any = 4.0) -> Any:
    """`(x + sqrt(x**2 + b)) / 2`, an algebraic `softplus`.

    Source: Barron, 2021.

    >>> print(squareplus(np.array([-1.0, 0.0, 2.0])).round(4))
    [0.618     1.        2.4141998]
    """
    x = _inexact(x)
    return (x + np.sqrt(np.square(x) + b)) / 2


@composite(arrays=("x",), vjp=(lambda g, out, x: times(g, np.clip((x + 1) / 2, 0, 1)),))
def sparse_plus(x: Any) -> Any:
    """0 below -1, `x` above 1, `(x + 1)**2 / 4` between.

    >>> print(sparse_plus(np.array([-2.0, 0.0, 2.0])))
    [0.   0.25 2.  ]
    """
    x = _inexact(x)
    return np.where(x <= -1.0, 0.0, np.where(x >= 1.0, x, (x + 1.0) ** 2 / 4))


@composite(arrays=("x",))
def sparse_sigmoid(x: Any) -> Any:
    """The derivative of `sparse_plus`: 0 below -1, 1 above 1, a straight line between.

    >>> print(sparse_sigmoid(np.array([-2.0, 0.5, 2.0])))
    [0.   0.75 1.  ]
    """
    return np.clip((_inexact(x) + 1.0) / 2, 0, 1)


@composite(arrays=("x",))
def log1mexp(x: Any) -> Any:
    """`log(1 - exp(-x))` for positive `x`.

    Source: Maechler, "Accurately computing log(1 - exp(-|a|))", 2012.

    >>> print(log1mexp(np.array([1.0, 2.0])).round(4))
    [-0.4587 -0.1454]
    """
    x = _inexact(x)
    small = x < 0.6931471805599453
    return np.where(
        small,
        np.log(-np.expm1(-np.where(small, x, 1.0))),
        np.log1p(-np.exp(-np.where(small, 1.0, x))),
    )


@composite(arrays=("x",))
def glu(x: Any, axis: int = -1) -> Any:
    """The first half along an axis times the sigmoid of the second half.

    Errors: ValueError where the axis has odd length.
    Source: Dauphin, Fan, Auli, Grangier, 2016.

    >>> print(glu(np.array([3.0, 0.0])))
    [1.5]
    """
    if np.shape(x)[axis] % 2:
        raise ValueError(f"glu halves axis {axis}, whose length is odd: {np.shape(x)}")
    first, second = np.split(_inexact(x), 2, axis)
    return first * sigmoid(second)


# along an axis ------------------------------------------------------------------------------------


def _peak(x: Any, axis: Any, where: Any) -> Any:
    """The largest element along an axis, without a derivative: it only guards against overflow."""
    peak = np.max(x, axis, keepdims=True, where=where, initial=-np.inf)
    return stop_gradient(np.where(np.isfinite(peak), peak, 0))


@composite(
    arrays=("x", "where"),
    vjp=(
        lambda g, out, x, where, *, axis: times(
            g - np.sum(times(g, out), axis, keepdims=True), out
        ),
        None,
    ),
)
def softmax(x: Any, axis: Any = -1, where: Any = None) -> Any:
    """`exp(x)` along an axis, or several, divided by its sum; elements not in `where` get 0.

    >>> print(softmax(np.array([0.0, 0.0])))
    [0.5 0.5]
    """
    x = _inexact(x)
    scaled = np.exp(x - _peak(x, axis, where))
    result = scaled / np.sum(scaled, axis, keepdims=True, where=where)
    return result if where is None else np.where(where, result, 0)


@composite(
    arrays=("x", "where"),
    vjp=(
        # Right with `where` too: whatever is finite at -inf has slope 0 there, so g is 0.
        lambda g, out, x, where, *, axis: g - times(np.sum(g, axis, keepdims=True), np.exp(out)),
        None,
    ),
)
def log_softmax(x: Any, axis: Any = -1, where: Any = None) -> Any:
    """The logarithm of `softmax`; elements not in `where` get -inf.

    >>> print(np.exp(log_softmax(np.array([1.0, 1.0]))))
    [0.5 0.5]
    """
    x = _inexact(x)
    shifted = x - _peak(x, axis, where)
    total = np.sum(np.exp(shifted), axis, keepdims=True, where=where)
    result = shifted - np.log(total)
    return result if where is None else np.where(where, result, -np.inf)


@composite(arrays=("x", "where"))
def logmeanexp(x: Any, axis: Any = None, where: Any = None, keepdims: bool = False) -> Any:
    """The logarithm of the mean of `exp(x)`.

    >>> print(logmeanexp(np.array([1.0, 1.0])))
    1.0
    """
    x = _inexact(x)
    count = np.sum(np.ones_like(x), axis, keepdims=keepdims, where=where)
    return logsumexp(x, axis, keepdims=keepdims, where=where) - np.log(count)


@composite(arrays=("x", "mean", "variance", "where"))
def standardize(
    x: Any,
    axis: Any = -1,
    mean: Any = None,
    variance: Any = None,
    epsilon: float = 1e-5,
    where: Any = None,
    *,
    algorithm: str = "fast",
) -> Any:
    """`x` shifted and scaled to mean 0 and variance 1 along an axis, or several.

    By the `algorithm` "fast" the variance is the mean square less the square of the mean, which
    cancels where the mean is large; "stable" is the mean squared distance from the mean.

    >>> print(standardize(np.array([1.0, 2.0, 3.0])).round(3))
    [-1.225  0.     1.225]
    """
    x = _inexact(x)
    if mean is None:
        mean = np.mean(x, axis, keepdims=True, where=where)
    if algorithm not in ("fast", "stable"):
        raise ValueError(f"standardize: algorithm is 'fast' or 'stable', not {algorithm!r}")
    if variance is None and algorithm == "stable":
        variance = np.var(x, axis, keepdims=True, where=where)
    elif variance is None:
        known = x if where is None else np.where(where, x, 0)
        square = np.mean(np.square(known), axis, keepdims=True, where=where)
        variance = square - np.square(mean)
    return (x - mean) / np.sqrt(variance + epsilon)


@composite(arrays=("x",), zero_derivative=True)
def one_hot(x: Any, num_classes: int, *, dtype: Any = float, axis: int = -1) -> Any:
    """1 at the place along a new axis that each index names, else 0; all 0 where out of range.

    >>> print(one_hot(np.array([0, 2]), 3))
    [[1. 0. 0.]
     [0. 0. 1.]]
    """
    x = np.asarray(x)
    place = axis % (x.ndim + 1)
    labels = np.reshape(np.arange(num_classes), (-1,) + (1,) * (x.ndim - place))
    return np.equal(np.expand_dims(x, place), labels).astype(dtypes.canonicalize(dtype))
