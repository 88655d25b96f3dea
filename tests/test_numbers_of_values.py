"""`complex`, `round` and functions of `math` on values that are known later or differentiated."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.ways import assert_every_way


def complex_numbers(x: Any) -> Any:
    z = complex(x, 2.0 * x) * complex(1.0, x)
    return abs(z) ** 2 + (z * z.conjugate()).real + complex(x).real


def real_beside_complex(x: Any) -> Any:
    z, w = x * (1.0 + 2.0j), 3.0 + 4.0j * x
    r = z.real * abs(z + x * x * 1j)
    norm = np.linalg.norm(np.array([z, x + 1j]))
    return (r * w).imag + (np.imag(z) * w * w).real + (np.angle(z + x) * w).real + (norm * w).real


def rounded(x: Any) -> Any:
    return round(x * 1.3) * x + round(2.6) * x * x + round(x, 1) * x


def of_math(x: Any) -> Any:
    total = math.fsum([x, x * x]) * math.prod([x, 2.0, x])
    return total + math.dist([x, 1.0], [0.0, x * x]) + math.hypot(x, 2.0)


def lambdas_that_read_late(x: Any) -> Any:
    late = [lambda t: t * k * x for k in range(3)]  # noqa: B023
    early = [(lambda k: lambda t: t * k * x)(k) for k in range(3)]  # noqa: B023
    return sum(f(x) for f in late) + sum(f(x * x) for f in early)


@pytest.mark.parametrize(
    "f",
    [complex_numbers, real_beside_complex, rounded, of_math, lambdas_that_read_late],
    ids=lambda f: f.__name__,
)
def test_every_way(f: Any) -> None:
    assert_every_way(f)


def lists_summed(x: Any) -> Any:
    return sum([[x], [x * x, 2.0]], [])[1] * x


def records_beside_constants(x: Any) -> Any:
    a, b = x + 3.3, x
    while b > 0.15:
        a, b = b, a - b * np.floor(a / b)
    return a * x


@pytest.mark.parametrize("f", [lists_summed, records_beside_constants], ids=lambda f: f.__name__)
def test_second_order(f: Any) -> None:
    assert_every_way(f)
