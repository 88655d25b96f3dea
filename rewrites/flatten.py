"""Flatten: active expressions become one operation a statement, each with one derivative rule.

    c = f * c + i * np.tanh(g)  ->  product = f * c;  ...;  c = product + product_1

What is not active stays as the user wrote it.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import replace
from typing import Any

from overt.rewrites import core
from overt.rewrites.activity import (
    Activity,
    is_reversed_record,
    iterated,
    pattern_of,
    plain_tuple,
    used_as_dicts,
)
from overt.rewrites.changing import Changing
from overt.rewrites.conditions import without_filter
from overt.rewrites.core import (
    Assign,
    Block,
    For,
    Function,
    If,
    Merge,
    Names,
    Stmt,
    While,
    With,
)
from overt.rewrites.evaluation_order import in_order
from overt.rewrites.listed import as_array, takes_arrays
from overt.rewrites.literals import is_literal
from overt.rewrites.masks import mark_masks
from overt.rewrites.numpy_results import is_filled
from overt.rewrites.paired_items import Pairs
from overt.rewrites.refusal import Refusal
from overt.rewrites.rules import Resolver
from overt.rewrites.sharing import VIEW_CALLS
from overt.rewrites.stems import WORDS, stem_of, test_stem
from overt.rewrites.surely_lists import is_list, lists_of, takes_last
from overt.runtime.derivatives import materialize
from overt.runtime.ownership import is_library


def flatten(
    function: Function, active: set[str], resolver: Resolver, names: Names, lasts: bool = False
) -> tuple[Function, Activity]:
    """The function with its active expressions flattened, and its active names.

    `lasts` says that its derivative is used after the function has returned.
    """
    function = in_order(function, resolver, names)
    Changing(function, resolver, lasts).mark(function)
    function = core.map_function(function, Joins(resolver).of)
    function = core.map_function(function, Tables(function, resolver).of)
    activity = Activity(active, resolver)
    activity.watch(function)
    activity.perhaps_dicts = used_as_dicts(function)
    activity.block(function.body)
    pairs = Pairs(resolver, names, activity)
    function = replace(function, body=pairs.block(function.body))
    if pairs.found:
        activity.block(function.body)
    work = Flatten(activity, resolver, names)
    work.lists = lists_of(function, resolver)
    body = work.block(function.body)
    work.out, work.origin, work.holder = [], function.result_origin, ""
    result = work.result(function.result)
    function = replace(function, body=(*body, *work.out), result=result)
    return mark_masks(function, resolver), activity


class Joins(ast.NodeTransformer):
    """`np.r_[a, 1:3]` is a call of what joins the pieces: an index would have no derivative."""

    def __init__(self, resolver: Resolver) -> None:
        self.resolver = resolver

    def of(self, node: Any) -> Any:
        return self.visit(copy.deepcopy(node)) if isinstance(node, ast.AST) else node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        if getattr(self.resolver.object(node.value), "joins_its_index", False) is not True:
            return node
        pieces = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return core.call(
            ast.Attribute(node.value, "joined", ast.Load()),
            *(
                core.call(core.name("slice"), *((e or core.constant(None)) for e in ends(piece)))
                if isinstance(piece, ast.Slice)
                else piece
                for piece in pieces
            ),
        )


class Tables(ast.NodeTransformer):
    """`table[x > 0]` of a dictionary is a call that takes an array for the number it holds."""

    def __init__(self, function: Function, resolver: Resolver) -> None:
        self.resolver = resolver
        self.made: set[str] = set()
        self.asked: set[str] = set()  # names of comparisons
        for s in core.walk(function.body):
            if isinstance(s, Assign):
                for target, value in pairs_of(s):
                    if isinstance(value, ast.Compare):
                        self.asked.add(target)
                    if isinstance(value, ast.Dict) or core.is_call_of(value, "@set_item"):
                        self.note(target, getattr(value, "args", None))
            elif isinstance(s, For | While):
                for c in s.carries:
                    for inside in (c.name, c.out):
                        self.note(inside, [c.init])

    def note(self, name: str, of: list[ast.expr] | None) -> None:
        """A dictionary: a display, or what is made of one."""
        if of is None or isinstance(of[0], ast.Name) and of[0].id in self.made:
            self.made.add(name)

    def of(self, node: Any) -> Any:
        return self.visit(copy.deepcopy(node)) if isinstance(node, ast.AST) else node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        if not self.is_table(node.value) or not self.asks(node.slice):
            return node
        return core.call(core.name("@getitem"), node.value, node.slice)

    def is_table(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name) and node.id in self.made:
            return True
        return isinstance(self.resolver.object(node), dict)

    def asks(self, key: ast.expr) -> bool:
        """Whether a key is a comparison, or has one in it."""
        if isinstance(key, ast.Tuple):
            return any(map(self.asks, key.elts))
        return isinstance(key, ast.Compare) or isinstance(key, ast.Name) and key.id in self.asked


def pairs_of(s: Assign) -> list[tuple[str, ast.expr]]:
    """The names that a statement sets, each with its value, where the text pairs them."""
    if isinstance(s.target, str):
        return [(s.target, s.value)]
    if isinstance(s.value, ast.Tuple | ast.List) and plain_tuple(s.target, s.value):
        pairs = zip(s.target, s.value.elts, strict=True)
        return [(t, v) for t, v in pairs if isinstance(t, str)]
    return []


def ends(piece: ast.Slice) -> tuple[ast.expr | None, ...]:
    return piece.lower, piece.upper, piece.step


def is_alias(node: ast.expr) -> bool:
    """Whether a name is given to an array that is stored into later, or to what holds it."""
    if isinstance(node, ast.IfExp):
        return is_alias(node.body) or is_alias(node.orelse)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in VIEW_CALLS and any(map(is_alias, [node.func.value, *node.args]))
    read = isinstance(node, ast.Name | ast.Attribute | ast.Subscript)
    return read and getattr(node, "in_place", False)


class Flatten:
    def __init__(self, activity: Activity, resolver: Resolver, names: Names) -> None:
        self.activity, self.resolver, self.names = activity, resolver, names
        self.out: list[Stmt] = []
        self.origin = core.NOWHERE
        self.lists: set[str] = set()
        self.holder = ""  # the user's name for the value of the statement at hand
        self.homes: dict[str, str] = {}  # which statement a general word was used in first

    def active(self, node: ast.AST | None) -> bool:
        return self.activity.expr(node)

    # --- statements

    def block(self, block: Block) -> Block:
        outer, self.out = self.out, []
        for s in block:
            self.statement(s)
        done, self.out = tuple(self.out), outer
        return done

    def emit(self, s: Stmt) -> None:
        self.out.append(s)

    def statement(self, s: Stmt) -> None:
        self.origin = s.origin
        named = isinstance(s, Assign) and isinstance(s.target, str) and s.origin.line
        self.holder = core.base(s.target) if named else ""  # type: ignore[union-attr]
        if isinstance(s, Assign):
            self.assign(s)
        elif isinstance(s, If):
            test = self.test(s.test)
            then, first = self.side(s.then, [m.then for m in s.merges])
            orelse, second = self.side(s.orelse, [m.orelse for m in s.merges])
            merges = tuple(
                Merge(m.name, a, b) for m, a, b in zip(s.merges, first, second, strict=True)
            )
            self.emit(replace(s, test=test, then=then, orelse=orelse, merges=merges))
        elif isinstance(s, For | While):
            inits = [c.init if is_alias(c.init) else self.atom(c.init) for c in s.carries]
            head = {}
            if isinstance(s, For) and self.active(s.items):
                head["items"] = self.iterable(s.target, s.items)
            body, ends = self.side(s.body, [c.next for c in s.carries])
            carries = tuple(
                replace(c, init=a, next=b) for c, a, b in zip(s.carries, inits, ends, strict=True)
            )
            self.emit(replace(s, body=body, carries=carries, **head))  # type: ignore[arg-type]
        elif isinstance(s, With):
            self.emit(replace(s, body=self.block(s.body)))
        else:
            self.emit(s)

    def side(self, block: Block, ends: list[ast.expr]) -> tuple[Block, list[ast.expr]]:
        """A nested block, and the values that leave it as names."""
        outer, self.out = self.out, []
        for s in block:
            self.statement(s)
        self.origin = core.NOWHERE
        values = [e if is_alias(e) else self.atom(e) for e in ends]
        done, self.out = tuple(self.out), outer
        return done, values

    def test(self, test: ast.expr) -> ast.expr:
        """The test of a branch, by name: the reverse sweep asks it again."""
        if isinstance(test, ast.Constant) or isinstance(test, ast.Name) and is_cheap(test):
            return test
        held = self.names.fresh(test_stem(test))
        self.emit(Assign(held, test, core.part_of(self.origin)))
        return core.name(held)

    def assign(self, s: Assign) -> None:
        if not self.active(s.value):
            self.emit(s if is_alias(s.value) else replace(s, value=self.as_it_is(s.value)))
            return
        if isinstance(s.value, ast.Tuple | ast.List) and plain_tuple(s.target, s.value):
            if all(isinstance(t, str) for t in s.target):
                flat = [self.flat(v) if self.active(v) else v for v in s.value.elts]
                self.emit(Assign(s.target, core.tuple_of(flat), s.origin))
                return
            for t, v in zip(s.target, s.value.elts, strict=True):
                self.assign(Assign(t, v, s.origin))
            return
        if isinstance(s.target, str):
            self.emit(Assign(s.target, self.flat(s.value), s.origin))
            return
        if takes_last(s.value, self.lists) and all(isinstance(t, str) for t in s.target):
            self.emit(Assign(s.target, self.flat(s.value), s.origin))
            return
        self.unpack(s.target, self.atom(s.value), s.origin)

    def unpack(self, target: tuple, value: ast.expr, origin: core.Origin) -> None:  # type: ignore[type-arg]
        starred = [i for i, t in enumerate(target) if isinstance(t, tuple) and t[:1] == ("*",)]
        if not starred and all(isinstance(t, str) for t in target):
            self.emit(Assign(target, value, origin))
            return
        held: list[str] = [t if isinstance(t, str) else self.names.fresh("part") for t in target]
        if not starred:
            self.activity.names |= set(held)
            self.emit(Assign(tuple(held), value, origin))
        else:
            parts = self.names.fresh("parts")
            self.new(parts, core.call(core.name("list"), value))
            count, star = len(target), starred[0]
            for i, t in enumerate(target):
                if i == star:
                    stop = core.constant(i + 1 - count) if i + 1 < count else None
                    index: ast.expr = ast.Slice(core.constant(i) if i else None, stop)
                    held[i] = t[1]
                else:
                    index = core.constant(i if i < star else i - count)
                self.new(held[i], ast.Subscript(core.name(parts), index, ast.Load()))
        for t, h in zip(target, held, strict=True):
            if isinstance(t, tuple) and t[:1] != ("*",):
                self.unpack(t, core.name(h), origin)

    def new(self, name: str, value: ast.expr) -> None:
        s = Assign(name, value, self.origin if self.origin.line else core.NOWHERE)
        s = replace(s, origin=replace(s.origin, comment="", above=()))
        self.activity.statement(s)
        self.emit(s)

    # --- expressions

    def result(self, node: ast.expr) -> ast.expr:
        """A returned value: names in the containers that the user wrote."""
        if isinstance(node, ast.Tuple | ast.List) and not any(
            isinstance(e, ast.Starred) for e in node.elts
        ):
            return type(node)([self.result(e) for e in node.elts], ast.Load())
        if isinstance(node, ast.Dict) and None not in node.keys:
            return ast.Dict(node.keys, [self.result(v) for v in node.values])
        return self.atom(node)

    def atom(self, node: ast.expr) -> ast.expr:
        """The expression as a name or constant, or as it is where that is cheap and not active."""
        if (
            isinstance(node, ast.Name)
            and getattr(node, "changing", False)
            and not self.active(node)
        ):
            held = self.names.fresh(node.id)  # type: ignore[attr-defined]
            self.emit(Assign(held, self.as_it_is(node), core.part_of(self.origin)))
            return core.name(held)
        if isinstance(node, ast.Name | ast.Constant):
            return node
        if isinstance(node, ast.Starred):
            return ast.Starred(self.atom(node.value), ast.Load())
        if not self.active(node):
            if is_cheap(node) or self.is_constant(node):
                return node
            held = self.part(node)
            self.emit(Assign(held, self.as_it_is(node), core.part_of(self.origin)))
            return core.name(held)
        flat = self.flat(node)
        if isinstance(flat, ast.Name):
            return flat
        held = self.part(node)
        self.activity.names.add(held)
        self.emit(Assign(held, flat, core.part_of(self.origin)))
        return core.name(held)

    def as_it_is(self, node: ast.expr) -> ast.expr:
        """The value of an expression that is no part of an array stored into later."""
        if getattr(node, "in_place", None) is False:
            return node  # a number, whatever holds it
        if not any(getattr(n, "in_place", False) for n in ast.walk(node)):
            return node
        if isinstance(node, ast.BinOp | ast.UnaryOp | ast.Compare | ast.BoolOp):
            return node  # a new array
        if isinstance(node, ast.Call) and not self.may_be_view(node.func):
            return node
        return core.call(core.name("@snapshot"), node)

    def may_be_view(self, f: ast.expr) -> bool:
        """Whether a function may give a part of an array that it is given."""
        name = f.attr if isinstance(f, ast.Attribute) else getattr(f, "id", "")
        found = self.resolver.object(f)
        ours = (getattr(found, "__module__", None) or "builtins").partition(".")[0]
        return name in VIEW_CALLS or found is not None and not is_library(ours)

    def is_constant(self, node: ast.expr) -> bool:
        """Whether an expression is a new array, always the same: `np.eye(2)`."""
        return (
            isinstance(node, ast.Call)
            and all(map(is_literal, node.args))
            and is_filled(node, self.resolver.object(node.func))
        )

    def part(self, node: ast.expr) -> str:
        """A name for a part of a statement; a general word says of what, from the second time on.

        `product`, then `energy_product` for the part of `energy = ...`.
        """
        stem = stem_of(node)
        word = stem.removesuffix("_value")
        if not self.holder or not (stem in WORDS or stem != word):
            return self.names.fresh(stem)
        if self.homes.setdefault(stem, self.holder) == self.holder:
            return self.names.fresh(stem)
        return self.names.fresh(f"{self.holder}_{word}")

    def flat(self, node: ast.expr) -> ast.expr:
        """The expression as one operation on atoms."""
        method = getattr(self, f"flat_{type(node).__name__}", None)
        if method is None:
            raise Refusal(
                f"an expression of kind {type(node).__name__} cannot be differentiated",
                "Write it in simpler steps.",
                node,
                recordable=True,
            )
        return method(node)

    def flat_Name(self, node: ast.Name) -> ast.expr:
        return node

    flat_Constant = flat_Name

    def flat_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        return ast.UnaryOp(node.op, self.atom(node.operand))

    def flat_BinOp(self, node: ast.BinOp) -> ast.expr:
        if isinstance(node.op, ast.Add) and (
            is_list(node.left, self.lists) or is_list(node.right, self.lists)
        ):
            return self.flat(core.call(core.name("@joined"), node.left, node.right))
        if isinstance(node.op, ast.Mult):  # `[x] * 3`
            for items, n in ((node.left, node.right), (node.right, node.left)):
                if is_list(items, self.lists):
                    return self.flat(core.call(core.name("@repetition"), items, n))
        if isinstance(node.op, ast.BitOr):  # numbers with a derivative have no bits: of dicts
            return self.flat(core.call(core.name("@merged"), node.left, node.right))
        left = self.atom(node.left)
        return ast.BinOp(left, node.op, self.atom(node.right))

    def flat_Attribute(self, node: ast.Attribute) -> ast.expr:
        return ast.Attribute(self.atom(node.value), node.attr, ast.Load())

    def flat_Subscript(self, node: ast.Subscript) -> ast.expr:
        value = self.atom(node.value)
        taken = ast.Subscript(value, self.index(node.slice), ast.Load())
        if getattr(node, "changing", False):
            taken.changing = True  # type: ignore[attr-defined]
        return taken

    def index(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Tuple):
            return core.tuple_of([self.index(e) for e in node.elts])
        if isinstance(node, ast.Slice):
            return node
        return self.atom(node) if not self.active(node) else node

    def flat_Call(self, node: ast.Call) -> ast.expr:
        node = without_filter(node, self.resolver.object(node.func), lambda test: False)
        f: ast.expr = node.func
        if isinstance(f, ast.Attribute) and self.active(f.value):
            f = ast.Attribute(self.atom(f.value), f.attr, ast.Load())
        elif self.active(f):
            f = self.atom(f)
        elif not isinstance(f, ast.Name | ast.Attribute):
            f = self.atom(f)
        args: list[ast.expr] = []
        given, named = node.args, [k.value for k in node.keywords]
        helper = isinstance(f, ast.Name) and f.id.startswith("@")  # of containers, too
        if not helper and takes_arrays(self.resolver.object(node.func)):
            given, named = self.arrays(given), self.arrays(named)
        if sum(isinstance(a, ast.Starred) for a in given) > 1:
            given = [ast.Starred(ast.List(list(given), ast.Load()), ast.Load())]
        if not helper and self.may_be_view(f):
            self.check_handed_on([*given, *named])
        for a in given:
            if isinstance(a, ast.Tuple | ast.List) and not any(
                isinstance(e, ast.Starred) for e in a.elts
            ):
                args.append(type(a)([self.atom(e) for e in a.elts], ast.Load()))
            elif (
                isinstance(a, ast.Subscript)
                and isinstance(a.value, ast.Name)
                and a.value.id == "@at"
            ):
                args.append(a)
            else:
                args.append(self.atom(a))
        keywords = [
            ast.keyword(k.arg, self.atom(v)) for k, v in zip(node.keywords, named, strict=True)
        ]
        return ast.copy_location(ast.Call(f, args, keywords), node)

    def check_handed_on(self, given: list[ast.expr]) -> None:
        """Refuse to hand on an array that is stored into later, and perhaps by the function."""
        for a in given:
            if getattr(a, "in_place", False):
                raise Refusal(
                    f"{ast.unparse(a)} is changed where it stands, and the derivative needs its "
                    "values of before",
                    f"Hand on a copy of it: `{ast.unparse(a)}.copy()`.",
                    a,
                    recordable=True,
                )

    def arrays(self, operands: list[ast.expr]) -> list[ast.expr]:
        """Operands of a function of arrays, with arrays in place of lists with a derivative."""
        return [as_array(a) if is_list(a, self.lists) and self.active(a) else a for a in operands]

    def elements(self, node: ast.Tuple | ast.List) -> ast.expr:
        if any(isinstance(e, ast.Starred) for e in node.elts):
            return self.joined(node)
        return type(node)([self.atom(e) for e in node.elts], ast.Load())

    flat_Tuple = flat_List = elements

    def joined(self, node: ast.Tuple | ast.List) -> ast.expr:
        """`[*a, b]` is `list(a) + [b]`."""
        kind = "list" if isinstance(node, ast.List) else "tuple"
        total: ast.expr | None = None
        run: list[ast.expr] = []
        pieces: list[ast.expr] = []
        for e in node.elts:
            if isinstance(e, ast.Starred):
                if run:
                    pieces.append(type(node)(run, ast.Load()))
                    run = []
                pieces.append(core.call(core.name(kind), e.value))
            else:
                run.append(e)
        if run:
            pieces.append(type(node)(run, ast.Load()))
        for piece in pieces:
            total = piece if total is None else core.call(core.name("@joined"), total, piece)
        assert total is not None
        return self.flat(total)

    def flat_Dict(self, node: ast.Dict) -> ast.expr:
        if None in node.keys:
            return self.merged(node)
        return ast.Dict(node.keys, [self.atom(v) for v in node.values])

    def merged(self, node: ast.Dict) -> ast.expr:
        """`{**a, "k": v}` is a copy of a with items set."""
        total: ast.expr | None = None
        for k, v in zip(node.keys, node.values, strict=True):
            if k is None:
                total = v if total is None else core.call(core.name("@merged"), total, v)
            else:
                total = core.call(core.name("@set_item"), total or ast.Dict([], []), k, v)
        assert total is not None
        return self.flat(total)

    def flat_IfExp(self, node: ast.IfExp) -> ast.expr:
        test = self.test(node.test)
        outer, self.out = self.out, []
        then = self.atom(node.body)
        first, self.out = tuple(self.out), []
        orelse = self.atom(node.orelse)
        second, self.out = tuple(self.out), outer
        held = self.names.fresh("value")
        self.activity.names.add(held)
        self.emit(If(test, first, second, (Merge(held, then, orelse),), core.NOWHERE))
        return core.name(held)

    def flat_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        first = self.atom(node.values[0])
        if len(node.values) == 1:
            return first
        rest = ast.BoolOp(node.op, node.values[1:]) if len(node.values) > 2 else node.values[1]
        if isinstance(node.op, ast.And):
            return self.flat_IfExp(ast.IfExp(first, rest, first))
        return self.flat_IfExp(ast.IfExp(first, first, rest))

    def comprehension(self, node: ast.ListComp | ast.GeneratorExp | ast.DictComp) -> ast.expr:
        empty: ast.expr = (
            ast.Dict([], []) if isinstance(node, ast.DictComp) else ast.List([], ast.Load())
        )
        stem = "mapping" if isinstance(node, ast.DictComp) else "items"
        out, block = self.generator(node, list(node.generators), empty, stem, {})
        for s in Pairs(self.resolver, self.names).block(block):
            self.activity.statement(s)
            self.statement(s)
        return core.name(out)

    flat_ListComp = flat_GeneratorExp = flat_DictComp = comprehension

    def generator(
        self,
        node: ast.ListComp | ast.GeneratorExp | ast.DictComp,
        generators: list[ast.comprehension],
        start: ast.expr,
        stem: str,
        table: dict[str, ast.expr],
    ) -> tuple[str, Block]:
        """A comprehension as a loop that appends."""
        if not generators:
            new = self.names.fresh(stem)
            if isinstance(node, ast.DictComp):
                key, value = core.substitute(node.key, table), core.substitute(node.value, table)
                grown = core.call(core.name("@set_item"), start, key, value)
            else:
                grown = core.call(core.name("@appended"), start, core.substitute(node.elt, table))
            return new, (Assign(new, grown, core.NOWHERE),)
        g, rest = generators[0], generators[1:]
        items = core.substitute(g.iter, table)
        table = dict(table)

        def rename(n: str) -> str:
            fresh = self.names.fresh(n)
            table[n] = core.name(fresh)
            return fresh

        target = core.map_pattern(rename, pattern_of(g.target))
        inside, after = self.names.fresh(stem), self.names.fresh(stem)
        last, body = self.generator(node, rest, core.name(inside), stem, table)
        for condition in reversed(g.ifs):
            merged = self.names.fresh(stem)
            test = core.substitute(condition, table)
            merge = Merge(merged, core.name(last), core.name(inside))
            body, last = (If(test, body, (), (merge,), core.NOWHERE),), merged
        carry = core.Carry(inside, start, core.name(last), after)
        origin = replace(self.origin, comment="", above=())
        return after, (For(target, items, (carry,), body, None, origin),)

    def iterable(self, target: core.Pattern, items: ast.expr) -> ast.expr:
        """The loop's iterable with each active part of it by name."""
        if is_reversed_record(items):
            return items
        if isinstance(items, ast.Call) and iterated(target, items, self.resolver) != [
            (target, items)
        ]:
            args = [self.iterable_part(a) for a in items.args]
            return ast.Call(items.func, args, items.keywords)
        return self.iterable_part(items)

    def iterable_part(self, items: ast.expr) -> ast.expr:
        record = filled_record(items)
        if record is not None and self.resolver.object(record.func) is materialize:
            return core.call(ast.Attribute(self.atom(record), "reversed", ast.Load()))
        if is_reversed_record(items):
            return items
        fn = self.resolver.object(items.func) if isinstance(items, ast.Call) else None
        starred = isinstance(items, ast.Call) and any(
            isinstance(a, ast.Starred) for a in items.args
        )
        if isinstance(items, ast.Call) and fn in (zip, enumerate, reversed) and not starred:
            return ast.Call(items.func, [self.iterable_part(a) for a in items.args], items.keywords)
        return self.atom(items) if self.active(items) else items


def filled_record(items: ast.expr) -> ast.Call | None:
    """The record that a loop runs over in `materialize(bars, saved).reversed()`."""
    match items:
        case ast.Call(ast.Attribute(ast.Call() as record, "reversed"), []):
            return record
    return None


def is_cheap(node: ast.expr, operations: int = 2) -> bool:
    """Whether evaluating an expression again gives the same, is cheap and reads well.

    It has at most so many `operations` in a row.
    """
    if getattr(node, "changing", False):
        return False
    if isinstance(node, ast.Name | ast.Constant):
        return True
    if isinstance(node, ast.Attribute):
        return is_cheap(node.value)
    if isinstance(node, ast.UnaryOp):
        return is_cheap(node.operand)
    if isinstance(node, ast.BinOp):
        plain = not isinstance(node.op, ast.MatMult)
        parts = is_cheap(node.left, operations) and is_cheap(node.right, operations)
        return plain and parts and depth(node) <= operations
    if isinstance(node, ast.Subscript):
        return is_cheap(node.value) and not any(
            isinstance(n, ast.Call) for n in ast.walk(node.slice)
        )
    if isinstance(node, ast.Tuple | ast.List):
        return all(is_cheap(e) for e in node.elts)
    return False


def depth(node: ast.AST) -> int:
    inner = [depth(c) for c in ast.iter_child_nodes(node)]
    return isinstance(node, ast.BinOp) + max(inner, default=0)
