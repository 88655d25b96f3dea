"""The tree registries of jaxlib: flattening and rebuilding containers in C++."""

from __future__ import annotations

from typing import Any

from jaxlib import _jax

_pytree = _jax.pytree

DictKey = _pytree.DictKey
FlattenedIndexKey = _pytree.FlattenedIndexKey
GetAttrKey = _pytree.GetAttrKey
SequenceKey = _pytree.SequenceKey
NativeTreeDef = _pytree.PyTreeDef
NativeRegistry = _pytree.PyTreeRegistry


def new_registry() -> Any:
    """A registry that knows None, tuple, list and named tuples; not dict, whose order we keep."""
    return NativeRegistry(
        enable_none=True,
        enable_tuple=True,
        enable_namedtuple=True,
        enable_list=True,
        enable_dict=False,
    )


def tuple_of(registry: Any, definitions: list[Any]) -> Any:
    """The structure of a tuple whose items have the given structures."""
    return _pytree.treedef_tuple(registry, definitions)
