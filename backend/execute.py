"""Buffers in and out of devices, compiling modules, running what was compiled.

`jaxlib.xla_client` is imported with this module; MLIR only when something is compiled.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jaxlib import _jax, xla_client

from overt.backend.client import default_device

Buffer = _jax.ArrayImpl
Device = _jax.Device
JaxRuntimeError = _jax.JaxRuntimeError
_ZERO_COPY = _jax.HostBufferSemantics.ZERO_COPY
_DURING_CALL = _jax.HostBufferSemantics.IMMUTABLE_ONLY_DURING_CALL


class OnDevice(_jax.SingleDeviceSharding):
    """Where an array lives: one device."""

    memory_kind: Any = None

    def __new__(cls, device: Any) -> OnDevice:
        return _jax.SingleDeviceSharding.__new__(cls, device)

    def __init__(self, device: Any):
        super().__init__(device)
        self.device = device

    def _to_xla_hlo_sharding(self, ndim: int) -> Any:
        return xla_client.HloSharding.replicate()

    @property
    def device_set(self) -> set:
        return {self.device}

    def __repr__(self) -> str:
        return f"OnDevice({self.device})"


@functools.cache
def placement(device: Any) -> OnDevice:
    """The one `OnDevice` of a device."""
    return OnDevice(device)


def put(array: np.ndarray, aval: Any, device: Any = None, copy: bool = True) -> Any:
    """Copy an ndarray to a device; without `copy` the buffer may alias its memory for ever."""
    if device is None:
        device = default_device()
    if array.dtype != aval.dtype:
        array, copy = array.astype(aval.dtype), False
    return _jax.batched_device_put(
        aval, placement(device), [array], [device], False, False,
        _DURING_CALL if copy else _ZERO_COPY, True,
    )  # fmt: skip


def move(buffer: Any, aval: Any, device: Any) -> Any:
    """Copy a buffer to another device."""
    return _jax.batched_device_put(
        aval, placement(device), [buffer], [device], True, False, _ZERO_COPY, True
    )


def to_numpy(buffer: Any, aval: Any = None) -> np.ndarray:
    """The buffer's numbers; read-only, and on CPU the buffer's own memory."""
    aval = buffer.aval if aval is None else aval
    gather = getattr(buffer._sharding, "gather", None)
    if gather is not None:  # in pieces on several devices
        return gather(buffer)
    if buffer.platform() != "cpu":
        return buffer._single_device_array_to_np_array_did_copy()[0]
    # jaxlib's own way out, above, imports the whole of jax where that is installed.
    try:
        return np.asarray(memoryview(buffer))
    except BufferError:
        array = _small_dtype_to_numpy(buffer, aval)
    array.flags.writeable = False
    return array


_plain: dict[Any, tuple[Executable, np.dtype, bool]] = {}


def _small_dtype_to_numpy(buffer: Any, aval: Any) -> np.ndarray:
    """The same for dtypes that Python's buffers do not know (bfloat16, int4): by way of bits."""
    found = _plain.get(aval)
    if found is None:
        from overt.backend import module

        packed = aval.dtype.name.endswith(("int2", "int4", "float4_e2m1fn"))
        plain = np.dtype("float32" if packed else f"uint{8 * aval.dtype.itemsize}")
        read = "convert" if packed else "bitcast"
        made, _ = module.build("read", [aval], lambda b, x: [getattr(b, read)(x[0], plain)])
        out = type(aval)(aval.shape, plain)
        found = _plain[aval] = compile_module(made, [out]), plain, packed
    run, _, packed = found
    array = np.asarray(memoryview(run([move(buffer, aval, run.device)])[0]))
    return array.astype(aval.dtype) if packed else array.copy().view(aval.dtype)


_OLD_HANDLER = "_skip_checks" in (_jax.array_result_handler.__doc__ or "")


def result_handler(aval: Any, sharding: Any, committed: bool = False) -> Any:
    """jaxlib's maker of result buffers."""
    if _OLD_HANDLER:
        return _jax.array_result_handler(aval, sharding, committed=committed, _skip_checks=True)
    return _jax.array_result_handler(aval, sharding, committed=committed)


class Executable:
    """A compiled program: buffers in, buffers out."""

    __slots__ = ("loaded", "run", "handlers", "effects", "keep", "device")

    def __init__(
        self, loaded: Any, out: Sequence[Any], device: Any, effects: bool = False, keep: Any = None
    ):
        self.loaded = loaded
        self.run = loaded.execute_sharded
        where = placement(device)
        self.handlers = [result_handler(aval, where) for aval in out]
        self.effects = effects
        self.keep = keep  # callbacks must outlive the program
        self.device = device

    def __call__(self, buffers: Sequence[Any]) -> list[Any]:
        if self.effects:
            results = self.run(buffers, with_tokens=True)
            token = results.consume_token()
            made = results.consume_with_handlers(self.handlers)
            token.block_until_ready()
            return made
        return self.run(buffers).consume_with_handlers(self.handlers)


def compile_options(device: Any, settings: dict[str, Any] | None = None) -> Any:
    """XLA's options for one device; `settings` are XLA debug options by name."""
    options = xla_client.CompileOptions()
    options.num_replicas = options.num_partitions = 1
    if device is not None:
        options.device_assignment = xla_client.DeviceAssignment.create(np.array([[device.id]]))
    build = options.executable_build_options
    build.num_replicas = build.num_partitions = 1
    if settings:
        options.env_option_overrides = list(settings.items())
    return options


def compile_module(
    module: Any,
    out: Sequence[Any],
    device: Any = None,
    callbacks: Sequence[Callable] = (),
    settings: dict[str, Any] | None = None,
    cache: Any = None,
) -> Executable:
    """Compile an MLIR module for one device; `out` are the results' avals.

    `cache` is the `disk_cache.Policy` of a folder of compiled programs.
    """
    device = default_device() if device is None else device
    options = compile_options(device, settings)
    devices = _jax.DeviceList((device,))
    compile_ = device.client.compile_and_load
    if callbacks:
        loaded = compile_(module, devices, options, list(callbacks))
    elif cache is not None:
        from overt.backend import disk_cache

        loaded = disk_cache.through(
            cache, module, device, settings, lambda: compile_(module, devices, options)
        )
    else:
        loaded = compile_(module, devices, options)
    return Executable(loaded, out, device, bool(callbacks), callbacks)


def block(buffers: Sequence[Any]) -> None:
    """Wait until buffers hold their results."""
    _jax.batched_block_until_ready(list(buffers))


def to_dlpack(buffer: Any, stream: Any = None) -> Any:
    """A DLPack capsule that shares the buffer's memory."""
    return _jax.buffer_to_dlpack_managed_tensor(buffer, stream=stream)


def from_dlpack(capsule: Any, device: Any, stream: Any = None, copy: Any = None) -> Any:
    """A buffer that shares the memory of a DLPack capsule."""
    return _jax.dlpack_managed_tensor_to_buffer(capsule, device, stream, copy)


def adopt(buffer: Any, aval: Any) -> Any:
    """A buffer made by someone else, as one with our aval and placement."""
    device = next(iter(buffer.devices())) if hasattr(buffer, "devices") else default_device()
    return move(buffer, aval, device)
