"""Derivatives compared with differences, for the tests of those who write rules."""

from overt.transformer.slope_checks import check_grads, check_jvp, check_vjp

__all__ = ["check_grads", "check_jvp", "check_vjp"]
