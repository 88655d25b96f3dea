"""First and second derivatives of special functions where the pieces of their computation meet.

Ties of arguments, zeros, poles, whole parameters: against differences of SciPy's functions.
"""

from __future__ import annotations

import numpy
import pytest
import scipy.special

import overt
from overt.scipy import special

SLOPE = numpy.array([-1, 9, -45, 0, 45, -9, 1]) / 60
CURVATURE = numpy.array([2, -27, 270, -490, 270, -27, 2]) / 180
STEP = 2e-3
# A function, its arguments, and the position of the one that it is differentiated by.
CASES = [
    ("betaln", (2.0, 2.0), 0), ("betaln", (1.0, 1.0), 1), ("beta", (0.5, -0.5), 0),
    ("beta", (-0.5, -0.5), 1), ("beta", (2.0, 2.0), 0), ("log_ndtr", (0.0,), 0),
    ("rgamma", (0.0,), 0), ("rgamma", (-3.0,), 0), ("poch", (0.0, 1.5), 0),
    ("poch", (-3.0, 0.5), 0), ("i1", (0.0,), 0), ("i1", (-1.0,), 0), ("i1", (2.0,), 0),
    ("iv", (0.0, 0.0), 1), ("iv", (1.0, 0.0), 1), ("iv", (2.0, 0.0), 1), ("iv", (-3.0, -3.0), 1),
    ("iv", (-3.0, 2.0), 1), ("iv", (0.5, 2.0), 1), ("iv", (1.5, 2.0), 0),
    ("betainc", (1.0, 1.0, 0.5), 1), ("betainc", (1.0, 2.0, 0.8), 0),
    ("betainc", (3.0, 2.0, 0.5), 1), ("betainc", (40.0, 3.0, 0.9), 1),
    ("gammainc", (1.0, 2.0), 0), ("gammaincc", (2.0, 3.0), 0),
    ("hyp1f1", (-2.0, 1.0, 3.0), 0), ("hyp1f1", (1.0, 1.0, -2.0), 0),
    ("hyp1f1", (1.0, 1.0, -2.0), 1), ("hyp2f1", (1.0, 0.5, 1.0, 0.3), 0),
    ("hyp2f1", (-1.0, 1.0, 2.0, -0.5), 0), ("hyp2f1", (-2.0, 1.0, 1.0, 0.3), 2),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments", "position"), CASES, ids=str)
def test_slope_and_curvature(x64, name, arguments, position):
    def along(function):
        return lambda x: function(*arguments[:position], x, *arguments[position + 1 :])

    function, oracle = along(getattr(special, name)), along(getattr(scipy.special, name))
    at = arguments[position]
    values = numpy.array([oracle(at + k * STEP) for k in range(-3, 4)])
    slope = overt.grad(function)
    found = float(slope(at)), float(overt.jvp(slope, (at,), (1.0,))[1])
    wanted = SLOPE @ values / STEP, CURVATURE @ values / STEP**2
    numpy.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6 * (1 + abs(values[3])))
