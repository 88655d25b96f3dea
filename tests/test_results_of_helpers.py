"""Containers of others that a helper changes and gives back, then changed again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.changing_programs import check

ROWS = "G = [[1.0, 2.0], [3.0, 4.0]]\n"
END = "\ndef state():\n    return G\n"
PUT = "def put(a, x):\n    a[0] = x * x\n    return a\n"
PUSH = "def push(a, x):\n    a.append(x)\n    return a\n"

PROGRAMS = {
    "stored": ROWS + PUT + """
def f(x):
    t = put(G[0], x)
    t[1] = 3.0 * x
    return t[0] * t[1] + G[0][1]
""",
    "a dictionary": """
G = [{"a": 1.0}, {"a": 3.0}]
def put(a, x):
    a["b"] = x * x
    return a
def f(x):
    t = put(G[0], x)
    t["a"] = 3.0 * x
    return t["a"] * t["b"] + G[0]["a"]
""",
    "appended and deleted": ROWS + PUSH + """
def f(x):
    t = push(G[0], x)
    t.append(3.0 * x)
    del t[0]
    return t[0] * t[1] + G[0][1]
""",
    "one of two": ROWS + """
def one(a, b, c):
    return a if c else b
def f(x):
    t = one(G[0], G[1], True)
    t[1] = 3.0 * x
    return t[0] * t[1] + G[0][1]
""",
    "a part": """
G = [{"k": [1.0, 2.0]}]
def part(a, x):
    a["k"][0] = x
    return a["k"]
def f(x):
    t = part(G[0], x)
    t[1] = 3.0 * x
    t.append(x)
    return t[0] * t[1] + G[0]["k"][1]
""",
    "in a tuple": ROWS + """
def put(a, x):
    a[0] = x
    return a, x
def f(x):
    t, y = put(G[0], x)
    t[1] = 3.0 * x
    return t[0] * t[1] + G[0][1] + y
""",
    "in a loop of the helper": ROWS + """
def fill(a, x):
    for i in range(len(a)):
        a[i] = x * i
    return a
def f(x):
    t = fill(G[0], x)
    t[0] = x
    return sum(t) + sum(G[0]) * x
""",
    "by a helper of the helper": ROWS + PUT + """
def twice(a, x):
    b = put(a, x)
    b[1] = 2.0 * x
    return b
def f(x):
    t = twice(G[0], x)
    t.append(x)
    return sum(G[0]) * x
""",
    "by itself": ROWS + """
def put(a, i, x):
    if i == 0:
        a[1] = x
        return a
    return put(a, i - 1, x)
def f(x):
    t = put(G[0], 3, x * x)
    t[0] = x
    return sum(G[0]) * x
""",
    "within an expression": """
G = {}
""" + PUSH + """
def f(x):
    y = sum(push(G.setdefault("k", [1.0]), x)) * x
    return y + len(G["k"])
""",
    "two calls in one": ROWS + """
def put(a, x):
    a[0] += x
    a[1:] = [x, x]
    return a[0]
def f(x):
    y = put(G[0], x) + put(a=G[1], x=2.0 * x)
    return y * sum(G[0])
""",
    "in a branch of the helper": ROWS + """
def put(a, x):
    if x > 0.8:
        a[0] = x
    else:
        a[1] = x * x
    return a
def f(x):
    t = put(G[0], x)
    t[0] = t[0] * x
    return sum(G[0]) * x
""",
}  # fmt: skip

CHOSEN = {
    "one of two": ROWS + """
def f(x):
    t = G[-1] if x > 0.8 else G[0]
    t.append(x)
    return sum(t) + x
""",
    "in a branch": ROWS + """
def f(x):
    if x > 0.8:
        t = G[1]
    else:
        t = G[0]
    t[1] = x
    return sum(t) + x * G[1][1]
""",
    "a dictionary": """
G = [{"a": 1.0}, {"a": 3.0}]
def f(x):
    t = G[-1] if x > 0.8 else G[0]
    t["a"] = x
    return t["a"] ** 2 + G[1]["a"]
""",
    "by a helper": ROWS + """
def one(a, b, x):
    return a if x > 0.8 else b
def f(x):
    t = one(G[0], G[1], x)
    t[1] = 3.0 * x
    return t[0] * t[1] + G[0][1]
""",
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_changed_again(name: str, tmp_path: Path) -> None:
    check(PROGRAMS[name] + END, tmp_path)


@pytest.mark.parametrize("name", CHOSEN)
def test_chosen_by_data(name: str, tmp_path: Path) -> None:
    """A compiled program does not know which one it is: refused."""
    check(CHOSEN[name] + END, tmp_path, refused=("jit", "jit of grad"))


def test_read_only_is_no_change(tmp_path: Path) -> None:
    text = ROWS + "def f(x):\n    t = G[-1] if x > 0.8 else G[0]\n    return sum(t) * x\n"
    check(text + END, tmp_path)
