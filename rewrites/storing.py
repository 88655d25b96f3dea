"""Stores in core form: `x[i] = v`, `+=`, unpacking, `xs.append(v)` give `x` a new version."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from overt.rewrites import core
from overt.rewrites.building import Building
from overt.rewrites.numpy_results import is_filled
from overt.rewrites.operated import OF_CONTAINERS, grows
from overt.rewrites.printing import BINARY
from overt.rewrites.refusal import Refusal
from overt.rewrites.scopes import given_only
from overt.rewrites.sharing import is_store
from overt.runtime.containers import OPERATORS


class Stores(Building):
    """Assignments, and calls that change what a name holds."""

    def do_Delete(self, s: ast.Delete) -> None:
        for target in s.targets:
            if isinstance(target, ast.Name):
                self.env.pop(target.id, None)
            elif isinstance(target, ast.Subscript):
                index = self.expr(index_of(target.slice))
                if self.change(target.value, "__delitem__", [index], "ignored") is None:
                    index = self.expr(target.slice)
                    place = ast.Subscript(self.expr(target.value), index, ast.Del())
                    self.emit(core.Do(ast.Delete([place]), self.origin))
            else:
                self.emit(core.Do(ast.Delete([self.expr(target)]), self.origin))

    def do_Assign(self, s: ast.Assign) -> None:
        if len(s.targets) == 1 and isinstance(s.targets[0], ast.Name):
            name = s.targets[0].id
            if isinstance(s.value, ast.Lambda):
                self.define(name, s.value)
                return
            value = self.expr(s.value)
            if not self.takes(name, value):
                self.assign(self.bind(name), value)
            return
        if takes_one_by_one(s) and not core.reads(s) & set(self.cells):
            for t, v in zip(s.targets[0].elts, s.value.elts, strict=True):  # type: ignore[attr-defined]
                self.do_Assign(ast.copy_location(ast.Assign([t], v), s))
            return
        value = self.expr(s.value)
        if len(s.targets) > 1 and not isinstance(value, ast.Name | ast.Constant):
            first = next((t.id for t in s.targets if isinstance(t, ast.Name)), "value")
            shared = self.names.fresh(first)
            self.assign(shared, value)
            value = core.name(shared)
        for target in s.targets:
            self.store(target, value)

    def takes(self, name: str, value: ast.expr) -> bool:
        """Whether `x = xs.pop()` has just been written as one statement, `x, xs = popped(...)`."""
        last = self.out[-1] if self.out else None
        if not (isinstance(last, core.Assign) and isinstance(last.target, tuple)):
            return False
        if name in self.cells or not core.is_call_of(last.value, "@popped"):
            return False
        taken, holder = last.target
        if not isinstance(value, ast.Name) or value.id != taken:
            return False
        if core.base(str(holder)) == name:  # `xs = xs.pop()`
            return False
        self.out[-1] = core.replace(last, target=(self.bind(name), holder))
        return True

    def do_AnnAssign(self, s: ast.AnnAssign) -> None:
        if s.value is not None:
            self.store(s.target, self.expr(s.value))

    def do_AugAssign(self, s: ast.AugAssign) -> None:
        target = s.target
        root: ast.expr = target
        while isinstance(root, ast.Subscript):
            root = root.value
        if grows(s) and not (isinstance(root, ast.Name) and self.is_own(root.id)):
            extend = ast.Attribute(reading(target), "extend", ast.Load())
            self.emit(core.Do(ast.Expr(self.expr(ast.Call(extend, [s.value], []))), self.origin))
            return
        if isinstance(target, ast.Name):
            old = self.expr(ast.Name(target.id, ast.Load()))
            if target.id in self.foreign and isinstance(s.op, OF_CONTAINERS):
                symbol, _ = BINARY[type(s.op)]
                parts = old, core.constant(symbol), self.expr(s.value)
                change = ast.Expr(core.call(core.name("@change_there"), *parts))
                self.emit(core.Do(change, self.origin))
                return
            value = self.combined(old, s)
            value.outside = target.id in self.run_over  # type: ignore[attr-defined]
            value.found = target.id in self.found_outside  # type: ignore[attr-defined]
            value.through = self.through  # type: ignore[attr-defined]
            self.emit(core.Assign(self.bind(target.id), value, self.origin, in_place=True))
            return
        place = self.settled(target)
        if isinstance(place, ast.Attribute | ast.Subscript) and has_call(place.value):
            place = self.with_name(place)
        holder = place.value if isinstance(place, ast.Subscript) else None
        if isinstance(holder, ast.Attribute) and self.is_computed(holder):
            index = place.slice  # type: ignore[attr-defined]
            self.store_in_computed(holder, index, lambda old: self.combined(old, s))
            return
        changed = self.combined(self.expr(reading(place)), s)
        changed.changes_item = True  # type: ignore[attr-defined]
        self.store(place, changed)

    def combined(self, old: ast.expr, s: ast.AugAssign) -> ast.expr:
        """What `old` becomes; an object of the user's may have a method that changes it."""
        symbol, _ = BINARY[type(s.op)]
        method, _ = OPERATORS[symbol]
        value = self.expr(s.value)
        if is_of_arrays(s):
            value = core.call(ast.Attribute(core.name("@np"), "array", ast.Load()), value)
        if self.is_number(s.target) or not self.text.has_method(method):
            return ast.BinOp(old, s.op, value)
        return core.call(core.name("@in_place"), old, core.constant(symbol), value)

    def is_number(self, target: ast.expr) -> bool:
        """Whether a target holds what numbers written in the function have come to."""
        if isinstance(target, ast.Subscript):
            target = target.value
            return isinstance(target, ast.Name) and target.id in self.arrays
        return isinstance(target, ast.Name) and target.id in self.numbers | self.arrays

    def settled(self, target: ast.expr) -> ast.expr:
        """The target with an index that does something replaced by a name, so that it runs once."""
        if isinstance(target, ast.Subscript) and any(
            isinstance(n, ast.Call | ast.Compare) for n in ast.walk(target.slice)
        ):
            index = self.names.fresh("index")
            self.assign(index, index_of(self.expr(target.slice)))
            self.env[index] = index
            self.local.add(index)
            return ast.Subscript(target.value, ast.Name(index, ast.Load()), ast.Store())
        return target

    def store(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self.assign(self.bind(target.id), value)
        elif isinstance(target, ast.Attribute):
            place = ast.Attribute(self.expr(target.value), target.attr, ast.Store())
            self.emit(core.Do(ast.Assign([place], value), self.origin))
        elif isinstance(target, ast.Subscript):
            self.store_item(target, value)
        elif isinstance(target, ast.Tuple | ast.List):
            self.unpack(target, value)
        else:
            raise Refusal("this target of an assignment is not supported", node=target)

    def store_item(self, target: ast.Subscript, value: ast.expr) -> None:
        holder, root = target.value, target.value
        while isinstance(root, ast.Subscript | ast.Attribute):
            root = root.value
        ours = isinstance(root, ast.Name) and self.is_own(root.id)
        if not ours and isinstance(holder, ast.Name) and holder.id == self.itself:
            store = ast.Attribute(self.expr(holder), "__setitem__", ast.Load())
            call = ast.Call(store, [index_of(self.expr(target.slice)), value], [])
            self.emit(core.Do(ast.Expr(call), self.origin))
            return
        if not ours and not isinstance(holder, ast.Attribute):
            place = ast.Subscript(self.expr(holder), self.expr(target.slice), ast.Store())
            self.emit(core.Do(ast.Assign([place], value), self.origin))
            return
        if isinstance(holder, ast.Attribute) and has_call(holder.value):
            holder = self.with_name(holder)
            root = holder
        if isinstance(holder, ast.Attribute) and self.is_computed(holder):
            self.store_in_computed(holder, target.slice, lambda _: value)
            return
        old = self.expr(reading(holder))
        new = core.call("set_item", old, index_of(self.expr(target.slice)), value)
        new.changes_item = getattr(value, "changes_item", False)  # type: ignore[attr-defined]
        if isinstance(holder, ast.Attribute):
            new.func = core.name("@put_item")
        elif isinstance(root, ast.Name) and root.id in self.unsure:
            new.func = core.name("@stored_in")
        elif is_store(value) and any(isinstance(n, ast.Slice) for n in ast.walk(target.slice)):
            new.func = core.name("@stored_back")  # a slice of a list is a copy
        else:
            new.func = core.name("@set_item")
        self.replaced(holder, new)

    def is_computed(self, place: ast.Attribute) -> bool:
        """Whether reading or setting an attribute may run a method of the user's, or is refused."""
        return place.attr == "__dict__" or self.text.is_computed(place.attr)

    def store_in_computed(
        self, holder: ast.Attribute, index: ast.expr, changed: Callable[[ast.expr], ast.expr]
    ) -> None:  # fmt: skip
        """`o.rows[i] = v` of a property: it is read once, and set only if that is an array.

        `changed` gives the item from what it was.
        """
        owner = self.expr(holder.value)
        part, new = (self.names.fresh(f"{holder.attr}_held") for _ in range(2))
        self.assign(part, ast.Attribute(owner, holder.attr, ast.Load()))
        value = changed(ast.Subscript(core.name(part), self.expr(index), ast.Load()))
        store = core.call("set_item", core.name(part), index_of(self.expr(index)), value)
        store.func = core.name("@put_item")
        store.changes_item = getattr(value, "changes_item", False)  # type: ignore[attr-defined]
        root = owner
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(root, ast.Name):  # it is told what has become of what it holds
            store.owner = root.id  # type: ignore[attr-defined]
        self.assign(new, store)
        names = [core.name(new), core.name(part)]
        kept = core.call(core.name("@keep_in"), owner, core.constant(holder.attr), *names)
        self.emit(core.Do(ast.Expr(kept), self.origin))

    def with_name(self, place: Any) -> Any:
        """`make().rows` as an attribute of a name: the call is made once."""
        holder = place.value
        if not isinstance(holder, ast.Call):
            holder = copy.copy(place)
            holder.value = self.with_name(place.value)
            return holder
        owner = self.names.fresh("owner")
        self.assign(owner, self.expr(holder))
        self.env[owner] = owner
        self.local.add(owner)
        self.foreign |= {owner, core.base(owner)}
        new = copy.copy(place)
        new.value = ast.copy_location(ast.Name(owner, ast.Load()), holder)
        return new

    def is_own(self, name: str) -> bool:
        """Whether a name is a local one, of something that only this function holds."""
        return name in self.local and name not in self.cells and name not in self.foreign

    def replaced(self, holder: ast.expr, new: ast.expr) -> None:
        """A container, or an item of one, becomes `new`."""
        if isinstance(holder, ast.Name):
            self.assign(self.bind(holder.id), new)
        else:
            self.store(holder, new)

    def unpack(self, target: ast.Tuple | ast.List, value: ast.expr) -> None:
        later: list[tuple[ast.expr, str]] = []
        read = read_before_set(target)

        def plain(t: ast.expr) -> core.Pattern:
            if isinstance(t, ast.Name) and t.id not in read:
                return self.bind(t.id)
            if isinstance(t, ast.Starred):
                return ("*", plain(t.value))
            if isinstance(t, ast.Tuple | ast.List):
                return tuple(plain(e) for e in t.elts)
            held = self.names.fresh("value")
            later.append((t, held))
            return held

        self.assign(plain(target), value)
        for place, held in later:
            self.store(place, core.name(held))

    def change(
        self, holder: ast.expr, method: str, args: list[ast.expr], result: str,
        keywords: Sequence[ast.keyword] = (),
    ) -> ast.expr | None:  # fmt: skip
        """Call a changing method on a local container; gives the method's own value."""
        root = holder
        while isinstance(root, ast.Subscript):
            root = root.value
        if not (isinstance(root, ast.Name) and self.is_own(root.id)):
            return None
        old = self.expr(reading(holder))
        if result == "ignored":
            changed = changed_container(old, method, args)
            if method == "sort":  # of an array, along an axis
                axis = [ast.keyword("axis", a) for a in args]
                changed = ast.Call(core.name("@in_order"), [old], [*axis, *keywords])
            self.replaced(holder, changed)
            return core.name("ignored")
        changed = ast.Call(core.name("@popped"), [old, core.constant(method), *args], [])
        value = self.names.fresh(result)
        if isinstance(holder, ast.Name):
            new = self.bind(holder.id)
            self.assign((value, new), changed)
        else:
            new = self.names.fresh("holder")
            self.assign((value, new), changed)
            self.store(holder, core.name(new))
        return core.name(value)


def takes_one_by_one(s: ast.Assign) -> bool:
    """Whether an assignment is `b, a = xs.pop(), xs.pop()`: the same as one after the other."""
    target, value = s.targets[0], s.value
    if len(s.targets) > 1 or not (isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)):
        return False
    if len(target.elts) != len(value.elts):
        return False
    taken = {t.id for t in target.elts if isinstance(t, ast.Name)}
    return len(taken) == len(value.elts) and all(
        isinstance(v, ast.Call)
        and isinstance(v.func, ast.Attribute)
        and v.func.attr == "pop"
        and isinstance(v.func.value, ast.Name)
        and v.func.value.id not in taken
        and not v.keywords
        and not core.reads(v) & taken
        for v in value.elts
    )


def is_of_arrays(s: ast.AugAssign) -> bool:
    """Whether `a[1:] *= [x, y]` and its like surely mean numbers of an array, not a longer list."""
    if not isinstance(s.value, ast.List | ast.Tuple | ast.ListComp):
        return False
    index = s.target.slice if isinstance(s.target, ast.Subscript) else None
    return not isinstance(s.op, ast.Add) or isinstance(index, ast.Tuple | ast.Slice)


def changed_container(old: ast.expr, method: str, args: list[ast.expr]) -> ast.expr:
    if method == "append" and len(args) == 1:
        return ast.Call(core.name("@appended"), [old, *args], [])
    if method == "fill" and len(args) == 1:
        return ast.Call(core.name("@set_all"), [old, *args], [])
    if method == "remove" and len(args) == 1:
        return ast.Call(core.name("@without_item"), [old, *args], [])
    return ast.Call(core.name("@changed"), [old, core.constant(method), *args], [])


def reading(node: ast.expr) -> ast.expr:
    """A target as an expression that reads it."""
    if isinstance(node, ast.Name):
        return ast.copy_location(ast.Name(node.id, ast.Load()), node)
    if isinstance(node, ast.Subscript):
        return ast.copy_location(ast.Subscript(node.value, node.slice, ast.Load()), node)
    if isinstance(node, ast.Attribute):
        return ast.copy_location(ast.Attribute(node.value, node.attr, ast.Load()), node)
    return node


def has_call(node: ast.AST) -> bool:
    """Whether an expression is a call, or a part of what a call gives."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return isinstance(node, ast.Call)


def index_of(index: ast.expr) -> ast.expr:
    """An index as an argument: one with slices is written `at[1:3]`."""
    if any(isinstance(n, ast.Slice) for n in ast.walk(index)):
        return ast.Subscript(core.name("@at"), index, ast.Load())
    return index


def names_of_numbers(node: ast.AST) -> set[str]:
    """Names that are set to numbers only, and by arithmetic of such."""
    return given_only(list(ast.walk(node)), is_number, by_operators=True)


def names_of_arrays(node: ast.AST, meaning: Callable[[ast.expr], Any]) -> set[str]:
    """Names that are only ever given new arrays of numbers: `np.zeros(n)` and its kin."""
    nodes = list(ast.walk(node))
    own = {n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    own |= {n.arg for n in nodes if isinstance(n, ast.arg)}

    def is_array(value: ast.expr, names: set[str]) -> bool:
        if not isinstance(value, ast.Call) or core.reads(value.func) & own:
            return False
        return is_filled(value, meaning(value.func))

    return given_only(nodes, is_array, by_operators=False)


def is_number(value: ast.expr, names: set[str]) -> bool:
    if isinstance(value, ast.Name):
        return value.id in names
    if isinstance(value, ast.BinOp):
        return is_number(value.left, names) and is_number(value.right, names)
    if isinstance(value, ast.UnaryOp):
        return is_number(value.operand, names)
    return isinstance(value, ast.Constant) and isinstance(value.value, int | float | complex)


def read_before_set(target: ast.expr) -> set[str]:
    """The names that a target sets after a place whose parts they are: `node.next, node = ...`."""
    read, found = set[str](), set[str]()
    for n in in_order(target):
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store):
            found |= {n.id} & read
        elif isinstance(n, ast.Name):
            read.add(n.id)
    return found


def in_order(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all in it, in the order of the text."""
    yield node
    for child in ast.iter_child_nodes(node):
        yield from in_order(child)
