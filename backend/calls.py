"""Calls out of the program: library functions and Python on the host."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jaxlib.mlir import ir
from jaxlib.mlir._mlir_libs import _stablehlo as hlo

from overt.backend import custom_calls
from overt.backend.attributes import (
    boolean,
    int32,
    layouts,
)
from overt.backend.operations import Operations, Value
from overt.backend.types import CONTEXT, kind


class Calls(Operations):
    """Operations that call what XLA does not know."""

    __slots__ = ()

    def custom_call(
        self, target: str, operands: Sequence[Value], out_types: Sequence[Any],
        attributes: dict[str, ir.Attribute] | None = None,
        operand_layouts: Sequence[Sequence[int]] | None = None,
        result_layouts: Sequence[Sequence[int]] | None = None,
        has_side_effect: bool = False, aliases: dict[int, int] | None = None,
    ) -> list[Value]:  # fmt: skip
        """A call of a registered function (typed FFI); layouts are minor-to-major."""
        custom_calls.ensure(target)
        made: dict[str, Any] = {
            "call_target_name": ir.StringAttr.get(target, CONTEXT),
            "api_version": int32(4),
            "has_side_effect": boolean(has_side_effect),
            "backend_config": ir.DictAttr.get(attributes or {}, CONTEXT),
        }
        if operand_layouts is not None:
            made["operand_layouts"] = layouts(operand_layouts)
        if result_layouts is not None:
            made["result_layouts"] = layouts(result_layouts)
        if aliases:
            many = len(out_types) > 1
            made["output_operand_aliases"] = ir.ArrayAttr.get(
                [
                    hlo.OutputOperandAlias.get([o] if many else [], i, [], CONTEXT)
                    for i, o in aliases.items()
                ],
                CONTEXT,
            )
        result = self.op("stablehlo.custom_call", operands, out_types, made)
        return [result] if len(out_types) == 1 else list(result.results)

    def compiler_call(
        self, target: str, operands: Sequence[Value], out_types: Sequence[Any], config: str = ""
    ) -> list[Value]:
        """A call of a routine that XLA's compiler has itself, such as "Qr" on TPU."""
        made = {
            "call_target_name": ir.StringAttr.get(target, CONTEXT),
            "api_version": int32(1),
            "backend_config": ir.StringAttr.get(config, CONTEXT),
        }
        result = self.op("stablehlo.custom_call", operands, out_types, made)
        return [result] if len(out_types) == 1 else list(result.results)

    def callback(self, fn: Callable, operands: Sequence[Value], out_types: Sequence[Any]) -> list:
        """Call `fn(*ndarrays) -> tuple of ndarrays` on the host when the program gets here."""
        if self.platform == "tpu":
            raise NotImplementedError(
                "a program for TPU cannot call Python while it runs: it prints, asserts, calls "
                "back, or checks a variable that may be unset; return the values instead, or set "
                "the variable on every path"
            )
        self.callbacks.append(fn)
        name = "gpu" if self.platform in ("gpu", "cuda", "rocm") else "cpu"
        index = ir.IntegerAttr.get(
            ir.IntegerType.get_unsigned(64, CONTEXT), len(self.callbacks) - 1
        )
        kinds = [kind(v.type) for v in operands], [kind(self.type(t)) for t in out_types]
        column = [[tuple(reversed(range(len(s)))) for s, _ in side] for side in kinds]
        return self.custom_call(
            f"xla_ffi_python_{name}_callback", operands, out_types, {"index": index},
            column[0], column[1], has_side_effect=True,
        )  # fmt: skip

    def ui8(self, value: int | str) -> ir.Attribute:
        """The `ui8` attribute LAPACK calls take; a letter stands for its code."""
        code = ord(value) if isinstance(value, str) else value
        return ir.IntegerAttr.get(ir.IntegerType.get_unsigned(8, CONTEXT), code)
