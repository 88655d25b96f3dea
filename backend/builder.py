"""Writes StableHLO: the `b` that lowering rules receive.

Values are MLIR values.  Operations are made with `ir.Operation.create` and explicit types, which
is three times faster than the generated classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from overt.backend.attributes import boolean, int32, int64, ints, parsed
from overt.backend.calls import Calls
from overt.backend.operations import Shape, Value
from overt.backend.products import Products
from overt.backend.reductions import Reductions


class Builder(Reductions, Products, Calls):
    """Appends operations at an insertion point; every method returns the new value."""

    __slots__ = ()

    def reduce_precision(self, v: Value, exponent_bits: int, mantissa_bits: int) -> Value:
        attributes = {"exponent_bits": int32(exponent_bits), "mantissa_bits": int32(mantissa_bits)}
        return self.op("stablehlo.reduce_precision", [v], [v.type], attributes)

    def rng_bit_generator(self, state: Value, shape: Shape, dtype: Any, algorithm: str) -> Any:
        attributes = {"rng_algorithm": parsed(f"#stablehlo<rng_algorithm {algorithm}>")}
        made = self.op(
            "stablehlo.rng_bit_generator", [state], [state.type, (shape, dtype)], attributes
        )
        return list(made.results)

    def rng_uniform(self, low: Value, high: Value, shape: Shape, dtype: Any) -> Value:
        lengths = self.constant(np.array(shape, np.int64))
        attributes = {"rng_distribution": parsed("#stablehlo<rng_distribution UNIFORM>")}
        return self.op("stablehlo.rng", [low, high, lengths], [(shape, dtype)], attributes)

    def optimization_barrier(self, vs: Sequence[Value]) -> list[Value]:
        made = self.op("stablehlo.optimization_barrier", vs, [v.type for v in vs])
        return [made] if len(vs) == 1 else list(made.results)


__all__ = ["Builder", "Value", "boolean", "int32", "int64", "ints", "parsed"]
