"""Masks: values that are true or false, which are no factors of a derivative by themselves.

y = (x > 0.1) * x + (x > 0.2) * x
x_bar = 1.0 * (x > 0.2) + (x > 0.1)      # the sum of two masks would be their `or`
"""

from __future__ import annotations

import ast

import numpy as np

from overt.rewrites import core
from overt.rewrites.core import Assign, For, Function, If, While
from overt.rewrites.rules import Resolver

FUNCTIONS = frozenset(
    "isnan isfinite isinf isposinf isneginf isclose isin isreal iscomplex signbit logical_and "
    "logical_or logical_xor logical_not greater greater_equal less less_equal equal not_equal "
    "any all bool bool_ isinstance @any_ @all_ @bool_ @not_ @and_ @or_ @holds".split()
)
COPIES = frozenset("copy reshape ravel flatten transpose squeeze repeat roll flip".split())


def is_mask(node: ast.expr) -> bool:
    """Whether a value surely is true or false, or an array of such; names are marked before."""
    if isinstance(node, ast.Name):
        return getattr(node, "mask", False)
    if isinstance(node, ast.Constant):
        return isinstance(node.value, bool)
    if isinstance(node, ast.Compare):
        return True
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Not) or not is_minus(node) and is_mask(node.operand)
    if isinstance(node, ast.BoolOp):
        return any(map(is_mask, node.values))
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, ast.BitAnd | ast.BitOr | ast.BitXor):
            return is_mask(node.left) or is_mask(node.right)
        plain = isinstance(node.op, ast.Add | ast.Mult)
        return plain and is_mask(node.left) and is_mask(node.right)
    if isinstance(node, ast.IfExp):
        return is_mask(node.body) or is_mask(node.orelse)
    if isinstance(node, ast.Dict):  # of whose items one may be read
        return any(map(is_mask, node.values))
    if isinstance(node, ast.List | ast.Tuple):
        return any(map(is_mask, node.elts))
    if isinstance(node, ast.ListComp | ast.GeneratorExp):
        return is_mask(node.elt)
    if isinstance(node, ast.Subscript):
        return is_mask(node.value)
    if isinstance(node, ast.Attribute):
        return node.attr == "T" and is_mask(node.value)
    return isinstance(node, ast.Call) and gives_mask(node)


def is_minus(node: ast.UnaryOp) -> bool:
    return isinstance(node.op, ast.USub | ast.UAdd)


def gives_mask(node: ast.Call) -> bool:
    """Whether a call gives one: `np.isnan(x)`, `np.zeros(3, bool)`, `mask.copy()`."""
    f = node.func
    name = f.attr if isinstance(f, ast.Attribute) else getattr(f, "id", "")
    if name in FUNCTIONS:
        return True
    if name in COPIES:
        held = f.value if isinstance(f, ast.Attribute) else f
        return is_mask(held) or bool(node.args) and is_mask(node.args[0])
    if name == "where" and len(node.args) == 3:
        return is_mask(node.args[1]) and is_mask(node.args[2])
    if name in ("array", "asarray") and node.args and isinstance(node.args[0], ast.List):
        return bool(node.args[0].elts) and all(map(is_mask, node.args[0].elts))
    kinds = [*node.args, *(k.value for k in node.keywords if k.arg == "dtype")]
    return any(ast.unparse(k).rpartition(".")[2] in ("bool", "bool_") for k in kinds)


def mark_masks(function: Function, resolver: Resolver) -> Function:
    """The function with the reads of masks marked."""
    masks: set[str] = set()

    def visit(node: ast.AST) -> ast.AST:
        for n in ast.walk(node):
            if isinstance(n, ast.Name) and (n.id in masks or holds_mask(n, resolver)):
                n.mask = True  # type: ignore[attr-defined]
        return node

    while True:
        function = core.map_function(function, visit)
        before = len(masks)
        for s in core.walk(function.body):
            if isinstance(s, Assign):
                masks |= masks_set(s.target, s.value)
            elif isinstance(s, If):
                masks |= {m.name for m in s.merges if is_mask(m.then) or is_mask(m.orelse)}
            elif isinstance(s, For | While):
                if isinstance(s, For) and isinstance(s.target, str) and is_mask(s.items):
                    masks.add(s.target)
                for c in s.carries:
                    if is_mask(c.init) or is_mask(c.next):
                        masks |= {c.name, c.out}
        if len(masks) == before:
            return function


def masks_set(target: core.Pattern, value: ast.expr) -> set[str]:
    """The names of an assignment's target that get masks."""
    if isinstance(target, str):
        return {target} if is_mask(value) else set()
    if not isinstance(value, ast.Tuple | ast.List) or len(value.elts) != len(target):
        return set(core.pattern_names(target)) if is_mask(value) else set()
    return set[str]().union(*map(masks_set, target, value.elts))


def holds_mask(node: ast.Name, resolver: Resolver) -> bool:
    """Whether a variable outside names an array of truth values, or of small numbers."""
    found = None if core.is_local(node.id) else resolver.object(node)
    return isinstance(found, np.ndarray) and found.dtype.kind in "bui" and found.dtype.itemsize < 4
