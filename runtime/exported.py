"""Exported functions: programs that can be kept in a file, and called, staged and differentiated.

What a blob holds is described in `export_format`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from overt.runtime import dtypes, staging
from overt.runtime import numpy as np
from overt.runtime.array import Array
from overt.runtime.aval import Aval, aval_of
from overt.runtime.control import for_loop, loop_range
from overt.runtime.custom import custom_vjp
from overt.runtime.derivatives import is_inexact
from overt.runtime.export_format import VERSION, pack, unpack
from overt.runtime.export_trees import tree_from_json, tree_to_json
from overt.runtime.host import host_callback
from overt.runtime.interop import as_array
from overt.runtime.lanes import Lanes
from overt.runtime.levels import topmost
from overt.runtime.primitive import GRAPH
from overt.runtime.records import read_record, write_record
from overt.runtime.tree import PyTreeDef, tree_flatten

__all__ = ["DisabledSafetyCheck", "Exported", "deserialize"]


class DisabledSafetyCheck:
    """A check that an export leaves out, at the caller's own risk.

    >>> DisabledSafetyCheck.custom_call("my_kernel")
    DisabledSafetyCheck('custom_call:my_kernel')
    """

    def __init__(self, text: str) -> None:
        self.text = text

    @classmethod
    def platform(cls) -> DisabledSafetyCheck:
        """Let the function be called on platforms that it was not exported for."""
        return cls("platform")

    @classmethod
    def custom_call(cls, target_name: str) -> DisabledSafetyCheck:
        """Let the program call a library function whose meaning may change."""
        return cls(f"custom_call:{target_name}")

    def is_custom_call(self) -> str | None:
        """The library function that this is about, or None."""
        kind, _, name = self.text.partition(":")
        return name if kind == "custom_call" else None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DisabledSafetyCheck) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"DisabledSafetyCheck({self.text!r})"


def one_by_one(
    run: Callable[..., tuple], arrays: Sequence[Any], out: Sequence[Aval], top: Lanes
) -> tuple:
    """A program for arrays without lanes, run for each lane of `top`'s level in a loop."""
    peers = [type(x) is Lanes and x.level == top.level for x in arrays]

    def lane(i: Any, *results: Any) -> tuple:
        given = [
            read_record(x.value, i, axis=0) if peer else x
            for x, peer in zip(arrays, peers, strict=True)
        ]
        return tuple(
            write_record(rows, new, i, axis=0)
            for rows, new in zip(results, run(*given), strict=True)
        )

    rows = tuple(np.zeros((top.lanes, *aval.shape), aval.dtype) for aval in out)
    done = for_loop(loop_range(top.lanes), lane, rows)
    return tuple(Lanes(x, top.level) for x in done)


class ExportedCall:
    """The operation that calls an exported program; one for each exported function."""

    elementwise = linear = effect = False

    def __init__(self, name: str, modules: dict[str, bytes], out: tuple[Aval, ...], any_: bool):
        self.name = self.__name__ = name
        self.modules, self.out, self.any_platform = modules, out, any_

    def infer(self, avals: tuple, params: dict) -> tuple[tuple[Aval, ...], bool]:
        return self.out, True

    def emit(self, b: Any, values: list, *unused: Any) -> list:
        from overt.backend import portable

        return portable.call(b, self.module(b.platform), values)

    def module(self, platform: str) -> bytes:
        """The program for a platform. Errors: ValueError when it was not exported for that."""
        platform = PLATFORMS.get(platform, platform)
        found = self.modules.get(platform)
        if found is None:
            if self.any_platform:
                return next(iter(self.modules.values()))
            raise ValueError(
                f"{self.name} was exported for {', '.join(self.modules)}, but is called on "
                f"{platform}; export it with platforms=[{platform!r}, ...]"
            )
        return found


PLATFORMS = {"gpu": "cuda"}


class ExportedFunction:
    """An exported function, to be called.

    Errors: ValueError for arguments of another structure, shape or dtype than exported.
    """

    def __init__(self, exported: Exported) -> None:
        self.exported = exported
        self.__name__ = exported.fun_name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.exported.called(args, kwargs)

    def __repr__(self) -> str:
        return f"<call of {self.exported}>"


class Exported:
    """A function as a program: what goes in, what comes out, and how it is computed.

    `call` runs it, also inside `jit` and under `grad`; `serialize` makes bytes of it.
    """

    def __init__(
        self, fun_name: str, trees: tuple[PyTreeDef, PyTreeDef], in_avals: Sequence[Aval],
        out_avals: Sequence[Aval], body: ExportedCall, *,
        disabled_safety_checks: Sequence[DisabledSafetyCheck] = (),
        get_vjp: Callable[[], Exported] | None = None, rooms: Sequence[int] = (),
    ) -> None:  # fmt: skip
        self.fun_name = fun_name
        self.in_tree, self.out_tree = trees
        self.in_avals, self.out_avals = tuple(in_avals), tuple(out_avals)
        self.body = body
        self.disabled_safety_checks = tuple(disabled_safety_checks)
        self._get_vjp = get_vjp
        self.rooms = tuple(rooms)  # for records of loops, whose counts are the last results

    nr_devices = 1
    ordered_effects = unordered_effects = ()  # programs with effects are refused
    calling_convention_version = VERSION

    @property
    def platforms(self) -> tuple[str, ...]:
        """The platforms that it was exported for."""
        return tuple(self.body.modules)

    def mlir_module(self, platform: str | None = None) -> str:
        """The program as StableHLO."""
        from overt.backend import module, portable

        return module.text(portable.from_bytes(self.body_bytes(platform or self.platforms[0])))

    @property
    def mlir_module_serialized(self) -> bytes:
        """The program as a portable artifact of StableHLO."""
        return self.body_bytes(self.platforms[0])

    def body_bytes(self, platform: str) -> bytes:
        """The program for a platform as a portable artifact of StableHLO."""
        return self.body.module(platform)

    # --- calling

    @functools.cached_property
    def call(self) -> ExportedFunction:
        """The function itself: `exported.call(*args, **kwargs)`."""
        return ExportedFunction(self)

    def called(self, args: tuple, kwargs: dict[str, Any]) -> Any:
        """The result for arguments that fit."""
        leaves, structure = tree_flatten((args, kwargs))
        if structure != self.in_tree:
            raise ValueError(
                f"{self.fun_name} was exported for arguments {self.in_tree}, but is called with "
                f"{structure}"
            )
        arrays = [x if isinstance(x, Array) else as_array(x) for x in leaves]
        return self.out_tree.unflatten(self.results(arrays))

    def results(self, arrays: list[Any]) -> Sequence[Any]:
        """The results for the flat arguments."""
        self.check([aval_of(x) for x in arrays])
        return self._flat(*arrays)

    def check(self, avals: Sequence[Aval]) -> None:
        """Refuse arguments that the program is not for."""
        for i, (have, want) in enumerate(zip(avals, self.in_avals, strict=True)):
            if have.dtype != want.dtype or have.shape != want.shape:
                raise ValueError(
                    f"{self.fun_name} was exported for {want.strong()} as its argument {i}, "
                    f"but is called with {have.strong()}"
                )

    @functools.cached_property
    def _flat(self) -> Callable[..., tuple]:
        """The program on arrays alone, with its derivative."""
        flat = custom_vjp(self._run)
        flat.defvjp(lambda *xs: (flat(*xs), xs), self._pullback)
        return flat

    def _run(self, *arrays: Any) -> tuple:
        top = topmost(arrays)
        if type(top) is Lanes:
            return one_by_one(self._run, arrays, self.out_avals, top)
        count = len(self.out_avals)
        if GRAPH.get() is None:
            results = self._program.run([as_array(x) for x in arrays])
            self.check_rooms(*results[count:])
        else:
            results = self._recorded(*arrays)
            if self.rooms:
                host_callback(self.check_rooms, (), *results[count:])
        return tuple(results[:count])

    def check_rooms(self, *counts: Any) -> None:
        """Refuse results that a loop of too many iterations had no records for."""
        for needed, room in zip(counts, self.rooms, strict=True):
            if int(needed) > room:
                raise RuntimeError(
                    f"a loop in {self.fun_name} makes {int(needed)} iterations, but was exported "
                    f"with room for the records of {room}; export it with loop_records="
                    f"{int(needed)} or more"
                )

    def _recorded(self, *arrays: Any) -> list:
        return list(staging.record(self.body, arrays, {}, (), self.body.out))

    @functools.cached_property
    def _program(self) -> Any:
        return staging.stage(self._recorded, self.in_avals, self.fun_name)

    def _pullback(self, arrays: tuple, bars: tuple) -> tuple:
        given = [
            np.zeros(aval.shape, aval.dtype) if bar is None else bar
            for bar, aval in zip(bars, self.out_avals, strict=True)
            if dtypes.is_inexact(aval.dtype)
        ]
        found = iter(self.vjp().call(*arrays, *given))
        return tuple(next(found) if is_inexact(x) else None for x in arrays)

    # --- derivatives

    def has_vjp(self) -> bool:
        """Whether its derivative is there."""
        return self._get_vjp is not None

    def vjp(self) -> Exported:
        """Its derivative, as a function of its arguments and the cotangents of its results.

        Arguments and results without a derivative (integers) have no cotangents.

        Errors: ValueError when it was serialized without one.
        """
        if self._get_vjp is None:
            raise ValueError(
                f"{self.fun_name} has no derivative: serialize it with vjp_order=1 or more"
            )
        return self._get_vjp()

    # --- bytes

    def serialize(self, vjp_order: int = 0) -> bytearray:
        """The function as bytes, with its derivatives up to `vjp_order`."""
        if vjp_order < 0:
            raise ValueError(f"vjp_order must not be negative, got {vjp_order}")
        parts, payloads = self.parts()
        if vjp_order:
            payloads.append(bytes(self.vjp().serialize(vjp_order - 1)))
        header = {
            "fun_name": self.fun_name,
            "in_tree": tree_to_json(self.in_tree),
            "in_avals": [aval_to_json(a) for a in self.in_avals],
            "out_tree": tree_to_json(self.out_tree),
            "out_avals": [aval_to_json(a) for a in self.out_avals],
            "disabled_checks": [check.text for check in self.disabled_safety_checks],
            "has_vjp": bool(vjp_order),
            **parts,
        }
        return pack(header, payloads)

    def parts(self) -> tuple[dict[str, Any], list[bytes]]:
        """(what the header says of the program, the payloads with the program itself)."""
        modules = list(dict.fromkeys(self.body.modules.values()))
        places = {p: modules.index(m) for p, m in self.body.modules.items()}
        return {"platforms": places, "rooms": self.rooms}, modules

    def __repr__(self) -> str:
        inputs, outputs = (", ".join(map(str, a)) for a in (self.in_avals, self.out_avals))
        return f"Exported({self.fun_name}: ({inputs}) -> ({outputs}))"


def deserialize(blob: bytes | bytearray) -> Exported:
    """An exported function from its bytes.

    Errors: ValueError for bytes that are damaged or something else.
    """
    header, payloads = unpack(blob)
    try:
        derivative = payloads.pop() if header["has_vjp"] else None
        get_vjp = functools.cache(lambda: deserialize(derivative)) if derivative else None
        if "equations" in header:
            from overt.runtime.exported_sizes import sized_from

            return sized_from(header, payloads, get_vjp)
        common = common_parts(header, None)
        modules = {p: payloads[i] for p, i in header["platforms"].items()}
        rooms = header["rooms"]
    except (KeyError, IndexError, TypeError) as error:
        raise ValueError(f"this exported function lacks a part: {error!r}") from None
    name, trees, in_avals, out_avals, checks = common
    out = (*out_avals, *counts_of(rooms))
    body = ExportedCall(name, modules, out, DisabledSafetyCheck.platform() in checks)
    return Exported(
        name, trees, in_avals, out_avals, body, disabled_safety_checks=checks, get_vjp=get_vjp,
        rooms=rooms,
    )  # fmt: skip


def counts_of(rooms: Sequence[int]) -> list[Aval]:
    """The kinds of the counts of records that a program returns last."""
    return [Aval((), numpy.dtype("int32"))] * len(rooms)


def common_parts(header: dict[str, Any], scope: Any) -> tuple:
    """(name, trees, kinds of arguments, kinds of results, checks) that a header tells."""
    trees = tree_from_json(header["in_tree"]), tree_from_json(header["out_tree"])
    in_avals, out_avals = (
        [aval_from_json(a, scope) for a in header[name]] for name in ("in_avals", "out_avals")
    )
    checks = [DisabledSafetyCheck(text) for text in header["disabled_checks"]]
    return header["fun_name"], trees, in_avals, out_avals, checks


def aval_to_json(aval: Aval) -> list[Any]:
    """Shape, dtype and weakness as JSON; sizes to be filled in as texts."""
    shape = [n if type(n) is int else str(n) for n in aval.shape]
    return [shape, aval.dtype.name, aval.weak]


def aval_from_json(text: list[Any], scope: Any) -> Aval:
    shape, name, weak = text
    if any(isinstance(n, str) for n in shape):
        from overt.runtime.symbolic_shapes import parsed

        shape = [parsed(n, scope) if isinstance(n, str) else n for n in shape]
    return Aval(tuple(shape), numpy.dtype(getattr(dtypes, name, name)), weak)
