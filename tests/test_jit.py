"""jit: signatures, static arguments, state, control flow, looking at programs."""

from __future__ import annotations

import dataclasses
import functools
import warnings
from typing import NamedTuple

import numpy
import pytest

import overt
import overt.numpy as np
from overt.errors import StagingError

LEVEL = 0.0
WEIGHTS = np.ones(3)
TABLE = {"scale": 2.0, "w": np.ones(2)}


def same(actual, expected):
    numpy.testing.assert_allclose(numpy.asarray(actual), numpy.asarray(expected), rtol=1e-6)


class Params(NamedTuple):
    w: object
    b: object


@dataclasses.dataclass
class Layer:
    w: object
    b: object


# --- arguments and results


def test_positional_keyword_and_default_arguments():
    f = overt.jit(lambda x, y=2.0, *, z=3.0: x + 10 * y + 100 * z)
    same(f(1.0), 321.0)
    same(f(1.0, 4.0), 341.0)
    same(f(1.0, y=4.0, z=5.0), 541.0)
    same(f(x=1.0), 321.0)


def test_one_program_for_each_kind_of_arguments():
    f = overt.jit(lambda x: x + 1)
    f(1.0), f(2.0)
    assert f.cache_size() == 1
    f(1), f(np.ones(3)), f(numpy.ones(3, "float32"))
    assert f.cache_size() == 3
    f.clear_cache()
    assert f.cache_size() == 0
    same(f(True), 2)


def test_results_keep_their_containers():
    out = overt.jit(lambda x: {"b": x, "a": (x + 1, None, "text", [2 * x])})(1.0)
    assert list(out) == ["b", "a"]
    assert out["a"][1] is None and out["a"][2] == "text"
    same(out["a"][3][0], 2.0)
    assert isinstance(overt.jit(lambda p: Params(p.b, p.w))(Params(1.0, 2.0)), Params)


def test_dict_order_is_the_callers():
    f = overt.jit(lambda d: list(d))
    assert f({"b": 1.0, "a": 2.0}) == ["b", "a"]
    assert f({"a": 1.0, "b": 2.0}) == ["a", "b"]


def test_trees_and_flat_arguments_of_the_same_arrays_are_told_apart():
    f = overt.jit(lambda x, y: x - 1 if y is None else x["a"] if isinstance(x, dict) else x - y)
    x, y = np.array(5.0), np.array(3.0)
    for _ in range(3):
        same(f({"a": y, "b": x}, np.array(1.0)), 3.0)
        same(f(x, y), 2.0)
        same(f(x, None), 4.0)


def test_a_plain_dataclass_is_a_container():
    f = overt.jit(lambda p, x: Layer(p.w * x, p.b + 1.0))
    out = f(Layer(np.ones(2), 1.0), 3.0)
    same(out.w, [3.0, 3.0])
    same(f(Layer(np.zeros(2), 5.0), 3.0).b, 6.0)
    assert f.cache_size() == 1


def test_strings_and_functions_are_static():
    f = overt.jit(lambda x, how: np.sin(x) if how == "sin" else np.cos(x))
    same(f(0.0, "sin"), 0.0)
    same(f(0.0, "cos"), 1.0)
    g = overt.jit(lambda f, x: f(x))
    same(g(np.exp, 0.0), 1.0)
    same(g(lambda x: x + 1 if x > 0 else x, 1.0), 2.0)


# --- static arguments


def test_static_arguments_by_number_name_and_default():
    def power(x, n=2):
        assert isinstance(n, int)
        return x**n

    for options in ({"static_argnums": 1}, {"static_argnums": -1}, {"static_argnames": "n"}):
        f = overt.jit(power, **options)
        same([f(3.0), f(3.0, 3), f(3.0, n=3)], [9.0, 27.0, 27.0])
    assert f.cache_size() <= 3


def test_static_arguments_must_be_hashable():
    f = overt.jit(lambda x, n: x, static_argnums=1)
    with pytest.raises(ValueError, match="Non-hashable static arguments"):
        f(1.0, [1])


@pytest.mark.parametrize("options", [{"static_argnums": 3}, {"static_argnames": "z"}])
def test_unknown_static_arguments_are_refused(options):
    with pytest.raises(ValueError, match="jitted function has"):
        overt.jit(lambda x: x, **options)


def test_one_and_true_are_different_static_values():
    f = overt.jit(lambda x, n: x + (10 if n is True else 20), static_argnums=1)
    same([f(1.0, 1), f(1.0, True)], [21.0, 11.0])


def test_an_argument_needed_as_a_shape_is_promoted_to_static():
    f = overt.jit(lambda n, x: np.ones(n) * x)
    same(f(5, 4.0), [4.0] * 5)
    same(f(3, 4.0), [4.0] * 3)
    assert f.cache_size() == 2


def test_the_error_names_the_argument_whose_value_is_needed():
    with pytest.raises(StagingError) as caught:
        overt.jit(lambda x: np.ones(int(2 * x)))(1.5)
    assert "argument 'x'" in "\n".join(caught.value.__notes__)


# --- state


def test_globals_are_never_stale():
    global LEVEL, WEIGHTS
    f = overt.jit(lambda x: x * WEIGHTS + LEVEL)
    LEVEL, WEIGHTS = 0.0, np.ones(3)
    same(f(1.0), [1.0, 1.0, 1.0])
    WEIGHTS = np.arange(3.0)
    same(f(1.0), [0.0, 1.0, 2.0])
    assert f.cache_size() == 1, "an array is an input"
    LEVEL = 10.0
    same(f(1.0), [10.0, 11.0, 12.0])
    WEIGHTS = numpy.ones(3)
    same(f(1.0), [11.0, 11.0, 11.0])
    WEIGHTS[0] = 5.0
    same(f(1.0), [15.0, 11.0, 11.0])


def test_an_array_whose_value_was_looked_at_is_a_guard():
    global WEIGHTS
    f = overt.jit(lambda x: x if int(np.sum(WEIGHTS)) > 2 else -x)
    WEIGHTS = np.ones(3)
    same(f(1.0), 1.0)
    WEIGHTS = np.zeros(3)
    same(f(1.0), -1.0)


def test_parts_of_global_containers_are_guards():
    f = overt.jit(lambda x: x * TABLE["scale"] + TABLE["w"])
    TABLE.update(scale=2.0, w=np.ones(2))
    same(f(1.0), [3.0, 3.0])
    TABLE["scale"] = 5.0
    same(f(1.0), [6.0, 6.0])
    TABLE["w"] = np.zeros(2)
    same(f(1.0), [5.0, 5.0])


def test_closures_are_never_stale():
    scale = 2.0

    @overt.jit
    def f(x):
        return x * scale

    same(f(3.0), 6.0)
    scale = 4.0
    same(f(3.0), 12.0)


def test_helpers_may_be_redefined():
    def helper(x):
        return x + 1

    f = overt.jit(lambda x: helper(x))
    same(f(1.0), 2.0)

    def helper(x):  # noqa: F811
        return x + 2

    same(f(1.0), 3.0)


class Counter:
    def __init__(self, step=1):
        self.n, self.step = 0, step

    def count(self):
        self.n += self.step
        return self.n

    @overt.jit
    def scaled(self, x):
        return x * self.step if self.step else x


def test_a_method_changes_its_object_at_each_call():
    counter = Counter()
    count = overt.jit(counter.count)
    assert [int(count()) for _ in range(3)] == [1, 2, 3]
    assert int(counter.n) == 3
    counter.n = 0
    assert int(count()) == 1
    assert count.cache_size() == 1, "the number is an input"
    counter.step = 5
    assert int(count()) == 6


def test_attributes_of_self_are_never_stale():
    one, other = Counter(2), Counter(3)
    same([one.scaled(2.0), other.scaled(2.0)], [4.0, 6.0])
    one.step = 7
    same(one.scaled(2.0), 14.0)


def test_a_failed_call_leaves_the_object_as_it_was():
    class Box:
        value = 1.0

    box = Box()
    box.value = 1.0

    @overt.jit
    def f(x):
        box.value = x
        return np.ones(int(x * 1.5))

    with pytest.raises(StagingError):
        f(2.0)
    assert box.value == 1.0


def test_lists_that_are_appended_to():
    seen = []

    @overt.jit
    def f(x):
        seen.append(x)
        return 2 * x

    same(f(1.0), 2.0)
    same(f(3.0), 6.0)
    assert [float(x) for x in seen] == [1.0, 3.0]


def test_bound_arguments():
    f = overt.jit(functools.partial(lambda a, b, c: a * b + c, np.array(2.0), c=1.0))
    same(f(3.0), 7.0)
    same(f(4.0), 9.0)


# --- looking at programs


def test_lower_and_compile():
    lowered = overt.jit(lambda x, y: 2 * x + y).lower(3, 4)
    assert "stablehlo.multiply" in lowered.as_text()
    compiled = lowered.compile()
    assert int(compiled(3, 4)) == 10
    assert compiled.cost_analysis() and compiled.memory_analysis() is not None
    with pytest.raises(TypeError, match="compiled for"):
        compiled(np.ones(3), 4)


def test_eval_shape():
    shape = overt.ShapeDtypeStruct((3,), np.float32)
    out = overt.eval_shape(lambda x: {"y": x @ x, "z": x}, shape)
    assert out == {"y": overt.ShapeDtypeStruct((), np.float32), "z": shape}


def test_disable_jit_runs_statement_by_statement():
    seen = []

    @overt.jit
    def f(x):
        seen.append(x)
        y = np.zeros(3)
        y[1] = x
        return y

    with overt.disable_jit():
        same(f(2.0), [0.0, 2.0, 0.0])
    assert seen == [2.0]


def test_donated_arguments_are_gone():
    f = overt.jit(lambda x, y: x + y, donate_argnums=1)
    x, y = np.ones((2, 3)) * 1, np.ones((2, 3)) * 1
    same(f(x, y), numpy.full((2, 3), 2))
    assert y.is_deleted() and not x.is_deleted()
    with pytest.raises(RuntimeError, match="donated"):
        y + 1
    with pytest.warns(UserWarning, match="donated"):
        overt.jit(lambda x: x[:1].sum(), donate_argnums=0)(np.ones((2, 3)))


def test_nan_is_found_where_it_arises():
    def f(x):
        y = x - x
        z = x / y
        return z + 1

    with overt.debug_nans(True), pytest.raises(FloatingPointError) as caught:
        overt.jit(f)(np.array(0.0))
    assert "z = x / y" in "\n".join(caught.value.__notes__)


def test_exceptions_carry_the_users_line():
    def f(x):
        y = x + 1
        return y.reshape(7)

    with pytest.raises(Exception) as caught:  # noqa: B017
        overt.jit(f)(np.ones(3))
    notes = "\n".join(caught.value.__notes__)
    assert __file__ in notes and "return y.reshape(7)" in notes


def test_jit_inside_jit_and_under_other_transformations():
    inner = overt.jit(lambda x: x * x if x > 0 else -x)
    same(overt.jit(lambda x: inner(x) + 1)(3.0), 10.0)
    same(overt.grad(inner)(3.0), 6.0)
    same(overt.vmap(inner)(np.array([3.0, -2.0])), [9.0, 2.0])


def test_no_warning_where_nothing_is_wrong():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        overt.jit(lambda x: x)(1.0)
