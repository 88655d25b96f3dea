"""What users of JAX and its peers reported as wrong, as kinds: values by NumPy and differences."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy
import pytest

import overt
import overt.numpy as np


def slopes(f: Any, x: numpy.ndarray, step: float = 1e-6) -> numpy.ndarray:
    """Central differences of a scalar function of a vector."""
    units = step * numpy.eye(x.size)
    ends = [(f(np.asarray(x + u)), f(np.asarray(x - u))) for u in units]
    return numpy.array([float(above - below) / (2 * step) for above, below in ends])


# --- x.at[...] -----------------------------------------------------------------------------------

X = numpy.array([2.0, 3.0, 4.0])
W = numpy.arange(1.0, 4.0)
ROWS = {"one": 1, "two": numpy.array([1, 2]), "twice": numpy.array([1, 1])}


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("how", ["set", "add", "subtract", "multiply", "divide", "power", "max"])
def test_at_passes_derivatives_to_the_array_and_the_values(how: str, rows: str) -> None:
    index = ROWS[rows]

    def f(x):
        return np.sum(getattr(x.at[index], how)(x[0] * 0.8) * W)

    with overt.enable_x64(True):
        wanted = slopes(f, X)
        numpy.testing.assert_allclose(overt.grad(f)(X), wanted, rtol=1e-6)
        numpy.testing.assert_allclose(overt.jacfwd(f)(X), wanted, rtol=1e-6)
        numpy.testing.assert_allclose(overt.vmap(overt.grad(f))(X[None])[0], wanted, rtol=1e-6)


def test_at_written_out_kept_and_passed_on() -> None:
    def written(x):
        return np.sum(x.at[1].multiply(x[0]) ** 2 * W)

    def kept(x):
        place = x.at[1]
        return np.sum(place.add(x[0]) ** 2 * W)

    def passed(x):
        return np.sum(doubled(x.at[1]) ** 2 * W)

    def in_loop(x):
        for i in range(3):
            x = x.at[i].multiply(2.0)
            if i == 1:
                x = x.at[0].add(x[1])
        return np.sum(x**2)

    with overt.enable_x64(True):
        for f in (written, kept, passed, in_loop):
            wanted = slopes(f, X)
            numpy.testing.assert_allclose(overt.grad(f)(X), wanted, rtol=1e-6)
            numpy.testing.assert_allclose(overt.jit(overt.grad(f))(X), wanted, rtol=1e-6)
            second = [slopes(lambda x, i=i, f=f: overt.grad(f)(x)[i], X) for i in range(3)]
            numpy.testing.assert_allclose(overt.hessian(f)(X), second, rtol=1e-5, atol=1e-7)
            numpy.testing.assert_allclose(
                overt.jacrev(overt.grad(f))(X), second, rtol=1e-5, atol=1e-7
            )


def doubled(place: Any) -> Any:
    return place.mul(2.0)


# --- methods named like those of lists and sets --------------------------------------------------


class Account:
    def __init__(self, value: Any) -> None:
        self.value = value

    def add(self, x: Any) -> Any:
        return self.value + x

    def update(self, x: Any) -> Any:
        self.value = self.value * x
        return self.value, x


def test_a_users_method_named_like_one_that_changes_a_container_returns_its_value() -> None:
    def f(x):
        account = Account(x)
        before = account.add(1.0)
        new, step = account.update(x)
        return before * new + step

    for x in (2.0, 3.0):
        assert float(overt.jit(f)(x)) == (x + 1) * x * x + x
    assert float(overt.grad(f)(2.0)) == pytest.approx(3 * 4 + 2 * 2 + 1)

    def of_set(x, seen):
        result = seen.add(4)
        return x if result is None else -x

    assert float(overt.jit(lambda x: of_set(x, {1}))(3.0)) == 3.0


# --- what is kept in classes and in static arguments ----------------------------------------------


class Counted:
    count = 0
    total = 0.0

    def __init__(self, scale: float) -> None:
        self.scale = scale

    def step(self, x: Any) -> Any:
        type(self).count += 1
        Counted.total = Counted.total + x
        return self.scale * x


def test_numbers_kept_in_a_class_change_at_every_call() -> None:
    step = overt.jit(Counted(2.0).step)
    assert [float(step(x)) for x in (1.0, 2.0, 3.0)] == [2.0, 4.0, 6.0]
    assert int(Counted.count) == 3
    assert float(Counted.total) == 6.0


def test_attributes_of_a_static_argument_are_never_stale() -> None:
    step = overt.jit(lambda thing, x: thing.scale * x, static_argnums=0)
    thing = Counted(2.0)
    assert float(step(thing, 3.0)) == 6.0
    thing.scale = 5.0
    assert float(step(thing, 3.0)) == 15.0
    assert float(step(Counted(7.0), 3.0)) == 21.0


# --- numbers and dtypes --------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["mean", "var", "std", "median", "nanmean", "average"])
def test_statistics_of_many_16_bit_floats(name: str) -> None:
    rng = numpy.random.default_rng(0)
    for dtype in (np.float16, np.bfloat16):
        x = np.asarray(rng.uniform(1.0, 9.0, 70001), dtype)
        wanted = getattr(numpy, name)(numpy.asarray(x, numpy.float64))
        found = getattr(np, name)(x)
        assert found.dtype == dtype
        assert float(found) == pytest.approx(wanted, rel=1e-2)


def test_derivative_of_a_mean_over_more_than_16_bits_count() -> None:
    x = np.ones(70000, np.float16)
    slope = overt.grad(lambda x: np.mean(x).astype(np.float32) * 70000)(x)
    numpy.testing.assert_allclose(numpy.asarray(slope, float), 1.0, rtol=1e-2)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
def test_indices_in_a_short_dtype_into_a_long_axis(dtype: str) -> None:
    size = 40000 if dtype == "int16" else 300
    plain = numpy.arange(size)
    x = np.asarray(plain)
    for i in (5, 100, *((-1, -128) if dtype.startswith("i") else (200,))):
        index = np.asarray(i, dtype)
        assert int(x[index]) == plain[i]
        assert int(overt.jit(lambda x, i: x[i])(x, index)) == plain[i]
        assert int(np.take(x, index, mode="wrap")) == plain[i]
        assert int(x.at[index].set(-7)[i]) == -7
        start = plain[i] if i >= 0 else i
        found = overt.lax.dynamic_slice(x, (index,), (1,))
        assert int(found[0]) == plain[start]
    assert float(overt.ops.segment_sum(np.ones(2), np.asarray([1, 100], dtype), size)[100]) == 1.0


def test_random_integers_of_the_whole_range() -> None:
    key = overt.random.key(0)
    draws = numpy.asarray(overt.random.randint(key, (20000,), 0, 2**32, np.uint32), float)
    assert draws.max() > 0.999 * 2**32
    assert draws.min() < 0.001 * 2**32
    assert draws.mean() == pytest.approx(2**31, rel=0.02)
    draws = numpy.asarray(overt.random.randint(key, (20000,), -(2**31), 2**31), float)
    assert abs(draws.mean()) < 0.02 * 2**31
    one, two = (overt.random.fold_in(key, i) for i in (2**31 + 5, numpy.uint32(2**31 + 5)))
    numpy.testing.assert_array_equal(overt.random.key_data(one), overt.random.key_data(two))


def test_xlogy_is_flat_where_its_factor_is_zero() -> None:
    special = overt.scipy.special
    for f in (special.xlogy, special.xlog1py):
        bad = 0.0 if f is special.xlogy else -1.0
        assert float(overt.grad(f, argnums=1)(0.0, bad)) == 0.0
        assert float(overt.grad(f, argnums=1)(2.0, 1.0)) == (2.0 if f is special.xlogy else 1.0)


# --- control flow --------------------------------------------------------------------------------


def countdown(n: Any) -> Any:
    if n <= 1:
        return 1
    return n * countdown(n - 1)


def halvings(x: Any) -> Any:
    if x < 1.0:
        return x
    return halvings(x / 2.0) + 1.0


def test_recursion_that_values_end() -> None:
    assert int(overt.jit(countdown)(5)) == 120
    assert float(overt.grad(halvings)(5.0)) == 0.125
    with pytest.raises(overt.errors.OvertError, match="recursion"):
        overt.jit(halvings)(5.0)
    with pytest.raises(overt.errors.OvertError, match="calls itself"):
        overt.jit(overt.vmap(halvings))(np.ones(2))


def test_an_integer_returned_on_one_path_has_gradient_zero() -> None:
    def f(x):
        if x > 0:
            return 3
        return x * x

    for slope in (overt.grad(f), overt.jit(overt.grad(f))):
        assert [float(slope(x)) for x in (2.0, -2.0)] == [0.0, -4.0]
    with pytest.raises(TypeError, match="real-valued outputs"):
        overt.grad(lambda x: x > 0)(1.0)


def test_loops_of_lax_refuse_a_carry_of_another_shape() -> None:
    lax = overt.lax
    start = {"a": np.zeros(()), "b": np.zeros(2)}

    def wider(c):
        return {"a": c["a"].reshape(1, 1), "b": c["b"]}

    for loop in (
        lambda: lax.scan(lambda c, _: (wider(c), None), start, None, length=2),
        lambda: lax.fori_loop(0, 2, lambda i, c: wider(c), start),
        lambda: lax.while_loop(lambda c: c["a"].sum() < 1, wider, start),
    ):
        with pytest.raises(TypeError, match=r"carry\['a'\].*\(\).*\(1, 1\)"):
            loop()
    with pytest.raises(TypeError, match="scalar"):
        lax.cond(np.array([True]), lambda: 1, lambda: 2)


# --- custom rules and errors ---------------------------------------------------------------------


def test_a_custom_vjp_rule_must_return_the_shapes_of_its_arguments() -> None:
    @overt.custom_vjp
    def total(x):
        return np.sum(x)

    total.defvjp(lambda x: (np.sum(x), None), lambda kept, g: (g,))
    with pytest.raises(ValueError, match=r"argument 0, of shape \(3,\).*shape \(\)"):
        overt.grad(total)(np.ones(3))


def test_an_error_in_the_last_line_names_that_line_under_grad() -> None:
    def f(x):
        y = x * 2.0
        return np.dot(y, np.ones(7))

    with pytest.raises(ValueError, match="product of shapes") as caught:
        overt.grad(f)(np.ones((3, 3)))
    assert "return np.dot(y, np.ones(7))" in "".join(caught.value.__notes__)


def test_sums_over_what_a_filter_keeps() -> None:
    def f(x):
        return sum(v * v for v in x if v > 0 if v < 2.5) + sum(
            [a * b for a in x for b in x if a < b]
        )

    def g(x):
        return any(v > 5 for v in x if v != 7), all(v > 0 for v in x if v < 2)

    for x in (numpy.array([-1.0, 2.0, 3.0]), numpy.array([7.0, 1.0, 0.5])):
        assert float(overt.jit(f)(x)) == pytest.approx(float(f(x)))
        assert float(overt.vmap(f)(x[None])[0]) == pytest.approx(float(f(x)))
        with overt.enable_x64(True):
            for slope in (overt.grad(f), overt.jit(overt.grad(f))):
                numpy.testing.assert_allclose(slope(x), slopes(f, x), rtol=1e-6)
        assert [bool(v) for v in overt.jit(g)(x)] == [bool(v) for v in g(x)]


def test_random_keys_move_about() -> None:
    random = overt.random
    keys = random.split(random.key(0), 4)
    words = numpy.asarray(random.key_data(keys))
    mask = numpy.array([True, False, True, True])
    for moved, wanted in (
        (np.stack([keys[0], keys[2]]), words[[0, 2]]),
        (np.concatenate([keys, keys]), numpy.concatenate([words, words])),
        (np.where(mask, keys, keys[::-1]), numpy.where(mask[:, None], words, words[::-1])),
        (np.reshape(keys, (2, 2)), words.reshape(2, 2, -1)),
        (keys.reshape(2, 2).T, words.reshape(2, 2, -1).swapaxes(0, 1)),
        (overt.jit(np.flip)(keys), words[::-1]),
        (overt.vmap(lambda a, b: np.stack([a, b]))(keys, keys), numpy.stack([words, words], 1)),
    ):
        numpy.testing.assert_array_equal(random.key_data(moved), wanted)
    with pytest.raises(TypeError, match="no number"):
        np.sum(keys)


def test_slices_as_static_arguments() -> None:
    part = overt.jit(lambda x, where: x[where], static_argnums=1)
    x = np.arange(6).reshape(2, 3)
    assert part(x, slice(1, 2)).shape == (1, 3)
    assert part(x, (slice(None), slice(0, 2))).shape == (2, 2)
    assert part(x, (slice(None), slice(0, 3))).shape == (2, 3)
    with pytest.raises(ValueError, match="hash"):
        part(x, [0])


INTEGERS = (
    lambda x: x.astype(int),
    lambda x: np.astype(x, "int32"),
    lambda x: np.array(x, np.int32),
    lambda x: np.asarray(x, dtype=int),
    lambda x: np.int32(x),
    lambda x: x.astype(bool) * 2,
)


@pytest.mark.parametrize("number", range(len(INTEGERS)))
def test_conversion_to_integers_has_derivative_zero(number: int) -> None:
    to_integers = INTEGERS[number]

    def f(x):
        return x * to_integers(x)

    x = np.array(2.5)
    for slope in (overt.grad(f), overt.jacfwd(f), overt.jit(overt.grad(f)), overt.jacrev(f)):
        assert float(slope(x)) == 2.0
    assert float(overt.hessian(f)(x)) == 0.0
    assert float(overt.grad(lambda x: x * x.astype(x.dtype))(x)) == 5.0


# --- prints --------------------------------------------------------------------------------------


def test_texts_are_printed_where_the_program_gets_to(capsys: pytest.CaptureFixture) -> None:
    def f(x):
        print("start")
        if x > 0:
            print("positive")
        else:
            print("negative")
        for _ in range(2):
            print("step")
        return x

    compiled = overt.jit(f)
    for x, word in ((1.0, "positive"), (-1.0, "negative"), (2.0, "positive")):
        compiled(x).block_until_ready()
        overt.effects_barrier()
        assert capsys.readouterr().out.split() == ["start", word, "step", "step"]
    overt.block_until_ready(overt.vmap(f)(np.array([1.0, -1.0, 2.0])))
    overt.effects_barrier()
    found = capsys.readouterr().out.split()
    assert found.count("positive") == 2
    assert found.count("negative") == 1


# --- transforms and stores -----------------------------------------------------------------------


def test_slopes_through_fourier_transforms_of_real_parts() -> None:
    weights = numpy.array([1.0, -2.0, 0.5, 3.0, 0.0, 1.5])
    x = numpy.array([0.3, -1.0, 2.0, 0.7, 1.1, -0.4])

    def filtered(x):
        return np.sum(np.real(np.fft.ifft(np.fft.fft(x) * np.fft.fft(np.asarray(weights)))) ** 2)

    def half(x):
        return np.sum(np.fft.irfft(np.fft.rfft(x)[:3], 5) ** 2)

    with overt.enable_x64(True):
        for f in (filtered, half):
            numpy.testing.assert_allclose(overt.grad(f)(x), slopes(f, x), rtol=1e-6, atol=1e-8)
            numpy.testing.assert_allclose(overt.jacfwd(f)(x), slopes(f, x), rtol=1e-6, atol=1e-8)


def test_filled_reads_have_derivatives() -> None:
    x = np.arange(1.0, 5.0)
    rows = np.array([7, -1])
    for mode, wanted in (("fill", [0, 0, 0, 1]), ("clip", [0, 0, 0, 2])):
        found = overt.grad(lambda x, m=mode: x.at[rows].get(mode=m, fill_value=0.5).sum())(x)
        numpy.testing.assert_array_equal(found, wanted)


def test_complex_values_are_not_stored_in_real_arrays() -> None:
    def store(x):
        x[0] = 1.0 + 2.0j
        return x

    for f in (overt.jit(store), lambda x: x.at[0].set(1j), lambda x: x.at[0].add(np.array(1j))):
        with pytest.raises(TypeError, match="complex value"):
            f(np.ones(2))
    for size in (2.5, (1, 2.5)):
        with pytest.raises(TypeError):
            np.zeros(size)


def test_the_first_random_number_of_a_process_is_refused_too(tmp_path: Any) -> None:
    path = tmp_path / "draws.py"
    path.write_text(
        "import numpy, overt\n"
        "draws = overt.jit(lambda x: x + numpy.random.randint(9))\n"
        "looks = overt.jit(lambda x: x + len(str(numpy.random.__name__)))\n"
        "assert float(looks(1.0)) == 13.0\n"
        "draws(1.0)\n"
    )
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True)
    assert "draws random numbers" in done.stderr
