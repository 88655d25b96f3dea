"""PJRT clients and devices: found when first needed, without importing jax."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import threading
from typing import Any

_lock = threading.RLock()
_clients: dict[str, Any] = {}
_failures: dict[str, str] = {}
# platform -> (folders of its plugin inside jax_plugins or its package, name of the library)
PLUGINS: dict[str, tuple[tuple[str, str], ...]] = {
    "cuda": (
        ("jax_plugins/xla_cuda13", "xla_cuda_plugin.so"),
        ("jax_plugins/xla_cuda12", "xla_cuda_plugin.so"),
    ),
    "tpu": (("libtpu", "libtpu.so"),),
}
_ALIASES = {"gpu": "cuda"}


def plugin_path(platform: str) -> pathlib.Path | None:
    """The library of a platform's plugin, or None; its package is looked up, never imported."""
    if platform == "tpu" and (path := os.environ.get("TPU_LIBRARY_PATH")):
        return pathlib.Path(path)
    for folder, library in PLUGINS[platform]:
        package, *inner = folder.split("/")
        spec = importlib.util.find_spec(package)
        for root in (spec.submodule_search_locations or ()) if spec else ():
            path = pathlib.Path(root, *inner, library)
            if path.exists():
                return path
    return None


def wanted_platforms() -> tuple[str, ...]:
    """Platforms to try, best first; OVERT_PLATFORMS (or JAX_PLATFORMS) restricts and orders them."""
    named = os.environ.get("OVERT_PLATFORMS") or os.environ.get("JAX_PLATFORMS")
    if named:
        return tuple(_ALIASES.get(p.strip(), p.strip()) for p in named.split(",") if p.strip())
    return ("tpu", "cuda", "cpu")


def cpu_device_count() -> int:
    """How many CPU devices to make (OVERT_NUM_CPU_DEVICES)."""
    return int(os.environ.get("OVERT_NUM_CPU_DEVICES") or 0)


def _make_client(platform: str) -> Any:
    from jaxlib import xla_client

    if platform == "cpu":
        count = cpu_device_count()
        return xla_client.make_cpu_client(**({"num_devices": count} if count else {}))
    path = plugin_path(platform)
    if path is None:
        raise RuntimeError(f"no plugin for {platform} is installed")
    from jaxlib import _jax

    if not _jax.pjrt_plugin_loaded(platform):
        _jax.load_pjrt_plugin(platform, str(path), None)
    if not _jax.pjrt_plugin_initialized(platform):
        _jax.initialize_pjrt_plugin(platform)
    options = _cuda_options() if platform == "cuda" else {}
    return xla_client.make_c_api_client(platform, options)


def _cuda_options() -> dict[str, Any]:
    options: dict[str, Any] = {"platform_name": "cuda"}
    if allocator := os.environ.get("XLA_PYTHON_CLIENT_ALLOCATOR", "").lower():
        options["allocator"] = allocator
    if fraction := os.environ.get("XLA_PYTHON_CLIENT_MEM_FRACTION"):
        options["memory_fraction"] = float(fraction)
    if preallocate := os.environ.get("XLA_PYTHON_CLIENT_PREALLOCATE"):
        options["preallocate"] = preallocate.lower() not in ("false", "0")
    return options


def client(platform: str) -> Any:
    """The client of a platform, made once."""
    platform = _ALIASES.get(platform, platform)
    found = _clients.get(platform)
    if found is None:
        with _lock:
            found = _clients.get(platform)
            if found is None:
                found = _make_client(platform)
                if platform == "cuda":
                    from overt.backend.custom_calls import register_cuda

                    register_cuda()
                _clients[platform] = found
    return found


_default: str | None = None


def default_platform() -> str:
    """The best platform that works here: what `default_backend()` says."""
    global _default
    if _default is None:
        wanted = wanted_platforms()
        for platform in wanted:
            if platform != "cpu" and plugin_path(platform) is None and len(wanted) > 1:
                continue
            try:
                client(platform)
            except Exception as error:  # a plugin without its chip: try the next platform
                _failures[platform] = str(error)
                continue
            _default = platform
            break
        else:
            reasons = "; ".join(f"{p}: {e}" for p, e in _failures.items())
            raise RuntimeError(f"no platform of {', '.join(wanted)} works here ({reasons})")
    return _default


def devices(platform: str | None = None) -> list[Any]:
    """All devices of a platform, those of other processes included."""
    return client(platform or default_platform()).devices()


def local_devices(platform: str | None = None) -> list[Any]:
    """The devices of a platform that this process can use."""
    return client(platform or default_platform()).local_devices()


_default_device: Any = None


def default_device() -> Any:
    """The device that arrays go to when nobody says otherwise."""
    global _default_device
    if _default_device is None:
        _default_device = local_devices()[0]
    return _default_device
