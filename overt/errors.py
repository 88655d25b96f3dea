"""The errors Overt raises of its own accord."""

from overt.rewrites.refusal import Refusal
from overt.runtime.errors import (
    BatchedPredicateError,
    CheckError,
    OvertError,
    PromotionError,
    RecordedWarning,
    StagingError,
)

__all__ = [
    "BatchedPredicateError",
    "CheckError",
    "OvertError",
    "PromotionError",
    "RecordedWarning",
    "Refusal",
    "StagingError",
]
