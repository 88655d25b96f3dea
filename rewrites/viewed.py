"""What a view is of which name, how it is read again, and how a store into it is written back.

row = a[i]              a = stored_back(a, i, row)
u = o.u                 o.u = u
m = a.reshape(2, 4)     a = m.reshape(a.shape)
t = np.transpose(a)     a = t.T
"""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass, field

from overt.rewrites.scopes import NESTED, own_nodes, yields
from overt.rewrites.sharing import ARRAY_MAKERS, MAKERS

# Methods of containers that read them, by their special names.
READING = frozenset("__getitem__ __contains__ __len__ __iter__".split())
TURNED = frozenset("T mT".split())  # attributes that undo themselves
RESHAPED = frozenset("reshape ravel squeeze expand_dims atleast_1d atleast_2d".split())
SAME = frozenset("swapaxes flip fliplr flipud".split())  # calls that undo themselves
SHAPED = RESHAPED | SAME | {"transpose", "moveaxis", "diagonal"}
ORDERED = frozenset("reshape ravel".split())  # a view only where the memory is in order
TURNING = frozenset(
    "T mT transpose swapaxes moveaxis rollaxis flip fliplr flipud rot90 broadcast_to order "
    "asfortranarray diagonal diag real imag meshgrid".split()
)
OF_ARRAYS = frozenset("T mT real imag flat shape size ndim dtype at itemsize nbytes base".split())
REDUCING = frozenset("sum mean max min prod norm len std var any all".split())


@dataclass(frozen=True)
class View:
    """What a name shares with another one: all of it, an item or part, or another shape of it."""

    base: str
    index: ast.expr | None = None
    shaped: ast.expr | None = None  # `a.T` or `a.reshape(...)`, of the base's name
    detached: bool = False  # whether the base, if it is a list, may hold another item there now
    attribute: str = ""  # of the object that the base names

    def names(self) -> set[str]:
        found = {self.base}
        for node in (self.index, self.shaped):
            if node is not None:
                found |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        return found

    def is_whole(self) -> bool:
        return self.index is None and self.shaped is None and not self.attribute

    def is_item(self) -> bool:
        return self.index is not None and not has_slice(self.index)

    def undone(self, part: ast.expr, base: ast.expr) -> ast.expr | None:
        """The base from a view of another shape; None for one that NumPy lets nobody write."""
        node = self.shaped
        if isinstance(node, ast.Attribute) and node.attr in TURNED:
            return ast.Attribute(part, node.attr, ast.Load())
        name, args = called(node, self.base)
        if name in RESHAPED:
            shape = ast.Attribute(base, "shape", ast.Load())
            return ast.Call(ast.Attribute(part, "reshape", ast.Load()), [shape], [])
        if name == "transpose":
            return ast.Attribute(part, "T", ast.Load())
        if name == "moveaxis":
            args = [args[1], args[0]]
        if name in SAME or name == "moveaxis":
            assert isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
            args = [copy.deepcopy(a) for a in args]
            if is_name(node.func.value, self.base):
                return ast.Call(ast.Attribute(part, name, ast.Load()), args, [])
            return ast.Call(copy.deepcopy(node.func), [part, *args], [])
        return None


@dataclass
class Kinds:
    """What the text of a function tells of its names."""

    wide: set[str] = field(default_factory=set)  # surely arrays or containers
    deep: set[str] = field(default_factory=set)  # surely of two axes at least
    made: set[str] = field(default_factory=set)  # surely arrays, if of no axes
    built: set[str] = field(default_factory=set)  # surely new objects of a class
    untidy: set[str] = field(default_factory=set)  # perhaps not in C order in NumPy's memory


def kinds_of(body: list[ast.stmt]) -> Kinds:
    kinds = Kinds()
    nodes = [n for s in body for n in ([] if isinstance(s, NESTED) else own_nodes(s))]
    for n in nodes:
        kinds.wide |= used_as_array(n)
        if isinstance(n, ast.Subscript) and isinstance(n.value, ast.Name):
            if has_two(n.slice):
                kinds.deep.add(n.value.id)
    given: dict[str, list[ast.expr]] = {}
    for n in nodes:
        if isinstance(n, ast.Assign):
            for t in n.targets:
                if isinstance(t, ast.Name):
                    given.setdefault(t.id, []).append(n.value)
    kinds.built = {n for n, vs in given.items() if all(map(is_built, vs))}
    while True:
        wide = {n for n, vs in given.items() if all(is_array(v, kinds.wide) for v in vs)}
        untidy = {n for n, vs in given.items() if any(is_untidy(v, kinds.untidy) for v in vs)}
        deep = {n for n, vs in given.items() if all(is_deep(v, kinds.deep) for v in vs)}
        made = {n for n, vs in given.items() if all(is_made(v, kinds.made) for v in vs)}
        found = (wide | made, kinds.wide), (made, kinds.made), (deep, kinds.deep)
        if all(new <= old for new, old in (*found, (untidy, kinds.untidy))):
            return kinds
        kinds.made |= made
        kinds.wide |= made
        kinds.wide |= wide
        kinds.deep |= deep
        kinds.untidy |= untidy


def used_as_array(n: ast.AST) -> set[str]:
    """The names that an expression uses as arrays or containers."""
    used: list[ast.expr] = []
    if isinstance(n, ast.Subscript | ast.Attribute):
        used = [n.value]
    elif isinstance(n, ast.BinOp) and isinstance(n.op, ast.MatMult):
        used = [n.left, n.right]
    elif isinstance(n, ast.Call) and len(n.args) == 1:
        name = getattr(n.func, "attr", getattr(n.func, "id", ""))
        used = operands(n.args[0]) if name in REDUCING else []
    return {x.id for x in used if isinstance(x, ast.Name)}


def operands(node: ast.expr) -> list[ast.expr]:
    """The names that arithmetic in an expression is done on."""
    if isinstance(node, ast.BinOp):
        return operands(node.left) + operands(node.right)
    return operands(node.operand) if isinstance(node, ast.UnaryOp) else [node]


def is_array(node: ast.expr, wide: set[str]) -> bool:
    """Whether an expression surely gives an array or a container."""
    if isinstance(node, ast.BinOp):
        return is_array(node.left, wide) or is_array(node.right, wide)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        name = node.func.attr
        return name in MAKERS or name in ("copy", *ORDERED) and is_array(node.func.value, wide)
    return isinstance(node, ast.Name) and node.id in wide


def is_made(node: ast.expr, made: set[str]) -> bool:
    """Whether an expression gives an array even where it has no axes; arithmetic gives numbers."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        name = node.func.attr
        return name in ARRAY_MAKERS or name == "copy" and is_made(node.func.value, made)
    return isinstance(node, ast.Name) and node.id in made


def is_built(node: ast.expr) -> bool:
    """Whether an expression makes an object of a class, which has a capital letter."""
    f = node.func if isinstance(node, ast.Call) else None
    name = getattr(f, "id", getattr(f, "attr", ""))
    return name.lstrip("_")[:1].isupper()


def is_deep(node: ast.expr, deep: set[str]) -> bool:
    """Whether an expression surely gives an array of two axes at least."""
    if isinstance(node, ast.BinOp):
        return is_deep(node.left, deep) or is_deep(node.right, deep)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        name = node.func.attr
        if name in MAKERS or name == "reshape":
            return any(map(has_two, node.args)) or name in ("eye", "reshape") and len(node.args) > 1
        return name == "copy" and is_deep(node.func.value, deep)
    return isinstance(node, ast.Name) and node.id in deep


def has_two(node: ast.expr) -> bool:
    return isinstance(node, ast.Tuple) and len(node.elts) > 1


def is_untidy(node: ast.expr, untidy: set[str]) -> bool:
    """Whether NumPy may keep the value of an expression out of C order."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in MAKERS or node.func.attr == "copy" and not node.args:
            return False
    for n in ast.walk(node):
        if isinstance(n, ast.Attribute) and n.attr in TURNING:
            return True
        if isinstance(n, ast.keyword) and n.arg in TURNING:
            return True
        if isinstance(n, ast.Name) and n.id in untidy:
            return True
        if isinstance(n, ast.Subscript) and has_slice(n.slice):
            if isinstance(n.slice, ast.Tuple) or n.slice.step is not None:  # type: ignore
                return True
    return False


def called(node: ast.expr | None, base: str) -> tuple[str, list[ast.expr]]:
    """The name of a method or a function of a module, and what it is given beside the array."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return "", []
    return node.func.attr, node.args if is_name(node.func.value, base) else node.args[1:]


def shaped_view(value: ast.expr, local: set[str], kinds: Kinds) -> View | None:
    """The view that `a.T`, `a.reshape(...)` or `np.reshape(a, ...)` is of a local name."""
    holder = viewed_holder(value, local)
    if not isinstance(holder, ast.Name) or holder.id not in local:
        return None
    if isinstance(value, ast.Attribute):
        if value.attr == "flat":  # written in C order, whatever the memory's
            value = ast.Call(ast.Attribute(holder, "ravel", ast.Load()), [], [])
        return View(holder.id, shaped=value)
    if not isinstance(value, ast.Call) or value.keywords:
        return None
    name, args = called(value, holder.id)
    if not all(map(is_plain_index, args)) or name == "transpose" and args:
        return None
    if name == "moveaxis" and len(args) != 2 or name in ORDERED and holder.id in kinds.untidy:
        return None
    return View(holder.id, shaped=value)


def viewed_holder(node: ast.expr, local: set[str]) -> ast.expr | None:
    """What an expression is a view of, by one step."""
    if isinstance(node, ast.Subscript):
        return node.value
    if isinstance(node, ast.Attribute):
        kept = node.attr in TURNED or node.attr == "flat" or is_inside(node, local)
        return node.value if kept else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in SHAPED:
            f = node.func.value
            if isinstance(f, ast.Name) and f.id not in local:
                return node.args[0] if node.args else None
            return f
    return None


def is_member(node: ast.AST, local: set[str]) -> bool:
    """Whether an expression is `o.a`, of an object that a local name stands for."""
    return isinstance(node, ast.Attribute) and (
        isinstance(node.value, ast.Name) and is_inside(node, local)
    )


def is_inside(node: ast.AST, local: set[str]) -> bool:
    """Whether an expression is `o.a` or `o.a.b`, of an object that a local name stands for."""
    if isinstance(node, ast.Name):
        return node.id in local
    return (
        isinstance(node, ast.Attribute)
        and is_inside(node.value, local)
        and node.attr not in OF_ARRAYS
        and (node.attr in READING or not node.attr.startswith("__"))
    )


def stored_members(s: ast.stmt) -> set[tuple[str, str]]:
    """The attributes of named objects that a statement, or one inside it, stores into."""
    found: set[tuple[str, str]] = set()
    for n in ast.walk(s):
        if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store):
            place = n.value
            while isinstance(place, ast.Subscript):
                place = place.value
            if isinstance(place, ast.Attribute) and isinstance(place.value, ast.Name):
                found.add((place.value.id, place.attr))
    return found


def may_bind(s: ast.stmt, name: str, attribute: str) -> bool:
    """Whether a statement, or one inside it, may give an attribute of an object another value."""
    for n in ast.walk(s):
        if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store | ast.Del):
            if n.attr == attribute:
                return True
        if isinstance(n, ast.Call):
            called_on = n.func.value if isinstance(n.func, ast.Attribute) else None
            given = [called_on, *n.args, *(k.value for k in n.keywords)]
            if any(is_name(x, name) for x in given if x is not None):
                return True
    return False


def changed_roots(node: ast.expr) -> set[str]:
    """The names whose objects a store into an expression changes."""
    if isinstance(node, ast.Name):
        return {node.id}
    if isinstance(node, ast.Subscript):
        return changed_roots(node.value)
    if isinstance(node, ast.Attribute):
        return changed_roots(node.value) if node.attr in TURNED or node.attr == "flat" else set()
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in SHAPED:
            return set().union(*map(changed_roots, (node.func.value, *node.args[:1])))
    return set()


def returned_expression(node: ast.FunctionDef) -> ast.expr | None:
    """The expression of its parameters whose object a function surely returns, if there is one."""
    if node.decorator_list or yields(node):
        return None
    returns = [n for n in own_nodes(node) if isinstance(n, ast.Return)]
    last = node.body[-1]
    if not isinstance(last, ast.Return) or last.value is None:
        return None
    operated = {id(n.target) for n in own_nodes(node) if isinstance(n, ast.AugAssign)}
    names = [n for n in own_nodes(node) if isinstance(n, ast.Name)]
    if isinstance(last.value, ast.Name):
        name = last.value.id
        same = all(r.value is not None and is_name(r.value, name) for r in returns)
        again = any(n.id == name and not is_read(n) and id(n) not in operated for n in names)
        return last.value if same and not again else None
    return last.value if len(returns) == 1 and all(map(is_read, names)) else None


def is_read(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Load)


def with_holder(node: ast.expr, holder: ast.Name, local: set[str]) -> ast.expr:
    """A view expression of something else."""
    new = copy.copy(node)
    if isinstance(new, ast.Subscript | ast.Attribute):
        new.value = holder
    elif isinstance(new, ast.Call) and isinstance(new.func, ast.Attribute):
        if viewed_holder(node, local) is new.func.value:
            new.func = ast.Attribute(holder, new.func.attr, ast.Load())
        else:
            new.args = [holder, *new.args[1:]]
    return new


def is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def is_plain_index(node: ast.expr | None) -> bool:
    """Whether an expression gives integers, slices and the like, the same each time."""
    if node is None or isinstance(node, ast.Name):
        return True
    if isinstance(node, ast.Constant):
        return node.value is not None and not isinstance(node.value, bool | float)
    if isinstance(node, ast.Slice):
        return all(map(is_plain_index, (node.lower, node.upper, node.step)))
    if isinstance(node, ast.Tuple):
        return all(map(is_plain_index, node.elts))
    if isinstance(node, ast.UnaryOp):
        return is_plain_index(node.operand)
    if isinstance(node, ast.Attribute | ast.Subscript):  # `a.shape[0]`
        return "shape" in (getattr(node, "attr", ""), getattr(node.value, "attr", ""))
    if isinstance(node, ast.Call):
        return is_name(node.func, "len")
    if isinstance(node, ast.BinOp):
        return is_plain_index(node.left) and is_plain_index(node.right)
    return False


def has_slice(index: ast.expr | None) -> bool:
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return any(isinstance(p, ast.Slice) for p in parts)


def loaded(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def helper(name: str, *args: ast.expr) -> ast.Call:
    return ast.Call(loaded(name), list(args), [])


def as_index(index: ast.expr) -> ast.expr:
    """An index as a value: slices are written `at[1:3]`."""
    index = copy.deepcopy(index)
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    if any(isinstance(p, ast.Slice) for p in parts):
        return ast.Subscript(loaded("@at"), index, ast.Load())
    return index
