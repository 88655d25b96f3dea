"""Products by groups, windows' shapes, roundings, equations, barriers: against JAX and NumPy."""

from __future__ import annotations

import numpy as onp
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import overt
import overt.numpy as np
from overt import lax

RNG = onp.random.default_rng(0)


def floats(*shape):
    return RNG.normal(size=shape).astype("float32")


@pytest.fixture(scope="module")
def jax():
    return pytest.importorskip("jax")


def same(jax, compute, tolerance=1e-5):
    """The same from `compute(overt or jax, lax, numpy)`."""
    wanted = jax.tree.leaves(compute(jax, jax.lax, jax.numpy))
    found = overt.tree.leaves(compute(overt, lax, np))
    assert len(wanted) == len(found)
    for x, y in zip(found, wanted, strict=True):
        assert x.shape == y.shape and x.dtype == y.dtype
        wide = "complex64" if x.dtype.kind == "c" else "float32"
        assert_allclose(
            onp.asarray(x).astype(wide), onp.asarray(y).astype(wide), tolerance, tolerance
        )


# products -----------------------------------------------------------------------------------------

X, W, SIZES = floats(6, 4), floats(3, 4, 5), onp.array([2, 0, 3], "int32")
LHS, EACH = floats(2, 6, 4), onp.array([[2, 0, 3], [1, 1, 1]], "int32")
RAGGED = {
    "free": (floats(3, 2, 4, 5), (((2,), (2,)), ((0,), (1,))), [1], [0]),
    "contracted": (floats(2, 6, 5), (((1,), (1,)), ((0,), (0,))), [1], []),
}


def test_rows_by_groups(jax):
    same(jax, lambda o, L, n: L.ragged_dot(X, W, SIZES))
    loss = lambda L, n: lambda x, w: n.sum(n.sin(L.ragged_dot(x, w, SIZES)))
    same(jax, lambda o, L, n: o.grad(loss(L, n), (0, 1))(X, W))
    many = overt.jit(overt.vmap(lambda s: lax.ragged_dot(X, W, s)))(EACH)
    assert_allclose(many, onp.stack([lax.ragged_dot(X, W, s) for s in EACH]), rtol=1e-5)


@pytest.mark.parametrize("kind", RAGGED)
@pytest.mark.parametrize("sizes", [SIZES, EACH], ids=["shared", "each"])
def test_other_axes_by_groups(jax, kind, sizes):
    rhs, *numbers = RAGGED[kind]
    same(
        jax,
        lambda o, L, n: L.ragged_dot_general(
            LHS, rhs, sizes, L.RaggedDotDimensionNumbers(*numbers)
        ),
    )


def test_products_with_scales():
    a, b, sa, sb = floats(2, 8), floats(8, 3), floats(2, 4), floats(2, 3)
    out = lax.scaled_dot(a, b, lhs_scale=sa, rhs_scale=sb, preferred_element_type="float32")
    assert_allclose(out, (a * sa.repeat(2, 1)) @ (b * sb.repeat(4, 0)), rtol=1e-4, atol=1e-5)
    assert lax.scaled_dot(a, b).dtype == np.bfloat16
    x, w, sx, sw = floats(2, 3, 8), floats(2, 5, 8), floats(2, 3, 2), floats(2, 5, 4)
    wanted = onp.einsum("bmk,bnk->bmn", x * sx.repeat(4, 2), w * sw.repeat(2, 2))
    assert_allclose(overt.nn.scaled_matmul(x, w, sx, sw), wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["F16_F16_F16", "BF16_BF16_F32", "BF16_BF16_F32_X3"])
def test_algorithms_of_products(jax, name):
    a, b = floats(2, 8), floats(8, 3)
    for dtype in ("float32", "float16"):
        same(
            jax,
            lambda o, L, n, d=dtype: L.dot(n.asarray(a, d), n.asarray(b, d), precision=name),
            1e-2,
        )
    same(jax, lambda o, L, n: L.dot(a, b, precision=L.DotAlgorithmPreset.F32_F32_F32))
    assert lax.DotAlgorithmPreset[name].accumulation_type == (
        jax.lax.DotAlgorithmPreset[name].accumulation_type
    )


# elementwise, Fourier, scattering -----------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint32"])
def test_upper_halves_of_products(dtype):
    info = onp.iinfo(dtype)
    a, b = RNG.integers(info.min, info.max, (2, 20), dtype)
    assert_array_equal(lax.mulhi(a, b), (a.astype(object) * b.astype(object)) >> info.bits)


def test_numbers_half_way():
    x = onp.float32([0.5, 1.5, -0.5, 2.5, -2.5, 0.49])
    assert lax.round(x).tolist() == [1, 2, -1, 3, -3, 0]
    assert lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN).tolist() == [0, 2, 0, 2, -2, 0]
    assert_allclose(lax.exp(x, accuracy=lax.Tolerance(rtol=1e-3)), onp.exp(x), rtol=1e-6)


@pytest.mark.parametrize("kind", ["FFT", "IFFT", "RFFT", "IRFFT"])
def test_fourier_transforms(jax, kind):
    z = floats(3, 4) if kind == "RFFT" else floats(3, 4) + 1j * floats(3, 4).astype("complex64")
    for lengths in ((4,), (3, 4)):
        lengths = (*lengths[:-1], 6) if kind == "IRFFT" else lengths
        same(jax, lambda o, L, n, k=lengths: L.fft(z, kind, k))
        same(jax, lambda o, L, n, k=lengths: L.fft(z, getattr(L.FftType, kind), k))


def test_scattering(jax):
    x, updates, places = floats(4, 3), floats(3, 3), onp.array([[1], [1], [9]])
    numbers = lambda L: L.ScatterDimensionNumbers((1,), (0,), (0,))
    same(jax, lambda o, L, n: L.scatter_sub(x, places, updates, numbers(L)))
    twice = lambda v: 2 * v + 1
    same(
        jax,
        lambda o, L, n: L.scatter_apply(
            n.asarray(x), places, twice, numbers(L), update_shape=(3, 3)
        ),
    )


def test_shapes(jax):
    image, kernel, numbers = (2, 8, 8, 3), (3, 3, 3, 5), ("NHWC", "HWIO", "NHWC")
    calls = (
        lambda L: L.conv_general_permutations(("NHWC", "HWIO", "NCHW")),
        lambda L: L.conv_general_shape_tuple(image, kernel, (2, 2), "SAME", numbers),
        lambda L: L.conv_general_shape_tuple(image, kernel, (2, 1), [(1, 0), (2, 2)], numbers),
        lambda L: L.conv_shape_tuple((2, 3, 8, 8), (5, 3, 3, 3), (2, 2), ((1, 1), (0, 1)), 2),
        lambda L: L.conv_transpose_shape_tuple(image, kernel, (2, 2), "SAME", numbers),
        lambda L: L.conv_transpose_shape_tuple(image, kernel, (2, 1), "VALID", numbers),
        lambda L: L.reduce_window_shape_tuple(
            (8, 9), (2, 3), (2, 1), [(0, 1), (1, 1)], (2, 1), (1, 2)
        ),
    )
    for call in calls:
        assert call(lax) == call(jax.lax)
    assert lax.shape_as_value((2, 3)).tolist() == [2, 3]
    assert lax.broadcast_like(X, onp.zeros((2, 6, 4))).shape == (2, 6, 4)
    assert_array_equal(lax.unstack(X, 1)[2], X[:, 2])


def test_kernels_that_vary_over_space(jax):
    x, w = floats(2, 7, 3), floats(3, 6, 5)
    same(
        jax,
        lambda o, L, n: L.conv_general_dilated_local(
            n.asarray(x), n.asarray(w), (2,), "VALID", (2,), dimension_numbers=("NWC", "WIO", "NWC")
        ),
    )


# values handed on ---------------------------------------------------------------------------------


def test_barriers_and_sinks():
    loss = lambda x: np.sum(lax.optimization_barrier((2 * x, x))[0] ** 2)
    assert_allclose(overt.jit(overt.grad(loss))(X), 8 * X, rtol=1e-6)
    assert_allclose(overt.vmap(lambda x: lax.optimization_barrier({"x": x})["x"])(X), X)

    def sunk(x):
        lax.dce_sink(np.sin(x))
        return x

    assert "sine" in overt.jit(sunk).lower(1.0).as_text()
    assert_allclose(overt.vmap(overt.grad(sunk))(X[0]), 1)
    assert isinstance(
        lax.after_all(lax.create_token(), lax.create_token()), type(lax.create_token())
    )
    assert lax.stage(2.0).dtype == "float32"


def test_functions_by_platform_and_by_name():
    here = lambda x: lax.platform_dependent(x, cpu=lambda x: x**2, default=lambda x: x)
    assert_allclose(overt.jit(overt.grad(here))(3.0), 6)
    scaled = lax.composite(lambda x, a=1: a * x**2, "my.scaled")
    assert_allclose(overt.jit(lambda x: scaled(x, a=2))(3.0), 18)
    assert_allclose(overt.grad(scaled)(3.0), 6)
    assert "my.scaled" in overt.jit(scaled).lower(3.0).as_text(debug_info=True)


# equations ----------------------------------------------------------------------------------------

A, B = floats(4, 4) + 4 * onp.eye(4, dtype="float32"), floats(4)


def solved(L, n, a, b):
    columns = lambda f: n.stack([f(e) for e in n.eye(4)], 1)
    solve = lambda f, b: n.linalg.solve(columns(f), b)
    return L.custom_linear_solve(lambda x: a @ x, b, solve, solve)


def loss_of(L, n):
    return lambda a, b: n.sum(n.sin(solved(L, n, a, b)))


SOLVING = {
    "value": lambda o, L, n: o.jit(lambda a, b: solved(L, n, a, b))(A, B),
    "grad": lambda o, L, n: o.grad(loss_of(L, n), (0, 1))(n.asarray(A), n.asarray(B)),
    "jit grad": lambda o, L, n: o.jit(o.grad(loss_of(L, n), (0, 1)))(A, B),
    "jvp": lambda o, L, n: o.jvp(
        lambda a, b: solved(L, n, a, b), (n.asarray(A), n.asarray(B)), (n.sin(A), n.cos(B))
    ),
    "vmap grad": lambda o, L, n: o.vmap(o.grad(loss_of(L, n), (0, 1)), (None, 0))(
        n.asarray(A), n.stack([B, 2 * B])
    ),
    "grad vmap": lambda o, L, n: o.grad(
        lambda a, b: n.sum(o.vmap(loss_of(L, n), (None, 0))(a, b)), (0, 1)
    )(n.asarray(A), n.stack([B, 2 * B])),
    "grad grad": lambda o, L, n: o.grad(
        lambda a: n.sum(o.grad(loss_of(L, n))(a, n.asarray(B)) ** 2)
    )(n.asarray(A)),
}


@pytest.mark.parametrize("name", SOLVING)
def test_linear_equations(jax, name):
    same(jax, SOLVING[name], 1e-3)


def test_solvers_that_tell_more():
    solve = lambda f, b: (b / f(1.0), {"steps": 3})
    halved = lambda b: lax.custom_linear_solve(
        lambda x: 2 * x, b, solve, symmetric=True, has_aux=True
    )
    x, aux = halved(3.0)
    assert_allclose(x, 1.5) and aux == {"steps": 3}
    assert_allclose(overt.grad(lambda b: halved(b)[0])(3.0), 0.5)
    one_way = lambda b: lax.custom_linear_solve(lambda x: 2 * x, b, lambda f, b: b / f(1.0))
    assert_allclose(overt.jvp(one_way, (3.0,), (1.0,))[1], 0.5)
    with pytest.raises(TypeError, match="transpose_solve"):
        overt.grad(one_way)(3.0)


def root(a):
    def newton(f, x):
        for _ in range(20):
            x = x - f(x) / (3 * x**2)
        return x

    return lax.custom_root(lambda x: x**3 - a, 1.0 + 0 * a, newton, lambda g, y: y / g(1.0))


def test_roots(x64):
    a = onp.array([2.0, 5.0])
    assert_allclose(overt.jit(overt.vmap(root))(a), a ** (1 / 3))
    slope = a ** (-2 / 3) / 3
    assert_allclose(overt.vmap(overt.grad(root))(a), slope)
    assert_allclose(overt.jit(overt.vmap(overt.grad(root)))(a), slope)
    assert_allclose(overt.grad(lambda a: np.sum(overt.vmap(root)(a)))(a), slope)
    assert_allclose(overt.jvp(root, (2.0,), (3.0,))[1], 3 * slope[0])
    assert_allclose(overt.grad(overt.grad(root))(2.0), -2 / 9 * 2.0 ** (-5 / 3))


@pytest.mark.parametrize(
    ("kind", "call"),
    [
        (TypeError, lambda: lax.dot_general(X, X, (((1,), (0,)), ((), ())))),
        (NotImplementedError, lambda: lax.dot(X, X.T, precision="TF32_TF32_F32")),
        (ValueError, lambda: lax.fft(X, "FFT", (5,))),
        (TypeError, lambda: lax.ragged_dot(X, W, floats(3))),
        (TypeError, lambda: lax.scaled_dot(X, X.T, lhs_scale=floats(6, 3))),
        (ValueError, lambda: lax.Tolerance()),
        (TypeError, lambda: lax.add(X, X, accuracy=lax.AccuracyMode.HIGHEST)),
        (TypeError, lambda: lax.after_all(1)),
        (NotImplementedError, lambda: lax.platform_dependent(1.0, tpu=lambda x: x)),
        (ValueError, lambda: lax.custom_root(lambda x: x, X, lambda f, x: x[0], lambda g, y: y)),
    ],
)
def test_misuse_is_refused(kind, call):
    with pytest.raises(kind):
        call()
