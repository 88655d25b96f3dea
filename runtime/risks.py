"""Whether Python would raise an exception for these numbers: asked before a `try` goes on.

In a transformed function a scalar array stands for a number of Python's.  It has an answer to
everything: `1.0 / x` is infinite where a number would raise ZeroDivisionError.  So the exception is
asked for beforehand; of arrays with axes, which raise none, the answer is no.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from numbers import Number
from typing import Any

import numpy
from numpy.linalg import LinAlgError

from overt.runtime.array import Array
from overt.runtime.handled import CATCHING, refuse_if_caught
from overt.runtime.predicates import both, negated, predicate
from overt.runtime.primitive import Rule
from overt.runtime.staging import is_known
from overt.runtime.unsure import settled

__all__ = ["is_zero", "lacks", "raises"]

Test = Callable[..., Any]
LINEAR_ALGEBRA = ("numpy.linalg", "overt.runtime.numpy.")
Kinds = type[BaseException] | tuple[type[BaseException], ...]
Tests = dict[type[Exception], Test]


def is_zero(x: Any) -> Any:
    """Whether dividing by `x` raises ZeroDivisionError.

    >>> is_zero(0.0), is_zero(2), is_zero(numpy.zeros(3))
    (True, False, False)
    """
    x = settled(x)
    if isinstance(x, Array):
        return False if x.shape else predicate(x == 0)
    return isinstance(x, Number) and not isinstance(x, numpy.generic) and x == 0


def lacks(xs: Any, i: Any) -> Any:
    """Whether `xs[i]` raises IndexError or KeyError.

    >>> lacks([1, 2], 2), lacks({"a": 1}, "a")
    (True, False)
    """
    xs, i = settled(xs), settled(i)
    if isinstance(xs, dict):
        return not hasattr(type(xs), "__missing__") and not _is_open(i) and i not in xs
    if isinstance(xs, list | tuple | str):
        return _is_outside(i, len(xs))
    if not isinstance(xs, Array | numpy.ndarray):
        return False
    parts = i if type(i) is tuple else (i,)
    if len(parts) > len(xs.shape):
        return not any(p is None or p is Ellipsis for p in parts)
    if any(p is None or p is Ellipsis for p in parts):
        return False
    found: Any = False
    for part, length in zip(parts, xs.shape, strict=False):
        outside = _is_outside(part, length)
        found = negated(both(negated(found), negated(outside)))
    return found


def _is_outside(i: Any, length: int) -> Any:
    """Whether a list of this length has no such item; other indices than integers are not asked."""
    if isinstance(i, Array) and not i.shape and i.dtype.kind in "iu":
        return predicate((i < -length) | (i >= length))
    return isinstance(i, int | numpy.integer) and not -length <= i < length


def raises(kinds: Kinds, f: Callable[..., Any], *args: Any) -> Any:
    """Whether `f(*args)` raises an exception of these kinds; `f` is a builtin or of `math`.

    >>> raises(ValueError, math.sqrt, -1.0), raises(OverflowError, math.exp, 2.0)
    (True, False)
    """
    args = tuple(map(settled, args))
    tests = tests_of(f)
    if LinAlgError in tests:
        return predicate(tests[LinAlgError](*args)) if issubclass(LinAlgError, kinds) else False
    arrays = [x for x in args if isinstance(x, Array)]
    if any(x.shape for x in arrays):
        return False
    if all(map(is_known, arrays)):
        try:
            f(*[x.item() if isinstance(x, Array) else x for x in args])
        except kinds:
            return True
        except Exception:  # which the function itself raises
            return False
        return False
    found: Any = False
    for kind, test in tests.items():
        if issubclass(kind, kinds):
            found = found | test(*args)
    return predicate(found)


is_zero.rule = Rule("is_zero", ("x",), zero=True)  # type: ignore[attr-defined]
lacks.rule = Rule("lacks", ("xs", "i"), zero=True)  # type: ignore[attr-defined]
raises.rule = Rule("raises", (), zero=True)  # type: ignore[attr-defined]


def _is_open(x: Any) -> bool:
    return isinstance(x, Array) and not is_known(x)


def _np() -> Any:
    from overt.runtime import numpy as np

    return np


def _is_infinite(x: Any, *others: Any) -> Any:
    return _np().isinf(x)


def _is_nan(x: Any, *others: Any) -> Any:
    return _np().isnan(x)


def _overflows(name: str) -> Test:
    """Whether a function of numbers that are finite is not."""

    def test(*args: Any) -> Any:
        np, finite = _np(), True
        for x in args:
            finite = finite & np.isfinite(x)
        return np.isinf(getattr(np, name)(*args)) & finite

    return test


def _is_whole(x: Any) -> Any:
    return _np().floor(x) == x


def _is_pole(x: Any) -> Any:
    """Whether the gamma function has no value."""
    return (x <= 0) & _is_whole(x)


def _gamma_overflows(x: Any) -> Any:
    from overt.runtime.scipy.special import gamma

    return (x > 0) & _np().isfinite(x) & _np().isinf(gamma(x))


def _has_no_power(x: Any, y: Any) -> Any:
    return (x < 0) & ~_is_whole(y) & _np().isfinite(x) | (x == 0) & (y < 0)


def _has_no_rest(x: Any, y: Any) -> Any:
    return (y == 0) & ~_np().isnan(x) | _np().isinf(x) & ~_np().isnan(y)


def _has_no_log(x: Any, base: Any = 2.0) -> Any:
    return (x <= 0) | (base <= 0)


def _without_digits(test: Test) -> Test:
    return lambda x, digits=None: test(x) if digits is None else False


WAVE: Tests = {ValueError: _is_infinite}
LARGE: dict[str, Tests] = {
    name: {OverflowError: _overflows(name)} for name in ("exp", "expm1", "cosh", "sinh")
}
TO_WHOLE: Tests = {ValueError: _is_nan, OverflowError: _is_infinite}

# For each function the exceptions that it raises, and what tells so.
TESTS: dict[Callable[..., Any], Tests] = {
    math.sqrt: {ValueError: lambda x: x < 0},
    math.log: {
        ValueError: _has_no_log,
        ZeroDivisionError: lambda x, base=2.0: (base == 1) & (x > 0),
    },
    math.log2: {ValueError: _has_no_log},
    math.log10: {ValueError: _has_no_log},
    math.log1p: {ValueError: lambda x: x <= -1},
    math.acos: {ValueError: lambda x: abs(x) > 1},
    math.asin: {ValueError: lambda x: abs(x) > 1},
    math.acosh: {ValueError: lambda x: x < 1},
    math.atanh: {ValueError: lambda x: abs(x) >= 1},
    math.sin: WAVE,
    math.cos: WAVE,
    math.tan: WAVE,
    math.fmod: {ValueError: _has_no_rest},
    math.remainder: {ValueError: _has_no_rest},
    math.pow: {ValueError: _has_no_power, OverflowError: _overflows("power")},
    math.gamma: {ValueError: _is_pole, OverflowError: _gamma_overflows},
    math.lgamma: {ValueError: _is_pole},
    **{getattr(math, name): tests for name, tests in LARGE.items()},
    math.floor: TO_WHOLE,
    math.ceil: TO_WHOLE,
    math.trunc: TO_WHOLE,
    int: TO_WHOLE,
    round: {kind: _without_digits(test) for kind, test in TO_WHOLE.items()},
    float: {ValueError: lambda x: False},
    divmod: {ZeroDivisionError: lambda x, y: y == 0},
    pow: {
        ZeroDivisionError: lambda x, y: (x == 0) & (y < 0),
        OverflowError: lambda x, y: (x != 0) & _overflows("power")(x, y),
    },
}

OF_MATRICES: dict[str, Test] = {
    "inv": lambda a: _np().any(_np().linalg.slogdet(a)[0] == 0),
    "solve": lambda a, b: _np().any(_np().linalg.slogdet(a)[0] == 0),
    "cholesky": lambda a: _np().any(_np().isnan(_np().linalg.cholesky(a))),
}


def tests_of(f: Any) -> Tests:
    """The exceptions that a function raises for some numbers, and what tells so.

    >>> [*tests_of(numpy.linalg.inv)], tests_of(numpy.sin)
    ([<class 'numpy.linalg.LinAlgError'>], {})
    """
    if str(getattr(f, "__module__", "")).startswith(LINEAR_ALGEBRA):
        test = OF_MATRICES.get(getattr(f, "__name__", ""))
        return {} if test is None else {LinAlgError: test}
    return TESTS.get(f, {}) if isinstance(f, type) or callable(f) else {}


# --- where a `try` is not rewritten


def about_to_divide(divisor: Any) -> None:
    """Raise ZeroDivisionError, or refuse, where a `try` around the user's code would handle it.

    Called for every `/`, `//` and `%` of arrays; where no `try` is around, nothing happens.
    """
    _ask(ZeroDivisionError, "division by zero", lambda: is_zero(divisor))


def about_to_raise_power(x: Any, y: Any) -> None:
    """As `about_to_divide`, for `x ** y`."""
    if isinstance(y, int | float) and y >= 0:
        return
    test = lambda: raises(ZeroDivisionError, pow, x, y)
    _ask(ZeroDivisionError, "0.0 cannot be raised to a negative power", test)


def about_to_call(f: Callable[..., Any], *args: Any) -> None:
    """As `about_to_divide`, for a function of `math` or a builtin of values not known yet."""
    for kind in tests_of(f):
        said = "math range error" if kind is OverflowError else "math domain error"
        _ask(kind, said, lambda kind=kind: raises(kind, f, *args), users=True)  # type: ignore


def _ask(kind: type[Exception], message: str, test: Callable[[], Any], users: bool = False) -> None:
    caught = CATCHING.get()
    if kind is OverflowError:  # where it is meant: all powers may overflow
        caught = tuple(c for c in caught if c in (OverflowError, ArithmeticError))
    if not issubclass(kind, caught) or not (users or _is_users(sys._getframe(3))):
        return
    found = test()
    if found is True:
        raise kind(message)
    if found is not False:
        refuse_if_caught(kind)


def _is_users(frame: Any) -> bool:
    """Whether a frame runs the user's code, or code generated from it."""
    return not str(frame.f_globals.get("__name__")).startswith("overt.")
