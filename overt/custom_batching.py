"""Functions that say themselves how they are mapped."""

from overt.transformer.custom_batching import custom_vmap, sequential_vmap

__all__ = ["custom_vmap", "sequential_vmap"]
