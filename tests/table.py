# ruff: noqa: E501  (a table)
"""One case a function of `overt.numpy`: an expression with the same value in NumPy.

`d` cases are differentiated with respect to `A` and batched over it, `v` cases are batched only, the
others are only computed.  A name that stands for another is `= name`; a reason is given where there
is no case.
"""

from __future__ import annotations

import numpy

RNG = numpy.random.default_rng(7)
A = RNG.uniform(0.2, 0.9, (2, 3))  # within the domain of every function
GIVEN = {
    "B": RNG.uniform(1.1, 1.9, (2, 3)),
    "M": RNG.uniform(0.2, 0.9, (3, 3)) + 2 * numpy.eye(3),
    "I": numpy.array([[3, -1, 4], [1, 5, -9]], "int32"),
    "K": numpy.array([[True, False, True], [False, True, True]]),
    "Z": RNG.normal(size=(2, 3)) + 1j * RNG.normal(size=(2, 3)),
    "R": numpy.array([2.0, -1.0, 0.5]),
}

_ONE = "d np.{0}(A)"
_TWO = "d np.{0}(A, B)"
_LOGIC = "v np.{0}(A, B)"
_BITS = "np.{0}(I, I[::-1])"


def _each(names: str, case: str) -> dict[str, str]:
    return {name: case.format(name) for name in names.split()}


CASES: dict[str, str] = {
    **_each(
        "abs angle arccos arcsin arcsinh arctan arctanh around cbrt ceil conj copy cos cosh cumprod "
        "cumsum deg2rad diff ediff1d exp exp2 expm1 fabs flip fliplr flipud floor imag log log10 "
        "log1p log2 matrix_transpose max mean median min nan_to_num nancumprod nancumsum nanmax "
        "nanmean nanmedian nanmin nanprod nanstd nansum nanvar negative positive prod ptp rad2deg "
        "ravel real reciprocal rint rot90 sign sin sinc sinh sort sqrt square squeeze std sum tan "
        "tanh transpose tril triu trunc unwrap var array asarray astype atleast_1d atleast_2d "
        "atleast_3d ones_like zeros_like empty_like resize vander spacing round", _ONE,
    ),
    **_each(
        "add arctan2 convolve copysign correlate cross divide dot float_power floor_divide fmax "
        "fmin fmod heaviside hypot inner kron logaddexp logaddexp2 maximum minimum multiply "
        "outer polyadd polymul polysub power remainder subtract tensordot vdot vecdot "
        "append", _TWO,
    ),
    **_each("equal greater greater_equal less less_equal not_equal isclose", _LOGIC),
    **_each(
        "isfinite isinf isnan isneginf isposinf iscomplex isreal signbit logical_not argmax argmin "
        "argsort nanargmax nanargmin all any count_nonzero", "v np.{0}(A)",
    ),
    **_each("logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor gcd lcm", _BITS),
    **_each("bartlett blackman hamming hanning", "np.{0}(5)"),
    **_each("nonzero argwhere flatnonzero unique unique_values packbits", "np.{0}(I > 0)"),
    **_each("intersect1d union1d setdiff1d setxor1d isin", "np.{0}(I, I[1])"),
    **_each("unique_all unique_counts unique_inverse invert bitwise_count bincount", "np.{0}(abs(I))"),
    **_each("iscomplexobj isrealobj isscalar iterable ndim shape size", "np.{0}(Z)"),
    **_each("zeros ones eye identity arange tri diag_indices tril_indices triu_indices", "np.{0}(3)"),
    **_each("tril_indices_from triu_indices_from diag_indices_from", "np.{0}(M)"),
}  # fmt: skip
CASES |= {
    "gradient": "d np.gradient(A, axis=1)", "nextafter": "v np.nextafter(A, B)",
    "bincount": "np.bincount(abs(I).ravel(), minlength=12)",
    "convolve": "d np.convolve(A[0], B[1])", "correlate": "d np.correlate(A[0], B[1], 'full')",
    "polyadd": "d np.polyadd(A[0], R[:2])", "polysub": "d np.polysub(A[0], R[:2])",
    "polymul": "d np.polymul(A[0], R[:2])", "vander": "d np.vander(A[0], 4)",
    "polyval": "d np.polyval(A[0], R)", "polyder": "d np.polyder(A[0])",
    "polyint": "d np.polyint(A[0])", "poly": "d np.poly(A[0])",
    "resize": "d np.resize(A, (3, 4))",
    "polydiv": "np.polydiv(R, R[:2])[0]", "polyfit": "d np.polyfit(R, A[0], 1)",
    "roots": "np.sort(np.real(np.roots(np.array([1.0, -6.0, 11.0, -6.0]))))",
    "arccosh": "d np.arccosh(1 + A)", "matmul": "d np.matmul(A, M)", "dot": "d np.dot(A, M)",
    "inner": "d np.inner(A, M)", "outer": "d np.outer(A, R)", "matvec": "d np.matvec(A, R)",
    "vecmat": "d np.vecmat(R, A.T)", "tensordot": "d np.tensordot(A, M, axes=1)",
    "einsum": "d np.einsum('ij,jk->ki', A, M)", "einsum_path": "no value to compare: a plan",
    "angle": "d np.angle(A + 1j)", "real": "d np.real(A * Z)", "imag": "d np.imag(A * Z)",
    "conj": "d np.abs(np.conj(A * Z) + 1)", "astype": "d np.astype(A, np.float64)",
    "trace": "d np.trace(A)", "diagonal": "d np.diagonal(A, 1)", "diag": "d np.diag(A[0], 1)",
    "diagflat": "d np.diagflat(A, -1)", "clip": "d np.clip(A, 0.4, B - 0.8)",
    "where": "d np.where(K, A, 0.5)", "select": "d np.select([A > 0.7, K], [A, 2 * A], 0.5)",
    "piecewise": "d np.piecewise(A, [A > 0.5], [lambda x: x * x, lambda x: -x])",
    "choose": "d np.choose(I[0] % 2, [A[0], A[1]])", "compress": "d np.compress([True, False], A, 0)",
    "extract": "np.extract(K, B)", "take": "d np.take(A, np.array([2, 0, 0]), axis=1)",
    "take_along_axis": "d np.take_along_axis(A, abs(I) % 2, 0)",
    "delete": "d np.delete(A, 1, axis=1)", "insert": "d np.insert(A, 1, 9.0, axis=1)",
    "put": "takes inplace=False here", "place": "takes inplace=False here",
    "put_along_axis": "takes inplace=False here", "fill_diagonal": "takes inplace=False here",
    "repeat": "d np.repeat(A, 2, axis=1)", "tile": "d np.tile(A, (2, 1))",
    "pad": "d np.pad(A, 1, mode='reflect')", "roll": "d np.roll(A, 1, axis=1)",
    "rollaxis": "d np.rollaxis(A, 1)", "moveaxis": "d np.moveaxis(A, 0, 1)",
    "swapaxes": "d np.swapaxes(A, 0, 1)", "permute_dims": "d np.permute_dims(A, (1, 0))",
    "expand_dims": "d np.expand_dims(A, 1)", "reshape": "d np.reshape(A, (3, 2))",
    "broadcast_to": "d np.broadcast_to(A, (2, 2, 3))",
    "broadcast_arrays": "d np.broadcast_arrays(A, R)[0] * 2",
    "broadcast_shapes": "np.broadcast_shapes((2, 1), (3,))",
    "concatenate": "d np.concatenate([A, B], axis=1)", "stack": "d np.stack([A, B], axis=1)",
    "vstack": "d np.vstack([A, R])", "hstack": "d np.hstack([A, B])", "dstack": "d np.dstack([A, B])",
    "column_stack": "d np.column_stack([A[0], B[0]])", "block": "d np.block([[A, B], [B, A]])",
    "split": "d np.split(A, 3, axis=1)[1]", "array_split": "d np.array_split(A, 2, axis=1)[1]",
    "vsplit": "d np.vsplit(A, 2)[0]", "hsplit": "d np.hsplit(A, 3)[2]",
    "dsplit": "d np.dsplit(A[None], 3)[0]", "unstack": "d np.unstack(A)[1]",
    "partition": "d np.partition(A, 1, axis=1)", "argpartition": "an order that is not unique",
    "lexsort": "np.lexsort((I[0], I[1]))", "sort_complex": "np.sort_complex(Z)",
    "searchsorted": "np.searchsorted(np.sort(R), B)", "digitize": "np.digitize(B, np.sort(R))",
    "top_k": "not in NumPy", "ix_": "np.ix_(I[0] > 0, I[1] > 0)",
    "indices": "np.indices((2, 3))", "mask_indices": "np.mask_indices(3, np.triu)",
    "unravel_index": "np.unravel_index(np.array([1, 5]), (2, 3))",
    "ravel_multi_index": "np.ravel_multi_index((np.array([0, 1]), np.array([2, 1])), (2, 3))",
    "average": "d np.average(A, axis=1, weights=np.array([1.0, 2.0, 3.0]))",
    "quantile": "d np.quantile(A, 0.3, axis=1)", "percentile": "d np.percentile(A, 70, axis=0)",
    "nanquantile": "d np.nanquantile(A, 0.3, axis=1)",
    "nanpercentile": "d np.nanpercentile(A, 70, axis=0)",
    "cov": "d np.cov(A)", "corrcoef": "d np.corrcoef(A)", "trapezoid": "d np.trapezoid(A, dx=0.5)",
    "interp": "d np.interp(A, np.array([0.0, 0.5, 1.0]), R)",
    "cumulative_sum": "d np.cumulative_sum(A, axis=1, include_initial=True)",
    "cumulative_prod": "d np.cumulative_prod(A, axis=1)",
    "histogram": "np.histogram(B, 3)", "histogram2d": "np.histogram2d(B[0], B[1], 2)",
    "histogramdd": "np.histogramdd(B, 2)", "histogram_bin_edges": "np.histogram_bin_edges(B, 3)",
    "apply_along_axis": "d np.apply_along_axis(np.cumsum, 1, A)",
    "apply_over_axes": "d np.apply_over_axes(np.sum, A, [0])",
    "frompyfunc": "gives objects in NumPy", "fromfunction": "np.fromfunction(lambda i, j: i + j, (2, 3))",
    "fromiter": "np.fromiter(range(3), dtype=int)", "frombuffer": "np.frombuffer(b'ab', dtype='uint8')",
    "fromstring": "np.fromstring('1 2', dtype=int, sep=' ')", "fromfile": "reads a file",
    "from_dlpack": "np.from_dlpack(B)", "full": "np.full((2, 2), 7.0)",
    "full_like": "d np.full_like(A, A[0, 0])", "empty": "np.empty((2, 3)).shape",
    "empty_like": "np.empty_like(B).shape", "geomspace": "np.geomspace(1, 100, 3)",
    "linspace": "np.linspace(0, 1, 5)", "logspace": "np.logspace(0, 2, 3)",
    "meshgrid": "np.meshgrid(R, R[:2])", "kaiser": "np.kaiser(5, 3.0)",
    "cross": "d np.cross(A, B)", "vdot": "d np.vdot(A, B)", "vecdot": "d np.vecdot(A, B)",
    "left_shift": "np.left_shift(I, 2)", "right_shift": "np.right_shift(I, 1)",
    "unpackbits": "np.unpackbits(np.array([5, 7], 'uint8'))", "trim_zeros": "np.trim_zeros(R - R[0])",
    "frexp": "np.frexp(B)", "ldexp": "d np.ldexp(A, abs(I))", "modf": "d np.modf(A + 1)[0]",
    "divmod": "d np.divmod(B, A)[1]", "view": "a method in NumPy",
    "allclose": "np.allclose(B, B)", "array_equal": "np.array_equal(B, B)",
    "array_equiv": "np.array_equiv(B, B[0])", "array_repr": "text", "array_str": "text",
    "can_cast": "np.can_cast('int8', 'int16')", "promote_types": "np.promote_types('int8', 'uint8')",
    "result_type": "np.result_type(np.int8, np.float32)", "issubdtype": "np.issubdtype(B.dtype, np.floating)",
    "isdtype": "np.isdtype(np.dtype('int8'), 'integral')", "iinfo": "np.iinfo('int8').max",
    "load": "reads a file", "save": "writes a file", "savez": "writes a file",
    "get_printoptions": "settings", "set_printoptions": "settings", "printoptions": "settings",
    "argsort": "v np.argsort(A, axis=1)",
    "reciprocal": "d np.reciprocal(A)", "remainder": "d np.remainder(B, A)", "fmod": "d np.fmod(B, A)",
}  # fmt: skip
SAME: dict[str, str] = {
    "absolute": "abs", "acos": "arccos", "acosh": "arccosh", "amax": "max", "amin": "min",
    "arcsinh": "arcsinh", "ascontiguousarray": "asarray", "asin": "arcsin", "asinh": "arcsinh",
    "atan": "arctan", "atan2": "arctan2", "atanh": "arctanh", "bitwise_invert": "invert",
    "bitwise_left_shift": "left_shift", "bitwise_not": "invert",
    "bitwise_right_shift": "right_shift", "concat": "concatenate", "conjugate": "conj",
    "degrees": "rad2deg", "fix": "trunc", "in1d": "isin", "mod": "remainder", "pow": "power",
    "radians": "deg2rad", "true_divide": "divide",
}  # fmt: skip
SAME.pop("arcsinh")
