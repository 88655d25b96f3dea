"""Texts that data chooses: compared, joined, matched, keys of dictionaries, states of loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import overt
from tests.ways import assert_every_way


def matched(x: Any) -> Any:
    kind = "small"
    if x > 1.0:
        kind = "large"
    match kind:
        case "small":
            return x * 2
        case "large":
            return x * x
    return 0.0


def among_others(x: Any) -> Any:
    k = "a" if x > 1.0 else ("b" if x > 0.5 else "c")
    y = x if k in ("a", "c") else x * x
    return y * (2 if "b" in [k, "z"] else 3) + (k not in {"a": 1, "q": 2}) * x


def by_methods(x: Any) -> Any:
    k = "ab" if x > 1.0 else "cd"
    s = k.upper() + "x"
    return x * (2 if s == "ABx" else 3) * (5 if k.startswith("c") else 7)


def longer_in_a_loop(x: Any) -> Any:
    s = ""
    y = x
    for _ in range(4):
        s += "a" if y > 2.0 else "b"
        y *= 1.5
    return x * s.count("a") + (x if s.endswith("a") else 0.0)


def empty_or_not(x: Any) -> Any:
    s = ""
    if x > 1.0:
        s = "big"
    return x * x if s else x


def two_texts(x: Any) -> Any:
    a = "p" if x > 1.0 else "q"
    b = "p" if x > 0.5 else "q"
    return x * 3 if a == b else x * x


def helper(kind: str, x: Any) -> Any:
    if kind == "sin":
        return np.sin(x)
    elif kind == "cos":
        return np.cos(x)
    raise ValueError(kind)


def given_to_a_helper(x: Any) -> Any:
    kind = "sin" if x > 1.0 else "cos"
    return helper(kind, x) * x


TABLE = {"sin": np.sin, "cos": np.cos}


def of_a_table(x: Any) -> Any:
    kind = "sin" if x > 1.0 else "cos"
    return TABLE[kind](x) * x


def states(x: Any) -> Any:
    state = "up"
    y = x
    for _ in range(8):
        if state == "up":
            y = y * 1.5
            if y > 3.0:
                state = "down"
        elif state == "down":
            y = y * 0.6
            if y < 1.0:
                state = "up"
    return y


def states_until_the_last(x: Any) -> Any:
    state = "up"
    y = x
    n = 0
    while state != "stop":
        n += 1
        if state == "up":
            y = y * 1.5
            if y > 3.0:
                state = "down"
        else:
            y = y * 0.6
            if y < 1.0:
                state = "stop"
    return y * n


def counted_by_key(x: Any) -> Any:
    counts = {"lo": 0, "hi": 0}
    for v in [x, 2 * x, 3 * x]:
        counts["hi" if v > 2.0 else "lo"] += 1
    return counts["lo"] * x + counts["hi"] * x * x


def summed_by_key(x: Any) -> Any:
    tot = {"lo": 0.0, "hi": 0.0}
    for v in [x, 2 * x, 3 * x]:
        k = "hi" if v > 2.0 else "lo"
        tot[k] = tot[k] + v * v
    return tot["lo"] * x + tot["hi"]


class Machine:
    def __init__(self) -> None:
        self.mode, self.v = "a", 0.0

    def step(self, x: Any) -> None:
        if x > 1.0:
            self.mode = "b"
        self.v += x if self.mode == "a" else x * x


def of_an_object(x: Any) -> Any:
    m = Machine()
    m.step(x)
    m.step(2 * x)
    m.step(x)
    return m.v * (2.0 if m.mode == "b" else 1.0)


def key_made_of_texts(x: Any) -> Any:
    d = {"k0": x, "k1": x * x}
    return sum(d[f"k{j}"] for j in range(2)) * d["k" + ("1" if x > 1.0 else "0")]


def least(x: Any) -> Any:
    costs = {"a": x * x, "b": x + 0.5, "c": 3 - x}
    name, cost = min(costs.items(), key=lambda item: item[1])
    return cost * (2 if name == "a" else 3) + costs[min(costs, key=costs.get)]


def best_so_far(x: Any) -> Any:
    costs = {"a": x * x, "b": x + 0.5, "c": 3 - x}
    best = None
    for name in costs:
        if best is None or costs[name] < costs[best]:
            best = name
    return costs[best] * x


@pytest.mark.parametrize("f", [matched, states_until_the_last, summed_by_key])
def test_texts_that_data_chooses(f: Any) -> None:
    assert_every_way(f)


OTHERS = [
    among_others,
    by_methods,
    longer_in_a_loop,
    empty_or_not,
    two_texts,
    given_to_a_helper,
    of_a_table,
    states,
    counted_by_key,
    of_an_object,
    key_made_of_texts,
    least,
    best_so_far,
]


@pytest.mark.usefixtures("x64")
@pytest.mark.filterwarnings("ignore::overt.runtime.errors.RecordedWarning")
@pytest.mark.parametrize("f", OTHERS)
def test_values_and_slopes_of_both(f: Any) -> None:
    compiled, slopes = overt.jit(f), overt.jit(overt.vmap(overt.grad(f)))
    points = np.array([0.7, 1.9])
    want = [(f(x + 1e-6) - f(x - 1e-6)) / 2e-6 for x in points]
    np.testing.assert_allclose(slopes(points), want, rtol=1e-6)
    np.testing.assert_allclose([compiled(x) for x in points], [f(x) for x in points], rtol=1e-9)


def named(x: Any) -> Any:
    name = "large" if x > 1.0 else "small"
    print("it is", name, f"{name}!", [name])
    return name


def test_a_text_is_printed_and_returned(capsys: pytest.CaptureFixture[str]) -> None:
    assert [overt.jit(named)(x) for x in (0.5, 1.5)] == ["small", "large"]
    shown = capsys.readouterr().out.splitlines()
    assert shown == ["it is small small! ['small']", "it is large large! ['large']"]


def test_a_text_that_is_no_key() -> None:
    def read(x: Any) -> Any:
        table = {"a": x}
        return table["a" if x > 1.0 else "b"]

    assert overt.jit(read)(2.0) == 2.0
    with pytest.raises(KeyError, match="b"):
        overt.jit(read)(0.5)


def test_what_python_needs_at_once_is_refused() -> None:
    def measured(x: Any) -> Any:
        return len("ab" if x > 1.0 else "c") * x

    def longer_and_longer(x: Any) -> Any:
        text = ""
        while x < 100.0:
            text += "a" if x > 5.0 else "b"
            x = x * 2
        return x * text.count("a")

    with pytest.raises(overt.errors.StagingError, match="length of a text"):
        overt.jit(measured)(2.0)
    with pytest.raises(TypeError, match="A text that grows"):
        overt.jit(longer_and_longer)(2.0)
