"""Images, arrays between their elements, grids and code books: as JAX and SciPy."""

from __future__ import annotations

import numpy
import pytest
import scipy.cluster.vq
import scipy.interpolate
import scipy.ndimage
from numeric import check_batch, check_derivatives
from numpy.testing import assert_allclose

import overt
import overt.numpy as np
from overt.image import ResizeMethod, resize, scale_and_translate
from overt.scipy.cluster.vq import vq
from overt.scipy.interpolate import RegularGridInterpolator
from overt.scipy.ndimage import map_coordinates

RNG = numpy.random.default_rng(0)
METHODS = ["nearest", "linear", "lanczos3", "lanczos5", "cubic", "cubic-pytorch", "area"]


@pytest.mark.parametrize("method", METHODS)
def test_sizes_as_jax(method):
    jax = pytest.importorskip("jax")
    image = RNG.normal(size=(5, 7)).astype("float32")
    for shape in ((3, 11), (9, 7)):
        for antialias in (True, False):
            wanted = jax.image.resize(image, shape, method, antialias)
            found = resize(image, shape, method, antialias)
            assert found.dtype == wanted.dtype
            assert_allclose(found, wanted, rtol=1e-4, atol=1e-5, err_msg=f"{shape} {antialias}")
    whole = (10 * image).astype("int32")
    found, wanted = resize(whole, (4, 4), method), jax.image.resize(whole, (4, 4), method)
    assert found.dtype == wanted.dtype
    assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("method", METHODS[1:])
def test_moved_images_as_jax(method):
    jax = pytest.importorskip("jax")
    image = RNG.normal(size=(5, 2, 7)).astype("float32")
    scale, move = numpy.array([1.3, 0.6], "float32"), numpy.array([-1.7, 2.4], "float32")
    for antialias in (True, False):
        args = (image, (6, 2, 8), (0, 2), scale, move, method, antialias)
        wanted = jax.image.scale_and_translate(*args)
        assert_allclose(scale_and_translate(*args), wanted, rtol=1e-4, atol=1e-5)


def test_derivatives_and_lanes_of_images(x64):
    image, scale, move = RNG.normal(size=(4, 5)), numpy.array([1.3, 0.7]), numpy.array([0.1, -0.4])

    def moved(image, scale, move):
        return scale_and_translate(image, (5, 4), (0, 1), scale, move, "cubic")

    check_derivatives(moved, image, scale, move)
    check_batch(lambda image: resize(image, (3, 7), "lanczos3"), RNG.normal(size=(2, 4, 5)))
    jitted = overt.jit(overt.grad(lambda x: resize(x, (3, 3), "linear").sum()))(image)
    assert_allclose(jitted.sum(), 9, rtol=1e-10)


def test_images_are_checked():
    image = numpy.ones((3, 4))
    assert ResizeMethod.from_string("bilinear") is ResizeMethod.LINEAR
    for wrong, text in (
        (lambda: resize(image, (3,), "linear"), "axes"),
        (lambda: resize(image, (3, 5), "sharp"), "unknown method"),
        (lambda: scale_and_translate(image, (4, 4), (1,), [1.0], [0.0], "linear"), "spatial_dims"),
        (lambda: scale_and_translate(image, (3, 4), (1,), 1.0, 0.0, "linear"), "one number"),
        (lambda: scale_and_translate(image, (3, 4), (1,), [1.0], [0.0], "nearest"), "nearest"),
    ):
        with pytest.raises(ValueError, match=text):
            wrong()


@pytest.mark.parametrize("mode", ["constant", "nearest", "wrap", "mirror", "reflect"])
@pytest.mark.parametrize("order", [0, 1])
def test_coordinates_as_scipy_and_jax(x64, mode, order):
    array = RNG.normal(size=(4, 5))
    places = RNG.uniform(-6, 9, size=(2, 40))
    theirs = {"constant": "grid-constant", "wrap": "grid-wrap"}.get(mode, mode)
    wanted = scipy.ndimage.map_coordinates(array, places, order=order, mode=theirs, cval=2.5)
    assert_allclose(map_coordinates(array, places, order, mode, 2.5), wanted, atol=1e-12)
    jax = pytest.importorskip("jax")
    whole = RNG.integers(0, 9, size=(4, 5)).astype("int32")
    with jax.enable_x64(True):
        wanted = jax.scipy.ndimage.map_coordinates(whole, places, order, mode)
    found = map_coordinates(whole, places, order, mode)
    assert found.dtype == wanted.dtype
    assert_allclose(found, wanted)


def test_derivatives_and_lanes_of_coordinates(x64):
    array = RNG.normal(size=(4, 5))
    places = numpy.array([[0.3, 1.4, 2.6, 0.8], [1.7, 2.2, 0.6, 1.1]])  # away from the elements
    check_derivatives(lambda a, p: map_coordinates(a, p, 1, "reflect"), array, places)
    check_batch(lambda p: map_coordinates(array, [p, 2 * p / 3], 1), places)
    with pytest.raises(NotImplementedError, match="order"):
        map_coordinates(array, places, 3)
    with pytest.raises(ValueError, match="mode"):
        map_coordinates(array, places, 1, "round")
    with pytest.raises(ValueError, match="as many coordinates"):
        map_coordinates(array, places[:1], 1)


GRID = (numpy.array([0.0, 1.0, 2.5, 4.0]), numpy.array([3.0, 1.0, -2.0]))
TABLE = RNG.normal(size=(4, 3, 2))
PLACES = numpy.array([[0.5, 0.0], [3.9, 2.9], [2.5, -1.9], [5.0, 0.0], [1.0, -3.0]])


@pytest.mark.parametrize("method", ["linear", "nearest"])
def test_grids_as_scipy(x64, method):
    for fill in (numpy.nan, 1.5, None):
        theirs = scipy.interpolate.RegularGridInterpolator(GRID, TABLE, method, False, fill)
        ours = RegularGridInterpolator(GRID, TABLE, method, fill_value=fill)
        assert_allclose(ours(PLACES), theirs(PLACES), atol=1e-12)
        parts = (PLACES[:, :1], PLACES[:, 1])
        assert_allclose(ours(parts), theirs(parts), atol=1e-12)
    line = RegularGridInterpolator(GRID[:1], TABLE[:, 0, 0], method)
    theirs = scipy.interpolate.RegularGridInterpolator(GRID[:1], TABLE[:, 0, 0], method)
    assert_allclose(line(numpy.array([0.7, 3.0])), theirs([0.7, 3.0]), atol=1e-12)


def test_derivatives_and_lanes_of_grids(x64):
    def energy(table, places):
        f = RegularGridInterpolator(GRID, table)
        return np.sum(f(places) ** 2)

    inside = PLACES[:3] + 0.05
    check_derivatives(energy, TABLE, inside)
    step = 1e-6 * RNG.normal(size=TABLE.shape)
    wanted = (energy(TABLE + step, inside) - energy(TABLE - step, inside)) / 2
    for grad in (overt.grad(energy), overt.jit(overt.grad(energy))):
        assert_allclose((numpy.asarray(grad(TABLE, inside)) * step).sum(), wanted, rtol=1e-5)
    f = RegularGridInterpolator(GRID, TABLE)
    assert_allclose(overt.vmap(f)(inside)[:, 0], f(inside), atol=1e-12)
    slope = overt.grad(lambda f: f(inside).sum())(f)
    assert_allclose(slope.values.sum(), 6)


def test_grids_are_checked():
    with pytest.raises(ValueError, match="linear"):
        RegularGridInterpolator(GRID, TABLE, "cubic")(PLACES)
    with pytest.raises(ValueError, match="points"):
        RegularGridInterpolator(GRID[::-1], TABLE)(PLACES)
    with pytest.raises(NotImplementedError, match="fill_value"):
        RegularGridInterpolator(GRID, TABLE, bounds_error=True)(PLACES)
    with pytest.raises(ValueError, match="coordinates"):
        RegularGridInterpolator(GRID, TABLE)(numpy.ones((2, 3)))


def test_code_books_as_scipy(x64):
    observed, book = RNG.normal(size=(7, 3)), RNG.normal(size=(4, 3))
    for found, wanted in zip(vq(observed, book), scipy.cluster.vq.vq(observed, book), strict=True):
        assert_allclose(found, wanted)
    wanted = scipy.cluster.vq.vq(observed[:, 0], book[:, 0])[0]
    assert_allclose(vq(observed[:, 0], book[:, 0])[0], wanted)
    check_derivatives(lambda x, y: vq(x, y)[1], observed, book)
    check_batch(lambda x: vq(x, book[:, 0])[1], observed)
    with pytest.raises(ValueError, match="do not fit"):
        vq(observed, book[:, :2])
