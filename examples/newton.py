"""Differentiate a Newton solver: a `while` whose length depends on the data, in reverse, under jit.

Kepler's equation `E - e*sin(E) = M` gives the position of a planet, the eccentric anomaly E, at
the mean anomaly M on an orbit of eccentricity e. There is no formula for E, so it is solved by
Newton's method, and Overt differentiates through the iterations. The implicit function theorem
gives the same derivatives by hand: `dE/dM = 1/(1 - e*cos(E))` and `dE/de = sin(E)/(1 - e*cos(E))`.

    python examples/newton.py
"""

from __future__ import annotations

import math

import overt
import overt.numpy as np


def anomaly(mean, eccentricity):
    """The eccentric anomaly E at a mean anomaly, by Newton's method."""
    E = mean + eccentricity * np.sin(mean)
    error = E - eccentricity * np.sin(E) - mean
    while np.abs(error) > 1e-6:
        E = E - error / (1.0 - eccentricity * np.cos(E))
        error = E - eccentricity * np.sin(E) - mean
    return E


def by_the_implicit_function_theorem(E, eccentricity):
    """What the derivatives of E by the mean anomaly and by the eccentricity have to be."""
    slope = 1.0 - eccentricity * math.cos(E)
    return 1.0 / slope, math.sin(E) / slope


solve = overt.jit(overt.value_and_grad(anomaly, argnums=(0, 1)))


def main():
    print("   M     e        E      dE/dM    dE/de")
    for mean, eccentricity in [(0.5, 0.1), (1.0, 0.3), (2.0, 0.6), (0.3, 0.9), (3.0, 0.95)]:
        E, gradient = solve(mean, eccentricity)
        by_mean, by_eccentricity = map(float, gradient)
        print(f"{mean:5.2f} {eccentricity:5.2f} {E:10.6f} {by_mean:9.5f} {by_eccentricity:8.5f}")
        expected = by_the_implicit_function_theorem(float(E), eccentricity)
        assert math.isclose(by_mean, expected[0], rel_tol=1e-4)
        assert math.isclose(by_eccentricity, expected[1], rel_tol=1e-4)


if __name__ == "__main__":
    main()
