"""Runs operations at once, each as an executable compiled once per avals and parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from overt.runtime import config, interop, program_cache
from overt.runtime.array import Array, DeviceArray, PlacedArray, explained, gone
from overt.runtime.aval import Aval
from overt.runtime.primitive import Primitive, static_key
from overt.runtime.transfers import transferred

_cache: dict[tuple, Entry] = {}
_current = config.current


class Entry:
    """A compiled operation with what is needed to run it and wrap its results."""

    __slots__ = ("run", "handlers", "executable", "out", "single", "integers")

    def __init__(self, executable: Any, out: tuple[Aval, ...], many: bool, integers: Any = None):
        self.executable = executable
        self.run = executable.run
        self.handlers = executable.handlers
        self.out = out
        self.single = None if many or executable.effects else out[0]
        self.integers = integers  # range of the dtype that Python integers are converted to


def refuse_execution(name: str) -> None:
    """Errors: RuntimeError where the setting `no_execution` is on."""
    if _current().no_execution:
        raise RuntimeError(f"{name} would be run, but the setting no_execution is on")


def execute(primitive: Primitive, operands: tuple, params: dict) -> Any:
    """The result of a primitive on concrete operands."""
    key: list[Any] = [primitive, settings := _current()]
    if settings.default_device is not None:
        return _execute_placed(primitive, operands, params)
    buffers = []
    for x in operands:
        if type(x) is not DeviceArray:
            x = operand(x)
            if type(x) is not DeviceArray:
                return _execute_placed(primitive, operands, params)
        key.append(x.aval)
        buffers.append(x.buffer)
    if params:
        key.append(static_key(params))
    try:
        entry = _cache.get(tuple(key))
    except TypeError:
        raise _unhashable(primitive, params) from None
    if entry is None:
        refuse_execution(primitive.name)
        avals = tuple(key[2 : 2 + len(operands)])
        entry = _cache[tuple(key)] = compile_primitive(primitive, avals, params)
    if entry.integers is not None:
        _check_integers(entry, operands)
    if entry.single is not None:
        try:
            (buffer,) = entry.run(buffers).consume_with_handlers(entry.handlers)
        except Exception as error:
            raise explained(error, operands) from None
        result: Any = DeviceArray(buffer, entry.single)
    else:
        made = run(entry.executable, buffers, operands)
        result = tuple(map(DeviceArray, made, entry.out))
        if len(result) == 1 and not primitive.infer(tuple(key[2 : 2 + len(operands)]), params)[1]:
            result = result[0]
    if settings.debug_nans or settings.debug_infs:
        check_finite(primitive.name, result if isinstance(result, tuple) else (result,), settings)
    return result


def run(executable: Any, buffers: list, arrays: Any) -> list:
    """Run; an error that is about the arrays says so."""
    try:
        return executable(buffers)
    except Exception as error:
        raise explained(error, arrays) from None


def _unhashable(primitive: Any, params: dict) -> TypeError:
    for name, value in params.items():
        try:
            hash(static_key(value))
        except TypeError:
            kind = type(value).__name__
            return TypeError(
                f"{primitive.__name__}: {name}= must be a hashable Python value, got a {kind}"
            )
    return TypeError(f"{primitive.__name__}: unhashable parameter")


def operand(x: Any) -> DeviceArray:
    """A concrete operand as an array on a device."""
    if isinstance(x, DeviceArray):
        return x
    if isinstance(x, Array):
        return x.concrete("an operand of an operation that runs at once")
    return interop.as_array(x)  # type: ignore[return-value]


def _check_integers(entry: Entry, operands: tuple) -> None:
    low, high, name = entry.integers
    for x in operands:
        if type(x) is int and not low <= x <= high:
            raise OverflowError(
                f"Python integer {x} is out of bounds for {name}; convert the array first"
            )


def integer_range(primitive: Primitive, avals: tuple[Aval, ...]) -> tuple[int, int, str] | None:
    """Bounds for Python integers where an elementwise operation narrows them."""
    if not primitive.elementwise or not any(a.weak and a.dtype.kind == "i" for a in avals):
        return None
    dtype, _ = primitive.operand_dtype(avals)
    if dtype.kind not in "iu" or dtype.isbuiltin != 1 or dtype.itemsize > 2 and dtype.kind == "i":
        return None
    info = np.iinfo(dtype)
    return int(info.min), int(info.max), dtype.name


def compile_primitive(
    primitive: Primitive, avals: tuple[Aval, ...], params: dict, device: Any = None
) -> Entry:
    """Compile one primitive for operands of these avals."""
    from overt.backend import execute as backend
    from overt.backend import module as modules

    out, many = primitive.infer(avals, params)
    target = backend.default_device() if device is None else device

    def body(b: Any, arguments: list) -> list:
        return primitive.emit(b, arguments, avals, out, many, params)

    module, callbacks = modules.build(primitive.name, avals, body, target.platform)
    cache = program_cache.policy()
    executable = backend.compile_module(module, out, target, callbacks, cache=cache)
    return Entry(executable, out, many, integer_range(primitive, avals))


def common_device(arrays: list[DeviceArray]) -> tuple[Any, bool]:
    """(device, committed) that an operation on these arrays runs on."""
    committed = {x.device for x in arrays if isinstance(x, PlacedArray) and x.committed}
    if len(committed) > 1:
        names = ", ".join(sorted(map(str, committed)))
        raise ValueError(
            f"Received incompatible devices: operands were put on {names}; device_put them on one"
        )
    if committed:
        return committed.pop(), True
    chosen = config.current().default_device
    if chosen is not None:
        return interop.as_device(chosen), False
    return next((x.device for x in arrays if isinstance(x, PlacedArray)), None), False


def on_device(arrays: list[DeviceArray], device: Any) -> list[Any]:
    """The arrays' buffers, moved to `device` where they are elsewhere."""
    from overt.backend import execute as backend

    for x in arrays:
        if x.device is not device:
            if x.is_deleted():
                raise gone(x)
            transferred("device_to_device", x.aval)
    return [
        x.buffer if x.device is device else backend.move(x.buffer, x.aval, device) for x in arrays
    ]


def wrap(buffers: list, avals: tuple[Aval, ...], device: Any, committed: bool) -> list[DeviceArray]:
    """Result buffers as arrays on `device`."""
    from overt.backend import execute as backend

    if device is backend.default_device() and not committed:
        return list(map(DeviceArray, buffers, avals))
    return [PlacedArray(x, a, device, committed) for x, a in zip(buffers, avals, strict=True)]


def _execute_placed(primitive: Primitive, operands: tuple, params: dict) -> Any:
    """The same for arrays that are committed to a device, or not on the default one."""
    from overt.backend import execute as backend

    arrays = [operand(x) for x in operands]
    device, committed = common_device(arrays)
    device = backend.default_device() if device is None else device
    avals = tuple(x.aval for x in arrays)
    key = (primitive, config.current(), device, avals, static_key(params))
    entry = _cache.get(key)
    if entry is None:
        refuse_execution(primitive.name)
        entry = _cache[key] = compile_primitive(primitive, avals, params, device)
    made = run(entry.executable, on_device(arrays, device), arrays)
    result = wrap(made, entry.out, device, committed)
    settings = config.current()
    if settings.debug_nans or settings.debug_infs:
        check_finite(primitive.name, result, settings)
    return tuple(result) if primitive.infer(avals, params)[1] else result[0]


def check_finite(name: str, arrays: Any, settings: config.Settings) -> None:
    """Raise FloatingPointError for a NaN (or infinity) that `name` produced, where that is on."""
    for x in arrays:
        if x.dtype.kind not in "fcV":
            continue
        values = np.asarray(x)
        if values.dtype.kind not in "fc":
            values = values.astype(np.float32)
        values = _on_this_path(values)
        if settings.debug_nans and np.isnan(values).any():
            raise FloatingPointError(f"invalid value (nan) encountered in {name}")
        if settings.debug_infs and np.isinf(values).any():
            raise FloatingPointError(f"invalid value (inf) encountered in {name}")


def _on_this_path(values: np.ndarray) -> np.ndarray:
    """The rows of the lanes that are on the path being executed; the others are not used."""
    from overt.runtime.lanes import Lanes
    from overt.runtime.masks import active_lanes

    mask = active_lanes()
    while isinstance(mask, Lanes):
        mask = mask.value
    if mask is None or hasattr(mask, "node"):
        return values
    active = np.asarray(mask)
    n = active.ndim
    if values.shape[:n] != active.shape:
        return values.reshape(-1)[:0]  # of several lanes: it is looked at where they are joined
    return values[active]
