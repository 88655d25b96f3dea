"""Imports every module of the runtime, so that all that registers itself is there."""

from __future__ import annotations

import importlib
import pkgutil

import overt.runtime

NAMES = [m.name for m in pkgutil.walk_packages(overt.runtime.__path__, "overt.runtime.")]

for _name in NAMES:
    importlib.import_module(_name)
