"""`export`: a jitted function as a program that outlives the process, and other machines run."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from overt.runtime import dtypes, interop
from overt.runtime.aval import aval_of, is_known_size
from overt.runtime.derivatives import is_inexact
from overt.runtime.dimensions import assumptions, is_symbolic_dim
from overt.runtime.exported import (
    PLATFORMS,
    DisabledSafetyCheck,
    Exported,
    ExportedCall,
    counts_of,
)
from overt.runtime.parts import is_array
from overt.runtime.staging import LEAST_CAPACITY
from overt.runtime.tree import PyTreeDef, tree_flatten
from overt.transformer.jit import Jitted

__all__ = ["default_export_platform", "export", "symbolic_args_specs"]


def default_export_platform() -> str:
    """The platform that functions are exported for when none is named.

    >>> default_export_platform()
    'cpu'
    """
    platform = interop.default_backend()
    return PLATFORMS.get(platform, platform)


def export(
    fun_jit: Callable, *, platforms: Sequence[str] | None = None,
    disabled_checks: Sequence[DisabledSafetyCheck] = (), loop_records: int = 1024,
) -> Callable[..., Exported]:  # fmt: skip
    """A function of arguments (or of their ShapeDtypeStructs) that gives the program for them.

    `platforms` are those that it may be called on, whether or not this machine has them.  Loops
    under differentiation whose length only the run knows get room for `loop_records` iterations.

    Errors: ValueError for what cannot leave the process: calls of Python functions, stores into
    the caller's objects, results that are not arrays.

    >>> import overt, overt.numpy as np
    >>> made = overt.export.export(overt.jit(np.sin))(overt.ShapeDtypeStruct((3,), np.float32))
    >>> again = overt.export.deserialize(made.serialize())
    >>> again.call(np.zeros(3))
    Array([0., 0., 0.], dtype=float32)
    """
    if not isinstance(fun_jit, Jitted):
        raise ValueError(
            f"export needs a function made by jit, got {fun_jit!r}; write export(jit(f))"
        )
    chosen = (default_export_platform(),) if platforms is None else tuple(platforms)
    for platform in chosen:
        if PLATFORMS.get(platform, platform) not in ("cpu", "cuda", "rocm", "tpu"):
            raise ValueError(f"unknown platform {platform!r}; known: cpu, cuda, rocm, tpu")

    @functools.wraps(fun_jit)
    def exporting(*args: Any, **kwargs: Any) -> Exported:
        return Export(fun_jit, chosen, tuple(disabled_checks), loop_records).made(args, kwargs)

    return exporting


class Export:
    """One function on its way out."""

    def __init__(
        self, jitted: Jitted, platforms: tuple[str, ...],
        disabled: tuple[DisabledSafetyCheck, ...], loop_records: int,
    ) -> None:  # fmt: skip
        self.jitted, self.platforms, self.disabled = jitted, platforms, disabled
        self.loop_records = loop_records
        self.name = getattr(jitted, "__name__", "function")

    def made(self, args: tuple, kwargs: dict[str, Any]) -> Exported:
        token = LEAST_CAPACITY.set(self.loop_records)
        try:
            with assumptions() as assumed:
                traced = self.jitted.trace(*args, **kwargs)
        finally:
            LEAST_CAPACITY.reset(token)
        program = self.program(traced)
        leaves, in_tree = tree_flatten(self.dynamic(args, kwargs))
        in_avals = [aval_of(x) for x in leaves]
        out_tree = self.out_tree(traced)
        if not all(is_known_size(a.shape) for a in in_avals):
            return self.of_any_size(traced, (in_tree, out_tree), in_avals, args, kwargs, assumed)
        modules = {
            PLATFORMS.get(p, p): self.module(program, PLATFORMS.get(p, p)) for p in self.platforms
        }
        any_platform = DisabledSafetyCheck.platform() in self.disabled
        rooms = [room for _, _, room in program.checks]
        out = (*program.out, *counts_of(rooms))
        body = ExportedCall(self.name, modules, out, any_platform)

        get_vjp = self.derivative(args, kwargs, in_tree, in_avals, program.out)
        return Exported(
            self.name, (in_tree, out_tree), in_avals, program.out, body,
            disabled_safety_checks=self.disabled, get_vjp=get_vjp, rooms=rooms,
        )  # fmt: skip

    def derivative(
        self, args: tuple, kwargs: dict, in_tree: PyTreeDef, in_avals: list, out: Sequence[Any]
    ) -> Callable[[], Exported]:
        """What exports the derivative when that is asked for."""

        @functools.cache
        def derivative() -> Exported:
            inner = derivative_of(self.jitted, args, kwargs, in_tree, self.name)
            inexact = [a for a in out if dtypes.is_inexact(a.dtype)]
            made = Export(inner, self.platforms, self.disabled, self.loop_records)
            return made.made((*map(shape, in_avals), *map(shape, inexact)), {})

        return derivative

    def of_any_size(
        self, traced: Any, trees: tuple, in_avals: list, args: tuple, kwargs: dict,
        assumed: dict[str, Any],
    ) -> Exported:  # fmt: skip
        """A program whose sizes are filled in when it is called."""
        from overt.runtime.exported_sizes import Equations, SizedExported
        from overt.runtime.jaxpr import jaxpr_of

        if traced.staged.program.checks:
            raise ValueError(
                f"{self.name} keeps records of a loop whose length is known only when it runs, "
                "which a program for any size cannot do; export it for fixed sizes"
            )
        scopes = {n.scope for a in in_avals for n in a.shape if is_symbolic_dim(n)}
        if len(scopes) > 1:
            raise ValueError(
                f"{self.name}: symbolic sizes of its arguments are of several scopes; make all "
                "shapes with one scope="
            )
        platforms = [PLATFORMS.get(p, p) for p in self.platforms]
        graph = traced.staged.program.graph
        closed = jaxpr_of(graph, graph.outputs)
        body = Equations.of(closed, self.name, scopes.pop(), list(assumed), platforms)
        out = traced.staged.program.out
        return SizedExported(
            self.name, trees, in_avals, out, body,  # type: ignore[arg-type]
            disabled_safety_checks=self.disabled,
            get_vjp=self.derivative(args, kwargs, trees[0], in_avals, out),
        )  # fmt: skip

    def dynamic(self, args: tuple, kwargs: dict[str, Any]) -> Any:
        """The arguments without the static ones, which belong to the program."""
        static = self.jitted.static
        places = static.positions(len(args))
        kept = tuple(x for i, x in enumerate(args) if i not in places)
        return kept, {k: v for k, v in kwargs.items() if k not in static.names}

    def program(self, traced: Any) -> Any:
        """The staged program with every result among its outputs, if it can be exported."""
        staged, call = traced.staged, traced.call
        program, outputs = staged.program, staged.outputs
        name = self.name
        if call.promoted:
            names = [call.leaf_name(i) for i in call.promoted]
            raise ValueError(
                f"{name} needs {' and '.join(names)} as a Python value; make it static with "
                "static_argnames"
            )
        if outputs.writes:
            holder = outputs.writes[0][0].place.holder
            raise ValueError(
                f"{name} stores into something outside of it (a {type(holder).__name__}), which an "
                "exported program cannot reach; return the new value instead"
            )
        leaves = outputs.flat.leaves
        for x in leaves:
            if not is_array(x):
                raise ValueError(
                    f"a result of {name} is a {type(x).__name__} ({x!r}); exported functions "
                    "return arrays"
                )
        graph = program.graph
        graph.outputs = [x for x, _ in staged.returned()]
        graph.out = program.out = tuple(map(aval_of, graph.outputs))
        return program

    def out_tree(self, traced: Any) -> PyTreeDef:
        _, structure = tree_flatten(traced.out_info)
        if structure.num_leaves != len(traced.staged.outputs.flat.leaves):
            raise ValueError(
                f"{self.name} returns a dataclass that is no tree; register it with "
                "overt.tree_util.register_dataclass"
            )
        return structure

    def module(self, program: Any, platform: str) -> bytes:
        """The program for a platform, its constants in it."""
        from overt.backend import portable

        module, callbacks = program.module(platform, contained=True)
        if callbacks:
            raise ValueError(
                f"{self.name} calls a Python function while it runs (a print, assert, callback), "
                "which cannot be part of an exported program"
            )
        allowed = {check.is_custom_call() for check in self.disabled}
        for target in sorted(portable.custom_call_targets(module) - allowed):
            if not target.startswith(portable.STABLE):
                raise ValueError(
                    f"{self.name} calls the library function {target}, whose meaning may change "
                    "between versions; to export it all the same, give disabled_checks="
                    f"[DisabledSafetyCheck.custom_call({target!r})]"
                )
        return portable.to_bytes(module)


def shape(aval: Any) -> Any:
    from overt.transformer.stages import ShapeDtypeStruct

    return ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=aval.weak)


def derivative_of(
    jitted: Any, args: tuple, kwargs: dict[str, Any], structure: PyTreeDef, name: str
) -> Jitted:
    """Arguments and cotangents of results, all flat, to cotangents of arguments."""
    from overt.transformer.calls import vjp_of
    from overt.transformer.gradients import fitted

    static = jitted.static
    places = static.positions(len(args))
    fixed = {k: v for k, v in kwargs.items() if k in static.names}
    count = structure.num_leaves

    def pullback(*flat: Any) -> tuple:
        given, named = structure.unflatten(flat[:count])
        bars = iter(flat[count:])
        rest = iter(given)
        whole = [args[i] if i in places else next(rest) for i in range(len(args))]
        out, pull = vjp_of(jitted.__wrapped__, *whole, **named, **fixed)
        results, out_structure = tree_flatten(out)
        _, *found = pull(
            out_structure.unflatten([next(bars) if is_inexact(x) else None for x in results])
        )
        named_bars = found.pop() if named or fixed else {}
        found = [bar for i, bar in enumerate(found) if i not in places]
        pairs = [
            *zip(found, given, strict=True),
            *((named_bars[k], named[k]) for k in sorted(named)),
        ]
        fit = [fitted(bar, x) for bar, x in pairs]
        leaves = zip(tree_flatten(fit)[0], tree_flatten([x for _, x in pairs])[0], strict=True)
        return tuple(bar for bar, x in leaves if is_inexact(x))

    pullback.__name__ = f"{name}_vjp"
    return Jitted(pullback)


def symbolic_args_specs(
    args: Any, shapes_specs: Any, constraints: Sequence[str] = (), scope: Any = None
) -> Any:
    """ShapeDtypeStructs of arguments, their shapes from texts as for `symbolic_shape`.

    `shapes_specs` is a text, or a tree of them that is a prefix of `args`; None leaves shapes
    alone.

    >>> import overt, overt.numpy as np
    >>> symbolic_args_specs((np.ones((4, 3)), np.ones(4)), ("b, ...", "b"))[0].shape
    (b, 3)
    """
    from overt.runtime.symbolic_shapes import SymbolicScope, symbolic_shape
    from overt.runtime.tree import prefix_leaves
    from overt.transformer.stages import ShapeDtypeStruct

    if scope is not None and constraints:
        raise ValueError("symbolic_args_specs: give either a scope or constraints")
    scope = SymbolicScope(constraints) if scope is None else scope
    leaves, structure = tree_flatten(args)
    specs = prefix_leaves(shapes_specs, args, is_leaf=lambda x: x is None)
    made = []
    for leaf, spec in zip(leaves, specs, strict=True):
        aval = aval_of(leaf)
        sizes = symbolic_shape(spec, scope=scope, like=aval.shape)
        made.append(ShapeDtypeStruct(sizes, aval.dtype, weak_type=aval.weak))
    return structure.unflatten(made)
