"""Written out: when the text of a function can stand where the function is called."""

from __future__ import annotations

import ast

from overt.rewrites.scopes import yields


def can_be_written_out(node: ast.FunctionDef, comprehensions: bool = False) -> bool:
    """Whether a function is a plain one, whose text could stand where it is called."""
    a = node.args
    if a.vararg or a.kwarg or yields(node):
        return False
    apart = ast.Global | ast.Nonlocal | ast.FunctionDef | ast.ClassDef | ast.Lambda | ast.Import
    inner = [n for s in node.body for n in ast.walk(s)]
    constant = all(isinstance(d, ast.Constant) for d in (*a.defaults, *a.kw_defaults) if d)
    if not comprehensions:
        apart |= ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
    return constant and not any(isinstance(n, apart) for n in inner)


def values_given(node: ast.FunctionDef, call: ast.Call) -> dict[str, ast.expr] | None:
    """What a call gives each parameter of a function; None if the text does not say."""
    a = node.args
    params = [p.arg for p in (*a.posonlyargs, *a.args)]
    if any(isinstance(v, ast.Starred) for v in call.args) or len(call.args) > len(params):
        return None
    values: dict[str, ast.expr | None] = dict.fromkeys([*params, *(p.arg for p in a.kwonlyargs)])
    values |= zip(reversed(params), reversed(a.defaults), strict=False)
    values |= {p.arg: d for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True)}
    given = dict(zip(params, call.args, strict=False))
    by_name = values.keys() - {p.arg for p in a.posonlyargs}
    for k in call.keywords:
        if k.arg is None or k.arg in given or k.arg not in by_name:
            return None
        given[k.arg] = k.value
    values |= given
    known = {p: v for p, v in values.items() if v is not None}
    return known if len(known) == len(values) else None
