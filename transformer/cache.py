"""The folder that keeps generated modules: the user's own, private, checked before use.

Every entry carries a hash of itself, so a file that was damaged or changed counts as missing.
Where the folder cannot be used everything works in memory, after one warning.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import tempfile
import warnings
from pathlib import Path
from typing import Any

_warned: set[str] = set()


def folder() -> Path:
    """Where generated modules are kept: `OVERT_CACHE_DIR`, else a folder of the user's cache."""
    if named := os.environ.get("OVERT_CACHE_DIR"):
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "overt"


def usable() -> Path | None:
    """The folder, made if need be; None (and one warning) if it is not private or not writable."""
    path = folder()
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        problem = _problem(path)
    except OSError as error:
        problem = str(error)
    if not problem:
        return path
    _warn_once(f"{path}: {problem}")
    return None


def _problem(path: Path) -> str:
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode):
        return "it is not a folder"
    if hasattr(os, "getuid") and found.st_uid != os.getuid():
        return "it belongs to another user"
    if found.st_mode & 0o077:
        return "others may enter it (its mode should be 0700)"
    if not os.access(path, os.W_OK | os.X_OK):
        return "it is not writable"
    return ""


def _warn_once(text: str) -> None:
    if text not in _warned:
        _warned.add(text)
        warnings.warn(
            f"generated code is kept in memory only: {text}; set OVERT_CACHE_DIR", stacklevel=4
        )


def digest(*parts: str) -> str:
    """A hash of texts, told apart from one another.

    >>> digest("a", "b") != digest("ab")
    True
    """
    found = hashlib.sha256()
    for part in parts:
        encoded = part.encode()
        found.update(f"{len(encoded)}:".encode() + encoded)
    return found.hexdigest()


def read(key: str) -> dict[str, Any] | None:
    """The entry kept under a key; None if there is none, or a damaged one."""
    path = usable()
    if path is None:
        return None
    try:
        checksum, _, body = (path / f"{key}.json").read_text("utf-8").partition("\n")
        if checksum != digest(key, body):
            return None
        return json.loads(body)
    except (OSError, ValueError):
        return None


def write(key: str, entry: dict[str, Any]) -> None:
    """Keep an entry; a folder that turns out not to be writable is left alone."""
    path = usable()
    if path is not None:
        body = json.dumps(entry, ensure_ascii=False)
        _replace(path / f"{key}.json", f"{digest(key, body)}\n{body}")


def module_file(name: str, text: str) -> str | None:
    """The path of a file that holds a generated module; None where it cannot be kept."""
    path = usable()
    if path is None:
        return None
    file = path / f"{name}_{digest(text)[:12]}.py"
    try:
        if file.is_file() and not file.is_symlink() and file.read_text("utf-8") == text:
            return str(file)
    except (OSError, ValueError):
        pass
    return str(file) if _replace(file, text) else None


def _replace(file: Path, text: str) -> bool:
    """Write a file in one step, so that no other process ever reads half of it."""
    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(dir=file.parent, prefix=".new-")
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as out:
            out.write(text)
        os.replace(temporary, file)
    except OSError as error:
        with contextlib.suppress(OSError):
            if temporary:
                os.unlink(temporary)
        _warn_once(f"{file.parent}: {error.strerror}")
        return False
    return True
