"""Error functions, integrals, Bessel functions and harmonics against SciPy, also at the edges."""

from __future__ import annotations

import numpy
import pytest
from numeric import assert_same, check_batch, check_derivatives

import overt
import overt.numpy as np
from overt.scipy import special

theirs = pytest.importorskip("scipy.special")
INF, NAN = numpy.inf, numpy.nan
GRID = numpy.concatenate(
    [numpy.linspace(-12, 12, 97), [1e-30, 1e-9, 26.0, 39.9, 41.0, 1e4, -1e4, INF, -INF, NAN]]
)
POSITIVE = numpy.abs(GRID)
DEGREES, ORDERS = numpy.meshgrid(numpy.arange(9), numpy.arange(-9, 10))

FUNCTIONS = {
    "dawsn": (GRID,), "erfcx": (GRID,), "exp1": (GRID,), "expi": (GRID,), "spence": (GRID,),
    "fresnel": (GRID,), "sici": (GRID,), "wofz": (GRID[:104] + 1j * GRID[:104, None],),
    "expn": (numpy.arange(-1, 30, 3)[:, None], GRID),
    "owens_t": (GRID[::3, None], GRID[1::4]),
    "sph_harm_y": (DEGREES, ORDERS, 0.7, 2.1),
}  # fmt: skip
SMOOTH = {
    "dawsn": (numpy.array([-1.0, 0.0, 0.3, 30.0]),),
    "erfcx": (numpy.array([-1.0, 0.0, 0.3, 30.0]),),
    "exp1": (numpy.array([0.3, 2.0]),),
    "expi": (numpy.array([-2.0, 0.3, 2.0]),),
    "spence": (numpy.array([0.2, 0.6, 1.0, 5.0]),),
    "expn": (numpy.array([0, 1, 2, 5]), numpy.array([0.3, 0.3, 2.0, 0.7])),
    "owens_t": (numpy.array([0.3, -1.0, 2.0]), numpy.array([0.5, 3.0, -0.2])),
}


@pytest.fixture(autouse=True)
def wide(x64):
    """All tests of this file compute in 64 bits."""


def their(name, *args):
    with numpy.errstate(all="ignore"):
        return getattr(theirs, name)(*args)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values(name):
    args, f = FUNCTIONS[name], getattr(special, name)
    expected = their(name, *args)
    if name == "wofz":  # SciPy gives NaN for infinite arguments
        known = numpy.isfinite(args[0]) & numpy.isfinite(expected)
        assert_same(f(*args)[known], expected[known], 1e-12)
    else:
        assert_same(f(*args), expected, 1e-11)
    if name not in ("wofz", "sph_harm_y"):
        narrow = [a.astype("f") if a.dtype.kind == "f" else a for a in args]
        wide = [numpy.asarray(a, "d") if a.dtype.kind == "f" else a for a in narrow]
        expected, found = their(name, *wide), f(*narrow)
        for a, b in zip(numpy.atleast_2d(found), numpy.atleast_2d(expected), strict=True):
            assert a.dtype == numpy.float32
            with numpy.errstate(over="ignore"):
                assert_same(a, b.astype("f"), 1e-5, name)


@pytest.mark.parametrize("name", SMOOTH)
def test_derivatives(name):
    f, args = getattr(special, name), SMOOTH[name]
    check_derivatives(f, *args, order=2 if name in ("dawsn", "spence", "expn") else 1)
    check_batch(f, *(x[:2] for x in args))
    assert_same(overt.jit(f)(*args), f(*args), 1e-13)


def test_derivatives_of_pairs():
    x = numpy.array([-3.0, 0.3, 6.0])
    for name in ("fresnel", "sici"):
        f = lambda x: np.stack(getattr(special, name)(x))  # noqa: B023
        check_derivatives(f, x, order=2)
        check_batch(f, x[:2])


def test_derivatives_of_the_faddeeva_function():
    parts = lambda x, y: np.stack([(w := special.wofz(x + 1j * y)).real, w.imag])
    check_derivatives(parts, numpy.array([0.3, -2.0, 9.0]), numpy.array([0.5, 0.0, -0.1]), order=2)
    slope = overt.grad(special.wofz, holomorphic=True)(0.3 + 0.5j)
    assert_same(slope, 2j / numpy.sqrt(numpy.pi) - 2 * (0.3 + 0.5j) * theirs.wofz(0.3 + 0.5j))
    assert_same(special.wofz(0.5), theirs.wofz(0.5))


@pytest.mark.parametrize("v", [0, 9])
def test_bessel_functions(v):
    z = numpy.concatenate([GRID[:-3], [1e-200, 300.5, 1000.5]])
    expected = numpy.stack([theirs.jv(k, z) for k in range(v + 1)])
    assert_same(special.bessel_jn(z, v=v), expected, 1e-12)
    near = numpy.array([-3.0, 0.0, 0.7, 20.0])
    check_derivatives(lambda z: special.bessel_jn(z, v=v), near, order=2 if v else 1)
    check_batch(lambda z: special.bessel_jn(z, v=v, n_iter=10), near)


def test_harmonics():
    theta, phi = numpy.array([0.3, 1.2, 3.0]), numpy.array([0.1, -2.0, 4.0])
    assert_same(special.sph_harm_y(40, -17, theta, phi), theirs.sph_harm_y(40, -17, theta, phi))
    real = lambda theta, phi: np.real(special.sph_harm_y(3, 2, theta, phi))
    check_derivatives(real, theta, phi, order=2)
    compiled = overt.jit(lambda n: special.sph_harm_y(n, 1, 0.3, 0.1, n_max=4))
    assert_same(compiled(numpy.array([2, 4])), theirs.sph_harm_y([2, 4], 1, 0.3, 0.1))
    with pytest.raises(NotImplementedError, match="diff_n"):
        special.sph_harm_y(1, 0, 0.3, 0.1, diff_n=1)


def test_small_dtypes_and_refusals():
    for name in ("dawsn", "erfcx", "spence", "expi", "i0", "gammaln", "digamma", "ndtr", "erf"):
        with pytest.raises(TypeError, match="complex"):
            getattr(special, name)(1 + 2j)
    with pytest.raises(NotImplementedError, match="respect to n"):
        overt.grad(special.expn)(2.0, 1.0)
    half = special.bessel_jn(numpy.float16(2), v=2)
    assert half.dtype == numpy.float16
    assert_same(half, theirs.jv([0, 1, 2], 2.0).astype(numpy.float16), 2e-3)
    with pytest.raises(ValueError, match="highest order"):
        special.bessel_jn(1.0, v=-1)
