"""The errors Overt raises of its own accord; each says what happened and what to do about it."""

from __future__ import annotations


class OvertError(Exception):
    """Base class of Overt's own errors."""


class StagingError(OvertError, TypeError):
    """A value that is known only when the compiled program runs was needed as a Python value."""


class BatchedPredicateError(StagingError):
    """A value that differs between the lanes of a `vmap` was needed as one Python value."""


class PromotionError(OvertError, ValueError):
    """Two dtypes have no common dtype in the promotion table."""


class RecordedWarning(UserWarning):
    """A derivative is recorded while the function runs, since its text cannot be written."""


class CheckError(OvertError, ValueError):
    """A check failed: `checkify.check`, or what `checkify` looks for."""
