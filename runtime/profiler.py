"""Where time and device memory go: traces for TensorBoard and Perfetto, profiles for pprof."""

from __future__ import annotations

import functools
import gzip
import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from overt.backend import profiling
from overt.backend.profiling import (
    ProfileData,
    ProfileEvent,
    ProfilePlane,
    register_subprocess,
)

__all__ = [
    "ProfileData", "ProfileEvent", "ProfileOptions", "ProfilePlane", "StepTraceAnnotation",
    "TraceAnnotation", "annotate_function", "device_memory_profile", "register_subprocess",
    "save_device_memory_profile", "start_server", "start_trace", "stop_server", "stop_trace",
    "trace",
]  # fmt: skip

PERFETTO_PORT = 9001  # the one local port that ui.perfetto.dev may read from


class ProfileOptions(profiling.Options):
    """What a trace records: levels of the host's, Python's and the device's tracers.

    >>> options = ProfileOptions()
    >>> options.python_tracer_level = 0  # no event for each Python call
    """


class TraceAnnotation(profiling.TraceMe):
    """Name what happens inside a `with` block in the trace.

    >>> with TraceAnnotation("epoch", number=3):
    ...     pass
    """


class StepTraceAnnotation(profiling.TraceMe):
    """Mark a training step: `with StepTraceAnnotation("train", step_num=i):`."""

    def __init__(self, name: str, **kwargs: Any) -> None:
        super().__init__(name, _r=1, **kwargs)


def annotate_function(func: Callable, name: str | None = None, **kwargs: Any) -> Callable:
    """The function, its calls named in the trace.

    >>> annotate_function(abs, "size")(-2)
    2
    """
    label = name or getattr(func, "__qualname__", None) or getattr(func, "__name__", "function")

    @functools.wraps(func)
    def annotated(*args: Any, **given: Any) -> Any:
        with TraceAnnotation(label, **kwargs):
            return func(*args, **given)

    return annotated


# --- traces


class _Recording:
    """The one trace that can be going on in a process."""

    lock = threading.Lock()
    session: Any = None
    folder: Path = Path()
    perfetto: tuple[bool, bool] = (False, False)  # (file, link)


def start_trace(
    log_dir: os.PathLike[str] | str, create_perfetto_link: bool = False,
    create_perfetto_trace: bool = False, profiler_options: ProfileOptions | None = None,
) -> None:  # fmt: skip
    """Record what host and devices do until `stop_trace`, for TensorBoard in `log_dir`.

    `create_perfetto_trace` also writes `perfetto_trace.json.gz`; `create_perfetto_link` prints an
    address that shows it, and waits until that was opened.

    Errors: RuntimeError when a trace is going on already.
    """
    from overt.runtime.interop import default_backend

    with _Recording.lock:
        if _Recording.session is not None:
            raise RuntimeError("a trace is going on already: end it with overt.profiler.stop_trace")
        default_backend()  # a client made later would not be recorded
        _Recording.session = profiling.session(profiler_options)
        _Recording.folder = Path(log_dir)
        _Recording.perfetto = (create_perfetto_trace, create_perfetto_link)


def stop_trace() -> None:
    """End the trace and write it.

    Errors: RuntimeError when there is none.
    """
    with _Recording.lock:
        session, _Recording.session = _Recording.session, None
        if session is None:
            raise RuntimeError("there is no trace to stop: start one with start_trace")
        session.stop_and_export(str(_Recording.folder))
        file, link = _Recording.perfetto
        if file or link:
            written = perfetto_file(_Recording.folder)
            if link:
                show_in_perfetto(written)


@contextmanager
def trace(
    log_dir: os.PathLike[str] | str, create_perfetto_link: bool = False,
    create_perfetto_trace: bool = False, profiler_options: ProfileOptions | None = None,
) -> Iterator[None]:  # fmt: skip
    """Record what happens inside a `with` block; options are those of `start_trace`."""
    start_trace(log_dir, create_perfetto_link, create_perfetto_trace, profiler_options)
    try:
        yield
    finally:
        stop_trace()


def perfetto_file(folder: Path) -> Path:
    """Write the newest trace of a folder as Perfetto reads it; the file."""
    runs = sorted((folder / "plugins" / "profile").iterdir(), key=lambda p: p.stat().st_mtime)
    events: list[Any] = []
    for path in sorted(runs[-1].glob("*.trace.json.gz")):
        with gzip.open(path) as file:
            events += [e for e in json.load(file)["traceEvents"] if e]
    written = runs[-1] / "perfetto_trace.json.gz"
    with gzip.open(written, "wt", encoding="utf-8") as out:
        json.dump({"displayTimeUnit": "ns", "traceEvents": events}, out)
    return written


def show_in_perfetto(path: Path) -> None:
    """Serve a trace to Perfetto's page once."""
    import http.server

    site = "https://ui.perfetto.dev"
    served = False

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:  # noqa: N802
            nonlocal served
            data = path.read_bytes()
            self.send_response(200)
            self.send_header("Access-Control-Allow-Origin", site)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
            served = True

        def log_message(self, *args: Any) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", PERFETTO_PORT), Handler) as server:
        print(f"Open {site}/#!/?url=http://127.0.0.1:{PERFETTO_PORT}/{path.name}", flush=True)
        while not served:
            server.handle_request()


# --- a server that records on request

_server: Any = None


def start_server(port: int, requires_backend: bool = True) -> Any:
    """Let TensorBoard or `python -m overt.collect_profile` record this process through a port.

    Errors: ValueError when there is a server already.
    """
    global _server
    if _server is not None:
        raise ValueError("there can be one profiler server in a process: stop_server ends it")
    if requires_backend:
        from overt.runtime.interop import default_backend

        default_backend()
    _server = profiling.serve(port)
    return _server


def stop_server() -> None:
    """End the server.

    Errors: ValueError when there is none.
    """
    global _server
    if _server is None:
        raise ValueError("there is no profiler server: start_server begins one")
    _server = None


# --- device memory


def device_memory_profile(backend: str | None = None) -> bytes:
    """What holds device memory and which lines made it: a gzipped profile for pprof."""
    return profiling.memory_profile(backend)


def save_device_memory_profile(
    filename: os.PathLike[str] | str, backend: str | None = None
) -> None:
    """Write `device_memory_profile` to a file, to be read with `pprof`."""
    Path(filename).write_bytes(device_memory_profile(backend))
