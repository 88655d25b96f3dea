"""Programs on their way: traced, lowered to StableHLO, compiled."""

from __future__ import annotations

import copy
import dataclasses
from typing import Any

import numpy

from overt.runtime import dtypes
from overt.runtime.array import Array, DeviceArray
from overt.runtime.aval import Aval, aval_of
from overt.runtime.parts import is_array
from overt.runtime.tree import PyTreeDef, tree_flatten, tree_map, tree_structure
from overt.transformer.transformed import Transformed as Wrapped

__all__ = [
    "ArgInfo", "Compiled", "CompilerOptions", "Lowered", "ShapeDtypeStruct", "Traced", "Wrapped",
]  # fmt: skip

CompilerOptions = dict[str, Any]  # XLA's debug options by name


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

    def update(self, **changes: Any) -> ShapeDtypeStruct:
        """The same with another `shape`, `dtype`, `sharding` or `weak_type`."""
        same = {"shape": self.shape, "dtype": self.dtype, "sharding": self.sharding}
        return ShapeDtypeStruct(**{**same, "weak_type": self.weak_type, **changes})

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


@dataclasses.dataclass(frozen=True)
class ArgInfo:
    """What a program takes in one place: a kind of array, and whether it may use its memory."""

    aval: Aval
    donated: bool

    @property
    def shape(self) -> tuple[int, ...]:
        return self.aval.shape

    @property
    def dtype(self) -> Any:
        return self.aval.dtype


class Stage:
    """What is known of a program at each stage: what goes in, what comes out."""

    traced: Traced

    @property
    def args_info(self) -> Any:
        """For every array among `(args, kwargs)` its kind, and whether it is donated."""
        return self.traced.args_info

    @property
    def in_avals(self) -> Any:
        """The kinds of the arrays in `(args, kwargs)`."""
        return tree_map(lambda a: a.aval, self.args_info)

    @property
    def in_tree(self) -> PyTreeDef:
        """The structure of `(args, kwargs)`, static arguments left out."""
        return tree_structure(self.args_info)

    @property
    def out_info(self) -> Any:
        """Shapes and dtypes of the results, in their containers."""
        return self.traced.out_info

    @property
    def out_tree(self) -> PyTreeDef:
        """The structure of the result."""
        return tree_structure(self.out_info)

    @property
    def out_avals(self) -> Any:
        """The kinds of the results, in their containers."""
        return tree_map(lambda x: x.aval if hasattr(x, "aval") else x, self.out_info)

    @property
    def donate_argnums(self) -> tuple[int, ...]:
        """Which of the arrays, counted one by one, are donated."""
        infos = tree_flatten(self.args_info)[0]
        return tuple(i for i, info in enumerate(infos) if info.donated)


class Traced(Stage):
    """A function staged for certain arguments."""

    def __init__(self, jitted: Any, call: Any, staged: Any) -> None:
        self.jitted, self.call, self.staged = jitted, call, staged
        self.fun_name = staged.name
        self.traced = self

    @property
    def args_info(self) -> Any:
        call, static = self.call, self.jitted.static
        places = static.positions(len(call.args))
        kept = (
            tuple(x for i, x in enumerate(call.args) if i not in places),
            {k: v for k, v in call.kwargs.items() if k not in static.names},
        )
        donated = self.jitted.donated
        given = donated.positions(len(call.args))
        marks = (
            tuple(i in given for i in range(len(call.args)) if i not in places),
            {k: k in donated.names for k in kept[1]},
        )

        def infos(tree: Any, mark: bool) -> Any:
            return tree_map(lambda x: ArgInfo(aval_of(x), mark) if is_array(x) else x, tree)

        return (
            tuple(infos(x, mark) for x, mark in zip(kept[0], marks[0], strict=True)),
            {k: infos(x, marks[1][k]) for k, x in kept[1].items()},
        )

    @property
    def out_info(self) -> Any:
        flat = self.staged.outputs.flat
        return flat.rebuild([shape_of(x) if is_array(x) else x for x in flat.leaves])

    @property
    def jaxpr(self) -> Any:
        """The program as equations."""
        from overt.runtime.jaxpr import jaxpr_of

        return jaxpr_of(self.staged.program.graph, [x for x, _ in self.staged.returned()])

    def lower(self, *, lowering_platforms: tuple[str, ...] | None = None) -> Lowered:
        """The program as StableHLO, by default for the platform that is there."""
        return Lowered(self, lowering_platforms)


class Lowered(Stage):
    """A program in StableHLO."""

    def __init__(self, traced: Traced, platforms: tuple[str, ...] | None = None) -> None:
        self.traced = traced
        self.program = traced.staged.program
        if platforms is None:
            from overt.backend.client import default_platform

            self.platform = default_platform()
        elif len(platforms) == 1:
            self.platform = {"gpu": "cuda"}.get(platforms[0], platforms[0])
        else:
            raise ValueError(
                f"a program is lowered for one platform at a time, got {platforms}; "
                "overt.export.export keeps programs for several"
            )

    def as_text(self, dialect: str | None = None, *, debug_info: bool = False) -> str:
        """The text of the program as "stablehlo", or as "hlo" before XLA's optimisations.

        With `debug_info` StableHLO's operations tell the line and the scopes that they come from.
        """
        if dialect in (None, "stablehlo"):
            return self.program.text(self.platform, debug_info)
        return self.compiler_ir(dialect).as_hlo_text()

    def compiler_ir(self, dialect: str | None = None) -> Any:
        """The program as an MLIR module ("stablehlo") or as XLA's computation ("hlo")."""
        module = self.program.module(self.platform)[0]
        if dialect in (None, "stablehlo"):
            return module
        if dialect == "hlo":
            from overt.backend.module import xla_computation

            return xla_computation(module)
        raise ValueError(f"unknown dialect {dialect!r}: 'stablehlo' and 'hlo' are known")

    def compile(self, compiler_options: CompilerOptions | None = None) -> Compiled:
        """Compile it; options are XLA's, by name, such as `{"xla_cpu_enable_fast_math": True}`."""
        from overt.backend.client import default_platform

        if self.platform != default_platform():
            raise ValueError(
                f"the program was lowered for {self.platform}, but is compiled for "
                f"{default_platform()}; compile_for(device) compiles for another chip"
            )
        staged = self.traced.staged
        if compiler_options:
            staged = copy.copy(staged)
            options = {**(self.program.options or {}), **compiler_options}
            staged.program = self.program.with_options(options)
        return Compiled(self.traced, staged)

    def compile_for(self, device: Any) -> Described:
        """Compile it for a device of `overt.experimental.topologies`, which need not be here."""
        from overt.backend.topology import compile_for

        module, _ = self.program.module(self.platform)
        return Described(self.traced, compile_for(module, device, self.program.options), device)

    def cost_analysis(self) -> dict[str, float]:
        """XLA's estimate of operations and bytes."""
        return self.compile().cost_analysis()


class Compiled(Stage):
    """A compiled program; call it with arguments of the kinds that it was compiled for."""

    def __init__(self, traced: Traced, staged: Any) -> None:
        self.traced, self.staged = traced, staged
        self.executable = staged.program.compile()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        from overt.transformer.arguments import Call

        expected = self.traced.call
        leaves = tree_flatten((args, kwargs))[0]
        if any(isinstance(x, Array) and not isinstance(x, DeviceArray) for x in leaves):
            raise TypeError(
                "a compiled program cannot be differentiated, batched or staged; transform the "
                f"function {self.traced.fun_name} that it was compiled from"
            )
        call = Call(self.traced.jitted, *self.with_static(args, kwargs))
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
        for i, (part, other) in enumerate(zip(call.key[2:], expected.key[2:], strict=True)):
            if part != other and not isinstance(part, Aval):
                raise TypeError(
                    f"the program was compiled for another value of {call.leaf_name(i)}: leave "
                    "static arguments out"
                )
        arrays = self.staged.guards.hold(call.objects)
        if arrays is None or call.promoted_values != expected.promoted_values:
            raise TypeError("what this program depends on has changed since it was compiled")
        donated = self.staged.program.donated
        leaves = call.own_donated(donated) if donated else call.leaves
        return self.staged.run(leaves, call.objects, arrays)

    def with_static(self, args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
        """The arguments with the static ones, which are the program's, where they are left out."""
        static, expected = self.traced.jitted.static, self.traced.call
        places = static.positions(len(expected.args))
        if places and len(args) == len(expected.args) - len(places):
            rest = iter(args)
            args = tuple(x if i in places else next(rest) for i, x in enumerate(expected.args))
        return args, {k: v for k, v in expected.kwargs.items() if k in static.names} | kwargs

    @staticmethod
    def call(compiled: Compiled, *args: Any, **kwargs: Any) -> Any:
        """The program on arguments."""
        return compiled(*args, **kwargs)

    def as_text(self) -> str:
        """The program after XLA's optimisations, as HLO."""
        return self.staged.program.optimized()

    def cost_analysis(self) -> dict[str, float]:
        """XLA's estimate of operations and bytes."""
        found = self.executable.loaded.cost_analysis()
        return found[0] if isinstance(found, list) else found

    def memory_analysis(self) -> Any:
        """XLA's account of the memory that the program uses."""
        return self.executable.loaded.get_compiled_memory_stats()

    def runtime_executable(self) -> Any:
        """jaxlib's own object for the compiled program."""
        return self.executable.loaded

    @property
    def input_shardings(self) -> Any:
        """Where each array among `(args, kwargs)` is expected."""
        from overt.backend.execute import placement

        where = placement(self.executable.device)
        return tree_map(lambda _: where, self.args_info)

    @property
    def output_shardings(self) -> Any:
        """Where each result is left."""
        from overt.backend.execute import placement

        where = placement(self.executable.device)
        return tree_map(lambda _: where, self.out_info)


class Described(Stage):
    """A program compiled for a device that is only described: it can be looked at, not run."""

    def __init__(self, traced: Traced, loaded: Any, device: Any) -> None:
        self.traced, self.loaded, self.device = traced, loaded, device

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            f"the program was compiled for {self.device.device_kind}, which is not here to run it"
        )

    def as_text(self) -> str:
        """The program after XLA's optimisations, as HLO."""
        return "\n".join(module.to_string() for module in self.loaded.hlo_modules())

    def cost_analysis(self) -> dict[str, float]:
        """XLA's estimate of operations and bytes."""
        from overt.backend.topology import estimated_cost

        return estimated_cost(self.loaded)

    def memory_analysis(self) -> Any:
        """XLA's account of the memory that the program uses."""
        return self.loaded.get_compiled_memory_stats()

    def runtime_executable(self) -> Any:
        """jaxlib's own object for the compiled program."""
        return self.loaded


def xla_computation(fun: Any, static_argnums: Any = (), **unused: Any) -> Any:
    """A function of arguments that gives XLA's computation for them.

    >>> import overt
    >>> made = overt.xla_computation(lambda x: x * 2)(1.0)
    >>> "multiply" in made.as_hlo_text()
    True
    """
    from overt.transformer.jit import Jitted

    if unused:
        raise NotImplementedError(
            f"xla_computation: {', '.join(unused)} went out of use with JAX's own; jit(f).lower"
            "(...).compiler_ir('hlo') gives the same computation"
        )
    jitted = Jitted(fun, static_argnums=static_argnums)
    return lambda *args, **kwargs: jitted.lower(*args, **kwargs).compiler_ir("hlo")
