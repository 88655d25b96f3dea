"""The errors Overt raises of its own accord; each says what happened and what to do about it."""

from __future__ import annotations

import warnings


class OvertError(Exception):
    """Base class of Overt's own errors."""


class JAXTypeError(OvertError, TypeError):
    """A value of a kind that cannot be used in this place."""


class JAXIndexError(OvertError, IndexError):
    """An index that cannot be used in this place."""


class ConcretizationTypeError(JAXTypeError):
    """A value was needed at once that is not known at once."""


class StagingError(ConcretizationTypeError):
    """A value that is known only when the compiled program runs was needed as a Python value."""


class TracerBoolConversionError(StagingError):
    """A value that is not known yet was needed as True or False."""


class TracerIntegerConversionError(StagingError):
    """A value that is not known yet was needed as a Python integer."""


class TracerArrayConversionError(StagingError):
    """A value that is not known yet was needed as a NumPy array."""


class NonConcreteBooleanIndexError(StagingError, JAXIndexError):
    """A boolean index whose values are not known yet would have to give the shape of a result."""


class BatchedPredicateError(
    TracerBoolConversionError, TracerIntegerConversionError, TracerArrayConversionError
):
    """A value that differs between the lanes of a `vmap` was needed as one Python value."""


class UnexpectedTracerError(StagingError):
    """A value of a function being transformed was used outside it."""


class JaxprTypeError(JAXTypeError):
    """A staged program whose types do not fit."""


class InconclusiveDimensionOperation(OvertError):
    """A question about a symbolic dimension that has no answer for all its values."""


class KeyReuseError(OvertError, RuntimeError):
    """A random key was used a second time."""


class PromotionError(OvertError, ValueError):
    """Two dtypes have no common dtype in the promotion table."""


class RecordedWarning(UserWarning):
    """A derivative is recorded while the function runs, since its text cannot be written."""


_said: set[object] = set()


def say_once(key: object, text: str, stacklevel: int) -> None:
    """Give a RecordedWarning, the first time for its key in this process."""
    if key not in _said:
        _said.add(key)
        warnings.warn(text, RecordedWarning, stacklevel=stacklevel + 1)


class CheckError(OvertError, ValueError):
    """A check failed: `checkify.check`, or what `checkify` looks for."""


_CONVERSIONS: dict[str, type[StagingError]] = {
    "bool()": TracerBoolConversionError,
    "an index": TracerIntegerConversionError,
    "converting to a NumPy array": TracerArrayConversionError,
}


def conversion_error(purpose: str) -> type[StagingError]:
    """The kind of error for what a value was needed for.

    >>> conversion_error("an index")
    <class 'overt.runtime.errors.TracerIntegerConversionError'>
    """
    return _CONVERSIONS.get(purpose, StagingError)


class KeyIsNoNumber(TypeError):  # noqa: N818  it is what was meant that decides
    """A random key where an array is wanted: what only moves elements takes its words instead."""


class EndedInBlock(NotImplementedError):  # noqa: N818  it says what the user's manager does
    """A manager of the user's ends an exception where what its block did is not followed."""


class TransferError(OvertError, RuntimeError):
    """A transfer between host and device, or between devices, that `transfer_guard` forbids."""
