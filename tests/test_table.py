"""Every function of `overt.numpy`: its value, derivatives, batches and compiled form."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy
import pytest

import overt
import overt.numpy as np
from tests.table import CASES, GIVEN, SAME, A


def is_function(x):
    return callable(x) and not isinstance(x, type)


NAMES = sorted(n for n in np.__all__ if is_function(getattr(np, n)))
CASE = {n: CASES.get(SAME.get(n, n), "") for n in NAMES}
PARTS = {
    n: ("", c) if c.startswith("np.") else tuple(c.partition(" ")[::2]) for n, c in CASE.items()
}
COMPUTED = {
    n: text for n, (kind, text) in PARTS.items() if kind in ("", "d", "v") and "np." in text
}
DIFFERENTIATED = [n for n in COMPUTED if PARTS[n][0] == "d" and n not in SAME]
BATCHED = [n for n in COMPUTED if PARTS[n][0] in ("d", "v") and n not in SAME]


@pytest.fixture(scope="module", autouse=True)
def wide():
    with overt.enable_x64(True):
        yield


@pytest.fixture(scope="module")
def functions(tmp_path_factory):
    """The cases as functions of A, in a file, since their source is read; ours and NumPy's."""
    made = {}
    for library in ("overt.numpy", "numpy"):
        lines = [
            f"import {library} as np",
            "from tests.table import GIVEN",
            "globals().update(GIVEN)",
        ]
        lines += [f"def case_{n}(A):\n    return {text}" for n, text in COMPUTED.items()]
        name = f"table_of_{library.replace('.', '_')}"
        path = tmp_path_factory.mktemp("table") / f"{name}.py"
        path.write_text("\n".join(lines) + "\n")
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        made[library] = {n: getattr(module, f"case_{n}") for n in COMPUTED}
    return made


def test_every_function_has_a_case():
    assert not [n for n, case in CASE.items() if not case]
    assert set(CASES) | set(SAME) <= set(NAMES), "cases of functions there are not"
    for n, same in SAME.items():
        assert getattr(np, n) is getattr(np, same) or is_function(getattr(np, n))


def test_page_of_functions_is_what_its_generator_writes():
    docs = Path(__file__).parent.parent / "docs"
    spec = importlib.util.spec_from_file_location("functions_page", docs / "functions.py")
    generator = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generator)
    assert (docs / "functions.md").read_text() == generator.page(CASES, SAME)


def close(got, want, tol=1e-9):
    got, want = (x if isinstance(x, (tuple, list)) else [x] for x in (got, want))
    assert len(got) == len(want)
    for a, b in zip(got, want, strict=True):
        if isinstance(b, numpy.dtype):
            assert a == b
            continue
        a, b = numpy.asarray(a), numpy.asarray(b)
        assert a.shape == b.shape
        assert a.dtype.kind == b.dtype.kind or {a.dtype.kind, b.dtype.kind} <= {"i", "u", "b"}
        numpy.testing.assert_allclose(a, b, rtol=tol, atol=tol)


@pytest.mark.parametrize("name", COMPUTED)
def test_value(name, functions):
    close(functions["overt.numpy"][name](np.asarray(A)), functions["numpy"][name](A))


def both(f):
    """Value, tangent and cotangent of a function as one program."""

    def run(x, v, g):
        out, pull = overt.vjp(f, x)
        return out, overt.jvp(f, (x,), (v,))[1], pull(g)[0]

    return overt.jit(run)


V = numpy.random.default_rng(3).normal(size=A.shape)


@pytest.mark.parametrize("name", DIFFERENTIATED)
def test_derivative(name, functions):
    f, plain = functions["overt.numpy"][name], functions["numpy"][name]
    want = plain(A)
    g = numpy.random.default_rng(5).normal(size=want.shape)
    out, dot, bar = both(f)(A, V, g)
    h = 1e-6
    slope = (plain(A + h * V) - plain(A - h * V)) / (2 * h)
    close(out, want)
    close(dot, slope, 2e-5)
    assert numpy.isclose(numpy.sum(bar * V), numpy.sum(g * slope), rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("name", BATCHED)
def test_batch(name, functions):
    rows = numpy.stack([A, A[::-1] * 0.9])
    got = overt.jit(overt.vmap(functions["overt.numpy"][name]))(rows)
    close(got, numpy.stack([functions["numpy"][name](row) for row in rows]))


@pytest.mark.nightly
@pytest.mark.parametrize("name", DIFFERENTIATED)
def test_second_derivative(name, functions):
    f = functions["overt.numpy"][name]
    g = numpy.random.default_rng(5).normal(size=functions["numpy"][name](A).shape)

    def slope(x):
        return overt.vjp(f, x)[1](g)[0]

    h = 1e-5
    want = (numpy.asarray(slope(A + h * V)) - numpy.asarray(slope(A - h * V))) / (2 * h)
    close(overt.jvp(slope, (A,), (V,))[1], want, 1e-4)


def test_given_values_are_as_they_were():
    assert all(isinstance(x, numpy.ndarray) for x in GIVEN.values())
