"""`jit`: functions staged once for each kind of arguments and run as compiled programs."""

from __future__ import annotations

import functools
import warnings
import weakref
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from overt.runtime import config
from overt.runtime.array import DeviceArray, explained
from overt.runtime.dispatch import AGAIN, CHECKS, GRAPH
from overt.runtime.errors import StagingError
from overt.runtime.interop import copied, device_put
from overt.runtime.tree_registry import STRICT
from overt.transformer import rewrite, transformed
from overt.transformer.arguments import Call, bound_objects, is_small_integer, needed_inputs
from overt.transformer.guards import still_the_same
from overt.transformer.misses import before_staging
from overt.transformer.staged import Staged
from overt.transformer.static import Chosen
from overt.transformer.transformed import Transformed, noted

_current = config.current
_flatten = STRICT.flatten
EVERY: weakref.WeakSet[Jitted] = weakref.WeakSet()
MOST_VARIANTS = 32  # programs kept for one kind of arguments, for values that are read outside
MANY_SHAPES = 16  # programs for values of one argument before a warning


class Jitted(Transformed):
    """A function that runs as compiled programs, one for each kind of arguments."""

    chain = "jit"
    suffix = "lifted"

    def __init__(
        self, fn: Callable, static_argnums: Any = None, static_argnames: Any = None,
        donate_argnums: Any = None, donate_argnames: Any = None, keep_unused: bool = False,
        device: Any = None, backend: Any = None, inline: bool = False,
        compiler_options: dict[str, Any] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(fn)
        self.options = {
            "static_argnums": static_argnums, "static_argnames": static_argnames,
            "donate_argnums": donate_argnums, "donate_argnames": donate_argnames,
            "device": device, "backend": backend, "compiler_options": compiler_options,
        }  # fmt: skip
        self.checked: dict[frozenset[str], Jitted] = {}  # by what `checkify` looks for
        self.static = Chosen(fn, static_argnums, static_argnames, "static")
        self.donated = Chosen(fn, donate_argnums, donate_argnames, "donate")
        self.donated.refuse_common(self.static)
        self.compiler_options = compiler_options
        self.chosen_place = backend if device is None else device
        self.programs: dict[tuple, Variants] = {}
        self.bound = bound_objects(fn)
        self.slow = bool(self.static) or self.chosen_place is not None
        self.quick: dict[tuple, tuple] = {}  # for arrays alone: the shortest way through
        EVERY.add(self)

    def wrapping(self, fn: Callable, leading: int, count: int) -> Jitted:
        """What is differentiated is the function; a program of it would serve no other call."""
        return Jitted(fn)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if kwargs or self.slow or (GRAPH.get() or CHECKS.get()) is not None:
            return self.general(args, kwargs)
        key: list[Any] = [_current()]
        buffers = []
        for x in args:
            if type(x) is not DeviceArray:
                break
            key.append(x.aval)
            buffers.append(x.buffer)
        else:
            quick = self.quick.get(tuple(key))
            if quick is not None:
                run, consts, handlers, aval, names, cells, functions = quick
                for holder, name, value in names:
                    if holder.get(name) is not value:
                        break
                else:
                    if still_the_same(cells, functions):
                        try:
                            (made,) = run(buffers + consts).consume_with_handlers(handlers)
                        except Exception as error:
                            raise self.explained(explained(error, args)) from None
                        return DeviceArray(made, aval)
        return self.tree(args)

    def tree(self, args: tuple) -> Any:
        """Arguments that are trees of arrays."""
        leaves, structure = _flatten(args)
        # Leaves of other types are left out of the key, which then is none of those known.
        avals = [x.aval for x in leaves if type(x) is DeviceArray]
        variants = self.programs.get((structure, _current(), *avals))
        if variants is not None and not variants.promoted:
            for staged in variants.staged:
                arrays = staged.guards.hold(self.bound)
                if arrays is not None:
                    try:
                        given = kept(leaves, staged.program.donated)
                        result = staged.run(leaves, self.bound, arrays)
                    except FloatingPointError as error:
                        self.find_line(error, structure.unflatten(given), {})
                    except Exception as error:
                        raise self.explained(error) from None
                    if staged.quick is not None and all(type(x) is DeviceArray for x in args):
                        self.quick[_current(), *avals] = staged.quick
                    return result
        return self.general(args, {})

    def printed_source(self) -> Any:
        return transformed.lift(self.source())

    # --- the general case

    def general(self, args: tuple, kwargs: dict[str, Any]) -> Any:
        """Any arguments: keywords, static ones, numbers, NumPy arrays, objects, symbolic values."""
        enclosed = transformed.needs_lifting(args, kwargs, of=self) or is_nested()
        if _current().disable_jit or enclosed:
            with noted():
                return self.function()(*args, **kwargs)
        if CHECKS.get() is not None:
            from overt.transformer.checkify import through_jit

            return through_jit(self, args, kwargs)
        call = Call(self, args, kwargs)
        with noted():
            staged, arrays = self.program(call)
            donated = staged.program.donated
            leaves = call.own_donated(donated) if donated else call.leaves
            if self.chosen_place is not None:
                leaves = [device_put(x, self.chosen_place) for x in leaves]
            given = kept(call.every, [call.dynamic[k] for k in donated])
            try:
                return staged.run(leaves, call.objects, arrays)
            except FloatingPointError as error:
                self.find_line(error, *call.rebuilt(given))

    def find_line(self, error: FloatingPointError, args: tuple, kwargs: dict[str, Any]) -> NoReturn:
        """Raise the error from the line that makes the NaN: run it statement by statement."""
        again = AGAIN.set(True)
        try:
            with noted(), config.disable_jit():
                self.function()(*args, **kwargs)
        except FloatingPointError as found:
            raise found.with_traceback(found.__traceback__) from None
        finally:
            AGAIN.reset(again)
        raise error

    def function(self) -> Callable[..., Any]:
        """What is staged: the wrapped function with its control flow lifted."""
        return transformed.lifted(self.__wrapped__)

    def program(self, call: Call) -> tuple[Staged, list[Any]]:
        """The program for a call, staged if there is none yet, and the arrays that it reads."""
        variants = self.programs.get(call.key)
        if variants is None:
            variants = self.programs[call.key] = Variants()
        while True:
            call.promote(variants.promoted)
            found = variants.fitting(call)
            if found is not None:
                return found
            before_staging(self, call)
            try:
                staged = self.staged(call)
            except StagingError as error:
                if not self.promotes(error, call, variants):
                    rewrite.note_place(error, self.result_place())
                    raise
                continue
            table = variants.of(call)
            table.insert(0, staged)
            del table[MOST_VARIANTS:]
            self.warn_of_many(variants)
            arrays = staged.guards.hold(call.objects)
            if arrays is None:
                raise StagingError(
                    f"{transformed.name_of(self)} changes, while it is staged, what it depends on: "
                    + "; ".join(staged.guards.changed(call.objects))
                )
            return staged, arrays

    def result_place(self) -> Any:
        """The user's line with the function's result, for errors that are about the result."""
        function = self.function()
        live = getattr(function, "func", function)
        return rewrite.result_place(live) if hasattr(live, "__code__") else rewrite.NO_PLACE

    def staged(self, call: Call) -> Staged:
        staged = Staged(
            call.run, call.avals, call.objects, transformed.name_of(self).split(".")[-1]
        )
        if self.donated:
            staged.program.donated = usable(staged, call.donated_inputs())
        staged.program.options = self.compiler_options
        return staged

    def promotes(self, error: StagingError, call: Call, variants: Variants) -> bool:
        """Make integer arguments static whose values were needed to stage; False if none were."""
        needed = needed_inputs(error)
        wanted = tuple(sorted({call.dynamic[i] for i in needed if i < len(call.dynamic)}))
        if wanted and all(is_small_integer(call.every[i]) for i in wanted):
            fresh = tuple(i for i in wanted if i not in variants.promoted)
            if fresh:
                variants.promoted = tuple(sorted({*variants.promoted, *fresh}))
                return True
        names = [call.leaf_name(i) for i in wanted]
        if names:
            error.add_note(
                f"the value depends on {' and '.join(names)} of {transformed.name_of(self)}; "
                "arguments whose values are needed can be made static with static_argnames"
            )
        return False

    def warn_of_many(self, variants: Variants) -> None:
        if variants.promoted and len(variants.table) == MANY_SHAPES:
            warnings.warn(
                f"{transformed.name_of(self)} was compiled for {MANY_SHAPES} values of an argument "
                "that its shapes depend on; each further value compiles again",
                stacklevel=5,
            )

    def explained(self, error: Exception) -> Exception:
        rewrite.note_place(error)
        return error

    # --- looking at programs

    def trace(self, *args: Any, **kwargs: Any) -> Any:
        """Stage for arguments, which may be ShapeDtypeStructs, without running."""
        from overt.transformer.stages import Traced

        call = Call(self, args, kwargs, to_run=False)
        with noted():
            while True:
                try:
                    return Traced(self, call, self.staged(call))
                except StagingError as error:
                    variants = Variants()
                    if not self.promotes(error, call, variants):
                        raise
                    call.promote(variants.promoted)

    def lower(self, *args: Any, **kwargs: Any) -> Any:
        """The program for arguments, which may be ShapeDtypeStructs, as StableHLO."""
        return self.trace(*args, **kwargs).lower()

    def eval_shape(self, *args: Any, **kwargs: Any) -> Any:
        """Shapes and dtypes of the results."""
        return self.trace(*args, **kwargs).out_info

    def cache_size(self) -> int:
        """How many programs there are."""
        return sum(len(t) for v in self.programs.values() for t in v.table.values())

    _cache_size = cache_size

    def clear_cache(self) -> None:
        """Forget all programs."""
        self.programs.clear()
        self.quick.clear()


def is_nested() -> bool:
    """Whether several calls of `checkify` are around, each of which looks for other errors."""
    ledger = CHECKS.get()
    return ledger is not None and ledger.outer is not None


class Variants:
    """The programs for one kind of arguments: by values of promoted arguments, then by guards."""

    def __init__(self) -> None:
        self.promoted: tuple[int, ...] = ()
        self.table: dict[tuple, list[Staged]] = {(): []}
        self.staged = self.table[()]

    def of(self, call: Call) -> list[Staged]:
        return self.table.setdefault(call.promoted_values, [])

    def fitting(self, call: Call) -> tuple[Staged, list[Any]] | None:
        for staged in self.table.get(call.promoted_values, ()):
            arrays = staged.guards.hold(call.objects)
            if arrays is not None:
                return staged, arrays
        return None


def kept(leaves: list[Any], donated: Iterable[int]) -> list[Any]:
    """The leaves as they are needed to run again where a NaN is found, donated ones copied."""
    if donated and (_current().debug_nans or _current().debug_infs):
        leaves = list(leaves)
        for i in donated:
            leaves[i] = copied(leaves[i])
    return leaves


def usable(staged: Staged, donated: tuple[int, ...]) -> tuple[int, ...]:
    """The donated inputs whose memory a result can take; a warning names the others."""
    room = [(a.shape, a.dtype) for a in staged.program.out]
    taken, useless = [], []
    returned = {index for _, index in staged.outputs.forwarded}  # are results as they are
    for i in donated:
        if i in returned:
            continue
        aval = staged.program.avals[i]
        kind = (aval.shape, aval.dtype)
        if kind in room:
            room.remove(kind)
            taken.append(i)
        else:
            useless.append(str(aval))
    if useless:
        warnings.warn(
            f"Some donated buffers were not usable: {', '.join(useless)}. No result has the same "
            "shape and dtype, so the caller keeps them.",
            stacklevel=6,
        )
    return tuple(taken)


def jit(fun: Callable | None = None, /, **options: Any) -> Any:
    """Compile a function: it is staged once for each kind of arguments and then runs on XLA.

    `static_argnums` and `static_argnames` choose arguments that are Python values; other options
    are those of JAX.  Control flow, stores into arrays, globals and objects mean what they mean in
    Python.

    >>> import overt
    >>> @overt.jit
    ... def positive_part(x):
    ...     if x > 0:
    ...         return x
    ...     return 0.0
    >>> float(positive_part(2.0)), float(positive_part(-2.0))
    (2.0, 0.0)
    """
    if fun is None:
        return functools.partial(jit, **options)
    return Jitted(fun, **options)
