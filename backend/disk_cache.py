"""Compiled programs kept on disk, so that the next process does not compile them again.

Off unless `compilation_cache_dir` names a folder.  Loading a program runs code, so the folder must
belong to the user and be closed to others.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pathlib
import stat
import tempfile
import warnings
from typing import Any

import jaxlib
from jaxlib.mlir import ir
from jaxlib.mlir.passmanager import PassManager

from overt.backend.types import CONTEXT


def module_bytes(module: Any) -> bytes:
    """The module as MLIR bytecode."""
    import io

    out = io.BytesIO()
    module.operation.write_bytecode(out)
    return out.getvalue()


def without_places(module: ir.Module) -> Any:
    """The module without the files and lines that its operations come from."""
    bare: Any = module.operation.clone()
    with CONTEXT:
        PassManager.parse("builtin.module(strip-debuginfo)").run(bare)
    return bare


def key(module: ir.Module, device: Any, settings: dict[str, Any] | None) -> str:
    """What a compiled program depends on, as a file name."""
    digest = hashlib.sha256(module_bytes(without_places(module)))
    client = device.client
    for part in (
        jaxlib.__version__, client.platform, client.platform_version, device.device_kind,
        str(device.id), os.environ.get("XLA_FLAGS", ""), _cpu() if client.platform == "cpu" else "",
        repr(sorted((settings or {}).items())),
    ):  # fmt: skip
        digest.update(b"\0" + str(part).encode())
    return digest.hexdigest()


def _cpu() -> str:
    """What this CPU can do: a program compiled for another one may not run here."""
    with contextlib.suppress(OSError):
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith(("flags", "Features")):
                return line
    return ""


def private_folder(name: str) -> pathlib.Path | None:
    """The folder, made if need be; None (and a warning) when others could write to it."""
    folder = pathlib.Path(name).expanduser()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.stat()
    if (hasattr(os, "getuid") and status.st_uid != os.getuid()) or status.st_mode & (
        stat.S_IWGRP | stat.S_IWOTH
    ):
        warnings.warn(
            f"the compilation cache {folder} is not used: it must belong to you and be writable "
            "by you alone (chmod 700)",
            stacklevel=2,
        )
        return None
    return folder


def load(folder: pathlib.Path, name: str, device: Any, devices: Any, options: Any) -> Any:
    """The loaded executable, or None."""
    try:
        data = (folder / name).read_bytes()
    except OSError:
        return None
    try:
        return device.client.deserialize_executable(data, devices, options)
    except Exception as error:  # some CPUs reject what they compiled themselves (jax-ml/jax#38445)
        warnings.warn(f"a cached program was rejected and is compiled again: {error}", stacklevel=2)
        return None


def save(folder: pathlib.Path, name: str, device: Any, loaded: Any) -> None:
    """Keep a compiled program; a file appears whole or not at all."""
    try:
        data = device.client.serialize_executable(loaded)
    except Exception:  # not every platform can
        return
    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
        file.write(data)
    os.replace(file.name, folder / name)
