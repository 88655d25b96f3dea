"""Arrays of random keys: a dtype of their own, and the functions that move elements about."""

from __future__ import annotations

import numpy
import pytest

import overt
import overt.numpy as np

KEYS = overt.random.split(overt.random.key(0), 3)
ROWS = numpy.asarray(overt.random.key_data(KEYS))


def words(keys):
    return numpy.asarray(overt.random.key_data(keys))


def test_dtype():
    assert np.issubdtype(KEYS.dtype, overt.dtypes.prng_key)
    assert overt.dtypes.issubdtype(KEYS.dtype, overt.dtypes.extended)
    assert not np.issubdtype(KEYS.dtype, np.integer)
    assert not np.issubdtype(np.uint32, overt.dtypes.prng_key)
    assert KEYS.dtype == overt.random.key(7).dtype == np.result_type(KEYS)
    assert KEYS.dtype != overt.random.key(7, impl="rbg").dtype
    assert (KEYS.itemsize, KEYS.nbytes, KEYS.dtype.itemsize) == (8, 24, 8)
    assert overt.tree.map(lambda x: x.dtype, {"k": overt.random.key_data(KEYS)})["k"] == np.uint32
    seen = overt.jit(lambda k: np.zeros(3 if np.issubdtype(k.dtype, overt.dtypes.prng_key) else 2))
    assert seen(KEYS).shape == (3,)


MOVED = {
    "take": (lambda f, k: f.take(k, numpy.array([2, 0]), axis=0), lambda w: w[[2, 0]]),
    "roll": (lambda f, k: f.roll(k, 1), lambda w: numpy.roll(w, 1, 0)),
    "repeat": (lambda f, k: f.repeat(k, 2), lambda w: numpy.repeat(w, 2, 0)),
    "split": (lambda f, k: f.split(k, 3)[1], lambda w: w[1:2]),
    "broadcast_to": (lambda f, k: f.broadcast_to(k, (2, 3)), lambda w: numpy.stack([w, w])),
    "vstack": (lambda f, k: f.vstack([k, k]), lambda w: numpy.stack([w, w])),
    "append": (lambda f, k: f.append(k, k), lambda w: numpy.concatenate([w, w])),
    "array": (lambda f, k: f.array([k[1], k[0]]), lambda w: w[[1, 0]]),
    "asarray": (lambda f, k: f.asarray(k), lambda w: w),
    "flip": (lambda f, k: f.flip(k), lambda w: w[::-1]),
}


@pytest.mark.parametrize("name", MOVED)
def test_moved(name):
    move, expected = MOVED[name]
    assert numpy.array_equal(words(move(np, KEYS)), expected(ROWS))
    assert numpy.array_equal(words(overt.jit(lambda k: move(np, k))(KEYS)), expected(ROWS))
    lanes = overt.vmap(lambda k: move(np, k))(np.stack([KEYS, KEYS[::-1]]))
    assert numpy.array_equal(words(lanes[1]), expected(ROWS[::-1]))


def test_methods_and_slices():
    square = KEYS[None]
    for keys, expected in (
        (square.transpose(), ROWS[:, None]),
        (square.transpose(1, 0), ROWS[:, None]),
        (square.swapaxes(0, 1), ROWS[:, None]),
        (square.squeeze(), ROWS),
        (KEYS.take(1), ROWS[1]),
        (KEYS.copy(), ROWS),
        (overt.lax.dynamic_slice(KEYS, (1,), (2,)), ROWS[1:]),
        (overt.lax.dynamic_index_in_dim(KEYS, 1, keepdims=False), ROWS[1]),
    ):
        assert numpy.array_equal(words(keys), expected)


def test_at():
    new = overt.random.key(9)
    expected = ROWS.copy()
    expected[1] = words(new)
    assert numpy.array_equal(words(KEYS.at[1].set(new)), expected)
    assert numpy.array_equal(words(overt.jit(lambda k, n: k.at[1].set(n))(KEYS, new)), expected)
    mapped = overt.vmap(lambda i: KEYS.at[i].set(new))(np.arange(3))
    assert numpy.array_equal(words(mapped[1]), expected)
    assert numpy.array_equal(words(KEYS.at[numpy.array([2, 0])].get()), ROWS[[2, 0]])
    loop = overt.lax.fori_loop(0, 3, lambda i, k: k.at[i].set(new), KEYS)
    assert numpy.array_equal(words(loop), numpy.stack([words(new)] * 3))
    with pytest.raises(TypeError, match="key"):
        KEYS.at[0].set(np.uint32(1))
    with pytest.raises(TypeError, match="generator"):
        KEYS.at[0].set(overt.random.key(1, impl="rbg"))


def test_equality():
    key = overt.random.key(0)
    assert bool(key == overt.random.wrap_key_data(overt.random.PRNGKey(0)))
    assert bool(key != overt.random.key(1)) and not bool(key == overt.random.key(1))
    assert (KEYS == KEYS[1]).tolist() == [False, True, False]
    assert overt.jit(lambda a, b: a == b)(KEYS, KEYS[::-1]).tolist() == [False, True, False]
    assert key != 3 and key is not None and key != None  # noqa: E711
    with pytest.raises(TypeError, match="compared"):
        key == overt.random.key(0, impl="rbg")  # noqa: B015
    captured = overt.jit(lambda x: x + overt.random.normal(key))
    assert float(captured(1.0)) == float(captured(1.0))


def test_numbers_are_not_made_of_keys():
    for wrong in (np.sin, np.sum, np.max, np.sort, lambda k: k + 1, lambda k: np.ones(3) * k):
        with pytest.raises(TypeError):
            wrong(KEYS)
    with pytest.raises(TypeError):
        overt.jit(lambda k: np.cos(k))(KEYS)
    with pytest.raises(TypeError):
        overt.grad(lambda k: 1.0)(KEYS)
    slope = overt.grad(lambda x, k: x * overt.random.normal(k))(2.0, KEYS[0])
    assert float(slope) == float(overt.random.normal(KEYS[0]))
