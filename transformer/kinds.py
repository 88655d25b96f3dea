"""Kinds: what is known of the user's classes whose objects can be written as their fields."""

from __future__ import annotations

import abc
import ast
import dataclasses
import functools
import types
from dataclasses import replace
from typing import Any

from overt.rewrites.local_objects import objects_as_fields
from overt.rewrites.method_texts import Kind
from overt.rewrites.rules import Resolver
from overt.runtime.ownership import is_library
from overt.runtime.special_methods import original
from overt.transformer.dependencies import ATOMS
from overt.transformer.load import Loaded, definition_of

# What a class may not define, for then a field is not simply what was stored.
HOOKS = ("__new__", "__getattribute__", "__setattr__", "__delattr__")
ABSENT = ("__getattr__", "__del__")
APART = (object, abc.ABC)


def by_fields(loaded: Loaded) -> Loaded | None:
    """A function whose own objects are variables; None if it has no such objects."""
    if not isinstance(loaded.node, ast.FunctionDef):
        return None
    resolver = Resolver(loaded.namespace)
    around = set(loaded.function.__code__.co_freevars)
    node = objects_as_fields(loaded.node, functools.partial(kind_of, loaded, resolver), around)
    return None if node is None else replace(loaded, node=node)


def kind_of(loaded: Loaded, resolver: Resolver, callee: ast.expr) -> Kind | None:
    """The class that is called, if it is a plain one of the same file."""
    found = resolver.object(callee)
    if type(found) not in (type, abc.ABCMeta) or is_library(found.__module__):
        return None
    if any(getattr(found, n) is not getattr(object, n) for n in HOOKS):
        return None
    if any(hasattr(found, n) for n in ABSENT) or getattr(found, "__abstractmethods__", None):
        return None
    classes = [c for c in found.__mro__ if c not in APART]
    if any(is_library(c.__module__) for c in classes):
        return None
    if any(len(set(c.__bases__) - set(APART)) > 1 for c in classes):
        return None
    kind = Kind({})
    for owner, above in zip(classes, [*classes[1:], None], strict=True):
        fill(kind, loaded, owner, above, first=owner is found)
    look = resolver.namespace.attribute  # the text depends on it
    for owner in classes:
        for name in [*kind.methods, *kind.getters, *kind.statics, *HOOKS, *ABSENT]:
            if "." not in name:
                look(owner, name)
        look(owner, "__base__")
    return kind


def fill(kind: Kind, loaded: Loaded, owner: type, above: type | None, first: bool) -> None:
    """Add the members of a class; those of the classes before it hide them."""
    known = kind.methods.keys() | kind.getters.keys() | kind.statics.keys()
    known |= kind.constants | kind.others
    fields: set[str] = set()
    if dataclasses.is_dataclass(owner) and "__dataclass_fields__" in vars(owner):
        fields = {f.name for f in dataclasses.fields(owner)}
        start = start_of(owner)
        if start is not None and "__init__" not in known:
            kind.methods["__init__"] = start
            known.add("__init__")
    for name, member in vars(owner).items():
        node = node_of(member, loaded, above)
        if isinstance(member, types.FunctionType) and node is not None and not first:
            kind.methods[f"{owner.__name__}.{name}"] = node
        if name in known or name in fields and not isinstance(member, property):
            continue
        if node is None:
            plain = not hasattr(type(member), "__get__") and not name.startswith("__")
            (kind.constants if plain else kind.others).add(name)
        elif isinstance(member, property):
            kind.getters[name] = node
        elif isinstance(member, staticmethod):
            kind.statics[name] = node
        else:
            kind.methods[name] = node


def node_of(member: Any, loaded: Loaded, above: type | None) -> ast.FunctionDef | None:
    """The text of a method, a property or a static method."""
    wanted: list[str] = []
    function = member
    if type(member) is property:
        if member.fset is not None or member.fdel is not None:
            return None
        function, wanted = member.fget, ["property"]
    elif isinstance(member, staticmethod):
        function, wanted = member.__func__, ["staticmethod"]
    function = original(function)
    if not isinstance(function, types.FunctionType):
        return None
    code = function.__code__
    if code.co_filename != loaded.file.name or set(code.co_freevars) - {"__class__"}:
        return None
    if function.__globals__ is not loaded.function.__globals__:
        return None
    node = definition_of(function)
    if node is None or [ast.unparse(d) for d in node.decorator_list] != wanted:
        return None
    node.above = above.__name__ if above is not None else ""  # type: ignore[attr-defined]
    return node


def start_of(owner: type) -> ast.FunctionDef | None:
    """The `__init__` of a dataclass as a text; None if it does more than to store its arguments."""
    fields = dataclasses.fields(owner)  # type: ignore[arg-type]
    if any(not f.init or f.kw_only or f.default_factory is not dataclasses.MISSING for f in fields):
        return None
    own = vars(owner).get("__init__")
    if not isinstance(own, types.FunctionType) or own.__code__.co_filename != "<string>":
        return None
    given = [f for f in fields if f.default is not dataclasses.MISSING]
    if not all(isinstance(f.default, ATOMS) for f in given):
        return None
    lines = [f"self.{f.name} = {f.name}" for f in fields]
    if hasattr(owner, "__post_init__"):
        lines.append("self.__post_init__()")
    node = ast.parse("def __init__(self):\n    " + "\n    ".join(lines or ["pass"])).body[0]
    assert isinstance(node, ast.FunctionDef)
    node.args.args += [ast.arg(f.name) for f in fields]
    node.args.defaults = [ast.Constant(f.default) for f in given]  # type: ignore[arg-type]
    for n in ast.walk(node):  # they stand nowhere in the file
        for place in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
            vars(n).pop(place, None)
    return node
