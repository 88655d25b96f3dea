"""XLA's profiler: sessions, annotations, the memory that a client holds."""

from __future__ import annotations

import gzip
from typing import Any

from jaxlib import _profile_data, _profiler

from overt.backend import client

ProfileData = _profile_data.ProfileData
ProfileEvent = _profile_data.ProfileEvent
ProfilePlane = _profile_data.ProfilePlane
register_subprocess = _profiler.register_subprocess
TraceMe = _profiler.TraceMe
Options = _profiler.ProfileOptions
_registered: set[str] = set()


def session(options: Any = None) -> Any:
    """A session that records from now on, on every client there is."""
    for platform, api in client._apis.items():
        if platform not in _registered:
            _registered.add(platform)
            _profiler.register_plugin_profiler(api)
    return (
        _profiler.ProfilerSession(options) if options is not None else _profiler.ProfilerSession()
    )


def serve(port: int) -> Any:
    """A server that records when a client asks it to."""
    return _profiler.start_server(port)


def memory_profile(platform: str | None = None) -> bytes:
    """What holds device memory, as a gzipped profile in pprof's format."""
    found = client.client(platform or client.default_platform()).heap_profile()
    return found if found[:2] == b"\x1f\x8b" else gzip.compress(found)
