"""The profiler: traces and what is in them, memory profiles, the server."""

from __future__ import annotations

import gzip
import json
import socket
import threading
import time
import urllib.request

import numpy
import pytest

import overt
import overt.numpy as np
from overt import profiler
from overt.runtime import collect_profile as remote
from overt.runtime import profiler as profiling


def names(folder) -> set[str]:
    """The names of all events in the trace of a folder."""
    (path,) = folder.rglob("*.xplane.pb")
    data = profiler.ProfileData.from_file(str(path))
    return {e.name for plane in data.planes for line in plane.lines for e in line.events}


def test_trace_holds_annotations_and_a_perfetto_file(tmp_path):
    @overt.jit
    def product(x):
        return x @ x

    with profiler.trace(tmp_path, create_perfetto_trace=True):
        with profiler.TraceAnnotation("my block", size=64):
            product(np.ones((64, 64))).block_until_ready()
        with profiler.StepTraceAnnotation("train", step_num=7):
            profiler.annotate_function(lambda x: x + 1, name="my function")(np.ones(3))
    found = names(tmp_path)
    assert {"my block", "train", "my function"} <= found
    (path,) = tmp_path.rglob("perfetto_trace.json.gz")
    with gzip.open(path) as file:
        events = json.load(file)["traceEvents"]
    (block,) = (e for e in events if e.get("name") == "my block")
    assert block["args"] == {"size": "64"} and block["ph"] == "X" and block["dur"] > 0


def test_options(tmp_path):
    def traced_python(x):
        return sorted([x, 1, 2])

    for level, seen in ((1, True), (0, False)):
        options = profiler.ProfileOptions()
        options.python_tracer_level = level
        folder = tmp_path / str(level)
        with profiler.trace(folder, profiler_options=options):
            traced_python(3)
        assert any("traced_python" in name for name in names(folder)) == seen


def test_one_trace_at_a_time(tmp_path):
    profiler.start_trace(str(tmp_path))
    with pytest.raises(RuntimeError, match="going on already"):
        profiler.start_trace(str(tmp_path))
    profiler.stop_trace()
    with pytest.raises(RuntimeError, match="no trace to stop"):
        profiler.stop_trace()


def varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 128:
            return value, at


def fields(data: bytes) -> list[tuple[int, object]]:
    """The fields of a protocol buffer."""
    found, at = [], 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 2:
            size, at = varint(data, at)
            found.append((tag >> 3, data[at : at + size]))
            at += size
        else:
            value, at = varint(data, at)
            found.append((tag >> 3, value))
    return found


def numbers(data: bytes) -> list[int]:
    found, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        found.append(value)
    return found


def make_big_array():
    return np.zeros((123, 457)) + 1


def test_memory_profile_knows_size_and_line(tmp_path):
    kept = make_big_array()
    path = tmp_path / "memory.prof"
    profiler.save_device_memory_profile(path)
    profile = fields(gzip.decompress(path.read_bytes()))
    samples = [dict(fields(value)) for field, value in profile if field == 2]
    sizes = [numbers(sample[2])[1] for sample in samples]
    assert kept.nbytes in sizes
    texts = [value.decode() for field, value in profile if field == 6]
    assert "make_big_array" in texts and __file__ in texts
    kept.delete()
    assert numpy.size(profiler.device_memory_profile("cpu")) > 0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return probe.getsockname()[1]


def test_link_serves_the_trace_once(tmp_path, monkeypatch, capsys):
    port = free_port()
    monkeypatch.setattr(profiling, "PERFETTO_PORT", port)
    got = []

    def fetch():
        for _ in range(100):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/trace") as answer:
                    got.append((answer.headers["Access-Control-Allow-Origin"], answer.read()))
                return
            except OSError:
                time.sleep(0.05)

    reader = threading.Thread(target=fetch)
    reader.start()
    with profiler.trace(tmp_path, create_perfetto_link=True):
        np.ones(3).block_until_ready()
    reader.join(10)
    assert f"ui.perfetto.dev/#!/?url=http://127.0.0.1:{port}/" in capsys.readouterr().out
    (path,) = tmp_path.rglob("perfetto_trace.json.gz")
    assert got == [("https://ui.perfetto.dev", path.read_bytes())]


def test_collecting_needs_a_package(capsys, monkeypatch):
    from overt import collect_profile

    monkeypatch.setattr(remote, "CLIENTS", ("no_such_package",))
    assert collect_profile.main(["9999", "10", "--no_perfetto_link"]) == 1
    assert "pip install xprof" in capsys.readouterr().err


def test_server():
    port = free_port()
    profiler.start_server(port)
    with pytest.raises(ValueError, match="one profiler server"):
        profiler.start_server(port)
    with socket.create_connection(("localhost", port), timeout=5):
        pass
    profiler.stop_server()
    with pytest.raises(ValueError, match="no profiler server"):
        profiler.stop_server()
