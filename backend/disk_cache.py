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
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import jaxlib
from jaxlib import _jax
from jaxlib.mlir import ir
from jaxlib.mlir.passmanager import PassManager

from overt.backend.types import CONTEXT

MAGIC = b"overt.program\n"  # then SHA-256 of what follows, then XLA's own bytes
SUFFIX = ".program"
ABANDONED = 3600.0  # seconds after which a file that is being written is left over


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


def key(
    module: ir.Module, device: Any, settings: dict[str, Any] | None, places: bool = False
) -> str:
    """What a compiled program depends on, as a file name."""
    digest = hashlib.sha256(module_bytes(module if places else without_places(module)))
    client = device.client
    for part in (
        jaxlib.__version__, client.platform, client.platform_version, device.device_kind,
        str(device.id), os.environ.get("XLA_FLAGS", ""),
        os.environ.get("LIBTPU_INIT_ARGS", ""), _cpu() if client.platform == "cpu" else "",
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


class Policy(NamedTuple):
    """Where compiled programs are kept, and which."""

    folder: str
    min_seconds: float = 0.0  # programs that compile faster are not kept
    min_bytes: int = 0  # nor are smaller ones
    max_bytes: int = -1  # of all together; those not used for longest go first
    places: bool = False  # whether lines of source tell programs apart
    strict: bool = False  # problems are errors, not warnings


def through(policy: Policy, module: Any, device: Any, settings: Any, compile_: Callable) -> Any:
    """The loaded program from the folder; else as `compile_()` makes it, and kept."""
    folder = private_folder(policy)
    if folder is None:
        return compile_()
    path = folder / f"{key(module, device, settings, policy.places)}{SUFFIX}"
    loaded = load(path, device, settings, policy)
    if loaded is not None:
        return loaded
    start = time.perf_counter()
    loaded = compile_()
    if time.perf_counter() - start >= policy.min_seconds:
        save(path, device, loaded, policy)
    return loaded


_warned: set[str] = set()


def problem(policy: Policy, kind: str, text: str) -> None:
    """Say once what is wrong with the folder; nothing depends on it but time."""
    if policy.strict:
        raise RuntimeError(f"the compilation cache {policy.folder}: {text}")
    if kind not in _warned:
        _warned.add(kind)
        warnings.warn(f"the compilation cache {policy.folder}: {text}", stacklevel=2)


def private_folder(policy: Policy) -> pathlib.Path | None:
    """The folder, made if need be; None (and a warning) when others could write to it."""
    folder = pathlib.Path(policy.folder).expanduser()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
    except OSError as error:
        problem(policy, "folder", f"it is not used: {error}")
        return None
    if (hasattr(os, "getuid") and status.st_uid != os.getuid()) or status.st_mode & (
        stat.S_IWGRP | stat.S_IWOTH
    ):
        problem(
            policy, "folder",
            "it is not used: it must belong to you and be writable by you alone (chmod 700)",
        )  # fmt: skip
        return None
    return folder


def load(path: pathlib.Path, device: Any, settings: Any, policy: Policy) -> Any:
    """The loaded executable, or None."""
    from overt.backend.execute import compile_options

    try:
        data = path.read_bytes()
    except OSError:
        return None
    digest, data = data[len(MAGIC) : len(MAGIC) + 32], data[len(MAGIC) + 32 :]
    if hashlib.sha256(data).digest() != digest:
        problem(policy, "damaged", f"{path.name} is damaged or foreign; it is compiled again")
        return None
    options = compile_options(device, settings)
    devices = _jax.DeviceList((device,))
    try:
        loaded = device.client.deserialize_executable(data, devices, options)
    except Exception as error:  # some CPUs reject what they compiled themselves (jax-ml/jax#38445)
        problem(policy, "rejected", f"a program is rejected and compiled again: {error}")
        return None
    with contextlib.suppress(OSError):
        os.utime(path)  # used now, so among the last to go
    return loaded


def save(path: pathlib.Path, device: Any, loaded: Any, policy: Policy) -> None:
    """Keep a compiled program; a file appears whole or not at all."""
    try:
        data = device.client.serialize_executable(loaded)
    except Exception:  # not every platform can
        return
    whole = MAGIC + hashlib.sha256(data).digest() + data
    if len(data) < policy.min_bytes or 0 <= policy.max_bytes < len(whole):
        return
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix="writing-", delete=False) as file:
            file.write(whole)
        os.replace(file.name, path)
        if policy.max_bytes >= 0:
            evict(path.parent, policy.max_bytes)
    except OSError as error:
        problem(policy, "write", f"a program is not kept: {error}")


def evict(folder: pathlib.Path, max_bytes: int) -> None:
    """Remove the programs not used for longest until the others fit; other processes may too."""
    found = []
    for path in folder.iterdir():
        with contextlib.suppress(OSError):
            status = path.stat()
            if path.name.startswith("writing-") and time.time() - status.st_mtime > ABANDONED:
                path.unlink()
            elif path.suffix == SUFFIX:
                found.append((status.st_mtime_ns, status.st_size, path))
    total = sum(size for _, size, _ in found)
    for _, size, path in sorted(found):
        if total <= max_bytes:
            return
        with contextlib.suppress(OSError):
            path.unlink()
        total -= size
