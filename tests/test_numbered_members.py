"""Members of an `IntEnum` that data chooses, and attributes of functions, in every transform."""

from __future__ import annotations

from enum import IntEnum

import numpy
import pytest

import overt
import overt.numpy as np
from tests.numeric import slope

pytestmark = pytest.mark.filterwarnings("ignore::overt.errors.RecordedWarning")


class Mode(IntEnum):
    IDLE = 0
    HEAT = 1
    COOL = 2


def state_machine(x):
    mode, level = Mode.IDLE, x
    for v in (x, 2.0 * x, x * x):
        match mode:
            case Mode.IDLE:
                if v > 1.0:
                    mode = Mode.HEAT
                elif v > 0.5:
                    mode = Mode.COOL
            case Mode.HEAT:
                level = level * 2.0
                if v < 1.0:
                    mode = Mode.COOL
            case Mode.COOL:
                mode = Mode.IDLE
        level = level + 0.1 * v * mode
    return level * (2.0 if mode == Mode.HEAT else 3.0)


def chosen_member(x):
    mode = Mode.HEAT if x > 1.0 else Mode.COOL
    return x * mode + x * x


@pytest.mark.parametrize("f", [state_machine, chosen_member])
def test_members_chosen(f, x64):
    points = (0.3, 0.7, 1.2)
    fast, fast_slope = overt.jit(f), overt.jit(overt.grad(f))
    for x in points:
        numpy.testing.assert_allclose(fast(x), f(x), rtol=1e-12)
        numpy.testing.assert_allclose(overt.grad(f)(x), slope(f, x), rtol=1e-6)
        numpy.testing.assert_allclose(fast_slope(x), slope(f, x), rtol=1e-6)
    lanes, slopes = overt.vmap(f), overt.vmap(overt.grad(f))
    numpy.testing.assert_allclose(lanes(np.array(points)), [f(x) for x in points], rtol=1e-12)
    expected = [slope(f, x) for x in points]
    numpy.testing.assert_allclose(slopes(np.array(points)), expected, rtol=1e-6)
