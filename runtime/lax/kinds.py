"""What parameters of `lax` functions may be: roundings, accuracies, transforms, dot algorithms."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Sequence
from typing import Any, NamedTuple

from overt.runtime import dtypes


class Precision(enum.Enum):
    """How exactly an accelerator multiplies float32 numbers; the CPU always does so exactly."""

    DEFAULT = "default"
    HIGH = "high"
    HIGHEST = "highest"

    def __str__(self) -> str:
        return self.name


class RoundingMethod(enum.IntEnum):
    """Where a number half way between two integers goes."""

    AWAY_FROM_ZERO = 0
    TO_NEAREST_EVEN = 1


class FftType(enum.IntEnum):
    """Fourier transforms: complex, its inverse, of real numbers, the inverse of that."""

    FFT = 0
    IFFT = 1
    RFFT = 2
    IRFFT = 3


class AccuracyMode(enum.Enum):
    """How exact an elementwise function is to be; the CPU's functions satisfy both."""

    HIGHEST = 1
    DEFAULT = 2


class Tolerance:
    """How far an elementwise function may be off: absolutely, relatively, in last places.

    Errors: ValueError for negative tolerances, and if none is given.
    """

    def __init__(self, atol: float = 0.0, rtol: float = 0.0, ulps: int = 0):
        if min(atol, rtol, ulps) < 0:
            raise ValueError(f"tolerances cannot be negative, got {atol}, {rtol}, {ulps}")
        if not (atol or rtol or ulps):
            raise ValueError("a Tolerance needs at least one of atol, rtol and ulps")
        self.atol, self.rtol, self.ulps = atol, rtol, ulps


class DotAlgorithm(NamedTuple):
    """Dtypes that a product rounds its operands to and adds up in."""

    lhs_precision_type: Any
    rhs_precision_type: Any
    accumulation_type: Any
    lhs_component_count: int = 1
    rhs_component_count: int = 1
    num_primitive_operations: int = 1
    allow_imprecise_accumulation: bool = False


class DotAlgorithmPreset(enum.Enum):
    """Algorithms for products by name: dtypes of the operands, then of the sum.

    The CPU has `DEFAULT`, `F16_F16_F16`, `F32_F32_F32`, `F64_F64_F64` and, computing more exactly
    than they ask for, `BF16_BF16_F32` and its forms in three and six steps.
    """

    DEFAULT = enum.auto()
    ANY_F8_ANY_F8_F32 = enum.auto()
    ANY_F8_ANY_F8_F32_FAST_ACCUM = enum.auto()
    ANY_F8_ANY_F8_ANY = enum.auto()
    ANY_F8_ANY_F8_ANY_FAST_ACCUM = enum.auto()
    F16_F16_F16 = enum.auto()
    F16_F16_F32 = enum.auto()
    BF16_BF16_BF16 = enum.auto()
    BF16_BF16_F32 = enum.auto()
    BF16_BF16_F32_X3 = enum.auto()
    BF16_BF16_F32_X6 = enum.auto()
    BF16_BF16_F32_X9 = enum.auto()
    TF32_TF32_F32 = enum.auto()
    TF32_TF32_F32_X3 = enum.auto()
    F32_F32_F32 = enum.auto()
    F64_F64_F64 = enum.auto()

    def __str__(self) -> str:
        return self.name

    @property
    def accumulation_type(self) -> Any:
        """The dtype that products are added up in; None if it follows from the operands."""
        if self.name == "DEFAULT" or "_ANY_F8_ANY" in self.name.removeprefix("ANY_F8"):
            return None
        return _SHORT[self.name.replace("_FAST_ACCUM", "").split("_X")[0].split("_")[-1]]


_SHORT = {
    "F16": dtypes.float16,
    "BF16": dtypes.bfloat16,
    "F32": dtypes.float32,
    "F64": dtypes.float64,
}
# What the CPU has: the dtypes operands may keep, and the one others are converted to.
CPU_ALGORITHMS: dict[str, tuple[tuple[Any, ...], Any]] = {
    "F16_F16_F16": ((dtypes.float16,), dtypes.float16),
    "F32_F32_F32": ((dtypes.float32,), dtypes.float32),
    "F64_F64_F64": ((dtypes.float64,), dtypes.float64),
    "BF16_BF16_F32": ((dtypes.bfloat16, dtypes.float32), dtypes.bfloat16),
    "BF16_BF16_F32_X3": ((dtypes.float32,), dtypes.float32),
    "BF16_BF16_F32_X6": ((dtypes.float32,), dtypes.float32),
}

PrecisionLike = (
    None
    | str
    | Precision
    | tuple[str, str]
    | tuple[Precision, Precision]
    | DotAlgorithm
    | DotAlgorithmPreset
)
DotDimensionNumbers = tuple[
    tuple[Sequence[int], Sequence[int]], tuple[Sequence[int], Sequence[int]]
]


@dataclasses.dataclass(frozen=True)
class RaggedDotDimensionNumbers:
    """Which axes belong together in `ragged_dot_general`.

    `lhs_ragged_dimensions` names the one axis of `lhs` that is cut into groups,
    `rhs_group_dimensions` the axis of `rhs` that counts the groups, if it has one.
    """

    dot_dimension_numbers: Any
    lhs_ragged_dimensions: Sequence[int]
    rhs_group_dimensions: Sequence[int]
