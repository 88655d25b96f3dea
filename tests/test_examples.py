"""The examples run as a newcomer runs them; each checks its own result."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
SECONDS = 300  # two cores that other tests share


def output_of(name: str) -> str:
    """What an example prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / f"{name}.py"],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        env={**os.environ, "PYTHONUTF8": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr, done.stderr
    return done.stdout


def test_every_example_is_tested_here():
    tested = {name.removeprefix("test_") for name in globals() if name.startswith("test_")}
    assert {path.stem for path in EXAMPLES.glob("*.py")} <= tested


def test_digits():
    pytest.importorskip("sklearn")
    text = output_of("digits")
    accuracies = [float(found) for found in re.findall(r"held out (\d+\.\d+)%", text)]
    assert max(accuracies) >= 96.0
    assert "stopping early" in text


def test_newton():
    assert len(output_of("newton").splitlines()) == 6


def test_ode():
    assert "found 1.1000 and 0.7000" in output_of("ode")


def test_raymarch():
    rows = [line for line in output_of("raymarch").splitlines() if len(line) == 64]
    assert len(rows) == 26
    assert {"@", " ", ".", "#"} <= set("".join(rows))
