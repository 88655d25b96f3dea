"""Calls of Python functions on the host from inside a running program."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from overt.runtime import interop
from overt.runtime.aval import Aval
from overt.runtime.dispatch import CHECKS
from overt.runtime.primitive import GRAPH, Primitive


class Effects:
    """The host calls of one program whose run may be rejected, because a buffer was too small.

    Calls without results wait until the run is accepted; calls with results are made at once and
    their results used again in the next run, so that no effect happens twice.
    """

    def __init__(self) -> None:
        self.waiting: list[tuple[Callable, tuple]] = []
        self.given: dict[int, deque] = {}
        self.replay: dict[int, deque] = {}

    def call(self, index: int, fn: Callable, arrays: tuple, has_results: bool) -> Any:
        if not has_results:
            self.waiting.append((fn, tuple(map(np.array, arrays))))
            return ()
        replay = self.replay.get(index)
        result = replay.popleft() if replay else fn(*arrays)
        self.given.setdefault(index, deque()).append(result)
        return result

    def rejected(self) -> None:
        """The run did not count: what was given is given again."""
        self.waiting.clear()
        self.replay, self.given = self.given, {}

    def accepted(self) -> None:
        """The run counts: make the calls that waited."""
        waiting, self.waiting = self.waiting, []
        self.replay, self.given = {}, {}
        for fn, arrays in waiting:
            fn(*arrays)


class CallbackErrors:
    """Exceptions raised on the host inside a running program, raised again by whoever runs it."""

    raised: list[BaseException] = []


def _host_function(
    fn: Callable, result_avals: tuple[Aval, ...], ordered: bool, index: int, effects: Effects | None
) -> Callable:
    """`fn` with its results checked; ordered, with the token handed through."""

    def call(*arrays: np.ndarray) -> tuple:
        token, arrays = (arrays[:1], arrays[1:]) if ordered else ((), arrays)
        staged, told = GRAPH.set(None), CHECKS.set(None)
        try:
            if effects is not None:
                results = effects.call(index, fn, arrays, bool(result_avals))
            else:
                results = fn(*arrays)
            return (*token, *converted_results(results, result_avals))
        except BaseException as error:
            CallbackErrors.raised.append(error)
            raise
        finally:
            GRAPH.reset(staged)
            CHECKS.reset(told)

    return call


def converted_results(results: Any, avals: tuple[Aval, ...]) -> tuple[np.ndarray, ...]:
    """What a host function returned, as ndarrays of the declared avals."""
    if not isinstance(results, (list, tuple)):
        results = () if not avals else (results,)
    if len(results) != len(avals):
        raise TypeError(f"the host function gave {len(results)} results, {len(avals)} declared")
    made = []
    for i, (x, aval) in enumerate(zip(results, avals, strict=True)):
        array = np.asarray(x)
        narrowed = array.dtype.kind == aval.dtype.kind  # 64-bit results of NumPy code
        if array.shape != aval.shape or not (
            narrowed or np.can_cast(array.dtype, aval.dtype, "same_kind")
        ):
            raise TypeError(
                f"the host function's result {i} is {array.dtype}{list(array.shape)}, "
                f"declared {aval}"
            )
        made.append(np.ascontiguousarray(array, aval.dtype).reshape(aval.shape))
    return tuple(made)


def _lower(
    b: Any, *values: Any, avals: Any, out: Any, fn: Callable, result_avals: tuple, ordered: bool,
    method: str,
) -> list:  # fmt: skip
    call = _host_function(fn, result_avals, ordered, len(b.callbacks), b.effects)
    if not ordered:
        return b.callback(call, values, out)
    # Ordered calls are a chain: each takes the scalar that the one before it gave.
    token = b.token if b.token is not None else b.full((), 0, np.int32)
    made = b.callback(call, [token, *values], [((), np.int32), *out])
    b.token = made[0]
    return made[1:]


def for_each_lane(fn: Callable, has_results: bool, size: int, axes: Sequence[Any]) -> Callable:
    """`fn` called once for each lane, of arrays of which some have lanes in front."""

    def call(*arrays: np.ndarray) -> tuple:
        results = []
        for k in range(size):
            made = fn(*[x if a is None else x[k] for x, a in zip(arrays, axes, strict=True)])
            results.append(made if isinstance(made, (list, tuple)) else (made,))
        if not has_results:
            return ()
        return tuple(np.stack(column) for column in zip(*results, strict=True))

    return call


def widened(x: Any, size: int, method: str) -> Any:
    """An operand without lanes, as the methods that call once for all lanes give it."""
    from overt.runtime import numpy as np

    if method == "legacy_vectorized":
        return x
    return np.broadcast_to(x, (size if method == "broadcast_all" else 1, *np.shape(x)))


def _batch(
    values: Any, axes: Any, size: int, *, fn: Callable, result_avals: tuple, ordered: bool,
    method: str, pure: bool = False,
) -> tuple[Any, Any]:  # fmt: skip
    avals = tuple(a.update(shape=(size, *a.shape)) for a in result_avals)
    if not size:
        return tuple(np.zeros(a.shape, a.dtype) for a in avals), [0] * len(avals)
    if method.startswith("sequential"):
        fn = for_each_lane(fn, bool(avals), size, axes)
    else:
        pairs = zip(values, axes, strict=True)
        values = [widened(x, size, method) if a is None else x for x, a in pairs]
    results = host_callback(fn, avals, *values, ordered=ordered, method=method, pure=pure)
    return results, [0] * len(avals)


CALLBACK = Primitive(
    "host_callback",
    shape=lambda *avals, fn, result_avals, ordered, method: list(result_avals),
    lower=_lower,
    batch=_batch,
    arrays=("operands",),
    effect=True,
    doc="A call of a Python function on the host.",
)
# The same for a function without effects, which is left out where its results are not used.
PURE_CALLBACK = Primitive(
    "pure_callback",
    shape=CALLBACK.shape,
    lower=_lower,
    batch=lambda values, axes, size, **params: _batch(values, axes, size, **params, pure=True),
    arrays=("operands",),
    doc="A call of a Python function without effects on the host.",
)


def host_callback(
    fn: Callable, result_avals: Sequence[Aval], *operands: Any, ordered: bool = True,
    method: str = "sequential", pure: bool = False,
) -> tuple[Any, ...]:  # fmt: skip
    """Call `fn(*ndarrays)` when the program gets here; a tuple of results of the declared avals.

    At once when nothing is being staged.  Ordered calls happen in the order of the program.  Under
    `vmap` it is called as `method` says, once for each lane by default.

    >>> host_callback(lambda x: x + 1, [Aval((), np.dtype("float32"))], 1.0)
    (Array(2., dtype=float32),)
    """
    avals = tuple(result_avals)
    if GRAPH.get() is None and all(getattr(x, "level", 0) == 0 for x in operands):
        arrays = [np.asarray(interop.as_array(x)) for x in operands]
        results = converted_results(fn(*arrays), avals)
        return tuple(interop.placed(x, a) for x, a in zip(results, avals, strict=True))
    primitive = PURE_CALLBACK if pure else CALLBACK
    return primitive(*operands, fn=fn, result_avals=avals, ordered=ordered, method=method)
