"""Refusals: what Overt cannot rewrite, said by file, line, text, reason and way out."""

from __future__ import annotations

import ast


class Refusal(NotImplementedError):
    """Raised at once for code that cannot be rewritten."""

    def __init__(
        self, reason: str, way_out: str = "", node: ast.AST | None = None, recordable: bool = False
    ) -> None:
        self.reason, self.way_out, self.node = reason, way_out, node
        self.recordable = recordable  # the code runs as it is: its derivative can be recorded
        self.file = self.line_text = ""
        self.line = getattr(node, "lineno", 0) or 0
        super().__init__(self.message())

    def message(self) -> str:
        place = f"{self.file or '<source>'}:{self.line}: " if self.line else ""
        text = f"{place}{self.reason}"
        if self.line_text:
            text += f"\n    {self.line_text.strip()}"
            column = getattr(self.node, "col_offset", None)
            indent = len(self.line_text) - len(self.line_text.lstrip())
            if column is not None and column >= indent:
                width = 1
                if getattr(self.node, "end_lineno", None) == getattr(self.node, "lineno", None):
                    width = max(1, (self.node.end_col_offset or column + 1) - column)  # type: ignore
                text += "\n    " + " " * (column - indent) + "^" * width
        if self.way_out:
            text += f"\n{self.way_out}"
        return text

    def located(self, file: str, line: int, line_text: str) -> Refusal:
        """The same refusal with its place filled in."""
        self.file = self.file or file
        self.line = line
        self.line_text = line_text
        self.args = (self.message(),)
        return self
