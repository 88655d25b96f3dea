"""Objects of different classes that data chooses: what asks for their class is right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import overt


class Shape:
    def __init__(self, size: Any) -> None:
        self.size = size

    def area(self) -> Any:
        return self.size


class Square(Shape):
    def area(self) -> Any:
        return self.size**2


class Circle(Shape):
    def area(self) -> Any:
        return 3.14 * self.size**2


def by_isinstance(x: Any) -> Any:
    shape = Square(x) if x > 1.0 else Circle(x)
    return shape.area() * (x if isinstance(shape, Square) else 3.0)


def by_type(x: Any) -> Any:
    shape = Square(x) if x > 1.0 else Circle(x)
    weight = (x if type(shape) is Square else 3.0) * (2.0 if shape.__class__ is Circle else 1.0)
    return shape.area() * weight + (x if type(shape) == Square else 0.0)  # noqa: E721


def by_match(x: Any) -> Any:
    shape = Square(x) if x > 1.0 else Circle(x)
    match shape:
        case Square(size=a):
            return a * x
        case Circle(size=a):
            return a * 3
    return x


def of_two_that_were_there(x: Any) -> Any:
    square, circle = Square(x), Circle(x)
    shape = square if x > 1.0 else circle
    shape.size = 2 * x
    return square.area() + circle.area() * (x if isinstance(shape, (Square, list)) else 3.0)


@pytest.mark.usefixtures("x64")
@pytest.mark.filterwarnings("ignore::overt.runtime.errors.RecordedWarning")
@pytest.mark.parametrize("f", [by_isinstance, by_type, by_match, of_two_that_were_there])
def test_what_asks_for_the_class(f: Any) -> None:
    points = np.array([0.7, 1.9])
    want = [f(x) for x in points]
    slopes = [(f(x + 1e-6) - f(x - 1e-6)) / 2e-6 for x in points]
    np.testing.assert_allclose([overt.jit(f)(x) for x in points], want)
    np.testing.assert_allclose(overt.vmap(f)(points), want)
    np.testing.assert_allclose(overt.jit(overt.vmap(f))(points), want)
    np.testing.assert_allclose([overt.jvp(f, (x,), (1.0,))[1] for x in points], slopes, rtol=1e-6)
    np.testing.assert_allclose(overt.vmap(overt.grad(f))(points), slopes, rtol=1e-6)
    for x, slope in zip(points, slopes, strict=True):
        try:
            got = overt.jit(overt.grad(f))(x)
        except TypeError as error:
            assert "an object of the class" in str(error)
        else:
            np.testing.assert_allclose(got, slope, rtol=1e-6)
