"""The command line: what it writes runs without libcst; a mistake is a line and a status."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from overt.transformer.command_line import main

MODEL = '''\
"""A small model."""

import numpy as np
from math import pi

SCALE = 2.0


def helper(x):
    return x * SCALE


def f(x):
    # two pieces
    if x < 3:
        return 3. * x ** 2
    return np.sin(x)


def g(x, y):
    z = helper(x) * pi
    return np.sum(z * y)


def newton(a):
    x = a
    while np.abs(x * x - a) > 1e-6 * a:
        x = 0.5 * (x + a / x)      # Heron's step
    return x


class Thing:
    def area(self, r):
        return pi * r**2


def numbers(n):
    while True:
        yield n
'''


@pytest.fixture
def model(tmp_path, monkeypatch):
    (tmp_path / "model.py").write_text(MODEL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    yield tmp_path
    sys.modules.pop("model", None)


def run_module(folder: Path, code: str) -> str:
    check = "import sys; assert 'libcst' not in sys.modules"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}; {check}"],
        cwd=folder, capture_output=True, text=True, env={**os.environ},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_grad_writes_a_module(model):
    assert main(["grad", "model.py:f", "-o", "out.py"]) == 0
    text = (model / "out.py").read_text()
    assert text.startswith('"""Gradient of `f` in model.py.')
    assert "overt grad model.py:f" in text
    assert "# two pieces" in text
    assert run_module(model, "import out; print(float(out.f_grad(2.0)))") == "12.0"


def test_what_is_written_is_formatted(model):
    for command in (["grad", "model.py:f"], ["jit", "model.py:newton"], ["show", "model.py:g"]):
        assert main([*command, "-o", "out.py"]) == 0
        done = subprocess.run(
            [sys.executable, "-m", "ruff", "format", "--line-length", "100", "--check", "out.py"],
            capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + (model / "out.py").read_text()


def test_imports_that_it_needs(model):
    assert main(["grad", "model.py:g", "--argnums", "0,1", "-o", "out.py"]) == 0
    text = (model / "out.py").read_text()
    assert "from model import" in text and "from math import pi" in text
    code = "import out, numpy; print(*map(round, out.g_grad(numpy.ones(2), 2 * numpy.ones(2))[0]))"
    assert run_module(model, code) == "13 13"


def test_compositions_apply_right_to_left(model):
    assert main(["vmap+grad", "model.py:f", "-o", "out.py"]) == 0
    code = "import out, numpy; print(*map(float, out.f_grad_batched(numpy.array([1.0, 2.0]))))"
    assert run_module(model, code) == "6.0 12.0"


def test_jit_writes_the_lifted_form(model, capsys):
    assert main(["jit", "model.py:newton"]) == 0
    shown = capsys.readouterr().out
    assert "def newton_lifted(a):" in shown and "while_loop(" in shown and "# Heron's step" in shown


def test_show_and_diff(model, capsys):
    assert main(["show", "model.py:newton"]) == 0
    assert "while np.abs(x * x - a) > 1e-6 * a:" in capsys.readouterr().out
    assert main(["diff", "grad", "model.py:f"]) == 0
    rows = capsys.readouterr().out.splitlines()
    row = next(r for r in rows if r.startswith("def f(x):"))
    assert row.endswith("| def f_grad(x):")
    assert any(
        "return np.sin(x)" in r.partition("|")[0] and "np.sin" in r.partition("|")[2] for r in rows
    )


def test_methods_by_their_class(model, capsys):
    assert main(["show", "model.py:Thing.area"]) == 0
    assert "def area(self, r):" in capsys.readouterr().out


def test_hlo(model, capsys):
    assert main(["hlo", "model.py:g", "--args", "f32[3]", "f32[3]"]) == 0
    shown = capsys.readouterr().out
    assert "stablehlo.multiply" in shown and "tensor<3xf32>" in shown
    assert main(["hlo+grad", "model.py:newton", "--args", "f32"]) == 0
    assert "stablehlo.while" in capsys.readouterr().out


def test_check(model, capsys):
    assert main(["check", "model.py"]) == 1
    shown = capsys.readouterr().out
    assert "newton: ok" in shown and "Thing.area: ok" in shown
    assert "numbers: refused" in shown and "a generator" in shown and "yield n" in shown
    (model / "fine.py").write_text("def f(x):\n    return x\n")
    assert main(["check", "fine.py"]) == 0


@pytest.mark.parametrize(
    "arguments, status, message",
    [
        (["grad", "nothing.py:f"], 2, "there is no file 'nothing.py'"),
        (["check", "nothing.py"], 2, "there is no file 'nothing.py'"),
        (["grad", "model.py:nothing"], 2, "there is no function 'nothing' in model.py"),
        (["grad", "model.py:SCALE"], 2, "is not a function"),
        (["grad", "model.py"], 2, "expected FILE.py:FUNCTION"),
        (["bake", "model.py:f"], 2, "unknown command 'bake'"),
        (["grad", "model.py:f", "--argnums", "x"], 2, "--argnums must be numbers"),
        (["hlo", "model.py:f", "--args", "what?"], 2, "an argument is written like"),
        (["grad", "model.py:f", "-o", "no/such/folder.py"], 2, "cannot be written"),
        (["grad", "model.py:numbers"], 1, "a generator cannot be rewritten"),
        (["grad", "broken.py:f"], 2, "broken.py:1"),
        (["grad", "raises.py:f"], 2, "cannot be imported: ZeroDivisionError"),
    ],
)
def test_mistakes(model, capsys, arguments, status, message):
    (model / "broken.py").write_text("def f(:\n")
    (model / "raises.py").write_text("1 / 0\n")
    assert main(arguments) == status
    shown = capsys.readouterr().err
    assert message in shown and "Traceback" not in shown


def test_a_refusal_names_its_place(model, capsys):
    assert main(["grad", "model.py:numbers"]) == 1
    shown = capsys.readouterr().err
    assert "model.py:39" in shown and "yield n" in shown
