"""What a method keeps of its arguments in a list of its object; a class above may have made it."""

from __future__ import annotations

from typing import Any

import pytest

import overt


class Keeper:
    def __init__(self):
        self.kept = []

    def keep(self, row):
        self.kept.append(row)


class Heir(Keeper):
    pass


class HeirWithMore(Keeper):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale


def kept_by_an_heir(x):
    o = Heir()
    for i in range(3):
        row = [x * i]
        o.keep(row)
        row.append(x)
    return sum(sum(r) for r in o.kept)


def kept_by_an_heir_with_more(x):
    o = HeirWithMore(x)
    for i in range(3):
        row = [x * i]
        o.keep(row)
        row.append(x)
    return sum(sum(r) for r in o.kept) * o.scale


@pytest.mark.filterwarnings("ignore::overt.errors.RecordedWarning")
@pytest.mark.parametrize("f", [kept_by_an_heir, kept_by_an_heir_with_more])
def test_right_or_refused(f: Any) -> None:
    for transformed in (overt.jit(f), overt.grad(f), lambda x: overt.jvp(f, (x,), (1.0,))):
        with pytest.raises(NotImplementedError, match="stands for or holds as well"):
            transformed(0.7)
