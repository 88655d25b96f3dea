"""Branches and loops: at once, staged, by lanes, and by lanes while staged."""

import doctest

import numpy
import pytest

import overt.runtime.numpy as np
from overt.runtime import branches, control, guards, loop_items, saved, undefined
from overt.runtime.aval import aval_of
from overt.runtime.batching import AUTO, vmap_call
from overt.runtime.branches import cond
from overt.runtime.config import config
from overt.runtime.control import (
    for_loop,
    loop_enumerate,
    loop_range,
    loop_reversed,
    loop_zip,
    while_loop,
)
from overt.runtime.dual import jvp_call
from overt.runtime.errors import StagingError
from overt.runtime.record import vjp_call
from overt.runtime.saved import Saved
from overt.runtime.staging import stage
from overt.runtime.tree import tree_flatten, tree_leaves, tree_map
from overt.runtime.undefined import Undefined


@pytest.fixture(autouse=True, scope="module")
def double_precision():
    config.update("overt_enable_x64", True)
    yield
    config.update("overt_enable_x64", False)


@pytest.mark.parametrize("module", [branches, control, guards, loop_items, saved, undefined])
def test_examples_in_docstrings(module):
    assert doctest.testmod(module).failed == 0


def staged(f):
    """`f` as one program."""

    def run(*args):
        leaves, definition = tree_flatten(args)
        shapes = []

        def flat(*xs):
            out, structure = tree_flatten(f(*definition.unflatten(xs)))
            shapes.append(structure)
            return out

        program = stage(flat, [aval_of(x) for x in leaves])
        result = program.run(leaves)
        run.program = program
        return shapes[-1].unflatten(result)

    return run


def close(found, expected):
    leaves, others = tree_leaves(found), tree_leaves(expected)
    assert len(leaves) == len(others)
    for x, y in zip(leaves, others, strict=True):
        numpy.testing.assert_allclose(numpy.asarray(x), numpy.asarray(y), rtol=1e-10, atol=1e-12)


def check(f, *lanes, reference=None):
    """`f` on each lane's arguments, in every way, against `reference` (or `f` itself)."""
    expected = [(reference or f)(*args) for args in lanes]
    for args, wanted in zip(lanes, expected, strict=True):
        close(f(*map(np.asarray, args)), wanted)
        close(staged(f)(*args), wanted)
    stacked = tree_map(lambda *xs: numpy.stack(xs), *lanes)
    wanted = tree_map(lambda *xs: numpy.stack(xs), *expected)
    close(vmap_call(f, stacked), wanted)
    close(staged(lambda *args: vmap_call(f, args))(*stacked), wanted)


# ---- branches ----


def test_branch():
    def f(x, y):
        def then(x, y):
            return x * y, 1

        def orelse(x, y):
            return x - y, 2.5

        return cond(x > y, then, orelse, (x, y))

    check(f, (1.0, 2.0), (3.0, 2.0), (0.5, 0.5))


def test_nested_branches_and_shared_values():
    def f(x):
        def then(x, y):
            z, y = cond(x > 2, lambda x: (x * 3, y + 1), lambda x: (x * 5, y), (x,))
            return z, y

        return cond(x > 1, then, lambda x, y: (-x, y), (x, x * 10))

    check(f, (0.5,), (1.5,), (2.5,))


def test_branch_joins_containers_and_constants():
    def f(x):
        return cond(
            x > 0,
            lambda x: ({"a": x, "n": 3}, [None, "s"][1] == "s", None),
            lambda x: ({"a": 2, "n": 3}, True, None),
            (x,),
        )

    check(f, (1.0,), (-1.0,))
    box = []

    def g(x):
        out = f(x)
        box.append(out)
        return out[0]["a"]

    staged(g)(1.0)
    assert box[0][0]["n"] == 3 and box[0][1] is True and box[0][2] is None


def test_branch_mismatch_names_the_variable():
    def f(x):
        def then(x):
            y = np.stack([x, x])
            z = x
            return z, y

        def orelse(x):
            y = x
            z = x + 1
            return z, y

        return cond(x > 0, then, orelse, (x,))[0]

    with pytest.raises(TypeError, match=r"give y different types: float64\[2\] and float64\[\]"):
        staged(f)(1.0)

    with pytest.raises(
        TypeError, match=r"different types: b'a' of type bytes and b'b' of type bytes"
    ):
        staged(lambda x: cond(x > 0, lambda: b"a", lambda: b"b"))(1.0)


def test_undefined_on_one_side():
    def f(x):
        unset = Undefined("y")
        y = cond(x > 0, lambda x: {"y": x * 2}, lambda x: unset, (x,))
        return cond(x > 0, lambda y: y["y"], lambda y: -1.0, (y,))

    check(f, (1.0,), (-1.0,))
    with pytest.raises(UnboundLocalError, match="'y'"):
        Undefined("y") + 1
    with pytest.raises(UnboundLocalError, match="'y'"):
        _ = Undefined("y").shape
    with pytest.raises(UnboundLocalError, match="'y'"):
        np.sin(Undefined("y"))


def test_array_as_predicate():
    with pytest.raises(ValueError, match="ambiguous"):
        cond(np.array([1.0, 2.0]), lambda: 1, lambda: 2)
    with pytest.raises(ValueError, match="ambiguous"):
        staged(lambda x: cond(x, lambda: 1, lambda: 2))(numpy.ones(2))
    check(lambda x: cond(x, lambda: 1, lambda: 2), (1.0,), (0.0,))


# ---- loops ----


def test_while():
    def f(a):
        def test(x):
            return np.abs(x * x - a) > 1e-10 * a

        def body(x):
            return 0.5 * (x + a / x)

        return while_loop(test, body, a)

    check(f, (2.0,), (3.0,), (50000.0,), (1.0,))


def test_integer_becomes_float():
    def f(x):
        level, steps = while_loop(
            lambda level, steps: level < 5 * x,
            lambda level, steps: (level * 1.7 + 0.1 * x, steps + 1),
            (1, 0),
        )
        return level * steps

    check(f, (0.6,), (1.7,), (3.4,))


def test_for_over_ranges():
    def f(x, n):
        return for_loop(loop_range(1, n, 2), lambda i, y: np.cos(y) + x * i, x)

    check(f, (0.5, 4), (0.6, 9), (0.7, 0))

    def g(x, n):
        return for_loop(loop_range(n, -3, -2), lambda i, y: y * 0.5 + i * x, 0)

    check(g, (0.5, 4), (0.6, 9), (0.7, -5))
    check(lambda x: for_loop(range(4, 0, -2), lambda i, t: t + i * x, 0), (1.0,), (2.0,))


def test_for_over_rows_and_combinations():
    m = numpy.arange(6.0).reshape(3, 2)

    def f(m, v):
        total = for_loop(m, lambda row, total: total + np.sum(row), 0.0)
        items = loop_enumerate(loop_zip(m, loop_reversed(v)), 2)
        return for_loop(items, lambda item, t: t * item[0] + item[1][0] @ m[0] - item[1][1], total)

    def reference(m, v):
        total = m.sum()
        for i, (row, e) in enumerate(zip(m, reversed(v), strict=True), 2):
            total = total * i + row @ m[0] - e
        return total

    check(f, (m, m[:, 0]), (m + 1, m[:, 1]), reference=reference)


def test_shape_that_changes_in_the_first_iteration():
    m = numpy.arange(6.0).reshape(3, 2)
    check(lambda m: for_loop(m, lambda row, t: t + row, 0.0), (m,), (m + 1,))


def test_break():
    def f(xs):
        def body(x, total, found):
            total = total + x**2
            return total, np.logical_or(found, x > 1.0)

        return for_loop(xs, body, (0.0, False), until=1)

    rows = [([0.3, 0.9, 1.7, 0.2],), ([1.4, 0.1, 0.2, 0.3],), ([0.1, 0.4, 0.2, 0.6],)]
    check(f, *[(numpy.array(r[0]),) for r in rows])
    check(lambda xs: f(list(xs)), *[(numpy.array(r[0]),) for r in rows])

    def g(x):
        def body(y, k, done):
            y = y * 1.5
            return y, k + 1, y > 1.1

        return while_loop(lambda y, k, done: k < 4, body, (x, 0, False), until=2)[:2]

    check(g, (0.4,), (1.4,), (0.15,))


def test_lists_unroll():
    def f(x):
        def body(i, x, history):
            return x * 1.5, [*history, x]

        x, history = for_loop(range(3), body, (x, []))
        return np.stack(history) * x

    check(f, (0.4,), (2.0,))

    def g(x):
        names = ["a", "bb", "ccc"]
        return for_loop(names, lambda name, t: t * x + len(name), 0.0)

    check(g, (0.4,), (2.0,))

    def h(x):
        weights = [1.0, 2.0, 3.0]
        return while_loop(lambda i, t: i < 3, lambda i, t: (i + 1, t + x * weights[i]), (0, 0.0))

    check(h, (0.4,), (2.0,))


def test_programs_do_not_grow_with_the_number_of_iterations():
    def program(n):
        run = staged(lambda x: for_loop(range(n), lambda i, y: np.sin(y) * i, x))
        run(1.0)
        return run.program.text()

    assert len(program(10)) == len(program(20))
    assert "while" in program(10)


def test_unrolling_is_refused_where_the_length_is_unknown():
    def f(x, n):
        def body(i, x, history):
            return x, [*history, x]

        return for_loop(loop_range(n), body, (x, []))[0]

    with pytest.raises(TypeError, match="variable 'history' is list of 0 .* and list of 1"):
        staged(f)(1.0, 3)

    def g(x):
        return while_loop(lambda x: x < 3, lambda x: np.stack([x, x])[0] * np.ones(2), x)

    with pytest.raises(TypeError, match=r"variable 'x' is float64\[\] .* and float64\[2\]"):
        staged(g)(1.0)
    with pytest.raises(StagingError):
        staged(lambda n: while_loop(lambda i: i < n, lambda i: [1, 2, 3][i], 0))(2)


def test_nested_loops_with_inner_break():
    def f(a):
        def outer(i, total):
            def inner(j, row, done):
                row = row + a[i, j]
                return row, row > 1.2

            row, _ = for_loop(range(4), inner, (0.0, False), until=1)
            return total + row * (i + 1)

        return for_loop(range(4), outer, 0.0)

    rng = numpy.random.default_rng(0)
    check(f, *[(rng.uniform(0.1, 1.0, (4, 4)),) for _ in range(3)])


def test_loop_inside_a_masked_branch_stops():
    def f(x):
        def halve(x):
            return while_loop(lambda y: y > 1.0, lambda y: y / 2, x)

        def endless_when_negative(x):
            return while_loop(lambda y: y != 0.0, lambda y: np.maximum(y - 1.0, y * 0), x)

        return cond(x > 10.0, halve, lambda x: cond(x >= 0, endless_when_negative, abs, (x,)), (x,))

    check(f, (100.0,), (3.5,), (-2.0,), (50.0,))

    def g(x):
        # For x < 0 the loop would never end.
        return cond(
            x >= 0,
            lambda x: while_loop(lambda y: y != 3.0, lambda y: y + 1.0, x),
            lambda x: x,
            (x,),
        )

    check(g, (1.0,), (-0.5,), (2.0,))


def test_set_in_the_loop_only():
    def f(x):
        latest, i = for_loop(
            range(4), lambda i, latest, n: (np.sin(x * i), n + 1), (Undefined("latest"), 0)
        )
        return latest + i

    check(f, (0.5,), (0.7,))

    def first_only(x):
        def body(i, y):
            return cond(i == 0, lambda y: x, lambda y: y * 2, (y,))

        return for_loop(range(3), body, Undefined("y"))

    check(first_only, (0.5,), (0.7,))


def test_loop_without_iterations():
    check(lambda x: for_loop(range(0), lambda i, y: [1][5], x), (1.0,), (2.0,))
    check(lambda x: for_loop(x[:0], lambda row, y: y / 0, 1.0), (numpy.ones(2),), (numpy.ones(2),))


# ---- what loops save ----


def square_root_with_slope(a):
    def test(x, saved):
        return np.abs(x * x - a) > 1e-12 * a

    def body(x, saved):
        saved = saved.pushed(x)
        return 0.5 * (x + a / x), saved

    x, saved = while_loop(test, body, (a, Saved()))

    def back(x, x_bar, a_bar):
        s_bar = 0.5 * x_bar
        return s_bar - s_bar * a / x**2, a_bar + s_bar / x

    x_bar, a_bar = for_loop(saved.reversed(), back, (1.0, 0.0))
    return x, a_bar + x_bar


def test_saved_of_a_while_loop():
    lanes = [(2.0,), (3.0,), (50000.0,), (1.0,)]
    check(square_root_with_slope, *lanes)
    for (a,) in lanes[:3]:
        x, slope = square_root_with_slope(a)
        assert abs(slope - 0.5 / numpy.sqrt(a)) < 1e-6 / a


def slow_sum(n):
    def body(k, x, saved):
        return k + 1, x * 0.99 + 0.01 * k, saved.pushed(x)

    k, x, saved = while_loop(lambda k, x, saved: k < n, body, (0, 1.0, Saved()))
    return for_loop(saved.reversed(), lambda x, t: t * 0.999 + x * x, 0.0)


def test_saved_grows_past_its_first_capacity():
    check(slow_sum, (3,), (300,), (100,), (0,))


def test_saved_with_known_length_and_fields():
    def f(x):
        def body(i, x, saved):
            saved = saved.pushed(x, i, "name")
            return np.sin(x) * i, saved

        x, saved = for_loop(range(5), body, (x, Saved()))
        forward = for_loop(saved, lambda r, t: t * 0.5 + r[0] * r[1] + len(r[2]), 0.0)
        flipped = for_loop(saved.flipped(), lambda r, t: t * 0.25 + r[0], 0.0)
        return x, forward, flipped, for_loop(saved.reversed(), lambda r, t: t * 0.25 + r[0], 0.0)

    check(f, (0.3,), (1.2,))
    box = []
    staged(lambda x: box.append(for_loop(range(5), lambda i, s: s.pushed(x * i), Saved())) or x)(
        1.0
    )
    assert len(box[0]) == 5


def test_records_pushed_while_reading_others():
    def f(x, n):
        def first(i, x, saved):
            return np.sin(x) + i, saved.pushed(x)

        def second(x, total, again):
            return total + x * x, again.pushed(total * x)

        def third(pair, t):
            return t * 0.9 + pair[0] * pair[1]

        x, saved = for_loop(loop_range(n), first, (x, Saved()))
        total, again = for_loop(saved.reversed(), second, (0.0, Saved()))
        backwards = loop_zip(saved, again.reversed())
        return for_loop(backwards, third, total), for_loop(again.flipped(), third_of_one, 1.0)

    def third_of_one(x, t):
        return t * 0.5 + x

    check(f, (0.3, 4), (1.2, 7), (0.1, 0))


def test_inner_records_are_fields_of_outer_records():
    def f(x, n):
        def outer(i, x, saved):
            def inner(y, kept):
                return y * 0.5, kept.pushed(y)

            y, kept = while_loop(lambda y, kept: y > 0.3, inner, (x + i, Saved()))
            return y + 1.0, saved.pushed(x, kept)

        x, saved = for_loop(loop_range(n), outer, (x, Saved()))

        def back(record, total):
            x, kept = record
            return for_loop(kept.reversed(), lambda y, t: t * 0.7 + y * x, total)

        return for_loop(saved.reversed(), back, 0.0)

    check(f, (0.3, 4), (1.2, 7), (5.0, 1), (5.0, 0))


def test_records_of_a_loop_in_a_branch():
    def f(x):
        def then(x):
            return for_loop(range(3), lambda i, y, s: (y * 0.5 + i, s.pushed(y)), (x, Saved()))

        y, saved = cond(x > 0, then, lambda x: (x, Undefined("saved")), (x,))

        def back(saved):
            return for_loop(saved.reversed(), lambda y, t: t * 0.7 + y, 0.0)

        return cond(x > 0, lambda saved: back(saved), lambda saved: -1.0, (saved,)) + y

    check(f, (0.3,), (-1.2,), (5.0,))

    def g(x):
        def then(x):
            return while_loop(
                lambda y, s: y < 10, lambda y, s: (y * 1.5, s.pushed(y)), (x, Saved())
            )

        y, saved = cond(x > 0, then, lambda x: (x, Undefined("saved")), (x,))

        def back(saved):
            return for_loop(saved.reversed(), lambda y, t: t * 0.7 + y, 0.0)

        return cond(x > 0, lambda saved: back(saved), lambda saved: -1.0, (saved,)) + y

    check(g, (0.3,), (-1.2,), (5.0,))


def test_saved_in_python():
    kept = Saved()
    kept.push(1)
    one = kept.pushed(2)
    other = kept.pushed(3)
    assert (list(kept), list(one), list(other)) == ([1], [1, 2], [1, 3])
    assert (
        len(one) == 2 and list(one.flipped()) == [2, 1] and list(one.flipped().flipped()) == [1, 2]
    )
    assert list(one.flipped().reversed()) == [1, 2]
    assert tree_map(lambda x: -x, one).records() == [-1, -2]


# ---- nested vmaps ----


def test_loops_under_two_vmaps():
    def f(x, y):
        k, z = while_loop(lambda k, z: z < 10.0, lambda k, z: (k + 1, z * (1.1 + y)), (0, x + y))
        return cond(k % 2 == 0, lambda z: z * 2, lambda z: z + 100, (z,))

    xs, ys = numpy.array([0.5, 1.0, 3.0]), numpy.array([0.1, 0.7])
    expected = [[f(x, y) for y in ys] for x in xs]

    def grid(xs, ys):
        return vmap_call(lambda x: vmap_call(lambda y: f(x, y), (ys,)), (xs,))

    close(grid(xs, ys), numpy.array(expected))
    close(staged(grid)(xs, ys), numpy.array(expected))


# ---- derivatives at run time through staged control flow ----


def slope(f):
    def run(*args):
        out, pullback = vjp_call(f, *args)
        return pullback(np.ones_like(out))

    return run


def check_derivatives(f, *args):
    """Reverse and forward mode, staged, against the same run in Python and differences."""
    expected = slope(f)(*args)
    for k, (bar, x) in enumerate(zip(expected, args, strict=True)):
        if bar is None:
            continue
        v = numpy.cos(numpy.arange(numpy.size(x)) + 1.0).reshape(numpy.shape(x))
        h = 1e-6
        up, down = (f(*args[:k], x + s * h * v, *args[k + 1 :]) for s in (1, -1))
        wanted = (up - down) / (2 * h)
        numpy.testing.assert_allclose(np.sum(bar * v), wanted, 1e-5, 1e-5)
        dots = [None] * len(args)
        dots[k] = v
        along = staged(lambda *xs, dots=dots: jvp_call(f, xs, dots)[1])(*args)
        numpy.testing.assert_allclose(along, wanted, 1e-5, 1e-5)
    floats = [k for k, bar in enumerate(expected) if bar is not None]
    found = staged(lambda *xs: [slope(f)(*xs)[k] for k in floats])(*args)
    close(found, [expected[k] for k in floats])


def test_derivatives_of_a_staged_branch():
    def f(x, c):
        scale = x * 2

        def then(x):
            return np.sin(x) * c, scale

        def orelse(x):
            return x / 0.0 * 0 if False else x**2, c

        a, b = cond(x > 0, then, orelse, (x,))
        return a * b

    check_derivatives(f, 0.7, 1.3)
    check_derivatives(f, -0.7, 1.3)


def test_derivatives_of_staged_loops():
    def power(x, n):
        return for_loop(loop_range(n), lambda i, y: np.sin(y) * x + i, x)

    check_derivatives(power, 0.7, 5)

    def rows(m, w):
        def body(row, h, total):
            h = np.tanh(w * h + row)
            return h, total + np.sum(h)

        return for_loop(m, body, (np.zeros(2), 0.0))[1]

    check_derivatives(rows, numpy.arange(6.0).reshape(3, 2) / 5, 0.4)

    def newton(a):
        return while_loop(lambda x: np.abs(x * x - a) > 1e-12, lambda x: 0.5 * (x + a / x), a * 1.0)

    check_derivatives(newton, 2.0)

    def early(x):
        def body(i, y, done):
            y = y * x
            return y, y > 3.0

        return for_loop(range(10), body, (x, False), until=1)[0]

    check_derivatives(early, 1.3)

    def nested(x):
        def outer(i, y):
            return while_loop(lambda z: z < 5.0 + i, lambda z: z * x + 1.0, y * 0.3)

        return for_loop(range(3), outer, x)

    check_derivatives(nested, 1.3)


def test_second_derivative_of_a_staged_loop():
    def f(x):
        return for_loop(range(4), lambda i, y: np.sin(y) * x + i, x)

    def second(x):
        return slope(lambda x: slope(f)(x)[0])(x)[0]

    close(staged(second)(0.7), second(0.7))
    close(staged(lambda x: jvp_call(lambda x: slope(f)(x)[0], (x,), (1.0,))[1])(0.7), second(0.7))


def test_derivatives_by_lane_while_staged():
    def f(x):
        y = while_loop(lambda y: y < 10.0, lambda y: y * x + 1.0, x)
        return cond(x > 1.5, lambda y: y**2, lambda y: np.sin(y), (y,))

    xs = numpy.array([1.2, 1.9, 3.0])
    expected = numpy.stack([slope(f)(x)[0] for x in xs])
    close(vmap_call(lambda x: slope(f)(x)[0], (xs,)), expected)
    close(staged(lambda xs: vmap_call(lambda x: slope(f)(x)[0], (xs,)))(xs), expected)
    close(slope(lambda xs: np.sum(vmap_call(f, (xs,))))(xs)[0], expected)


def test_saved_of_an_unrolled_loop_with_a_symbolic_break():
    def f(xs):
        def body(x, total, saved, done):
            saved = saved.pushed(x, total)
            total = total + x * x
            return total, saved, total > 1.0

        total, saved, _ = for_loop(xs, body, (0.0, Saved(), False), until=2)

        def back(record, bar, bars):
            x, total = record
            return bar * 0.5 + total, bars.pushed(bar * x)

        bar, bars = for_loop(saved.reversed(), back, (1.0, Saved()))
        return total, bar, bars.rows_like(xs)

    rows = [([0.3, 0.9, 1.7, 0.2],), ([1.4, 0.1, 0.2, 0.3],), ([0.1, 0.4, 0.2, 0.6],)]
    check(f, *[(numpy.array(r[0]),) for r in rows])
    check(lambda xs: f(list(xs)), *[(numpy.array(r[0]),) for r in rows])
    check(lambda xs: np.stack(f([xs[0], xs[1]])[2]), *[(numpy.array(r[0]),) for r in rows])


def test_what_one_vmap_saves_another_reads():
    def forward(x):
        def body(y, saved):
            return y * 1.5, saved.pushed(y, "name")

        y, saved = while_loop(lambda y, saved: y < 4.0, body, (x, Saved()))
        return y, saved

    def backward(saved, bar):
        return for_loop(saved.reversed(), lambda r, bar: bar * 1.5 + r[0], bar)

    def both(xs):
        (ys, saved), (_, axes) = vmap_call(forward, (xs,), out_axes=AUTO)
        return vmap_call(backward, (saved, ys), (axes, 0))

    xs = numpy.array([0.5, 3.0, 9.0])
    expected = numpy.stack([backward(saved, y) for y, saved in map(forward, xs)])
    close(both(xs), expected)
    close(staged(both)(xs), expected)
