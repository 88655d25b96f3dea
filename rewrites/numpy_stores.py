"""NumPy's calls that write into their arguments, as values that are stored.

np.add.at(total, index, v)       total = np.add.at(total, index, v, inplace=False)
np.fill_diagonal(a, 1.0)         a = np.fill_diagonal(a, 1.0, inplace=False)
np.copyto(a, b, where=m)         a[...] = np.where(m, b, a)
np.multiply(x, y, out=z[0])      z[0][...] = np.multiply(x, y)
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from typing import Any

from overt.rewrites.storing import reading
from overt.rewrites.viewed import loaded
from overt.rewrites.views import Definition

Resolve = Callable[[ast.expr], Any]

# NumPy's functions that change their first argument.
CHANGING = ("fill_diagonal", "put", "put_along_axis", "place", "putmask", "copyto", "nan_to_num")
OUT_PLACES = {"dot": 2, "outer": 2, "clip": 3}  # of functions that are no ufuncs


class NumpyStores:
    """What calls of NumPy's functions store, and where."""

    def __init__(self, local: set[str], definition: Definition, resolve: Resolve) -> None:
        self.local, self.definition, self.resolve = local, definition, resolve
        self.nested: dict[str, ast.FunctionDef] = {}

    def changing_call(self, value: ast.Call) -> tuple[ast.expr, ast.expr] | None:
        """What a call changes, and the expression of what that is afterwards."""
        f = value.func
        if not isinstance(f, ast.Attribute):
            return None
        if f.attr == "partition" and isinstance(f.value, ast.Name) and self.is_local(f.value):
            return f.value, ast.Call(loaded("@partitioned"), [f.value, *value.args], value.keywords)
        if not value.args or not self.is_local(value.args[0]):
            return None
        place = value.args[0]
        ufunc = f.value
        if f.attr == "at" and isinstance(ufunc, ast.Attribute) and self.is_numpy(ufunc.value):
            keywords = [ast.keyword("inplace", ast.Constant(False))]
            at = ast.Attribute(self.ours(ufunc, ufunc.attr), "at", ast.Load())
            return place, ast.Call(at, value.args, keywords)
        if f.attr not in CHANGING or not self.is_numpy(f.value):
            return None
        given = {k.arg: k.value for k in value.keywords}
        rest = value.args[1:]
        if f.attr == "nan_to_num":
            copied = rest[0] if rest else given.get("copy")
            if not isinstance(copied, ast.Constant) or copied.value is not False:
                return None
            keywords = [k for k in value.keywords if k.arg != "copy"]
            return place, ast.Call(f, [place, ast.Constant(True), *rest[1:]], keywords)
        if f.attr == "copyto" and len(rest) == 1 and given.keys() <= {"where"}:
            return place, (self.where(f, given["where"], rest[0], place) if given else rest[0])
        if f.attr == "putmask" and len(rest) == 2 and not given:
            shape = ast.Attribute(place, "shape", ast.Load())
            values = ast.Call(self.ours(f, "resize"), [rest[1], shape], [])
            return place, self.where(f, rest[0], values, place)
        if f.attr in ("copyto", "putmask"):
            return None
        keywords = [*value.keywords, ast.keyword("inplace", ast.Constant(False))]
        return place, ast.Call(self.ours(f, f.attr), value.args, keywords)

    def where(self, f: ast.Attribute, *parts: ast.expr) -> ast.Call:
        return ast.Call(self.ours(f, "where"), list(parts), [])

    def ours(self, f: ast.Attribute, name: str) -> ast.expr:
        """One of our functions, by the user's name of the module if that is ours."""
        module = f.value if self.resolve(f.value).__name__ != "numpy" else loaded("@np")
        return ast.Attribute(module, name, ast.Load())

    def is_numpy(self, node: ast.expr) -> bool:
        name = getattr(self.resolve(node), "__name__", "") if isinstance(node, ast.Name) else ""
        return name in ("numpy", "overt.numpy")

    def is_local(self, place: ast.expr) -> bool:
        """Whether an expression is a local name or a part of what one holds."""
        root = place
        while isinstance(root, ast.Subscript | ast.Attribute):
            root = root.value
        return isinstance(root, ast.Name) and root.id in self.local

    def out_of(self, value: ast.Call) -> ast.expr | None:
        """Where a call is told to write its result."""
        f = value.func
        if isinstance(f, ast.Name) and (f.id in self.nested or self.definition(f.id) is not None):
            return None  # a parameter of the user's
        out = next((k.value for k in value.keywords if k.arg == "out"), None)
        if out is None:
            place = self.out_place(value.func)
            out = value.args[place] if place is not None and len(value.args) == place + 1 else None
        if isinstance(out, ast.Tuple) and len(out.elts) == 1:
            out = out.elts[0]
        return out if out is not None and self.is_local(out) else None

    def out_place(self, f: ast.expr) -> int | None:
        """The position of `out` among the arguments of a function."""
        if not (isinstance(f, ast.Attribute) and self.is_numpy(f.value)):
            return None
        return getattr(self.resolve(f), "nin", OUT_PLACES.get(f.attr))

    def out_argument(self, s: ast.stmt, value: ast.Call, out: ast.expr) -> list[ast.stmt]:
        call = copy.copy(value)
        call.keywords = [k for k in value.keywords if k.arg != "out"]
        if len(call.keywords) == len(value.keywords):
            call.args = value.args[:-1]
        result: ast.expr = call
        f = value.func
        only = next((k for k in call.keywords if k.arg == "where"), None)
        if only is not None and isinstance(f, ast.Attribute) and self.is_numpy(f.value):
            if hasattr(self.resolve(f), "nin"):
                call.keywords = [k for k in call.keywords if k is not only]
                result = self.where(f, only.value, call, reading(out))
        store = everything_stored(out, result, s)
        if isinstance(s, ast.Expr):
            return [store]
        again: Any = copy.copy(s)
        again.value = reading(out)
        return [store, again]


def everything_stored(place: ast.expr, value: ast.expr, s: ast.stmt) -> ast.stmt:
    """`place[...] = value`."""
    made = ast.Assign([ast.Subscript(reading(place), ast.Constant(...), ast.Store())], value)
    for node in ast.walk(made):
        ast.copy_location(node, s)
    return made
