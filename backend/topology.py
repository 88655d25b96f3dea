"""Compiling for chips that are not here: descriptions of devices without the devices."""

from __future__ import annotations

import os
import pathlib
from typing import Any

from overt.backend import client
from overt.backend.custom_calls import register_cuda

# What XLA must know of a GPU to compile for it.
_GPU = """gpu_device_info {{
  threads_per_block_limit: 1024 threads_per_warp: 32 shared_memory_per_block: 49152
  shared_memory_per_core: {core_memory} threads_per_core_limit: 2048 core_count: {cores}
  fpus_per_core: {units} block_dim_limit_x: 2147483647 block_dim_limit_y: 65535
  block_dim_limit_z: 65535 memory_bandwidth: {bandwidth} l2_cache_size: {cache}
  clock_rate_ghz: {clock} device_memory_size: {memory}
  shared_memory_per_block_optin: {block_memory} registers_per_core_limit: 65536
  registers_per_block_limit: 65536 cuda_compute_capability {{ major: {major} minor: 0 }}
}}
platform_name: "CUDA"
dnn_version_info {{ major: 9 minor: 8 }}
runtime_version {{ major: {runtime} }}
device_description_str: "{name}"
"""
_HOPPER = {
    "core_memory": 233472, "cores": 132, "units": 128, "cache": 52428800, "clock": 1.98,
    "block_memory": 232448, "major": 9,
}  # fmt: skip
GPUS: dict[str, dict[str, Any]] = {
    "a100": {
        "name": "NVIDIA A100", "core_memory": 167936, "cores": 108, "units": 64,
        "cache": 41943040, "clock": 1.41, "block_memory": 166912, "major": 8,
        "bandwidth": 2039000000000, "memory": 85000000000,
    },
    "h100": {**_HOPPER, "name": "NVIDIA H100", "bandwidth": 3352000000000, "memory": 85000000000},
    "h200": {**_HOPPER, "name": "NVIDIA H200", "bandwidth": 4800000000000, "memory": 150000000000},
}  # fmt: skip


def gpu_target(name: str, path: pathlib.Path) -> str:
    """A GPU as XLA describes it, for the CUDA version of the plugin at `path`."""
    if name not in GPUS:
        raise ValueError(f"unknown GPU {name!r}; known: {', '.join(GPUS)}")
    return _GPU.format(**GPUS[name], runtime=12 if "cuda12" in str(path) else 13)


def described_devices(platform: str, name: str) -> list[Any]:
    """Devices to compile for: ("tpu", "v5e:2x2") or ("cuda", "h200"); they cannot run anything."""
    from jaxlib import _jax

    platform = {"gpu": "cuda"}.get(platform, platform)
    path = client.installed_plugin(platform)
    if platform == "tpu":
        for variable, value in _ALONE.items():
            os.environ.setdefault(variable, value)
        client.load_plugin(platform, path)
        topology = _jax.get_default_c_api_topology(platform, name, {})
    else:
        options = {"target_config": gpu_target(name, path), "topology": "1x1x1"}
        api = client.load_plugin(platform, path)
        register_cuda(api)  # programs that call cuSOLVER or Python are compiled with these
        topology = _jax.get_c_api_topology(api, name, options)
    return list(topology._make_compile_only_devices())


# Without these libtpu asks the cloud's servers where it is, for minutes.
_ALONE = {
    "TPU_SKIP_MDS_QUERY": "1", "TPU_WORKER_HOSTNAMES": "localhost", "TPU_WORKER_ID": "0",
    "TPU_STDERR_LOG_LEVEL": "3",
}  # fmt: skip


def compile_for(module: Any, device: Any, settings: dict[str, Any] | None = None) -> Any:
    """The program compiled for a described device: its text and costs can be read, nothing run."""
    from jaxlib import _jax

    from overt.backend.execute import compile_options

    options = compile_options(None, settings)
    return device.client.compile(module, _jax.DeviceList((device,)), options)


def estimated_cost(loaded: Any) -> dict[str, float]:
    """XLA's estimate of operations and bytes; the CPU client's where a plugin offers none."""
    from jaxlib import _jax

    try:
        found = loaded.cost_analysis()
    except RuntimeError:
        return _jax.hlo_module_cost_analysis(client.client("cpu"), loaded.hlo_modules()[0])
    return found[0] if isinstance(found, list) else found
