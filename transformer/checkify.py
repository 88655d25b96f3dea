"""`checkify`: functions that return what has failed in them, instead of raising it."""

from __future__ import annotations

import enum
import functools
import linecache
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from overt.runtime import checks
from overt.runtime.array import Array
from overt.runtime.dispatch import CHECKS
from overt.runtime.errors import CheckError
from overt.runtime.interop import as_array
from overt.runtime.lax import stop_gradient
from overt.runtime.masks import active_lanes
from overt.runtime.parts import is_array
from overt.runtime.staged_builtins import each_lane
from overt.runtime.tree import tree_flatten, tree_leaves, tree_map
from overt.runtime.tree_registry import register_pytree_node
from overt.transformer import rewrite, transformed
from overt.transformer.transformed import Transformed, noted


class ErrorCategory(enum.Enum):
    """What may fail: a check of the user's, an operation that makes a NaN, an index, a division."""

    USER_CHECK = "user"
    NAN = "nan"
    OOB = "index"
    DIV = "div"


Categories = frozenset[ErrorCategory]

user_checks: Categories = frozenset({ErrorCategory.USER_CHECK})
nan_checks: Categories = frozenset({ErrorCategory.NAN})
index_checks: Categories = frozenset({ErrorCategory.OOB})
div_checks: Categories = frozenset({ErrorCategory.DIV})
float_checks: Categories = nan_checks | div_checks
automatic_checks: Categories = float_checks | index_checks
all_checks: Categories = automatic_checks | user_checks


class Error:
    """What has failed first in a checked function, if anything: a value that programs can return.

    >>> from overt.experimental import checkify
    >>> checkify.init_error.get() is None
    True
    """

    __slots__ = ("code", "values", "sites")

    def __init__(
        self, code: Any = 0, values: dict[int, list[Any]] | None = None,
        sites: Sequence[checks.Site] = (),
    ) -> None:  # fmt: skip
        self.code = code  # the number of a site, from 1; 0 where nothing has failed
        self.values = values or {}  # of each site, for its message
        self.sites = tuple(sites)

    def get(self) -> str | None:
        """The message of the first failure, or None; of a mapped function, those of all lanes."""
        codes = numpy.asarray(self.code)
        if not codes.any():
            return None
        if not codes.shape:
            return self.message(())
        places = [tuple(map(int, place)) for place in numpy.argwhere(codes)]
        return "\n".join(
            f"at mapped index {', '.join(map(str, p))}: {self.message(p)}" for p in places
        )

    def message(self, place: tuple[int, ...]) -> str:
        """The message of one lane."""
        n = int(numpy.asarray(self.code)[place])
        site = self.sites[n - 1]
        leaves = [as_array(numpy.asarray(x)[place]) for x in self.values[n]]
        return said(site, leaves)

    def get_exception(self) -> CheckError | None:
        """The failure as an exception, or None."""
        text = self.get()
        return None if text is None else CheckError(text)

    def throw(self) -> None:
        """Raise the failure, if there is one."""
        if (error := self.get_exception()) is not None:
            raise error

    def __str__(self) -> str:
        return f"Error({self.get()})"

    def __repr__(self) -> str:
        return str(self) if isinstance(self.code, int) or is_concrete(self.code) else "Error(...)"


register_pytree_node(
    Error,
    lambda e: ((e.code, [x for n in e.values for x in e.values[n]]), (e.sites, shape_of(e))),
    lambda aux, kids: Error(kids[0], filled(aux[1], kids[1]), aux[0]),
)


def shape_of(error: Error) -> tuple[tuple[int, int], ...]:
    return tuple((n, len(values)) for n, values in error.values.items())


def filled(shape: tuple[tuple[int, int], ...], leaves: Sequence[Any]) -> dict[int, list[Any]]:
    rest = iter(leaves)
    return {n: [next(rest) for _ in range(count)] for n, count in shape}


init_error = Error()


def is_concrete(x: Any) -> bool:
    return not isinstance(x, Array) or hasattr(x, "buffer")


def said(site: checks.Site, leaves: list[Any]) -> str:
    """The message of a failure, and the user's line."""
    lanes, leaves = leaves[: site.lanes], leaves[site.lanes :]
    args, kwargs = site.definition.unflatten(leaves)
    text = site.text.format(*args, **kwargs)
    if lanes:
        text += f"\n  at index {', '.join(map(str, lanes))} of the vmap"
    file, line, code = user_place(site.lines)
    return f'{text}\n  File "{file}", line {line}\n    {code}' if line else text


def user_place(lines: Sequence[tuple[str, int]]) -> rewrite.Place:
    """The user's line behind the innermost of some lines, generated ones or not."""
    for file, line in lines:
        if file not in rewrite.PLACES:
            return file, line, linecache.getline(file, line).strip()
        place = rewrite.behind(file, line)
        if place[1]:
            return place
    return rewrite.NO_PLACE


class Checkified(Transformed):
    """A function that returns `(error, result)`."""

    suffix = "checked"
    closed = False

    def __init__(self, fn: Callable[..., Any], errors: Categories) -> None:
        super().__init__(fn)
        self.errors = errors
        self.chain = f"checkify({', '.join(sorted(e.value for e in errors))})"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        fn = self.__wrapped__
        if not isinstance(fn, Transformed):  # those take numbers as they need them
            args, kwargs = tree_map(lambda x: as_array(x) if is_array(x) else x, (args, kwargs))
        return self.running(transformed.lifted(fn))(*args, **kwargs)

    def running(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """Another function, one derived from the wrapped one, run under the same checks."""
        return functools.partial(run_checked, fn, frozenset(e.value for e in self.errors))

    def printed_source(self) -> Any:
        return transformed.lift(self.source())


def run_checked(
    fn: Callable[..., Any], kinds: frozenset[str], *args: Any, **kwargs: Any
) -> tuple[Error, Any]:
    """`(error, result)` of a function."""
    with noted(), checks.opened(kinds) as ledger:
        out = fn(*args, **kwargs)
        record = ledger.record()
    code = record.code if record.values else numpy.int32(0)
    return Error(as_array(code), record.values, list(ledger.numbers)), out


def checkify(f: Callable[..., Any], errors: Categories = user_checks) -> Checkified:
    """A function that returns `(error, result)`, where `f` would fail a check.

    `errors` says which checks are made: `user_checks` (calls of `check`), `nan_checks`,
    `div_checks`, `index_checks`, or several of them, joined by `|`.  It may be compiled, batched
    and differentiated, and `f` may be what another transformation made.

    >>> import overt, overt.numpy as np
    >>> from overt.experimental import checkify
    >>> def root(x):
    ...     checkify.check(x >= 0, "no root of {x}", x=x)
    ...     return np.sqrt(x)
    >>> error, result = overt.jit(checkify.checkify(root))(-4.0)
    >>> print(error.get().splitlines()[0])
    no root of -4.0 (`check` failed)
    """
    return Checkified(f, errors)


def through_jit(jitted: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """A call of a jitted function in one that is checked: its program returns the error too."""
    ledger = CHECKS.get()
    program = jitted.checked.get(ledger.kinds)
    if program is None:
        errors = frozenset(map(ErrorCategory, ledger.kinds))
        made = type(jitted)(Checkified(jitted.__wrapped__, errors), **jitted.options)
        program = jitted.checked[ledger.kinds] = made
    with checks.unchecked():
        error, out = program(*args, **kwargs)
        ledger.absorb(error.code, error.values, error.sites)
    return out


# --- checks of the user's -------------------------------------------------------------------------


def check(pred: Any, msg: str, *fmt_args: Any, debug: bool = False, **fmt_kwargs: Any) -> None:
    """Fail unless `pred` holds, with a message: `msg` formatted with the values given.

    In a function transformed by `checkify` the failure is part of what that returns, or does not
    count if `user_checks` are not asked for; elsewhere it is raised, as by `assert`, when the
    program gets here.  With `debug` it counts in such functions alone.

    Errors: TypeError if `pred` is no boolean scalar or a value no array; CheckError, a ValueError.

    >>> check(1 < 2, "never said")
    """
    if not is_array(pred) or as_array(pred).shape or as_array(pred).dtype != bool:
        raise TypeError(f"check takes a scalar pred as argument, got {pred}")
    for x in tree_leaves((fmt_args, fmt_kwargs)):
        if not is_array(x):
            raise TypeError(
                "Formatting arguments to checkify.check need to be PyTrees of arrays, but got "
                f"{x!r} of type {type(x).__name__}."
            )
    text = msg + " (`check` failed)"
    failed = not pred if isinstance(pred, bool | numpy.bool_) else ~as_array(pred)
    if checks.report("user", failed, text, *fmt_args, **fmt_kwargs):
        return
    if debug or failed is False or CHECKS.get() is not None:
        return
    leaves, definition = tree_flatten((fmt_args, fmt_kwargs))

    def fail(found: Any) -> None:
        if bool(found[0]):
            args, kwargs = definition.unflatten(map(as_array, found[1:]))
            raise CheckError(text.format(*args, **kwargs))

    each_lane([failed, *map(stop_gradient, leaves)], active_lanes(), fail)


def debug_check(pred: Any, msg: str, *fmt_args: Any, **fmt_kwargs: Any) -> None:
    """`check` in functions transformed by `checkify`; elsewhere nothing."""
    check(pred, msg, *fmt_args, debug=True, **fmt_kwargs)


def check_error(error: Error) -> None:
    """Fail with an error that a checked function has returned, if there is one in it.

    Errors: CheckError, unless this is in a function transformed by `checkify`.

    >>> check_error(init_error)
    """
    if not isinstance(error, Error):
        raise TypeError(f"check_error takes an Error as argument, got type {type(error)} instead.")
    ledger = CHECKS.get()
    if ledger is not None:
        with checks.unchecked():
            ledger.absorb(error.code, error.values, error.sites)
    elif is_concrete(error.code):
        error.throw()
    else:
        leaves, definition = tree_flatten(error)
        each_lane(leaves, active_lanes(), lambda found: definition.unflatten(found).throw())
