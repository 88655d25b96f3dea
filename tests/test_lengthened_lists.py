"""Loops over a list that they lengthen get to the new items, as in Python."""

import numpy
import pytest

import overt
import overt.numpy as np


def three(x):
    values = [np.sum(x)]
    for item in values:
        if len(values) < 3:
            values.append(item + 1)
    return np.sum(np.stack(values))


def doubled(x):
    todo = [1.0, 2.0]
    total = 0.0
    for t in todo:
        total = total + t * x
        if t < 4:
            todo.append(t * 2)
    return np.sum(total)


def with_break_and_else(x):
    queue = [np.sum(x)]
    n = 0
    for v in queue:
        if len(queue) > 4:
            break
        for k in (1, 2):
            if n > 3:
                continue
            queue.append(v * k + 1.0)
            n += 1
    else:
        n = -1
    return sum(queue) * 1.0 + n + len(queue)


def inserted(x):
    values = [x[0], x[1]]
    for v in values:
        if len(values) < 5:
            values.insert(len(values) - 1, v * 2.0)
            values.extend([v])
    return sum(k * v for k, v in enumerate(values))


def in_a_generator(x):
    values = [np.sum(x)]

    def grow():
        for item in values:
            if len(values) < 3:
                values.append(item + 1)
            yield item

    return np.sum(np.stack(list(grow())))


@pytest.mark.filterwarnings("ignore::overt.errors.RecordedWarning")
@pytest.mark.parametrize("f", (three, doubled, with_break_and_else, inserted, in_a_generator))
def test_as_python(f):
    x = numpy.array([0.5, 1.5])
    want = float(f(np.array(x)))
    assert float(overt.jit(f)(x)) == want
    step = 1e-2 * numpy.eye(2)
    slope = [(float(f(np.array(x + h))) - float(f(np.array(x - h)))) / 2e-2 for h in step]
    assert numpy.allclose(overt.jit(overt.grad(f))(x), slope, atol=1e-3)
    assert numpy.allclose(overt.vmap(f)(numpy.stack([x, x])), want)


def test_another_list_under_the_name():
    def f(x):
        values = [x, x]
        n = 0
        for v in values:
            values = values + [v]
            n += 1
        return n, len(values)

    assert overt.jit(f)(1.0) == (2, 4)
