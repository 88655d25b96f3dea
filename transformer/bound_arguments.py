"""Containers bound by `functools.partial`: all calls share them, so they must not be changed.

An argument is a value to a rewritten function, and what it changes is its own.
"""

from __future__ import annotations

import functools
import types
import weakref

from overt.runtime.ownership import is_users
from overt.runtime.places import GENERATED
from overt.runtime.world import CONTAINERS

_changed: weakref.WeakKeyDictionary[types.CodeType, set[str]] = weakref.WeakKeyDictionary()


def refuse_changed(
    function: types.FunctionType | None, bound: int, partial: functools.partial
) -> None:
    """Errors: Refusal if the function changes a container that the partial binds.

    `bound` parameters have a value already.
    """
    if function is None or not is_users(function) or function.__code__.co_filename in GENERATED:
        return
    names = function.__code__.co_varnames[bound : function.__code__.co_argcount]
    given = {**dict(zip(names, partial.args, strict=False)), **partial.keywords}
    for name in sorted(changed_parameters(function) & given.keys()):
        if isinstance(given[name], CONTAINERS):
            from overt.rewrites.refusal import Refusal

            raise Refusal(
                f"the argument {name!r} is bound by a partial and changed, which all calls share",
                "Pass it to the function in each call.",
            )


def changed_parameters(function: types.FunctionType) -> set[str]:
    """The parameters whose contents a function changes; none where it cannot be read."""
    code = function.__code__
    if code not in _changed:
        from overt.rewrites.refusal import Refusal
        from overt.rewrites.shared_defaults import changed_among
        from overt.transformer.load import load

        names = set(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
        try:
            _changed[code] = changed_among(names, load(function).node)
        except Refusal:
            _changed[code] = set()
    return _changed[code]
