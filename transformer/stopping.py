"""`debug.breakpoint`: look at values from within a running program, in a small debugger."""

from __future__ import annotations

import ast
import cmd
import functools
import linecache
import pprint
import sys
import sysconfig
import types
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from overt.runtime.array import Array
from overt.runtime.dispatch import GRAPH
from overt.runtime.interop import as_array
from overt.runtime.masks import active_lanes
from overt.runtime.staged_builtins import each_lane
from overt.runtime.staging import Symbolic
from overt.runtime.tree import tree_flatten
from overt.transformer import rewrite

AROUND = 5  # lines before and after that `list` shows


class Frame(NamedTuple):
    """A function of the user's that is being run: where it is, and what its variables are."""

    file: str
    line: int
    name: str
    globals: dict[str, Any]
    locals: dict[str, Any]


class Stop(cmd.Cmd):
    """The prompt, with the commands of pdb that look and do not change anything."""

    prompt = "(overt) "

    def __init__(self, frames: Sequence[Frame], stdin: Any = None, stdout: Any = None) -> None:
        super().__init__(stdin=stdin, stdout=stdout)
        self.use_rawinput = stdin is None
        self.frames, self.current = frames, 0

    @property
    def frame(self) -> Frame:
        return self.frames[self.current]

    def say(self, text: str) -> None:
        self.stdout.write(text + "\n")

    def preloop(self) -> None:
        self.say(place(self.frame))

    def shown(self, text: str, form: Any) -> None:
        try:
            self.say(form(eval(text, self.frame.globals, self.frame.locals)))
        except NameError as error:
            self.say(f"*** NameError: {error}; variables that nothing uses are not computed")
        except Exception as error:
            self.say(f"*** {type(error).__name__}: {error}")

    def default(self, line: str) -> None:
        self.say(f"*** unknown command {line!r}; `help` lists the commands")

    def do_p(self, text: str) -> None:
        """p EXPRESSION: print its value."""
        self.shown(text, repr)

    def do_pp(self, text: str) -> None:
        """pp EXPRESSION: print its value over several lines."""
        self.shown(text, pprint.pformat)

    def do_args(self, _: str) -> None:
        """a, args: print all local variables."""
        for name, value in self.frame.locals.items():
            self.say(f"{name} = {value!r}")

    def do_list(self, _: str) -> None:
        """l, list: print the code around."""
        lines = linecache.getlines(self.frame.file)
        line = self.frame.line
        for number in range(max(1, line - AROUND), min(len(lines), line + AROUND) + 1):
            mark = "->" if number == line else "  "
            self.say(f"{number:4} {mark} {lines[number - 1].rstrip()}")

    def do_where(self, _: str) -> None:
        """w, where, bt: print how the program got here, the innermost function last."""
        for frame in reversed(self.frames):
            mark = ">" if frame is self.frame else " "
            self.say(f"{mark} {place(frame)}")

    def do_up(self, _: str) -> None:
        """u, up: to the caller."""
        self.move(1, "oldest")

    def do_down(self, _: str) -> None:
        """d, down: back towards the stop."""
        self.move(-1, "newest")

    def move(self, by: int, last: str) -> None:
        if not 0 <= self.current + by < len(self.frames):
            self.say(f"*** {last} frame")
            return
        self.current += by
        self.say(place(self.frame))

    def do_continue(self, _: str) -> bool:
        """c, cont, continue: run on."""
        return True

    def do_quit(self, _: str) -> bool:
        """q, quit, exit: leave the program."""
        raise SystemExit(0)

    def do_help(self, arg: str) -> None:
        """h, help: print this list."""
        texts = [getattr(self, f"do_{name}").__doc__ for name in COMMANDS]
        wanted = [t for t in texts if not arg or arg in t.partition(" E")[0].partition(":")[0]]
        for text in wanted or [f"*** there is no command {arg!r}"]:
            self.say(text)

    def emptyline(self) -> bool:
        return False

    do_a = do_args
    do_l = do_list
    do_w = do_bt = do_where
    do_u = do_up
    do_d = do_down
    do_c = do_cont = do_EOF = do_continue  # noqa: N815
    do_q = do_exit = do_quit
    do_h = do_help


COMMANDS = "p pp args list where up down continue quit help".split()


def place(frame: Frame) -> str:
    """Where a frame is, and its line, as pdb prints them."""
    text = linecache.getline(frame.file, frame.line).strip()
    return f"{frame.file}({frame.line}){frame.name}()\n-> {text}"


def debug_breakpoint(
    *, backend: str | None = None, filter_frames: bool = True, num_frames: int | None = None,
    ordered: bool = False, token: Any = None, stdin: Any = None, stdout: Any = None,
) -> None:  # fmt: skip
    """Stop whenever the program gets here, and read commands: `p x`, `list`, `where`, `up`, `c`.

    Functions, names and lines are the user's, also in compiled programs; under `vmap` each lane
    stops.  Without `filter_frames` frames of installed packages are shown, too; `num_frames` limits
    how many there are.  `stdin` and `stdout` are files to talk through.

    >>> import io
    >>> out = io.StringIO()
    >>> debug_breakpoint(stdin=io.StringIO("p 1 + 1"), stdout=out)
    >>> "(overt) 2" in out.getvalue()
    True
    """
    if backend not in (None, "cli"):
        raise ValueError(f"there is no debugger {backend!r}; the one there is, is 'cli'")
    frames = user_frames(sys._getframe(1), filter_frames)[:num_frames]
    leaves, definition = tree_flatten([dict(f.locals) for f in frames])
    places = [i for i, x in enumerate(leaves) if isinstance(x, Array) and is_here(x)]

    def stop(values: Sequence[Any]) -> None:
        filled = [described(x) for x in leaves]
        for i, value in zip(places, values, strict=True):
            filled[i] = as_array(value)
        variables = definition.unflatten(filled)
        seen = [f._replace(locals=v) for f, v in zip(frames, variables, strict=True)]
        Stop(seen, stdin, stdout).cmdloop()

    each_lane([leaves[i] for i in places], active_lanes(), stop)


def is_here(x: Any) -> bool:
    """Whether a value exists where the program stops."""
    while not isinstance(x, Symbolic):
        inner = getattr(x, "value", None) if hasattr(x, "lanes") else getattr(x, "primal", None)
        if inner is None:
            return True
        x = inner
    graph = GRAPH.get()
    return graph is not None and graph.within(x.graph)


def described(x: Any) -> Any:
    return Elsewhere(str(x.aval)) if isinstance(x, Symbolic) else x


class Elsewhere(NamedTuple):
    """Stands for a value of another part of the program, which is not there when it stops."""

    aval: str

    def __repr__(self) -> str:
        return f"<{self.aval}, not here>"


# --- the user's frames ----------------------------------------------------------------------------


def user_frames(frame: types.FrameType | None, filtered: bool) -> list[Frame]:
    """The user's functions that are being run, the innermost first.

    The functions that one function of the user's was rewritten to are that one.
    """
    found: list[Frame] = []
    functions: list[Any] = []
    while frame is not None:
        for seen, function in of_the_user(frame, filtered):
            if functions and function is not None and function == functions[-1]:
                found[-1] = found[-1]._replace(locals={**seen.locals, **found[-1].locals})
            else:
                found.append(seen)
                functions.append(function)
        frame = frame.f_back
    return found


def of_the_user(frame: types.FrameType, filtered: bool) -> Iterator[tuple[Frame, Any]]:
    """A frame as one of the user's, with what tells its function from others; if it is one."""
    file, line, code = frame.f_code.co_filename, frame.f_lineno, frame.f_code
    if file in rewrite.PLACES:
        # A statement that none of the user's made is at the one before it.
        above = (rewrite.behind(file, n) for n in range(line, code.co_firstlineno - 1, -1))
        user_file, user_line, _ = next((p for p in above if p[1]), rewrite.NO_PLACE)
        if not user_line or is_installed(user_file):
            return
        name, start = enclosing(user_file, user_line)
        seen = Frame(user_file, user_line, name, frame.f_globals, variables(frame))
        yield seen, (user_file, start)
        own_file, own_line, _ = rewrite.behind(file, code.co_firstlineno)
        if own_line and (own := enclosing(own_file, own_line)) != (name, start):
            # The text of a function that it calls was put into that of another one.
            yield seen._replace(file=own_file, line=own_line, name=own[0]), (own_file, own[1])
    elif not str(frame.f_globals.get("__name__")).startswith("overt."):
        if not (filtered and is_installed(file)):
            yield Frame(file, line, code.co_name, frame.f_globals, variables(frame)), None


def variables(frame: types.FrameType) -> dict[str, Any]:
    if frame.f_locals is frame.f_globals:
        return {}  # of a module; its variables are found as globals
    return {k: v for k, v in frame.f_locals.items() if not k.startswith("__")}


@functools.cache
def library_folders() -> tuple[str, ...]:
    import overt.runtime

    own = [folder.rpartition("/")[0] for folder in overt.runtime.__path__]
    return (sysconfig.get_path("stdlib"), *own)


def is_installed(file: str) -> bool:
    """Whether a file is of Python, of Overt or of an installed package."""
    if "site-packages" in file or file.startswith("<frozen"):
        return True
    folders = library_folders()
    return file.startswith(folders[0]) or file.startswith(
        tuple(f"{f}/runtime" for f in folders[1:])
    )


@functools.lru_cache(maxsize=64)
def functions_in(file: str) -> list[tuple[int, int, str]]:
    """(first line, last line, name) of every function in a file."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return []
    return [
        (node.lineno, node.end_lineno or node.lineno, getattr(node, "name", "<lambda>"))
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    ]


def enclosing(file: str, line: int) -> tuple[str, int]:
    """Name and first line of the innermost function around a line."""
    around = [f for f in functions_in(file) if f[0] <= line <= f[1]]
    start, _, name = max(around, default=(0, 0, "<module>"))
    return name, start
