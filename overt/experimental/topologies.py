"""Descriptions of chips that need not be here, for programs to be compiled for them."""

from overt.runtime.topologies import (
    Device,
    TopologyDescription,
    get_attached_topology,
    get_topology_desc,
)

__all__ = ["Device", "TopologyDescription", "get_attached_topology", "get_topology_desc"]
