"""PJRT clients and devices: found when first needed, without importing jax."""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import os
import pathlib
import threading
from collections.abc import Mapping
from typing import Any

_lock = threading.RLock()
_clients: dict[str, Any] = {}
_failures: dict[str, str] = {}
_apis: dict[str, Any] = {}
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
    if platform == "tpu" and (named := os.environ.get("TPU_LIBRARY_PATH")):
        return pathlib.Path(named)
    for folder, library in PLUGINS[platform]:
        package, *inner = folder.split("/")
        spec = importlib.util.find_spec(package)
        for root in (spec.submodule_search_locations or ()) if spec else ():
            path = pathlib.Path(root, *inner, library)
            if path.exists():
                return path
    return None


def installed_plugin(platform: str) -> pathlib.Path:
    """The library of a platform's plugin. Errors: RuntimeError that says how to install it."""
    path = plugin_path(platform)
    if path is None or not path.exists():
        extra = {"cuda": "cuda12", "tpu": "tpu"}[platform]
        raise RuntimeError(
            f"no plugin for {platform} is installed: python -m pip install 'overt[{extra}]'"
        )
    return path


# TPU chips on the PCI bus: v2 and v3, v4, v5p, v5e, v6e, v7x.
_TPUS = ("0x0027", "0x0056", "0x005e", "0x0062", "0x0063", "0x006f", "0x0076")


def has_tpu(root: pathlib.Path = pathlib.Path("/")) -> bool:
    """Whether the machine has TPU chips: Google's virtual devices have the same vendor."""
    for vendor in (root / "sys/bus/pci/devices").glob("*/vendor"):
        with contextlib.suppress(OSError):
            device = (vendor.parent / "device").read_text().strip()
            if vendor.read_text().strip() == "0x1ae0" and device in _TPUS:
                return True
    return any((root / "dev").glob("accel[0-9]*"))


_chosen: str | None = None


def choose(platforms: str | None) -> None:
    """Try these platforms instead of all. Errors: RuntimeError once there are devices in use."""
    global _chosen
    before, _chosen = _chosen, platforms
    if _default is not None and _default not in wanted_platforms()[:1]:
        _chosen = before
        raise RuntimeError(
            f"platforms cannot become {platforms!r}: arrays are on {_default} already; set it "
            "before anything is computed"
        )


def wanted_platforms() -> tuple[str, ...]:
    """Platforms to try, best first; the setting, OVERT_PLATFORMS or JAX_PLATFORMS orders them."""
    named = _chosen or os.environ.get("OVERT_PLATFORMS") or os.environ.get("JAX_PLATFORMS")
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
    if platform not in PLUGINS:
        raise RuntimeError(f"unknown platform {platform!r}; known: cpu, {', '.join(PLUGINS)}")
    path = installed_plugin(platform)
    options: Mapping[str, Any] = {}
    if platform == "cuda":
        _load_nvidia_libraries()
        options = xla_client.generate_pjrt_gpu_plugin_options()
    api = load_plugin(platform, path)
    made = xla_client.make_c_api_client(platform, options)
    if platform == "cuda":
        from overt.backend.custom_calls import register_cuda

        register_cuda(api)
    return made


def load_plugin(platform: str, path: pathlib.Path) -> Any:
    """The plugin's C interface; None where jax has loaded it already in this process."""
    from jaxlib import _jax

    if not _jax.pjrt_plugin_loaded(platform):
        _apis[platform] = _jax.load_pjrt_plugin(platform, str(path), None)
    if not _jax.pjrt_plugin_initialized(platform):
        _jax.initialize_pjrt_plugin(platform)
    return _apis.get(platform)


_NVIDIA = (
    ("cuda_runtime", "libcudart.so.12"), ("cu13", "libcudart.so.13"),
    ("cuda_nvrtc", "libnvrtc.so.12"), ("cu13", "libnvrtc.so.13"),
    ("cublas", "libcublas.so.12"), ("cublas", "libcublasLt.so.12"),
    ("cu13", "libcublas.so.13"), ("cu13", "libcublasLt.so.13"), ("nccl", "libnccl.so.2"),
    ("cuda_cupti", "libcupti.so.12"), ("cu13", "libcupti.so.13"),
    ("cusparse", "libcusparse.so.12"), ("cu13", "libcusparse.so.12"),
    ("cusolver", "libcusolver.so.11"), ("cu13", "libcusolver.so.12"),
    ("cufft", "libcufft.so.11"), ("cu13", "libcufft.so.12"),
    ("nvshmem", "libnvshmem_host.so.3"), ("cudnn", "libcudnn.so.9"),
)  # fmt: skip


def _load_nvidia_libraries() -> None:
    """Load CUDA's libraries from their Python packages, so that the plugin finds these copies."""
    for package, library in _NVIDIA:
        try:
            spec = importlib.util.find_spec(f"nvidia.{package}")
        except ModuleNotFoundError:
            return
        for root in (spec.submodule_search_locations or ()) if spec else ():
            with contextlib.suppress(OSError):
                ctypes.cdll.LoadLibrary(os.path.join(root, "lib", library))


def client(platform: str) -> Any:
    """The client of a platform, made once."""
    platform = _ALIASES.get(platform, platform)
    found = _clients.get(platform)
    if found is None:
        with _lock:
            found = _clients.get(platform)
            if found is None:
                found = _clients[platform] = _make_client(platform)
    return found


_default: str | None = None


def default_platform() -> str:
    """The best platform that works here: what `default_backend()` says."""
    global _default
    if _default is None:
        wanted = wanted_platforms()
        for platform in wanted:
            if len(wanted) > 1 and platform in PLUGINS and plugin_path(platform) is None:
                continue
            if len(wanted) > 1 and platform == "tpu" and not has_tpu():
                continue  # libtpu would look for its chips for minutes
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
