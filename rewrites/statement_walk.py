"""Walks statements in order, where statements may be put in front of the one that is visited."""

from __future__ import annotations

import ast


class StatementWalk(ast.NodeTransformer):
    """Base of passes whose `block` gives the statements that take the place of others."""

    fixed = False  # whether nothing can be done before, or after, the part that is visited

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The statements that take the place of these."""
        raise NotImplementedError

    def part(self, s: ast.stmt, key: str, value: ast.AST) -> ast.AST:
        """A part of a statement that is neither a block nor the test of a `while`."""
        return self.visit(value)

    def source(self, node: ast.expr) -> ast.expr:
        """What a comprehension runs over first: it is evaluated before anything else in it."""
        return self.visit(node)

    def walk(self, s: ast.stmt) -> None:
        """Visit all that a statement consists of."""
        for key, value in ast.iter_fields(s):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                setattr(s, key, self.block(value))
            elif isinstance(value, list) and value and isinstance(value[0], ast.ExceptHandler):
                for handler in value:
                    handler.body = self.block(handler.body)
            elif isinstance(s, ast.While) and key == "test":
                s.test = self.inside(s.test)
            elif isinstance(value, list):
                setattr(s, key, [self.visit(v) if isinstance(v, ast.AST) else v for v in value])
            elif isinstance(value, ast.AST):
                setattr(s, key, self.part(s, key, value))

    def inside(self, node: ast.expr) -> ast.expr:
        """A part of an expression before which nothing else can be done."""
        outer, self.fixed = self.fixed, True
        new = self.visit(node)
        self.fixed = outer
        return new

    def conditional(self, node: ast.AST) -> ast.AST:
        """An expression whose parts may not be evaluated, or more than once."""
        outer, self.fixed = self.fixed, True
        self.generic_visit(node)
        self.fixed = outer
        return node

    def comprehension(self, node: ast.AST) -> ast.AST:
        first = node.generators[0]  # type: ignore[attr-defined]
        source, first.iter = self.source(first.iter), ast.Constant(None)
        self.conditional(node)
        first.iter = source
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = comprehension
