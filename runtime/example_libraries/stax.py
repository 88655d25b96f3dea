"""Neural networks as pairs of functions.

A layer is a pair: `init_fun(rng, input_shape)` gives the shape of its output and its parameters,
`apply_fun(params, inputs, **kwargs)` its output. An axis of unknown length, such as that of the
batch, is -1 in shapes. Combinators such as `serial` make layers of layers.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import overt.runtime.numpy as np
from overt.runtime import lax, random
from overt.runtime.aval import Aval
from overt.runtime.called import call
from overt.runtime.dtypes import canonicalize
from overt.runtime.initializers import glorot_normal, normal, ones, zeros
from overt.runtime.lax.reductions import padtype_to_pads
from overt.runtime.nn import (
    elu,
    gelu,
    leaky_relu,
    log_softmax,
    relu,
    selu,
    sigmoid,
    softmax,
    softplus,
    standardize,
)
from overt.runtime.primitive import composite
from overt.runtime.staging import trace

__all__ = [
    "AvgPool", "BatchNorm", "Conv", "Conv1DTranspose", "ConvTranspose", "Dense", "Dropout", "Elu",
    "Exp", "FanInConcat", "FanInSum", "FanOut", "Flatten", "Gelu", "GeneralConv",
    "GeneralConvTranspose", "Identity", "LeakyRelu", "LogSoftmax", "MaxPool", "Relu", "Selu",
    "Sigmoid", "Softmax", "Softplus", "SumPool", "Tanh", "elementwise", "elu", "gelu", "leaky_relu",
    "logsoftmax", "parallel", "relu", "selu", "serial", "shape_dependent", "sigmoid", "softmax",
    "softplus",
]  # fmt: skip

Shape = tuple[int, ...]
Layer = tuple[Callable[..., Any], Callable[..., Any]]

logsoftmax = log_softmax

_WEIGHTS, _BIAS, _SMALL_BIAS = glorot_normal(), normal(), normal(1e-6)


def Dense(out_dim: int, W_init: Callable = _WEIGHTS, b_init: Callable = _BIAS) -> Layer:
    """`inputs @ W + b`.

    >>> init, apply = Dense(3)
    >>> shape, params = init(random.key(0), (-1, 2))
    >>> shape, apply(params, np.ones((5, 2))).shape
    ((-1, 3), (5, 3))
    """

    def init_fun(rng: Any, input_shape: Shape) -> Any:
        k1, k2 = random.split(rng)
        W = W_init(k1, (input_shape[-1], out_dim))
        return (*input_shape[:-1], out_dim), (W, b_init(k2, (out_dim,)))

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        W, b = params
        return np.dot(inputs, W) + b

    return init_fun, apply_fun


# convolutions -------------------------------------------------------------------------------------


def _shape_of(fn: Callable, axes: tuple[int, int], shape: Shape, *shapes: Shape) -> Shape:
    """The shape of a result; `axes` are where the batch, whose length may be -1, is and gets to."""
    before, after = axes
    batch = shape[before]
    known = [1 if i == before else size for i, size in enumerate(shape)]
    kind = canonicalize(float)
    avals = [Aval(tuple(s), kind) for s in (known, *shapes)]
    out = list(trace(lambda *xs: [fn(*xs)], avals).out[0].shape)
    out[after] = batch
    return tuple(out)


def _convolution(
    convolve: Callable, dimension_numbers: Any, out_chan: int, filter_shape: Sequence[int],
    W_init: Callable | None, b_init: Callable,
) -> Layer:  # fmt: skip
    lhs_spec, rhs_spec, out_spec = dimension_numbers
    W_init = W_init or glorot_normal(rhs_spec.index("I"), rhs_spec.index("O"))

    def init_fun(rng: Any, input_shape: Shape) -> Any:
        lengths = iter(filter_shape)
        channels = {"O": out_chan, "I": input_shape[lhs_spec.index("C")]}
        kernel = tuple(channels[c] if c in channels else next(lengths) for c in rhs_spec)
        axes = lhs_spec.index("N"), out_spec.index("N")
        output_shape = _shape_of(convolve, axes, input_shape, kernel)
        bias_shape = tuple(out_chan if c == "C" else 1 for c in out_spec)
        k1, k2 = random.split(rng)
        return output_shape, (W_init(k1, kernel), b_init(k2, bias_shape))

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        W, b = params
        return convolve(inputs, W) + b

    return init_fun, apply_fun


def GeneralConv(
    dimension_numbers: Any,
    out_chan: int,
    filter_shape: Sequence[int],
    strides: Sequence[int] | None = None,
    padding: Any = "VALID",
    W_init: Callable | None = None,
    b_init: Callable = _SMALL_BIAS,
) -> Layer:
    """A convolution and a bias; `dimension_numbers` as in `lax.conv_general_dilated`.

    >>> init, _ = GeneralConv(("NCH", "OIH", "NCH"), 5, (3,))
    >>> init(random.key(0), (-1, 2, 8))[0]
    (-1, 5, 6)
    """
    steps = tuple(strides or (1,) * len(filter_shape))

    def convolve(x: Any, W: Any) -> Any:
        return lax.conv_general_dilated(
            x, W, steps, padding, dimension_numbers=dimension_numbers
        )  # fmt: skip

    return _convolution(convolve, dimension_numbers, out_chan, filter_shape, W_init, b_init)


Conv = functools.partial(GeneralConv, ("NHWC", "HWIO", "NHWC"))


def GeneralConvTranspose(
    dimension_numbers: Any,
    out_chan: int,
    filter_shape: Sequence[int],
    strides: Sequence[int] | None = None,
    padding: Any = "VALID",
    W_init: Callable | None = None,
    b_init: Callable = _SMALL_BIAS,
) -> Layer:
    """A transposed convolution, which enlarges by `strides`, and a bias.

    >>> init, _ = GeneralConvTranspose(("NHC", "HIO", "NHC"), 5, (2,), (2,))
    >>> init(random.key(0), (-1, 8, 2))[0]
    (-1, 16, 5)
    """
    steps = tuple(strides or (1,) * len(filter_shape))

    def convolve(x: Any, W: Any) -> Any:
        return lax.conv_transpose(x, W, steps, padding, dimension_numbers=dimension_numbers)

    return _convolution(convolve, dimension_numbers, out_chan, filter_shape, W_init, b_init)


Conv1DTranspose = functools.partial(GeneralConvTranspose, ("NHC", "HIO", "NHC"))
ConvTranspose = functools.partial(GeneralConvTranspose, ("NHWC", "HWIO", "NHWC"))


# pooling and normalization ------------------------------------------------------------------------


def BatchNorm(
    axis: Any = (0, 1, 2),
    epsilon: float = 1e-5,
    center: bool = True,
    scale: bool = True,
    beta_init: Callable = zeros,
    gamma_init: Callable = ones,
) -> Layer:
    """Inputs of mean 0 and variance 1 along `axis`, then scaled by gamma and shifted by beta.

    Source: Ioffe and Szegedy, "Batch normalization", 2015.
    """
    axes = (axis,) if isinstance(axis, int) else tuple(axis)

    def init_fun(rng: Any, input_shape: Shape) -> Any:
        shape = tuple(d for i, d in enumerate(input_shape) if i not in axes)
        k1, k2 = random.split(rng)
        beta = beta_init(k1, shape) if center else ()
        return input_shape, (beta, gamma_init(k2, shape) if scale else ())

    def apply_fun(params: Any, x: Any, **kwargs: Any) -> Any:
        beta, gamma = params
        lengths = [1 if i in axes else d for i, d in enumerate(np.shape(x))]
        z = standardize(x, axes, epsilon=epsilon)
        z = np.reshape(gamma, lengths) * z if scale else z
        return z + np.reshape(beta, lengths) if center else z

    return init_fun, apply_fun


@composite(arrays=("x",))
def _pooled(x: Any, combine: Callable, start: float, dims: Shape, steps: Shape, pads: Any) -> Any:
    return lax.reduce_window(x, start, combine, dims, steps, pads)


def _pooling(combine: Callable, start: float, mean: bool, doc: str) -> Callable[..., Layer]:
    def layer(
        window_shape: Sequence[int],
        strides: Sequence[int] | None = None,
        padding: Any = "VALID",
        spec: str | None = None,
    ) -> Layer:
        dims, steps = list(window_shape), list(strides or (1,) * len(window_shape))
        batch = 0 if spec is None else spec.index("N")
        features = len(dims) + 1 if spec is None else spec.index("C")
        for place in sorted((batch, features)):
            dims.insert(place, 1)
            steps.insert(place, 1)

        def pool(x: Any) -> Any:
            pads = padding
            if isinstance(padding, str):
                pads = padtype_to_pads(np.shape(x), dims, steps, padding)
            out = _pooled(x, combine, start, tuple(dims), tuple(steps), tuple(pads))
            if not mean:
                return out
            alike = [1 if i in (batch, features) else d for i, d in enumerate(np.shape(x))]
            counted = np.ones(alike, out.dtype)  # only what is in the image counts
            return out / _pooled(counted, combine, start, tuple(dims), tuple(steps), tuple(pads))

        def init_fun(rng: Any, input_shape: Shape) -> Any:
            return _shape_of(pool, (batch, batch), input_shape), ()

        def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
            return pool(inputs)

        return init_fun, apply_fun

    layer.__doc__ = doc
    return layer


MaxPool = _pooling(np.maximum, -math.inf, False, "The greatest number of every window.")
SumPool = _pooling(np.add, 0.0, False, "The sum of every window.")
AvgPool = _pooling(np.add, 0.0, True, "The mean of every window, without its padding.")


# elementwise --------------------------------------------------------------------------------------


def elementwise(fun: Callable, **fun_kwargs: Any) -> Layer:
    """A layer that applies a function and has no parameters.

    >>> init, apply = elementwise(np.square)
    >>> print(apply((), np.array([2.0])))
    [4.]
    """

    def init_fun(rng: Any, input_shape: Shape) -> Any:
        return input_shape, ()

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        return call(fun, inputs, **fun_kwargs)

    return init_fun, apply_fun


Tanh = elementwise(np.tanh)
Relu = elementwise(relu)
Exp = elementwise(np.exp)
LogSoftmax = elementwise(log_softmax, axis=-1)
Softmax = elementwise(softmax, axis=-1)
Softplus = elementwise(softplus)
Sigmoid = elementwise(sigmoid)
Elu = elementwise(elu)
LeakyRelu = elementwise(leaky_relu)
Selu = elementwise(selu)
Gelu = elementwise(gelu)
Identity = elementwise(lambda x: x)


def _flatten() -> Layer:
    def init_fun(rng: Any, input_shape: Shape) -> Any:
        return (input_shape[0], math.prod(input_shape[1:])), ()

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        shape = np.shape(inputs)
        return np.reshape(inputs, (shape[0], math.prod(shape[1:])))

    return init_fun, apply_fun


Flatten = _flatten()


def Dropout(rate: float, mode: str = "train") -> Layer:
    """Keeps inputs with probability `rate`, scaled up by 1 / rate, and makes the others 0.

    Applied it needs a key, `rng=`. Any other `mode` than "train" changes nothing.

    Errors: ValueError without a key.
    Source: Srivastava et al., "Dropout", 2014.
    """

    def init_fun(rng: Any, input_shape: Shape) -> Any:
        return input_shape, ()

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        rng = kwargs.get("rng")
        if rng is None:
            raise ValueError(
                "Dropout needs a random key: call apply_fun(params, inputs, rng=key), with a new "
                "key for every call"
            )
        if mode != "train":
            return inputs
        keep = random.bernoulli(rng, rate, np.shape(inputs))
        return np.where(keep, inputs / rate, 0)

    return init_fun, apply_fun


# combinators --------------------------------------------------------------------------------------


def FanOut(num: int) -> Layer:
    """The inputs, `num` times.

    >>> init, apply = FanOut(2)
    >>> apply((), 3.0)
    [3.0, 3.0]
    """

    def init_fun(rng: Any, input_shape: Shape) -> Any:
        return [input_shape] * num, ()

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        return [inputs] * num

    return init_fun, apply_fun


def _fan_in_sum() -> Layer:
    def init_fun(rng: Any, input_shape: Any) -> Any:
        return input_shape[0], ()

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        return functools.reduce(np.add, inputs)

    return init_fun, apply_fun


FanInSum = _fan_in_sum()


def FanInConcat(axis: int = -1) -> Layer:
    """All inputs in one array, one after the other along an axis.

    >>> init, apply = FanInConcat()
    >>> print(apply((), (np.ones(1), np.zeros(2))))
    [1. 0. 0.]
    """

    def init_fun(rng: Any, input_shape: Any) -> Any:
        along = axis % len(input_shape[0])
        size = sum(shape[along] for shape in input_shape)
        first = input_shape[0]
        return (*first[:along], size, *first[along + 1 :]), ()

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        return np.concatenate(inputs, axis)

    return init_fun, apply_fun


def _keys(rng: Any, count: int) -> Any:
    return [None] * count if rng is None else random.split(rng, count)


def serial(*layers: Layer) -> Layer:
    """Layers one after the other.

    >>> init, apply = serial(Dense(4), Relu, Dense(2), LogSoftmax)
    >>> shape, params = init(random.key(0), (-1, 3))
    >>> apply(params, np.ones((5, 3))).shape
    (5, 2)
    """

    def init_fun(rng: Any, input_shape: Any) -> Any:
        params = []
        for init, _ in layers:
            rng, layer_rng = random.split(rng)
            input_shape, param = init(layer_rng, input_shape)
            params.append(param)
        return input_shape, params

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        keys = _keys(kwargs.pop("rng", None), len(layers))
        for (_, apply), param, key in zip(layers, params, keys, strict=True):
            inputs = call(apply, param, inputs, rng=key, **kwargs)
        return inputs

    return init_fun, apply_fun


def parallel(*layers: Layer) -> Layer:
    """Layers beside each other: a list of inputs, one for each, gives a list of outputs.

    >>> init, apply = serial(FanOut(2), parallel(Dense(3), Identity), FanInConcat())
    >>> init(random.key(0), (-1, 2))[0]
    (-1, 5)
    """

    def init_fun(rng: Any, input_shape: Any) -> Any:
        keys = random.split(rng, len(layers))
        made = [
            init(key, shape)
            for (init, _), key, shape in zip(layers, keys, input_shape, strict=True)
        ]  # fmt: skip
        return [shape for shape, _ in made], [param for _, param in made]

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        keys = _keys(kwargs.pop("rng", None), len(layers))
        return [
            call(apply, param, x, rng=key, **kwargs)
            for (_, apply), param, x, key in zip(layers, params, inputs, keys, strict=True)
        ]

    return init_fun, apply_fun


def shape_dependent(make_layer: Callable[[Any], Layer]) -> Layer:
    """A layer that is made when the shape of its inputs is known.

    >>> init, apply = shape_dependent(lambda shape: Dense(2 * shape[-1]))
    >>> init(random.key(0), (-1, 3))[0]
    (-1, 6)
    """

    def init_fun(rng: Any, input_shape: Any) -> Any:
        return make_layer(input_shape)[0](rng, input_shape)

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        return call(make_layer(np.shape(inputs))[1], params, inputs, **kwargs)

    return init_fun, apply_fun
