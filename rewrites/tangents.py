"""Tangents: walks a flattened function forwards, putting the tangent of each value under the value.

y = np.sin(x)    ->    y = np.sin(x)
                       y_dot = np.cos(x) * x_dot
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from overt.rewrites import core
from overt.rewrites.activity import Activity, is_reversed_record, iterated, plain_tuple
from overt.rewrites.algebra import plainer
from overt.rewrites.core import (
    Assign,
    Block,
    Carry,
    For,
    If,
    Merge,
    Names,
    Origin,
    Stmt,
    While,
    With,
)
from overt.rewrites.refusal import Refusal
from overt.rewrites.shapes import SCALAR, Shapes
from overt.rewrites.tangent_rules import Tangent, TangentRules, np_call, runtime

if TYPE_CHECKING:
    from overt.rewrites.program import Program

Fields = tuple[Any, ...]


class Tangents:
    """The tangents of one function's values; a name without one has the tangent zero."""

    def __init__(
        self,
        program: Program,
        activity: Activity,
        shapes: Shapes,
        names: Names,
        uses: Counter[str],
        callee: Callable[[core.Function, tuple[int, ...]], str | None],
    ) -> None:
        self.program, self.activity, self.shapes, self.names = program, activity, shapes, names
        self.uses = uses
        self.dots: dict[str, ast.expr] = {}
        self.narrow: set[str] = set()  # whose tangents are still to be broadcast
        self.displays: dict[str, ast.expr] = {}  # containers written out, by name
        # Of a loop's records: for each field whether it has a tangent, or what its records have.
        self.records: dict[str, tuple[Fields | bool, ...]] = {}
        self.zeroed: set[str] | None = None  # names of what selections have set to zero
        self.leaves = False  # whether records are read by another function, which wants every field
        self.out: list[Stmt] = []
        self.rules = TangentRules(self, callee)

    # --- tangents of expressions

    def dot(self, node: ast.expr) -> ast.expr | None:
        """The tangent of a name or of a container of names; None if it is zero."""
        if isinstance(node, ast.Name):
            return self.dots.get(node.id)
        if isinstance(node, ast.Tuple | ast.List):
            if not self.activity.expr(node):
                return None
            return type(node)([self.full(e) for e in node.elts], ast.Load())
        if isinstance(node, ast.Dict):
            if not self.activity.expr(node):
                return None
            return ast.Dict(node.keys, [self.full(v) for v in node.values])
        if isinstance(node, ast.Starred):
            return ast.Starred(self.iterated(node.value), ast.Load())
        if not self.activity.expr(node):
            return None
        raise Refusal("this expression cannot be differentiated", "Give it a name first.", node)

    def full(self, node: ast.expr) -> ast.expr:
        """The tangent with the value's own shape, zeros written out."""
        found = self.dot(node)
        if found is None:
            return self.zero(node)
        if isinstance(node, ast.Name) and node.id in self.narrow:
            return runtime("tangent_for", found, node)
        return found

    def iterated(self, node: ast.expr) -> ast.expr:
        """The tangent of what something is iterated for: the keys of a dictionary have none."""
        found = self.full(node)
        if isinstance(node, ast.Name):
            if self.program.number_keys or node.id in self.activity.perhaps_dicts:
                return runtime("keys_dot", found)
        return found

    def zero(self, node: ast.expr) -> ast.expr:
        """The zero tangent of a value."""
        if isinstance(node, ast.Constant):
            return core.constant(0.0 if isinstance(node.value, int | float) else None)
        if isinstance(node, ast.Name):
            if node.id in (core.UNDEFINED, f"@{core.UNDEFINED}"):
                return node
            value = self.displays.get(node.id)
            if value is not None:
                return self.zero(value) if not is_call_of(value, "zeros_like_tree") else node
            if core.is_local(node.id) and self.shapes.known.get(node.id) == SCALAR:
                return core.constant(0.0)
        if isinstance(node, ast.Tuple | ast.List):
            return type(node)([self.zero(e) for e in node.elts], ast.Load())
        if isinstance(node, ast.Dict) and None not in node.keys:
            return ast.Dict(node.keys, [self.zero(v) for v in node.values])
        if isinstance(node, ast.Starred):
            return ast.Starred(self.zero(node.value), ast.Load())
        if is_made_of_zeros(node):
            return node
        return runtime("zero_dot", node)

    def fresh(self, name: str) -> str:
        stem = core.base(name)
        held = self.names.fresh(f"{stem}_dot" if stem != "_" else stem)
        self.shapes.known[held] = self.shapes.known.get(name, frozenset([name]))
        return held

    def has_shape(self, tangent: ast.expr, name: str) -> bool:
        """Whether a tangent certainly has the shape of the value."""
        shape = self.shapes.known.get(name, frozenset([name]))
        return shape == SCALAR or self.shapes.of(tangent) == shape

    # --- statements

    def block(self, block: Block) -> Block:
        outer, self.out = self.out, []
        for s in block:
            try:
                self.statement(s)
            except Refusal as refusal:
                if not refusal.line and s.origin.line:
                    refusal.line = s.origin.line
                raise
        done, self.out = tuple(self.out), outer
        return done

    def statement(self, s: Stmt) -> None:
        if isinstance(s, Assign):
            self.assign(s)
        elif isinstance(s, If):
            self.branch(s)
        elif isinstance(s, For | While):
            self.loop(s)
        elif isinstance(s, With):
            if any(self.activity.expr(i.context_expr) for i in s.items):
                raise Refusal("`with` on a value that is being differentiated cannot be rewritten")
            self.out.append(replace(s, body=self.block(s.body)))
        else:
            self.out.append(s)

    def assign(self, s: Assign) -> None:
        if isinstance(s.target, str):
            if isinstance(s.value, ast.List | ast.Tuple | ast.Dict) or is_made_of_zeros(s.value):
                self.displays[s.target] = s.value
            if not self.activity.expr(s.value):
                self.out.append(s)
                return
            tangent = self.rules.tangent(s.target, s.value)
            if isinstance(tangent, ast.Call):  # of value and tangent together
                new = self.fresh(s.target)
                self.out.append(replace(s, target=(s.target, new), value=tangent))
                self.dots[s.target] = core.name(new)
                return
            self.out.append(s)
            self.give(s.target, tangent, s.origin)
            return
        if not self.activity.expr(s.value):
            self.out.append(s)
        elif isinstance(s.value, ast.Tuple | ast.List) and plain_tuple(s.target, s.value):
            self.assign_many(s, list(s.value.elts))
        else:
            self.unpack(s)

    def assign_many(self, s: Assign, values: list[ast.expr]) -> None:
        """`a, b = b, a`: names and values one to one."""
        found = [self.rules.tangent(t, v) for t, v in zip(s.target, values, strict=True)]
        if any(isinstance(f, ast.Call) for f in found):
            for t, v in zip(s.target, values, strict=True):
                self.assign(Assign(t, v, s.origin))
            return
        self.out.append(s)
        targets, tangents = [], []
        for t, f in zip(s.target, found, strict=True):
            if f is None:
                continue
            assert isinstance(f, Tangent)
            if isinstance(f.expr, ast.Name):
                self.give(t, f, s.origin)
                continue
            targets.append(self.fresh(t))
            tangents.append(plainer(f.expr))
            if f.narrow:
                self.narrow.add(t)
                self.shapes.known[targets[-1]] = self.shapes.of(f.expr) or frozenset(["?"])
            self.dots[t] = core.name(targets[-1])
        if len(targets) == 1:
            self.out.append(Assign(targets[0], tangents[0], core.tangent_of(s.origin)))
        elif targets:
            self.out.append(
                Assign(tuple(targets), core.tuple_of(tangents), core.tangent_of(s.origin))
            )

    def unpack(self, s: Assign) -> None:
        if not self.activity.names & set(core.pattern_names(s.target)):  # keys of a dictionary
            self.out.append(s)
            return
        dot = self.iterated(s.value)
        targets = tuple(self.fresh(t) for t in s.target)
        for t, new in zip(s.target, targets, strict=True):
            self.dots[t] = core.name(new)
        last = self.out[-1] if self.out else None
        if (
            isinstance(last, Assign)
            and isinstance(s.value, ast.Name)
            and not last.origin.line
            and last.target == (s.value.id, getattr(dot, "id", ""))
            and self.uses[s.value.id] == 1
        ):  # (a, b), (a_dot, b_dot) = jvp_of(...)
            self.out[-1] = replace(last, target=(s.target, targets), origin=s.origin)
            return
        self.out += [s, Assign(targets, dot, core.tangent_of(s.origin))]

    def give(self, target: str, tangent: Tangent | None, origin: Origin) -> None:
        """Set the tangent of a name: under a name of its own, unless it is one."""
        if tangent is None:
            return
        if tangent.narrow:
            self.narrow.add(target)
        if isinstance(tangent.expr, ast.Name):
            self.dots[target] = tangent.expr
            return
        new = self.fresh(target)
        if tangent.narrow:
            self.shapes.known[new] = self.shapes.of(tangent.expr) or frozenset(["?"])
        self.out.append(Assign(new, plainer(tangent.expr), core.tangent_of(origin)))
        self.dots[target] = core.name(new)

    # --- branches and loops

    def branch(self, s: If) -> None:
        ends: list[dict[str, ast.expr]] = []
        blocks = []
        for side, block in (("then", s.then), ("orelse", s.orelse)):
            blocks.append(self.block(block))
            ends.append(
                {
                    m.name: self.full(getattr(m, side))
                    for m in s.merges
                    if m.name in self.activity.names
                }
            )
        merges = []
        for m in s.merges:
            if m.name not in self.activity.names:
                continue
            if self.dot(m.then) is None and self.dot(m.orelse) is None:
                continue
            new = self.fresh(m.name)
            merges.append(Merge(new, ends[0][m.name], ends[1][m.name]))
            self.dots[m.name] = core.name(new)
            ends_of = [getattr(end, "id", "") for end in (m.then, m.orelse)]
            found = [self.records.get(end) for end in ends_of if end.lstrip("@") != core.UNDEFINED]
            if found and found[0] is not None and all(fields == found[0] for fields in found):
                self.records[m.name] = found[0]
        self.out.append(replace(s, then=blocks[0], orelse=blocks[1], merges=(*s.merges, *merges)))

    def loop(self, s: For | While) -> None:
        head: dict[str, object] = {}
        if isinstance(s, For):
            head["target"], head["items"] = self.items(s.target, s.items)
        carried = [c for c in s.carries if c.name in self.activity.names]
        inits = [self.full(c.init) for c in carried]
        for c in carried:
            self.dots[c.name] = core.name(self.fresh(c.name))
        body = self.block(s.body)
        outer, self.out = self.out, []
        carries = []
        for c, init in zip(carried, inits, strict=True):
            after = self.fresh(c.out)
            carries.append(Carry(self.dots[c.name].id, init, self.full(c.next), after))  # type: ignore
            self.dots[c.out] = core.name(after)
            if isinstance(c.next, ast.Name) and c.next.id in self.records:
                self.records[c.out] = self.records[c.next.id]
        body, self.out = (*body, *self.out), outer
        self.out.append(replace(s, carries=(*s.carries, *carries), body=body, **head))  # type: ignore

    def items(self, target: core.Pattern, items: ast.expr) -> tuple[core.Pattern, ast.expr]:
        """What a loop runs over, with the tangents beside it."""
        if not self.activity.expr(items):
            return target, items
        if not self.activity.names & set(core.pattern_names(target)):  # the keys of a dictionary
            return target, items
        if is_reversed_record(items):
            record = items.func.value  # type: ignore[attr-defined]
            both = [
                items,
                ast.Call(ast.Attribute(self.full(record), "reversed", ast.Load()), [], []),
            ]
            fields = self.records.get(getattr(record, "id", ""))
            return (target, self.pattern(target, fields)), core.call("zip", *both)
        parts = iterated(target, items, self.program.resolver)
        fn = self.program.resolver.object(items.func) if isinstance(items, ast.Call) else None
        if isinstance(items, ast.Call) and parts != [(target, items)]:
            if fn is enumerate:
                inner, args = self.items(target[1], items.args[0])
                return (target[0], inner), replaced(items, [args, *items.args[1:]])
            if fn is reversed:
                return self.beside(target, items, replaced(items, [self.iterated(items.args[0])]))
            if fn is zip:
                targets: list[core.Pattern] = []
                flat: list[ast.expr] = []
                for t, part in zip(target, items.args, strict=True):
                    new, both_items = self.items(t, part)
                    if new is t:
                        targets, flat = [*targets, t], [*flat, part]
                    elif is_zip(both_items) and len(new) == len(both_items.args):  # type: ignore
                        targets, flat = [*targets, *new], [*flat, *both_items.args]  # type: ignore
                    else:
                        targets, flat = [*targets, new], [*flat, both_items]
                return tuple(targets), replaced(items, flat)
        if fn is reversed:
            return self.beside(target, items, replaced(items, [self.iterated(items.args[0])]))  # type: ignore
        return self.beside(target, items, self.iterated(items))

    def beside(
        self, target: core.Pattern, items: ast.expr, dots: ast.expr
    ) -> tuple[core.Pattern, ast.expr]:
        fields = self.records.get(getattr(items, "id", ""))
        return (target, self.pattern(target, fields)), core.call("zip", items, dots)

    def pattern(self, target: core.Pattern, fields: Fields | None = None) -> core.Pattern:
        """Names for the tangents of a loop's target; those without one are not read."""
        if fields is not None and len(fields) == 1 and isinstance(target, str):
            target, fields = (target,), fields
            return self.pattern(target, fields)[0]
        if fields is not None and isinstance(target, tuple) and len(target) == len(fields):
            found: list[core.Pattern] = []
            for t, field in zip(target, fields, strict=True):
                if field is False:
                    found.append(self.names.fresh("_"))
                    continue
                if isinstance(field, tuple) and isinstance(t, str):
                    self.records[t] = field
                found.append(self.pattern(t))
            return tuple(found)

        def dot_of(n: str) -> str:
            if n not in self.activity.names:
                return self.names.fresh("_")
            new = self.fresh(n)
            self.dots[n] = core.name(new)
            return new

        return core.map_pattern(dot_of, target)


def is_made_of_zeros(node: ast.expr) -> bool:
    """Whether a value is its own tangent: an empty record, or zeros."""
    return is_call_of(node, "Saved") or is_call_of(node, "zeros_like_tree")


def is_call_of(node: ast.expr, helper: str) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id.lstrip("@") == helper
    )


def replaced(node: ast.Call, args: list[ast.expr]) -> ast.Call:
    return ast.Call(node.func, args, node.keywords)


def is_zip(node: ast.expr) -> bool:
    return core.is_call_of(node, "zip")


__all__ = ["Tangents", "np_call"]
