"""Emit: core form to the text of a module."""

from __future__ import annotations

import ast
import copy
import sys
from collections.abc import Iterator
from pathlib import PurePath

from overt.rewrites import core
from overt.rewrites.core import Assign, Define, Do, For, Function, If, Note, While, With
from overt.rewrites.lines import WIDTH, Lines, placed
from overt.rewrites.liveness import uses_of
from overt.rewrites.naming import give_names
from overt.rewrites.placeholders import joins, own_reads, recorded_names, records_of
from overt.rewrites.printing import Printer
from overt.rewrites.pushes import is_push
from overt.rewrites.two_numpys import may_be_ours


class Emitter(Lines):
    """Prints one function; `imports` collects the runtime names that its text uses."""

    def __init__(
        self,
        function: Function,
        outer: dict[str, str],
        imports: set[str],
        others: frozenset[str] = frozenset(),
    ) -> None:
        self.function, self.imports, self.others = function, imports, others
        self.outer = outer
        captured = {outer[n] for n in core.free_of_function(function) if n in outer}
        self.names = {**outer, **give_names(function, captured)}
        super().__init__(Printer(self.rename), function.origin)
        self.uses = uses_of(function)
        self.loops = 0  # how many loops are around the statement being printed
        self.recorded = recorded_names(function)
        self.put_away = {self.rename(n) for n in records_of(function)}
        # names that are given another name on the way, so must be there even where they mean
        # nothing yet
        self.copied = {
            self.rename(v.id)
            for target, v in joins(function.body)
            if isinstance(v, ast.Name)
            and core.is_local(v.id)
            and self.rename(v.id) != self.rename(target)
        }

    def rename(self, name: str) -> str:
        if name.startswith("@"):
            free = name[1:]
            while free in self.others:  # the user has something else of this name
                free += "_"
            self.imports.add(name[1:] if free == name[1:] else f"{name[1:]} as {free}")
            return free
        if name == core.UNDEFINED:
            self.imports.add(name)
        return self.names.get(name, name)

    # --- functions

    def emit(self) -> list[str]:
        f = self.function
        self.above(f.origin)
        for decorator in f.decorators:
            self.line(f"@{self.printer.text(decorator)}")
        self.line(f"def {f.name}({self.params()}):", f.origin.comment)
        self.depth += 1
        if f.doc:
            self.docstring(f.doc)
        start = len(self.lines)
        self.block(f.body, f.result)
        self.origin = f.result_origin
        if not (
            isinstance(f.result, ast.Constant)
            and f.result.value is None
            and len(self.lines) > start
        ):
            self.above(f.result_origin)
            if isinstance(f.result, ast.Constant) and f.result.value is None:
                self.line("return None")
            else:
                self.statement(
                    "return ", f.result, self.printer.bare(f.result), f.result_origin.comment
                )
        self.depth -= 1
        return self.lines

    def docstring(self, doc: str) -> None:
        quoted = doc.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
        lines = quoted.split("\n")
        self.lines.append(
            "    " * self.depth + '"""' + lines[0] + ('"""' if len(lines) == 1 else "")
        )
        if len(lines) > 1:
            self.lines += lines[1:-1]
            last = lines[-1]
            self.lines.append(last + '"""' if last.strip() else "    " * self.depth + '"""')

    def params(self) -> str:
        shown, starred = [], False
        params = self.function.params
        for i, p in enumerate(params):
            text = self.rename(p.name)
            if p.default is not None:
                text += f"={self.printer.text(p.default, 2)}"
            if p.kind == "star":
                text, starred = "*" + text, True
            elif p.kind == "double star":
                text = "**" + text
            elif p.kind == "keyword" and not starred:
                shown.append("*")
                starred = True
            shown.append(text)
            after = params[i + 1].kind if i + 1 < len(params) else ""
            if p.kind == "positional" and after != "positional":
                shown.append("/")
        return ", ".join(shown)

    # --- statements

    def block(self, block: core.Block, result: ast.expr | None = None) -> None:
        self.spell_lambdas(block, result)
        for s in with_comments_first(block):
            self.origin = s.origin
            if isinstance(s, Define) and s.name in self.printer.spelled:
                continue
            getattr(self, f"on_{type(s).__name__}")(s)

    def spell_lambdas(self, block: core.Block, result: ast.expr | None) -> None:
        """Lambdas that the user wrote where they are used, and not as statements, stay there."""
        reads = [(s.origin.line, own_reads(s)) for s in block if not isinstance(s, Define)]
        if result is not None:
            reads.append((self.function.result_origin.line, core.reads(result)))
        for s in block:
            if not isinstance(s, Define) or not s.origin.line or s.origin.comment:
                continue
            f = s.function
            if not f.is_lambda or f.body or any(p.default is not None for p in f.params):
                continue
            if self.uses[s.name] == 1 and any(
                line == s.origin.line and s.name in names for line, names in reads
            ):
                self.printer.spelled[s.name] = self.lambda_text(f)

    def lambda_text(self, f: Function) -> str:
        inner = Emitter(f, self.names, self.imports, self.others)
        params = inner.params()
        return f"lambda{' ' if params else ''}{params}: {inner.printer.text(f.result, 2)}"

    def nested(self, block: core.Block, after: list[tuple[str, ast.expr]] = ()) -> None:  # type: ignore
        self.depth += 1
        start = len(self.lines)
        self.block(block)
        self.copies(after)
        if len(self.lines) == start:
            self.line("pass")
        self.depth -= 1

    def copies(self, pairs: list[tuple[str, ast.expr]]) -> None:
        """Assignments made all at once; those that change nothing are left out."""
        shown = []
        for target, value in pairs:
            if self.is_unset(target, value):
                continue
            text = self.printer.text(value)
            if self.rename(target) != text:
                shown.append((self.rename(target), text, value))
        targets = {t for t, _, _ in shown}
        if len(shown) > 1 and any(
            core.reads(v) and {self.rename(n) for n in core.reads(v)} & (targets - {t})
            for t, _, v in shown
        ):
            left = ", ".join(t for t, _, _ in shown)
            self.line(f"{left} = {', '.join(text for _, text, _ in shown)}")
            return
        unset = [t for t, text, _ in shown if text == core.UNDEFINED]
        for target, text, value in shown:
            if text != core.UNDEFINED:
                self.statement(f"{target} = ", value, text, "")
        while unset:
            held = unset[:1]
            while len(held) < len(unset) and len(" = ".join(unset[: len(held) + 1])) <= 60:
                held.append(unset[len(held)])
            unset = unset[len(held) :]
            self.line(" = ".join([*held, core.UNDEFINED]))

    def target(self, pattern: core.Pattern, top: bool = True) -> str:
        if isinstance(pattern, str):
            return self.rename(pattern)
        if pattern and pattern[0] == "*" and len(pattern) == 2:
            return "*" + self.target(pattern[1])
        shown = ", ".join(self.target(p, False) for p in pattern)
        if len(pattern) == 1:
            return f"({shown},)"
        return shown if top else f"({shown})"

    def on_Assign(self, s: Assign) -> None:
        if isinstance(s.target, str) and isinstance(s.value, ast.Name):
            if self.rename(s.target) == self.rename(s.value.id):
                return
        self.above(s.origin)
        if self.loops and isinstance(s.target, str) and is_push(s.value):
            holder = s.value.func.value  # type: ignore[attr-defined]
            if isinstance(holder, ast.Name) and self.rename(holder.id) == self.rename(s.target):
                pushed = ast.Attribute(holder, "push", ast.Load())
                grown = ast.Call(pushed, s.value.args, [])  # type: ignore[attr-defined]
                self.statement("", grown, self.printer.text(grown), s.origin.comment)
                return
        target = self.target(s.target)
        if isinstance(s.target, tuple) and isinstance(s.value, ast.Name):
            tail = f") = {self.rename(s.value.id)}"
            if 4 * self.depth + len(target) + len(tail) > WIDTH:
                self.filled("(", [self.target(t, False) for t in s.target], tail, s.origin.comment)
                return
        self.assignment(target, s.value, s.origin)

    def on_Do(self, s: Do) -> None:
        self.above(s.origin)
        if isinstance(s.node, ast.Expr):
            text = self.printer.text(s.node.value)
            self.statement("", s.node.value, text, s.origin.comment)
            return

        rename, printer = self.rename, self.printer
        if isinstance(s.node, ast.Assign):
            target = printer.text(s.node.targets[0])
            self.assignment(target, s.node.value, s.origin)
            return
        if isinstance(s.node, ast.Assert):
            text = f"assert {printer.text(s.node.test)}"
            text += f", {printer.text(s.node.msg)}" if s.node.msg else ""
            self.line(text, s.origin.comment)
            return

        if isinstance(s.node, ast.Raise):
            text = f"raise {printer.text(s.node.exc)}" if s.node.exc else "raise"
            text += f" from {printer.text(s.node.cause)}" if s.node.cause else ""
            self.line(text, s.origin.comment)
            return

        class Rename(ast.NodeTransformer):
            def visit_Name(self, n: ast.Name) -> ast.Name:
                return ast.Name(rename(n.id), n.ctx)

            def visit_ExceptHandler(self, n: ast.ExceptHandler) -> ast.AST:
                self.generic_visit(n)
                n.name = rename(n.name) if n.name else n.name
                return n

        text = ast.unparse(ast.fix_missing_locations(Rename().visit(copy.deepcopy(s.node))))
        for i, part in enumerate(text.splitlines()):
            self.line(part, s.origin.comment if i == 0 else "")

    def on_Note(self, s: Note) -> None:
        self.line(s.text)

    def on_If(self, s: If) -> None:
        self.above(s.origin)
        then = [(m.name, m.then) for m in s.merges]
        orelse = [(m.name, m.orelse) for m in s.merges]
        if self.is_ternary(s):
            (m,) = s.merges
            value = ast.IfExp(s.test, m.then, m.orelse)
            self.assignment(self.rename(m.name), value, s.origin)
            return
        if not (s.then or s.orelse or self.needs_copies(then) or self.needs_copies(orelse)):
            return
        test, swapped = self.visible_test(s, then, orelse)
        self.line(f"if {test}:", s.origin.comment)
        sides = [(s.then, then), (s.orelse, orelse)]
        if swapped:
            sides.reverse()
        self.nested(*sides[0])
        mark = len(self.lines)
        block, after = sides[1]
        if len(block) == 1 and isinstance(block[0], If) and not self.needs_copies(after):
            self.on_If(block[0])
            if len(self.lines) > mark and not self.lines[mark].strip().startswith("if "):
                self.redo(mark, block, after)
            elif len(self.lines) > mark:
                first = self.lines[mark]
                indent = len(first) - len(first.lstrip())
                self.lines[mark] = placed(first[:indent] + "el" + first[indent:], block[0].origin)
            return
        self.redo(mark, block, after)

    def redo(self, mark: int, block: core.Block, after: list[tuple[str, ast.expr]]) -> None:
        del self.lines[mark:]
        self.line("else:")
        self.nested(block, after)
        if self.lines[mark + 1 :] == ["    " * (self.depth + 1) + "pass"]:
            del self.lines[mark:]

    def needs_copies(self, pairs: list[tuple[str, ast.expr]]) -> bool:
        return any(
            not self.is_unset(t, v) and self.rename(t) != self.printer.text(v) for t, v in pairs
        )

    def is_unset(self, target: str, value: ast.expr) -> bool:
        """Whether a name is simply not set: a placeholder is written only where it will be read."""
        if not isinstance(value, ast.Name):
            return False
        name = self.rename(target)
        if core.is_placeholder(value):
            return target not in self.recorded and name not in self.copied
        return value.id == core.UNDEFINED and name not in self.copied | self.put_away

    def is_ternary(self, s: If) -> bool:
        return (
            not s.then
            and not s.orelse
            and len(s.merges) == 1
            and not any(is_undefined(v) for m in s.merges for v in (m.then, m.orelse))
            and all(
                self.rename(m.name) != self.printer.text(v)
                for m in s.merges
                for v in (m.then, m.orelse)
            )
        )

    def visible_test(self, s: If, then: list, orelse: list) -> tuple[str, bool]:  # type: ignore
        """The test's text; turned round if only the other side has statements."""
        empty = not s.then and not self.needs_copies(then)
        if empty and (s.orelse or self.needs_copies(orelse)):
            from overt.rewrites.exits import negated

            return self.printer.text(negated(s.test)), True
        return self.printer.text(s.test), False

    def on_For(self, s: For) -> None:
        self.above(s.origin)
        self.copies([(c.name, c.init) for c in s.carries])
        items, comment = self.printer.text(s.items), s.origin.comment
        head = f"for {self.target(s.target)} in {items}:"
        room = WIDTH - 4 * self.depth
        if comment and len(head) + 2 + len(comment) > room:
            self.line(comment)
            comment = ""
        if len(head) > room and isinstance(s.target, tuple):
            self.filled("for (", [self.target(t, False) for t in s.target], f") in {items}:")
        else:
            self.line(head, comment)
        self.body(s)

    def on_While(self, s: While) -> None:
        self.above(s.origin)
        self.copies([(c.name, c.init) for c in s.carries])
        self.line(f"while {self.printer.text(s.test)}:", s.origin.comment)
        self.body(s)

    def body(self, s: For | While) -> None:
        self.loops += 1
        self.nested(s.body, [(c.name, c.next) for c in s.carries])
        self.loops -= 1
        if s.until is not None:
            self.depth += 1
            self.line(f"if {self.printer.text(s.until)}:")
            self.depth += 1
            self.line("break")
            self.depth -= 2
        self.copies([(c.out, core.name(c.name)) for c in s.carries])

    def on_With(self, s: With) -> None:
        self.above(s.origin)
        shown = []
        for item in s.items:
            text = self.printer.text(item.context_expr)
            if item.optional_vars is not None:
                text += f" as {self.printer.text(item.optional_vars)}"
            shown.append(text)
        self.line(f"with {', '.join(shown)}:", s.origin.comment)
        self.nested(s.body)

    def on_Define(self, s: Define) -> None:
        if s.origin.above != s.function.origin.above:
            self.above(s.origin)
        name = self.rename(s.name)
        inner = Emitter(core.replace(s.function, name=name), self.names, self.imports, self.others)
        if s.function.is_lambda and not s.function.body:
            self.line(f"{name} = {self.lambda_text(s.function)}", s.origin.comment)
            return
        last = self.lines[-1].partition("  #")[0].rstrip() if self.lines else ""
        if last and not last.endswith(":"):
            self.lines.append("")
        for text in inner.emit():
            origin = getattr(text, "origin", core.NOWHERE)
            self.lines.append(placed("    " * self.depth + text if text else "", origin))
        self.lines.append("")


def with_comments_first(block: core.Block) -> Iterator[core.Stmt]:
    """The statements; a comment above one that was split up stands above the first of its parts."""
    parts: list[core.Stmt] = []
    for s in block:
        if isinstance(s, Assign) and core.is_part(s.origin):
            parts.append(s)
            continue
        if parts and s.origin.above and isinstance(s, Assign | If | For | While):
            yield from (Note(text, s.origin) for text in s.origin.above)
            s = core.replace(s, origin=core.replace(s.origin, above=()))
        yield from parts
        parts = []
        yield s
    yield from parts


def is_undefined(value: ast.expr) -> bool:
    return isinstance(value, ast.Name) and value.id == core.UNDEFINED


Origins = list[core.Origin]


def function_text(
    function: Function,
    imports: set[str],
    origins: Origins | None = None,
    others: frozenset[str] = frozenset(),
) -> str:
    """The text of one top-level function.

    The runtime names it uses are added to `imports`, each line's origin to `origins`.
    """
    used: set[str] = set()
    lines = Emitter(function, {}, used, others).emit()
    if not any(core.UNDEFINED in line for line in lines):  # only asked for on the way
        used.discard(core.UNDEFINED)
    imports |= used
    while lines and not lines[-1].strip():
        lines.pop()
    if origins is not None:
        origins += [getattr(line, "origin", core.NOWHERE) for line in lines]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def module_text(source: core.Source, header: str = "", origins: Origins | None = None) -> str:
    """The text of a module, header and imports first; `origins` collects each line's origin."""
    ours = {"np"} if np_is_ours(source) else set()
    others = frozenset(
        n
        for f in source.functions
        for n in {f.name, *core.all_names(f)} - ours
        if not core.is_local(n) and not n.startswith("@") and n != core.UNDEFINED
    )
    others |= set().union(*map(parameter_names, source.functions)) - ours
    imports: set[str] = set()
    parts, tables = [], []
    for f in source.functions:
        table: Origins = []
        parts.append(function_text(f, imports, table, others))
        tables.append(table)
    block = import_block(source, imports)
    head = f'"""{header}"""\n\n' if header else ""
    head += f"{block}\n\n" if block else "\n" if header else ""
    if origins is not None:
        origins += [core.NOWHERE] * head.count("\n")
        for i, table in enumerate(tables):
            origins += [core.NOWHERE] * (2 if i else 0) + table
    return head + "\n\n".join(parts)


def np_is_ours(source: core.Source) -> bool:
    """Whether `np` may mean our NumPy in all of the text, which then has what is asked of it."""
    module = source.namespace.get("np")
    if getattr(module, "__name__", "overt.numpy") == "overt.numpy":
        return True
    return may_be_ours(source.functions, "np")


def parameter_names(function: Function) -> set[str]:
    """The names of the parameters of a function and of those nested in it, which keep them."""
    found = {core.base(p.name) for p in function.params}
    for s in core.walk(function.body):
        if isinstance(s, Define):
            found |= parameter_names(s.function)
    return found


def import_block(source: core.Source, names: set[str]) -> str:
    """The imports of a module: standard library, installed packages, the user's module."""
    lines = set(source.imports)
    if "np" in names:
        lines = {line for line in lines if not line.endswith(" as np")} | {
            "import overt.numpy as np"
        }
    renamed = {n for n in names if n.startswith("np as ")}  # the user's np is another module
    lines |= {f"import overt.numpy as {n.removeprefix('np as ')}" for n in renamed}
    runtime = sorted(names - renamed - {"np"}, key=str.lower)
    if runtime:
        line = f"from overt.runtime import {', '.join(runtime)}"
        if len(line) > WIDTH:
            line = "from overt.runtime import (\n" + "".join(f"    {n},\n" for n in runtime) + ")"
        lines.add(line)
    own = PurePath(source.file).stem
    groups: list[list[str]] = [[], [], []]
    for line in sorted(lines, key=lambda line: (line.startswith("from"), line)):
        top = line.split()[1].partition(".")[0]
        place = 0 if top in sys.stdlib_module_names else 2 if top == own else 1
        groups[place].append(line)
    return "\n\n".join("\n".join(group) for group in groups if group) + ("\n" if lines else "")
