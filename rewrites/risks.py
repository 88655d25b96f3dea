"""What may raise an exception that a `try` handles: known operations of numbers, and the unknown.

y = g(x) / x                          with caught(ZeroDivisionError) as error:
                                          value = g(x)
                              ->      if error:
                                          <leave>
                                      if is_zero(x):
                                          <leave>
                                      y = value / x
"""

from __future__ import annotations

import ast
import builtins
import copy
import enum
import sys
from typing import TYPE_CHECKING, Any

from numpy.linalg import LinAlgError

import overt.runtime.numpy as np
from overt.rewrites import core
from overt.rewrites.exits import assign, branch, negated
from overt.rewrites.leaving import Leave, Stmts
from overt.rewrites.numpy_results import is_numpy, numpy_names
from overt.rewrites.scopes import NESTED
from overt.runtime.ownership import is_library
from overt.runtime.risks import tests_of

if TYPE_CHECKING:
    from overt.rewrites.handling import Handling

BROAD = (BaseException, Exception)
COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
DIVISIONS = ast.Div | ast.FloorDiv | ast.Mod

# Builtins and methods that raise nothing of what a program handles, given what they want.
QUIET = frozenset(
    "abs min max len range sum bool isinstance print zip enumerate sorted list tuple dict set str "
    "repr any all map reversed type".split()
)
QUIET_METHODS = frozenset(
    "append extend add get items keys values copy sum mean max min dot ravel reshape astype strip "
    "split join format lower upper std var T item update clear".split()
)

DOMAIN = {
    ValueError: "math domain error",
    OverflowError: "math range error",
    ZeroDivisionError: "float division by zero"
    if sys.version_info < (3, 14)
    else "division by zero",
    LinAlgError: "Singular matrix",
    IndexError: "list index out of range",
}


REDUCING = frozenset("sum mean max min prod std var dot".split())


class Danger(enum.IntEnum):
    """How an exception that is handled may come about."""

    NONE = 0
    CAUGHT = 1  # raised by what only Python can tell
    ASKED = 2  # by an operation that can be asked for


class Risks:
    """What of a function's text may raise exceptions that the blocks around it handle."""

    def __init__(self, handling: Handling) -> None:
        self.handling = handling
        self.active: list[str] = []  # functions that are being read

    def of_block(self, body: Stmts) -> Danger:
        return max((self.of(s) for s in body), default=Danger.NONE)

    def of(self, node: ast.AST) -> Danger:
        if isinstance(node, NESTED):
            return Danger.NONE
        found = self.own(node)
        for child in ast.iter_child_nodes(node):
            if found is Danger.ASKED:
                break
            found = max(found, self.of(child))
        return found

    def named(self, kind: Any) -> bool:
        """Whether exceptions of a kind are handled, other than with all that there are."""
        h = self.handling
        return any(k not in BROAD and h.is_a(kind, k) for k in h.handled())

    def own(self, node: ast.AST) -> Danger:
        """What a node raises itself, its parts apart."""
        h = self.handling
        if isinstance(node, ast.Raise):
            return self.of_raise(node)
        if isinstance(node, ast.Assert):
            return Danger.ASKED if h.handles(AssertionError) else Danger.NONE
        if isinstance(node, ast.Call):
            return self.of_call(node)
        if isinstance(node, ast.Subscript):
            return self.of_item(node)
        if any(h.handles(kind) for kind, *_ in self.of_operator(node)):
            return Danger.ASKED
        kinds = {ast.Attribute: AttributeError, ast.BinOp: TypeError, ast.Compare: TypeError}
        kind = kinds.get(type(node))
        return Danger.CAUGHT if kind is not None and self.named(kind) else Danger.NONE

    def of_raise(self, node: ast.Raise) -> Danger:
        from overt.rewrites.handling import Unfollowed

        if node.exc is None:
            return Danger.NONE
        try:
            kind = self.handling.kind(node.exc.func if isinstance(node.exc, ast.Call) else node.exc)
        except Unfollowed:
            return Danger.CAUGHT
        return Danger.ASKED if self.handling.handles(kind) else Danger.NONE

    def of_operator(self, node: ast.AST) -> list[tuple[Any, ast.expr, ast.expr]]:
        """The kinds of exceptions that an operator raises, with its operands."""
        if isinstance(node, ast.AugAssign):
            left: ast.expr = node.target
            right = node.value
        elif isinstance(node, ast.BinOp):
            left, right = node.left, node.right
        else:
            return []
        number = constant(right)
        if isinstance(left, ast.Constant | ast.JoinedStr) and not is_number(left):
            return []
        if any(is_numpy(x, self.meaning, self.handling.arrays) for x in (left, right)):
            return []
        if isinstance(node.op, DIVISIONS):
            return [] if number else [(ZeroDivisionError, left, right)]
        if isinstance(node.op, ast.Pow):
            zero = number is None or number < 0
            if constant(left) is not None and number is not None:
                return []
            return [(ZeroDivisionError, left, right)] * zero + [(OverflowError, left, right)]
        return []

    def of_item(self, node: ast.Subscript) -> Danger:
        h = self.handling
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if any(isinstance(p, ast.Slice) for p in parts):
            return Danger.NONE
        index, key = h.handles(IndexError), h.handles(KeyError)
        if not index and not key:
            return Danger.NONE
        if not isinstance(node.ctx, ast.Load):
            return Danger.CAUGHT if self.named(IndexError) else Danger.NONE
        if isinstance(node.slice, ast.Constant) and not (
            self.named(IndexError) or self.named(KeyError)
        ):
            return Danger.NONE  # a slip, not a question
        return Danger.ASKED if index and not self.handled_apart() else Danger.CAUGHT

    def handled_apart(self) -> bool:
        """Whether a wrong key is handled elsewhere than a wrong index."""
        h = self.handling
        found = [
            next((x for f in reversed(h.frames) for x in f.handlers
                  if any(h.is_a(kind, k) for k in x.kinds)), None)
            for kind in (IndexError, KeyError)
        ]  # fmt: skip
        return found[1] is not None and found[0] is not found[1]

    def target(self, f: ast.expr) -> Any:
        """What a callee is, if the text says it."""
        names = {n.id for n in ast.walk(f) if isinstance(n, ast.Name)}
        return None if names & self.handling.own else self.handling.managers.object(f)

    def meaning(self, f: ast.expr) -> Any:
        """What a callee is; of methods that only arrays have, the function of that name."""
        found = self.target(f)
        if found is None and isinstance(f, ast.Attribute) and f.attr in REDUCING:
            if not self.handling.managers.methods(f.attr):
                return getattr(np, f.attr)
        return found

    def of_call(self, node: ast.Call) -> Danger:
        h = self.handling
        if any(self.of(a.body) for a in ast.walk(node) if isinstance(a, ast.Lambda)):
            return Danger.CAUGHT
        written = h.definition(node.func)
        if written is not None:
            return self.of_function(written, node)
        target = self.target(node.func)
        if target is sys.exit and h.handles(SystemExit):
            return Danger.ASKED
        tests = tests_of(target)
        if tests and not node.keywords:
            return Danger.ASKED if any(map(h.handles, tests)) else Danger.NONE
        unknown = Danger.CAUGHT if self.is_python_asked() else Danger.NONE
        if target is not None and is_library(getattr(target, "__module__", None) or "builtins"):
            top = (getattr(target, "__module__", None) or "numpy").partition(".")[0]
            if top in ("numpy", "math", "overt", "jax"):
                return Danger.NONE
            if isinstance(target, type) and issubclass(target, BaseException):
                return Danger.NONE
            quiet = getattr(builtins, getattr(target, "__name__", ""), None) is target
            return Danger.NONE if quiet and target.__name__ in QUIET else unknown
        f = node.func
        if isinstance(f, ast.Attribute) and target is None and f.attr in QUIET_METHODS:
            return Danger.NONE if not h.managers.methods(f.attr) else Danger.CAUGHT
        if isinstance(f, ast.Name) and f.id in h.classes and h.is_a_kind(f.id):
            return Danger.NONE
        if isinstance(f, ast.Name) and f.id.startswith("@"):
            return Danger.NONE
        return Danger.CAUGHT

    def is_python_asked(self) -> bool:
        """Whether exceptions are handled that functions of Python's own raise."""
        for kind in self.handling.handled():
            if (
                isinstance(kind, type)
                and is_library(kind.__module__)
                and kind is not AssertionError
            ):
                return True
        return False

    def of_function(self, node: ast.FunctionDef, call: ast.Call) -> Danger:
        if node.name in self.active:
            return Danger.CAUGHT
        self.active.append(node.name)
        outer, arrays, h = self.handling.own, self.handling.arrays, self.handling
        h.own = outer | core_locals(node)
        h.arrays = arrays | numpy_names(node.body, self.meaning, arrays)
        found = self.of_block(node.body)
        h.own, h.arrays = outer, arrays
        self.active.pop()
        plain = not any(isinstance(a, ast.Starred) for a in call.args)
        plain = plain and all(k.arg for k in call.keywords)
        return found if plain else min(found, Danger.CAUGHT)


def core_locals(node: ast.FunctionDef) -> set[str]:
    from overt.rewrites.scopes import locals_of

    return locals_of(node)


def is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float | complex)


def constant(node: ast.expr) -> Any:
    """The number that is written there; None if there is none."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = constant(node.operand)
        return None if inner is None else -inner
    return node.value if isinstance(node, ast.Constant) and is_number(node) else None


class Evaluation:
    """Evaluates one expression: what must be asked or caught beforehand becomes statements."""

    def __init__(self, handling: Handling, at: ast.AST, each: bool = False) -> None:
        self.handling, self.risks, self.at = handling, handling.risks, at
        self.before: Stmts = []
        self.asked: set[str] = set()
        self.each = each  # whether nothing can be given a name

    def value(self, node: ast.expr, name: str = "", unused: bool = False) -> Any:
        """The expression that is left; None if `name` has got its value already."""
        if self.risks.of(node) is Danger.NONE:
            return node
        if (name or unused) and self.risks.own(node) is Danger.CAUGHT:
            parts = self.parts(node)
            self.catch(ast.Expr(parts) if unused else assign(name, parts, self.at))
            return None
        if name and isinstance(node, ast.Call) and self.risks.own(node) is Danger.ASKED:
            written = self.handling.definition(node.func)
            if written is not None:
                return self.written_out(self.parts(node), written, name)
        return self.visit(node)

    def visit(self, node: Any) -> Any:
        from overt.rewrites.handling import Unfollowed

        if self.risks.of(node) is Danger.NONE:
            return node
        if isinstance(node, ast.BoolOp):
            return self.short_circuit(node)
        if isinstance(node, ast.IfExp):
            return self.choice(node)
        if isinstance(node, COMPREHENSIONS):
            if self.risks.of(node) is Danger.ASKED:
                return self.of_each(node)
            return self.caught(node)
        if (
            isinstance(node, ast.NamedExpr)
            or isinstance(node, ast.Compare)
            and any(self.risks.of(c) for c in node.comparators[1:])
        ):
            raise Unfollowed
        own = self.risks.own(node)
        if own is Danger.ASKED and isinstance(node, ast.Call):
            written = self.handling.definition(node.func)
            if written is not None:
                return self.written_out(self.parts(node), written)
        done = self.parts(node)
        if own is Danger.ASKED:
            return self.ask(done)
        return self.caught(done) if own is Danger.CAUGHT else done

    def parts(self, node: Any) -> Any:
        """The node with its parts evaluated, in their order."""
        children = list(ast.iter_child_nodes(node))
        risky = [i for i, c in enumerate(children) if self.risks.of(c) is not Danger.NONE]
        last, position = (risky[-1] if risky else -1), -1

        def visit(child: ast.AST) -> Any:
            nonlocal position
            position += 1
            if isinstance(child, ast.keyword | ast.Starred | ast.FormattedValue | ast.JoinedStr):
                return self.parts(child)
            if not isinstance(child, ast.expr):
                return child
            value = self.visit(child)
            calls = any(isinstance(n, ast.Call) for n in ast.walk(value))
            is_callee = isinstance(node, ast.Call) and child is node.func
            return (
                self.held(value, "value") if position < last and calls and not is_callee else value
            )

        return core.with_parts(node, visit)

    def held(self, value: ast.expr, stem: str) -> ast.Name:
        name = self.handling.new(stem)
        self.handling.own.add(name)
        self.before.append(assign(name, value, self.at))
        return ast.Name(name, ast.Load())

    def simple(self, value: ast.expr, stem: str) -> ast.expr:
        """An expression that may as well be evaluated twice."""
        if isinstance(value, ast.Name) or constant(value) is not None or self.each:
            return value
        if isinstance(value, ast.Constant | ast.Attribute):
            return value
        if isinstance(value, ast.List | ast.Tuple) and not any(
            constant(e) is None for e in value.elts
        ):
            return value
        return self.held(value, stem)

    def within(self, node: ast.expr) -> tuple[Stmts, ast.expr]:
        inner = Evaluation(self.handling, self.at)
        value = inner.visit(node)
        return inner.before, value

    def short_circuit(self, node: ast.BoolOp) -> ast.expr:
        name = self.handling.new("test")
        self.handling.own.add(name)
        self.before.append(assign(name, self.visit(node.values[0]), self.at))
        for v in node.values[1:]:
            before, value = self.within(v)
            test: ast.expr = ast.Name(name, ast.Load())
            if isinstance(node.op, ast.Or):
                test = negated(test)
            self.before.append(branch(test, [*before, assign(name, value, self.at)], [], self.at))
        return ast.Name(name, ast.Load())

    def choice(self, node: ast.IfExp) -> ast.expr:
        name = self.handling.new("value")
        self.handling.own.add(name)
        test = self.visit(node.test)
        sides = []
        for side in (node.body, node.orelse):
            before, value = self.within(side)
            sides.append([*before, assign(name, value, self.at)])
        self.before.append(branch(test, sides[0], sides[1], self.at))
        return ast.Name(name, ast.Load())

    def of_each(self, node: Any) -> ast.expr:
        """A comprehension, after it was asked whether any of its items raises."""
        from overt.rewrites.handling import Unfollowed

        g = node.generators[0]
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        if len(node.generators) > 1 or g.ifs or self.risks.of(g.iter) is not Danger.NONE:
            raise Unfollowed
        inner = Evaluation(self.handling, self.at, each=True)
        for part in parts:
            inner.visit(part)
        for s in inner.before:
            if not isinstance(s, ast.If) or not all(isinstance(b, Leave) for b in s.body):
                raise Unfollowed
            each = ast.GeneratorExp(s.test, [copy.deepcopy(g)])
            test = core.call(core.name("any"), each)
            self.before.append(ast.copy_location(ast.If(test, s.body, []), self.at))
        return node

    # --- what is asked

    def ask(self, node: Any) -> ast.expr:
        """Ask whether an operation raises, before it is done."""
        h = self.handling
        if isinstance(node, ast.Subscript):
            node = ast.Subscript(
                self.simple(node.value, "values"), self.simple(node.slice, "index"), node.ctx
            )
            self.leave_if([(IndexError, core.call(core.name("@lacks"), node.value, node.slice))])
            return node
        if isinstance(node, ast.Call):
            args = [self.simple(a, "value") for a in node.args]
            kinds = [k for k in tests_of(self.risks.target(node.func)) if h.handles(k)]
            self.leave_if([(k, raises(k, node.func, args)) for k in kinds])
            return ast.copy_location(ast.Call(node.func, args, []), node)
        found = self.risks.of_operator(node)
        left, right = node.left, node.right
        right = self.simple(right, "divisor" if isinstance(node.op, DIVISIONS) else "exponent")
        power = isinstance(node.op, ast.Pow)
        number = constant(right)
        if power:
            left = self.simple(left, "value")
        tests: list[tuple[Any, ast.expr]] = []
        for kind, *_ in found:
            if not h.handles(kind):
                continue
            if not power:
                test: ast.expr = core.call(core.name("@is_zero"), right)
            elif kind is ZeroDivisionError and number is not None:
                test = core.call(core.name("@is_zero"), left)
            else:
                test = raises(kind, ast.Name("pow", ast.Load()), [left, right])
            tests.append((kind, test))
        self.leave_if(tests)
        return ast.copy_location(ast.BinOp(left, node.op, right), node)

    def leave_if(self, tests: list[tuple[Any, ast.expr]]) -> None:
        for kind, test in tests:
            key = ast.dump(test)
            if key in self.asked:
                continue
            self.asked.add(key)
            said = ast.Call(as_named(kind), [ast.Constant(DOMAIN[kind])], [])
            left = self.handling.leave(kind, said, self.at)
            if left is not None:
                self.before.append(branch(test, left, [], self.at))

    # --- what is caught

    def caught(self, node: ast.expr) -> ast.expr:
        """The value of what only Python can tell, after its exceptions were caught."""
        name = self.handling.new("value")
        self.handling.own.add(name)
        self.catch(assign(name, node, self.at))
        return ast.Name(name, ast.Load())

    def catch(self, s: ast.stmt) -> None:
        from overt.rewrites.handling import Unfollowed

        h = self.handling
        if not all(h.is_local(b) for f in h.frames for b in f.final):
            raise Unfollowed
        found = [(i, x) for i, f in reversed(list(enumerate(h.frames))) for x in f.handlers]
        error = h.new("error")
        types = [
            copy.deepcopy(x.node.type) or ast.Name("BaseException", ast.Load()) for _, x in found
        ]
        call = ast.Call(ast.Name("@caught", ast.Load()), types, [])
        item = ast.withitem(call, ast.Name(error, ast.Store()))
        self.before.append(
            ast.copy_location(ast.With([item], [ast.copy_location(s, self.at)]), self.at)
        )
        chain: Stmts = []
        for position, (i, x) in reversed(list(enumerate(found))):
            test: ast.expr = ast.Name(error, ast.Load())
            exception = ast.Attribute(test, "value", ast.Load())
            finals = [b for f in reversed(h.frames[i + 1 :]) for b in copy.deepcopy(f.final)]
            if len(found) > 1:
                matches = ast.Attribute(test, "was", ast.Load())
                test = ast.Call(matches, [ast.Constant(position)], [])
            left = ast.copy_location(h.place(x, i, x.kinds[0], exception, finals), self.at)
            chain = [branch(test, [left], chain, self.at)]
        self.before += chain

    # --- functions of the user's

    def written_out(self, call: ast.Call, node: ast.FunctionDef, name: str = "") -> ast.expr:
        from overt.rewrites.handling import Unfollowed

        if node.name in self.risks.active or len(self.risks.active) > 6:
            raise Unfollowed
        self.risks.active.append(node.name)
        name = name or self.handling.new("value")
        self.handling.own.add(name)
        self.before += self.handling.written_out(node, call, self.at, name)
        self.risks.active.pop()
        return ast.Name(name, ast.Load())


def as_named(kind: type) -> ast.Name:
    """A kind of exceptions by a name that every module knows."""
    return ast.Name("ValueError" if kind is LinAlgError else kind.__name__, ast.Load())


def raises(kind: Any, f: ast.expr, args: list[ast.expr]) -> ast.expr:
    return core.call(core.name("@raises"), as_named(kind), copy.deepcopy(f), *args)
