"""One program as an MLIR module: a `main` function filled by a callable."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from jaxlib.mlir import ir

from overt.backend.builder import Builder
from overt.backend.types import CONTEXT, UNKNOWN, tensor


def build(
    name: str,
    avals: Sequence[Any],
    body: Callable[[Builder, list], Sequence[Any]],
    platform: str = "cpu",
    donated: Iterable[int] = (),
) -> tuple[ir.Module, list[Callable]]:
    """(module, host callbacks): `body(b, arguments)` gives the values that `main` returns."""
    with CONTEXT, UNKNOWN:
        module = ir.Module.create()
        symbol = re.sub(r"[^\w.-]+", "_", name) or "main"
        module.operation.attributes["sym_name"] = ir.StringAttr.get(symbol)
        types = [tensor(a.shape, a.dtype) for a in avals]
        function, entry = _entry(module, types)
        builder = Builder(ir.InsertionPoint(entry), platform)
        results = list(body(builder, list(entry.arguments)))
        ir.Operation.create("func.return", operands=results, ip=builder.ip)
        _declare(function, entry, [v.type for v in results], set(donated))
    return module, builder.callbacks


def _entry(module: ir.Module, types: list) -> tuple[ir.Operation, ir.Block]:
    attributes = {
        "sym_name": ir.StringAttr.get("main"),
        "sym_visibility": ir.StringAttr.get("public"),
        "function_type": ir.TypeAttr.get(ir.FunctionType.get(types, [])),
    }
    top = module.operation.regions[0].blocks[0]
    function = ir.Operation.create(
        "func.func", attributes=attributes, regions=1, ip=ir.InsertionPoint(top)
    )
    return function, function.regions[0].blocks.append(*types)


def _declare(function: ir.Operation, entry: ir.Block, out: list, donated: set) -> None:
    """Give `main` its final type, known only now that its body is written."""
    types = [v.type for v in entry.arguments]
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(types, out))
    if donated:
        mark = ir.DictAttr.get({"jax.buffer_donor": ir.BoolAttr.get(True)})
        none = ir.DictAttr.get({})
        function.attributes["arg_attrs"] = ir.ArrayAttr.get(
            [mark if i in donated else none for i in range(len(types))]
        )


def text(module: ir.Module, debug_info: bool = False) -> str:
    """The module as StableHLO text; `debug_info` tells where each operation comes from."""
    made = module.operation.get_asm(
        large_elements_limit=16, assume_verified=True, enable_debug_info=debug_info
    )
    return str(made)


def xla_computation(module: ir.Module) -> Any:
    """The module as XLA's own computation, before its optimisations."""
    from jaxlib import _jax

    return _jax.mlir.mlir_module_to_xla_computation(str(module))


def location(path: str, function: str, file: str, line: int) -> ir.Location:
    """Where an operation comes from: its path of scopes, and the user's function and line."""
    place = ir.Location.name(function, ir.Location.file(file, line, 0, CONTEXT), CONTEXT)
    return ir.Location.name(path, place, CONTEXT)
