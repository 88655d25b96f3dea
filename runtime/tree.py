"""Trees: nested containers whose leaves are values.

Leaves come in JAX's order (dicts by sorted key); rebuilt dicts keep the order of the original.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from overt.backend.pytrees import (
    DictKey,
    FlattenedIndexKey,
    GetAttrKey,
    NativeTreeDef,
    SequenceKey,
    tuple_of,
)
from overt.runtime import tree_registry
from overt.runtime.tree_registry import (
    LENIENT,
    STRICT,
    DictKeys,
    Partial,
    register_dataclass,
    register_pytree_node,
    register_pytree_node_class,
    register_pytree_with_keys,
    register_pytree_with_keys_class,
    register_static,
)
from overt.runtime.treedef import PyTreeDef, children_with_keys, is_leaf_structure, keystr

__all__ = [
    "DictKey",
    "FlattenedIndexKey",
    "GetAttrKey",
    "Partial",
    "PyTreeDef",
    "SequenceKey",
    "all_leaves",
    "flatten_one_level",
    "flatten_one_level_with_keys",
    "flatten_strict",
    "is_tree_node",
    "keystr",
    "prefix_leaves",
    "register_dataclass",
    "register_pytree_node",
    "register_pytree_node_class",
    "register_pytree_with_keys",
    "register_pytree_with_keys_class",
    "register_static",
    "tree_all",
    "tree_broadcast",
    "tree_flatten",
    "tree_flatten_with_path",
    "tree_leaves",
    "tree_leaves_with_path",
    "tree_map",
    "tree_map_with_path",
    "tree_reduce",
    "tree_reduce_associative",
    "tree_structure",
    "tree_transpose",
    "tree_unflatten",
    "treedef_children",
    "treedef_is_leaf",
    "treedef_tuple",
]

T = TypeVar("T")
IsLeaf = Callable[[Any], bool] | None


def tree_flatten(tree: Any, is_leaf: IsLeaf = None) -> tuple[list[Any], PyTreeDef]:
    """The leaves of a tree and its structure.

    >>> tree_flatten({"x": 1, "y": [2, None]})
    ([1, 2], PyTreeDef({'x': *, 'y': [*, None]}))
    """
    leaves, native = LENIENT.flatten(tree, is_leaf)
    return leaves, PyTreeDef(native)


def flatten_strict(tree: Any) -> tuple[list[Any], NativeTreeDef]:
    """Leaves and a structure that equals another only if dict keys come in the same order.

    For caches of programs: its result is jaxlib's own, quick to hash and to compare.
    """
    return STRICT.flatten(tree)


def tree_unflatten(treedef: PyTreeDef, leaves: Iterable[Any]) -> Any:
    """The tree with this structure and these leaves.

    >>> tree_unflatten(tree_structure({"a": [1, 2]}), [3, 4])
    {'a': [3, 4]}
    """
    return treedef.unflatten(leaves)


def tree_leaves(tree: Any, is_leaf: IsLeaf = None) -> list[Any]:
    """The leaves of a tree.

    >>> tree_leaves({"b": 1, "a": (2, [3])})
    [2, 3, 1]
    """
    return LENIENT.flatten(tree, is_leaf)[0]


def tree_structure(tree: Any, is_leaf: IsLeaf = None) -> PyTreeDef:
    """The structure of a tree.

    >>> tree_structure({"a": [1, 2]})
    PyTreeDef({'a': [*, *]})
    """
    return PyTreeDef(LENIENT.flatten(tree, is_leaf)[1])


def tree_map(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: IsLeaf = None) -> Any:
    """Apply a function leaf by leaf; `rest` are trees that start with the first one's structure.

    Errors: ValueError that names the first place where the trees differ.

    >>> tree_map(lambda x, y: x + y, {"w": 1, "b": (2, 3)}, {"w": 10, "b": (20, 30)})
    {'w': 11, 'b': (22, 33)}
    """
    leaves, native = LENIENT.flatten(tree, is_leaf)
    if not rest:
        return native.unflatten(map(f, leaves))
    definition = PyTreeDef(native)
    columns = [definition.flatten_up_to(other) for other in rest]
    return native.unflatten(map(f, leaves, *columns))


_NO_INITIAL = object()


def tree_reduce(
    function: Callable[[Any, Any], Any],
    tree: Any,
    initializer: Any = _NO_INITIAL,
    is_leaf: IsLeaf = None,
) -> Any:
    """Fold a function of two arguments over the leaves.

    >>> tree_reduce(lambda total, x: total + x, [1, (2, 3)])
    6
    """
    leaves = tree_leaves(tree, is_leaf)
    if initializer is _NO_INITIAL:
        return functools.reduce(function, leaves)
    return functools.reduce(function, leaves, initializer)


def tree_reduce_associative(
    operation: Callable[[Any, Any], Any],
    tree: Any,
    *,
    identity: Any = _NO_INITIAL,
    is_leaf: IsLeaf = None,
) -> Any:
    """Combine the leaves pairwise, in a balanced order, with an associative operation.

    >>> tree_reduce_associative(lambda x, y: x + y, {"a": [1, 2], "b": 3})
    6
    """
    values = tree_leaves(tree, is_leaf)
    if not values:
        if identity is _NO_INITIAL:
            raise ValueError("an empty tree can only be reduced with an identity")
        return identity
    while len(values) > 1:
        odd = values[-1:] if len(values) % 2 else []
        values = [operation(x, y) for x, y in zip(values[::2], values[1::2], strict=False)] + odd
    return values[0]


def tree_all(tree: Any, *, is_leaf: IsLeaf = None) -> bool:
    """Whether all leaves are true.

    >>> tree_all({"a": True, "b": 0})
    False
    """
    return all(tree_leaves(tree, is_leaf))


def all_leaves(iterable: Iterable[Any], is_leaf: IsLeaf = None) -> bool:
    """Whether every item is a leaf rather than a container.

    >>> all_leaves([1, "a"]), all_leaves([1, (2, 3)])
    (True, False)
    """
    for item in iterable:
        if is_leaf is not None and is_leaf(item):
            continue
        if not is_leaf_structure(LENIENT.flatten(item)[1]):
            return False
    return True


def tree_transpose(
    outer_treedef: PyTreeDef, inner_treedef: PyTreeDef | None, pytree_to_transpose: Any
) -> Any:
    """Turn a tree of trees inside out.

    >>> tree_transpose(tree_structure([0, 0]), tree_structure((0, 0)), [(1, 2), (3, 4)])
    ([1, 3], [2, 4])
    """
    subtrees = outer_treedef.flatten_up_to(pytree_to_transpose)
    if inner_treedef is None:
        if not subtrees:
            raise ValueError("the inner structure of an empty tree must be given")
        inner_treedef = tree_structure(subtrees[0])
    rows = []
    for subtree in subtrees:
        leaves, found = tree_flatten(subtree)
        if found != inner_treedef:
            raise TypeError(
                f"tree_transpose: expected {outer_treedef.compose(inner_treedef)}, "
                f"got {tree_structure(pytree_to_transpose)}"
            )
        rows.append(leaves)
    columns = [outer_treedef.unflatten(column) for column in zip(*rows, strict=True)]
    if not rows:
        columns = [outer_treedef.unflatten([])] * inner_treedef.num_leaves
    return inner_treedef.unflatten(columns)


def prefix_leaves(prefix: Any, tree: Any, is_leaf: IsLeaf = None) -> list[Any]:
    """For each leaf of `tree`, the leaf of `prefix` above it.

    Errors: ValueError that names the first place where `prefix` is no prefix.

    >>> prefix_leaves((0, None), ([1, 2], 3), is_leaf=lambda x: x is None)
    [0, 0, None]
    """
    leaves, native = LENIENT.flatten(prefix, is_leaf)
    subtrees = PyTreeDef(native).flatten_up_to(tree)
    counts = (len(LENIENT.flatten(subtree)[0]) for subtree in subtrees)
    repeated = (itertools.repeat(leaf, count) for leaf, count in zip(leaves, counts, strict=True))
    return list(itertools.chain.from_iterable(repeated))


def tree_broadcast(prefix_tree: Any, full_tree: Any, is_leaf: IsLeaf = None) -> Any:
    """Repeat the leaves of a prefix tree so that it has the structure of the full tree.

    >>> tree_broadcast({"a": 1, "b": 2}, {"a": [0, 0], "b": 0})
    {'a': [1, 1], 'b': 2}
    """
    leaves = prefix_leaves(prefix_tree, full_tree, is_leaf)
    return tree_structure(full_tree).unflatten(leaves)


def tree_flatten_with_path(
    tree: Any, is_leaf: IsLeaf = None, is_leaf_takes_path: bool = False
) -> tuple[list[tuple[tuple[Any, ...], Any]], PyTreeDef]:
    """Pairs of path and leaf, and the structure.

    >>> [(keystr(path), leaf) for path, leaf in tree_flatten_with_path({"a": [1, 2]})[0]]
    [("['a'][0]", 1), ("['a'][1]", 2)]
    """
    predicate: Any = is_leaf
    if is_leaf is not None and not is_leaf_takes_path:
        predicate = lambda _, value: is_leaf(value)  # noqa: E731
    pairs, native = LENIENT.flatten_with_path(tree, predicate)
    return [(tuple(path), leaf) for path, leaf in pairs], PyTreeDef(native)


def tree_leaves_with_path(
    tree: Any, is_leaf: IsLeaf = None, is_leaf_takes_path: bool = False
) -> list[tuple[tuple[Any, ...], Any]]:
    """Pairs of path and leaf.

    >>> [(keystr(path), leaf) for path, leaf in tree_leaves_with_path({"w": [1, 2]})]
    [("['w'][0]", 1), ("['w'][1]", 2)]
    """
    return tree_flatten_with_path(tree, is_leaf, is_leaf_takes_path)[0]


def tree_map_with_path(
    f: Callable[..., Any],
    tree: Any,
    *rest: Any,
    is_leaf: IsLeaf = None,
    is_leaf_takes_path: bool = False,
) -> Any:
    """Apply a function of (path, leaf, ...) leaf by leaf.

    >>> tree_map_with_path(lambda path, leaf: f"{keystr(path)}={leaf}", {"a": [1, 2]})
    {'a': ["['a'][0]=1", "['a'][1]=2"]}
    """
    pairs, definition = tree_flatten_with_path(tree, is_leaf, is_leaf_takes_path)
    columns = [definition.flatten_up_to(other) for other in rest]
    values = zip(*columns, strict=True) if columns else itertools.repeat(())
    return definition.unflatten(
        f(path, leaf, *others) for (path, leaf), others in zip(pairs, values, strict=False)
    )


def is_tree_node(cls: type) -> bool:
    """Whether values of this type are containers.

    >>> is_tree_node(dict), is_tree_node(int)
    (True, False)
    """
    return LENIENT.is_node(cls) or (issubclass(cls, tuple) and hasattr(cls, "_fields"))


def flatten_one_level(tree: Any) -> tuple[Iterable[Any], Any]:
    """The children of a container and its static data. Errors: ValueError for a leaf.

    >>> children, _ = flatten_one_level({"a": [1, 2], "b": 3})
    >>> list(children)
    [[1, 2], 3]
    """
    level = LENIENT.flatten_one_level(tree)
    if level is None:
        raise ValueError(f"a leaf has no children: {tree!r} of type {type(tree).__name__}")
    children, data = level
    return children, list(data.sorted) if isinstance(data, DictKeys) else data


def flatten_one_level_with_keys(tree: Any) -> tuple[Iterable[tuple[Any, Any]], Any]:
    """The (key, child) pairs of a container and its static data. Errors: ValueError for a leaf.

    >>> children, _ = flatten_one_level_with_keys({"a": [1, 2]})
    >>> list(children)
    [(DictKey(key='a'), [1, 2])]
    """
    return children_with_keys(tree), flatten_one_level(tree)[1]


def treedef_tuple(treedefs: Iterable[PyTreeDef]) -> PyTreeDef:
    """The structure of a tuple of trees, from their structures.

    >>> treedef_tuple([tree_structure(1), tree_structure([2])])
    PyTreeDef((*, [*]))
    """
    return PyTreeDef(tuple_of(tree_registry.LENIENT, [treedef.native for treedef in treedefs]))


def treedef_children(treedef: PyTreeDef) -> list[PyTreeDef]:
    """The structures of the outermost container's children.

    >>> treedef_children(tree_structure([1, (2, 3)]))
    [PyTreeDef(*), PyTreeDef((*, *))]
    """
    return treedef.children()


def treedef_is_leaf(treedef: PyTreeDef) -> bool:
    """Whether a structure is a single leaf.

    >>> treedef_is_leaf(tree_structure(1))
    True
    """
    return treedef.native.num_nodes == 1
