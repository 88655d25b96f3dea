"""Exceptions that depend on data: what `try` does where only the running program knows.

Plain Python is the oracle.  Where a value is an exception at a single number, the slope is that of
the handler, written by hand.
"""

from __future__ import annotations

import contextlib
import math
import sys
import warnings

import numpy as np
import pytest

import overt
from tests.numeric import slope


def divided(x):
    try:
        y = 1.0 / x
    except ZeroDivisionError:
        y = 0.0
    return y * 2.0 + x


def floor_and_rest(x):
    try:
        y = 7.0 // x + 5.0 % x
    except ZeroDivisionError:
        y = 3.0 * x - 1.0
    return y * x + x * x


def to_a_power(x):
    try:
        y = x**-1.0
    except ZeroDivisionError:
        y = 2.0 + x
    return y


def suppressed(x):
    y = 5.0 * x
    with contextlib.suppress(ZeroDivisionError):
        y = 1.0 / x
    return y


def logarithm_and_root(x):
    try:
        return math.log(x) + math.sqrt(x)
    except ValueError:
        return -2.0 * x * x


def told_as_text(x):
    try:
        y = math.acos(x)
    except ValueError as e:
        y = x * len(str(e))
    return y


def raised_in_the_block(x):
    try:
        if x > 1.0:
            raise ValueError("big")
        y = x * x
    except ValueError:
        y = 3.0 * x
    return y


def with_else(x):
    try:
        y = 1.0 / x
    except ZeroDivisionError:
        y = 4.0 * x
    else:
        y = y + x * x
    return y + 1.0


def with_finally(x):
    n = 1.0
    try:
        y = 1.0 / x
    except ZeroDivisionError:
        y = 4.0 * x
    finally:
        n = n + 1.0
    return y * n


def raised_by_a_handler(x):
    try:
        try:
            y = 1.0 / x
        except ZeroDivisionError:
            raise ValueError("zero")  # noqa: B904
    except ValueError:
        y = 7.0 * x
    return y


def raised_again(x):
    try:
        try:
            y = 1.0 / x
        except ZeroDivisionError:
            raise
    except ArithmeticError:
        y = 7.0 * x
    return y


def raised_from(x):
    try:
        try:
            y = math.sqrt(x)
        except ValueError as e:
            raise RuntimeError("no root") from e
    except RuntimeError:
        y = 7.0 * x
    return y * y


class TooLarge(Exception):
    def __init__(self, value):
        super().__init__("too large")
        self.value = value


def carried_by_the_exception(x):
    try:
        y = x * x
        if y > 2.0:
            raise TooLarge(3.0 * x)
        y = y + 1.0
    except TooLarge as e:
        y = e.value * x
    return y


def small(v, k):
    if v * k > 2.0:
        raise ValueError("k")
    return v * k


def raised_by_a_helper(x):
    try:
        y = small(x, 2.0) + 1.0
    except ValueError:
        y = -x
    return y


def helper_in_a_loop(x):
    total = 0.0
    for k in range(5):
        try:
            total = total + small(x, k) * x
        except ValueError:
            total = total - x
    return total


def left_out_of_a_loop(x):
    total = 0.0
    try:
        for k in range(6):
            if k * x > 2.0:
                raise ValueError(k)
            total = total + k * x * x
    except ValueError:
        total = total * 2.0
    return total


def handled_by_continue(x):
    total = 0.0
    for k in range(4):
        try:
            total = total + 1.0 / (x - k)
        except ZeroDivisionError:
            continue
        total = total + x
    return total


def handled_by_break(x):
    total = 0.0
    for k in range(4):
        try:
            total = total + 1.0 / (x - k)
        except ZeroDivisionError:
            break
        total = total + x
    return total


def handled_by_return(x):
    total = 0.0
    for k in range(4):
        try:
            total = total + 1.0 / (x - k)
        except ZeroDivisionError:
            return total - 5.0 * x
        total = total + x
    return total


def handled_in_a_while(x):
    n = 0
    y = x
    while n < 5:
        try:
            y = math.sqrt(y - 1.0)
        except ValueError:
            y = y + 3.0
        n += 1
    return y


def asserted(x):
    try:
        assert x > 0.5, "small"
        y = x * x
    except AssertionError:
        y = 0.25 * x
    return y


def two_handlers(x):
    try:
        a = 1.0 / x
        b = math.sqrt(x - 2.0)
        y = a * b
    except ZeroDivisionError:
        y = 3.0 * x
    except ValueError:
        y = 2.0 * x
    return y


def one_handler_of_two(x):
    try:
        a = 1.0 / x
        b = math.sqrt(x - 2.0)
        y = a * b
    except (ZeroDivisionError, ValueError):
        z = 3.0 * x
        y = z + 1.0
    return y


def handled_with_all(x):
    try:
        y = 1.0 / x + x**2
    except Exception:
        y = 9.0 * x
    return y


def handled_without_a_kind(x):
    try:
        y = 1.0 / x
    except:  # noqa: E722
        y = 9.0 * x
    return y


def handled_further_out(x):
    try:
        try:
            y = 1.0 / x
        except ValueError:
            y = 1.0
    except ZeroDivisionError:
        y = 5.0 * x
    return y


def finally_on_the_way_out(x):
    n = 1.0
    try:
        try:
            y = 1.0 / x
        finally:
            n = n + 2.0
    except ZeroDivisionError:
        y = x + n
    return y * n


def returned_through_finally(x):
    n = [x]
    try:
        if x > 1.0:
            return n[0] * x
        y = 1.0 / x
    except ZeroDivisionError:
        return 4.0 * x
    finally:
        n.append(1.0)
    return y + len(n)


def behind_and(x):
    try:
        if x > -1.0 and 1.0 / x > 0.6:
            y = x * x
        else:
            y = x
    except ZeroDivisionError:
        y = 2.0 * x + 1.0
    return y


def in_a_ternary(x):
    try:
        y = 1.0 / x if x < 1.0 else x * x
    except ZeroDivisionError:
        y = 2.0 * x + 1.0
    return y


def in_place(x):
    y = 2.0 * x
    try:
        y += 1.0
        y /= x
    except ZeroDivisionError:
        y = y - 4.0
    return y


def what_came_before_is_kept(x):
    y = 2.0 * x
    try:
        y = y + 1.0
        z = 1.0 / x
        y = y + z
    except ZeroDivisionError:
        y = y * 3.0
    return y


def whole_numbers(x):
    try:
        n = int(x)
    except (OverflowError, ValueError):
        n = -1
    return n + x * 0.0 if x < 1e30 else n * 1.0


def index_of_data(x):
    xs = [x, 2.0 * x, x * x]
    try:
        y = xs[int(x)]
    except IndexError:
        y = -x
    return y


def overflow(x):
    try:
        y = math.exp(x * x * x)
    except OverflowError:
        y = 3.0 * x
    return y


def continued_through_finally(x):
    total, n = 0.0, 0
    for k in range(3):
        try:
            if x > k:
                continue
            total = total + 1.0 / (x - 1.0)
        except ZeroDivisionError:
            total = total - x
        finally:
            n = n + 1
    return total + n * x


def returned_by_else(x):
    try:
        y = 1.0 / x
    except ZeroDivisionError:
        pass
    else:
        return y * x * x
    return 2.0 * x


def text_and_numbers(x):
    total = 0.0
    for s in ["1.5", "a", "2"]:
        try:
            total = total + float(s) / x
        except (ValueError, ZeroDivisionError):
            total = total + x * x
    return total


def keys_and_numbers(x):
    known = {"a": x}
    total = 0.0
    for k in "ab":
        try:
            total = total + known[k] / (x - 1.0)
        except KeyError:
            total = total + 2.0 * x
        except ZeroDivisionError:
            total = total - 1.0
    return total


def warned_before(x):
    try:
        if x < 0:
            warnings.warn("negative", stacklevel=1)
            raise ValueError("x")
        y = x * x
    except ValueError:
        y = -x
    return y


class Tolerant:
    def __enter__(self):
        return self

    def __exit__(self, kind, e, tb):
        return kind is ZeroDivisionError


def ended_by_a_manager(x):
    y = 3.0 * x
    with Tolerant():
        y = 1.0 / x
    return y


def exit_handled(x):
    try:
        if x > 1.0:
            sys.exit(3)
        y = x * x
    except SystemExit:
        y = 4.0 * x
    return y


def helpers_of_helpers(x):
    def inner(v):
        return 1.0 / v

    def outer(v):
        if v > 5.0:
            raise ValueError
        return inner(v - 1.0)

    try:
        y = outer(x)
    except ZeroDivisionError:
        y = 2.0 * x
    except ValueError:
        y = 3.0 * x
    return y


def first_above(xs, v):
    for k in range(3):
        if k * xs > v:
            return k * xs
    raise LookupError("none")


def raised_behind_a_loop(x):
    try:
        y = first_above(x, 2.0)
    except LookupError:
        y = -x * x
    return y


def several_kinds_raised(x):
    try:
        if x < 0:
            raise ValueError("negative")
        elif x > 4:
            raise TypeError("large")
        elif x > 3:
            y = 1.0
        else:
            y = x * x
        y = y * 2.0
    except ValueError:
        y = -x
    except TypeError as e:
        y = 4.0 * x + len(e.args)
    return y


def in_a_comprehension(x):
    try:
        ys = [1.0 / (x - k) for k in range(3)]
        y = sum(ys)
    except ZeroDivisionError:
        y = 3.0 * x
    return y


def in_the_test_of_a_while(x):
    y, n = x, 0
    try:
        while 1.0 / y > 0.25:
            y = y + 1.0
            n = n + 1
    except ZeroDivisionError:
        y = 2.0 * x - 1.0
    return y * (1 + n)


PROGRAMS = [
    (divided, {0.0: 1.0, 0.5: None}),
    (floor_and_rest, {0.0: -1.0}),
    (to_a_power, {0.0: 1.0, 0.5: None}),
    (suppressed, {0.0: 5.0, 0.5: None}),
    (logarithm_and_root, {-4.0: None, 2.0: None}),
    (told_as_text, {2.0: None, 0.3: None}),
    (raised_in_the_block, {2.0: None, 0.5: None}),
    (with_else, {0.0: 4.0, 0.5: None}),
    (with_finally, {0.0: 8.0, 0.5: None}),
    (raised_by_a_handler, {0.0: 7.0, 0.5: None}),
    (raised_again, {0.0: 7.0, 0.5: None}),
    (raised_from, {-4.0: None, 2.0: None}),
    (carried_by_the_exception, {2.0: None, 0.5: None}),
    (raised_by_a_helper, {2.0: None, 0.5: None}),
    (helper_in_a_loop, {0.9: None, 0.3: None}),
    (left_out_of_a_loop, {0.9: None, 0.3: None}),
    (handled_by_continue, {2.0: 0.75, 0.5: None}),
    (handled_by_break, {2.0: 0.75, 0.5: None}),
    (handled_by_return, {2.0: -4.25, 0.5: None}),
    (handled_in_a_while, {3.7: None, 0.2: None}),
    (asserted, {0.2: None, 2.0: None}),
    (two_handlers, {0.0: 3.0, 1.0: None, 3.0: None}),
    (one_handler_of_two, {0.0: 3.0, 1.0: None, 3.0: None}),
    (handled_with_all, {0.0: 9.0, 0.5: None}),
    (handled_without_a_kind, {0.0: 9.0, 0.5: None}),
    (handled_further_out, {0.0: 5.0, 0.5: None}),
    (finally_on_the_way_out, {0.0: 3.0, 0.5: None}),
    (returned_through_finally, {0.0: 4.0, 0.5: None, 2.0: None}),
    (behind_and, {0.0: 2.0, -2.0: None, 0.5: None, 1.9: None}),
    (in_a_ternary, {0.0: 2.0, 0.5: None, 2.0: None}),
    (in_place, {0.0: 2.0, 0.5: None}),
    (what_came_before_is_kept, {0.0: 6.0, 0.5: None}),
    (index_of_data, {0.5: None, 5.5: None, 1.5: None}),
    (overflow, {20.0: None, 0.5: None}),
    (continued_through_finally, {0.5: None, 1.5: None}),
    (returned_by_else, {0.0: 2.0, 0.5: None}),
    (text_and_numbers, {0.0: 0.0, 0.5: None}),
    (keys_and_numbers, {1.0: 2.0, 0.5: None}),
    (warned_before, {-2.0: None, 0.5: None}),
    (ended_by_a_manager, {0.0: 3.0, 0.5: None}),
    (exit_handled, {2.0: None, 0.5: None}),
    (helpers_of_helpers, {1.0: 2.0, 6.0: None, 2.5: None}),
    (raised_behind_a_loop, {0.3: None, 1.5: None}),
    (several_kinds_raised, {-1.0: None, 5.0: None, 3.5: None, 2.0: None}),
    (in_a_comprehension, {1.0: 3.0, 0.5: None}),
    (in_the_test_of_a_while, {0.0: 2.0, 0.7: None}),
]


def check_against_python(f, points):
    """Values and slopes at points that take different paths, one by one and as lanes."""
    with overt.enable_x64(True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values = [float(f(x)) for x in points]
        slopes = [slope(f, x) if by_hand is None else by_hand for x, by_hand in points.items()]
        xs, both = np.array([*points]), overt.value_and_grad(f)
        compiled = overt.jit(both)
        for x, value, want in zip(points, values, slopes, strict=True):
            np.testing.assert_allclose(overt.jit(f)(x), value, rtol=1e-9)
            for way in (both, compiled):
                np.testing.assert_allclose(way(x), (value, want), rtol=1e-5, atol=1e-9)
            np.testing.assert_allclose(overt.jvp(f, (x,), (1.0,))[1], want, rtol=1e-5, atol=1e-9)
        whole = overt.vmap(f)
        np.testing.assert_allclose(whole(xs), values, rtol=1e-9)
        np.testing.assert_allclose(overt.vmap(overt.grad(f))(xs), slopes, rtol=1e-5, atol=1e-9)
        total = overt.grad(lambda xs: whole(xs).sum())
        np.testing.assert_allclose(overt.jit(total)(xs), slopes, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize(("f", "points"), PROGRAMS, ids=[f.__name__ for f, _ in PROGRAMS])
def test_agrees_with_python(f, points):
    check_against_python(f, points)


def test_numbers_that_are_no_integers():
    points = [2.5, float("nan"), float("inf")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        want = [whole_numbers(x) for x in points]
        np.testing.assert_array_equal(overt.vmap(whole_numbers)(np.array(points)), want)
        np.testing.assert_array_equal([overt.jit(whole_numbers)(x) for x in points], want)


class Ratio:
    def __init__(self, top):
        self.top = top

    def over(self, x):
        return self.top / x

    def root(self, x):
        return math.sqrt(x)


def through_a_method(x):
    try:
        y = Ratio(1.0).over(x)
    except ZeroDivisionError:
        y = 5.0 * x
    return y


def root_through_a_method(x):
    try:
        y = Ratio(1.0).root(x)
    except ValueError:
        y = 5.0 * x
    return y


@pytest.mark.parametrize(("f", "x"), [(through_a_method, 0.0), (root_through_a_method, -4.0)])
def test_what_is_not_followed_is_handled_or_refused(f, x):
    """Handled where numbers are known; refused where they are not: never passed over."""
    assert overt.grad(f)(x) == 5.0
    assert overt.value_and_grad(f)(x)[0] == f(x)
    for compiled in (overt.jit(f), overt.jit(overt.grad(f))):
        with pytest.raises(overt.errors.StagingError, match="`try` cannot handle this"):
            compiled(x)
    with pytest.raises(overt.errors.StagingError, match="`try` cannot handle this"):
        overt.vmap(f)(np.array([x, 1.0]))
