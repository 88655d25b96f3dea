"""`match` becomes a chain of branches.

match kind:                 if kind == "square": ...
    case "square": ...  ->  elif kind == "cube" or kind == "third": ...
    case "cube" | "third": ...
"""

from __future__ import annotations

import ast

from overt.rewrites.refusal import Refusal

# Classes whose one positional pattern stands for the whole value: `case int(n)`.
WHOLE = frozenset("bool bytes dict float frozenset int list set str tuple".split())


def match_to_branches(s: ast.stmt) -> ast.stmt:
    """The statement with every `match` in it replaced."""
    return Matches().visit(s)


class Matches(ast.NodeTransformer):
    def __init__(self) -> None:
        self.count = 0

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return node  # a nested function is normalized by itself

    def visit_Match(self, node: ast.Match) -> ast.stmt:
        self.generic_visit(node)
        subject: ast.expr = node.subject
        start: list[ast.stmt] = []
        if not isinstance(subject, ast.Name | ast.Constant):
            self.count += 1
            held = "subject" if self.count == 1 else f"subject_{self.count}"
            start = [ast.Assign([ast.Name(held, ast.Store())], subject, lineno=node.lineno)]
            subject = ast.Name(held, ast.Load())
        chain: list[ast.stmt] = []
        for case in reversed(node.cases):
            chain = [self.case(case, subject, chain, node)]
        if not start:
            return chain[0]
        always = ast.If(ast.Constant(True), [*start, *chain], [])
        always.lineno = node.lineno
        return always

    def case(
        self, case: ast.match_case, subject: ast.expr, rest: list[ast.stmt], at: ast.Match
    ) -> ast.stmt:
        binds: list[ast.stmt] = []
        test = pattern_test(case.pattern, subject, binds)
        guard = case.guard
        if guard is not None and binds:
            # the guard reads the names that the pattern binds, so it is tested inside
            names = {b.targets[0].id: b.value for b in binds}  # type: ignore
            guard = Substituted(names).visit(guard)
        parts = [p for p in (test, guard) if p is not None]
        if not parts:
            test = ast.Constant(True)
        else:
            test = parts[0] if len(parts) == 1 else ast.BoolOp(ast.And(), parts)
        new = ast.If(test, [*binds, *case.body], rest)
        new.lineno = at.lineno
        return new


class Substituted(ast.NodeTransformer):
    def __init__(self, table: dict[str, ast.expr]) -> None:
        self.table = table

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.table.get(node.id, node)


def pattern_test(p: ast.pattern, subject: ast.expr, binds: list[ast.stmt]) -> ast.expr | None:
    """The test of a pattern (None: always true); names that it binds are added to `binds`."""
    if isinstance(p, ast.MatchValue):
        return ast.Compare(subject, [ast.Eq()], [p.value])
    if isinstance(p, ast.MatchSingleton):
        return ast.Compare(subject, [ast.Is()], [ast.Constant(p.value)])
    if isinstance(p, ast.MatchAs):
        test = pattern_test(p.pattern, subject, binds) if p.pattern else None
        if p.name:
            binds.append(ast.Assign([ast.Name(p.name, ast.Store())], subject, lineno=p.lineno))
        return test
    if isinstance(p, ast.MatchOr):
        tests = [pattern_test(q, subject, binds) for q in p.patterns]
        found = [t for t in tests if t is not None]
        return ast.BoolOp(ast.Or(), found) if len(found) == len(tests) else None
    if isinstance(p, ast.MatchSequence):
        return sequence_test(p, subject, binds)
    if isinstance(p, ast.MatchMapping):
        return mapping_test(p, subject, binds)
    if isinstance(p, ast.MatchClass):
        return class_test(p, subject, binds)
    raise Refusal("this pattern of `match` is not supported", "Use `if` and `elif`.", p)


def both(tests: list[ast.expr | None]) -> ast.expr:
    found = [t for t in tests if t is not None]
    return found[0] if len(found) == 1 else ast.BoolOp(ast.And(), found)


def helper(name: str, *args: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(f"@{name}", ast.Load()), list(args), [])


def item(subject: ast.expr, index: ast.expr) -> ast.expr:
    return ast.Subscript(subject, index, ast.Load())


def sequence_test(p: ast.MatchSequence, subject: ast.expr, binds: list[ast.stmt]) -> ast.expr:
    starred = [i for i, q in enumerate(p.patterns) if isinstance(q, ast.MatchStar)]
    count = ast.Constant(len(p.patterns) - len(starred))
    length = ast.Call(ast.Name("len", ast.Load()), [subject], [])
    order: ast.cmpop = ast.GtE() if starred else ast.Eq()
    tests: list[ast.expr | None] = [
        helper("is_sequence", subject),
        ast.Compare(length, [order], [count]),
    ]
    for i, q in enumerate(p.patterns):
        if isinstance(q, ast.MatchStar):
            after = len(p.patterns) - 1 - i
            part = ast.Slice(ast.Constant(i), ast.Constant(-after) if after else None)
            if q.name:
                value = ast.Call(ast.Name("list", ast.Load()), [item(subject, part)], [])
                binds.append(ast.Assign([ast.Name(q.name, ast.Store())], value, lineno=q.lineno))
            continue
        late = bool(starred) and i > starred[0]
        index = ast.Constant(i - len(p.patterns) if late else i)
        tests.append(pattern_test(q, item(subject, index), binds))
    return both(tests)


def mapping_test(p: ast.MatchMapping, subject: ast.expr, binds: list[ast.stmt]) -> ast.expr:
    tests: list[ast.expr | None] = [helper("is_mapping", subject)]
    for key, q in zip(p.keys, p.patterns, strict=True):
        tests.append(ast.Compare(key, [ast.In()], [subject]))
        tests.append(pattern_test(q, item(subject, key), binds))
    if p.rest:
        raise Refusal("`**rest` in a pattern is not supported", "Use `if` and `elif`.", p)
    return both(tests)


def class_test(p: ast.MatchClass, subject: ast.expr, binds: list[ast.stmt]) -> ast.expr:
    whole = isinstance(p.cls, ast.Name) and p.cls.id in WHOLE and len(p.patterns) == 1
    if p.patterns and not whole:
        raise Refusal("positional patterns of a class are not supported", "Name its fields.", p)
    isinstance_ = ast.Call(ast.Name("isinstance", ast.Load()), [subject, p.cls], [])
    tests: list[ast.expr | None] = [isinstance_]
    tests += [pattern_test(q, subject, binds) for q in p.patterns]
    for attribute, q in zip(p.kwd_attrs, p.kwd_patterns, strict=True):
        tests.append(pattern_test(q, ast.Attribute(subject, attribute, ast.Load()), binds))
    return both(tests)
