"""`match` becomes a chain of branches.

match kind:                 if kind == "square": ...
    case "square": ...  ->  elif kind == "cube" or kind == "third": ...
    case "cube" | "third": ...
"""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from overt.rewrites.refusal import Refusal
from overt.rewrites.scopes import new_name

# Classes whose one positional pattern stands for the whole value: `case int(n)`.
WHOLE = frozenset("bool bytes dict float frozenset int list set str tuple".split())


MOST_FLAGS = 6  # of a subject, for its cases to be compared with all that it may be


@dataclass
class Subject:
    """What is matched: where it is held, and the parts of it that the text shows."""

    held: ast.expr
    shown: ast.expr

    @property
    def parts(self) -> list[ast.expr] | None:
        """The elements of a display, `match (x > 0, y > 0)`."""
        elements = self.shown.elts if isinstance(self.shown, ast.Tuple | ast.List) else []
        if not elements or any(isinstance(e, ast.Starred) for e in elements):
            return None
        return elements

    def item(self, i: int) -> Subject:
        parts = self.parts
        shown = parts[i] if parts is not None else ast.Constant(None)
        return Subject(item(self.held, ast.Constant(i)), shown)


def match_to_branches(s: ast.stmt, resolve: Callable[[ast.expr], Any]) -> ast.stmt:
    """The statement with every `match` in it replaced; `resolve` finds what a name stands for."""
    return Matches(resolve).visit(s)


class Matches(ast.NodeTransformer):
    def __init__(self, resolve: Callable[[ast.expr], Any]) -> None:
        self.count = 0
        self.resolve = resolve

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return node  # a nested function is normalized by itself

    def visit_MatchClass(self, node: ast.MatchClass) -> ast.MatchClass:
        """`case Point(a, y=b)` with the fields named: `case Point(x=a, y=b)`."""
        self.generic_visit(node)
        fields = getattr(self.resolve(node.cls), "__match_args__", ())
        count = len(node.patterns)
        if not count or count > len(fields):
            return node
        names = [*fields[:count], *node.kwd_attrs]
        made = ast.MatchClass(node.cls, [], names, [*node.patterns, *node.kwd_patterns])
        return ast.copy_location(made, node)

    def visit_Match(self, node: ast.Match) -> ast.stmt:
        self.generic_visit(node)
        subject: ast.expr = node.subject
        start: list[ast.stmt] = []
        if not isinstance(subject, ast.Name | ast.Constant):
            self.count += 1
            held = "subject" if self.count == 1 else f"subject_{self.count}"
            start = [ast.Assign([ast.Name(held, ast.Store())], subject, lineno=node.lineno)]
            subject = ast.Name(held, ast.Load())
        matched = Subject(subject, node.subject)
        chain: list[ast.stmt] = []
        cases = [one for case in node.cases for one in alternatives(case)]
        for case in reversed(reachable(cases, matched)):
            chain = [self.case(case, matched, chain, node)]
        if not start:
            return chain[0]
        always = ast.If(ast.Constant(True), [*start, *chain], [])
        always.lineno = node.lineno
        return always

    def case(
        self, case: ast.match_case, subject: Subject, rest: list[ast.stmt], at: ast.Match
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


def is_flag(shown: ast.expr) -> bool:
    """Whether the text says that a value is a bool, or stands for one."""
    if isinstance(shown, ast.BoolOp):
        return all(map(is_flag, shown.values))
    return isinstance(shown, ast.Compare) or (
        isinstance(shown, ast.UnaryOp) and isinstance(shown.op, ast.Not)
    )


def alternatives(case: ast.match_case) -> list[ast.match_case]:
    """The case; one for each alternative of `|` where these bind names."""
    p = case.pattern
    if not isinstance(p, ast.MatchOr) or case.guard is not None or not binds_names(p):
        return [case]
    return [ast.match_case(q, None, copy.deepcopy(case.body)) for q in p.patterns]


def binds_names(p: ast.pattern) -> bool:
    kinds = ast.MatchAs | ast.MatchStar
    return any(
        isinstance(n, kinds)
        and n.name is not None
        or isinstance(n, ast.MatchMapping)
        and n.rest is not None
        for n in ast.walk(p)
    )


def reachable(cases: list[ast.match_case], subject: Subject) -> list[ast.match_case]:
    """The cases up to the one that takes all that is left, which tests nothing.

    A subject of comparisons is a row of bools: `(True, True)`, `(True, False)` and `(False, _)` are
    all that it can be.
    """
    parts = subject.parts if subject.parts is not None else [subject.shown]
    flags = [is_flag(p) for p in parts]
    if not any(flags) or sum(flags) > MOST_FLAGS:
        return cases
    whole = subject.parts is None
    left = set(itertools.product(*[(True, False) if flag else (None,) for flag in flags]))
    for i, case in enumerate(cases):
        if case.guard is None:
            left -= {row for row in left if surely_fits(case.pattern, row, whole)}
        if not left:
            binding = ast.match_case(without_tests(case.pattern), None, case.body)
            return [*cases[:i], binding]
    return cases


def surely_fits(p: ast.pattern, row: tuple[bool | None, ...], whole: bool) -> bool:
    """Whether a pattern takes a row of bools, of which None may be anything."""
    if isinstance(p, ast.MatchAs):
        return p.pattern is None or surely_fits(p.pattern, row, whole)
    if isinstance(p, ast.MatchOr):
        return any(surely_fits(q, row, whole) for q in p.patterns)
    if whole:
        return isinstance(p, ast.MatchSingleton) and p.value is row[0]
    if not isinstance(p, ast.MatchSequence) or len(p.patterns) != len(row):
        return False
    return all(surely_fits(q, (flag,), True) for q, flag in zip(p.patterns, row, strict=True))


def without_tests(p: ast.pattern) -> ast.pattern:
    """The pattern with what it binds alone."""
    if isinstance(p, ast.MatchSequence):
        return ast.MatchSequence([without_tests(q) for q in p.patterns])
    if isinstance(p, ast.MatchAs) and p.name:
        inner = without_tests(p.pattern) if p.pattern is not None else None
        return ast.copy_location(ast.MatchAs(inner, p.name), p)
    return ast.MatchAs(None, None)


def pattern_test(p: ast.pattern, subject: Subject, binds: list[ast.stmt]) -> ast.expr | None:
    """The test of a pattern (None: always true); names that it binds are added to `binds`."""
    held = subject.held
    if isinstance(p, ast.MatchValue):
        return ast.Compare(held, [ast.Eq()], [p.value])
    if isinstance(p, ast.MatchSingleton):
        return singleton_test(p.value, subject)
    if isinstance(p, ast.MatchAs):
        test = pattern_test(p.pattern, subject, binds) if p.pattern else None
        if p.name:
            binds.append(ast.Assign([ast.Name(p.name, ast.Store())], held, lineno=p.lineno))
        return test
    if isinstance(p, ast.MatchOr):
        bound: list[list[ast.stmt]] = [[] for _ in p.patterns]
        tests = [pattern_test(q, subject, b) for q, b in zip(p.patterns, bound, strict=True)]
        if len({"\n".join(map(ast.unparse, b)) for b in bound}) > 1:
            raise Refusal(
                "`|` between patterns that take a name from different places", "Split the case.", p
            )
        binds += bound[0]
        found = [t for t in tests if t is not None]
        return ast.BoolOp(ast.Or(), found) if len(found) == len(tests) else None
    if isinstance(p, ast.MatchSequence):
        return sequence_test(p, subject, binds)
    if isinstance(p, ast.MatchMapping):
        return mapping_test(p, held, binds)
    if isinstance(p, ast.MatchClass):
        return class_test(p, subject, binds)
    raise Refusal("this pattern of `match` is not supported", "Use `if` and `elif`.", p)


def singleton_test(value: object, subject: Subject) -> ast.expr:
    if value is None:
        return ast.Compare(subject.held, [ast.Is()], [ast.Constant(None)])
    if not is_flag(subject.shown):
        return helper("is_true" if value else "is_false", subject.held)
    return subject.held if value else ast.UnaryOp(ast.Not(), subject.held)


def both(tests: list[ast.expr | None]) -> ast.expr | None:
    found = [t for t in tests if t is not None]
    return found[0] if len(found) == 1 else ast.BoolOp(ast.And(), found) if found else None


def helper(name: str, *args: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(f"@{name}", ast.Load()), list(args), [])


def hidden(held: ast.expr) -> Subject:
    """A subject that the text does not show."""
    return Subject(held, ast.Constant(None))


def item(subject: ast.expr, index: ast.expr) -> ast.expr:
    return ast.Subscript(subject, index, ast.Load())


def sequence_test(p: ast.MatchSequence, subject: Subject, binds: list[ast.stmt]) -> ast.expr | None:
    starred = [i for i, q in enumerate(p.patterns) if isinstance(q, ast.MatchStar)]
    count = len(p.patterns) - len(starred)
    length = ast.Call(ast.Name("len", ast.Load()), [subject.held], [])
    order: ast.cmpop = ast.GtE() if starred else ast.Eq()
    tests: list[ast.expr | None] = [
        helper("is_sequence", subject.held),
        ast.Compare(length, [order], [ast.Constant(count)]),
    ]
    parts = subject.parts
    if parts is not None:
        if not (len(parts) == count or starred and len(parts) > count):
            return ast.Constant(False)
        tests = []
    for i, q in enumerate(p.patterns):
        if isinstance(q, ast.MatchStar):
            after = len(p.patterns) - 1 - i
            part = ast.Slice(ast.Constant(i), ast.Constant(-after) if after else None)
            if q.name:
                value = ast.Call(ast.Name("list", ast.Load()), [item(subject.held, part)], [])
                binds.append(ast.Assign([ast.Name(q.name, ast.Store())], value, lineno=q.lineno))
            continue
        late = bool(starred) and i > starred[0]
        tests.append(pattern_test(q, subject.item(i - len(p.patterns) if late else i), binds))
    return both(tests)


def mapping_test(p: ast.MatchMapping, subject: ast.expr, binds: list[ast.stmt]) -> ast.expr | None:
    tests: list[ast.expr | None] = [helper("is_mapping", subject)]
    for key, q in zip(p.keys, p.patterns, strict=True):
        tests.append(ast.Compare(key, [ast.In()], [subject]))
        tests.append(pattern_test(q, hidden(item(subject, key)), binds))
    if p.rest:
        rest = others_of(subject, p.keys)
        binds.append(ast.Assign([ast.Name(p.rest, ast.Store())], rest, lineno=p.lineno))
    return both(tests)


def others_of(subject: ast.expr, keys: list[ast.expr]) -> ast.expr:
    """`{key: item for key, item in subject.items() if key not in keys}`."""
    taken = {n.id for k in keys for n in ast.walk(k) if isinstance(n, ast.Name)}
    key, value = (ast.Name(new_name(name, taken), ast.Load()) for name in ("key", "item"))
    target = ast.Tuple([ast.Name(n.id, ast.Store()) for n in (key, value)], ast.Store())
    items = ast.Call(ast.Attribute(subject, "items", ast.Load()), [], [])
    named = ast.Tuple(list(keys), ast.Load())
    others: list[ast.expr] = [ast.Compare(key, [ast.NotIn()], [named])] if keys else []
    return ast.DictComp(key, value, [ast.comprehension(target, items, others, 0)])


def class_test(p: ast.MatchClass, subject: Subject, binds: list[ast.stmt]) -> ast.expr | None:
    whole = isinstance(p.cls, ast.Name) and p.cls.id in WHOLE and len(p.patterns) == 1
    if p.patterns and not whole:
        raise Refusal(
            "a class pattern has positional fields, and the class is not one that gives their "
            "names (`__match_args__`) where the function is defined",
            "Name its fields: `case Point(x=a, y=b)`.",
            p,
        )
    isinstance_ = ast.Call(ast.Name("isinstance", ast.Load()), [subject.held, p.cls], [])
    tests: list[ast.expr | None] = [isinstance_]
    tests += [pattern_test(q, subject, binds) for q in p.patterns]
    for attribute, q in zip(p.kwd_attrs, p.kwd_patterns, strict=True):
        field = ast.Attribute(subject.held, attribute, ast.Load())
        tests.append(pattern_test(q, hidden(field), binds))
    return both(tests)
