"""Values of other libraries as our arrays: NumPy, DLPack, anything with `__array__`."""

from __future__ import annotations

from typing import Any

import numpy as np

from overt.runtime import config, dtypes
from overt.runtime.array import Array, DeviceArray, PlacedArray, gone
from overt.runtime.aval import Aval
from overt.runtime.transfers import transferred

_scalars: dict[tuple, DeviceArray] = {}
_SCALAR_TYPES = (bool, int, float, complex)


def _execute() -> Any:
    from overt.backend import execute

    return execute


def host_scalar(x: Any, dtype: np.dtype) -> np.ndarray:
    """A Python number as an ndarray of `dtype`; an int that does not fit is an OverflowError."""
    try:
        return np.asarray(x, dtype)
    except OverflowError:
        raise OverflowError(
            f"Python integer {x} does not fit in {dtype.name}; give it as np.uint32(...) or a "
            "float, or turn on 64-bit dtypes (overt_enable_x64)"
        ) from None


def device_scalar(x: Any) -> DeviceArray:
    """A Python number as a weak scalar on the default device; few of them are kept for reuse."""
    settings = config.current()
    if config.guard_level("host_to_device") != "allow":
        transferred("host_to_device", f"the number {x}")
    kind = type(x)
    if kind not in _SCALAR_TYPES:
        kind = next(t for t in _SCALAR_TYPES if isinstance(x, t))
        x = kind(x)
    # 0.0 and -0.0 are equal, but not the same; nor are numbers on the two sides of a branch cut
    key = (kind, repr(x) if kind is complex else x or repr(x), settings)
    found = _scalars.get(key)
    if found is None:
        dtype, weak = dtypes.kind_of(x)
        aval = Aval((), dtype, weak)
        found = placed(host_scalar(x, dtype), aval)
        if x == x:
            if len(_scalars) > 2000:
                _scalars.clear()
            _scalars[key] = found
    return found


def held_as(x: Any) -> np.dtype:
    """The dtype an ndarray is held in: 64 bits become 32 unless x64 is on.

    Errors: OverflowError for integers that 32 bits cannot hold.
    """
    wanted = dtypes.canonicalize(x.dtype)
    if wanted != x.dtype:
        check_range(x, wanted)
    return wanted


def check_range(x: Any, wanted: np.dtype) -> None:
    """Errors: OverflowError for integers that do not fit in the integer dtype `wanted`."""
    if x.dtype.kind not in "iu" or not dtypes.is_integer(wanted) or not x.size:
        return
    limits = dtypes.iinfo(wanted)
    for extreme in (x.min(), x.max()):
        if not limits.min <= extreme <= limits.max:
            raise OverflowError(
                f"{extreme} does not fit in {wanted.name}; make it a float, or turn 64-bit "
                "dtypes on with config.update('overt_enable_x64', True)"
            )


def placed(array: np.ndarray, aval: Aval, device: Any = None, committed: bool = False) -> Any:
    """An ndarray as an array on `device` (None: the default one)."""
    execute = _execute()
    if device is None:
        device = config.current().default_device
    if device is None:
        return DeviceArray(execute.put(array, aval), aval)
    device = as_device(device)
    if device is execute.default_device() and not committed:
        return DeviceArray(execute.put(array, aval), aval)
    return PlacedArray(execute.put(array, aval, device), aval, device, committed)


def copied(x: DeviceArray) -> DeviceArray:
    """An array of the same numbers with memory of its own."""
    return placed(np.array(x), x.aval)


def as_device(device: Any) -> Any:
    """A device given as such, as a platform's name, or as a number."""
    if isinstance(device, str):
        from overt.backend import client

        platform, _, number = device.partition(":")
        return client.local_devices(platform)[int(number or 0)]
    if isinstance(device, int):
        from overt.backend import client

        return client.local_devices()[device]
    return getattr(device, "device", device)


def as_array(x: Any) -> Array:
    """`x` as one of our arrays: arrays as they are, numbers weak, the rest by DLPack or NumPy."""
    if isinstance(x, Array):
        return x
    if isinstance(x, _SCALAR_TYPES) and not isinstance(x, np.generic):
        return device_scalar(x)
    if not isinstance(x, (np.ndarray, np.generic)):
        x = foreign_to_numpy(x)
    aval = Aval(x.shape, held_as(x))
    transferred("host_to_device", aval)
    return placed(np.asarray(x), aval)


def foreign_to_numpy(x: Any) -> np.ndarray:
    """The numbers of another library's array (it offers `__array__` or DLPack), as an ndarray."""
    if getattr(type(x), "__jax_array__", None):
        x = x.__jax_array__()
    if hasattr(type(x), "__array__"):
        return np.asarray(x)
    if hasattr(type(x), "__dlpack__"):
        return np.from_dlpack(x)
    if hasattr(type(x), "__array_interface__"):
        return np.asarray(x)
    kind = repr(x) if hasattr(type(x), "__overt_truth__") else type(x).__name__
    raise TypeError(f"expected an array or a number, got {kind}; convert it with np.array(...)")


def from_dlpack(x: Any, device: Any = None, copy: bool | None = None) -> DeviceArray:
    """Another library's array as ours, sharing its memory where that is possible."""
    execute = _execute()
    where = _dlpack_device(x)
    target = where if device is None else as_device(device)
    array = _read_by_numpy(x) if where.platform == "cpu" else None
    if array is not None:
        aval = Aval(array.shape, held_as(array))
        buffer = execute.put(array, aval, target, bool(copy))
    else:
        foreign = execute.from_dlpack(x.__dlpack__(), where)
        aval = Aval(tuple(x.shape), np.dtype(str(x.dtype).rpartition(".")[2]))
        buffer = execute.move(foreign, aval, target)
    if target is execute.default_device():
        return DeviceArray(buffer, aval)
    return PlacedArray(buffer, aval, target, True)


def _read_by_numpy(x: Any) -> np.ndarray | None:
    """Memory of this machine as NumPy sees it; None of numbers that it does not have: bfloat16."""
    try:
        return np.from_dlpack(x)
    except (BufferError, RuntimeError):
        if str(x.dtype).rpartition(".")[2] != "bfloat16":
            raise
        return None


def is_supported_dtype(dtype: Any) -> bool:
    """Whether arrays of a dtype can be shared by DLPack, which has no numbers of odd widths.

    >>> is_supported_dtype("float32"), is_supported_dtype("int4")
    (True, False)
    """
    dtype = np.dtype(dtype)
    return dtype == dtypes.bfloat16 or dtype.isbuiltin == 1 and dtype.kind in "biufc"


def _dlpack_device(x: Any) -> Any:
    from overt.backend import client

    kind, number = x.__dlpack_device__()
    platform = {1: "cpu", 2: "cuda", 3: "cuda"}.get(kind)
    if platform is None:
        raise TypeError(f"from_dlpack: arrays on DLPack device type {kind} are not supported")
    return client.local_devices(platform)[number if kind == 2 else 0]


def device_put(x: Any, device: Any = None, copy: bool | None = None) -> Array:
    """One array on a device; given a device it stays there (is committed).

    Errors: StagingError for a value that is not known yet.
    """
    if not isinstance(x, Array):
        transferred("host_to_device", type(x).__name__, explicit=True)
        with config.override("transfer_guard_host_to_device", "allow"):
            return device_put(as_array(x), device, copy)
    if device is None:
        if not copy or not isinstance(x, DeviceArray):
            return x
        device, committed = x.device, isinstance(x, PlacedArray) and x.committed
        return placed(np.array(x), x.aval, device, committed=committed)
    device = as_device(device)
    if isinstance(x, (np.ndarray, np.generic)):
        aval = Aval(x.shape, held_as(x))
        return placed(np.asarray(x), aval, device, committed=True)
    array = as_array(x)
    if not isinstance(array, DeviceArray):
        return array  # where a value of a program lives is the program's business
    if array.is_deleted():
        raise gone(array)
    if copy and array.device is device:
        return placed(np.array(array), array.aval, device, committed=True)
    if array.device is not device:
        transferred("device_to_device", array.aval, explicit=True)
    buffer = _execute().move(array.buffer, array.aval, device)
    return PlacedArray(buffer, array.aval, device, True)


def device_get(x: Any) -> Any:
    """One array as an ndarray."""
    if not isinstance(x, Array):
        return x
    if isinstance(x, DeviceArray) and x.device.platform != "cpu":
        transferred("device_to_host", x.aval, explicit=True)
    with config.override("transfer_guard_device_to_host", "allow"):
        return np.asarray(x)


def live_arrays(platform: str | None = None) -> list[DeviceArray]:
    """All arrays that hold memory on the devices of a platform.

    >>> kept = placed(np.zeros(12345, "float32"), Aval((12345,), "float32"))
    >>> kept.shape in [x.shape for x in live_arrays()]
    True
    """
    from overt.backend import client

    found: list[DeviceArray] = []
    for buffer in client.client(platform or client.default_platform()).live_arrays():
        device = getattr(buffer._sharding, "device", None)
        if device is not None and type(buffer.aval) is Aval and not buffer.is_deleted():
            found.append(PlacedArray(buffer, buffer.aval, device, False))
    return found


def block_until_ready(arrays: Any) -> None:
    """Wait until every array of an iterable holds its result."""
    buffers = [x.buffer for x in arrays if isinstance(x, DeviceArray)]
    if buffers:
        _execute().block(buffers)


def devices(backend: str | None = None) -> list[Any]:
    """All devices of a platform; of the default one when none is named."""
    from overt.backend import client

    return client.devices(backend)


def local_devices(
    process_index: int | None = None, backend: str | None = None, host_id: int | None = None
) -> list[Any]:
    """The devices of a platform that this process can use; it is the only one, number 0.

    Errors: ValueError for another process.
    """
    from overt.backend import client

    for number in (process_index, host_id):
        if number not in (None, 0):
            raise ValueError(f"there is one process, number 0, and no number {number!r}")
    return client.local_devices(backend)


def default_backend() -> str:
    """'cpu', 'gpu' or 'tpu': the platform new arrays go to."""
    from overt.backend import client

    platform = client.default_platform()
    return "gpu" if platform in ("cuda", "rocm") else platform


def snapshot(x: Any) -> Any:
    """The value as it is now: a copy of a NumPy array or of a container, anything else itself.

    >>> weights = [np.ones(2)]
    >>> before = snapshot(weights)
    >>> weights[0][:] = 5.0
    >>> before
    [array([1., 1.])]
    """
    if type(x) is np.ndarray:
        return x.copy()
    if type(x) in (list, tuple):
        return type(x)(map(snapshot, x))
    if type(x) is dict:
        return {key: snapshot(value) for key, value in x.items()}
    return x
