"""First values of weights, the same numbers as JAX's for the same key."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy

import overt.runtime.numpy as np
from overt.runtime import dtypes, random

__all__ = [
    "Initializer", "constant", "delta_orthogonal", "glorot_normal", "glorot_uniform", "he_normal",
    "he_uniform", "kaiming_normal", "kaiming_uniform", "lecun_normal", "lecun_uniform", "normal",
    "ones", "orthogonal", "truncated_normal", "uniform", "variance_scaling", "xavier_normal",
    "xavier_uniform", "zeros",
]  # fmt: skip

Axes = int | Sequence[int]

# The standard deviations of normal distributions cut off at 2, and of complex ones cut at radius 2.
CUT_DEVIATION = 0.87962566103423978
CUT_COMPLEX_DEVIATION = 0.95311164380491208


class Initializer(Protocol):
    """A function that makes an array from a key."""

    def __call__(self, key: Any, shape: Any, dtype: Any = None, out_sharding: Any = None) -> Any:
        """An array of this shape and dtype."""
        raise NotImplementedError


def _initializer(dtype: Any, make: Callable[[Any, tuple[int, ...], Any], Any]) -> Initializer:
    """An initializer around `make(key, shape, dtype)`, with a dtype of its own for default."""
    usual = dtype

    def init(key: Any, shape: Any, dtype: Any = None, out_sharding: Any = None) -> Any:
        _check_sharding(out_sharding)
        wanted = usual if dtype is None else dtype
        return make(key, tuple(shape), dtypes.canonicalize(float if wanted is None else wanted))

    return init


def _check_sharding(out_sharding: Any) -> None:
    if out_sharding is not None:
        raise NotImplementedError(
            "initializers do not take out_sharding; leave it None and place the result yourself"
        )


def zeros(key: Any, shape: Any, dtype: Any = None, out_sharding: Any = None) -> Any:
    """Zeros; the key is not used.

    >>> print(zeros(None, (2,)))
    [0. 0.]
    """
    _check_sharding(out_sharding)
    return np.zeros(shape, float if dtype is None else dtype)


def ones(key: Any, shape: Any, dtype: Any = None, out_sharding: Any = None) -> Any:
    """Ones; the key is not used.

    >>> print(ones(None, (2,)))
    [1. 1.]
    """
    _check_sharding(out_sharding)
    return np.ones(shape, float if dtype is None else dtype)


def constant(value: Any, dtype: Any = None) -> Initializer:
    """An initializer that gives `value` everywhere.

    >>> print(constant(7.0)(None, (2,)))
    [7. 7.]
    """
    return _initializer(dtype, lambda key, shape, dtype: np.full(shape, value, dtype))


def uniform(scale: Any = 1e-2, dtype: Any = None) -> Initializer:
    """Numbers uniform in [0, scale).

    >>> uniform(10.0)(random.key(0), (2, 3)).shape
    (2, 3)
    """
    return _initializer(
        dtype,
        lambda key, shape, dtype: random.uniform(key, shape, dtype) * np.asarray(scale, dtype),
    )


def normal(stddev: Any = 1e-2, dtype: Any = None) -> Initializer:
    """Numbers from the normal distribution with mean 0 and this standard deviation.

    >>> normal(5.0)(random.key(0), (2, 3)).shape
    (2, 3)
    """
    return _initializer(
        dtype,
        lambda key, shape, dtype: random.normal(key, shape, dtype) * np.asarray(stddev, dtype),
    )


def truncated_normal(
    stddev: Any = 1e-2, dtype: Any = None, lower: Any = -2.0, upper: Any = 2.0
) -> Initializer:
    """`stddev` times normal numbers of deviation 1, given that these are in [lower, upper].

    >>> truncated_normal(5.0)(random.key(0), (2, 3)).shape
    (2, 3)
    """

    def make(key: Any, shape: tuple[int, ...], dtype: Any) -> Any:
        return random.truncated_normal(key, lower, upper, shape, dtype) * np.asarray(stddev, dtype)

    return _initializer(dtype, make)


# variance scaled to the fans ----------------------------------------------------------------------


def _size(shape: tuple[int, ...], axes: Axes) -> int:
    return math.prod(shape[axis] for axis in ((axes,) if isinstance(axes, int) else axes))


def _fans(shape: tuple[int, ...], in_axis: Axes, out_axis: Axes, batch_axis: Axes) -> Any:
    """How many numbers each output depends on, and how many depend on each input."""
    if len(shape) <= 1:
        raise ValueError(
            f"the numbers of inputs and outputs need a shape of two dimensions or more, got {shape}"
        )
    into, out = _size(shape, in_axis), _size(shape, out_axis)
    field = math.prod(shape) / into / out / _size(shape, batch_axis)
    return into * field, out * field


def _polar(key: Any, radius: Callable[[Any], Any], shape: tuple[int, ...], dtype: Any) -> Any:
    """Complex numbers of random direction whose modulus is `radius` of a uniform number."""
    far, around = random.split(key)
    part = dtypes.real_type(dtype)
    length = radius(random.uniform(far, shape, part).astype(dtype))
    angle = 2 * numpy.pi * random.uniform(around, shape, part).astype(dtype)
    return length.astype(dtype) * np.exp(1j * angle)


def _cut_radius(u: Any) -> Any:
    share = 1 - np.exp(np.asarray(-(2.0**2), u.dtype))
    return np.sqrt(-np.log(1 - share * u))


def variance_scaling(
    scale: Any,
    mode: str,
    distribution: str,
    in_axis: Axes = -2,
    out_axis: Axes = -1,
    batch_axis: Axes = (),
    dtype: Any = None,
) -> Initializer:
    """Numbers of variance `scale / n`, where n counts a weight's inputs, outputs or both.

    `mode` says which: "fan_in", "fan_out", their mean "fan_avg", their geometric mean
    "fan_geo_avg". `distribution` is "truncated_normal", "normal" or "uniform".

    Errors: ValueError for another mode or distribution, or a shape of less than two dimensions.

    >>> variance_scaling(1.0, "fan_in", "normal")(random.key(0), (4, 3)).shape
    (4, 3)
    """

    def make(key: Any, shape: tuple[int, ...], dtype: Any) -> Any:
        into, out = _fans(shape, in_axis, out_axis, batch_axis)
        counts = {
            "fan_in": into, "fan_out": out, "fan_avg": (into + out) / 2,
            "fan_geo_avg": (into * out) ** 0.5,
        }  # fmt: skip
        if mode not in counts:
            raise ValueError(f"variance_scaling: mode is one of {', '.join(counts)}, not {mode!r}")
        variance = np.asarray(scale / counts[mode], dtype)
        is_real = not dtypes.is_complex(dtype)
        if distribution == "truncated_normal":
            deviation = CUT_DEVIATION if is_real else CUT_COMPLEX_DEVIATION
            factor = np.sqrt(variance) / np.asarray(deviation, dtype)
            if is_real:
                return random.truncated_normal(key, -2, 2, shape, dtype) * factor
            return _polar(key, _cut_radius, shape, dtype) * factor
        if distribution == "normal":
            return random.normal(key, shape, dtype) * np.sqrt(variance)
        if distribution == "uniform":
            if is_real:
                return random.uniform(key, shape, dtype, -1) * np.sqrt(3 * variance)
            return _polar(key, np.sqrt, shape, dtype) * np.sqrt(2 * variance)
        raise ValueError(
            "variance_scaling: distribution is truncated_normal, normal or uniform, not "
            f"{distribution!r}"
        )

    return _initializer(dtype, make)


def _scaled(name: str, scale: float, mode: str, distribution: str, doc: str) -> Any:
    def scaled(
        in_axis: Axes = -2, out_axis: Axes = -1, batch_axis: Axes = (), dtype: Any = None
    ) -> Initializer:
        return variance_scaling(scale, mode, distribution, in_axis, out_axis, batch_axis, dtype)

    scaled.__name__ = scaled.__qualname__ = name
    scaled.__doc__ = f"{doc}\n\n    >>> {name}()(random.key(0), (2, 3)).shape\n    (2, 3)\n    "
    return scaled


_GLOROT = "Source: Glorot and Bengio, 2010."
_LECUN = "Source: LeCun, Bottou, Orr and Mueller, 1998."
_HE = "Source: He, Zhang, Ren and Sun, 2015."

glorot_uniform = xavier_uniform = _scaled(
    "glorot_uniform", 1.0, "fan_avg", "uniform",
    f"Uniform numbers of variance 1 / mean of inputs and outputs. {_GLOROT}",
)  # fmt: skip
glorot_normal = xavier_normal = _scaled(
    "glorot_normal", 1.0, "fan_avg", "truncated_normal",
    f"Normal numbers, cut off, of variance 1 / mean of inputs and outputs. {_GLOROT}",
)  # fmt: skip
lecun_uniform = _scaled(
    "lecun_uniform", 1.0, "fan_in", "uniform", f"Uniform numbers of variance 1 / inputs. {_LECUN}"
)
lecun_normal = _scaled(
    "lecun_normal", 1.0, "fan_in", "truncated_normal",
    f"Normal numbers, cut off, of variance 1 / inputs. {_LECUN}",
)  # fmt: skip
he_uniform = kaiming_uniform = _scaled(
    "he_uniform", 2.0, "fan_in", "uniform", f"Uniform numbers of variance 2 / inputs. {_HE}"
)
he_normal = kaiming_normal = _scaled(
    "he_normal", 2.0, "fan_in", "truncated_normal",
    f"Normal numbers, cut off, of variance 2 / inputs. {_HE}",
)  # fmt: skip


# orthogonal ---------------------------------------------------------------------------------------


def orthogonal(scale: Any = 1.0, column_axis: int = -1, dtype: Any = None) -> Initializer:
    """`scale` times a uniformly random matrix with orthonormal columns, or rows if those are fewer.

    All axes but `column_axis` together are the rows.

    Errors: ValueError for a shape of less than two dimensions.

    >>> w = orthogonal()(random.key(0), (3, 2))
    >>> print(np.round(np.abs(w.T @ w), 4))
    [[1. 0.]
     [0. 1.]]
    """

    def make(key: Any, shape: tuple[int, ...], dtype: Any) -> Any:
        if len(shape) < 2:
            raise ValueError(f"orthogonal needs a shape of two dimensions or more, got {shape}")
        columns = shape[column_axis]
        rows = math.prod(shape) // columns
        wide = rows < columns
        q, r = np.linalg.qr(random.normal(key, (columns, rows) if wide else (rows, columns), dtype))
        q = q * np.sign(np.diag(r))
        q = q.T if wide else q
        others = list(shape)
        del others[column_axis]
        return scale * np.moveaxis(np.reshape(q, (*others, columns)), -1, column_axis)

    return _initializer(dtype, make)


def delta_orthogonal(scale: Any = 1.0, column_axis: int = -1, dtype: Any = None) -> Initializer:
    """Kernels of convolutions that are orthogonal in the middle and zero elsewhere.

    Shapes: (*space, inputs, outputs) with one to three axes in space.
    Errors: ValueError for another number of axes, or more inputs than outputs.
    Source: Xiao et al., "Dynamical isometry and a mean field theory of CNNs", 2018.

    >>> print(delta_orthogonal()(random.key(0), (3, 1, 1))[:, 0, 0].astype(bool))
    [False  True False]
    """
    matrix = orthogonal(scale, column_axis)

    def make(key: Any, shape: tuple[int, ...], dtype: Any) -> Any:
        if len(shape) not in (3, 4, 5):
            raise ValueError(f"delta_orthogonal needs a shape of 3, 4 or 5 axes, got {shape}")
        if shape[-1] < shape[-2]:
            raise ValueError(f"delta_orthogonal needs shape[-2] <= shape[-1], got {shape}")
        middle = tuple((size - 1) // 2 for size in shape[:-2])
        return np.zeros(shape, dtype).at[middle].set(matrix(key, shape[-2:], dtype))

    return _initializer(dtype, make)
