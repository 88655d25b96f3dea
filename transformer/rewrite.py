"""From Source to a live function: same globals, same closure cells, its text in a file of its own.

The text is compiled inside a factory, of which imported helpers and sibling functions are locals;
names of the user's closure are bound to the user's real cells afterwards.  Nothing is ever written
into the user's module.
"""

from __future__ import annotations
import __future__

import ast
import functools
import linecache
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from overt.rewrites.literals import is_literal
from overt.runtime.places import GENERATED as PLACES
from overt.transformer import cache, dependencies

if TYPE_CHECKING:
    from overt.rewrites import core

Place = tuple[str, int, str]  # the user's file, line and text of the line
NO_PLACE: Place = ("", 0, "")


@dataclass
class Rewritten:
    """A generated module: its text, the user's line behind each of its lines, what it relies on."""

    text: str
    places: list[Place]
    main: str
    functions: tuple[str, ...]
    found: dict[tuple[str, ...], str] = field(default_factory=dict)
    fixed: tuple[Any, ...] = ()  # functions it belongs to, when what it relies on has no names

    @functools.cached_property
    def file(self) -> str:
        """Its file in the cache folder, known to `linecache`."""
        name = cache.module_file(self.main, self.text)
        if name is None:
            name = f"<overt {self.main} {cache.digest(self.text)[:12]}>"
        lines = self.text.splitlines(keepends=True)
        linecache.cache[name] = (len(self.text), None, lines, name)
        PLACES[name] = self.places
        return name


FACTORY = "__overt_factory__"


def live(source: core.Source, function: types.FunctionType) -> types.FunctionType:
    """The source's main function, alive in the globals and closure of the user's `function`."""
    return bring_to_life(printed(source), function)


def printed(source: core.Source) -> Rewritten:
    """The text of a source with its table of lines."""
    from overt.rewrites.emit import module_text

    origins: list[core.Origin] = []
    text = module_text(source, "", origins)
    places = [(o.file, o.line, o.text.strip()) if o.line else o.undoes for o in origins]
    names = tuple(f.name for f in source.functions)
    return Rewritten(text, places, source.main.name, names)


def bring_to_life(rewritten: Rewritten, function: types.FunctionType) -> types.FunctionType:
    """Instantiate a generated module for one user function (one closure)."""
    free = function.__code__.co_freevars
    owner = class_of(function)
    factory_code = compiled(
        rewritten.text, rewritten.file, rewritten.functions, rewritten.main, free, owner
    )
    scope: dict[str, Any] = {}
    exec(factory_code, function.__globals__, scope)
    made = scope[FACTORY](*[None] * len(free))
    cells = dict(zip(free, function.__closure__ or (), strict=True))
    functions = dict(zip(rewritten.functions, made, strict=True))
    rebuilt = {name: rebind(f, cells) for name, f in functions.items()}
    for f in rebuilt.values():
        for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
            if name in rebuilt and name not in cells:
                cell.cell_contents = rebuilt[name]
        give_defaults(f, function)
        f.__module__ = function.__module__
    main = rebuilt[rewritten.main]
    main.__dict__["__overt__"] = rewritten
    return main


def rebind(f: types.FunctionType, cells: dict[str, Any]) -> types.FunctionType:
    """The function with the user's cells in place of the factory's."""
    own = zip(f.__code__.co_freevars, f.__closure__ or (), strict=True)
    closure = tuple(cells.get(name, cell) for name, cell in own)
    new = types.FunctionType(f.__code__, f.__globals__, f.__name__, f.__defaults__, closure)
    new.__kwdefaults__ = f.__kwdefaults__
    new.__doc__ = f.__doc__
    new.__qualname__ = f.__name__
    return new


def give_defaults(f: types.FunctionType, function: types.FunctionType) -> None:
    """Parameters of the user's function have the user's default values, not copies of them."""
    defaults = defaults_of(function)
    code = f.__code__

    def given(name: str, default: Any) -> Any:
        return defaults.get(name) if default is ... else default

    if f.__defaults__:
        names = code.co_varnames[: code.co_argcount][-len(f.__defaults__) :]
        f.__defaults__ = tuple(map(given, names, f.__defaults__))
    if f.__kwdefaults__:
        f.__kwdefaults__ = {n: given(n, d) for n, d in f.__kwdefaults__.items()}


def defaults_of(function: types.FunctionType) -> dict[str, Any]:
    """The default value of each parameter that has one."""
    code = function.__code__
    found = dict(function.__kwdefaults__ or {})
    if function.__defaults__:
        names = code.co_varnames[: code.co_argcount][-len(function.__defaults__) :]
        found |= dict(zip(names, function.__defaults__, strict=True))
    return found


def class_of(function: types.FunctionType) -> str:
    """The name of the class whose body a function stands in, for names like `self.__x`."""
    outer = function.__qualname__.split(".")[:-1]
    return outer[-1].lstrip("_") if outer and outer[-1] != "<locals>" else ""


@functools.lru_cache(maxsize=4096)
def compiled(
    text: str,
    file: str,
    functions: tuple[str, ...],
    main: str,
    free: tuple[str, ...],
    owner: str,
) -> types.CodeType:
    """The module compiled as the body of a factory that returns its functions."""
    tree = ast.parse(text, file)
    body = [s for s in tree.body if not _is_docstring(s) and not _is_future(s)]
    own = next((_written_defaults(s.args) for s in body if _is_function(s, main)), {})
    for s in body:
        if isinstance(s, ast.FunctionDef):
            _drop_defaults(s.args, own)
    result = ast.Return(ast.Tuple([ast.Name(n, ast.Load()) for n in functions], ast.Load()))
    arguments = ast.arguments([], [ast.arg(n) for n in free], None, [], [], None, [])
    parameters: dict[str, Any] = (
        {"type_params": []} if "type_params" in ast.FunctionDef._fields else {}
    )
    factory = ast.FunctionDef(FACTORY, arguments, [*body, result], [], **parameters)  # type: ignore
    module = ast.Module([factory], [])
    if owner and "__" in text:
        Mangle(owner, {*functions, FACTORY}).visit(module)
    ast.fix_missing_locations(module)
    flags = __future__.annotations.compiler_flag
    return compile(module, file, "exec", flags=flags, dont_inherit=True)


def _is_docstring(s: ast.stmt) -> bool:
    return isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant)


def _is_future(s: ast.stmt) -> bool:
    return isinstance(s, ast.ImportFrom) and s.module == "__future__"


def _is_function(s: ast.stmt, name: str) -> bool:
    return isinstance(s, ast.FunctionDef) and s.name == name


def _written_defaults(arguments: ast.arguments) -> dict[str, str]:
    """The default value of each parameter that has one, as it is written."""
    places = [*arguments.posonlyargs, *arguments.args]
    pairs = [*zip(places[len(places) - len(arguments.defaults) :], arguments.defaults, strict=True)]
    pairs += [(a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d]
    return {a.arg: ast.dump(d) for a, d in pairs}


def _drop_defaults(arguments: ast.arguments, own: dict[str, str]) -> None:
    """Defaults were evaluated when the user's function was defined; evaluate none of them again.

    `own` are those of the main function.  Others with such a name and value have them from there,
    as `give_defaults` sees by `...`; literals of the functions that were nested in it stay.
    """
    written = _written_defaults(arguments)

    def kept(name: str, default: ast.expr) -> ast.expr:
        stays = is_literal(default) and written[name] != own.get(name)
        return default if stays else ast.Constant(...)

    names = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
    names = names[len(names) - len(arguments.defaults) :]
    arguments.defaults = [kept(n, d) for n, d in zip(names, arguments.defaults, strict=True)]
    arguments.kw_defaults = [
        d and kept(a.arg, d)
        for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    ]


class Mangle(ast.NodeTransformer):
    """Private names of a class, as Python spells them inside its body."""

    def __init__(self, owner: str, kept: set[str]) -> None:
        self.owner, self.kept = owner, kept

    def name(self, text: str) -> str:
        private = text.startswith("__") and not text.endswith("__") and text not in self.kept
        return f"_{self.owner}{text}" if private else text

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        node.attr = self.name(node.attr)
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self.name(node.id)
        return node


# --- rewritten once, found again in memory and on disk ------------------------

_memory: dict[tuple[Any, str], list[Rewritten]] = {}


def rewritten(
    function: types.FunctionType, chain: str, make: Callable[[], core.Source]
) -> Rewritten:
    """The module that the transformation `chain` makes of a function; `make` does the work."""
    known = _memory.setdefault((function.__code__, chain), [])
    for found in known:
        if found.fixed and found.fixed[0] is not function:
            continue
        if dependencies.still_holds(function, found.found):
            return found
    key = disk_key(function, chain)
    made = from_disk(key, function)
    if made is None:
        with dependencies.recording(function) as record:
            made = printed(make())
        made.found = record.found
        if record.complete:
            to_disk(key, made)
        else:
            made.fixed = (function,)
    known.insert(0, made)
    del known[64:]
    return made


def disk_key(function: types.FunctionType, chain: str) -> str:
    """The key of a generated module: the file's text, the function, how made, by which version."""
    from overt import __version__

    code = function.__code__
    columns = ""
    if code.co_name == "<lambda>":
        columns = repr([p for p in code.co_positions() if p[2] is not None][:4])
    place = f"{code.co_firstlineno} {code.co_name} {columns} {code.co_freevars}"
    return cache.digest(dependencies.file_digest(code), place, chain, __version__, program_digest())


@functools.cache
def program_digest() -> str:
    """A hash of passes and rules: another version of them keeps its results apart."""
    import os

    import overt

    parts = []
    for layer in ("transformer", "rewrites", "runtime"):
        for folder, inner, files in os.walk(os.path.join(overt.__path__[0], layer)):
            inner.sort()
            for name in sorted(n for n in files if n.endswith(".py")):
                found = os.stat(os.path.join(folder, name))
                parts.append(f"{name} {found.st_size} {found.st_mtime_ns}")
    return cache.digest(*parts)


def from_disk(key: str, function: types.FunctionType) -> Rewritten | None:
    """The module kept under a key, if what it relies on is unchanged."""
    entry = cache.read(key)
    if entry is None:
        return None
    try:
        found = {tuple(path): text for path, text in entry["found"]}
        files = entry["files"]
        places = [(files[f], n, t) if n else NO_PLACE for f, n, t in entry["places"]]
        made = Rewritten(entry["text"], places, entry["main"], tuple(entry["functions"]), found)
    except (KeyError, TypeError, ValueError, IndexError):
        return None
    return made if dependencies.still_holds(function, found) else None


def to_disk(key: str, made: Rewritten) -> None:
    """Keep a module for later processes."""
    files = sorted({file for file, _, _ in made.places})
    number = {file: i for i, file in enumerate(files)}
    entry = {
        "text": made.text,
        "main": made.main,
        "functions": made.functions,
        "found": [[list(path), text] for path, text in made.found.items()],
        "files": files,
        "places": [[number[file], line, text] for file, line, text in made.places],
    }
    cache.write(key, entry)


# --- exceptions ---------------------------------------------------------------


def place_of(frames: Iterable[tuple[str, int]]) -> Place:
    """The user's line behind the innermost generated line among (file, line) pairs."""
    best = NO_PLACE
    for file, line in frames:
        place = behind(file, line)
        if place[1]:
            best = place
    return best


def behind(file: str, line: int) -> Place:
    """The user's line behind a generated one, also where generated code was rewritten again."""
    place = NO_PLACE
    while (places := PLACES.get(file)) and 0 < line <= len(places) and places[line - 1][1]:
        place = file, line, _ = places[line - 1]
    return place


def result_place(live: Any) -> Place:
    """The user's line with the last statement of a live function: where its result is made."""
    made = live.__dict__.get("__overt__")
    return next((p for p in reversed(made.places if made else ()) if p[1]), NO_PLACE)


def note_place(error: BaseException, otherwise: Place = NO_PLACE) -> None:
    """Add to an exception that passed through generated code the user's file, line and text."""
    frames, trace = [], error.__traceback__
    while trace is not None:
        frames.append((trace.tb_frame.f_code.co_filename, trace.tb_lineno))
        trace = trace.tb_next
    file, line, text = place_of(frames)
    if not line:
        file, line, text = otherwise
    if not line:
        return
    note = f'in the code generated from\n  File "{file}", line {line}\n    {text}'
    if note not in getattr(error, "__notes__", ()):
        error.add_note(note)
