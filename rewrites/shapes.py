"""Shapes: which values certainly have the same shape, so that no broadcast needs undoing.

A shape is a set of symbols: `{a}` is the shape of parameter a, `{a, b}` that of a and b broadcast
together, the empty set that of a scalar.  What nothing is known of gets a symbol of its own.  That
of `np.sum(a, axis=1, keepdims=True)` broadcasts to that of a, so beside a it adds nothing.
"""

from __future__ import annotations

import ast

from overt.rewrites import core
from overt.rewrites.core import Assign, Define, Do, For, If, While, With
from overt.rewrites.liveness import uses_in
from overt.rewrites.ranks import is_count, rank_of
from overt.rewrites.rules import OPERATORS, Resolver, applied
from overt.rewrites.scopes import SET_ITEM
from overt.runtime.primitive import rule_of

Shape = frozenset[str]
SCALAR: Shape = frozenset()
REDUCTIONS = ("sum", "mean", "max", "min", "prod", "amax", "amin", "std", "var")
LIKE = ("zeros_like", "ones_like", "full_like", "copy", "negative", "positive")


class Shapes:
    """The shapes of one function's names."""

    def __init__(self, resolver: Resolver) -> None:
        self.resolver = resolver
        self.known: dict[str, Shape] = {}
        self.reduced: dict[str, Shape] = {}  # the shape that a reduced one with its axes is of
        self.ranks: dict[str, int] = {}  # of arrays whose number of axes is known
        self.counts: set[str] = set()  # whole numbers, such as those that loops count
        self.inactive: set[str] = set()  # parameters without a derivative
        self.whole: core.Function | None = None

    def function(self, f: core.Function, active: set[str] | None = None) -> None:
        self.whole = f
        if active is not None:
            self.inactive = {p.name for p in f.params} - active
        for p in f.params:
            self.known[p.name] = frozenset([p.name])
        self.block(f.body)

    def block(self, block: core.Block) -> None:
        for s in block:
            if isinstance(s, Assign):
                self.stored(s.value, block)
                self.bind(s.target, s.value)
            elif isinstance(s, If):
                self.block(s.then)
                self.block(s.orelse)
                for m in s.merges:
                    a, b = self.of(m.then), self.of(m.orelse)
                    self.known[m.name] = a if a is not None and a == b else frozenset([m.name])
            elif isinstance(s, For | While):
                self.loop(s)
            elif isinstance(s, With):
                self.block(s.body)
            elif isinstance(s, Do | Define):
                pass

    def bind(self, target: core.Pattern, value: ast.expr) -> None:
        if isinstance(target, str):
            shape = self.of(value)
            rank = rank_of(value, self)
            self.ranks.pop(target, None)
            if rank == 0:
                shape = SCALAR
            elif rank is not None:
                self.ranks[target] = rank
            if is_count(value, self):
                self.counts.add(target)
            whole = self.reduced_of(value)
            if whole is not None:
                self.reduced[target] = whole
            self.known[target] = shape if shape is not None else frozenset([target])
        elif isinstance(value, ast.Tuple) and len(value.elts) == len(target):
            for t, v in zip(target, value.elts, strict=True):
                self.bind(t, v)
        else:
            for n in core.pattern_names(target):
                self.known[n] = frozenset([n])

    def stored(self, value: ast.expr, block: core.Block) -> None:
        """What is stored in the place of a number is one, and what is stacked beside numbers; so is
        all that is broadcast into it.

        That is known of what only this block reads: it runs as often as the store.
        """
        given: list[ast.expr] = []
        if not isinstance(value, ast.Call):
            return
        if isinstance(value.func, ast.Name) and value.func.id in SET_ITEM and len(value.args) == 3:
            holder, index, item = value.args
            if rank_of(ast.Subscript(holder, index, ast.Load()), self) == 0:
                given = [item]
        elif rank_of(value, self) is None and value.args and isinstance(value.args[0], ast.List):
            fn = self.resolver.object(value.func)
            if getattr(fn, "__name__", "") in ("array", "stack") and rule_of(fn) is not None:
                given = value.args[0].elts
                if not any(self.of(e) == SCALAR for e in given):
                    return
        symbols = set().union(*[self.of(e) or SCALAR for e in given], set())
        if symbols:
            own = {s.target for s in block if isinstance(s, Assign) and isinstance(s.target, str)}
            numbers = frozenset(n for n in symbols if n in own or self.is_only_in(block, n))
            self.known = {n: shape - numbers for n, shape in self.known.items()}

    def is_only_in(self, block: core.Block, name: str) -> bool:
        """Whether a parameter without a derivative is read in this block alone."""
        if name not in self.inactive or self.whole is None:
            return False
        elsewhere = uses_in(self.whole.body)[name] - uses_in(block)[name]
        return not elsewhere and name not in core.reads(self.whole.result)

    def loop(self, s: For | While) -> None:
        """A carried value keeps its shape if the body gives back the shape that it started with."""
        if isinstance(s, For):
            indices = isinstance(s.items, ast.Call) and self.resolver.object(s.items.func) is range
            for n in core.pattern_names(s.target):
                self.known[n] = SCALAR if indices else frozenset([n])
                if indices:
                    self.counts.add(n)
        changing: set[str] = set()
        moving: set[str] = set()  # carried arrays whose rank changes
        while True:
            for c in s.carries:
                rank = rank_of(c.init, self)
                self.ranks.pop(c.name, None)
                if rank is not None and c.name not in moving:
                    self.ranks[c.name] = rank
                init = self.of(c.init)
                fixed = c.name not in changing and init is not None
                self.known[c.name] = init if fixed else frozenset([c.name])  # type: ignore[assignment]
            self.block(s.body)
            new = {c.name for c in s.carries if self.of(c.next) != self.known[c.name]}
            other = {c.name for c in s.carries if rank_of(c.next, self) != self.ranks.get(c.name)}
            if new <= changing and other <= moving:
                break
            changing |= new
            moving |= other
        for c in s.carries:
            if c.name in self.ranks:
                self.ranks[c.out] = self.ranks[c.name]
            self.known[c.out] = self.known[c.name] if c.name not in changing else frozenset([c.out])

    def arrays(self, block: core.Block) -> set[str]:
        """Names whose values are surely arrays or numbers, so that `+` adds their cotangents."""
        found: set[str] = set()
        for s in core.walk(block):
            if not (isinstance(s, Assign) and isinstance(s.target, str)):
                continue
            if isinstance(s.value, ast.BinOp):
                sure = isinstance(s.value.op, ast.Sub | ast.Div | ast.Pow | ast.MatMult)
            elif isinstance(s.value, ast.Call):
                fn = self.resolver.object(s.value.func)
                rule = rule_of(fn) if fn is not None else None
                module = getattr(fn, "__module__", None) or ""
                sure = (
                    rule is not None
                    and module.startswith(("numpy", "overt.runtime.numpy"))
                    and (rule.elementwise or rule.name in ("sum", "mean", "max", "min"))
                )
            else:
                sure = isinstance(s.value, ast.UnaryOp) and isinstance(s.value.op, ast.USub)
            if sure:
                found.add(s.target)
        return found

    def force_scalar(self, result: ast.expr, f: core.Function) -> None:
        """Use that the result is a scalar: so is all that is broadcast into it."""
        if not isinstance(result, ast.Name):
            return
        pending = set(self.known.get(result.id, ()))
        loops = [s for s in core.walk(f.body) if isinstance(s, For | While)]
        merges = [m for s in core.walk(f.body) if isinstance(s, If) for m in s.merges]
        done: set[str] = set()
        while pending:
            symbol = pending.pop()
            if symbol in done:
                continue
            done.add(symbol)
            for s in loops:
                for c in s.carries:
                    if symbol == c.out:
                        pending |= self.of(c.next) or set()
            for m in merges:
                if symbol == m.name:
                    for v in (m.then, m.orelse):
                        pending |= self.of(v) or set()
            # the value of the iteration before, if it is broadcast into that of this one
            for s in loops:
                for c in s.carries:
                    if symbol == c.name:
                        pending |= self.of(c.next) or set()
        self.known = {n: shape - done for n, shape in self.known.items()}
        self.reduced = {n: shape - done for n, shape in self.reduced.items()}

    # --- expressions

    def of(self, node: ast.expr) -> Shape | None:
        """The shape of an expression's value; None if nothing is known."""
        if isinstance(node, ast.Constant):
            return SCALAR if isinstance(node.value, int | float | complex) else None
        if isinstance(node, ast.Name):
            if not core.is_local(node.id):
                return frozenset([node.id])
            return self.known.get(node.id, frozenset([node.id]))
        if isinstance(node, ast.BinOp):
            if isinstance(node.op, ast.MatMult):
                return None
            return self.union(node.left, node.right)
        if isinstance(node, ast.UnaryOp):
            return self.of(node.operand)
        if isinstance(node, ast.Compare):
            return self.union(node.left, *node.comparators)
        if isinstance(node, ast.Attribute):
            if node.attr in ("size", "ndim"):
                return SCALAR
            return self.of(node.value) if node.attr in ("real", "imag") else None
        if isinstance(node, ast.Subscript):
            return SCALAR if rank_of(node, self) == 0 else None
        if isinstance(node, ast.Call):
            return self.call(node)
        return None

    def union(self, *nodes: ast.expr) -> Shape | None:
        total: Shape = frozenset()
        for n in nodes:
            shape = self.of(n)
            if shape is None:
                return None
            total |= shape
        for symbol in sorted(total & set(self.reduced)):
            if self.reduced[symbol] <= total - {symbol}:
                total -= {symbol}
        return total

    def reduced_of(self, node: ast.expr) -> Shape | None:
        """The shape of what a reduction that keeps its axes is of; None for anything else."""
        if not isinstance(node, ast.Call):
            return None
        kept = {k.arg: k.value for k in node.keywords}.get("keepdims")
        if not (isinstance(kept, ast.Constant) and kept.value is True):
            return None
        fn, args = self.resolver.object(node.func), node.args
        if fn is None and isinstance(node.func, ast.Attribute):
            name, args = node.func.attr, [node.func.value]
        else:
            rule = rule_of(fn)
            name = rule.name if rule is not None else getattr(fn, "__name__", "")
        return self.of(args[0]) if name in REDUCTIONS and args else None

    def call(self, node: ast.Call) -> Shape | None:
        if isinstance(node.func, ast.Name):
            helper = node.func.id
            if helper == "len":
                return SCALAR
            if helper in (*SET_ITEM, "@set_at", "@added_at", "@np.full_like") and node.args:
                return self.of(node.args[0])
            if helper in ("@over", "@times", "@times_both"):
                return self.union(*node.args)
            if helper == "@sum_to" and len(node.args) == 2:
                return self.of(node.args[1])
        fn = self.resolver.object(node.func)
        if fn is None:
            return None
        if fn in (abs, float, int) and len(node.args) == 1:
            return self.of(node.args[0])
        rule = rule_of(fn)
        name = rule.name if rule is not None else getattr(fn, "__name__", "")
        if name in ("size", "ndim", "count"):
            return SCALAR
        if name in LIKE and node.args:
            return self.of(node.args[0])
        if rule is None:
            return None
        if rule.elementwise or name in ("where", "clip", "sum", "mean") or is_broadcasting(fn):
            if name in ("sum", "mean"):
                return SCALAR if len(node.args) == 1 and not node.keywords else None
            return self.union(*node.args) if not node.keywords else None
        return None


def is_broadcasting(fn: object) -> bool:
    """Whether a function works element by element on operands broadcast together."""
    rule = rule_of(fn)
    return rule is not None and rule.elementwise


def operator_call(node: ast.expr, resolver: Resolver):  # type: ignore[no-untyped-def]
    """An operator as an application of the function that it stands for."""
    import overt.runtime.numpy as ours

    if isinstance(node, ast.BinOp):
        name = OPERATORS.get(type(node.op))
        return applied(getattr(ours, name), [node.left, node.right], []) if name else None
    if isinstance(node, ast.UnaryOp):
        name = OPERATORS.get(type(node.op))
        return applied(getattr(ours, name), [node.operand], []) if name else None
    return None
