"""Batching: a function of one lane becomes one of many, where lanes may take different paths.

    while x > 1:                  active = x > 1
        x = x / 2                 while any_lane(active):
    return x              ->          x = np.where(active, x / 2, x)
                                      active = active & (x > 1)
                                  return x

Values carry their lanes with them, so only control flow that differs between lanes is rewritten:
small branches to `where`, small loops to masked ones, the rest to the helpers that lifting uses.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from overt.rewrites import core, lift
from overt.rewrites.callees import SourceOf
from overt.rewrites.core import Assign, Carry, For, Function, If, Source, While
from overt.rewrites.lift_expressions import Expressions
from overt.rewrites.lift_functions import FunctionLifter
from overt.rewrites.liveness import prune
from overt.rewrites.scopes import SET_ITEM
from overt.rewrites.taint import tainted_names

# What may be undefined, or have no derivative, outside the branch that it stands in.
ARRAY_MODULES = ("numpy.", "overt.numpy.", "overt.runtime.numpy.", "overt.runtime.primitive.")
RISKY_OPERATORS = ast.Div | ast.FloorDiv | ast.Mod | ast.Pow


def batch(source: Source, in_axes: Any = 0, source_of: SourceOf | None = None) -> Source:
    """The source over a batch; `in_axes` says which arguments have one, and where."""
    module = lift.Module(source, source_of)
    main, axes = source.main, axes_of(source.main, in_axes)
    recursive = main.name in core.globals_of(main)
    for f in source.functions if recursive else source.functions[:-1]:
        module.add(f)
    function = Batcher(module, main, axes).function(main)
    shown = "(" + ", ".join(repr(a) for a in axes) + ("," if len(axes) == 1 else "") + ")"
    decorator = core.call(core.name("@batched"), in_axes=core.expression(shown))
    function = replace(
        function,
        name=module.named(main.name, "batched"),
        origin=replace(main.origin, comment=comment(main, axes)),
        decorators=(decorator,),
    )
    module.done.append(function)
    return module.finished()


def axes_of(function: Function, in_axes: Any) -> tuple[Any, ...]:
    """The axis of each positional parameter."""
    count = sum(p.kind in ("positional", "normal") for p in function.params)
    if isinstance(in_axes, tuple | list):
        return (*in_axes,)
    return (in_axes,) * count


def comment(function: Function, axes: Sequence[Any]) -> str:
    """`# x, y: batch on axis 0`"""
    groups: dict[Any, list[str]] = {}
    for p, axis in zip(function.params, axes, strict=False):
        if isinstance(axis, int):
            groups.setdefault(axis, []).append(core.base(p.name))
    shown = [f"{', '.join(names)}: batch on axis {axis}" for axis, names in groups.items()]
    return f"# {'; '.join(shown)}" if shown else ""


class BatchExpressions(Expressions):
    """As in lifting, but values that are the same in every lane are left alone."""

    lifter: Batcher

    def plain_name(self, name: str) -> bool:
        if name in self.hidden:
            return False
        return not core.is_local(name) or name not in self.lifter.tainted

    def plain_call(self, node: ast.Call) -> bool:
        return not self.lifter.differs(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        if self.plain(node) or not all(self.is_comparison(v) for v in node.values):
            return super().visit_BoolOp(node)
        values = [self.visit(v) for v in node.values]
        value = values[0]
        for other in values[1:]:
            operator = ast.BitAnd() if isinstance(node.op, ast.And) else ast.BitOr()
            value = ast.BinOp(value, operator, other)
        return value

    def is_comparison(self, node: ast.expr) -> bool:
        """Whether a truth value is cheap and safe to have even where nobody asks for it."""
        if not isinstance(node, ast.Compare) or len(node.ops) > 1:
            return False
        return self.lifter.differs(node) and self.lifter.is_simple(node)

    def callee(self, node: ast.Call) -> ast.expr:
        if self.lifter.differs(node):
            return super().callee(node)
        return self.visit(node.func)


class Batcher(FunctionLifter):
    """Rewrites one function for many lanes."""

    def __init__(self, module: lift.Module, function: Function, axes: Sequence[Any]) -> None:
        function = prune(function, module.callees.namespace)
        super().__init__(module, function)
        batched = [
            p.name
            for i, p in enumerate(function.params)
            if p.kind in ("star", "double star") or i >= len(axes) or axes[i] is not None
        ]
        self.tainted = tainted_names(function, batched)
        self.numeric: set[str] = set()
        self.np = self.array_module(function)
        self.read_later = self.counted(function)

    def array_module(self, function: Function) -> str:
        """The user's name for NumPy, or ours."""
        for name in sorted(core.globals_of(function)):
            value = self.callees.object(core.name(name))
            if getattr(value, "__name__", "") in ("numpy", "overt.numpy", "overt.runtime.numpy"):
                return name
        return "@np"

    def counted(self, function: Function) -> set[str]:
        """Every name that is read somewhere."""
        found = core.reads(function.result)
        for s in core.walk(function.body):
            found |= core.reads_of(s)
        return found

    # --- what is known of values

    def expr(self, node: ast.expr) -> ast.expr:
        return BatchExpressions(self).visit(node)

    def is_plain(self, node: ast.expr) -> bool:
        return not self.differs(node)

    def differs(self, *nodes: ast.AST) -> bool:
        from overt.rewrites.taint import Taint

        return Taint(self.tainted).differs(*nodes)

    def is_simple(self, node: ast.expr) -> bool:
        """Whether evaluating an expression for every lane is cheap, harmless and surely ends."""
        for n in ast.walk(node):
            if isinstance(n, ast.Call) and not self.is_array_call(n):
                return False
            if isinstance(
                n, ast.Lambda | ast.ListComp | ast.GeneratorExp | ast.DictComp | ast.SetComp
            ):
                return False
        return True

    def is_array_call(self, node: ast.Call) -> bool:
        f = node.func
        if isinstance(f, ast.Name) and f.id.startswith("@"):
            return f.id in SET_ITEM and self.is_numeric(node.args[0])
        value = self.callees.object(f)
        if value is abs:
            return True
        module = getattr(value, "__module__", None) or type(value).__module__
        return value is not None and f"{module}.".startswith(ARRAY_MODULES)

    def is_numeric(self, node: ast.expr) -> bool:
        """Whether a value is certainly a number or an array."""
        if isinstance(node, ast.Name):
            return node.id in self.numeric
        if isinstance(node, ast.Constant):
            return isinstance(node.value, bool | int | float | complex)
        if isinstance(node, ast.BinOp):
            return self.is_numeric(node.left) or self.is_numeric(node.right) or is_product(node)
        if isinstance(node, ast.UnaryOp | ast.Compare):
            return True
        return isinstance(node, ast.Call) and self.is_array_call(node)

    def learn(self, function: Function) -> None:
        """Find the names that certainly hold numbers."""
        while True:
            before = len(self.numeric)
            for s in core.walk(function.body):
                if isinstance(s, Assign) and isinstance(s.target, str) and self.is_numeric(s.value):
                    self.numeric.add(s.target)
                elif isinstance(s, Assign) and isinstance(s.value, ast.Tuple):
                    self.learn_pairs(s.target, s.value)
                elif isinstance(s, If):
                    for m in s.merges:
                        if self.is_numeric(m.then) and self.is_numeric(m.orelse):
                            self.numeric.add(m.name)
                elif isinstance(s, For | While):
                    for c in s.carries:
                        if self.is_numeric(c.init) or self.is_numeric(c.next):
                            self.numeric |= {c.name, c.out}
            if len(self.numeric) == before:
                return

    def learn_pairs(self, target: core.Pattern, value: ast.Tuple) -> None:
        if isinstance(target, tuple) and len(target) == len(value.elts):
            for t, v in zip(target, value.elts, strict=True):
                if isinstance(t, str) and self.is_numeric(v):
                    self.numeric.add(t)

    def function(self, f: Function) -> Function:
        f = prune(f, self.callees.namespace)
        self.learn(f)
        return super().function(f)

    # --- branches

    def lift_If(self, s: If) -> list[core.Stmt]:
        if not self.differs(s.test) or not self.is_small(s):
            return super().lift_If(s)
        sides = [self.side(s.then), self.side(s.orelse)]
        merges = sorted(s.merges, key=lambda m: (self.place.get(core.base(m.name), 9999), m.name))
        risky = [any(self.risks(v) for v in values(b, merges, k)) for k, b in enumerate(sides)]
        test = self.expr(s.test)
        done: list[core.Stmt] = []
        comments = [s.origin] if s.origin.above or s.origin.comment else []
        many = len(merges) > 1 or any(risky) or any(comments)
        if many and not isinstance(test, ast.Name):
            mask = self.names.fresh("mask")
            self.tainted.add(mask)
            done.append(Assign(mask, test, s.origin))
            test = core.name(mask)
        results = []
        for k, block in enumerate(sides):
            ends = [self.expr(m.then if k == 0 else m.orelse) for m in merges]
            block, ends = inlined(block, ends)
            if risky[k]:
                guards, block, ends = self.guarded(block, ends, test, k == 1)
                done += guards
            done += block
            results.append(ends)
        for m, a, b in zip(merges, *results, strict=True):
            origin = s.origin if not many else core.NOWHERE
            done.append(Assign(m.name, self.where(test, a, b), origin))
        return done

    def is_small(self, s: If) -> bool:
        """Whether both sides can be had for every lane, and their results chosen from."""
        plain = all(
            isinstance(t, Assign) and isinstance(t.target, str) and self.is_simple(t.value)
            for t in (*s.then, *s.orelse)
        )
        if not plain or not s.merges or len(s.then) + len(s.orelse) > 8:
            return False
        ends = [v for m in s.merges for v in (m.then, m.orelse)]
        return all(self.is_numeric(v) for v in ends)

    def side(self, block: core.Block) -> core.Block:
        return tuple(replace(t, value=self.expr(t.value)) for t in block)  # type: ignore

    def where(self, mask: ast.expr, a: ast.expr, b: ast.expr) -> ast.Call:
        self.module.changed = True
        return core.call(ast.Attribute(core.name(self.np), "where", ast.Load()), mask, a, b)

    def risks(self, node: ast.expr) -> bool:
        return bool(self.risky_parts(node))

    def risky_parts(self, node: ast.expr) -> set[str]:
        """Batched names that stand where an operation may be undefined for them."""
        found: set[str] = set()
        for n in ast.walk(node):
            risky: list[ast.AST] = []
            if isinstance(n, ast.Call):
                risky = list(n.args)
            elif isinstance(n, ast.BinOp) and isinstance(n.op, RISKY_OPERATORS):
                whole = isinstance(n.op, ast.Pow) and isinstance(n.right, ast.Constant)
                if not (whole and isinstance(n.right.value, int) and n.right.value > 0):
                    risky = [n.right] if not isinstance(n.op, ast.Pow) else [n.left, n.right]
            for part in risky:
                found |= {name for name in core.reads(part) if self.differs(core.name(name))}
        return found

    def guarded(
        self, block: core.Block, ends: list[ast.expr], mask: ast.expr, other: bool
    ) -> tuple[list[core.Stmt], core.Block, list[ast.expr]]:
        """A side whose derivative counts only in its own lanes: `safe_x = guard(mask, x)`."""
        own = core.assigned(block)
        names: set[str] = set()
        for node in [*[t.value for t in block], *ends]:  # type: ignore[union-attr]
            names |= self.risky_parts(node) - own
        lanes = self.helper("not_", mask) if other else mask
        table: dict[str, ast.expr] = {}
        guards: list[core.Stmt] = []
        for n in self.ordered(names):
            safe = self.names.fresh(f"safe_{core.base(n)}")
            table[n] = core.name(safe)
            guards.append(Assign(safe, self.helper("guard", lanes, core.name(n))))
        block = core.map_exprs(block, lambda node: core.substitute(node, table))
        return guards, block, [core.substitute(e, table) for e in ends]

    # --- loops

    def lift_While(self, s: While) -> list[core.Stmt]:
        if not self.differs(s.test) and (s.until is None or not self.differs(s.until)):
            return [self.native(s)]
        if not self.is_flat(s):
            return super().lift_While(s)
        active = self.names.fresh("active")
        self.tainted.add(active)
        mask = core.name(active)
        starts = {c.name: c.init for c in s.carries}
        test = self.expr(s.test)
        body = [replace(t, value=self.expr(t.value)) for t in s.body]  # type: ignore
        carries = [self.masked(c, mask, body) for c in s.carries]
        ends = {c.name: c.next for c in carries}
        again = both(mask, core.substitute(test, ends))
        start = self.names.fresh("active")
        carries.append(Carry(active, core.name(start), again, self.names.fresh("active")))
        begin = Assign(start, core.substitute(test, starts))
        loop = While(self.helper("any_lane", mask), tuple(carries), tuple(body), None, s.origin)
        return [begin, loop]

    def is_flat(self, s: While) -> bool:
        """Whether a loop's body is a few assignments of numbers."""
        return (
            s.until is None
            and self.is_simple(s.test)
            and all(isinstance(t, Assign) and self.is_simple(t.value) for t in s.body)
            and all(self.is_numeric(c.next) or c.name in self.numeric for c in s.carries)
            and bool(s.carries)
            and len(s.body) <= 12
        )

    def masked(self, c: Carry, mask: ast.expr, body: list[Any]) -> Carry:
        """A carry that lanes which have finished keep; its assignment is masked where it stands."""
        if c.out not in self.read_later:
            return c
        for i, t in enumerate(body):
            if isinstance(c.next, ast.Name) and t.target == c.next.id:
                body[i] = replace(t, value=self.where(mask, t.value, core.name(c.name)))
                return c
        held = self.names.fresh(core.base(c.name))
        self.tainted.add(held)
        body.append(Assign(held, self.where(mask, c.next, core.name(c.name))))
        return replace(c, next=core.name(held))

    def lift_For(self, s: For) -> list[core.Stmt]:
        alike = not self.differs(s.items) or isinstance(s.items, ast.Name | ast.Attribute)
        if alike and (s.until is None or not self.differs(s.until)):
            return [self.native(s)]
        return super().lift_For(s)


def both(mask: ast.expr, test: ast.expr) -> ast.expr:
    """`mask & a & b` for a test `a & b`."""
    if isinstance(test, ast.BinOp) and isinstance(test.op, ast.BitAnd):
        return ast.BinOp(both(mask, test.left), ast.BitAnd(), test.right)
    return ast.BinOp(mask, ast.BitAnd(), test)


def is_product(node: ast.BinOp) -> bool:
    return isinstance(node.op, ast.Sub | ast.Div | ast.Pow | ast.MatMult)


def values(block: core.Block, merges: list[core.Merge], k: int) -> list[ast.expr]:
    ends = [m.then if k == 0 else m.orelse for m in merges]
    return [*[t.value for t in block], *ends]  # type: ignore[union-attr]


def inlined(block: core.Block, ends: list[ast.expr]) -> tuple[core.Block, list[ast.expr]]:
    """A side's last values are written where they are chosen from, if nothing else reads them."""
    while block:
        last = block[-1]
        assert isinstance(last, Assign)
        used = sum(
            isinstance(n, ast.Name) and n.id == last.target for e in ends for n in ast.walk(e)
        )
        if used != 1 or last.origin.comment or last.origin.above:
            break
        table = {last.target: last.value}
        ends = [core.substitute(e, table) for e in ends]
        block = block[:-1]
    return block, ends
