"""Trees as vectors."""

from overt.runtime.vectors_of_trees import ravel_pytree

__all__ = ["ravel_pytree"]
