"""Programs as StableHLO's portable artifacts, and programs that call them."""

from __future__ import annotations

from typing import Any

from jaxlib import _jax
from jaxlib.mlir import ir
from jaxlib.mlir._mlir_libs import _stablehlo as hlo
from jaxlib.mlir.dialects import func

from overt.backend import custom_calls
from overt.backend.disk_cache import module_bytes
from overt.backend.types import CONTEXT, UNKNOWN

# Custom calls whose meaning jaxlib keeps from version to version.
STABLE = ("lapack_", "cusolver_", "cu_", "tridiagonal_solve")


def to_bytes(module: ir.Module) -> bytes:
    """The module in a form that StableHLO's later versions read, and those of the last weeks."""
    weeks = hlo.StablehloCompatibilityRequirement.WEEK_4
    version = hlo.get_version_from_compatibility_requirement(weeks)
    return _jax.mlir.serialize_portable_artifact(module_bytes(module), version)


def from_bytes(data: bytes) -> ir.Module:
    """The module of a portable artifact.

    Errors: ValueError when it is none, or one of a later version.
    """
    with CONTEXT, UNKNOWN:
        try:
            return hlo.deserialize_portable_artifact(CONTEXT, data)
        except Exception as error:
            raise ValueError(f"this is no StableHLO that jaxlib can read: {error}") from None


def custom_call_targets(module: ir.Module) -> set[str]:
    """The library functions that a program calls."""
    found: set[str] = set()

    def look(operation: Any) -> Any:
        if operation.name == "stablehlo.custom_call":
            found.add(ir.StringAttr(operation.attributes["call_target_name"]).value)
        return ir.WalkResult.ADVANCE

    module.operation.walk(look)
    return found


def call(b: Any, data: bytes, operands: list) -> list:
    """Call another program's `main` at a builder's place; its functions join the module."""
    other = from_bytes(data)
    for target in custom_call_targets(other):
        custom_calls.ensure(target)
    home = b.ip.block.owner
    while home.operation.parent is not None:
        home = home.operation.parent
    body = home.regions[0].blocks[0]
    taken = {_symbol(f) for f in body.operations}
    prefix = ir.StringAttr(other.operation.attributes["sym_name"]).value
    names: dict[str, str] = {}
    for function in other.body.operations:
        old = _symbol(function)
        new = base = prefix if old == "main" else old
        count = 0
        while new in taken:
            count += 1
            new = f"{base}_{count}"
        taken.add(new)
        names[old] = new

    def rename(operation: Any) -> Any:
        if operation.name == "func.call":
            old = ir.FlatSymbolRefAttr(operation.attributes["callee"]).value
            operation.attributes["callee"] = ir.FlatSymbolRefAttr.get(names[old], CONTEXT)
        return ir.WalkResult.ADVANCE

    for function in other.body.operations:
        made = function.operation.clone(ip=ir.InsertionPoint(body))
        made.attributes["sym_name"] = ir.StringAttr.get(names[_symbol(function)], CONTEXT)
        made.attributes["sym_visibility"] = ir.StringAttr.get("private", CONTEXT)
        made.walk(rename)
        if _symbol(function) == "main":
            results = ir.FunctionType(
                ir.TypeAttr(function.attributes["function_type"]).value
            ).results
    with CONTEXT, UNKNOWN:
        called = func.CallOp(list(results), names["main"], list(operands), ip=b.ip)
    return list(called.results)


def _symbol(function: Any) -> str:
    return ir.StringAttr(function.attributes["sym_name"]).value
