"""The folder of compiled programs, as the settings say."""

from __future__ import annotations

from typing import Any

from overt.runtime.config import config

__all__ = ["policy"]


def policy() -> Any:
    """Where and which compiled programs are kept; None: none are."""
    folder = config.compilation_cache_dir
    if not folder or not config.enable_compilation_cache:
        return None
    from overt.backend.disk_cache import Policy

    return Policy(
        folder=str(folder),
        min_seconds=float(config.persistent_cache_min_compile_time_secs),
        min_bytes=int(config.persistent_cache_min_entry_size_bytes),
        max_bytes=int(config.compilation_cache_max_size),
        places=bool(config.compilation_cache_include_metadata_in_key),
        strict=bool(config.raise_persistent_cache_errors),
    )
