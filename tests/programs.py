"""Random programs: nested branches, loops, exits and stores over a few smooth operations.

A program is text, so a failure can be read, kept and stepped through.  NumPy runs it as the oracle.
"""

from __future__ import annotations

import linecache
import random
from typing import Any

SCALARS = ("a", "b", "c")
WIDE = 10_000  # seeds from here on are written in the wider grammar


class Writer:
    """Writes one random function of two scalars and a vector of three."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.loops = 0
        self.counters = 0
        self.budget = 9
        self.over_v = 0  # loops over v around this place: a store into v there is refused

    def text(self) -> str:
        head = ["def program(a, b, v):", "    c = a * b"]
        body = self.block(1, False)
        return "\n".join([*head, *body, f"    return {self.expression(2)} + np.sum(v * v)"]) + "\n"

    def choose(self, *items: Any) -> Any:
        return self.random.choice(items)

    # --- expressions

    def atom(self) -> str:
        return self.choose(*SCALARS, *SCALARS, "v[0]", "v[1]", "v[2]", "np.sum(v)", "0.5", "1.5")

    def expression(self, depth: int) -> str:
        if depth == 0:
            return self.atom()
        x, y = self.expression(depth - 1), self.expression(self.random.randrange(depth))
        return self.choose(
            f"np.sin({x})",
            f"np.tanh({x})",
            f"({x} + {y})",
            f"({x} - {y})",
            f"{x} * np.cos({y})",
            f"({x}) / (2.0 + ({y}) ** 2)",
            f"0.5 * ({x})",
            f"-({x})",
            f"np.where({self.test()}, {x}, {y})",
        )

    def vector(self) -> str:
        x = self.expression(1)
        return self.choose(
            f"np.sin(v) + {x}", f"v * {x}", "v[::-1]", "np.tanh(v + 0.3 * v[::-1])",
            f"v + np.stack([{self.atom()}, {self.atom()}, {self.atom()}])",
        )  # fmt: skip

    def test(self) -> str:
        x = self.choose("a", "b", "c", "np.sum(v)")
        level = self.choose("0.13", "-0.37", "0.71", "1.3")
        return f"{x} {self.choose('<', '>')} {level}"

    def condition(self) -> str:
        return self.choose(
            self.test(), self.test(), f"{self.test()} and {self.test()}", f"not {self.test()}",
            f"{self.test()} or {self.test()}", "-0.8 < a <= 1.1",
        )  # fmt: skip

    # --- statements

    def block(self, depth: int, looping: bool) -> list[str]:
        lines: list[str] = []
        for _ in range(self.random.randint(1, 3)):
            lines += self.statement(depth, looping)
        return lines

    def statement(self, depth: int, looping: bool) -> list[str]:
        pad = "    " * depth
        self.budget -= 1
        deep = depth < 4 and self.budget > 0
        kind = self.random.random()
        if deep and kind < 0.2:
            lines = [f"{pad}if {self.condition()}:", *self.block(depth + 1, looping)]
            if self.random.random() < 0.7:
                lines += [f"{pad}else:", *self.block(depth + 1, looping)]
            return lines
        if deep and self.loops < 3 and kind < 0.36:
            return self.loop(depth)
        if looping and kind < 0.42:
            return [f"{pad}if {self.test()}:", f"{pad}    {self.choose('break', 'continue')}"]
        if kind < 0.45 and depth > 1:
            return [f"{pad}if {self.test()}:", f"{pad}    return {self.expression(1)} + np.sum(v)"]
        if kind < 0.8 and self.over_v and kind >= 0.45:
            return [f"{pad}{self.choose(*SCALARS)} = {self.expression(1)}"]
        if kind < 0.55:
            return [f"{pad}v[{self.choose(0, 1, 2)}] = {self.expression(1)}"]
        if kind < 0.6:
            return [f"{pad}v[{self.choose(0, 1, 2)}] += {self.expression(1)}"]
        if kind < 0.65:
            return [f"{pad}a, b = b, {self.expression(1)}"]
        if kind < 0.7:
            return [f"{pad}v = {self.vector()}"]
        if kind < 0.75:
            return [f"{pad}v[1:] = v[:2] * {self.atom()}"]
        if kind < 0.8:
            return [f"{pad}{self.choose(*SCALARS)} += {self.expression(1)}"]
        return [f"{pad}{self.choose(*SCALARS)} = {self.expression(2)}"]

    def loop(self, depth: int) -> list[str]:
        pad = "    " * depth
        self.loops += 1
        kind = self.random.random()
        if kind < 0.35:
            count = self.random.randint(1, 3)
            head, start, end = f"for i{self.loops} in range({count}):", [], []
        elif kind < 0.6:
            x = self.choose(*SCALARS)
            head = f"for item{self.loops} in v:"
            start, end = [], [f"{pad}    {x} = {x} * 0.7 + 0.3 * item{self.loops}"]
        else:
            n = f"n{self.loops}"
            start = [f"{pad}{n} = 0"]
            head = f"while {n} < {self.random.randint(1, 4)} and {self.test()}:"
            end = []
            body = [f"{pad}    {n} += 1", *self.block(depth + 1, True)]
            return [*start, pad + head, *body]
        self.over_v += bool(end)
        body = self.block(depth + 1, True)
        self.over_v -= bool(end)
        return [*start, pad + head, *body, *end]


def program(seed: int, np: Any) -> Any:
    """The random function of a seed, over an array module."""
    text = text_of(seed)
    file = f"<program {seed}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    space: dict[str, Any] = {"np": np}
    exec(compile(text, file, "exec"), space)
    return space["program"]


def text_of(seed: int) -> str:
    """The text of a seed's program."""
    from tests.wide_programs import WideWriter

    return (WideWriter if seed >= WIDE else Writer)(seed).text()
