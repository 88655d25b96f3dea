"""Shapes from texts, such as "b, 2*b + 1, 3", and what is known of the names in them."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from overt.runtime.dimensions import Dim, operation, single_factor

__all__ = ["SymbolicScope", "parsed", "symbolic_shape"]


class SymbolicScope:
    """Names of sizes and what is known of them, such as `"b >= 8"` or `"mod(b, 2) == 0"`.

    >>> SymbolicScope(["b >= 8", "mod(b, 2) == 0"])
    SymbolicScope(['b >= 8', 'mod(b, 2) == 0'])
    """

    def __init__(self, constraints_str: Sequence[str] = ()) -> None:
        self.constraints: list[str] = []
        self.at_least: list[Dim] = []  # these are not negative
        self.equal: dict[Any, Any] = {}  # factors that have another form
        self.bounds: dict[str, tuple[float, float]] = {}
        for text in constraints_str:
            self.add(text)

    def add(self, text: str) -> None:
        """One more thing that is known."""
        try:
            tree = ast.parse(text.strip(), mode="eval").body
            if not (isinstance(tree, ast.Compare) and len(tree.ops) == 1):
                raise ValueError("no comparison")
            left, right = (_parsed(side, self) for side in (tree.left, tree.comparators[0]))
        except (SyntaxError, ValueError, KeyError) as error:
            raise ValueError(f"a constraint is like 'b >= 8', got {text!r}: {error}") from None
        self.constraints.append(text.strip())
        kind = type(tree.ops[0])
        if kind is ast.Eq:
            single = single_factor(left)
            if single is None:
                raise ValueError(f"a constraint with == has a name or an operation left: {text!r}")
            self.equal[single] = right
            return
        if kind not in (ast.GtE, ast.LtE):
            raise ValueError(f"a constraint has one of >=, <= and ==, got {text!r}")
        rest = left - right if kind is ast.GtE else right - left
        if isinstance(rest, Dim):
            self.at_least.append(rest)
            rest.bound()

    def __repr__(self) -> str:
        return f"SymbolicScope({self.constraints})"


def _parsed(tree: ast.expr, scope: SymbolicScope) -> Any:
    if isinstance(tree, ast.Constant) and type(tree.value) is int:
        return tree.value
    if isinstance(tree, ast.Name):
        return scope.equal.get(tree.id, Dim({((tree.id, 1),): 1}, scope))
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
        return -_parsed(tree.operand, scope)
    if isinstance(tree, ast.BinOp):
        left, right = _parsed(tree.left, scope), _parsed(tree.right, scope)
        if isinstance(tree.op, ast.Add):
            return left + right
        if isinstance(tree.op, ast.Sub):
            return left - right
        if isinstance(tree.op, ast.Mult):
            return left * right
        if isinstance(tree.op, ast.Pow):
            return left**right
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and len(tree.args) == 2:
        name = tree.func.id
        left, right = (_parsed(a, scope) for a in tree.args)
        if name in ("floordiv", "mod"):
            return left // right if name == "floordiv" else left % right
        if name in ("max", "min"):
            if type(left) is int and type(right) is int:
                return max(left, right) if name == "max" else min(left, right)
            return operation(name, left, right, scope)
    raise ValueError(
        f"{ast.unparse(tree)!r} is no size: names, whole numbers, +, -, *, floordiv(x, y), "
        "mod(x, y), max(x, y), min(x, y)"
    )


def parsed(text: str, scope: SymbolicScope) -> Any:
    """A size from its text."""
    try:
        return _parsed(ast.parse(text.strip(), mode="eval").body, scope)
    except SyntaxError:
        raise ValueError(f"{text.strip()!r} is no size such as b or 2*b + 1") from None


def symbolic_shape(
    shape_spec: str | None, *, constraints: Sequence[str] = (), scope: SymbolicScope | None = None,
    like: Sequence[int | None] | None = None,
) -> tuple[Any, ...]:  # fmt: skip
    """A shape from its text, as in "b, 2*b, 3"; `_` and a last `...` are sizes of `like`.

    Shapes that share names are made in one `scope`.

    Errors: ValueError for a text that is no shape.

    >>> symbolic_shape("b, _, ...", like=(1, 2, 3, 4))
    (b, 2, 3, 4)
    """
    if scope is not None and constraints:
        raise ValueError("symbolic_shape: give either a scope or constraints, which make one")
    scope = SymbolicScope(constraints) if scope is None else scope
    text = "..." if shape_spec is None else shape_spec.strip()
    if text.startswith("(") and text.endswith(")"):
        text = text[1:-1]
    parts = [p.strip() for p in _split(text)]
    if parts and parts[-1] == "...":
        if like is None:
            raise ValueError(f"symbolic_shape: {shape_spec!r} has ... and needs like=")
        parts = [*parts[:-1], *["_"] * (len(like) - len(parts) + 1)]
    found = []
    for i, part in enumerate(parts):
        if part != "_":
            found.append(parsed(part, scope))
        elif like is None or i >= len(like) or like[i] is None:
            raise ValueError(f"symbolic_shape: {shape_spec!r} has _ and needs a size in like=")
        else:
            found.append(like[i])
    if like is not None and len(found) != len(like):
        raise ValueError(f"symbolic_shape: {shape_spec!r} is not as long as {tuple(like)}")
    return tuple(found)


def _split(text: str) -> list[str]:
    """The parts between commas that are not inside parentheses."""
    parts, depth, start = [], 0, 0
    for i, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return [p for p in [*parts, text[start:]] if p.strip()]
