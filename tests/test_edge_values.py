"""Values and derivatives at the edges of domains, and functions of modules that have two NumPys."""

import numpy
import pytest
import scipy.special

import overt
import overt.numpy as onp

np = numpy  # the `np` of this module is NumPy itself


@pytest.fixture(autouse=True)
def wide():
    with overt.enable_x64(True):
        yield


@pytest.mark.parametrize("x", [0.0, 1e-12, -1e-9, 1e-5, -1e-3, 0.2, 0.31, 0.32, -0.7, 2.5])
def test_derivatives_of_sinc(x):
    t = np.pi * x
    if abs(t) < 0.1:
        wanted = (1 - t**2 / 6 + t**4 / 120, np.pi * (-t / 3 + t**3 / 30 - t**5 / 840))
        second = np.pi**2 * (-1 / 3 + t**2 / 10 - t**4 / 168)
    else:
        wanted = (np.sin(t) / t, np.pi * (t * np.cos(t) - np.sin(t)) / t**2)
        second = np.pi**2 * (2 * np.sin(t) - 2 * t * np.cos(t) - t**2 * np.sin(t)) / t**3
    np.testing.assert_allclose(onp.sinc(x), wanted[0], rtol=1e-14)
    np.testing.assert_allclose(overt.grad(onp.sinc)(x), wanted[1], rtol=1e-12)
    np.testing.assert_allclose(overt.grad(overt.grad(onp.sinc))(x), second, rtol=1e-10)
    _, tangent = overt.jvp(overt.jit(onp.sinc), (x,), (1.0,))
    np.testing.assert_allclose(tangent, wanted[1], rtol=1e-12)


def test_sinc_of_complex_numbers_and_its_fourth_derivative():
    z = np.array([0.1 + 0.2j, 2.0 - 1.0j, 0j])
    np.testing.assert_allclose(onp.sinc(z), np.sinc(z), rtol=1e-12)
    fourth = overt.grad(overt.grad(overt.grad(overt.grad(onp.sinc))))(0.0)
    np.testing.assert_allclose(fourth, np.pi**4 / 5, rtol=1e-12)


INF = np.inf


@pytest.mark.parametrize(
    "values",
    [[1.0, 2.0, INF], [INF, INF, INF], [-INF, -INF], [-INF, 0.0, 1.0, 2.0, INF], [-INF, 3.0, INF]],
)
def test_medians_beside_infinities(values):
    x = np.array(values)
    assert float(onp.median(x)) == np.median(x)
    assert float(onp.nanmedian(np.append(x, np.nan))) == np.median(x)
    for method in ("lower", "higher", "nearest"):
        for q in (0.0, 0.25, 0.5, 1.0):
            wanted = np.quantile(x, q, method=method)
            assert (
                float(overt.jit(onp.quantile, static_argnames="method")(x, q, method=method))
                == wanted
            )
    slopes = overt.grad(onp.median)(onp.array([1.0, 2.0, INF]))
    assert slopes.tolist() == [0.0, 1.0, 0.0]


def test_slope_of_a_quantile_by_its_fraction():
    x = onp.array([1.0, 3.0, 10.0])
    assert float(overt.grad(lambda q: onp.quantile(x, q))(0.25)) == 4.0
    assert float(overt.grad(lambda q: onp.quantile(x, q))(0.5)) == 14.0


@pytest.mark.parametrize("a", [-4.0, -3.0, -1.0, 0.0, -2.5, 0.5, 12.0])
def test_beta_at_poles(a):
    b = np.array([-2.0, -0.5, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0])
    with np.errstate(all="ignore"):
        logs, signed = scipy.special.betaln(a, b), scipy.special.beta(a, b)
    for f, wanted in ((overt.scipy.special.betaln, logs), (overt.scipy.special.beta, signed)):
        for found in (f(a, b), f(b, a), overt.jit(f)(a, b)):
            if f is overt.scipy.special.beta:  # the sign of an infinite one is a convention
                found, wanted = (np.where(np.isinf(v), np.inf, v) for v in (found, wanted))
            np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_slope_of_beta():
    for a, b in ((2.5, 1.5), (-1.5, 4.0), (20.0, 30.0)):
        h = 1e-6
        ahead, behind = (scipy.special.beta(a + s, b) for s in (h, -h))
        slope = overt.grad(overt.scipy.special.beta)(a, b)
        np.testing.assert_allclose(slope, (ahead - behind) / (2 * h), rtol=1e-6, atol=1e-8)


def test_square_of_truth_values_is_a_number():
    for x in (True, np.array([True, False])):
        for f in (onp.square, overt.jit(onp.square)):
            assert f(x).dtype == np.int32
            np.testing.assert_array_equal(f(x), np.square(x))


def test_logic_with_numbers_that_the_dtype_does_not_hold():
    x = np.array([0, 3], np.uint8)
    for f, g in ((onp.logical_xor, np.logical_xor), (onp.logical_and, np.logical_and)):
        for other in (-1, 300, 0, True):
            np.testing.assert_array_equal(f(onp.array(x), other), g(x, np.int64(other)))
            np.testing.assert_array_equal(f(other, onp.array(x)), g(np.int64(other), x))


def test_places_out_of_range_that_are_filled_have_no_slope():
    x = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    places = np.array([[0, 7], [-9, 1]])

    def along(x):
        return onp.take_along_axis(x, places, 1, mode="fill", fill_value=0.5)

    def taken(x):
        return onp.take(x, places[0], 1, mode="fill", fill_value=0.5)

    for f, weights in ((along, [[1, 0, 0], [0, 1, 0]]), (taken, [[1, 0, 0], [1, 0, 0]])):
        assert f(x)[0].tolist() == [1.0, 0.5]
        slopes = overt.grad(lambda x, f=f: onp.sum(f(x)))
        np.testing.assert_array_equal(slopes(x), weights)
        np.testing.assert_array_equal(overt.jit(slopes)(x), weights)
        _, tangent = overt.jvp(f, (x,), (x,))
        np.testing.assert_array_equal(tangent, np.where(np.asarray(f(x)) == 0.5, 0, f(x)))


@pytest.mark.parametrize("mode", ["fill", "clip"])
def test_known_places_out_of_range_beside_unknown_ones(mode):
    x = np.arange(6.0).reshape(2, 3)
    rows, places = np.array([[0], [1]]), np.array([[0, 7], [-9, -1]])

    def read(x, rows):
        return x.at[rows, places].get(mode=mode, fill_value=-5.0)

    def read_one(x, rows):
        return x.at[rows, -9].get(mode=mode, fill_value=-5.0)

    def stored(x, rows):
        return x.at[rows, places].add(100.0, mode="drop" if mode == "fill" else mode)

    held = np.clip(np.where(places < 0, places + 3, places), 0, 2)
    wanted, outside = x[rows, held], (places > 2) | (places < -3)
    if mode == "fill":
        wanted = np.where(outside, -5.0, wanted)
    np.testing.assert_array_equal(overt.jit(read)(x, rows), wanted)
    one = np.full((2, 1), -5.0) if mode == "fill" else x[:, :1]
    np.testing.assert_array_equal(overt.jit(read_one)(x, rows), one)
    added = x.copy()
    shares = np.where(outside, 0.0, 100.0) if mode == "fill" else 100.0
    np.add.at(added, (np.broadcast_to(rows, held.shape), held), shares)
    np.testing.assert_array_equal(overt.jit(stored)(x, rows), added)
    lanes = overt.vmap(read, in_axes=(None, 0))(onp.array(x), np.stack([rows, rows[::-1]]))
    np.testing.assert_array_equal(lanes[0], wanted)


def test_what_numpy_refuses():
    with pytest.raises(OverflowError):
        onp.dot(onp.array([1, 2], np.uint8), -1)
    with pytest.raises(ValueError, match="axes"):
        onp.nonzero(onp.array(2.0))
    with pytest.raises(ValueError, match="coefficients"):
        onp.polyval(3.0, 2.0)


@pytest.mark.parametrize(
    "options",
    [{"full": True}, {"cov": True}, {"cov": "unscaled"}, {"cov": True, "w": np.arange(1.0, 7.0)}],
)
def test_what_polyfit_tells_besides_the_coefficients(options):
    x = np.arange(6.0)
    y = x**2 + np.sin(x)
    for values in (y, np.stack([y, -2 * y], 1)):
        found = onp.polyfit(x, values, 2, **options)
        for one, other in zip(found, np.polyfit(x, values, 2, **options), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-12)


def test_slope_of_the_covariance_of_a_fit():
    x, step = np.arange(6.0), 1e-5
    y = x**2 + np.sin(x)

    def spread(numpy, y):
        return numpy.sum(numpy.polyfit(x, y, 2, cov=True)[1])

    wanted = [(spread(np, y + e) - spread(np, y - e)) / (2 * step) for e in step * np.eye(6)]
    slopes = overt.jit(overt.grad(lambda y: spread(onp, y)))(y)
    np.testing.assert_allclose(slopes, wanted, rtol=1e-5)


def test_reductions_of_truth_values_with_an_initial_one():
    x = np.array([[True, False], [False, False]])
    assert onp.max(x, initial=3).dtype == bool and onp.min(x, initial=0).dtype == bool
    np.testing.assert_array_equal(onp.max(x, 1, initial=0), np.max(x, 1, initial=0))
    assert onp.unwrap(np.zeros((0, 3)), axis=0, period=4.0).shape == (0, 3)
    for f, operands in ((onp.matvec, (x[0], x)), (onp.vecmat, (x, x[0]))):
        with pytest.raises(ValueError, match="matrices"):
            f(*operands)


def test_weighted_quantiles():
    random = np.random.RandomState(0)
    a, weights = random.randn(4, 5), random.randint(0, 4, (4, 5)).astype(float)
    weights[:, 0], weights[2] = 0, [0, 0, 1, 0, 0]
    how = {"method": "inverted_cdf"}
    for q in (0.0, 0.3, np.array([0.2, 1.0])):
        for axis, w in ((None, weights), (1, weights), (1, np.array([1.0, 0, 2, 1, 3]))):
            wanted = np.quantile(a, q, axis, weights=w, **how)
            np.testing.assert_array_equal(onp.quantile(a, q, axis, weights=w, **how), wanted)
            found = onp.percentile(a, 100 * q, axis, weights=w, **how)
            np.testing.assert_array_equal(found, wanted)
    holed = a.copy()
    holed[1, 2] = np.nan
    wanted = np.nanquantile(holed, 0.3, 1, weights=weights, **how)
    np.testing.assert_array_equal(onp.nanquantile(holed, 0.3, 1, weights=weights, **how), wanted)
    slopes = overt.grad(lambda a: onp.sum(onp.quantile(a, 0.5, axis=1, weights=weights, **how)))(a)
    picked = np.quantile(a, 0.5, axis=1, weights=weights, **how)
    np.testing.assert_array_equal(slopes, (a == picked[:, None]).astype(float))
    with pytest.raises(ValueError, match="inverted_cdf"):
        onp.quantile(a, 0.5, weights=weights)


def test_parameters_that_jax_has_too():
    x = np.array([3.0, 1.0, 2.0]) + 1e9
    assert onp.argsort(x, dtype=np.int8).dtype == np.int8
    assert float(onp.polyval(np.array([1.0, 0.0, 2.0]), 3.0, unroll=4)) == 11.0
    stable = overt.nn.standardize(x, algorithm="stable", epsilon=0.0)
    np.testing.assert_allclose(stable, (x - x.mean()) / x.std(), rtol=1e-6)
    with pytest.raises(ValueError, match="algorithm"):
        overt.nn.standardize(x, algorithm="quick")


def test_a_callback_without_derivative_is_named_as_the_user_named_it():
    def called(x):
        shape = overt.ShapeDtypeStruct((), np.float64)
        return overt.experimental.io_callback(lambda v: v, shape, x) * x

    with pytest.raises(NotImplementedError, match="^io_callback has no derivative"):
        overt.grad(called)(1.0)


def bisected(y, a):
    def solve(f, guess):
        low, high = 0.0, 2.0
        for _ in range(60):
            middle = 0.5 * (low + high)
            if f(middle) < 0:
                low = middle
            else:
                high = middle
        return 0.5 * (low + high)

    return overt.lax.custom_root(lambda x: a * x * x - y, 1.0, solve, lambda g, r: r / g(1.0))


def test_a_solver_that_branches_on_lanes():
    y = np.array([0.5, 1.0, 2.0])
    slopes = overt.vmap(overt.grad(bisected, argnums=(0, 1)), in_axes=(0, None))(y, 2.0)
    roots = np.sqrt(y / 2.0)
    np.testing.assert_allclose(slopes[0], 1 / (4.0 * roots), rtol=1e-9)
    np.testing.assert_allclose(slopes[1], -roots / 4.0, rtol=1e-9)


# --- NumPy under the name np, ours under another


def with_numpys_generator(x):
    weights = np.random.RandomState(0).randn(3)
    return onp.sum(onp.sin(x) * weights)


def with_numpys_names(x):
    with np.errstate(all="ignore"):
        scale = np.testing.__name__.count("numpy") * np.float64(2.0)
    return onp.sum(x * x) * scale


def with_zeros_of_numpy(x):
    stored = np.zeros(3)
    stored[0] = 2.0 * x[0]
    return onp.sum(x * np.random.RandomState(0).randn(3) + stored)


def test_arrays_that_numpy_makes_beside_what_only_numpy_has():
    x, slopes = np.array([0.1, 0.2, 0.3]), np.random.RandomState(0).randn(3) + [2.0, 0.0, 0.0]
    for transformed in (
        overt.grad(with_zeros_of_numpy),
        overt.jit(overt.grad(with_zeros_of_numpy)),
    ):
        np.testing.assert_allclose(transformed(x), slopes, rtol=1e-12)
    np.testing.assert_allclose(overt.jit(with_zeros_of_numpy)(x), x @ slopes, rtol=1e-12)
    lanes = overt.vmap(with_zeros_of_numpy)(np.stack([x, 2 * x]))
    np.testing.assert_allclose(lanes, [x @ slopes, 2 * x @ slopes], rtol=1e-12)


def test_a_module_that_calls_numpy_np():
    x = np.array([0.1, 0.2, 0.3])
    weights = np.random.RandomState(0).randn(3)
    for gradient in (
        overt.grad(with_numpys_generator),
        overt.jit(overt.grad(with_numpys_generator)),
    ):
        np.testing.assert_allclose(gradient(x), np.cos(x) * weights, rtol=1e-12)
    hessian = overt.hessian(with_numpys_generator)(x)
    np.testing.assert_allclose(hessian, np.diag(-np.sin(x) * weights), rtol=1e-12)
    _, tangent = overt.jvp(with_numpys_generator, (x,), (np.ones(3),))
    np.testing.assert_allclose(tangent, np.sum(np.cos(x) * weights), rtol=1e-12)
    np.testing.assert_allclose(overt.grad(with_numpys_names)(x), 4 * x, rtol=1e-12)
    assert "import numpy as np\n" in overt.source(overt.grad(with_numpys_generator))
