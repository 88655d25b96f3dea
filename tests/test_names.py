"""Small names: errors, annotations, settings, processes, linear functions, rules with zeros."""

from __future__ import annotations

import dataclasses
import functools
import logging

import numpy as onp
import pytest
from numpy.testing import assert_allclose

import overt
import overt.numpy as np
from overt import custom_derivatives as rules
from overt import errors, random
from overt.typing import ArrayLike

X = onp.ones(3, "float32")


@pytest.mark.parametrize(
    ("kind", "use"),
    [
        (errors.TracerIntegerConversionError, lambda x: list(range(5))[x[0].astype(int)]),
        (errors.NonConcreteBooleanIndexError, lambda x: x[x > 0]),
        (errors.ConcretizationTypeError, lambda x: np.zeros(int(x[0]))),
        (errors.JAXTypeError, lambda x: np.zeros(int(x[0]))),
    ],
)
def test_what_is_not_known_yet_is_refused_by_kind(kind, use):
    with pytest.raises(kind):
        overt.jit(use)(X)


def test_errors_are_those_that_python_code_expects():
    assert issubclass(errors.NonConcreteBooleanIndexError, IndexError)
    assert issubclass(errors.TracerBoolConversionError, errors.ConcretizationTypeError)
    assert issubclass(errors.ConcretizationTypeError, TypeError)
    assert issubclass(errors.BatchedPredicateError, errors.TracerBoolConversionError)
    assert issubclass(errors.KeyReuseError, RuntimeError)


def test_annotations_and_kinds():
    assert isinstance(np.ones(2), ArrayLike) and isinstance(onp.ones(2), ArrayLike)
    assert not isinstance([1.0], ArrayLike)
    assert str(overt.typeof(np.ones((2, 3)))) == "float32[2,3]"
    assert isinstance(overt.devices()[0], overt.Device)
    assert overt.host_count() == len(overt.process_indices()) == 1 and overt.host_id() == 0
    assert overt.dlpack.is_supported_dtype("bfloat16")
    assert not overt.dlpack.is_supported_dtype(np.float8_e5m2)
    assert overt.float0 == overt.dtypes.float0
    overt.copy_to_host_async({"x": np.ones(2)})
    assert list(range(9))[overt.ds(2, 3)] == [2, 3, 4] and overt.ds(4) == slice(0, 4)
    with pytest.raises(TypeError, match="dynamic_slice"):
        overt.jit(lambda i: X[overt.ds(i.astype(float), 2)])(1)


def test_static_fields_belong_to_the_structure():
    @overt.tree_util.register_dataclass
    @dataclasses.dataclass
    class Layer:
        w: float
        name: str = overt.tree.static(default="dense")

    leaves, structure = overt.tree.flatten(Layer(1.0))
    assert leaves == [1.0] and overt.tree.unflatten(structure, [2.0]) == Layer(2.0)
    assert overt.tree_util.default_registry.flatten((1, 2))[0] == [1, 2]


# --- settings


def test_keys_that_are_used_again():
    with overt.debug_key_reuse(True):
        key = random.key(0)
        random.normal(key)
        with pytest.raises(errors.KeyReuseError, match="split"):
            random.uniform(key)
        random.normal(random.clone(key))
        keys = random.split(random.key(1))
        random.normal(keys[0])
        with pytest.raises(errors.KeyReuseError):
            random.split(keys[0])
        random.fold_in(keys[1], 0), random.fold_in(keys[1], 1), random.bits(keys[1])
        with pytest.raises(errors.KeyReuseError):
            overt.jit(lambda k: random.normal(k) + random.normal(k))(random.key(2))
    random.normal(key)


def test_raw_keys_are_refused_on_request():
    with overt.legacy_prng_key("error"):
        random.permutation(random.key(0), 4)
        with pytest.raises(ValueError, match="raw key"):
            random.normal(random.PRNGKey(0))
    with overt.legacy_prng_key("warn"), pytest.warns(UserWarning, match="raw key"):
        random.normal(random.PRNGKey(0))
    with overt.enable_custom_prng(True):
        assert isinstance(random.PRNGKey(0), random.Key)


def test_staging_and_running_are_watched(caplog):
    double = overt.jit(lambda x: 2 * x)
    with overt.explain_cache_misses(True), caplog.at_level(logging.WARNING, "overt"):
        double(X)
        double(X[:2])
    assert "not staged before" in caplog.text and "was float32[3], is float32[2]" in caplog.text
    with overt.no_tracing(True):
        double(X)
        with pytest.raises(RuntimeError, match="no_tracing"):
            double(X[:1])
    x = np.ones(3)
    with overt.no_execution(True):
        for use in (double, np.sin, np.var):
            with pytest.raises(RuntimeError, match="no_execution"):
                use(x)
    with overt.enable_checks(True):
        assert_allclose(overt.jit(lambda x: x + 1)(X), 2)


def test_known_values_are_computed_at_once_on_request():
    def padded(x):
        with overt.ensure_compile_time_eval():
            size = int(np.sqrt(np.array(9.0)))
        return np.pad(x, (0, size))

    assert_allclose(overt.jit(padded)(X), [1, 1, 1, 0, 0, 0])

    def shifted(x):
        with overt.ensure_compile_time_eval():
            y = x + 1
        return y

    with pytest.raises(errors.StagingError):
        overt.jit(shifted)(X)


def test_widths_by_block():
    with overt.experimental.enable_x64():
        assert np.ones(2).dtype == "float64"
        with overt.experimental.disable_x64():
            assert np.ones(2).dtype == "float32"


# --- linear functions


def test_transposes_of_linear_functions():
    a = onp.arange(6, dtype="float32").reshape(2, 3)
    transposed = overt.linear_transpose(lambda x: a @ x, overt.ShapeDtypeStruct((3,), "float32"))
    assert_allclose(transposed(np.ones(2))[0], a.sum(0))
    assert_allclose(overt.jit(overt.vmap(transposed))(np.eye(2))[0], a)
    two = overt.linear_transpose(lambda x, y: 3 * x + np.sum(y), 1.0, X)
    assert_allclose(two(2.0)[0], 6) and assert_allclose(two(2.0)[1], [2, 2, 2])


@pytest.mark.parametrize("f", [lambda x: x * x, lambda x: np.where(x > 0, x, 2 * x)])
def test_what_is_not_linear_has_no_transpose(f):
    with pytest.raises(ValueError, match="not linear"):
        overt.linear_transpose(f, 1.0)


def test_only_numbers_have_transposes():
    with pytest.raises(TypeError, match="real or complex"):
        overt.linear_transpose(lambda x: x, 1)


def test_a_transpose_of_ones_own():
    def half(x):
        return rules.linear_call(lambda r, x: x / r, lambda r, g: 10 * g / r, 2.0, x)

    assert_allclose(half(3.0), 1.5)
    assert_allclose(overt.grad(half)(3.0), 5)
    assert_allclose(overt.linear_transpose(half, 1.0)(1.0)[0], 5)
    assert_allclose(overt.jit(overt.vmap(overt.grad(half)))(X), [5, 5, 5])
    by_residual = lambda r: rules.linear_call(lambda r, x: x / r, lambda r, g: g / r, r, 2.0)
    assert_allclose(overt.grad(by_residual)(4.0), -2 / 16)


def test_halves_of_a_derivative():
    fwd, bwd = overt.fwd_and_bwd(lambda x, y: x * np.sin(y), argnums=(0, 1))
    out, kept = overt.jit(fwd)(2.0, 0.5)
    assert_allclose(out, 2 * onp.sin(0.5), rtol=1e-6)
    assert_allclose(bwd(kept, 1.0), [onp.sin(0.5), 2 * onp.cos(0.5)], rtol=1e-6)


# --- rules that are told what is zero


def test_rules_are_told_which_arguments_matter():
    seen = []

    @overt.custom_vjp
    def product(x, y):
        return x * y

    def fwd(x, y):
        seen.append((x.perturbed, y.perturbed))
        x, y = rules.custom_vjp_primal_tree_values((x, y))
        return x * y, (x, y)

    product.defvjp(fwd, lambda kept, g: (g * kept[1], g * kept[0]), symbolic_zeros=True)
    assert_allclose(overt.grad(product)(2.0, 3.0), 3)
    assert_allclose(overt.grad(product, (0, 1))(2.0, 3.0), (3, 2))
    assert_allclose(overt.vmap(overt.grad(product), (0, None))(X, 3.0), [3, 3, 3])
    assert seen[:2] == [(True, False), (True, True)]


def test_tangents_that_are_zero_are_named():
    @overt.custom_jvp
    def product(x, y):
        return x * y

    def jvp(primals, tangents):
        (x, y), (x_dot, y_dot) = primals, tangents
        assert isinstance(y_dot, rules.SymbolicZero) and y_dot.shape == ()
        assert_allclose(y_dot.instantiate(), 0)
        return x * y, x_dot * y

    product.defjvp(jvp, symbolic_zeros=True)
    assert_allclose(overt.grad(product)(2.0, 3.0), 3)
    assert_allclose(overt.jvp(lambda x: product(x, 3.0), (2.0,), (1.0,))[1], 3)
    assert rules.zero_from_primal(X).shape == (3,)


def test_closures_are_opened():
    def scaled(a, x):
        pure, hidden = overt.closure_convert(lambda y: a * y, x)
        return pure(x, *hidden) ** 2

    assert_allclose(scaled(2.0, 3.0), 36)
    assert_allclose(overt.jit(scaled)(2.0, 3.0), 36)
    assert_allclose(overt.vmap(scaled)(X, X), [1, 1, 1])


@functools.partial(overt.custom_vjp, nondiff_argnums=(0,))
def squared(f, x, *hidden):
    return f(x, *hidden) ** 2


squared.defvjp(
    lambda f, x, *hidden: (f(x, *hidden) ** 2, (x, hidden)),
    lambda f, kept, g: overt.vjp(lambda x, *hidden: f(x, *hidden) ** 2, kept[0], *kept[1])[1](g),
)


def test_what_a_rule_holds_fixed_has_no_derivative():
    def open_(a, x):
        pure, hidden = overt.closure_convert(lambda y: a * y, x)
        return squared(pure, x, *hidden)

    closed = lambda a, x: squared(lambda y: a * y, x)
    for transform in (lambda f: f, overt.jit):
        assert_allclose(transform(overt.grad(open_, (0, 1)))(2.0, 3.0), (36, 24))
        assert_allclose(transform(overt.grad(closed, 1))(2.0, 3.0), 24)
        with pytest.raises(errors.UnexpectedTracerError, match="nondiff_argnums"):
            transform(overt.grad(closed))(2.0, 3.0)
