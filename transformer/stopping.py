"""`debug.breakpoint`: look at values from within a running program, in a small debugger."""

from __future__ import annotations

import cmd
import linecache
import sys
import traceback
import types
from typing import Any

from overt.runtime.array import Array
from overt.transformer.callbacks import debug_callback
from overt.transformer.rewrite import place_of


class Stop(cmd.Cmd):
    """The prompt: `p`, `pp`, `l`, `bt`, `u`, `d`, `a`, `c` and `q` as in pdb."""

    prompt = "(overt) "

    def __init__(self, frames: list[dict[str, Any]]) -> None:
        super().__init__()
        self.frames, self.current = frames, 0

    @property
    def frame(self) -> dict[str, Any]:
        return self.frames[self.current]

    def value(self, text: str) -> Any:
        return eval(text, self.frame["globals"], self.frame["locals"])

    def do_p(self, text: str) -> None:
        """p EXPRESSION: print its value."""
        try:
            print(repr(self.value(text)))
        except Exception as error:
            print(f"*** {type(error).__name__}: {error}")

    do_pp = do_p

    def do_a(self, _: str) -> None:
        """a: print all local variables."""
        for name, value in self.frame["locals"].items():
            print(f"{name} = {value!r}")

    def do_l(self, _: str) -> None:
        """l: list the code around."""
        file, line = self.frame["file"], self.frame["line"]
        lines = linecache.getlines(file)
        for number in range(max(1, line - 5), min(len(lines), line + 5) + 1):
            mark = "->" if number == line else "  "
            print(f"{number:4} {mark} {lines[number - 1].rstrip()}")

    do_list = do_l

    def do_bt(self, _: str) -> None:
        """bt: show how the program got here."""
        for frame in reversed(self.frames):
            mark = ">" if frame is self.frame else " "
            print(f"{mark} {frame['file']}({frame['line']}){frame['name']}()")
            file, line, text = frame["place"]
            if line:
                print(f"      from {file}({line}): {text}")

    do_w = do_where = do_bt

    def do_u(self, _: str) -> None:
        """u: to the caller."""
        self.current = min(self.current + 1, len(self.frames) - 1)

    def do_d(self, _: str) -> None:
        """d: back towards the stop."""
        self.current = max(self.current - 1, 0)

    def do_c(self, _: str) -> bool:
        """c: continue."""
        return True

    do_cont = do_continue = do_EOF = do_c  # noqa: N815

    def do_q(self, _: str) -> bool:
        """q: leave the program."""
        raise KeyboardInterrupt("left from overt.debug.breakpoint")

    def emptyline(self) -> bool:
        return False


def debug_breakpoint(*, num_frames: int | None = None, ordered: bool = True, **_: Any) -> None:
    """Stop here when the program runs, and read commands: `p x`, `l`, `bt`, `c`."""
    frames: list[dict[str, Any]] = []
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None and len(frames) < (num_frames or 16):
        if frames and frame.f_globals.get("__name__", "").startswith("overt."):
            frame = frame.f_back  # Overt's own frames tell nothing about the program
            continue
        line, file = frame.f_lineno, frame.f_code.co_filename
        seen = {k: v for k, v in frame.f_locals.items() if not k.startswith("__")}
        own = not frames  # the values of outer frames may belong to programs that are not running
        frames.append(
            {
                "file": file,
                "line": line,
                "name": frame.f_code.co_name,
                "globals": frame.f_globals,
                "locals": seen if own else {k: _description(v) for k, v in seen.items()},
                "place": place_of([(file, line)]),
            }
        )
        frame = frame.f_back
    names = list(frames[0]["locals"])

    def stop(*values: Any) -> None:
        here = {**frames[0], "locals": dict(zip(names, values, strict=True))}
        try:
            Stop([here, *frames[1:]]).cmdloop()
        except KeyboardInterrupt:
            raise
        except Exception:
            traceback.print_exc()

    debug_callback(stop, *frames[0]["locals"].values(), ordered=ordered)


def _description(x: Any) -> Any:
    return f"<{x.aval}>" if isinstance(x, Array) else x
