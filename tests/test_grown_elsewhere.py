"""What is held in several places and changes in a branch, or by an operator: right, or refused."""

from __future__ import annotations

import pytest

import overt
from overt.runtime.config import enable_x64
from tests import grown_elsewhere
from tests.state import X, check, fresh, functions_of


@pytest.mark.parametrize("name", functions_of(grown_elsewhere))
def test_right_or_refused(name: str) -> None:
    check(grown_elsewhere, name, in_turn=True)


@pytest.mark.parametrize("name", ["s1", "s2", "s3", "t1", "t2", "t3"])
def test_values_beside_tangents(name: str) -> None:
    plain = float(fresh(grown_elsewhere, name, True)(X))
    with enable_x64(True):
        value, _ = overt.jvp(fresh(grown_elsewhere, name), (X,), (1.0,))
    assert float(value) == pytest.approx(plain, rel=1e-6)
