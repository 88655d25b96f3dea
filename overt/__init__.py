"""Overt differentiates, batches and compiles Python by rewriting its source."""

__version__ = "0.1.0"
