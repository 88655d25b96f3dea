"""Functions whose derivative the user gives, and what their rules work with."""

from overt.runtime.custom import (
    CustomVJPPrimal,
    SymbolicZero,
    custom_vjp_primal_tree_values,
    zero_from_primal,
)
from overt.transformer.custom import custom_gradient, custom_jvp, custom_vjp
from overt.transformer.linear import closure_convert, linear_call

__all__ = [
    "CustomVJPPrimal",
    "SymbolicZero",
    "closure_convert",
    "custom_gradient",
    "custom_jvp",
    "custom_vjp",
    "custom_vjp_primal_tree_values",
    "linear_call",
    "zero_from_primal",
]
