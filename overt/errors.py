"""The errors Overt raises of its own accord, under JAX's names and its own."""

from overt.backend.execute import JaxRuntimeError
from overt.rewrites.refusal import Refusal
from overt.runtime.errors import (
    BatchedPredicateError,
    CheckError,
    ConcretizationTypeError,
    InconclusiveDimensionOperation,
    JAXIndexError,
    JaxprTypeError,
    JAXTypeError,
    KeyReuseError,
    NonConcreteBooleanIndexError,
    OvertError,
    PromotionError,
    RecordedWarning,
    StagingError,
    TracerArrayConversionError,
    TracerBoolConversionError,
    TracerIntegerConversionError,
    TransferError,
    UnexpectedTracerError,
)

__all__ = [
    "BatchedPredicateError",
    "CheckError",
    "ConcretizationTypeError",
    "InconclusiveDimensionOperation",
    "JAXIndexError",
    "JAXTypeError",
    "JaxRuntimeError",
    "JaxprTypeError",
    "KeyReuseError",
    "NonConcreteBooleanIndexError",
    "OvertError",
    "PromotionError",
    "RecordedWarning",
    "Refusal",
    "StagingError",
    "TracerArrayConversionError",
    "TracerBoolConversionError",
    "TracerIntegerConversionError",
    "TransferError",
    "UnexpectedTracerError",
]
