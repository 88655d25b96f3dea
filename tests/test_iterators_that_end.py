"""Iterators of the user's that end by data: as in Python, or refused."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import overt
import overt.numpy as np
from overt.errors import StagingError


class Halves:
    def __init__(self, v: Any) -> None:
        self.v = v

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        if self.v < 0.1:
            raise StopIteration
        self.v = self.v * 0.5
        return self.v


def total(x: Any) -> Any:
    return sum(Halves(x)) * x


def test_one_by_one() -> None:
    assert numpy.isclose(total(0.6), 0.315)
    with pytest.warns(overt.errors.RecordedWarning):
        assert numpy.isclose(overt.grad(total)(0.6), 1.05, atol=1e-6)


@pytest.mark.filterwarnings("ignore::overt.errors.RecordedWarning")
def test_an_end_that_differs_between_lanes_is_found_or_refused() -> None:
    xs = numpy.array([0.6, 1.2])
    try:
        found = overt.vmap(total)(xs)
    except StagingError:
        return
    assert numpy.allclose(found, [total(x) for x in xs], atol=1e-6)


def test_an_end_that_the_program_decides_is_refused() -> None:
    with pytest.raises(StagingError, match="whether an iterator ends"):
        overt.jit(total)(0.6)


def emptied_unread(x: Any) -> Any:
    it = iter([1.0, 2.0])
    _ = list(it)
    try:
        x = x + next(it)
    except StopIteration:
        return np.sin(x)
    return x


def run_through(x: Any) -> Any:
    it = reversed([1.0, 2.0])
    for _ in it:
        pass
    try:
        x = x + next(it)
    except StopIteration:
        return x * x
    return x


@pytest.mark.parametrize("f", [emptied_unread, run_through])
def test_what_a_call_or_a_loop_takes_is_gone_though_nobody_reads_it(f: Any) -> None:
    want = float(f(0.5))
    slope = (float(f(0.51)) - float(f(0.49))) / 0.02
    assert numpy.isclose(overt.jit(f)(0.5), want)
    assert numpy.isclose(overt.grad(f)(0.5), slope, atol=1e-3)
    assert numpy.isclose(overt.jit(overt.grad(f))(0.5), slope, atol=1e-3)
