"""Descriptions of chips: those of this machine, or of others that programs are compiled for."""

from __future__ import annotations

from typing import Any, NamedTuple

Device = Any  # jaxlib's own class for a device

__all__ = ["Device", "TopologyDescription", "get_attached_topology", "get_topology_desc"]


class TopologyDescription(NamedTuple):
    """Devices that belong together."""

    devices: list[Device]


def get_attached_topology(platform: str | None = None) -> TopologyDescription:
    """The devices of this machine.

    >>> get_attached_topology("cpu").devices
    [CpuDevice(id=0)]
    """
    from overt.backend import client

    return TopologyDescription(client.local_devices(platform))


def get_topology_desc(
    topology_name: str = "", platform: str | None = None, **kwargs: Any
) -> TopologyDescription:
    """Devices by name: `("h200", "cuda")`, `("v5e:2x2", "tpu")`; they cannot run anything.

    `overt.jit(f).trace(...).lower(lowering_platforms=("tpu",)).compile_for(device)` compiles for
    one of them.

    Errors: RuntimeError when the platform's plugin is not installed, ValueError for an unknown
    name.
    """
    from overt.backend.topology import described_devices

    if kwargs:
        raise NotImplementedError(
            f"get_topology_desc: options of plugins are not passed on: {', '.join(kwargs)}"
        )
    if platform is None:
        raise ValueError("get_topology_desc needs a platform: 'cuda' or 'tpu'")
    return TopologyDescription(described_devices(platform, topology_name))
