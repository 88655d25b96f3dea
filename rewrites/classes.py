"""Classes defined inside a function: they stay as they are and share the function's variables.

def area(x):
    class Square:                       # kept; `x` and `Square` are variables that it shares
        def area(self):                 # with the function, as Python has them
            return x * x
    return Square().area()
"""

from __future__ import annotations

import ast

from overt.rewrites.scopes import free_names_of_class, locals_of


def shared_with_classes(node: ast.FunctionDef) -> set[str]:
    """The variables of a function that classes read which are defined in it, at any depth."""
    shared: set[str] = set()
    for n in ast.walk(node):
        if isinstance(n, ast.ClassDef):
            shared |= {n.name} | free_names_of_class(n)
    return shared & locals_of(node)
