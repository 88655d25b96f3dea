"""Programs on their way: traced, lowered to StableHLO, compiled."""

from overt.transformer.stages import (
    ArgInfo,
    Compiled,
    CompilerOptions,
    Lowered,
    Traced,
    Wrapped,
)

__all__ = ["ArgInfo", "Compiled", "CompilerOptions", "Lowered", "Traced", "Wrapped"]
