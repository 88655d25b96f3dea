"""What lives outside of a function, under any name, call by call and lane by lane."""

from __future__ import annotations

import pytest

from tests import state_of_others
from tests.state import check, functions_of


@pytest.mark.parametrize("name", functions_of(state_of_others))
def test_right_or_refused(name: str) -> None:
    check(state_of_others, name, in_turn=True)
