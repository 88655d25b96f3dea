"""Graphs, regions, dead code, captured arrays, growing buffers, host callbacks."""

import threading

import numpy
import pytest

import overt.numpy as np
from overt.runtime import staging
from overt.runtime.aval import Aval
from overt.runtime.errors import StagingError
from overt.runtime.host import host_callback
from overt.runtime.primitive import GRAPH
from overt.runtime.regions import case_, subgraph, while_
from overt.runtime.staging import Symbolic, stage

F3 = Aval((3,), numpy.dtype("float32"))
F = Aval((), numpy.dtype("float32"))
I = Aval((), numpy.dtype("int32"))  # noqa: E741
ONES = numpy.ones(3, numpy.float32)


def run(fn, *arrays):
    program = stage(fn, [Aval(a.shape, a.dtype) for a in arrays])
    return [numpy.asarray(x).tolist() for x in program.run(arrays)]


def test_straight_line():
    assert run(lambda x: [x * 2 + 1, 3.0, x], ONES) == [[3, 3, 3], 3.0, [1, 1, 1]]


def test_large_constants_are_computed_or_inputs_never_text():
    big = np.array(numpy.arange(10_000.0))
    program = stage(lambda x: [x + np.ones(10_000) + big], [F])
    assert len(program.text()) < 2000
    assert len(program.consts) == 1
    assert program.run([numpy.float32(1)])[0].shape == (10_000,)


def test_dead_code_is_dropped():
    def f(x):
        np.sin(x)
        body = subgraph(lambda i, a, dead: [i + 1, a * 2, np.cos(dead)], [I, F3, F3])
        test = subgraph(lambda i, a, dead: [i < 5], [I, F3, F3])
        return [while_(test, body, [0, x, x])[1]]

    text = stage(f, [F3]).text()
    assert "sine" not in text and "cosine" not in text
    assert run(f, ONES) == [[32, 32, 32]]


def test_what_only_depends_on_constants_can_be_asked_for():
    def f(x):
        n = np.array(2) * 3 + np.sum(np.ones(4)).astype("int32")
        assert isinstance(n, Symbolic) and int(n) == 10
        assert x.reshape(np.prod(np.array(x.shape))).shape == (3,)
        return [x * n]

    assert run(f, ONES) == [[10, 10, 10]]


def test_long_chains_can_be_asked_for():
    def f(x):
        n = np.array(0)
        for _ in range(3000):
            n = n + 1
        assert int(n) == 3000
        return [x + n]

    assert run(f, ONES) == [[3001] * 3]


def test_values_of_arguments_cannot_be_asked_for():
    for ask in (bool, int, float, lambda x: [1, 2][x], numpy.asarray):
        with pytest.raises(TypeError):
            stage(lambda x, ask=ask: [ask(x)], [I])
    with pytest.raises(StagingError, match="static"):
        stage(lambda x: [1 if x else 2], [F])


def test_branches_use_outer_values():
    def f(p, x):
        y = x * 3
        then = subgraph(lambda: [y + 1], [])
        orelse = subgraph(lambda: [x - 1], [])
        return case_(p, [orelse, then])

    assert run(f, numpy.array(True), ONES) == [[4, 4, 4]]
    assert run(f, numpy.array(False), ONES) == [[0, 0, 0]]


def test_a_constant_made_in_a_branch_may_be_used_outside():
    kept = []

    def f(p, x):
        def then():
            kept.append(np.arange(3.0) * 2)
            return [x + kept[0]]

        (y,) = case_(p, [subgraph(lambda: [x], []), subgraph(then, [])])
        return [y + kept[0]]

    assert run(f, numpy.array(False), ONES) == [[1, 3, 5]]


def test_a_value_that_left_its_branch_is_refused():
    kept = []

    def f(p, x):
        then = subgraph(lambda: [kept.append(x * 2) or x], [])
        (y,) = case_(p, [subgraph(lambda: [x], []), then])
        return [y + kept[0]]

    program = stage(f, [Aval((), numpy.dtype(bool)), F3])
    with pytest.raises(StagingError, match="inside a branch"):
        program.text()


def test_a_value_that_left_its_program_is_refused():
    kept = []
    stage(lambda x: [kept.append(x * 2) or x], [F])
    with pytest.raises(StagingError):
        kept[0] + 1
    with pytest.raises(StagingError):
        stage(lambda x: [x + kept[0]], [F])


def test_nested_loops():
    def f(x):
        def outer(i, a):
            inner = subgraph(lambda j, b: [j + 1, b + np.array(i, "float32")], [I, F])
            test = subgraph(lambda j, b: [j < i], [I, F])
            return [i + 1, while_(test, inner, [0, a])[1]]

        body = subgraph(outer, [I, F])
        return while_(subgraph(lambda i, a: [i < 4], [I, F]), body, [0, x])

    assert run(f, numpy.float32(0)) == [4, 14.0]


def test_loops_report_a_carry_that_changes_shape():
    def f(x):
        body = subgraph(lambda a: [np.concatenate([a, a])], [F3])
        return while_(subgraph(lambda a: [a[0] < 1], [F3]), body, [x])

    with pytest.raises(TypeError, match="carry"):
        stage(f, [F3])


def test_buffers_grow():
    site = object()
    rooms = []

    def f(n):
        room = staging.capacity(site, 4)
        rooms.append(room)
        body = subgraph(counted(room), [I])
        return while_(subgraph(lambda i: [i < n], [I]), body, [0])

    def counted(room):
        def body(i):
            GRAPH.get().add_capacity(site, i + 1, room)
            return [i + 1]

        return body

    program = stage(f, [I])
    assert program.run([numpy.int32(3)])[0].item() == 3 and rooms == [4]
    assert program.run([numpy.int32(4)])[0].item() == 4 and rooms == [4]
    assert program.run([numpy.int32(100)])[0].item() == 100 and rooms == [4, 128]


def test_host_callbacks_happen_in_order_once():
    seen = []

    def f(x):
        def body(i, a):
            (b,) = host_callback(lambda v: seen.append(("a", int(v))) or v + 1, [I], a)
            host_callback(lambda v: seen.append(("b", int(v))), [], b)
            return [i + 1, b]

        test = subgraph(lambda i, a: [i < 3], [I, I])
        host_callback(lambda v: seen.append(("start", int(v))), [], x)
        result = while_(test, subgraph(body, [I, I]), [0, x])
        host_callback(lambda v: seen.append(("end", int(v))), [], result[1])
        return result

    assert run(f, numpy.int32(10)) == [3, 13]
    assert seen == [("start", 10), ("a", 10), ("b", 11), ("a", 11), ("b", 12), ("a", 12),
                    ("b", 13), ("end", 13)]  # fmt: skip


def test_exceptions_of_callbacks_are_raised_as_they_are():
    class Mine(Exception):
        pass

    def fail(v):
        raise Mine("from the host")

    program = stage(lambda x: list(host_callback(fail, [F3], x)), [F3])
    with pytest.raises(Mine, match="from the host"):
        program.run([ONES])


def test_static_numbers_are_told_apart():
    assert numpy.signbit(numpy.asarray(np.full(2, -0.0))).all()
    assert not numpy.signbit(numpy.asarray(np.full(2, 0.0))).any()
    assert np.full(2, 1).dtype != np.full(2, 1.0).dtype != np.full(2, True).dtype


def test_threads_stage_apart():
    results = {}

    def work(k):
        for _ in range(5):
            results[k] = run(lambda x: [np.sum(x * k) + np.ones(3)], ONES)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == {k: [[3.0 * k + 1] * 3] for k in range(4)}
    assert GRAPH.get() is None


def test_donated_arguments_are_gone():
    program = stage(lambda x: [x + 1], [F3])
    program.donated = (0,)
    x = np.ones(3)
    assert program.run([x])[0].tolist() == [2, 2, 2]
    assert x.is_deleted()


def test_effects_of_a_rejected_run_do_not_happen_twice():
    site, seen, asked = object(), [], []

    def ask(v):
        asked.append(int(v))
        return v

    def f(n):
        room = staging.capacity(site, 4)

        def body(i):
            GRAPH.get().add_capacity(site, i + 1, room)
            host_callback(lambda v: seen.append(int(v)), [], i)
            (j,) = host_callback(ask, [I], i)
            return [j + 1]

        return while_(subgraph(lambda i: [i < n], [I]), subgraph(body, [I]), [0])

    assert run(f, numpy.int32(10)) == [10]
    assert seen == asked == list(range(10))
