"""The errors Overt raises of its own accord."""

from overt.runtime.errors import BatchedPredicateError, OvertError, PromotionError, StagingError

__all__ = ["BatchedPredicateError", "OvertError", "PromotionError", "StagingError"]
