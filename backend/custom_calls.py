"""Library functions that programs call by name: LAPACK on CPU, cuSOLVER and friends on GPU."""

from __future__ import annotations

import importlib
import threading
from typing import Any

_lock = threading.Lock()
_done: set[str] = set()


def _register(entries: Any, platform: str) -> None:
    from jaxlib import xla_client

    for name, capsule, version in entries:
        xla_client.register_custom_call_target(
            name, capsule, platform=platform, api_version=version
        )


def register_lapack() -> None:
    """Make LAPACK's functions known to XLA; it loads SciPy's LAPACK, so only when needed."""
    with _lock:
        if "lapack" in _done:
            return
        from jaxlib import lapack

        lapack._lapack.initialize()
        _register(lapack.registrations()["cpu"], "cpu")
        _done.add("lapack")


def register_cuda() -> None:
    """Make the CUDA plugin's functions known to XLA, those of them that are installed."""
    with _lock:
        if "cuda" in _done:
            return
        for name in ("gpu_solver", "gpu_linalg", "gpu_prng", "gpu_sparse"):
            module = importlib.import_module(f"jaxlib.{name}")
            _register(module.registrations()["CUDA"], "CUDA")
        _register_python_callback()
        _done.add("cuda")


def _register_python_callback() -> None:
    """The plugin's handler for host callbacks; the names of its functions vary by version."""
    from jaxlib import plugin_support

    plugin = plugin_support.import_from_plugin("cuda", "cuda_plugin_extension")
    if plugin is None:
        return
    from overt.backend import client

    capi = client.plugin_api("cuda")
    for name, handler in plugin.ffi_handlers().items():
        plugin.register_custom_call_target(capi, name, handler, 1, "CUDA")
    for name, (type_id, type_info) in plugin.ffi_types().items():
        plugin.register_custom_type(capi, name, {"type_id": type_id, "type_info": type_info})


def ensure(target: str) -> None:
    """Register the library that `target` belongs to."""
    if target.startswith(("lapack_", "tridiagonal_solve")) and "lapack" not in _done:
        register_lapack()
