"""A staged function: its graph, its text, and how it is compiled and run."""

from __future__ import annotations

import copy
import gc
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from overt.runtime import config, eager, program_cache, staging
from overt.runtime.array import DeviceArray, explained
from overt.runtime.asked_again import asked_again
from overt.runtime.aval import Aval
from overt.runtime.joined_values import choosing
from overt.runtime.primitive import GRAPH
from overt.runtime.special_methods import lifting_special_methods

if TYPE_CHECKING:
    from overt.runtime.host import Effects


@contextmanager
def collector_paused() -> Iterator[None]:
    """No garbage collection in the block: nodes are many, live on, and are scanned in vain."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


class Program:
    """What `fn` does to arrays of the given avals.

    >>> from overt.runtime.staging import stage
    >>> import numpy
    >>> program = stage(lambda x: [x], [Aval((2,), numpy.dtype("float32"))])
    >>> program.run([numpy.ones(2, "float32")])
    [Array([1., 1.], dtype=float32)]
    """

    def __init__(self, fn: Callable, avals: tuple[Aval, ...], name: str = "main"):
        self.fn = fn
        self.avals = avals
        self.name = name
        self.donated: tuple[int, ...] = ()
        self.options: dict[str, Any] | None = None  # XLA debug options by name
        self.effects: Effects | None = None
        self._lock = threading.RLock()
        self._stage()

    def _stage(self) -> None:
        with collector_paused(), lifting_special_methods(self.fn):
            self.graph = asked_again(lambda: choosing(lambda: staging.trace(self.fn, self.avals)))
        self.out = self.graph.out
        self.checks = self.graph.capacities
        if self.checks and self.graph.effect and self.effects is None:
            from overt.runtime.host import Effects

            self.effects = Effects()
        self.consts: list[DeviceArray] | None = None
        self._ready: tuple | None = None
        self._executables: dict[Any, tuple] = {}

    # ---- compiling ----

    def module(self, platform: str = "cpu", contained: bool = False) -> tuple[Any, list[Callable]]:
        """(MLIR module, host callbacks); the concrete arrays met become `self.consts`.

        `contained`: they are written into the module instead.
        """
        from overt.backend import module as modules
        from overt.runtime.emission import Emitter

        graph = self.graph
        outputs = [*graph.outputs, *(count for _, count, _ in self.checks)]
        avals = [*self.out, *[Aval((), np.dtype("int32"))] * len(self.checks)]

        def body(b: Any, arguments: list) -> list:
            b.effects = self.effects
            emitter = Emitter(b, graph, outputs, arguments, contained)
            emitter.name = self.name
            emitter.emit(graph)
            results = [emitter.converted(x, a) for x, a in zip(outputs, avals, strict=True)]
            self.consts = [x for x, _ in emitter.consts.values()]
            return results

        token = GRAPH.set(None)
        try:
            with collector_paused():
                return modules.build(self.name, self.avals, body, platform, self.donated)
        finally:
            GRAPH.reset(token)

    def compile(self, device: Any = None) -> Any:
        """The executable for a device (the default one), made once."""
        return self._compiled(device)[0]

    def _compiled(self, device: Any = None) -> tuple:
        """(executable, constant buffers)."""
        from overt.backend import execute

        device = execute.default_device() if device is None else device
        found = self._executables.get(device)
        if found is None:
            with self._lock:
                found = self._executables.get(device)
                if found is None:
                    found = self._executables[device] = self._compile(device)
        return found

    def _compile(self, device: Any) -> tuple:
        from overt.backend import execute

        if config.current().log_compiles:
            import logging

            kinds = ", ".join(map(str, self.avals))
            logging.getLogger("overt").warning("compiling %s for (%s)", self.name, kinds)
        module, callbacks = self.module(device.platform)
        if config.config.enable_checks:
            module.operation.verify()
        out = [*self.out, *[Aval((), np.dtype("int32"))] * len(self.checks)]
        cache = program_cache.policy()
        made = execute.compile_module(module, out, device, callbacks, self.options, cache)
        assert self.consts is not None
        return made, eager.on_device(self.consts, device)

    def with_options(self, options: dict[str, Any]) -> Program:
        """The same program, compiled apart with these options."""
        other = copy.copy(self)
        other.options, other._ready, other._executables = options, None, {}
        return other

    def text(self, platform: str = "cpu", debug_info: bool = False) -> str:
        """The program as StableHLO."""
        from overt.backend import module as modules

        return modules.text(self.module(platform)[0], debug_info)

    def optimized(self) -> str:
        """The program after XLA's optimisations, as HLO."""
        return "\n".join(m.to_string() for m in self.compile().loaded.hlo_modules())

    # ---- running ----

    def run(self, arrays: Sequence[Any], others: Sequence[Any] | None = None) -> list[DeviceArray]:
        """The results for concrete arrays of this program's avals.

        `others` take the place of the program's constants.
        """
        ready = self._ready
        if ready is None:
            return self._run(arrays, others)
        buffers = []
        for x in (*arrays, *others) if others is not None else arrays:
            if type(x) is not DeviceArray:
                return self._run(arrays, others)
            buffers.append(x.buffer)
        run, consts, handlers, out = ready
        consts = consts if others is None else []
        try:
            made = run(buffers + consts).consume_with_handlers(handlers)
        except Exception as error:
            raise explained(error, arrays) from error.__cause__
        return list(map(DeviceArray, made, out))

    def _run(self, arrays: Sequence[Any], others: Sequence[Any] | None = None) -> list[DeviceArray]:
        """The general case: any device, effects, growing buffers, checks of the results."""
        eager.refuse_execution(self.name)
        token = GRAPH.set(None)
        try:
            arrays = [eager.operand(x) for x in arrays]
            device, committed = eager.common_device(arrays)  # what is captured goes along
            while True:
                executable, consts = self._compiled(device)
                if others is not None:
                    consts = eager.on_device(list(others), executable.device)
                buffers = eager.on_device(arrays, executable.device) + consts
                try:
                    made = run_checked(executable, buffers)
                except Exception as error:
                    raise explained(error, arrays) from error.__cause__
                counts, made = made[len(self.out) :], made[: len(self.out)]
                if not self._overflowed(counts):
                    break
                if self.effects is not None:
                    self.effects.rejected()
                self._stage()
            if self.effects is not None:
                self.effects.accepted()
        finally:
            GRAPH.reset(token)
        settings = config.current()
        if device is None and not (self.checks or executable.effects or settings.debug_nans
                                   or settings.debug_infs):  # fmt: skip
            kept = self._compiled(device)[1]
            self._ready = executable.run, kept, executable.handlers, self.out
        results = eager.wrap(made, self.out, executable.device, committed)
        if settings.debug_nans or settings.debug_infs:
            eager.check_finite(self.name, results, settings)
        return results

    def _overflowed(self, counts: list) -> bool:
        """Whether a buffer was too small; what was needed is remembered."""
        from overt.backend.execute import to_numpy

        full = False
        for (site, _, room), buffer in zip(self.checks, counts, strict=True):
            needed = int(to_numpy(buffer))
            if needed > room:
                staging.learn_capacity(site, needed)
                full = True
        return full

    def __repr__(self) -> str:
        return f"<program {self.name}: {self.graph}>"


def run_checked(executable: Any, buffers: list) -> list:
    """Run; an exception that a host callback raised is raised again as itself."""
    if not executable.effects:
        return executable(buffers)
    from overt.runtime.host import CallbackErrors

    raised = CallbackErrors.raised
    raised.clear()
    try:
        return executable(buffers)
    except Exception:
        if raised:
            raise raised[0] from raised[0].__cause__
        raise
