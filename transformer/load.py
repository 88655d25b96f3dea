"""Load: a live function to its syntax tree, its namespace and the origin of every line.

The file is read through `linecache`, so functions of notebooks and of generated modules load as
well.
"""

from __future__ import annotations

import ast
import functools
import inspect
import io
import linecache
import re
import tokenize
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from overt.rewrites import core, memory, normalize
from overt.rewrites.aliasing import check_aliases
from overt.rewrites.core import NOWHERE, Origin
from overt.rewrites.members import fields_of_tuples, operators_in_place
from overt.rewrites.numpy_receivers import as_functions
from overt.rewrites.refusal import Refusal
from overt.rewrites.rules import Resolver, our_function
from overt.rewrites.scopes import nodes_at
from overt.rewrites.sharing import MAKERS
from overt.runtime.containers import COPIED
from overt.runtime.ownership import is_users, is_users_file, is_users_module
from overt.runtime.saved import Saved
from overt.runtime.special_methods import original
from overt.runtime.undefined import UndefinedValue
from overt.runtime.world import is_users_object
from overt.transformer.call_kinds import kind_of_call
from overt.transformer.dependencies import ATOMS, MISSING, RECORD


@dataclass(frozen=True)
class File:
    """A parsed file: its tree, its lines and its comments."""

    name: str
    lines: tuple[str, ...]
    tree: ast.Module
    comments: Mapping[int, str]

    def origin(self, line: int) -> Origin:
        """The origin of the statement that starts in a line (counted from 1)."""
        if not 1 <= line <= len(self.lines):
            return NOWHERE
        own = self.comments.get(line, "")
        if own and self.lines[line - 1].lstrip().startswith("#"):
            own = ""
        above: list[str] = []
        n = line - 1
        while n >= 1 and self.lines[n - 1].lstrip().startswith("#"):
            above.insert(0, self.lines[n - 1].strip())
            n -= 1
        return Origin(self.name, line, self.lines[line - 1], own, tuple(above))


_files: dict[str, tuple[tuple[str, ...], File]] = {}


def read_file(name: str, module_globals: dict[str, Any] | None = None) -> File:
    """Parse a file, once for each text that it has."""
    linecache.checkcache(name)
    lines = tuple(linecache.getlines(name, module_globals))
    known = _files.get(name)
    if known is not None and known[0] == lines:
        return known[1]
    if not lines:
        raise OSError(f"no source text for {name!r}")
    text = "".join(lines)
    tree = ast.parse(text)
    comments = {}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            comments[token.start[0]] = token.string
    file = File(name, tuple(line.rstrip("\n") for line in lines), tree, comments)
    _files[name] = (lines, file)
    return file


def keep_number_texts(tree: ast.AST, lines: tuple[str, ...]) -> None:
    """Remember how each float was written, so that `1e-6` is not printed as `1e-06`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, float | complex):
            line = lines[node.lineno - 1]
            if node.lineno == node.end_lineno and line.isascii():
                node.text = tidy(line[node.col_offset : node.end_col_offset])  # type: ignore[attr-defined]


def tidy(number: str) -> str:
    """A number as a formatter writes it.

    >>> tidy("3."), tidy(".5"), tidy("1E-6"), tidy("2.j")
    ('3.0', '0.5', '1e-6', '2.0j')
    """
    number = re.sub(r"^\.", "0.", number.lower())
    return re.sub(r"\.(?=e|j|$)", ".0", number)


@dataclass(frozen=True)
class Loaded:
    """A function's tree with what is needed to read it."""

    function: types.FunctionType
    node: ast.FunctionDef | ast.Lambda
    file: File

    @property
    def namespace(self) -> Namespace:
        return Namespace(self.function)


class Namespace(Mapping[str, Any]):
    """The names that a function sees: its closure, its module's globals, the builtins, all live."""

    def __init__(self, function: types.FunctionType) -> None:
        self.code = function.__code__
        self.globals = function.__globals__
        self.cells = dict(
            zip(function.__code__.co_freevars, function.__closure__ or (), strict=False)
        )

    def __getitem__(self, name: str) -> Any:
        record = RECORD.get()
        if record is None:
            return self.find(name)
        try:
            value = self.find(name)
        except KeyError:
            record.note(self.code, name, MISSING)
            raise
        record.note(self.code, name, value)
        return value

    def attribute(self, holder: Any, name: str) -> Any:
        """An attribute of a module or class that was found here; None if it has none."""
        value = getattr(holder, name, None)
        record = RECORD.get()
        if record is not None:
            record.note_attribute(holder, name, value)
        return value

    def find(self, name: str) -> Any:
        """What a name means."""
        if name in self.cells:
            try:
                return self.cells[name].cell_contents
            except ValueError:
                raise KeyError(name) from None
        if name in self.globals:
            return self.globals[name]
        builtins = self.globals.get("__builtins__", {})
        table = builtins if isinstance(builtins, dict) else vars(builtins)
        return table[name]

    def __iter__(self):  # type: ignore[no-untyped-def]
        return iter({**self.globals, **self.cells})

    def __len__(self) -> int:
        return len({**self.globals, **self.cells})


def load(function: Callable[..., Any]) -> Loaded:
    """Find the source of a Python function (not of a wrapper: unwrap it first)."""
    if not isinstance(function, types.FunctionType):
        raise Refusal(
            f"{function!r} is not a Python function, so it has no source to rewrite",
            "Wrap it in a function, or give it a rule with `overt.custom_vjp` or "
            "`overt.custom_jvp`.",
        )
    code = function.__code__
    try:
        file = read_file(code.co_filename, function.__globals__)
    except (OSError, SyntaxError) as error:
        raise Refusal(
            f"the source of {function.__qualname__!r} cannot be read ({error})",
            "Define it in a file or in a notebook cell.",
        ) from None
    node = find_node(file, code)
    if not hasattr(node, "texts_kept"):
        keep_number_texts(node, file.lines)
        node.texts_kept = True  # type: ignore[union-attr]
    return Loaded(function, node, file)


def find_node(file: File, code: types.CodeType) -> ast.FunctionDef | ast.Lambda:
    kind: type = ast.Lambda if code.co_name == "<lambda>" else ast.FunctionDef
    found: list[Any] = []
    for node in nodes_at(file.tree, code.co_firstlineno):
        if isinstance(node, kind):
            decorators = getattr(node, "decorator_list", ())
            first = min([node.lineno, *(d.lineno for d in decorators)])
            if first == code.co_firstlineno and (kind is ast.Lambda or node.name == code.co_name):
                found.append(node)
        elif isinstance(node, ast.AsyncFunctionDef) and node.name == code.co_name:
            refusal = Refusal("an async function cannot be rewritten", "Write it without `async`.")
            raise refusal.located(file.name, node.lineno, file.lines[node.lineno - 1])
    if len(found) > 1:
        found = narrowest([n for n in found if same_code(n, code)]) or found
    if not found:
        raise Refusal(
            f"the source of {code.co_name!r} is not at line {code.co_firstlineno} of {file.name}",
            "Was the file changed after it was imported?",
        )
    if len(found) > 1 and len({ast.dump(n) for n in found}) > 1:
        raise Refusal(
            f"several functions stand in line {code.co_firstlineno} of {file.name}",
            "Put each lambda on a line of its own.",
            found[0],
        ).located(file.name, found[0].lineno, file.lines[found[0].lineno - 1])
    return found[0]


def narrowest(nodes: list[Any]) -> list[Any]:
    """Of lambdas within lambdas the innermost, of others all."""
    return [n for n in nodes if not any(inner is not n and inner in ast.walk(n) for inner in nodes)]


def same_code(node: ast.Lambda, code: types.CodeType) -> bool:
    """Whether a lambda was compiled to `code`: its body stands at the same place."""
    body = node.body
    start, end = (body.lineno, body.col_offset), (body.end_lineno, body.end_col_offset)
    spans = [
        ((line, column), (last, until))
        for line, last, column, until in code.co_positions()
        if None not in (line, last, column, until) and (line, column) != (last, until)
    ]
    return bool(spans) and min(a for a, _ in spans) >= start and max(b for _, b in spans) <= end


def core_of(loaded: Loaded, changed: bool = False) -> core.Function:
    """The function in core form; a refusal gets its place.

    `changed` says that its tree is not the one that was read.
    """
    resolver = Resolver(loaded.namespace)
    text = text_of(loaded, resolver)

    def makes_array(callee: ast.expr) -> bool:
        return getattr(our_function(resolver.object(callee)), "__name__", "") in MAKERS

    try:
        code = loaded.function.__code__
        made = memory.known("core form", code) if not (changed or code.co_freevars) else None
        function = as_defined(made or normalize.normalize(loaded.node, text), loaded.function)
        function = as_functions(function, resolver)
        load = functools.partial(called_by, resolver)
        if not resolver.namespace.cells:
            load.space = resolver.namespace.globals  # type: ignore[attr-defined]
        members = functools.partial(members_of, resolver)
        kind = functools.partial(kind_of_call, resolver)
        values = functools.partial(function_values, resolver)
        data = functools.partial(kind_of_data, resolver)
        return check_aliases(function, makes_array, load, members, kind, values, data)
    except Refusal as refusal:
        line = refusal.line or loaded.node.lineno
        raise refusal.located(loaded.file.name, line, loaded.file.lines[line - 1]) from None


def as_defined(function: core.Function, fn: types.FunctionType) -> core.Function:
    """The function with the default values that it has now, where they are numbers or texts."""
    values = default_values(fn)

    def now(p: core.Param) -> core.Param:
        written, value = p.default, values.get(core.base(p.name), MISSING)
        if not isinstance(written, ast.Constant):
            return p
        if type(value) is type(written.value) and repr(value) == repr(written.value):
            return p
        if isinstance(value, ATOMS):
            return replace(p, default=ast.Constant(value))
        return replace(p, default=ast.Name("object", ast.Load()))  # whatever it is

    return replace(function, params=tuple(map(now, function.params)))


def default_values(fn: types.FunctionType) -> dict[str, Any]:
    """The default values that a function's parameters have now."""
    named = fn.__code__.co_varnames[: fn.__code__.co_argcount]
    values = dict(zip(reversed(named), reversed(fn.__defaults__ or ()), strict=False))
    return values | (fn.__kwdefaults__ or {})


def definition_of(fn: types.FunctionType) -> ast.FunctionDef | None:
    """The `def` of a function; None for a lambda, and where the source cannot be read."""
    try:
        node = load(fn).node
    except Refusal:
        return None
    return node if isinstance(node, ast.FunctionDef) else None


def text_of(loaded: Loaded, resolver: Resolver) -> normalize.Text:
    """What the function's file says of its names."""

    def definition(name: str) -> ast.FunctionDef | None:
        """A function of the same file that another calls by its name."""
        fn = resolver.object(core.name(name))
        if not isinstance(fn, types.FunctionType) or fn.__closure__ or hasattr(fn, "__wrapped__"):
            return None
        if fn.__code__.co_filename != loaded.file.name or fn.__name__ != name:
            return None
        return definition_of(fn)

    def read(fn: Any) -> ast.FunctionDef | None:
        """A function of the user's, of any file."""
        if not isinstance(fn, types.FunctionType) or not is_users_file(fn.__code__.co_filename):
            return None
        return definition_of(fn)

    own = {n.id for n in ast.walk(loaded.node) if isinstance(n, ast.Name) and not is_read(n)}

    def known(node: ast.expr) -> str:
        """What a name of a library means, unless it is a variable of the function."""
        if core.reads(node) & own:
            return ""
        found = resolver.object(node)
        if type(found) is UndefinedValue:  # which has no attributes
            return ""
        return f"{getattr(found, '__module__', '')}.{getattr(found, '__name__', '')}"

    is_saved = lambda callee: resolver.object(callee) is Saved
    methods = functools.partial(methods_of, loaded.file.tree)

    @functools.cache
    def in_place() -> set[str]:
        return operators_in_place(loaded.function.__globals__)

    has_method = lambda name: bool(methods(name)) or name in in_place()

    @functools.cache
    def of_tuples() -> set[str]:
        return fields_of_tuples(loaded.function.__globals__) | local_tuples(loaded.file.tree)

    def is_computed(name: str) -> bool:
        return has_method(name) or has_method("__setattr__") or name in of_tuples()

    origin = loaded.file.origin
    default = default_values(loaded.function).get
    itself = object_of(loaded.node, loaded.file.tree)
    return normalize.Text(
        origin, is_saved, definition, resolver.object, known, methods, has_method, is_computed,
        read, default, itself,
    )  # fmt: skip


@functools.lru_cache(maxsize=64)
def classes_in(tree: ast.Module) -> dict[str, ast.ClassDef]:
    return {c.name: c for c in every_class(tree)}


def object_of(node: ast.FunctionDef | ast.Lambda, tree: ast.Module) -> str:
    """The first parameter of a method whose class says itself what `self[k] = v` does, or ""."""
    c = class_of(node, tree)
    args = (*node.args.posonlyargs, *node.args.args)
    return args[0].arg if args and c is not None and has_own_stores(c, classes_in(tree)) else ""


def class_of(node: ast.AST, tree: ast.Module) -> ast.ClassDef | None:
    """The class that a function is a method of."""
    for c in classes_in(tree).values():
        if any(isinstance(f, ast.FunctionDef) and f.lineno == node.lineno for f in c.body):  # type: ignore[attr-defined]
            return c
    return None


def has_own_stores(c: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> bool:
    """Whether a class, or one that it inherits from, defines `__setitem__`; no container is one."""
    bases = [b.id if isinstance(b, ast.Name) else "" for b in c.bases]
    if any(b not in classes and b != "object" for b in bases):
        return False
    if "__setitem__" in {f.name for f in c.body if isinstance(f, ast.FunctionDef)}:
        return True
    return any(has_own_stores(classes[b], classes) for b in bases if b in classes)


@functools.lru_cache(maxsize=64)
def every_class(tree: ast.Module) -> list[ast.ClassDef]:
    return [n for n in ast.walk(tree) if isinstance(n, ast.ClassDef)]


def local_tuples(tree: ast.Module) -> set[str]:
    """The names of what named tuples hold whose classes a file defines."""
    kinds = [c for c in every_class(tree) if any("NamedTuple" in ast.unparse(b) for b in c.bases)]
    named = [n.target for c in kinds for n in c.body if isinstance(n, ast.AnnAssign)]
    return {t.id for t in named if isinstance(t, ast.Name)}


def methods_of(tree: ast.Module, name: str) -> list[ast.FunctionDef]:
    """The methods of this name that the classes of a file have."""
    return [
        f
        for c in every_class(tree)
        for f in c.body
        if isinstance(f, ast.FunctionDef) and f.name == name
    ]


def is_read(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Load)


def called_by(resolver: Resolver, name: str) -> core.Function | None:
    """A function of the user's that another calls by its name, in core form; None for others."""
    kind, _, member = name.partition(".")
    found = resolver.object(core.name(kind))
    if member:  # `Box.__init__`, what a call of a class runs
        classes = found.__mro__ if isinstance(found, type) else ()
        found = next((vars(c)[member] for c in classes if member in vars(c)), None)
    return users_function(found)


def users_function(fn: Any) -> core.Function | None:
    """A function of the user's in core form."""
    fn = original(fn)
    if not isinstance(fn, types.FunctionType) or "site-packages" in fn.__code__.co_filename:
        return None
    if (fn.__module__ or "").partition(".")[0] in ("overt", "numpy"):
        return None
    return normalized(fn.__code__, fn)


def members_of(resolver: Resolver, node: ast.Attribute) -> list[tuple[core.Function, int]]:
    """The functions of the user's that a member may be: a module's, or methods of known classes."""
    found = [(resolver.object(node), 0)]
    if found[0][0] is None and resolver.is_users_method(node.attr):
        for kind in list(getattr(resolver.namespace, "globals", {}).values()):
            if isinstance(kind, type):
                member = vars(kind).get(node.attr)
                if isinstance(member, staticmethod):
                    found.append((member.__func__, 0))
                else:
                    found.append((member, 1))
    functions = [(users_function(fn), first) for fn, first in found]
    return [(f, first) for f, first in functions if f is not None]


def function_values(resolver: Resolver, node: ast.expr) -> list[tuple[core.Function, int]]:
    """The functions of the user's that an expression may stand for, where it is not called."""
    found = resolver.object(node)
    if found is None:
        return members_of(resolver, node) if isinstance(node, ast.Attribute) else []
    held = [found]
    if isinstance(found, list | tuple | dict):
        held = list(found.values() if isinstance(found, dict) else found)
    functions = [users_function(f) for f in held if isinstance(f, types.FunctionType)]
    return [(f, 0) for f in functions if f is not None]


def kind_of_data(resolver: Resolver, name: str) -> str:
    """Whether a name of the module is a "container", an "object", or else ("")."""
    found = None if name.startswith("@") else resolver.object(core.name(name))
    if isinstance(found, (*COPIED, tuple)):
        return "container"
    if isinstance(found, types.ModuleType):
        return "object" if is_users_module(found) else ""
    if isinstance(found, type):
        return "object" if is_users(found) else ""
    plain = isinstance(found, ATOMS) or callable(found) and not is_users_object(found)
    return "" if plain else "object"


_normalized: dict[tuple[str, types.CodeType], core.Function | None] = {}


def normalized(code: types.CodeType, fn: types.FunctionType) -> core.Function | None:
    """A function's core form before any check, once for each code; None where it has no source."""
    key = code.co_filename, code  # codes of two files are equal where their texts are
    if key not in _normalized:
        _normalized[key] = None  # while it is being read: it may call itself
        try:
            loaded = load(fn)
            text = text_of(loaded, Resolver(loaded.namespace))
            _normalized[key] = normalize.normalize(loaded.node, text)
            memory.keep("core form", code, answer=_normalized[key])
        except Refusal:
            pass
    return _normalized[key]


@functools.cache
def has_source(code: types.CodeType) -> bool:
    try:
        return bool(linecache.getlines(code.co_filename)) or inspect.getsource(code) != ""
    except (OSError, TypeError):
        return False
