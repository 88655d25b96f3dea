"""Generated modules on disk and in memory: private, checked, found again, never stale."""

from __future__ import annotations

import linecache
import os
import subprocess
import sys
import textwrap
import warnings

import pytest

import overt
import overt.numpy as np
from overt.transformer import cache, rewrite, transformed


@pytest.fixture
def folder(tmp_path, monkeypatch):
    path = tmp_path / "cache"
    monkeypatch.setenv("OVERT_CACHE_DIR", str(path))
    monkeypatch.setattr(cache, "_warned", set())
    monkeypatch.setattr(rewrite, "_memory", {})
    monkeypatch.setattr(transformed, "_alive", type(transformed._alive)())
    return path


def square(x):
    y = x * x  # a comment
    return y


def test_files_are_private_and_known_to_linecache(folder):
    assert float(overt.grad(square)(3.0)) == 6.0
    assert folder.stat().st_mode & 0o777 == 0o700
    live = transformed.plain(square)
    file = live.__code__.co_filename
    assert os.path.dirname(file) == str(folder)
    assert "# a comment" in "".join(linecache.getlines(file))
    assert all(p.stat().st_mode & 0o077 == 0 for p in folder.iterdir())


def test_a_folder_that_others_may_enter_is_not_used(folder):
    folder.mkdir(mode=0o755)
    folder.chmod(0o755)
    with pytest.warns(UserWarning, match="others may enter"):
        assert float(overt.grad(square)(3.0)) == 6.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert float(overt.jit(square)(3.0)) == 9.0
    assert not list(folder.iterdir())
    file = transformed.plain(square).__code__.co_filename
    assert file.startswith("<overt ") and "# a comment" in "".join(linecache.getlines(file))


def test_a_folder_that_cannot_be_made(folder, monkeypatch):
    monkeypatch.setenv("OVERT_CACHE_DIR", "/proc/nowhere/cache")
    with pytest.warns(UserWarning, match="in memory only"):
        assert float(overt.grad(square)(3.0)) == 6.0


def test_damaged_entries_are_made_again(folder, monkeypatch):
    overt.grad(square)(3.0)
    for path in folder.iterdir():
        path.write_text(path.read_text()[: len(path.read_text()) // 2])
    monkeypatch.setattr(rewrite, "_memory", {})
    monkeypatch.setattr(transformed, "_alive", type(transformed._alive)())
    assert float(overt.grad(square)(3.0)) == 6.0


def test_an_entry_of_another_hash_is_not_used(folder, monkeypatch):
    overt.grad(square)(3.0)
    for path in folder.glob("*.json"):
        path.write_text(path.read_text().replace("x", "y", 1).replace("* x", "* 5"))
    monkeypatch.setattr(rewrite, "_memory", {})
    monkeypatch.setattr(transformed, "_alive", type(transformed._alive)())
    assert float(overt.grad(square)(3.0)) == 6.0


SCRIPT = """
import sys
import overt, overt.numpy as np
def helper(x):
    return {factor} * x
def f(x):
    s = 0.0
    for i in range(3):
        s = s + helper(x) * i
    return s
print(float(overt.grad(f)(2.0)), float(overt.jit(f)(2.0)))
print("overt.rewrites.normalize" in sys.modules)
"""


def run(path) -> list[str]:
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_a_warm_process_rewrites_nothing(folder, tmp_path):
    path = tmp_path / "script.py"
    path.write_text(textwrap.dedent(SCRIPT.format(factor=3)))
    assert run(path) == ["9.0", "18.0", "True"]
    assert run(path) == ["9.0", "18.0", "False"]
    path.write_text(textwrap.dedent(SCRIPT.format(factor=5)))
    assert run(path) == ["15.0", "30.0", "True"]


def test_functions_of_one_text_with_different_helpers():
    def make(helper):
        def f(x):
            return helper(x) * 2.0

        return f

    f, g = make(np.sin), make(np.exp)
    assert overt.source(overt.grad(f)) != overt.source(overt.grad(g))
    assert float(overt.grad(f)(0.0)) == 2.0
    assert float(overt.grad(g)(0.0)) == 2.0
    assert float(overt.grad(make(lambda x: 5.0 * x))(0.0)) == 10.0


def test_a_redefined_helper_is_seen():
    def helper(x):
        return 2.0 * x

    def f(x):
        return helper(x)

    g = overt.grad(f)
    assert float(g(1.0)) == 2.0

    def helper(x):  # noqa: F811
        return 3.0 * x

    assert float(g(1.0)) == 3.0


class Base:
    def value(self, x):
        return x


class Child(Base):
    def __init__(self):
        self.__factor = 3.0

    def value(self, x, power=2):
        if x > 0:
            x = super().value(x) * self.__factor**power
        return x


def test_private_names_defaults_and_closures_stay_real():
    assert float(overt.grad(Child().value)(1.0)) == 9.0
    default = [1.0]

    def f(x, scale=default):
        return x * scale[0]

    assert f.__defaults__[0] is default
    live = transformed.plain(f)
    assert live.__defaults__[0] is default
    assert live.__globals__ is f.__globals__
    before = set(globals())
    overt.grad(f)(1.0)
    assert set(globals()) == before
