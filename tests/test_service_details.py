"""Details of flags, stages, donation, callbacks and exports, each where it was once wrong."""

import logging

import numpy
import pytest

import overt
import overt.numpy as np
from overt import export


def reciprocal_of_log(x):
    doubled = x * 2
    return 1 / np.log(doubled)


@pytest.mark.parametrize("make", [float, numpy.float32, lambda v: np.array(v, np.float32)])
@pytest.mark.parametrize("donate", [(), (0,)])
def test_nans_and_infinities_name_the_line_at_each_call(make, donate):
    compiled = overt.jit(reciprocal_of_log, donate_argnums=donate)
    for flag, bad in ((overt.debug_nans, -1.0), (overt.debug_infs, 0.5)):
        with flag(True):
            assert numpy.isfinite(compiled(make(2.0)))
            with pytest.raises(FloatingPointError) as caught:
                compiled(make(bad))
            assert "np.log(doubled)" in "".join(caught.value.__notes__)
            assert caught.value.__context__ is None or caught.value.__suppress_context__


def test_nans_are_found_where_a_default_device_is_chosen():
    with overt.default_device("cpu"), overt.debug_nans(True):
        with pytest.raises(FloatingPointError, match="log"):
            np.log(np.float32(-1.0))
        with pytest.raises(FloatingPointError, match="multiply"):
            np.array([numpy.nan, 1.0]) * 2


def test_compiled_programs_are_called_without_their_static_arguments():
    def f(x, n, y, *, m=2):
        return x * n + y * m

    jitted = overt.jit(f, static_argnums=1, static_argnames="m")
    compiled = jitted.lower(1.0, 2, 3.0, m=4).compile()
    assert compiled(1.0, 3.0) == 14
    assert compiled(1.0, 2, 3.0, m=4) == 14
    with pytest.raises(TypeError):
        compiled(1.0)
    with pytest.raises(TypeError, match="changed|compiled"):
        compiled(1.0, 5, 3.0, m=4)


def test_compiled_programs_are_not_transformed():
    compiled = overt.jit(lambda x: x * 2).lower(1.0).compile()
    for transform in (overt.grad, overt.jit):
        with pytest.raises(TypeError, match="cannot be differentiated, batched or staged"):
            transform(lambda x: compiled(x))(1.0)
    with pytest.raises(TypeError, match="cannot be differentiated, batched or staged"):
        overt.vmap(lambda x: compiled(x))(np.ones(2))


def test_shapes_with_other_fields():
    shape = overt.ShapeDtypeStruct((2, 3), "float32")
    assert shape.update(shape=(5,)) == overt.ShapeDtypeStruct((5,), "float32")
    assert shape.update(dtype="int32").shape == (2, 3)
    assert shape.update(weak_type=True).weak_type and not shape.weak_type


def test_device_put_copies_where_sharing_is_forbidden():
    x = np.ones(3)
    copied = overt.device_put(x, may_alias=False)
    assert copied.unsafe_buffer_pointer() != x.unsafe_buffer_pointer()
    assert copied.tolist() == [1, 1, 1] and not copied.committed
    given = overt.device_put(x, donate=True)  # stays where it is
    assert not x.is_deleted() and given.tolist() == [1, 1, 1]


def test_donation_is_refused_clearly():
    both = overt.jit(lambda x, y: (x + 1, y + 2), donate_argnums=(0, 1))
    x = np.ones(10)
    with pytest.raises(ValueError, match="donated twice"):
        both(x, x)
    for names in ({"donate_argnums": 0, "static_argnums": 0},
                  {"donate_argnames": "x", "static_argnames": "x"}):  # fmt: skip
        with pytest.raises(ValueError, match="both donated and static"):
            overt.jit(lambda x: x, **names)


def test_misses_are_explained_by_the_place_in_an_argument(caplog):
    compiled = overt.jit(lambda d: d["a"])
    with overt.explain_cache_misses(True), caplog.at_level(logging.WARNING):
        compiled({"a": 1.0})
        compiled({"a": np.ones(3)})
        compiled({"a": 1.0, "b": (2.0, 1)})
    second, third = caplog.messages[1:]
    assert "argument d['a'] was float32[]~, is float32[3]" in second
    assert "({'a': *},), now ({'a': *, 'b': (*, *)},)" in third
    assert "argument d['b'][0]: float32[]~" in third


@pytest.mark.filterwarnings("ignore::overt.errors.RecordedWarning")
def test_callbacks_get_ndarrays_everywhere():
    kinds = []

    def note(x, *, name):
        kinds.append((type(x), x.dtype.name, name))

    def f(x):
        overt.debug.callback(note, x, name="x")
        return x * 2

    for call in (f, overt.jit(f), overt.grad(f), overt.jit(overt.grad(f))):
        call(3.0)
    overt.vmap(f)(np.arange(2.0))
    overt.jit(overt.vmap(f))(np.arange(2.0))
    assert set(kinds) == {(numpy.ndarray, "float32", "x")} and len(kinds) == 8


# --- exports


def reloaded(fn, *args, **how):
    return export.deserialize(export.export(overt.jit(fn))(*args).serialize(**how))


def test_random_keys_are_arguments_and_results_of_exports():
    for key in (overt.random.key(0), overt.random.key(0, impl="rbg")):
        made = reloaded(lambda k: (overt.random.normal(k, (2,)), overt.random.fold_in(k, 3)), key)
        numbers, folded = made.call(key)
        assert (numbers == overt.random.normal(key, (2,))).all()
        assert folded == overt.random.fold_in(key, 3) and folded.dtype == key.dtype
    with pytest.raises(ValueError, match="exported for arguments"):
        made.call(overt.random.key(0))


def any_rows():
    (b,) = export.symbolic_shape("b")
    return overt.ShapeDtypeStruct((b, 3), np.float32)


def test_random_numbers_of_any_size():
    key = overt.random.key(0)
    made = reloaded(lambda x: overt.random.normal(key, x.shape), any_rows())
    for n in (1, 2, 3):
        assert (made.call(np.ones((n, 3))) == overt.random.normal(key, (n, 3))).all()


FOR_ANY_ROWS = {
    "joined": lambda x: (np.concatenate([x, 2 * x, x[:1]]) ** 2).sum(),
    "first": lambda x: x[0].sum() * x[-1].sum(),
    "neighbours": lambda x: (x[:-1] * x[1:]).sum(),
    "column": lambda x: (x[:, 1] ** 2).sum(),
    "rolled": lambda x: (np.roll(x, 1, 0) * x).sum(),
    "mapped": lambda x: overt.vmap(lambda row: row[0] * row.sum())(x).sum(),
    "stacked": lambda x: (np.stack([x, x * 2]) ** 3).sum(),
}


@pytest.mark.parametrize("name", FOR_ANY_ROWS)
def test_derivatives_for_any_size(name):
    f = FOR_ANY_ROWS[name]
    made = reloaded(f, any_rows(), vjp_order=1)
    for n in (2, 5):
        x = overt.random.normal(overt.random.key(n), (n, 3))
        numpy.testing.assert_allclose(overt.grad(made.call)(x), overt.grad(f)(x), rtol=1e-5)


def test_bounds_of_quotients_and_remainders():
    (b,) = export.symbolic_shape("b")
    assert b // 2 <= b and (3 * b + 1) // 2 <= 3 * b + 1
    assert b % 4 < 4 and b % 4 >= 0
    assert (5 * b) // 3 >= b - 1
    for n in range(1, 30):
        for size in ((7 * b + 2) // 3 - 2 * b, 4 * b - (3 * b) // 2, b % 5 - b // 2):
            low, high = size.bound()
            value = overt.runtime.dimensions.evaluate(size, {"b": n})
            assert low <= value <= high
