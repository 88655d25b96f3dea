"""Lists in attributes that data lengthens: summed, counted, compared and run over."""

import numpy
import pytest

import overt


class Ledger:
    def __init__(self):
        self.entries = []
        self.skipped = 0

    def add(self, v, tol):
        if abs(v) < tol:
            self.skipped += 1
            return False
        self.entries.append(v)
        return True

    def mean(self):
        return sum(self.entries) / len(self.entries) if self.entries else 0.0

    def spread(self):
        if len(self.entries) < 2:
            return 0.0
        mean = self.mean()
        return sum((e - mean) ** 2 for e in self.entries) / (len(self.entries) - 1)


def from_outside(x, tol):
    ledger = Ledger()
    for v in x:
        ledger.add(v, tol)
    return sum(ledger.entries) + len(ledger.entries) + ledger.skipped * tol


def by_methods(x, tol):
    ledger = Ledger()
    for v in x:
        ledger.add(v, tol)
    return ledger.mean() + 2.0 * ledger.spread()


def of_several(x, tol):
    ledgers = [Ledger(), Ledger()]
    for v in x:
        for ledger in ledgers:
            if ledger.add(v, tol):
                break
    return sum(sum(b.entries) * (k + 1) for k, b in enumerate(ledgers))


@pytest.mark.filterwarnings("ignore::overt.errors.RecordedWarning")
@pytest.mark.parametrize("f", (from_outside, by_methods, of_several), ids=lambda f: f.__name__)
def test_as_python(f):
    lanes = numpy.array([[0.5, -0.3, 0.9], [-0.1, -0.2, 0.1]], numpy.float32)
    jitted, mapped = overt.jit(f), overt.vmap(f, (0, None))(lanes, 0.25)
    for lane, got in zip(lanes, mapped, strict=True):
        want = f(list(map(float, lane)), 0.25)
        numpy.testing.assert_allclose(jitted(lane, 0.25), want, rtol=1e-5)
        numpy.testing.assert_allclose(got, want, rtol=1e-5)


def test_methods_of_a_class_inside():
    def f(x, tol):
        class Inside:
            def __init__(self):
                self.entries = []

            def __enter__(self):
                return self

            def __exit__(self, *_):
                return False

            def add(self, v):
                if abs(v) < tol:
                    return False
                self.entries.append(v)
                return True

        skipped = 0
        with Inside() as inside:
            for v in x:
                if not inside.add(v):
                    skipped += 1
        return sum(inside.entries) + skipped * tol

    x = numpy.array([0.5, -0.3, 0.1], numpy.float32)
    numpy.testing.assert_allclose(overt.jit(f)(x, 0.25), f(list(map(float, x)), 0.25), rtol=1e-5)
