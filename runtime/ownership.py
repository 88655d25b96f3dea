"""Whose code is it: the user's, or a library's?  Where its file lies decides, not its name.

A user's module `statistics.py` beside the program is the user's, although Python has one too.
"""

from __future__ import annotations

import functools
import sys
import sysconfig
import types
from pathlib import Path
from typing import Any

__all__ = ["is_library", "is_users", "is_users_file", "is_users_module"]

NOT_THE_USERS = frozenset("overt numpy jaxlib jax scipy ml_dtypes".split())
INSTALLED = ("site-packages", "dist-packages")
PLACES = (
    str(Path(__file__).parent.parent) + "/",
    *{f"{sysconfig.get_path(kind)}/" for kind in ("stdlib", "platstdlib")},
)


@functools.cache
def is_users_file(file: str) -> bool:
    """Whether a file is neither Overt's, nor Python's own, nor installed.

    >>> is_users_file(__file__), is_users_file("/home/ada/statistics.py")
    (False, True)
    """
    return not (
        file.startswith(("<frozen", *PLACES)) or any(folder in file for folder in INSTALLED)
    )


def is_library(module: Any) -> bool:
    """Whether a module of this name is a library's; compiled classes have no name there.

    >>> is_library("builtins"), is_library("statistics"), is_library("__main__")
    (True, True, False)
    """
    name = module if module and isinstance(module, str) else "builtins"
    top = name.partition(".")[0]
    if top == "__main__":
        return False
    if top in NOT_THE_USERS:
        return True
    file = getattr(sys.modules.get(name), "__file__", None)
    if isinstance(file, str):
        return not is_users_file(file)
    return top in sys.stdlib_module_names


def is_users_module(module: types.ModuleType) -> bool:
    """Whether a module is the user's own, so that its attributes may change."""
    return not is_library(module.__name__)


def is_users(thing: Any) -> bool:
    """Whether a function or class is the user's own, not of the standard library or installed."""
    if getattr(thing, "__overt_plain__", False):
        return True  # plain Python of ours, such as the loops of `lax`, for the passes to read
    code = getattr(thing, "__code__", None)
    if code is not None and code.co_filename.startswith("<doctest"):
        return True
    module = getattr(thing, "__module__", None)
    by_exec = code is not None and module is None  # in a namespace without a name
    if not by_exec and is_library(module):
        return False
    return code is None or not any(folder in code.co_filename for folder in INSTALLED)
