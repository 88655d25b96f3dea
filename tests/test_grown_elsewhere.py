"""What is held in several places and changes in a branch, or by an operator: right, or refused."""

from __future__ import annotations

import pytest

from tests import grown_elsewhere
from tests.state import check, functions_of


@pytest.mark.parametrize("name", functions_of(grown_elsewhere))
def test_right_or_refused(name: str) -> None:
    check(grown_elsewhere, name, in_turn=True)
