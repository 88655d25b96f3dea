"""Gradients of programs that join and repeat lists which helpers, items and arguments hold."""

import numpy
import pytest

import overt


def gathered(x):
    found = []
    for v in x:
        found.append(v * v)
    return found


def closed(chain):
    return chain[1:] + chain[:-1]


def weighted(items):
    total = 0.0
    for k, v in enumerate(items):
        total += (k + 1) * v**2
    return total


def parts_of_helpers(x, y):
    return weighted(gathered(x)[:2] + gathered(y)[:2])


def overlapping(x, y):
    a = gathered(x)
    return weighted(a[1:] + a[:-1]) + y[0]


def whole(x, y):
    return weighted(gathered(x) + gathered(y))


def repeated(x, y):
    a = gathered(x)
    return weighted(a * 2) + weighted(2 * a[:2]) * y[1]


def repeated_by_its_length(x, y):
    a = gathered(x)
    a *= len(y) - 1
    return weighted(a)


def turned(x, y):
    a = gathered(x)
    for v in y:
        a = a[1:] + a[:1]
        a[0] = a[0] * v
    return weighted(a)


def parameter(x, y):
    return weighted(closed([*x, *y]))


def in_dictionary(x, y):
    held = {"x": gathered(x)}
    return weighted(held["x"] + held["x"]) + y[2]


def lists_in_a_list(x, y):
    pairs = [[v, 2.0 * v] for v in x]
    total = weighted(pairs[0] + pairs[1] + pairs[-1])
    for pair in pairs:
        total += weighted(pair * 2) * y[0]
    return total


def two_lists(x):
    return [v * v for v in x], tuple(2.0 * v for v in x)


def several_results(x, y):
    first, second = two_lists(x)
    return weighted(first * len(y)) + weighted(second * 2) + weighted(2 * first[1:]) * y[0]


def twice(items):
    return 2 * items


def with_itself(items):
    return items + items


def in_helpers(x, y):
    made = {"gathered": gathered}["gathered"](y)
    triple = lambda items: items * 3  # noqa: E731
    total = weighted(twice(gathered(x))) + weighted(with_itself([x[0], y[0]]))
    return total + weighted(triple([x[1], y[1]])) + weighted(made * 2) + twice(x[2])


PROGRAMS = [
    in_helpers,
    several_results,
    parts_of_helpers, overlapping, whole, repeated, repeated_by_its_length, turned, parameter,
    in_dictionary, lists_in_a_list,
]  # fmt: skip


def slopes(f, *args):
    """Central differences in each entry."""
    found = []
    for arg in args:
        rows = []
        for i in range(len(arg)):
            old, ends = arg[i], []
            for arg[i] in (old + 1e-6, old - 1e-6):
                ends.append(f(*args))
            arg[i] = old
            rows.append((ends[0] - ends[1]) / 2e-6)
        found.append(numpy.array(rows))
    return found


@pytest.mark.filterwarnings("ignore::overt.errors.RecordedWarning")
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_slopes_of_joined_lists(f):
    x, y = numpy.array([0.1, 0.5, 0.3]), numpy.array([0.2, 0.7, 0.4])
    want = slopes(f, x.copy(), y.copy())
    for gradient in (overt.grad(f, (0, 1)), overt.jit(overt.grad(f, (0, 1)))):
        for got, expected in zip(gradient(x, y), want, strict=True):
            numpy.testing.assert_allclose(got, expected, atol=1e-4)


@pytest.mark.filterwarnings("ignore::overt.errors.RecordedWarning")
def test_lists_of_arguments_joined():
    xs = [0.1, 0.5, 0.3]
    joined = [lambda a: a[1:] + a[:-1], lambda a: a + a[:1], lambda a: a + a, lambda a: 2 * a]
    for join in joined:
        f = lambda a, join=join: weighted(join(a))
        (want,) = slopes(f, list(xs))
        for gradient in (overt.grad(f), overt.jit(overt.grad(f))):
            numpy.testing.assert_allclose(gradient(xs), want, atol=1e-4)
        _, along = overt.jvp(f, (xs,), ([1.0, 1.0, 1.0],))
        numpy.testing.assert_allclose(along, want.sum(), atol=1e-4)
