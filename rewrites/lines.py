"""Lines of printed text: indented, and the long ones broken as black breaks them."""

from __future__ import annotations

import ast

from overt.rewrites import core
from overt.rewrites.printing import BINARY, Printer

WIDTH = 100
FILLING = (ast.Name, ast.Constant, ast.Subscript)  # what may share a line with its like


class Line(str):
    """A printed line that knows where its statement comes from."""

    origin: core.Origin = core.NOWHERE


def placed(text: str, origin: core.Origin) -> Line:
    line = Line(text)
    line.origin = origin
    return line


class Lines:
    """The lines of one function, printed one after another."""

    def __init__(self, printer: Printer, origin: core.Origin) -> None:
        self.printer, self.origin = printer, origin
        self.lines: list[str] = []
        self.depth = 0

    def line(self, text: str, comment: str = "") -> None:
        if comment:
            text = f"{text}  {comment}"
        self.lines.append(placed("    " * self.depth + text if text else "", self.origin))

    def above(self, origin: core.Origin) -> None:
        for text in origin.above:
            self.line(text)

    def assignment(
        self, target: str, value: ast.expr, origin: core.Origin, bare: bool = True
    ) -> None:
        text = self.printer.bare(value) if bare else self.printer.text(value)
        self.statement(f"{target} = ", value, text, origin.comment)

    def statement(self, head: str, value: ast.expr, text: str, comment: str) -> None:
        """One statement, its call broken over lines where it would be too long."""
        room = WIDTH - 4 * self.depth
        if comment and len(head + text) + 2 + len(comment) > room:
            self.line(comment)
            comment = ""
        if len(head + text) <= room:
            self.line(head + text, comment)
            return
        self.broken(head, value)

    def broken(self, head: str, value: ast.expr, tail: str = "") -> None:
        """An expression over as many lines as it needs, as black breaks them."""
        text = self.printer.text(value, 1)
        if head.startswith("return ") or head.endswith(" = "):
            text = self.printer.bare(value)
        if len(head + text + tail) <= WIDTH - 4 * self.depth:
            self.line(head + text + tail)
            return
        if isinstance(value, ast.BinOp):
            self.line(f"{head}(")
            self.depth += 1
            self.operands("", value)
            self.depth -= 1
            self.line(f"){tail}")
            return
        opening, pieces, closing = self.pieces(value)
        if not pieces:
            self.line(head + text + tail)
            return
        self.line(head + opening)
        self.depth += 1
        joined = ", ".join(prefix + self.printer.text(v, 1) for prefix, v in pieces)
        if isinstance(value, ast.Tuple) and len(pieces) == 1:
            joined += ","
        if len(joined) <= WIDTH - 4 * self.depth and not isinstance(value, ast.Dict):
            self.line(joined)
        elif not tail and all(isinstance(v, FILLING) and not prefix for prefix, v in pieces):
            self.depth -= 1
            self.lines.pop()
            names = [self.printer.text(v) for _, v in pieces]
            self.filled(head + opening, names, closing + tail)
            return
        else:
            for prefix, v in pieces:
                self.broken(prefix, v, ",")
        self.depth -= 1
        self.line(closing + tail)

    def pieces(self, value: ast.expr) -> tuple[str, list[tuple[str, ast.expr]], str]:
        """An expression's brackets, and what stands between them with the words before each."""
        p = self.printer
        if isinstance(value, ast.Call):
            pieces = [("", a) for a in value.args]
            pieces += [(f"{k.arg}=" if k.arg else "**", k.value) for k in value.keywords]
            return f"{p.text(value.func, 20)}(", pieces, ")"
        if isinstance(value, ast.Dict):
            pieces = [
                (f"{p.text(k, 1)}: " if k is not None else "**", v)
                for k, v in zip(value.keys, value.values, strict=True)
            ]
            return "{", pieces, "}"
        if isinstance(value, ast.Tuple):
            return "(", [("", e) for e in value.elts], ")"
        if isinstance(value, ast.List):
            return "[", [("", e) for e in value.elts], "]"
        return "", [], ""

    def operands(self, sign: str, value: ast.BinOp) -> None:
        """A long sum or product, an operand a line."""
        symbol, level = BINARY[type(value.op)]
        left, right = value.left, value.right
        if isinstance(left, ast.BinOp) and BINARY[type(left.op)][1] == level:
            self.operands(sign, left)
        else:
            self.operand(sign, left, level)
        self.operand(f"{symbol} ", right, level + 1)

    def operand(self, sign: str, value: ast.expr, level: int) -> None:
        text = self.printer.text(value, level)
        if len(sign + text) <= WIDTH - 4 * self.depth or text.startswith("("):
            self.line(sign + text)
        else:
            self.broken(sign, value)

    def filled(self, head: str, names: list[str], tail: str, comment: str = "") -> None:
        """Names in brackets, as many a line as fit, which a formatter is told to leave."""
        self.line(head, comment)
        self.depth += 1
        row = ""
        for i, n in enumerate(names):
            n += "," if i < len(names) - 1 else ""
            if row and 4 * self.depth + len(row) + 1 + len(n) > WIDTH:
                self.line(row)
                row = ""
            row += f" {n}" if row else n
        self.line(row)
        self.depth -= 1
        self.line(tail, "# fmt: skip")
