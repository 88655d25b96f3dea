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


def extended_by_what_reads_it(x):
    rate = 2.0
    values = [x[0], x[1]]
    values.extend(rate * values[-1] for rate in (0.2, 0.3, 0.4) if rate > 0.25)
    values += (r * values[-1] + k for r in (0.2, 0.3) for k in range(2))
    return sum(values) * rate


def row_extended(x):
    rows = [[x[0]], [x[1]]]
    rows[1].extend(m * rows[1][-1] for m in (2.0, 3.0))
    return sum(rows[1]) + sum(rows[0])


def updated(x):
    state = {"a": x[0], "b": x[1]}
    state.update((to, state["a"] * state[of]) for of, to in ("ab", "bc"))
    state.update((k, v * state["a"]) for k, v in state.items() if k == "c")
    return state["a"] + state["b"] + state["c"]


@pytest.mark.filterwarnings("ignore::overt.errors.RecordedWarning")
@pytest.mark.parametrize(
    "f",
    (three, doubled, with_break_and_else, inserted, in_a_generator)
    + (extended_by_what_reads_it, row_extended, updated),
)
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


def test_an_iterator_that_reads_what_it_lengthens():
    def mapped(x):
        values = [x]
        values.extend(map(lambda m: m * values[-1], (2.0, 3.0)))
        return sum(values)

    def yielded(x):
        values = [x]

        def more():
            for m in (2.0, 3.0):
                yield m * values[-1]

        values.extend(more())
        return sum(values)

    for f in (mapped, yielded):
        with pytest.raises(overt.errors.Refusal, match="'values' changes while an iterator"):
            overt.grad(f)(1.0)
