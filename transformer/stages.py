"""Programs on their way: traced, lowered to StableHLO, compiled."""

from __future__ import annotations

from typing import Any

import numpy

from overt.runtime import dtypes
from overt.runtime.aval import Aval, aval_of
from overt.runtime.parts import is_array
from overt.transformer.transformed import Transformed as Wrapped

__all__ = ["Compiled", "Lowered", "ShapeDtypeStruct", "Traced", "Wrapped"]


class ShapeDtypeStruct:
    """Shape and dtype of an array, in place of the array.

    >>> ShapeDtypeStruct((2, 3), "float32")
    ShapeDtypeStruct(shape=(2, 3), dtype=float32)
    """

    __slots__ = ("aval", "sharding")
    is_shape = True

    def __init__(self, shape: Any, dtype: Any, *, sharding: Any = None, weak_type: bool = False):
        if dtype is None:
            raise ValueError("ShapeDtypeStruct: dtype must be specified.")
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        self.aval = Aval(shape, dtypes.canonicalize(numpy.dtype(dtype)), weak_type)
        self.sharding = sharding

    shape = property(lambda self: self.aval.shape)
    dtype = property(lambda self: self.aval.dtype)
    weak_type = property(lambda self: self.aval.weak)
    ndim = property(lambda self: self.aval.ndim)
    size = property(lambda self: self.aval.size)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ShapeDtypeStruct) and self.aval is other.aval

    def __hash__(self) -> int:
        return hash(self.aval)

    def __repr__(self) -> str:
        weak = ", weak_type=True" if self.weak_type else ""
        return f"ShapeDtypeStruct(shape={self.shape}, dtype={self.dtype.name}{weak})"


def shape_of(x: Any) -> ShapeDtypeStruct:
    aval = aval_of(x)
    return ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=aval.weak)


class Traced:
    """A function staged for certain arguments."""

    def __init__(self, jitted: Any, call: Any, staged: Any) -> None:
        self.jitted, self.call, self.staged = jitted, call, staged
        self.fun_name = staged.name

    @property
    def out_info(self) -> Any:
        """Shapes and dtypes of the results, in their containers."""
        flat = self.staged.outputs.flat
        return flat.rebuild([shape_of(x) if is_array(x) else x for x in flat.leaves])

    def lower(self) -> Lowered:
        """The program as StableHLO."""
        return Lowered(self)


class Lowered:
    """A program in StableHLO."""

    def __init__(self, traced: Traced) -> None:
        self.traced = traced
        self.out_info = traced.out_info

    def as_text(self, dialect: str | None = None, *, debug_info: bool = False) -> str:
        """The text of the program."""
        if dialect not in (None, "stablehlo", "hlo"):
            raise ValueError(f"unknown dialect {dialect!r}: 'stablehlo' and 'hlo' are known")
        program = self.traced.staged.program
        return program.optimized() if dialect == "hlo" else program.text()

    def compile(self, compiler_options: dict[str, Any] | None = None) -> Compiled:
        """Compile it."""
        program = self.traced.staged.program
        if compiler_options:
            program.options = {**(program.options or {}), **compiler_options}
        return Compiled(self.traced, program.compile())

    def cost_analysis(self) -> dict[str, float]:
        """XLA's estimate of operations and bytes."""
        return self.compile().cost_analysis()


class Compiled:
    """A compiled program; call it with arguments of the kinds that it was compiled for."""

    def __init__(self, traced: Traced, executable: Any) -> None:
        self.traced, self.executable = traced, executable
        self.out_info = traced.out_info

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        from overt.transformer.arguments import Call

        call = Call(self.traced.jitted, args, kwargs)
        expected = self.traced.call
        call.promote(expected.promoted)
        if call.flat.structure != expected.flat.structure:
            raise TypeError(
                f"the program was compiled for arguments {expected.flat.structure}, "
                f"but called with {call.flat.structure}"
            )
        for i, (have, want) in enumerate(zip(call.avals, expected.avals, strict=True)):
            if have.shape != want.shape or have.dtype != want.dtype:
                raise TypeError(
                    f"the program was compiled for {want} as its argument {i}, "
                    f"but called with {have}"
                )
        arrays = self.traced.staged.guards.hold(call.objects)
        if arrays is None or call.promoted_values != expected.promoted_values:
            raise TypeError("what this program depends on has changed since it was compiled")
        return self.traced.staged.run(call.leaves, call.objects, arrays)

    def as_text(self) -> str:
        """The program after XLA's optimisations, as HLO."""
        return self.traced.staged.program.optimized()

    def cost_analysis(self) -> dict[str, float]:
        """XLA's estimate of operations and bytes."""
        found = self.executable.loaded.cost_analysis()
        return found[0] if isinstance(found, list) else found

    def memory_analysis(self) -> Any:
        """XLA's account of the memory that the program uses."""
        return self.executable.loaded.get_compiled_memory_stats()
