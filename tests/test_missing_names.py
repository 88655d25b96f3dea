"""`docs/missing_names.md` lists names that are absent, and each once."""

from __future__ import annotations

import importlib
import pathlib
import re

import pytest

PAGE = pathlib.Path(__file__).parent.parent / "docs" / "missing_names.md"
ROW = re.compile(r"^\| `(overt[\w.]*)` \| ((?:`\w+` ?)+)\|", re.M)
LISTED = [
    (module, name)
    for module, names in ROW.findall(PAGE.read_text())
    for name in re.findall(r"`(\w+)`", names)
]


def test_the_page_is_read_whole():
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    assert len(rows) == len(ROW.findall(PAGE.read_text())) > 5
    assert len(set(LISTED)) == len(LISTED)


@pytest.mark.parametrize(("module", "name"), LISTED)
def test_a_listed_name_is_absent(module, name):
    assert not hasattr(importlib.import_module(module), name)
    with pytest.raises(ImportError):
        importlib.import_module(f"{module}.{name}")
