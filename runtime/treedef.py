"""The structure of a tree, and where two structures differ."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from overt.backend.pytrees import NativeTreeDef
from overt.runtime.tree_registry import LENIENT


class PyTreeDef:
    """The structure of a tree: its containers, without the leaves.

    >>> structure_of({"b": 1, "a": (2, 3)})
    PyTreeDef({'b': *, 'a': (*, *)})
    """

    __slots__ = ("native",)

    def __init__(self, native: NativeTreeDef):
        self.native = native

    @property
    def num_leaves(self) -> int:
        return self.native.num_leaves

    @property
    def num_nodes(self) -> int:
        return self.native.num_nodes

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """The tree of this structure with the given leaves."""
        leaves = list(leaves)
        if len(leaves) != self.native.num_leaves:
            raise ValueError(
                f"{len(leaves)} leaves given for a tree that has {self.native.num_leaves}: {self}"
            )
        return self.native.unflatten(leaves)

    def flatten_up_to(self, tree: Any) -> list[Any]:
        """The subtrees of `tree` at the places of this structure's leaves.

        Errors: ValueError that names the first place where the two differ.
        """
        try:
            return self.native.flatten_up_to(tree)
        except (ValueError, TypeError) as error:
            found = first_difference(self.native, tree)
            raise ValueError(found or str(error)) from None

    def children(self) -> list[PyTreeDef]:
        return [PyTreeDef(child) for child in self.native.children()]

    def node_data(self) -> tuple[type, Any] | None:
        """The type of the outermost container and its static data; None for a leaf.

        That of a dict are its keys, in the order of `children`.
        """
        data = self.native.node_data()
        return (dict, list(data[1].sorted)) if data is not None and data[0] is dict else data

    def compose(self, inner: PyTreeDef) -> PyTreeDef:
        """This structure with `inner` in place of each leaf."""
        return PyTreeDef(self.native.compose(inner.native))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PyTreeDef) and self.native == other.native

    def __hash__(self) -> int:
        return hash(self.native)

    def __repr__(self) -> str:
        return f"PyTreeDef({_structure_text(self.native)})"

    def __reduce__(self) -> Any:
        return structure_of, (self.native.unflatten([0] * self.num_leaves),)


def is_leaf_structure(native: NativeTreeDef) -> bool:
    """Whether a structure is a single leaf (and not None or an empty container)."""
    return native.node_data() is None and native.num_nodes == 1 and native.num_leaves == 1


def _structure_text(native: NativeTreeDef) -> str:
    if is_leaf_structure(native):
        return "*"
    data = native.node_data()
    parts = [_structure_text(child) for child in native.children()]
    if data is None or data[0] is type(None):
        return "None"
    kind, aux = data
    if kind is tuple:
        return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"
    if kind is list:
        return f"[{', '.join(parts)}]"
    if kind is dict:
        text = dict(zip(aux.sorted, parts, strict=True))
        return "{" + ", ".join(f"{key!r}: {text[key]}" for key in aux.order) + "}"
    if hasattr(kind, "_fields"):
        named = [f"{name}={part}" for name, part in zip(kind._fields, parts, strict=True)]
        return f"{kind.__name__}({', '.join(named)})"
    return f"CustomNode({kind.__name__}[{aux}], [{', '.join(parts)}])"


def first_difference(native: NativeTreeDef, tree: Any, path: tuple[Any, ...] = ()) -> str | None:
    """Where and how `tree` departs from a structure, as a sentence; None if it does not."""
    if is_leaf_structure(native):
        return None
    data = native.node_data()
    expected = type(None) if data is None else data[0]
    where = f"at {keystr(path)}" if path else "at the root"
    if type(tree) is not expected:
        return (
            f"tree structures differ {where}: expected {expected.__name__}, "
            f"got {_describe_value(tree)}"
        )
    children = native.children()
    pairs = children_with_keys(tree)
    if isinstance(tree, dict) and expected is dict:
        if set(tree) != set(data[1].sorted):
            return (
                f"tree structures differ {where}: dict with keys {list(data[1].order)} expected, "
                f"got a dict with keys {list(tree)}"
            )
    elif len(pairs) != len(children):
        return (
            f"tree structures differ {where}: {expected.__name__} of {len(children)} expected, "
            f"got {expected.__name__} of {len(pairs)}"
        )
    elif not hasattr(expected, "_fields") and not _same_data(
        static := LENIENT.flatten_one_level(tree)[1], data[1] if data else None
    ):
        return (
            f"tree structures differ {where}: {expected.__name__} with data {data[1]!r} expected, "
            f"got {static!r}"
        )
    for child, (key, value) in zip(children, pairs, strict=True):
        if found := first_difference(child, value, (*path, key)):
            return found
    return None


def children_with_keys(tree: Any) -> list[tuple[Any, Any]]:
    """The (key, child) pairs of a container; empty for None and for a container without parts."""
    # flatten_one_level_with_keys of jaxlib 0.10 names every part of a named tuple like the first.
    pairs = LENIENT.flatten_with_path(tree, lambda _, value: value is not tree)[0]
    return [(path[0], child) for path, child in pairs if path]


def _same_data(expected: Any, found: Any) -> bool:
    try:
        return bool(expected == found)
    except Exception:  # data that cannot be compared differs
        return False


def _describe_value(value: Any) -> str:
    if isinstance(value, dict):
        return f"dict with keys {list(value)}"
    if isinstance(value, (tuple, list)):
        return f"{type(value).__name__} of {len(value)}"
    if value is None:
        return "None"
    return f"a leaf of type {type(value).__name__}"


def structure_of(tree: Any) -> PyTreeDef:
    """The structure of a tree."""
    return PyTreeDef(LENIENT.flatten(tree)[1])


def keystr(keys: Iterable[Any], *, simple: bool = False, separator: str = "") -> str:
    """A path as Python would write it.

    >>> from overt.backend.pytrees import DictKey, GetAttrKey, SequenceKey
    >>> keystr((DictKey("w"), SequenceKey(0), GetAttrKey("bias")))
    "['w'][0].bias"
    >>> keystr((DictKey("w"), SequenceKey(0)), simple=True, separator="/")
    'w/0'
    """
    text = _plain_key if simple else str
    return separator.join(text(key) for key in keys)


def _plain_key(key: Any) -> str:
    for attribute in ("idx", "name", "key"):
        if hasattr(key, attribute):
            return str(getattr(key, attribute))
    return str(key)
