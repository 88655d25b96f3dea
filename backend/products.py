"""Products, convolutions, gather and scatter, linear algebra, Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jaxlib.mlir._mlir_libs import _stablehlo as hlo

from overt.backend.attributes import (
    boolean,
    int64,
    ints,
    parsed,
    precision_config,
)
from overt.backend.control import Regions
from overt.backend.operations import Shape, Value
from overt.backend.types import CONTEXT, dense, kind


class Products(Regions):
    """Operations on whole matrices and index sets."""

    __slots__ = ()

    def dot_general(
        self, x: Value, y: Value, batch: tuple = ((), ()), contract: tuple = ((), ()),
        out_dtype: Any = None, precision: Any = None,
    ) -> Value:  # fmt: skip
        """Batch dimensions first, then the rest of x, then the rest of y."""
        (xs, xt), (ys, _) = kind(x.type), kind(y.type)
        (xb, yb), (xc, yc) = batch, contract
        shape = (
            *(xs[i] for i in xb),
            *(n for i, n in enumerate(xs) if i not in (*xb, *xc)),
            *(n for i, n in enumerate(ys) if i not in (*yb, *yc)),
        )
        attributes = {
            "dot_dimension_numbers": hlo.DotDimensionNumbers.get(
                list(xb), list(yb), list(xc), list(yc), CONTEXT
            ),
            "precision_config": precision_config(precision),
        }
        return self.op("stablehlo.dot_general", [x, y], [(shape, out_dtype or xt)], attributes)

    def conv(
        self, x: Value, w: Value, out_shape: Shape, dimension_numbers: tuple,
        strides: Sequence[int], padding: Sequence[tuple[int, int]],
        lhs_dilation: Sequence[int] | None = None, rhs_dilation: Sequence[int] | None = None,
        feature_group_count: int = 1, batch_group_count: int = 1, precision: Any = None,
        out_dtype: Any = None, window_reversal: Sequence[bool] | None = None,
    ) -> Value:  # fmt: skip
        """Convolution; `dimension_numbers` are three tuples (batch, feature, *spatial),
        (out feature, in feature, *spatial) and (batch, feature, *spatial) of positions."""
        n = len(strides)
        xd, wd, od = (tuple(d) for d in dimension_numbers)
        numbers = hlo.ConvDimensionNumbers.get(
            xd[0], xd[1], list(xd[2:]), wd[1], wd[0], list(wd[2:]), od[0], od[1], list(od[2:]),
            CONTEXT,
        )  # fmt: skip
        reversal = ", ".join("true" if r else "false" for r in window_reversal or [False] * n)
        attributes = {
            "dimension_numbers": numbers, "window_strides": ints(strides),
            "padding": dense(np.asarray(padding, np.int64).reshape(n, 2)),
            "lhs_dilation": ints(lhs_dilation or [1] * n),
            "rhs_dilation": ints(rhs_dilation or [1] * n),
            "window_reversal": parsed(f"array<i1: {reversal}>" if n else "array<i1>"),
            "feature_group_count": int64(feature_group_count),
            "batch_group_count": int64(batch_group_count),
            "precision_config": precision_config(precision),
        }  # fmt: skip
        out = (out_shape, out_dtype or self.dtype(x))
        return self.op("stablehlo.convolution", [x, w], [out], attributes)

    # ---- gather and scatter ----

    def gather(
        self, v: Value, indices: Value, out_shape: Shape, slice_sizes: Sequence[int],
        offset_dims: Sequence[int], collapsed_slice_dims: Sequence[int],
        start_index_map: Sequence[int], index_vector_dim: int,
        operand_batching_dims: Sequence[int] = (), start_indices_batching_dims: Sequence[int] = (),
        indices_are_sorted: bool = False,
    ) -> Value:  # fmt: skip
        """StableHLO's gather; indices out of range are clamped."""
        numbers = hlo.GatherDimensionNumbers.get(
            list(offset_dims), list(collapsed_slice_dims), list(operand_batching_dims),
            list(start_indices_batching_dims), list(start_index_map), index_vector_dim, CONTEXT,
        )  # fmt: skip
        attributes = {
            "dimension_numbers": numbers, "slice_sizes": ints(slice_sizes),
            "indices_are_sorted": boolean(indices_are_sorted),
        }  # fmt: skip
        return self.op("stablehlo.gather", [v, indices], [(out_shape, self.dtype(v))], attributes)

    def scatter(
        self, v: Value, indices: Value, updates: Value, update: Callable | str | None,
        update_window_dims: Sequence[int], inserted_window_dims: Sequence[int],
        scattered_dims_to_operand_dims: Sequence[int], index_vector_dim: int,
        input_batching_dims: Sequence[int] = (), scatter_indices_batching_dims: Sequence[int] = (),
        indices_are_sorted: bool = False, unique_indices: bool = False,
    ) -> Value:  # fmt: skip
        """StableHLO's scatter; `update` combines old and new (None: new); out of range drops."""
        numbers = hlo.ScatterDimensionNumbers.get(
            list(update_window_dims), list(inserted_window_dims), list(input_batching_dims),
            list(scatter_indices_batching_dims), list(scattered_dims_to_operand_dims),
            index_vector_dim, CONTEXT,
        )  # fmt: skip
        attributes = {
            "scatter_dimension_numbers": numbers,
            "indices_are_sorted": boolean(indices_are_sorted),
            "unique_indices": boolean(unique_indices),
        }
        made = self.op("stablehlo.scatter", [v, indices, updates], [v.type], attributes, 1)
        body = self._combine(update) if update is not None else (lambda b, old, new: new)
        self.region(made.regions[0], [((), self.dtype(v))] * 2, body)
        return made.results[0]

    # ---- linear algebra and signals ----

    def fft(self, v: Value, kind_: str, length: Sequence[int]) -> Value:
        """`kind_` is FFT, IFFT, RFFT or IRFFT, over the last len(length) dimensions."""
        shape, dtype = kind(v.type)
        if kind_ == "RFFT":
            shape = (*shape[:-1], length[-1] // 2 + 1)
            dtype = np.dtype(f"c{2 * dtype.itemsize}")
        elif kind_ == "IRFFT":
            shape, dtype = (*shape[:-1], length[-1]), np.dtype(f"f{dtype.itemsize // 2}")
        attributes = {
            "fft_type": parsed(f"#stablehlo<fft_type {kind_}>"), "fft_length": ints(length)
        }  # fmt: skip
        return self.op("stablehlo.fft", [v], [(shape, dtype)], attributes)

    def cholesky(self, v: Value, lower: bool = True) -> Value:
        return self.op("stablehlo.cholesky", [v], [v.type], {"lower": boolean(lower)})

    def triangular_solve(
        self, a: Value, b: Value, left_side: bool = True, lower: bool = True,
        unit_diagonal: bool = False, transpose: str = "NO_TRANSPOSE",
    ) -> Value:  # fmt: skip
        """`transpose` is NO_TRANSPOSE, TRANSPOSE or ADJOINT."""
        attributes = {
            "left_side": boolean(left_side), "lower": boolean(lower),
            "unit_diagonal": boolean(unit_diagonal),
            "transpose_a": parsed(f"#stablehlo<transpose {transpose}>"),
        }  # fmt: skip
        return self.op("stablehlo.triangular_solve", [a, b], [b.type], attributes)
