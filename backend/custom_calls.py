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


def register_cuda(api: Any) -> None:
    """Make the CUDA plugin's functions known to XLA; `api` is None where jax has done so."""
    from jaxlib import plugin_support, xla_client

    plugin = plugin_support.import_from_plugin("cuda", "cuda_plugin_extension")
    if plugin is None or api is None:
        return
    with _lock:
        if "cuda" in _done:
            return
        for name, value in plugin.ffi_types().items():
            plugin.register_custom_type(api, name, value)
        traits = getattr(xla_client, "CustomCallTargetTraits", None)
        rest = (traits.DEFAULT,) if traits is not None else ()
        entries = [(name, value, 1) for name, value in plugin.ffi_handlers().items()]
        for name in ("gpu_solver", "gpu_linalg", "gpu_prng", "gpu_sparse"):
            entries += importlib.import_module(f"jaxlib.{name}").registrations()["CUDA"]
        for name, capsule, version in entries:
            plugin.register_custom_call_target(api, name, capsule, "CUDA", version, *rest)
        _done.add("cuda")


def ensure(target: str) -> None:
    """Register the library that `target` belongs to."""
    if target.startswith(("lapack_", "tridiagonal_solve")) and "lapack" not in _done:
        register_lapack()
    if target.startswith("cuhybrid") and "hybrid" not in _done:
        importlib.import_module("jaxlib.gpu_solver").initialize_hybrid_kernels()
        _done.add("hybrid")
