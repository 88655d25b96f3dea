"""What surely is a result of NumPy's: dividing by it raises nothing, but gives an infinity.

n = np.sum(v)
try:
    y = 1.0 / n                   # inf and a warning, for a number that NumPy has computed
except ZeroDivisionError: ...
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any

import numpy

import overt.runtime.numpy as np
from overt.rewrites.scopes import given_only

Meaning = Callable[[ast.expr], Any]

# Functions of NumPy's that give numbers or other objects of Python's own.
OF_PYTHON = frozenset(
    "shape ndim size isscalar iterable result_type can_cast promote_types dtype finfo iinfo "
    "array2string array_repr array_str base_repr binary_repr broadcast_shapes issubdtype "
    "iscomplexobj isrealobj array_equal array_equiv allclose may_share_memory shares_memory "
    "einsum_path printoptions get_printoptions divmod modf frexp unique meshgrid split "
    "array_split hsplit vsplit dsplit nonzero histogram histogram2d histogramdd gradient "
    "broadcast_arrays unravel_index polydiv".split()
)
METHODS = frozenset(
    "sum mean max min prod std var dot copy astype ravel reshape flatten transpose round clip "
    "cumsum cumprod trace conj squeeze".split()
)

# Functions that give new arrays of numbers, with up to so many arguments.
FILLED = {"zeros": 1, "ones": 1, "empty": 1, "identity": 1, "eye": 2, "arange": 3, "linspace": 3}


def numpy_names(body: Iterable[ast.stmt], meaning: Meaning, known: set[str]) -> set[str]:
    """The names that statements only ever give results of NumPy's; `known` are others."""
    nodes = [n for s in body for n in ast.walk(s)]
    # By an operator it may become a number of NumPy's, but is none so far.
    return given_only(nodes, lambda v, found: is_numpy(v, meaning, found | known), False)


def is_numpy(node: ast.expr, meaning: Meaning, names: set[str]) -> bool:
    """Whether an expression surely gives an array or a number of NumPy's."""
    if isinstance(node, ast.Name):
        return node.id in names
    if isinstance(node, ast.UnaryOp):
        return not isinstance(node.op, ast.Not) and is_numpy(node.operand, meaning, names)
    if isinstance(node, ast.BinOp):
        return is_numpy(node.left, meaning, names) or is_numpy(node.right, meaning, names)
    if isinstance(node, ast.IfExp):
        return is_numpy(node.body, meaning, names) and is_numpy(node.orelse, meaning, names)
    if isinstance(node, ast.Subscript):
        return is_numpy(node.value, meaning, names)
    if not isinstance(node, ast.Call):
        return False
    f = node.func
    if isinstance(f, ast.Attribute) and f.attr in METHODS and is_numpy(f.value, meaning, names):
        return True
    return is_numpy_function(meaning(f))


def is_numpy_function(f: Any) -> bool:
    """Whether a function is NumPy's, or ours of that name, and gives arrays or its numbers."""
    name = getattr(f, "__name__", "")
    if name in OF_PYTHON or not callable(f):
        return False
    if isinstance(f, type):
        return issubclass(f, numpy.generic)
    home = getattr(f, "__module__", None) or "numpy"
    if not home.startswith(("numpy", "overt.")):
        return False
    library = numpy if home.startswith("numpy") else np
    return any(
        getattr(module, name, None) is f for module in (library, library.linalg, library.fft)
    )


def is_filled(call: ast.Call, function: Any) -> bool:
    """Whether a call, of this function, gives a new array of numbers: `np.zeros(n)`."""
    most = FILLED.get(getattr(function, "__name__", ""), -1)
    return len(call.args) <= most and not call.keywords and is_numpy_function(function)
