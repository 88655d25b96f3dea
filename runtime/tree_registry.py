"""Which types are containers: the registry of tree nodes and the functions that add to it.

There are two registries with the same nodes. In `LENIENT` two dicts with the same keys have the
same structure whatever the order of their keys, as users expect; in `STRICT` the order counts,
which is what a cache of compiled programs must ask, since a program may iterate over a dict.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypeVar

from overt.backend.pytrees import DictKey, GetAttrKey, SequenceKey, new_registry

T = TypeVar("T")

KeyEntry = Any  # one step into a tree: a DictKey, SequenceKey, GetAttrKey or a user's own
KeyPath = tuple[KeyEntry, ...]

LENIENT = new_registry()
STRICT = new_registry()
UNFLATTEN: dict[type, Callable[[Any, Any], Any]] = {}  # how registered types are built


class DictKeys:
    """The keys of a flattened dict: in the order of the leaves and in the caller's order."""

    __slots__ = ("order", "sorted")

    def __init__(self, order: tuple[Any, ...], sorted_: tuple[Any, ...]):
        self.order = order
        self.sorted = order if order == sorted_ else sorted_

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DictKeys) and self.sorted == other.sorted

    def __hash__(self) -> int:
        return hash(self.sorted)

    def __repr__(self) -> str:
        return f"DictKeys({list(self.order)})"


class OrderedDictKeys(DictKeys):
    """Keys of a flattened dict that are equal only if their order is."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DictKeys) and self.order == other.order

    __hash__ = DictKeys.__hash__


def _sorted_keys(mapping: dict[Any, Any]) -> tuple[Any, ...]:
    try:
        return tuple(sorted(mapping))
    except TypeError:  # keys of mixed types have no order but the caller's
        return tuple(mapping)


# Key orders met before, of dicts whose keys are all texts (1, 1.0 and True are one key to a table).
_orders: dict[tuple[type, tuple[Any, ...]], DictKeys] = {}


def _flatten_dict(mapping: dict[Any, Any], keys_type: type[DictKeys]) -> tuple[Any, DictKeys]:
    order = tuple(mapping)
    found = _orders.get((keys_type, order))
    if found is None:
        found = keys_type(order, _sorted_keys(mapping))
        if all(type(key) is str for key in order) and len(_orders) < 10000:
            _orders[keys_type, order] = found
    if found.order is found.sorted:
        return mapping.values(), found
    return [mapping[key] for key in found.sorted], found


def _flatten_dict_with_keys(
    mapping: dict[Any, Any], keys_type: type[DictKeys]
) -> tuple[Any, DictKeys]:
    keys = _sorted_keys(mapping)
    pairs = [(DictKey(key), mapping[key]) for key in keys]
    return pairs, keys_type(tuple(mapping), keys)


def _unflatten_dict(keys: DictKeys, values: Iterable[Any]) -> dict[Any, Any]:
    rebuilt = dict(zip(keys.sorted, values))  # noqa: B905
    if keys.order is keys.sorted:
        return rebuilt
    return {key: rebuilt[key] for key in keys.order}


for _registry, _keys_type in ((LENIENT, DictKeys), (STRICT, OrderedDictKeys)):
    _registry.register_node(
        dict,
        functools.partial(_flatten_dict, keys_type=_keys_type),
        _unflatten_dict,
        functools.partial(_flatten_dict_with_keys, keys_type=_keys_type),
    )


def register_pytree_node(
    nodetype: type[T],
    flatten_func: Callable[[T], tuple[Iterable[Any], Hashable]],
    unflatten_func: Callable[[Any, Any], T],
    flatten_with_keys_func: Callable[[T], tuple[Iterable[tuple[Any, Any]], Hashable]] | None = None,
) -> None:
    """Make a type a container: how to take it apart, and how to build it from its parts.

    Errors: ValueError if the type is registered already.

    >>> class Pair:
    ...     def __init__(self, x, y):
    ...         self.x, self.y = x, y
    >>> register_pytree_node(Pair, lambda p: ((p.x, p.y), None), lambda _, xy: Pair(*xy))
    """
    for registry in (LENIENT, STRICT):
        registry.register_node(nodetype, flatten_func, unflatten_func, flatten_with_keys_func)
    UNFLATTEN[nodetype] = unflatten_func


def register_pytree_with_keys(
    nodetype: type[T],
    flatten_with_keys: Callable[[T], tuple[Iterable[tuple[Any, Any]], Hashable]],
    unflatten_func: Callable[[Any, Any], T],
    flatten_func: Callable[[T], tuple[Iterable[Any], Hashable]] | None = None,
) -> None:
    """Make a type a container whose parts have names, given as (key, part) pairs."""

    def flatten_without_keys(node: T) -> tuple[list[Any], Hashable]:
        pairs, aux = flatten_with_keys(node)
        return [part for _, part in pairs], aux

    register_pytree_node(
        nodetype, flatten_func or flatten_without_keys, unflatten_func, flatten_with_keys
    )


def register_pytree_node_class(cls: type[T]) -> type[T]:
    """Class decorator: a container that has `tree_flatten` and `tree_unflatten(aux, children)`."""
    node: Any = cls
    register_pytree_node(cls, lambda value: value.tree_flatten(), node.tree_unflatten)
    return cls


def register_pytree_with_keys_class(cls: type[T]) -> type[T]:
    """Class decorator: a container that has `tree_flatten_with_keys` and `tree_unflatten`."""
    node: Any = cls
    flatten = (lambda value: value.tree_flatten()) if hasattr(cls, "tree_flatten") else None
    register_pytree_with_keys(
        cls, lambda value: value.tree_flatten_with_keys(), node.tree_unflatten, flatten
    )
    return cls


def register_dataclass(
    nodetype: type[T] | None = None,
    data_fields: Sequence[str] | None = None,
    meta_fields: Sequence[str] | None = None,
    drop_fields: Sequence[str] = (),
) -> Any:
    """Make a dataclass a container; also a decorator.

    `data_fields` are its parts, `meta_fields` belong to its structure and must be hashable.
    Without the lists, fields marked `metadata={"static": True}` are meta and the others data.

    Errors: ValueError if the lists do not cover the fields that `__init__` takes.

    >>> import dataclasses
    >>> @register_dataclass
    ... @dataclasses.dataclass
    ... class Layer:
    ...     weight: float
    ...     name: str = dataclasses.field(default="dense", metadata={"static": True})
    """
    if nodetype is None:
        return lambda cls: register_dataclass(cls, data_fields, meta_fields, drop_fields)
    if (data_fields is None) != (meta_fields is None):
        raise TypeError("register_dataclass needs both of data_fields and meta_fields, or neither")
    if data_fields is None:
        data_fields, meta_fields = _declared_fields(nodetype)
    assert meta_fields is not None
    data, meta = tuple(data_fields), tuple(meta_fields)
    _check_fields(nodetype, data, meta, tuple(drop_fields))
    for registry in (LENIENT, STRICT):
        registry.register_dataclass_node(nodetype, list(data), list(meta))
    return nodetype


def _declared_fields(cls: Any) -> tuple[list[str], list[str]]:
    if not dataclasses.is_dataclass(cls):
        raise TypeError(f"{cls.__name__} is no dataclass: name its data_fields and meta_fields")
    fields = [field for field in dataclasses.fields(cls) if field.init]
    meta = [field.name for field in fields if field.metadata.get("static", False)]
    return [field.name for field in fields if field.name not in meta], meta


def _check_fields(
    cls: Any, data: tuple[str, ...], meta: tuple[str, ...], dropped: tuple[str, ...]
) -> None:
    name = cls.__name__
    if both := set(data) & set(meta):
        raise ValueError(f"fields of {name} given both as data and as meta: {sorted(both)}")
    if not dataclasses.is_dataclass(cls):
        return
    expected = {field.name for field in dataclasses.fields(cls) if field.init}
    given = set(data) | set(meta)
    if given - expected:
        raise ValueError(f"unexpected fields for {name}: {sorted(given - expected)}")
    if expected - given - set(dropped):
        missing = sorted(expected - given - set(dropped))
        raise ValueError(f"missing fields for {name}: {missing} (add them to drop_fields?)")


def static(**kwargs: Any) -> Any:
    """A field of a dataclass that belongs to its structure; arguments as `dataclasses.field`.

    >>> import dataclasses
    >>> @register_dataclass
    ... @dataclasses.dataclass
    ... class Scaled:
    ...     x: float
    ...     unit: str = static(default="m")
    """
    metadata = {**(kwargs.pop("metadata", None) or {}), "static": True}
    return dataclasses.field(metadata=metadata, **kwargs)


def register_static(cls: type[T]) -> type[T]:
    """Make a type a container without parts: its values belong to the structure; also a decorator.

    They must be hashable and comparable.
    """
    register_pytree_with_keys(cls, lambda value: ((), value), lambda value, _: value)
    return cls


def _flatten_ordered_dict(mapping: Any) -> tuple[Any, tuple[Any, ...]]:
    return [(DictKey(key), value) for key, value in mapping.items()], tuple(mapping)


register_pytree_with_keys(
    collections.OrderedDict,
    _flatten_ordered_dict,
    lambda keys, values: collections.OrderedDict(zip(keys, values, strict=True)),
)


def _flatten_default_dict(mapping: Any) -> tuple[Any, tuple[Any, DictKeys]]:
    pairs, keys = _flatten_dict_with_keys(mapping, DictKeys)
    return pairs, (mapping.default_factory, keys)


def _unflatten_default_dict(aux: tuple[Any, DictKeys], values: Iterable[Any]) -> Any:
    factory, keys = aux
    return collections.defaultdict(factory, _unflatten_dict(keys, values))


register_pytree_with_keys(collections.defaultdict, _flatten_default_dict, _unflatten_default_dict)
register_pytree_with_keys(  # a leaf in JAX, which takes no leaf of this kind
    collections.Counter,
    _flatten_ordered_dict,
    lambda keys, values: collections.Counter(dict(zip(keys, values, strict=True))),
)
register_pytree_with_keys(
    collections.deque,
    lambda items: ([(SequenceKey(i), item) for i, item in enumerate(items)], items.maxlen),
    lambda maxlen, items: collections.deque(items, maxlen),
)


class Partial(functools.partial):
    """A `functools.partial` that is a container: its bound arguments are its parts.

    >>> Partial(max, 3)(2, 5)
    5
    """

    def __new__(cls, func: Any, *args: Any, **kwargs: Any) -> Partial:
        if isinstance(func, functools.partial) and not isinstance(func, Partial):
            # functools.partial would merge the two and lose which arguments are parts.
            func = _ComparedPartial(func)
        return super().__new__(cls, func, *args, **kwargs)


class _ComparedPartial:
    """A plain partial inside a `Partial`; equal when function and bound arguments are."""

    def __init__(self, inner: functools.partial):
        self.inner = inner

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.inner(*args, **kwargs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ComparedPartial) and (
            (self.inner.func, self.inner.args, self.inner.keywords)
            == (other.inner.func, other.inner.args, other.inner.keywords)
        )

    def __hash__(self) -> int:
        return hash((self.inner.func, self.inner.args, tuple(self.inner.keywords.items())))


register_pytree_with_keys(
    Partial,
    lambda p: (((GetAttrKey("args"), p.args), (GetAttrKey("keywords"), p.keywords)), p.func),
    lambda func, parts: Partial(func, *parts[0], **parts[1]),
)
