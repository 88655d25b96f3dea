"""Recording another process through the port of its profiler server."""

from __future__ import annotations

import argparse
import gzip
import importlib
import sys
from pathlib import Path
from typing import Any

__all__ = ["collect", "main"]

TRIES = 3
# The packages that speak with a profiler server, newest first.
CLIENTS = ("xprof", "tensorboard_plugin_profile")


def client() -> tuple[Any, Any]:
    """(what asks a server to record, what turns its answer into a trace).

    Errors: RuntimeError when no package for that is installed.
    """
    for name in CLIENTS:
        try:
            convert = importlib.import_module(f"{name}.convert.raw_to_tool_data")
            remote = importlib.import_module(f"{name}.convert._pywrap_profiler_plugin")
        except ImportError:
            continue
        return remote, convert
    raise RuntimeError("collecting a profile from another process needs: pip install xprof")


def collect(port: int, milliseconds: int, host: str, folder: Path) -> Path:
    """Record the process whose profiler server listens at a port; the file for Perfetto."""
    from overt.runtime.profiler import perfetto_file

    remote, convert = client()
    options = {"host_tracer_level": 2, "device_tracer_level": 1, "python_tracer_level": 1}
    remote.trace(f"{host}:{port}", str(folder), "", True, milliseconds, TRIES, options)
    runs = (folder / "plugins" / "profile").iterdir()
    run = max(runs, key=lambda path: path.stat().st_mtime)
    planes = [str(path) for path in run.glob("*.xplane.pb")]
    if not planes:
        raise RuntimeError(f"{host}:{port} recorded nothing: is a profiler server there?")
    trace, _ = convert.xspace_to_tool_data(planes, "trace_viewer", {})
    data = trace if isinstance(trace, bytes) else trace.encode()
    (run / "remote.trace.json.gz").write_bytes(gzip.compress(data))
    return perfetto_file(folder)


def main(arguments: list[str] | None = None) -> int:
    """`python -m overt.collect_profile PORT MILLISECONDS`; the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m overt.collect_profile",
        description="Record a process that has called overt.profiler.start_server(PORT).",
    )
    parser.add_argument("port", type=int)
    parser.add_argument("duration_in_ms", type=int)
    parser.add_argument("--log_dir", default="profile", help="for TensorBoard (default: profile)")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--no_perfetto_link", action="store_true")
    given = parser.parse_args(arguments)
    folder = Path(given.log_dir)
    try:
        path = collect(given.port, given.duration_in_ms, given.host, folder)
    except RuntimeError as error:
        print(f"overt: {error}", file=sys.stderr)
        return 1
    print(f"written to {folder}, for Perfetto: {path}")
    if not given.no_perfetto_link:
        from overt.runtime.profiler import show_in_perfetto

        show_in_perfetto(path)
    return 0
