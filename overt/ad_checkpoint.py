"""What the reverse sweep keeps, and what it computes again."""

from overt.runtime.checkpointing import (
    Offloadable,
    Recompute,
    Saveable,
    checkpoint_name,
    checkpoint_policies,
)
from overt.transformer.checkpointing import print_saved_residuals
from overt.transformer.identity import checkpoint

__all__ = [
    "Offloadable", "Recompute", "Saveable", "checkpoint", "checkpoint_name", "checkpoint_policies",
    "print_saved_residuals",
]  # fmt: skip
