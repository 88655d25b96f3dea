"""Code that may change what it is given, as far as its instructions tell."""

from __future__ import annotations

import functools
import opcode
import types

# Methods of lists, dictionaries and sets that change their object.
METHODS = frozenset(
    "append extend insert remove clear sort reverse update add discard setdefault pop popitem "
    "popleft appendleft extendleft rotate difference_update intersection_update "
    "symmetric_difference_update".split()
)
# How compiled code stores into what it is given.
STORES = {
    opcode.opmap[n] for n in ("STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE") if n in opcode.opmap
}
OPERATOR, ADDED_TO = opcode.opmap["BINARY_OP"], 13  # `+=`


@functools.cache
def may_change(code: types.CodeType) -> bool:
    """Whether a function perhaps changes what one of its parameters holds."""
    if not code.co_argcount + code.co_kwonlyargcount:
        return False
    if not METHODS.isdisjoint(code.co_names):
        return True
    ops = code.co_code
    return any(
        ops[i] in STORES or ops[i] == OPERATOR and ops[i + 1] == ADDED_TO
        for i in range(0, len(ops), 2)
    )
