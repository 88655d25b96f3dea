"""checkify: the same first failure as JAX names, in every nesting, with the user's line."""

from __future__ import annotations

import linecache
import re

import numpy as onp
import pytest

import overt
import overt.numpy as np
from overt import lax
from overt.experimental import checkify
from overt.experimental.checkify import all_checks, nan_checks, user_checks


def while_loop(np, lax, checkify):
    def body(x):
        checkify.check(x < 50.0, "too large: {x}", x=x)
        return x * 2.0

    return lambda x: lax.while_loop(lambda x: x < 100.0, body, x)


def failing_test(np, lax, checkify):
    return lambda x: lax.while_loop(lambda v: np.log(v - 20.0) < 3.0, lambda v: v * 2.0, x)


def branch(np, lax, checkify):
    def negative(x):
        checkify.check(x > -3.0, "{} is far from {far}", x, far=x * 2)
        return np.log(x)

    return lambda x: lax.cond(x > 0, lambda x: np.log(x - 5.0), negative, x)


def scan(np, lax, checkify):
    def body(total, v):
        checkify.check(v < 3.0, "v = {v}", v=v)
        return total + v, total * v

    def run(x):
        total, parts = lax.scan(body, x, np.arange(5.0))
        return total + parts[0]

    return run


def mapped(np, lax, checkify):
    return lambda x: np.sum(lax.map(lambda v: np.log(v), np.arange(3.0) - x))


def index(np, lax, checkify):
    return lambda x: np.sin(np.arange(5.0)[(x * 3).astype(int)] * x)


def unchecked(np, lax, checkify):
    return lambda x: np.where(x > 1e9, np.sin(x), x)


INF = float("inf")
PROGRAMS = {
    while_loop: [3.0, 30.0, 4.0, INF],
    failing_test: [3.0, 30.0, -2.0, INF],
    branch: [3.0, 30.0, -2.0, -4.0, INF],
    scan: [3.0, 0.5],
    mapped: [3.0, 30.0, -2.0],
    index: [3.0, 0.5, 9.0],
    unchecked: [3.0, 2e9, INF],
}


def first_lines(message):
    """A message without the lines that say where."""
    lines = [re.sub(r"[. ]+$", "", x) for x in (message or "").splitlines()]
    return [x for x in lines if not x.startswith("  ")]


@pytest.fixture(scope="module")
def jax():
    return pytest.importorskip("jax")


@pytest.mark.parametrize("program", PROGRAMS)
def test_same_failures_as_jax(program, jax):
    from jax.experimental import checkify as theirs

    checks = {"errors": theirs.all_checks}
    oracle = jax.jit(theirs.checkify(program(jax.numpy, jax.lax, theirs), **checks))
    f = program(np, lax, checkify)
    outer = overt.jit(checkify.checkify(f, errors=all_checks))
    inner = checkify.checkify(overt.jit(f), errors=all_checks)
    expected = []
    for x in map(onp.float32, PROGRAMS[program]):
        error, value = oracle(x)
        message = first_lines(error.get())
        expected.append(message)
        for run in (outer, inner):
            found, result = run(x)
            assert first_lines(found.get()) == message, (x, found)
            onp.testing.assert_allclose(result, value, rtol=1e-5)
    xs = np.array(PROGRAMS[program], np.float32)
    errors, _ = overt.vmap(outer)(xs)
    lanes = [f"at mapped index {i}: {m[0]}" for i, m in enumerate(expected) if m]
    assert first_lines(errors.get()) == lanes


def test_eager_and_messages():
    def f(x, i):
        checkify.check(i >= 0, "index needs to be non-negative, got {i}", i=i)
        y = x[i]
        return np.sin(y)

    error, result = checkify.checkify(f, errors=all_checks)(np.ones(5), 100)
    assert error.get().startswith(
        "out-of-bounds indexing for array of shape (5,): index 100 is out of bounds for axis 0"
    )
    file, line = re.search(r'File "(.*)", line (\d+)', error.get()).groups()
    assert linecache.getline(file, int(line)).strip() == "y = x[i]"
    assert float(result) == pytest.approx(onp.sin(1.0))
    error, _ = checkify.checkify(f)(np.ones(5), -2)
    assert error.get().startswith("index needs to be non-negative, got -2 (`check` failed)")
    assert str(error) == f"Error({error.get()})"
    with pytest.raises(checkify.JaxRuntimeError, match="got -2"):
        error.throw()
    error, _ = checkify.checkify(f)(np.ones(5), 1)
    error.throw()
    assert error.get() is None and error.get_exception() is None
    assert issubclass(checkify.JaxRuntimeError, ValueError)
    assert checkify.init_error.get() is None


@pytest.mark.parametrize(
    ("f", "args", "kind"),
    [
        (lambda x, y: x / y, (1.0, 0.0), "div"),
        (lambda x, y: x // y, (3, 0), "div"),
        (lambda x, y: x % y, (3, 0), "div"),
        (lambda x, i: x.at[i].set(1.0), (np.ones(3), 5), "index"),
        (lambda x, i: x.at[i].get(mode="clip"), (np.ones(3), 5), None),
        (lambda x, i: x.at[i].add(1.0, mode="drop"), (np.ones(3), 5), None),
        (lambda x, i: np.take(x, i), (np.ones(3), 5), "index"),
        (lambda x, i: np.take_along_axis(x, i, 0), (np.ones(3), np.array([1, 7])), "index"),
        (lambda x, i: x[0, i], (np.ones((3, 4)), 7), "index"),
        (lambda x, i: x[i], (np.ones(3), -3), None),
        (lambda x, i: x[i], (np.ones(3), -4), "index"),
        (lambda x, i: lax.dynamic_slice(x, (i,), (2,)), (np.ones(3), 2), "index"),
        (lambda x, i: lax.dynamic_slice(x, (i,), (2,)), (np.ones(3), 1), None),
        (lambda x, i: lax.dynamic_update_slice(x, x[:2], (i,)), (np.ones(3), 2), "index"),
        (lambda x, _: np.sum(x), (np.array([1.0, np.nan]), 0), "nan"),
        (lambda x, _: np.where(x > 0, x, np.nan)[0], (np.array([-1.0, np.nan]), 0), None),
        (lambda x, _: np.log(x * (1 + 0j)) * np.inf, (0.0, 0), "nan"),
        (lambda x, _: np.std(x), (np.ones(3), 0), None),
    ],
)
def test_kinds(f, args, kind):
    words = {"div": "division by zero", "index": "out-of-bounds", "nan": "nan generated by"}
    for run in (checkify.checkify(f, all_checks), overt.jit(checkify.checkify(f, all_checks))):
        message = run(*args)[0].get()
        assert message is None if kind is None else message.startswith(words[kind])
    assert overt.jit(checkify.checkify(f, user_checks))(*args)[0].get() is None


def store(x, i, v):
    x[i] = v
    return np.sum(x) / x[0]


def test_store_and_sets_of_errors():
    run = lambda errors, *args: overt.jit(checkify.checkify(store, errors))(*args)[0].get()
    assert "index 9" in run(checkify.index_checks, np.ones(3), 9, 1.0)
    assert run(checkify.float_checks, np.ones(3), 9, 1.0) is None
    assert "division" in run(checkify.div_checks, np.ones(3), 0, 0.0)
    assert "nan" in run(checkify.nan_checks, np.zeros(3), 0, 0.0)
    assert checkify.float_checks == checkify.nan_checks | checkify.div_checks
    assert checkify.automatic_checks == checkify.float_checks | checkify.index_checks
    assert all_checks == checkify.automatic_checks | user_checks
    assert all(isinstance(e, checkify.ErrorCategory) for e in all_checks)


def native(x):
    """Loops and branches as Python writes them."""
    n = 0
    while x < 100.0:
        if x > 50.0:
            checkify.check(n < 5, "{n} doublings", n=np.asarray(n))
        x = x * 2.0
        n += 1
    return np.log(x - 110.0)


def message_of(f, *args):
    return (checkify.checkify(f, errors=all_checks)(*args)[0].get() or "").splitlines()[:1]


def test_native_control_flow():
    for f in (native, overt.jit(native), overt.grad(native), overt.jit(overt.grad(native))):
        assert message_of(f, 2.0) == ["5 doublings (`check` failed)"]
        assert message_of(f, 13.0) == ["nan generated by primitive: log."]
        assert message_of(f, 30.0) == []
    for f in (overt.vmap(native), overt.vmap(overt.grad(native)), overt.jit(overt.vmap(native))):
        # Only the second lane doubles that often, and only while it is in the branch.
        error, _ = checkify.checkify(f, errors=user_checks)(np.array([30.0, 2.0, 13.0]))
        assert error.get().startswith("5 doublings (`check` failed)\n  at index 1 of the vmap")
        assert message_of(f, np.array([30.0, 31.0])) == []
    with overt.disable_jit():
        assert message_of(overt.jit(native), 2.0) == ["5 doublings (`check` failed)"]


def looks_ahead(x, limits):
    i = 0
    while limits[i] < x:
        if i == 2:
            break
        i = i + 1
    return x * limits[0]


def test_tests_of_finished_loops_do_not_fail():
    limits, xs = np.arange(1.0, 4.0), np.array([0.5, 9.0, 2.5])
    f = overt.vmap(looks_ahead, (0, None))
    for run in (looks_ahead, overt.jit(looks_ahead), overt.grad(looks_ahead)):
        assert message_of(run, 9.0, limits) == []
    assert message_of(f, xs, limits) == message_of(overt.jit(f), xs, limits) == []


def test_reverse_pass():
    def f(x):
        return x / (1.0 + np.sqrt(x))

    for g in (overt.grad(f), overt.jit(overt.grad(f)), overt.grad(overt.jit(f))):
        assert "nan generated by primitive" in checkify.checkify(g, errors=nan_checks)(0.0)[0].get()
        assert checkify.checkify(g, errors=nan_checks)(1.0)[0].get() is None
    assert checkify.checkify(f, errors=nan_checks)(0.0)[0].get() is None
    forward = checkify.checkify(lambda x: overt.jvp(f, (x,), (1.0,)), errors=nan_checks)
    assert "nan generated" in forward(0.0)[0].get()


def test_derivatives_through_checked_functions():
    checked = checkify.checkify(lambda x: np.sin(x) * x, errors=all_checks)
    result = lambda x: checked(x)[1]
    want = onp.cos(2.0) * 2.0 + onp.sin(2.0)
    assert float(overt.grad(result)(2.0)) == pytest.approx(want, 1e-5)
    assert float(overt.jit(overt.grad(result))(2.0)) == pytest.approx(want, 1e-5)
    assert float(overt.jvp(result, (2.0,), (1.0,))[1]) == pytest.approx(want, 1e-5)
    second = 2 * onp.cos(2.0) - 2.0 * onp.sin(2.0)
    assert float(overt.grad(overt.grad(result))(2.0)) == pytest.approx(second, 1e-5)
    onp.testing.assert_allclose(overt.vmap(overt.grad(result))(np.array([2.0])), [want], 1e-5)
    (_, error), slope = overt.value_and_grad(lambda x: checked(x)[::-1], has_aux=True)(np.inf)
    assert "nan generated" in error.get()


def test_check_error():
    inner = checkify.checkify(lambda x: np.log(x), errors=nan_checks)

    def f(x):
        error, y = inner(x)
        checkify.check_error(error)
        return y

    assert checkify.checkify(f)(1.0)[0].get() is None
    for run, x in ((f, -1.0), (overt.jit(f), -1.0), (overt.vmap(f), np.array([1.0, -1.0]))):
        assert "nan generated" in checkify.checkify(run)(x)[0].get()
        with pytest.raises(ValueError, match="nan generated by primitive: log"):
            overt.block_until_ready(run(x))
    with pytest.raises(TypeError, match="Error"):
        checkify.check_error(3)


def test_check_without_checkify():
    def f(x):
        checkify.check(x > 0, "x is {x}", x=x)
        checkify.debug_check(x > 10, "never said")
        return x

    bad = np.array(-1.0)
    for run, x in ((f, bad), (overt.jit(f), bad), (overt.vmap(f), np.array([1.0, -1.0]))):
        with pytest.raises(checkify.JaxRuntimeError, match="x is -1.0"):
            overt.block_until_ready(run(x))
    assert float(overt.jit(f)(2.0)) == 2.0
    assert "never said" in checkify.checkify(f)(2.0)[0].get()
    with pytest.raises(TypeError, match="scalar pred"):
        checkify.check(np.array([True, False]), "hello")
    with pytest.raises(TypeError, match="PyTrees of arrays"):
        checkify.check(True, "hello {}", "a")


def test_errors_are_values():
    """Returned by loops, stacked, and of functions that return nothing else."""
    checked = checkify.checkify(lambda x: np.log(x), errors=nan_checks)

    def body(total, x):
        error, y = checked(x)
        return total + 1, error

    _, errors = overt.jit(lambda xs: lax.scan(body, 0, xs))(np.array([1.0, -1.0, 2.0]))
    assert first_lines(errors.get()) == ["at mapped index 1: nan generated by primitive: log"]
    leaves, definition = overt.tree.flatten(errors)
    assert definition.unflatten(leaves).get() == errors.get()


def test_nested_kinds():
    """Each checkify gets what it looks for; the rest goes to the one around it, or nowhere."""

    def inner(x):
        checkify.check(x > 0, "negative")
        return np.log(x)

    def outer(x):
        error, y = checkify.checkify(overt.jit(inner))(x)
        return error, y

    found, (error, _) = checkify.checkify(outer, errors=nan_checks)(-1.0)
    assert error.get().startswith("negative")
    assert found.get().startswith("nan generated by primitive: log")
    assert checkify.checkify(inner, errors=checkify.div_checks)(-1.0)[0].get() is None


def test_methods_statics_and_keywords():
    class Model:
        def __init__(self):
            self.calls = 0

        def run(self, x, power, *, shift=0.0):
            self.calls += 1
            checkify.check(x > shift, "{} <= {}", x, shift)
            return x**power

    model = Model()
    run = checkify.checkify(overt.jit(model.run, static_argnums=1))
    error, y = run(3.0, 2, shift=np.array(5.0))
    assert error.get().startswith("3.0 <= 5.0") and float(y) == 9.0 and int(model.calls) == 1
    assert "cond" not in overt.source(checkify.checkify(lambda x: x))
