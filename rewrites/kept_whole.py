"""What stays as it is inside a function: classes, and generators that are no lists.

    def area(x):
        class Square:                       # kept; `x` and `Square` are variables that it shares
            def area(self):                 # with the function, as Python has them
                return x * x
        return Square().area()

What they compute cannot be differentiated as source; it is recorded while it runs.
"""

from __future__ import annotations

import ast
from typing import TypeGuard

from overt.rewrites.generators import listed
from overt.rewrites.scopes import free_names, free_names_of_class, locals_of, yields


def is_kept(s: ast.AST) -> TypeGuard[ast.ClassDef | ast.FunctionDef]:
    """Whether a definition inside a function stays as it is."""
    if not isinstance(s, ast.FunctionDef):
        return isinstance(s, ast.ClassDef)
    return yields(s) and listed(s, set()) is s


def shared_with_kept(node: ast.FunctionDef) -> set[str]:
    """The variables of a function that are shared with what is kept in it, at any depth."""
    shared: set[str] = set()
    for n in ast.walk(node):
        if n is not node and is_kept(n):
            shared |= {n.name}
            shared |= free_names_of_class(n) if isinstance(n, ast.ClassDef) else free_names(n)
    return shared & locals_of(node)
