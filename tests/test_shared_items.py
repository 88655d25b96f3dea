"""Items that are known or held twice, and what helpers change of them."""

from __future__ import annotations

import pytest

from tests import shared_items
from tests.state import check, functions_of


@pytest.mark.parametrize("name", functions_of(shared_items))
def test_right_or_refused(name: str) -> None:
    check(shared_items, name, in_turn=False)
