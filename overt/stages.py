"""Programs on their way: traced, lowered to StableHLO, compiled."""

from overt.transformer.stages import Compiled, Lowered, Traced, Wrapped

__all__ = ["Compiled", "Lowered", "Traced", "Wrapped"]
