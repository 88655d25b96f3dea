"""Algebra: expressions made plainer without changing a value.

    1.0 * x -> x    a + -b -> a - b    g * x + g * x -> 2.0 * (g * x)
times(g, power_slope(x, 2)) -> g * (2 * x)
"""

from __future__ import annotations

import ast
import keyword
from typing import Any

from overt.rewrites import core
from overt.rewrites.masks import is_mask


def plainer(node: ast.expr) -> ast.expr:
    """The expression in its plainest form."""
    return Plainer().visit(node)


def number(node: ast.AST) -> float | int | None:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return node.value  # type: ignore[return-value]  # a bool is no number here
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = number(node.operand)
        return -value if value is not None else None
    return None


def literal(value: float | int) -> ast.expr:
    if value < 0:
        return ast.UnaryOp(ast.USub(), ast.Constant(-value))
    return ast.Constant(value)


def negation(node: ast.expr) -> ast.expr | None:
    """What `node` is minus of, if it is written as one."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return node.operand
    return None


def led(node: ast.expr) -> tuple[float | int | None, ast.expr | None]:
    """The number that a product begins with, and the rest: `2 * x * y` is 2 and `x * y`."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div)):
        return None, None
    front = number(node.left) if isinstance(node.op, ast.Mult) else None
    if front is not None:
        return front, node.right
    front, rest = led(node.left)
    return front, None if rest is None else ast.BinOp(rest, node.op, node.right)


def times(front: float | int, rest: ast.expr) -> ast.expr:
    """A number times a product, as the first of its factors: `2 * x * y`."""
    if front in (1, -1) and is_mask(rest):
        return ast.BinOp(literal(float(front)), ast.Mult(), rest)
    if front == 1:
        return rest
    if front == -1:
        return ast.UnaryOp(ast.USub(), rest)
    if isinstance(rest, ast.BinOp) and isinstance(rest.op, ast.Mult | ast.Div):
        first = number(rest.left)
        above = times(front, rest.left) if first is None else literal(front * first)
        return ast.BinOp(above, rest.op, rest.right)
    return ast.BinOp(literal(front), ast.Mult(), rest)


def product(left: ast.expr, right: ast.expr) -> ast.BinOp:
    """`a * (b * c)` as `a * b * c`."""
    if isinstance(right, ast.BinOp) and isinstance(right.op, ast.Mult | ast.Div):
        if number(right.left) is None:
            return ast.BinOp(product(left, right.left), right.op, right.right)
    return ast.BinOp(left, ast.Mult(), right)


def binary(left: ast.expr, op: ast.operator, right: ast.expr) -> ast.expr:
    return Plainer().combine(ast.BinOp(left, op, right))


class Plainer(ast.NodeTransformer):
    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.Name | ast.Constant):
            return node
        node = core.with_parts(node, self.visit)
        if isinstance(node, ast.BinOp):
            return self.combine(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            inner = negation(node.operand)
            if inner is not None:
                return inner
            front, rest = led(node.operand)
            return times(-front, rest) if front is not None and rest is not None else node
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return self.helper(node)
        if is_np(node, "sum") and (minus := negation(node.args[0])) is not None:
            called = ast.Call(node.func, [minus, *node.args[1:]], node.keywords)
            return ast.UnaryOp(ast.USub(), called)
        if is_np(node, "where") and len(node.args) == 3 and not node.keywords:
            equal = compared(node.args[0])
            return node if equal is None else node.args[1 if equal else 2]
        if is_np(node, "size") and len(node.args) == 1:
            assert isinstance(node, ast.Call)
            return ast.Call(node.func, [of_same_size(node.args[0])], [])
        return node

    def combine(self, node: ast.BinOp) -> ast.expr:
        left, op, right = node.left, node.op, node.right
        a, b = number(left), number(right)
        minus_left, minus_right = negation(left), negation(right)
        if isinstance(op, ast.Add):
            if a == 0 and type(a) is float:
                return right
            if b == 0 and type(b) is float:
                return left
            if minus_right is not None and b is None:
                return ast.BinOp(left, ast.Sub(), minus_right)
            if minus_left is not None and a is None:
                return ast.BinOp(right, ast.Sub(), minus_left)
            front, rest = led(right)
            if front is not None and front < 0 and rest is not None:
                return ast.BinOp(left, ast.Sub(), times(-front, rest))
            if ast.dump(left) == ast.dump(right) and a is None:
                return ast.BinOp(ast.Constant(2.0), ast.Mult(), left)
            if isinstance(right, ast.BinOp) and isinstance(right.op, ast.Add | ast.Sub):
                first = self.combine(ast.BinOp(left, op, right.left))  # `a + (b - c)`
                return self.combine(ast.BinOp(first, right.op, right.right))
        elif isinstance(op, ast.Sub):
            if b == 0 and (type(b) is float or is_np(left, "size")):
                return left
            if minus_right is not None and b is None:
                return ast.BinOp(left, ast.Add(), minus_right)
        elif isinstance(op, ast.Mult):
            if a is not None and b is not None:
                return literal(a * b)
            if a in (1, -1):
                return times(a, right)  # type: ignore[arg-type]
            if b in (1, -1):
                return times(b, left)  # type: ignore[arg-type]
            if minus_left is not None and a is None:
                return ast.UnaryOp(ast.USub(), self.combine(ast.BinOp(minus_left, op, right)))
            if minus_right is not None and b is None:
                return ast.UnaryOp(ast.USub(), self.combine(ast.BinOp(left, op, minus_right)))
            if b is not None:  # numbers in front
                return self.combine(ast.BinOp(right, ast.Mult(), left))
            front, rest = led(right)
            if front is not None and rest is not None:
                if a is not None:
                    return times(a * front, rest)
                mine, others = led(left)
                factors = others if mine is not None and others is not None else left
                front *= 1 if mine is None else mine
                return times(front, product(factors, rest))
            if a is not None and isinstance(right, ast.BinOp):
                return times(a, right)
            if isinstance(left, ast.BinOp) and isinstance(left.op, ast.Div):
                front = number(left.left)  # `2.0 / n * x` is `2.0 * x / n`
                if front is not None:
                    return self.combine(ast.BinOp(times(front, right), ast.Div(), left.right))
            if isinstance(right, ast.BinOp) and isinstance(right.op, ast.Div):
                above = self.combine(product(left, right.left))
                return self.combine(ast.BinOp(above, ast.Div(), right.right))
        elif isinstance(op, ast.Div):
            if b == 1:
                return left
            if minus_left is not None and a is None:
                return ast.UnaryOp(ast.USub(), ast.BinOp(minus_left, op, right))
        elif isinstance(op, ast.Pow) and b == 1:
            return left
        return node

    def helper(self, node: ast.Call) -> ast.expr:
        assert isinstance(node.func, ast.Name)
        name, args = node.func.id, node.args
        if name == "@over" and len(args) == 2:
            b = number(args[1])
            if b not in (None, 0):
                return self.combine(ast.BinOp(args[0], ast.Div(), args[1]))
            if number(args[0]) not in (None, 0):
                return ast.BinOp(args[0], ast.Div(), args[1])
            minus = negation(args[0])
            if minus is not None:
                return ast.UnaryOp(ast.USub(), core.call(core.name("@over"), minus, args[1]))
        if name in ("@times", "@times_both") and len(args) == 2:
            g, slope = args
            minus = negation(g)
            if minus is not None:
                return ast.UnaryOp(ast.USub(), self.helper(core.call(node.func, minus, slope)))
            if number(g) is not None or number(slope) is not None:
                return self.combine(ast.BinOp(g, ast.Mult(), slope))
        if name in ("@add", "@place"):
            return gathered(node)
        if name in ("@sum_to", "@unreduce", "@max_bar", "@min_bar"):  # a minus stands in front
            minus = negation(args[0])
            if minus is not None:
                called = ast.Call(node.func, [minus, *args[1:]], node.keywords)
                return ast.UnaryOp(ast.USub(), called)
        if name == "@power_slope" and len(args) == 2:
            return self.power_slope(node, args[0], number(args[1]))
        if name in ("@of_freedom", "@relative_dot") and core.is_none(args[1]):
            return args[0]
        if name == "@divided" and number(args[0]) is not None:
            return self.combine(ast.BinOp(args[0], ast.Div(), args[1]))
        if name == "@count" and len(args) == 1 and not node.keywords:
            size = ast.Attribute(core.name("@np"), "size", ast.Load())
            return ast.Call(size, [of_same_size(args[0])], [])
        return node

    def power_slope(self, node: ast.Call, x: ast.expr, n: float | int | None) -> ast.expr:
        if n is None or n == 0:
            return node
        if n == 1:
            return ast.Constant(1.0)
        if n == 2:
            return ast.BinOp(literal(n), ast.Mult(), x)
        if n > 1 or isinstance(n, float):
            power = ast.BinOp(x, ast.Pow(), literal(n - 1))
            return ast.BinOp(literal(n), ast.Mult(), power)
        return node


def compared(node: ast.expr) -> bool | None:
    """Whether two numbers that are written out are equal; None where that is not the question."""
    if not (isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq)):
        return None
    first, *others = (number(n) for n in (node.left, *node.comparators))
    return None if first is None or len(others) > 1 or others[0] is None else first == others[0]


def is_np(node: ast.AST, function: str) -> bool:
    """Whether an expression is a call of a function of our own NumPy."""
    f = node.func if isinstance(node, ast.Call) and node.args else None
    return (
        isinstance(f, ast.Attribute)
        and f.attr == function
        and isinstance(f.value, ast.Name)
        and f.value.id == "@np"
    )


def of_same_size(node: ast.expr) -> ast.expr:
    """What an expression's size is that of: `x` for `-x` and `x**2`."""
    while True:
        if isinstance(node, ast.UnaryOp):
            node = node.operand
        elif isinstance(node, ast.BinOp) and number(node.right) is not None:
            node = node.left
        elif isinstance(node, ast.BinOp) and number(node.left) is not None:
            node = node.right
        else:
            return node


def gathered(node: ast.Call) -> ast.expr:
    """Cotangents of several items of one dictionary, put together at once."""
    parts = [items_of(a) for a in node.args] if node.func.id == "@add" else []  # type: ignore
    if len(parts) != 2 or parts[0] is None or parts[1] is None:
        return node
    (holder, first), (other, second) = parts[0], parts[1]
    if holder != other or first.keys() & second.keys():  # either may have a broadcast to undo
        return node
    merged = {**second, **first}
    if all(k.isidentifier() and not keyword.iskeyword(k) for k in merged):
        return core.call(core.name("@with_items"), core.name(holder), **merged)
    keys: list[ast.expr | None] = [ast.Constant(k) for k in merged]
    return core.call(
        core.name("@with_items"), core.name(holder), ast.Dict(keys, list(merged.values()))
    )


def items_of(node: ast.expr) -> tuple[str, dict[str, ast.expr]] | None:
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
        return None
    if node.func.id == "@place" and isinstance(node.args[1], ast.Name):
        key = node.args[2]
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            return node.args[1].id, {key.value: node.args[0]}
    if node.func.id == "@with_items" and isinstance(node.args[0], ast.Name):
        if len(node.args) == 1:
            return node.args[0].id, {k.arg: k.value for k in node.keywords if k.arg}
        table = node.args[1]
        if not isinstance(table, ast.Dict):
            return None
        return node.args[0].id, {k.value: v for k, v in zip(table.keys, table.values, strict=True)}  # type: ignore
    return None
