"""Structures of trees as JSON, so that an exported function knows its containers again."""

from __future__ import annotations

import base64
import collections
from collections.abc import Callable
from typing import Any, NamedTuple

from overt.runtime.tree import PyTreeDef, tree_structure
from overt.runtime.tree_registry import UNFLATTEN
from overt.runtime.treedef import is_leaf_structure

__all__ = [
    "register_namedtuple_serialization", "register_pytree_node_serialization", "tree_from_json",
    "tree_to_json",
]  # fmt: skip


class Registered(NamedTuple):
    """A container type that may be part of an exported function."""

    name: str
    kind: type
    to_bytes: Callable[[Any], bytes]
    from_bytes: Callable[[bytes], Any]
    build: Callable[[Any, Any], Any]


_by_type: dict[type, Registered] = {}
_by_name: dict[str, Registered] = {}


def _register(entry: Registered) -> None:
    if entry.kind in _by_type:
        raise ValueError(f"{entry.kind.__name__} is registered for serialization already")
    if entry.name in _by_name:
        raise ValueError(f"there is a type registered for serialization as {entry.name!r} already")
    _by_type[entry.kind] = _by_name[entry.name] = entry


def register_pytree_node_serialization(
    nodetype: type, *, serialized_name: str, serialize_auxdata: Callable[[Any], bytes],
    deserialize_auxdata: Callable[[bytes], Any],
    from_children: Callable[[Any, Any], Any] | None = None,
) -> type:  # fmt: skip
    """Let a registered container be an argument or result of exported functions.

    Its static data becomes bytes and back; `from_children(data, parts)` builds it, by default the
    function that it was registered with.
    """
    build = from_children or UNFLATTEN.get(nodetype)
    if build is None:
        raise ValueError(
            f"{nodetype.__name__} is not registered with register_pytree_node, or is a registered "
            "dataclass: give from_children"
        )
    _register(Registered(serialized_name, nodetype, serialize_auxdata, deserialize_auxdata, build))
    return nodetype


def register_namedtuple_serialization(nodetype: type, *, serialized_name: str) -> type:
    """Let a named tuple be an argument or result of exported functions.

    >>> Point = collections.namedtuple("Point", "x y")
    >>> register_namedtuple_serialization(Point, serialized_name="doc.Point") is Point
    True
    """
    if not (issubclass(nodetype, tuple) and hasattr(nodetype, "_fields")):
        raise ValueError(f"{nodetype!r} is no named tuple")
    _register(
        Registered(
            serialized_name, nodetype, lambda _: b"", lambda _: None,
            lambda _, parts: nodetype(*parts),
        )
    )  # fmt: skip
    return nodetype


# --- to JSON and back


def tree_to_json(structure: PyTreeDef) -> Any:
    """A structure as lists, texts and numbers.

    >>> from overt.runtime.tree import tree_structure
    >>> tree_to_json(tree_structure({"w": 1, "b": (2, None)}))
    ['dict', ['w', 'b'], ['*', ['tuple', ['*', None]]]]
    """
    return _to_json(structure.native)


def _to_json(native: Any) -> Any:
    if is_leaf_structure(native):
        return "*"
    data = native.node_data()
    parts = [_to_json(child) for child in native.children()]
    if data is None or data[0] is type(None):
        return None
    kind, aux = data
    if kind in (tuple, list):
        return [kind.__name__, parts]
    if kind is dict:
        by_key = dict(zip(aux.sorted, parts, strict=True))
        return ["dict", _keys(aux.order), [by_key[key] for key in aux.order]]
    if kind is collections.OrderedDict:
        return ["OrderedDict", _keys(aux), parts]
    if hasattr(kind, "__overt_key__"):
        return ["key", aux, parts]
    entry = _by_type.get(kind)
    if entry is None:
        register = "namedtuple" if hasattr(kind, "_fields") else "pytree_node"
        raise ValueError(
            f"an exported function has a {kind.__name__} among its arguments or results; call "
            f"overt.export.register_{register}_serialization for it first"
        )
    return ["node", entry.name, base64.b64encode(entry.to_bytes(aux)).decode(), parts]


def _keys(keys: Any) -> list[Any]:
    for key in keys:
        if type(key) not in (str, int):
            raise ValueError(
                f"keys of dicts in exported functions are texts or whole numbers, got {key!r}"
            )
    return list(keys)


def tree_from_json(text: Any) -> PyTreeDef:
    """The structure that `tree_to_json` wrote down.

    Errors: ValueError for a type that is not registered in this process.
    """
    return tree_structure(_from_json(text))


def _from_json(text: Any) -> Any:
    if text == "*":
        return 0
    if text is None:
        return None
    kind, *rest = text
    if kind == "tuple":
        return tuple(map(_from_json, rest[0]))
    if kind == "list":
        return list(map(_from_json, rest[0]))
    if kind in ("dict", "OrderedDict"):
        pairs = zip(rest[0], map(_from_json, rest[1]), strict=True)
        return dict(pairs) if kind == "dict" else collections.OrderedDict(pairs)
    if kind == "key":
        from overt.runtime.random.keys import Key

        return Key(_from_json(rest[1][0]), rest[0])
    if kind != "node":
        raise ValueError(f"an exported function holds a container of unknown kind {kind!r}")
    name, aux, parts = rest
    entry = _by_name.get(name)
    if entry is None:
        raise ValueError(
            f"the exported function has a container {name!r} among its arguments or results; "
            "register the type in this process first, as where it was exported"
        )
    return entry.build(entry.from_bytes(base64.b64decode(aux)), tuple(map(_from_json, parts)))
