"""The array class: conversions, protocols, printing."""

import copy
import pickle

import numpy
import pytest

import overt.numpy as np
from overt.runtime import interop
from overt.runtime.array import Array
from overt.runtime.staging import stage


def test_python_values():
    x = np.array(3)
    assert int(x) == 3 and float(x) == 3.0 and complex(x) == 3 and bool(x)
    assert list(range(5))[x] == 3
    assert x.item() == 3 and np.arange(3).tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="ambiguous"):
        bool(np.ones(2))
    with pytest.raises(TypeError):
        range(np.array(1.5))
    with pytest.raises(TypeError):
        int(np.ones(2))
    with pytest.raises(TypeError):
        hash(x)


def test_immutable():
    x = np.ones(3)
    with pytest.raises(TypeError, match=r"\.at\["):
        x[0] = 1.0
    assert x.at[0].set(5.0).tolist() == [5, 1, 1]


def test_iteration_gives_rows():
    rows = list(np.arange(6.0).reshape(2, 3))
    assert [r.tolist() for r in rows] == [[0, 1, 2], [3, 4, 5]]
    assert all(isinstance(r, Array) for r in rows)
    with pytest.raises(TypeError):
        iter(np.array(1.0))
    assert len(np.ones((4, 2))) == 4 and 3.0 in np.array([1.0, 3.0])


@pytest.mark.parametrize("make", ["array", "lists", "big", "empty", "int8", "bool", "complex64"])
def test_printing_is_that_of_jax(make):
    jnp = pytest.importorskip("jax.numpy")
    made = {
        "array": lambda m: m.arange(5.0),
        "lists": lambda m: m.array([[1.5, 2.0], [-3.0, 1e10]]),
        "big": lambda m: m.arange(2000),
        "empty": lambda m: m.zeros((0, 3)),
        "int8": lambda m: m.arange(3, dtype="int8"),
        "bool": lambda m: m.array([True, False]),
        "complex64": lambda m: m.array(1 + 2j),
    }[make]
    assert repr(made(np)) == repr(made(jnp))
    assert str(made(np)) == str(made(jnp))


def test_format():
    assert f"{np.array(1.5):.3f}" == "1.500"
    assert f"{np.arange(2)}" == "[0 1]"
    with pytest.raises(TypeError):
        format(np.arange(2), ".3f")


def test_numpy_functions_stay_ours():
    x = np.arange(3.0)
    for y in (numpy.sin(x), numpy.ones(3) + x, numpy.concatenate([x, x]), numpy.add.reduce(x),
              numpy.multiply.outer(x, x), numpy.sum(x), numpy.linalg.norm(x)):  # fmt: skip
        assert isinstance(y, Array)
    assert numpy.multiply.outer(x, x).shape == (3, 3)
    with pytest.raises(TypeError, match="busday_count|no counterpart"):
        numpy.busday_count(x, x)


def test_into_numpy_arrays():
    a = numpy.zeros(3, numpy.float32)
    a += np.arange(3.0)
    assert a.tolist() == [0, 1, 2] and isinstance(a, numpy.ndarray)


def test_the_ndarray_is_copied_in():
    a = numpy.zeros(3, numpy.float32)
    x = np.array(a)
    y = x + a
    a[:] = 9
    assert x.tolist() == [0, 0, 0] and y.tolist() == [0, 0, 0]
    with pytest.raises(ValueError):
        numpy.asarray(x)[0] = 1


def test_dlpack_both_ways():
    x = np.arange(4.0)
    assert numpy.from_dlpack(x).tolist() == [0, 1, 2, 3]
    a = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)
    assert interop.from_dlpack(a).tolist() == a.tolist()


def test_pickle_and_copies():
    for x in (np.arange(3.0), np.array(2), interop.as_array(2.0), np.ones(2, "bfloat16")):
        for y in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x), copy.copy(x)):
            assert y.aval is x.aval and (numpy.asarray(y) == numpy.asarray(x)).all()


def test_operands_of_other_kinds():
    x = np.ones(3)
    assert (x + numpy.float32(1)).dtype == numpy.float32
    assert (2**x).tolist() == [2, 2, 2] and (x == None) is False  # noqa: E711
    with pytest.raises(TypeError):
        x + "a"
    with pytest.raises(TypeError):
        x + [1, 2, 3]


def test_devices_and_deletion():
    x = np.ones(3)
    assert len(x.devices()) == 1 and not x.committed
    placed = interop.device_put(x, interop.devices()[0])
    assert placed.committed and (placed + x).committed
    assert x.block_until_ready() is x
    x.delete()
    assert x.is_deleted()
    with pytest.raises(RuntimeError):
        numpy.asarray(x)


def test_shared_memory_outlives_the_array():
    x = np.arange(5000.0) + 1
    y = numpy.asarray(x)
    assert not y.flags.owndata and not y.flags.writeable
    x.delete()
    assert x.is_deleted() and y[-1] == 5000.0
    z = np.arange(5000.0) + 1
    y = numpy.asarray(z)
    program = stage(lambda a: [a * 2], [z.aval])
    program.donated = (0,)
    assert program.run([z])[0][-1] == 10000.0
    assert y[-1] == 5000.0  # what others still read is copied, not overwritten


def test_attributes():
    x = np.ones((2, 3), "int16")
    assert (x.shape, x.ndim, x.size, x.itemsize, x.nbytes) == ((2, 3), 2, 6, 2, 12)
    assert x.T.shape == (3, 2) and x.mT.shape == (3, 2)
    assert x.astype("float32").dtype == numpy.float32
    assert x.reshape(3, 2).shape == x.reshape((3, 2)).shape == (3, 2)
    assert x.transpose(1, 0).shape == (3, 2) and x.flatten().shape == (6,)
