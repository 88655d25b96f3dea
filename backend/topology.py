"""Compiling for chips that are not here: descriptions of devices without the devices."""

from __future__ import annotations

import os
from typing import Any

from overt.backend import client

# What XLA must know of a GPU to compile for it.
GPU_TARGETS = {
    "h200": """gpu_device_info {
  threads_per_block_limit: 1024 threads_per_warp: 32 shared_memory_per_block: 49152
  shared_memory_per_core: 233472 threads_per_core_limit: 2048 core_count: 132
  fpus_per_core: 128 block_dim_limit_x: 2147483647 block_dim_limit_y: 65535
  block_dim_limit_z: 65535 memory_bandwidth: 4800000000000 l2_cache_size: 52428800
  clock_rate_ghz: 1.98 device_memory_size: 150000000000
  shared_memory_per_block_optin: 232448 registers_per_core_limit: 65536
  registers_per_block_limit: 65536 cuda_compute_capability { major: 9 minor: 0 }
}
platform_name: "CUDA"
dnn_version_info { major: 9 minor: 8 }
runtime_version { major: 13 }
device_description_str: "NVIDIA H200"
""",
}


def described_devices(platform: str, name: str) -> list[Any]:
    """Devices to compile for: ("tpu", "v5e:2x2") or ("cuda", "h200"); they cannot run anything."""
    from jaxlib import _jax

    platform = {"gpu": "cuda"}.get(platform, platform)
    path = client.plugin_path(platform)
    if path is None:
        raise RuntimeError(f"no plugin for {platform} is installed")
    if platform == "tpu":
        os.environ.setdefault("TPU_SKIP_MDS_QUERY", "1")
        client.load_plugin(platform, path)
        topology = _jax.get_default_c_api_topology(platform, name, {})
    else:
        if name not in GPU_TARGETS:
            raise ValueError(f"unknown GPU {name!r}; known: {', '.join(GPU_TARGETS)}")
        api = client.load_plugin(platform, path)
        options = {"target_config": GPU_TARGETS[name], "topology": "1x1x1"}
        topology = _jax.get_c_api_topology(api, name, options)
    return list(topology._make_compile_only_devices())


def compile_for(module: Any, device: Any, settings: dict[str, Any] | None = None) -> Any:
    """The program compiled for a described device: its text and costs can be read, nothing run."""
    from jaxlib import _jax

    from overt.backend.execute import compile_options

    options = compile_options(None, settings)
    return device.client.compile(module, _jax.DeviceList((device,)), options)
