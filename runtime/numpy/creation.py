"""Arrays from Python values, constant arrays, and conversion between dtypes.

Run at once, small constants are made by NumPy and moved; while staging they become operations of
the program, so that nothing large is embedded in it.
"""

from __future__ import annotations

import collections
import math
import operator
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy

import overt.runtime.numpy as np
from overt.runtime import dtypes, interop
from overt.runtime.array import Array, DeviceArray
from overt.runtime.aval import Aval, aval_of, length
from overt.runtime.derivatives import is_inexact, sum_to, zeros_like_tree
from overt.runtime.kinds import is_key
from overt.runtime.numpy.movement import with_rule
from overt.runtime.primitive import GRAPH, Primitive

__all__ = [
    "array", "asarray", "ascontiguousarray", "astype", "copy", "empty", "empty_like", "eye",
    "from_dlpack", "frombuffer", "fromfile", "fromfunction", "fromiter", "fromstring", "full",
    "full_like", "identity", "ones", "ones_like", "view", "zeros", "zeros_like",
]  # fmt: skip

LARGE = 1 << 20  # more elements than this are better filled on the device

# ---- the primitives ----


convert = Primitive(
    "convert",
    shape=lambda x, *, dtype: Aval(x.shape, dtype),
    lower=lambda b, x, *, avals, out, dtype: b.convert(x, dtype),
    linear=True,
    vjp=(lambda g, out, x, *, dtype: astype_bar(g, out, x),),
    batch=lambda values, axes, size, *, dtype: (convert(values[0], dtype=dtype), 0),
    doc="The same numbers in another dtype; complex numbers lose their imaginary part.",
)

LISTS = (list, tuple, collections.deque)


def _batch_fill(values: Any, axes: Any, size: int, *, shape: Any, dtype: Any, weak: bool) -> Any:
    rows = np.reshape(convert(values[0], dtype=dtype), (size,) + (1,) * len(shape))
    return np.broadcast_to(rows, (size, *shape)), 0


fill = Primitive(
    "fill",
    shape=lambda value, *, shape, dtype, weak: Aval(shape, dtype, weak),
    lower=lambda b, value, *, avals, out, shape, dtype, weak: b.broadcast_in_dim(
        b.convert(value, dtype), shape, ()
    ),
    linear=True,
    vjp=(lambda g, out, value, *, shape, dtype, weak: np.sum(g),),
    batch=_batch_fill,
    doc="One number everywhere.",
)

iota = Primitive(
    "iota",
    shape=lambda *, shape, dtype, axis: Aval(shape, dtype),
    lower=lambda b, *, avals, out, shape, dtype, axis: b.iota(shape, axis, dtype),
    arrays=(),
    zero_derivative=True,
    doc="Each element's index along an axis.",
)


def on(x: Any, device: Any) -> Any:
    """`x`, on a device if one is named."""
    return x if device is None else interop.device_put(x, device)


# ---- from Python values ----


def leaves_of(tree: Any) -> Iterator[Any]:
    """The elements of nested lists and tuples."""
    if isinstance(tree, (list, tuple)):
        for item in tree:
            yield from leaves_of(item)
    else:
        yield tree


def constant(x: Any, dtype: Any = None, weak: bool = False) -> Array:
    """A NumPy value as one array; Python integers must fit."""
    x = numpy.asarray(x)
    wanted = interop.held_as(x) if dtype is None else dtypes.canonicalize(dtype)
    return interop.placed(x.astype(wanted, copy=False), Aval(x.shape, wanted, weak))


def _from_list(x: Any, dtype: Any) -> Array:
    arrays = [leaf for leaf in leaves_of(x) if isinstance(leaf, Array)]
    if not arrays and any(map(is_key, leaves_of(x))):
        return np.stack([array(item) for item in x])
    if not arrays:
        numbers = numpy.array(x)
        if numbers.dtype == object:
            raise TypeError(f"cannot make an array of {_first_odd(x)}")
        return constant(_checked(numbers, dtype), dtype)
    if dtype is None:
        dtype, _ = dtypes.result_type(*leaves_of(x))
    if GRAPH.get() is None and all(isinstance(leaf, DeviceArray) for leaf in arrays):
        return constant(_checked(numpy.array(_on_host(x)), dtype), dtype)
    return np.stack([array(item, dtype) for item in x])


def _checked(numbers: numpy.ndarray, dtype: Any) -> numpy.ndarray:
    """Refuse Python integers that 32 bits cannot hold, NumPy gave them 64; and complex for real."""
    refuse_complex(numbers, dtype)
    interop.check_range(numbers, dtypes.canonicalize(numbers.dtype if dtype is None else dtype))
    return numbers


def refuse_complex(x: Any, dtype: Any) -> None:
    """Errors: TypeError for Python's complex numbers where a dtype has real ones."""
    if dtype is not None and _drops_a_part(np.result_type(x), dtypes.canonicalize(dtype)):
        raise TypeError(
            f"complex numbers cannot become {dtypes.canonicalize(dtype)}: take their real parts, "
            "or ask for a complex dtype"
        )


def _drops_a_part(found: numpy.dtype, wanted: numpy.dtype) -> bool:
    return dtypes.is_complex(found) and not (dtypes.is_complex(wanted) or dtypes.is_bool(wanted))


def _on_host(x: Any) -> Any:
    if isinstance(x, (list, tuple)):
        return [_on_host(item) for item in x]
    return numpy.asarray(x)


def _first_odd(x: Any) -> str:
    for leaf in leaves_of(x):
        if not isinstance(leaf, (bool, int, float, complex, numpy.ndarray, numpy.generic)):
            return f"a list that holds a {type(leaf).__name__}"
    return "lists of different lengths"


def array_of(x: Any) -> Any:
    """An array of a list or tuple; anything else as it is.

    >>> array_of([1, 2]), array_of(1.5)
    (Array([1, 2], dtype=int32), 1.5)
    """
    return array(x) if isinstance(x, LISTS) else x


def parts_like(g: Any, object: Any) -> Any:
    """The cotangent of what `array` was given: of a list, a list with each item's part of `g`.

    >>> parts_like(np.array([1.0, 2.0]), [0.5, 3])
    [Array(1., dtype=float32), None]
    """
    if isinstance(object, LISTS):
        return items_like([parts_like(g[i], item) for i, item in enumerate(object)], object)
    if not is_inexact(object):
        return None
    return sum_to(np.reshape(g, np.shape(object)), object)


def items_like(items: list[Any], container: Any) -> Any:
    """A tuple, or a deque of the same length at most, where the container is one; else a list."""
    if isinstance(container, collections.deque):
        return collections.deque(items, container.maxlen)
    return tuple(items) if isinstance(container, tuple) else items


def array_of_tangents(dot: Any, object: Any, out: Any) -> Any:
    """The tangent of `array`: items that have none contribute zeros."""
    if isinstance(object, LISTS):
        parts = [array_of_tangents(d, item, out[0]) for d, item in zip(dot, object, strict=True)]
        return np.array(parts)
    if dot is None or not dtypes.is_inexact(np.result_type(out)):
        return np.zeros_like(out)
    return np.reshape(np.astype(dot, out.dtype), out.shape)


def array_bar(g: Any, out: Any, object: Any) -> Any:
    """The cotangent of what an array was made of: zero where the array counts in steps."""
    if dtypes.is_inexact(np.result_type(out)):
        return parts_like(g, object)
    return zeros_like_tree(object)


_ARRAY_RULE: dict[str, Any] = {
    "vjp": (lambda g, out, object, **static: array_bar(g, out, object),),
    "jvp": lambda dots, out, object, **static: array_of_tangents(dots[0], object, out),
}


@with_rule(arrays=("object",), **_ARRAY_RULE)
def array(
    object: Any, dtype: Any = None, copy: bool | None = True, order: Any = None, ndmin: int = 0,
    *, device: Any = None,
) -> Any:  # fmt: skip
    """An array of a number, a NumPy array, or nested lists of numbers and arrays.

    A list of numbers is one constant; lists that hold arrays are stacked.

    Errors: OverflowError for integers that the dtype cannot hold; ValueError for ragged lists.

    >>> np.array([[1, 2], [3, 4]])
    Array([[1, 2],
           [3, 4]], dtype=int32)
    """
    wanted = None if dtype is None else dtypes.canonicalize(dtype, explicit=True)
    if isinstance(object, collections.deque):
        object = list(object)
    if hasattr(type(object), "__overt_truth__"):  # a list of some items
        object = object.as_array()
    if isinstance(object, Array):
        result = object.again() if wanted is None else astype(object, wanted)
    elif isinstance(object, range):
        result = constant(_checked(numpy.asarray(object), wanted), wanted)
    elif isinstance(object, (list, tuple)):
        result = _from_list(object, wanted)
    elif isinstance(object, (bool, int, float, complex)) and not isinstance(object, numpy.generic):
        if wanted is None:
            result = interop.device_scalar(object)
        else:
            result = constant(_checked(numpy.asarray(object), wanted), wanted)
    elif is_key(object) and dtype is None:
        result = object
    elif wanted is not None and getattr(object, "dtype", None) in (numpy.int64, numpy.uint64):
        result = constant(object, wanted)  # at once: 32 bits may not hold them
    else:
        result = interop.as_array(object)
        result = result if wanted is None else astype(result, wanted)
    if result.ndim < ndmin:
        result = np.reshape(result, (1,) * (ndmin - result.ndim) + result.shape)
    return on(result, device)


@with_rule(arrays=("object",), **_ARRAY_RULE)
def asarray(
    object: Any, dtype: Any = None, order: Any = None, *, copy: bool | None = None,
    device: Any = None,
) -> Any:  # fmt: skip
    """`object` as an array; an array is returned as it is.

    Arrays never change, so that a copy of one is the array itself.

    Errors: ValueError for `copy=False` where the numbers must be copied.

    >>> np.asarray(2.5).shape
    ()
    """
    if copy is False and _needs_copy(object, dtype):
        kind = type(object).__name__
        raise ValueError(f"asarray: a {kind} cannot become this array without a copy (copy=False)")
    if dtype is None and device is None and isinstance(object, Array):
        return object
    return array(object, dtype, device=device)


def _needs_copy(x: Any, dtype: Any) -> bool:
    if not isinstance(x, Array):
        return True
    return dtype is not None and dtypes.canonicalize(dtype, explicit=True) != x.dtype


ascontiguousarray = asarray


@with_rule(arrays=("a",), linear=True, vjp=(lambda g, out, a, *, order: g,))
def copy(a: Any, order: Any = None) -> Any:
    """A copy. Arrays never change, so this is another object with the same numbers.

    >>> print(np.copy(np.array([1, 2])))
    [1 2]
    """
    return asarray(a).again()


@with_rule(
    arrays=("x",),
    vjp=(lambda g, out, x, **static: astype_bar(g, out, x),),
    jvp=lambda dots, out, x, *, dtype, **static: astype_dot(dots[0], out),
)
def astype(x: Any, dtype: Any, /, *, copy: bool = False, device: Any = None) -> Any:
    """`x` in another dtype; the imaginary part of complex numbers is dropped, with a warning.

    >>> print(np.astype(np.array([1.7, -1.7]), int))
    [ 1 -1]
    """
    wanted = dtypes.canonicalize(dtypes.float_type() if dtype is None else dtype, explicit=True)
    if not isinstance(x, Array):
        if GRAPH.get() is None or isinstance(x, (list, tuple)):
            return array(x, wanted, device=device)
        x = interop.as_array(x) if isinstance(x, numpy.ndarray) else x
    aval = aval_of(x)
    if isinstance(x, Array) and aval.dtype == wanted and not aval.weak:
        return on(x, device)
    if _drops_a_part(aval.dtype, wanted):
        warnings.warn(
            f"an array of {aval.dtype} becomes one of {wanted}: its imaginary part is dropped; "
            "np.real says that it is meant",
            numpy.exceptions.ComplexWarning,
            stacklevel=2,
        )
    return on(convert(x, dtype=wanted), device)


def astype_bar(g: Any, out: Any, x: Any) -> Any:
    """The cotangent of what was converted: zero where the result counts in steps.

    >>> print(astype_bar(2.0, np.array(1), np.array(1.5)))
    0.0
    """
    if not dtypes.is_inexact(np.result_type(out)):
        return np.zeros_like(x)
    return _part_in(np.result_type(x), g)


def astype_dot(x_dot: Any, out: Any) -> Any:
    """The tangent of what was converted: zero where the result counts in steps.

    >>> print(astype_dot(2.0, np.array(1)))
    0
    """
    if not dtypes.is_inexact(np.result_type(out)):
        return np.zeros_like(out)
    return _part_in(np.result_type(out), x_dot)


def _part_in(dtype: numpy.dtype, g: Any) -> Any:
    """A derivative in the dtype of what it belongs to: a real variable moves the real part only."""
    return np.astype(np.real(g) if _drops_a_part(np.result_type(g), dtype) else g, dtype)


def view(a: Any, dtype: Any) -> Any:
    """The same bits read as another dtype of the same width.

    >>> print(np.view(np.float32(1.0), "int32"))
    1065353216
    """
    from overt.runtime import lax

    return lax.bitcast_convert_type(np.asarray(a), dtype)


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Any:
    """Another library's array, without a copy where that is possible.

    >>> print(np.from_dlpack(np.array([1.0, 2.0])))
    [1. 2.]
    """
    return interop.from_dlpack(x, device, copy)


def _read_by_numpy(name: str, summary: str, example: str) -> Callable[..., Any]:
    read = getattr(numpy, name)

    def function(*args: Any, dtype: Any = float, **kwargs: Any) -> Any:
        return constant(read(*args, dtype=numpy.dtype(dtype), **kwargs))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{summary}\n\n{example}"
    return function


frombuffer = _read_by_numpy(
    "frombuffer", "An array of the numbers in a buffer of bytes.",
    ">>> print(np.frombuffer(b'ab', dtype='uint8'))\n[97 98]\n",
)  # fmt: skip
fromfile = _read_by_numpy("fromfile", "An array of the numbers in a file.", "")
fromstring = _read_by_numpy(
    "fromstring", "An array of the numbers in a text.",
    ">>> print(np.fromstring('1 2', dtype=int, sep=' '))\n[1 2]\n",
)  # fmt: skip
fromiter = _read_by_numpy(
    "fromiter", "An array of the numbers an iterable gives.",
    ">>> print(np.fromiter(range(3), dtype=int))\n[0 1 2]\n",
)  # fmt: skip


def fromfunction(function: Callable, shape: Any, *, dtype: Any = float, **kwargs: Any) -> Any:
    """What `function` gives for the indices of every place.

    >>> print(np.fromfunction(lambda i, j: i + 10 * j, (2, 2), dtype=int))
    [[ 0 10]
     [ 1 11]]
    """
    return function(*np.indices(shape, dtype=dtype), **kwargs)


# ---- constant arrays ----


def shape_of_sizes(shape: Any) -> tuple[int, ...]:
    """A shape given as a number, a sequence or an array of integers."""
    if isinstance(shape, (tuple, list)):
        return tuple(map(length, shape))
    if getattr(shape, "ndim", 0):
        return tuple(operator.index(n) for n in shape)
    return (length(shape),)


def _filled(shape: tuple[int, ...], value: Any, dtype: numpy.dtype, weak: bool = False) -> Any:
    if any(n < 0 for n in shape):
        raise ValueError(f"negative dimensions are not allowed, got shape {shape}")
    plain = isinstance(value, (bool, int, float, complex, numpy.generic))
    if plain:
        refuse_complex(value, dtype)
    if plain and GRAPH.get() is None and math.prod(shape) < LARGE:
        return constant(numpy.full(shape, value, dtype), dtype, weak)
    if np.ndim(value):
        return np.broadcast_to(astype(value, dtype), shape)
    return fill(value, shape=shape, dtype=dtype, weak=weak)


def _default(dtype: Any) -> numpy.dtype:
    return dtypes.float_type() if dtype is None else dtypes.canonicalize(dtype, explicit=True)


@with_rule(arrays=())
def zeros(shape: Any, dtype: Any = None, *, device: Any = None) -> Any:
    """Zeros.

    >>> print(np.zeros((2, 3)))
    [[0. 0. 0.]
     [0. 0. 0.]]
    """
    return on(_filled(shape_of_sizes(shape), 0, _default(dtype)), device)


@with_rule(arrays=())
def ones(shape: Any, dtype: Any = None, *, device: Any = None) -> Any:
    """Ones.

    >>> print(np.ones(3, dtype=int))
    [1 1 1]
    """
    return on(_filled(shape_of_sizes(shape), 1, _default(dtype)), device)


@with_rule(arrays=())
def empty(shape: Any, dtype: Any = None, *, device: Any = None) -> Any:
    """Zeros: an array whose elements are about to be set.

    >>> np.empty((2, 3)).shape
    (2, 3)
    """
    return np.zeros(shape, dtype, device=device)


@with_rule(
    arrays=("fill_value",),
    vjp=(lambda g, out, fill_value, **static: sum_to(g, fill_value),),
    jvp=lambda dots, out, fill_value, *, shape, **static: np.full(shape, dots[0]),
)
def full(shape: Any, fill_value: Any, dtype: Any = None, *, device: Any = None) -> Any:
    """One value everywhere, or one that broadcasts to `shape`.

    >>> print(np.full(3, 7))
    [7 7 7]
    """
    weak = dtype is None and aval_of(fill_value).weak
    wanted = np.result_type(fill_value) if dtype is None else _default(dtype)
    return on(_filled(shape_of_sizes(shape), fill_value, wanted, weak), device)


def _like(a: Any, value: Any, dtype: Any, shape: Any, device: Any) -> Any:
    if shape is None and hasattr(a, "alike"):  # elements that only the running program can count
        return a.alike(_like(a.whole, value, dtype, None, device))
    aval = aval_of(np.array(a) if isinstance(a, (list, tuple)) else a)
    size = aval.shape if shape is None else shape_of_sizes(shape)
    if dtype is None:
        return on(_filled(size, value, aval.dtype, aval.weak), device)
    return on(_filled(size, value, dtypes.canonicalize(dtype, explicit=True)), device)


@with_rule(arrays=("a",))
def zeros_like(a: Any, dtype: Any = None, shape: Any = None, *, device: Any = None) -> Any:
    """Zeros of the shape and dtype of `a`.

    >>> print(np.zeros_like(np.array([1, 2])))
    [0 0]
    """
    return _like(a, 0, dtype, shape, device)


@with_rule(arrays=("a",))
def ones_like(a: Any, dtype: Any = None, shape: Any = None, *, device: Any = None) -> Any:
    """Ones of the shape and dtype of `a`.

    >>> print(np.ones_like(np.array([1.0, 2.0])))
    [1. 1.]
    """
    return _like(a, 1, dtype, shape, device)


@with_rule(arrays=("prototype",))
def empty_like(prototype: Any, dtype: Any = None, shape: Any = None, *, device: Any = None) -> Any:
    """Zeros of the shape and dtype of `prototype`: an array whose elements are about to be set.

    >>> np.empty_like(np.array([1.0, 2.0])).shape
    (2,)
    """
    return _like(prototype, 0, dtype, shape, device)


@with_rule(
    arrays=("a", "fill_value"),
    vjp=(None, lambda g, out, a, fill_value, **static: sum_to(g, fill_value)),
    jvp=lambda dots, out, a, fill_value, **static: np.full_like(out, dots[1]),
)
def full_like(
    a: Any, fill_value: Any, dtype: Any = None, shape: Any = None, *, device: Any = None
) -> Any:
    """One value everywhere, in the shape and dtype of `a`.

    >>> print(np.full_like(np.array([1.0, 2.0]), 7))
    [7. 7.]
    """
    return _like(a, fill_value, dtype, shape, device)


@with_rule(arrays=())
def eye(N: int, M: int | None = None, k: int = 0, dtype: Any = None, *, device: Any = None) -> Any:
    """Ones on a diagonal, zeros elsewhere; `k` is how far above the main one it lies.

    >>> print(np.eye(2))
    [[1. 0.]
     [0. 1.]]
    """
    rows = operator.index(N)
    shape = (rows, rows if M is None else operator.index(M))
    wanted = _default(dtype)
    if GRAPH.get() is None and shape[0] * shape[1] < LARGE:
        return on(constant(numpy.eye(*shape, operator.index(k)), wanted), device)
    return on(astype(_row_index(shape) + k == _column_index(shape), wanted), device)


@with_rule(arrays=())
def identity(n: int, dtype: Any = None) -> Any:
    """The identity matrix.

    >>> print(np.identity(2))
    [[1. 0.]
     [0. 1.]]
    """
    return np.eye(n, dtype=dtype)


def _row_index(shape: tuple[int, int]) -> Any:
    return iota(shape=shape, dtype=numpy.dtype("int32"), axis=0)


def _column_index(shape: tuple[int, int]) -> Any:
    return iota(shape=shape, dtype=numpy.dtype("int32"), axis=1)
