"""Compiled programs on disk: kept, found again, bounded, never in the way."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest

import overt
import overt.numpy as np
from overt.backend import client, disk_cache
from overt.runtime.config import config

SETTINGS = {
    "persistent_cache_min_compile_time_secs": 0.0,
    "persistent_cache_min_entry_size_bytes": 0,
    "compilation_cache_max_size": -1,
    "raise_persistent_cache_errors": False,
    "enable_compilation_cache": True,
    "compilation_cache_include_metadata_in_key": False,
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    path = tmp_path / "programs"
    before = {name: config.read(name) for name in (*SETTINGS, "compilation_cache_dir")}
    for name, value in SETTINGS.items():
        config.update(f"overt_{name}", value)
    config.update("overt_compilation_cache_dir", str(path))
    monkeypatch.setattr(disk_cache, "_warned", set())
    overt.clear_caches()
    yield path
    for name, value in before.items():
        config.update(name, value)


def compile_fresh(scale=2.0):
    """Compile a program of its own for each number, past the caches in memory."""
    function = overt.jit(lambda x: np.sin(x) * scale)
    return float(function.lower(1.0).compile()(1.0))


def kept(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.program"))


@pytest.fixture
def compiled(monkeypatch):
    """How many programs XLA has compiled."""
    counts = []
    cpu = client.client("cpu")

    class Counting:
        def __getattr__(self, name):
            return getattr(cpu, name)

    before = disk_cache.through

    def through(policy, module, device, settings, compile_):
        def counting():
            counts.append(1)
            return compile_()

        return before(policy, module, device, settings, counting)

    monkeypatch.setattr(disk_cache, "through", through)
    return counts


def test_second_time_from_the_disk(folder, compiled):
    first = compile_fresh()
    count = len(compiled)
    assert count >= 1 and len(kept(folder)) == count
    assert compile_fresh() == first and len(compiled) == count
    assert folder.stat().st_mode & 0o777 == 0o700


def test_lines_of_source_do_not_tell_programs_apart(folder, compiled):
    def one(x):
        return np.cos(x) * 3

    def other(x):
        return np.cos(x) * 3

    other.__qualname__ = one.__qualname__
    for f in (one, other):
        overt.jit(f).lower(1.0).compile()
    assert len(compiled) == 1
    config.update("compilation_cache_include_metadata_in_key", True)
    for f in (one, other):
        overt.jit(f).lower(1.0).compile()
    assert len(compiled) == 3


def test_what_is_not_kept(folder):
    for name, value in (
        ("persistent_cache_min_compile_time_secs", 60.0),
        ("persistent_cache_min_entry_size_bytes", 10**9), ("enable_compilation_cache", False),
        ("compilation_cache_max_size", 10),
    ):  # fmt: skip
        before = config.read(name)
        config.update(name, value)
        compile_fresh()
        assert not folder.exists() or not kept(folder), name
        config.update(name, before)
    compile_fresh()
    assert kept(folder)


def test_those_not_used_for_longest_go_first(folder):
    compile_fresh(1.0)
    (first,) = kept(folder)
    size = first.stat().st_size
    config.update("compilation_cache_max_size", int(3.5 * size))
    for i, scale in enumerate((2.0, 3.0)):
        compile_fresh(scale)
        for age, path in enumerate(sorted(kept(folder), key=lambda p: p.stat().st_mtime)):
            os.utime(path, (0, 1000 + 10 * i + age))
    compile_fresh(1.0)  # used again, so it stays
    left_over = folder / "writing-abandoned"
    left_over.write_bytes(b"half")
    os.utime(left_over, (0, 0))
    compile_fresh(4.0)
    assert first in kept(folder) and len(kept(folder)) == 3 and not left_over.exists()
    assert sum(p.stat().st_size for p in kept(folder)) <= 3.5 * size


def test_damaged_and_foreign_entries(folder, compiled):
    first = compile_fresh()
    count = len(compiled)
    for content in (b"", b"something else", kept(folder)[0].read_bytes()[:-1]):
        for path in kept(folder):
            path.write_bytes(content)
        disk_cache._warned.clear()
        with pytest.warns(UserWarning, match="damaged or foreign") as said:
            assert compile_fresh() == first
        assert len(said) == 1
    assert len(compiled) > count
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kept(folder)[0].write_bytes(b"again")
        assert compile_fresh() == first  # said once


def test_programs_that_this_machine_rejects(folder, monkeypatch):
    """As some CPUs do with what they compiled themselves."""
    first = compile_fresh()
    for path in kept(folder):
        data = b"not a program, though whole"
        digest = disk_cache.hashlib.sha256(data).digest()
        path.write_bytes(disk_cache.MAGIC + digest + data)
    with pytest.warns(UserWarning, match="a program is rejected and compiled again"):
        assert compile_fresh() == first
    for path in kept(folder):
        path.write_bytes(b"")
    config.update("raise_persistent_cache_errors", True)
    with pytest.raises(RuntimeError, match="damaged or foreign"):
        compile_fresh()


def test_a_folder_that_others_can_write_to(folder):
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.warns(UserWarning, match="must belong to you"):
        compile_fresh()
    assert not kept(folder)


def test_a_file_in_the_place_of_the_folder(folder):
    folder.write_text("")
    with pytest.warns(UserWarning, match="it is not used"):
        compile_fresh()


def test_many_processes_at_once(folder, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import overt, overt.numpy as np\n"
        "for n in range(1, 5):\n"
        "    print(float(overt.jit(lambda x: np.sum(x @ x.T))(np.ones((n, 3)))))\n"
    )
    variables = {
        **os.environ,
        "OVERT_COMPILATION_CACHE_DIR": str(folder),
        "OVERT_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "OVERT_COMPILATION_CACHE_MAX_SIZE": "200000",
    }
    command = [sys.executable, "-W", "error", str(script)]
    running = [
        subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(3)
    ]
    outputs = [p.communicate(timeout=100) for p in running]
    assert {o for o, _ in outputs} == {b"3.0\n12.0\n27.0\n48.0\n"}, outputs
    assert sum(p.stat().st_size for p in kept(folder)) <= 200000
    assert not list(folder.glob("writing-*"))


def test_clear_caches_forgets_programs(folder, compiled):
    f = overt.jit(lambda x: x * 2 + 1)
    f(np.ones(3))
    assert f.cache_size() == 1
    overt.clear_caches()
    assert f.cache_size() == 0
    start = time.perf_counter()
    assert f(np.ones(3)).tolist() == [3] * 3 and time.perf_counter() > start
