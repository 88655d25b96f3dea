"""Expressions to text, spaced and parenthesised as a person would."""

from __future__ import annotations

import ast
from collections.abc import Callable

BINARY = {
    ast.Add: ("+", 11),
    ast.Sub: ("-", 11),
    ast.Mult: ("*", 12),
    ast.Div: ("/", 12),
    ast.FloorDiv: ("//", 12),
    ast.Mod: ("%", 12),
    ast.MatMult: ("@", 12),
    ast.Pow: ("**", 14),
    ast.LShift: ("<<", 10),
    ast.RShift: (">>", 10),
    ast.BitAnd: ("&", 9),
    ast.BitXor: ("^", 8),
    ast.BitOr: ("|", 7),
}
UNARY = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~", ast.Not: "not "}
COMPARE = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}
ATOM, UNARY_LEVEL, NOT_LEVEL, COMPARE_LEVEL = 20, 13, 5, 6
AND, OR, TERNARY, LAMBDA, LOWEST = 4, 3, 2, 1, 0


class Printer:
    """Prints expressions; `rename` gives each name its text."""

    def __init__(self, rename: Callable[[str], str] = str) -> None:
        self.rename = rename
        self.spelled: dict[str, str] = {}  # lambdas written out where their names stand

    def text(self, node: ast.expr, level: int = LOWEST) -> str:
        """The text of an expression, in parentheses where its context binds tighter than it."""
        shown, own = self.parts(node)
        return f"({shown})" if own < level else shown

    def parts(self, node: ast.expr) -> tuple[str, int]:
        method = getattr(self, f"of_{type(node).__name__}", None)
        if method is None:
            return self.fallback(node)
        return method(node)

    def fallback(self, node: ast.expr) -> tuple[str, int]:
        class Rename(ast.NodeTransformer):
            def visit_Name(_, n: ast.Name) -> ast.Name:
                return ast.Name(self.rename(n.id), n.ctx)

        import copy

        return ast.unparse(ast.fix_missing_locations(Rename().visit(copy.deepcopy(node)))), ATOM

    def of_Name(self, node: ast.Name) -> tuple[str, int]:
        if node.id in self.spelled:
            return self.spelled[node.id], LAMBDA
        return self.rename(node.id), ATOM

    def of_Constant(self, node: ast.Constant) -> tuple[str, int]:
        value = node.value
        text = getattr(node, "text", None)
        if text is None:
            text = repr(value)
            if isinstance(value, str) and "'" in text[:1] and '"' not in value:
                text = '"' + text[1:-1].replace("\\'", "'") + '"'
            elif isinstance(value, float) and abs(value) == float("inf"):
                text = 'float("inf")' if value > 0 else '-float("inf")'
            elif value is Ellipsis:
                text = "..."
        negative = isinstance(value, int | float) and text.startswith("-")
        return text, UNARY_LEVEL if negative else ATOM

    def of_BinOp(self, node: ast.BinOp) -> tuple[str, int]:
        symbol, level = BINARY[type(node.op)]
        if isinstance(node.op, ast.Pow):
            space = "" if is_simple(node.left) and is_simple(node.right) else " "
            left, right = self.text(node.left, level + 1), self.text(node.right, UNARY_LEVEL)
            return f"{left}{space}**{space}{right}", level
        left, right = self.text(node.left, level), self.text(node.right, level + 1)
        return f"{left} {symbol} {right}", level

    def of_UnaryOp(self, node: ast.UnaryOp) -> tuple[str, int]:
        level = NOT_LEVEL if isinstance(node.op, ast.Not) else UNARY_LEVEL
        return UNARY[type(node.op)] + self.text(node.operand, level), level

    def of_BoolOp(self, node: ast.BoolOp) -> tuple[str, int]:
        word, level = ("and", AND) if isinstance(node.op, ast.And) else ("or", OR)
        return f" {word} ".join(self.text(v, level + 1) for v in node.values), level

    def of_Compare(self, node: ast.Compare) -> tuple[str, int]:
        shown = self.text(node.left, COMPARE_LEVEL + 1)
        for op, right in zip(node.ops, node.comparators, strict=True):
            shown += f" {COMPARE[type(op)]} {self.text(right, COMPARE_LEVEL + 1)}"
        return shown, COMPARE_LEVEL

    def of_IfExp(self, node: ast.IfExp) -> tuple[str, int]:
        body, test = self.text(node.body, TERNARY + 1), self.text(node.test, TERNARY + 1)
        return f"{body} if {test} else {self.text(node.orelse, TERNARY)}", TERNARY

    def of_Lambda(self, node: ast.Lambda) -> tuple[str, int]:
        params = self.arguments(node.args)
        return f"lambda{' ' if params else ''}{params}: {self.text(node.body, TERNARY)}", LAMBDA

    def arguments(self, a: ast.arguments) -> str:
        shown = []
        plain = [*a.posonlyargs, *a.args]
        defaults: list[ast.expr | None] = [None] * (len(plain) - len(a.defaults))
        defaults += a.defaults
        for i, (p, d) in enumerate(zip(plain, defaults, strict=True)):
            shown.append(p.arg if d is None else f"{p.arg}={self.text(d, TERNARY)}")
            if a.posonlyargs and i == len(a.posonlyargs) - 1:
                shown.append("/")
        if a.vararg:
            shown.append("*" + a.vararg.arg)
        elif a.kwonlyargs:
            shown.append("*")
        for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True):
            shown.append(p.arg if d is None else f"{p.arg}={self.text(d, TERNARY)}")
        if a.kwarg:
            shown.append("**" + a.kwarg.arg)
        return ", ".join(shown)

    def of_Attribute(self, node: ast.Attribute) -> tuple[str, int]:
        value = self.text(node.value, ATOM)
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, int):
            value = f"({value})"
        return f"{value}.{node.attr}", ATOM

    def of_Starred(self, node: ast.Starred) -> tuple[str, int]:
        return "*" + self.text(node.value, BINARY[ast.BitOr][1]), ATOM

    def of_Call(self, node: ast.Call) -> tuple[str, int]:
        if len(node.args) == 1 and not node.keywords and isinstance(node.args[0], ast.GeneratorExp):
            return f"{self.text(node.func, ATOM)}{self.text(node.args[0])}", ATOM
        shown = [self.text(a, LAMBDA) for a in node.args]
        for k in node.keywords:
            value = self.text(k.value, LAMBDA)
            shown.append(f"{k.arg}={value}" if k.arg else f"**{value}")
        return f"{self.text(node.func, ATOM)}({', '.join(shown)})", ATOM

    def of_Subscript(self, node: ast.Subscript) -> tuple[str, int]:
        return f"{self.text(node.value, ATOM)}[{self.index(node.slice)}]", ATOM

    def index(self, node: ast.expr) -> str:
        if isinstance(node, ast.Tuple) and node.elts:
            # a tuple inside stands for an index array
            shown = [self.text(e) if isinstance(e, ast.Tuple) else self.index(e) for e in node.elts]
            return ", ".join(shown) + ("," if len(shown) == 1 else "")
        if isinstance(node, ast.Slice):
            ends = [node.lower, node.upper] + ([node.step] if node.step is not None else [])
            simple = all(
                e is None or isinstance(e, ast.Name | ast.Constant) or is_minus(e) for e in ends
            )
            texts = [self.text(e, TERNARY) if e is not None else "" for e in ends]
            if simple:
                return ":".join(texts)
            text = texts[0]
            for t in texts[1:]:
                text += (" :" if text and not text.endswith(" ") else ":") + (f" {t}" if t else "")
            return text
        return self.text(node)

    def of_Tuple(self, node: ast.Tuple) -> tuple[str, int]:
        shown = [self.text(e, TERNARY) for e in node.elts]
        return f"({', '.join(shown)}{',' if len(shown) == 1 else ''})", ATOM

    def bare(self, node: ast.expr) -> str:
        """A value that needs no parentheses of its own: after `=`, `return`."""
        if isinstance(node, ast.Tuple) and len(node.elts) > 1:
            return self.of_Tuple(node)[0][1:-1]
        return self.text(node)

    def of_List(self, node: ast.List) -> tuple[str, int]:
        return f"[{', '.join(self.text(e, TERNARY) for e in node.elts)}]", ATOM

    def of_Set(self, node: ast.Set) -> tuple[str, int]:
        return f"{{{', '.join(self.text(e, TERNARY) for e in node.elts)}}}", ATOM

    def of_Dict(self, node: ast.Dict) -> tuple[str, int]:
        shown = [
            f"{self.text(k, TERNARY)}: {self.text(v, TERNARY)}"
            if k is not None
            else f"**{self.text(v, BINARY[ast.BitOr][1])}"
            for k, v in zip(node.keys, node.values, strict=True)
        ]
        return f"{{{', '.join(shown)}}}", ATOM

    def generators(self, generators: list[ast.comprehension]) -> str:
        shown = ""
        for g in generators:
            target = self.bare(g.target)
            shown += f" for {target} in {self.text(g.iter, OR)}"
            shown += "".join(f" if {self.text(c, OR)}" for c in g.ifs)
        return shown

    def of_ListComp(self, node: ast.ListComp) -> tuple[str, int]:
        return f"[{self.text(node.elt, TERNARY)}{self.generators(node.generators)}]", ATOM

    def of_SetComp(self, node: ast.SetComp) -> tuple[str, int]:
        return f"{{{self.text(node.elt, TERNARY)}{self.generators(node.generators)}}}", ATOM

    def of_GeneratorExp(self, node: ast.GeneratorExp) -> tuple[str, int]:
        return f"({self.text(node.elt, TERNARY)}{self.generators(node.generators)})", ATOM

    def of_DictComp(self, node: ast.DictComp) -> tuple[str, int]:
        pair = f"{self.text(node.key, TERNARY)}: {self.text(node.value, TERNARY)}"
        return f"{{{pair}{self.generators(node.generators)}}}", ATOM


def is_simple(node: ast.expr) -> bool:
    """Black's notion of an operand that `**` may stand close to."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name | ast.Constant)


def is_minus(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.UnaryOp)
        and isinstance(node.op, ast.USub)
        and isinstance(node.operand, ast.Constant | ast.Name)
    )
