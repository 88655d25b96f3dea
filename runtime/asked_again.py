"""Lists read by numbers, and texts compared, that are known only later.

`xs[i]` of an array is one operation; of a list it is a choice among its items, for which the text
needs a helper. Whether an argument is a list is seen when the code runs: then it is made again. So
it is where a variable turns out to be one of several texts that data chooses.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from overt.runtime.errors import StagingError, TracerIntegerConversionError

__all__ = ["AskedOfText", "MAY_BE_CHOSEN", "asked_again"]

MAY_BE_CHOSEN: ContextVar[bool] = ContextVar("overt_may_be_chosen", default=False)


class AskedOfText(StagingError):
    """A text that data chooses is asked for something where the code needs to know it at once."""


def asked_again(run: Callable[[], Any]) -> Any:
    """`run()`; once more, with texts that read lists, if one was read by a number of data."""
    try:
        return run()
    except (TracerIntegerConversionError, AskedOfText) as error:
        index = isinstance(error, AskedOfText) or str(error).startswith("an index ")
        if MAY_BE_CHOSEN.get() or not index:
            raise
        first = error
    token = MAY_BE_CHOSEN.set(True)
    try:
        return run()
    except (TracerIntegerConversionError, AskedOfText):
        raise first from None
    finally:
        MAY_BE_CHOSEN.reset(token)
