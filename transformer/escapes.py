"""Derivatives of functions that keep values in objects: the whole function runs on such values.

Generated derivative code follows local variables.  Where it meets a value kept in an object, or an
operator of the user's own, it raises `Escape`; what it did to objects is undone, and the function
is run as it stands on values that carry their derivatives, which objects may hold.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from overt.runtime.derivatives import joined_as_array
from overt.runtime.errors import NonConcreteBooleanIndexError, say_once
from overt.runtime.escape import BY_SOURCE, Escape
from overt.runtime.rollback import Before, Printed
from overt.runtime.tangents import holds_operators

# What Python says where the text counts with a list: its operators were taken for those of arrays.
ON_LISTS = re.compile(
    "can't multiply sequence|can only concatenate|(operand|bad operand) type.*'(list|tuple)'"
)


def or_on_values(run: Callable[[], Any], again: Callable[[], Any], name: str, *roots: Any) -> Any:
    """`run()`; if values escape from it, `again()`, with what it did to objects undone.

    `roots` are the function and what it is given.  The rules of operators are those of arrays, so
    that objects with operators of their own go the second way at once.
    """
    if any(map(holds_operators, roots[1:])):
        return again()
    before, printed = Before(roots), Printed()
    token = BY_SOURCE.set(True)
    try:
        with printed.noted():
            return run()
    except (Escape, NonConcreteBooleanIndexError) as escape:
        error: Exception = escape
    except TypeError as failure:
        if not ON_LISTS.search(str(failure)):
            raise
        error = joined_as_array([])
    finally:
        BY_SOURCE.reset(token)
    before.restore()
    say_once(
        ("escape", name),
        f"the derivative of {name} is recorded while it runs, not written as source: {error}",
        stacklevel=4,
    )
    token = BY_SOURCE.set(False)
    try:
        with printed.left_out():
            return again()
    finally:
        BY_SOURCE.reset(token)
