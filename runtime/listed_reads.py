"""Reading lists that the text does not show to be lists by numbers that are known only later.

`xs[i]` of an array is one operation; of a list it is a choice among its items, for which the text
needs a helper. Whether an argument is a list is seen when the code runs: then it is made again.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from overt.runtime.errors import TracerIntegerConversionError

__all__ = ["ANY_MAY_BE_A_LIST", "reading_lists"]

ANY_MAY_BE_A_LIST: ContextVar[bool] = ContextVar("overt_any_may_be_a_list", default=False)


def reading_lists(run: Callable[[], Any]) -> Any:
    """`run()`; once more, with texts that read lists, if one was read by a number of data."""
    try:
        return run()
    except TracerIntegerConversionError as error:
        if ANY_MAY_BE_A_LIST.get() or not str(error).startswith("an index "):
            raise
        first = error
    token = ANY_MAY_BE_A_LIST.set(True)
    try:
        return run()
    except TracerIntegerConversionError:
        raise first from None
    finally:
        ANY_MAY_BE_A_LIST.reset(token)
