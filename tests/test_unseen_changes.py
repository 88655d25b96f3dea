"""Changes by functions that are not seen, and iterators over what changes."""

from __future__ import annotations

import pytest

from tests import unseen_changes
from tests.state import check, functions_of


@pytest.mark.parametrize("name", functions_of(unseen_changes))
def test_right_or_refused(name: str) -> None:
    check(unseen_changes, name, in_turn=False)
