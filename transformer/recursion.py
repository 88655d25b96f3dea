"""Recursion that a compiled program, or a batch, cannot follow: said where it happens."""

from __future__ import annotations

from collections import Counter

from overt.runtime.errors import StagingError
from overt.transformer.rewrite import behind

OFTEN = 5


class EndlessRecursion(StagingError, RecursionError):
    """A function whose recursion ends by values that Python has not got."""


def endless(error: RecursionError) -> EndlessRecursion | None:
    """The error to raise in place of Python's; None for a recursion that is the user's own."""
    places: Counter[tuple[str, int, str]] = Counter()
    branches, trace = 0, error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_name in ("_staged", "_by_lane") and code.co_filename.endswith("branches.py"):
            branches += 1
        place = behind(code.co_filename, trace.tb_lineno)
        if place[1]:
            places[place] += 1
        trace = trace.tb_next
    if branches < OFTEN or not places:
        return None
    (file, line, text), _ = places.most_common(1)[0]
    return EndlessRecursion(
        f"{file}:{line}: a recursion ends by a value that only the compiled program has, or that "
        f"differs between the lanes of a vmap: Python would go on for ever\n    {text.strip()}\n"
        "Write it as a `while` loop, or end it by a Python number, such as a depth."
    )
