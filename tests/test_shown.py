"""What `overt.source` shows runs, and gives what the transformation gives."""

from __future__ import annotations

import functools
import sys
import types

import numpy
import pytest

import overt
import overt.numpy as np
from overt.transformer.command_line import main

TEXT = '''\
import numpy as np


def wave(x, a):
    """A scalar of two arrays."""
    y = a * np.sin(x)  # amplitude
    for _ in range(2):
        y = y * y + x
    return np.sum(y) / (1.0 + np.sum(a**2))


def curve(x, a=2.0):
    return {"up": a * x**2, "down": np.cos(x)}


def cube(x):
    return x**3


def cube_jvp(primals, tangents):
    (x,), (x_dot,) = primals, tangents
    return cube(x), 3 * x**2 * x_dot


def cube_fwd(x):
    return cube(x), x


def cube_bwd(x, g):
    return (3 * x**2 * g,)
'''
X, A = numpy.array([0.3, -0.7, 1.1]), numpy.array([1.5, 0.2, -0.4])


@pytest.fixture
def model(tmp_path, monkeypatch):
    (tmp_path / "shown_model.py").write_text(TEXT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    sys.modules.pop("shown_model", None)
    import shown_model

    yield shown_model
    sys.modules.pop("shown_model", None)


pytestmark = pytest.mark.usefixtures("x64")


def run(text: str) -> types.ModuleType:
    """The text as a module of its own."""
    made = types.ModuleType("made")
    exec(compile(text, "<made>", "exec"), vars(made))
    return made


def same(found, wanted):
    found, wanted = overt.tree.leaves(found), overt.tree.leaves(wanted)
    assert len(found) == len(wanted)
    for f, w in zip(found, wanted, strict=True):
        numpy.testing.assert_allclose(numpy.asarray(f), numpy.asarray(w), rtol=1e-10)


@pytest.mark.parametrize("argnums", [0, -1, (0, 1), (1,)])
@pytest.mark.parametrize("kind", ["jacfwd", "jacrev", "hessian"])
def test_jacobians(model, kind, argnums):
    f = getattr(overt, kind)(model.wave, argnums)
    text = overt.source(f)
    same(getattr(run(text), f"wave_{kind}")(X, A), f(X, A))
    assert "# amplitude" in text


def test_jacobian_of_a_dictionary_with_a_default(model):
    text = overt.source(overt.jacfwd(model.curve))
    same(run(text).curve_jacfwd(X), overt.jacfwd(model.curve)(X))


def test_jacobians_within_other_transformations(model):
    made = run(overt.source(overt.jit(overt.hessian(model.wave))))
    same(made.wave_hessian_lifted(X, A), overt.hessian(model.wave)(X, A))
    batched = overt.vmap(overt.jacrev(model.wave), in_axes=(0, None))
    xs = numpy.stack([X, 2 * X])
    same(run(overt.source(batched)).wave_jacrev_batched(xs, A), batched(xs, A))


def test_derivatives_beyond_are_refused(model):
    with pytest.raises(TypeError, match="print those of the gradient"):
        overt.source(overt.jacfwd(overt.hessian(model.wave)))


def test_tangents(model):
    made = run(overt.source(functools.partial(overt.jvp, model.wave)))
    wanted = overt.jvp(model.wave, (X, A), (A, X))
    same(made.wave_jvp(np.asarray(X), np.asarray(A), np.asarray(A), np.asarray(X)), wanted)
    _, linear = overt.linearize(model.wave, X, A)
    assert overt.source(linear) == overt.source(functools.partial(overt.jvp, model.wave))


def test_pullbacks(model):
    made = run(overt.source(functools.partial(overt.vjp, model.wave)))
    out, saved = made.wave_fwd(np.asarray(X), np.asarray(A))
    wanted, pull = overt.vjp(model.wave, X, A)
    same((out, made.wave_bwd(saved, np.asarray(2.0))), (wanted, pull(np.asarray(2.0))))
    assert "def wave_bwd(saved, out_bar):" in overt.source(pull)


def test_rules_are_shown_with_their_function(model):
    f = overt.custom_jvp(model.cube)
    f.defjvp(model.cube_jvp)
    text = overt.source(f)
    assert "# Its derivative is `cube_jvp`." in text and "3 * x**2 * x_dot" in text
    g = overt.custom_vjp(model.cube)
    g.defvjp(model.cube_fwd, model.cube_bwd)
    text = overt.source(g)
    assert "# Its derivative is `cube_fwd` and `cube_bwd`." in text
    assert run(text).cube_bwd(2.0, 1.0) == (12.0,)


def test_the_rest(model):
    assert "computes the rest again" in overt.source(overt.checkpoint(model.wave))
    bound = functools.partial(overt.grad(model.wave), a=A)
    assert overt.source(bound) == overt.source(overt.grad(model.wave))
    with pytest.raises(TypeError, match="needs a function made by"):
        overt.source(3)


@pytest.mark.parametrize("command", ["vjp", "jvp", "hessian", "jacfwd", "jit+jvp", "vmap+jacrev"])
def test_the_command_line_shows_the_same(model, command):
    assert main([command, "shown_model.py:wave", "-o", "out.py"]) == 0
    with open("out.py") as file:
        text = file.read()
    assert text.startswith('"""') and f"overt {command} shown_model.py:wave" in text
    run(text)


def test_a_pullback_cannot_be_transformed(model, capsys):
    assert main(["jit+vjp", "shown_model.py:wave"]) == 2
    assert "two functions" in capsys.readouterr().err


FAILING = """\
import overt.numpy as np


def shapes(w, x):
    h = np.tanh(x @ w)
    return np.sum(h @ w)


def index(xs):
    total = 0.0
    for i in range(5):
        total = total + xs[i] ** 2
    return total


def key(p):
    return np.sum(np.sin(p["missing"]) ** 2)
"""


@pytest.mark.parametrize("kind", ["grad", "jvp", "vmap", "jit of grad"])
def test_errors_name_the_users_line(kind, tmp_path, monkeypatch):
    """Also where the user's statement was taken apart into the steps of a derivative."""
    (tmp_path / "failing_model.py").write_text(FAILING)
    monkeypatch.syspath_prepend(str(tmp_path))
    sys.modules.pop("failing_model", None)
    import failing_model

    w, x = np.ones((2, 3)), np.ones((4, 2))
    cases = [
        (failing_model.shapes, (w, x), "return np.sum(h @ w)"),
        (failing_model.key, ({"w": x},), 'return np.sum(np.sin(p["missing"]) ** 2)'),
    ]
    if kind != "jit of grad":  # a compiled program clips the index
        cases.append((failing_model.index, (np.ones(3),), "total = total + xs[i] ** 2"))
    for f, args, line in cases:
        with pytest.raises((ValueError, IndexError, KeyError)) as caught:
            if kind == "jvp":
                overt.jvp(f, args, args)
            elif kind == "vmap":
                overt.vmap(f, in_axes=(None,) * len(args), axis_size=2)(*args)
            else:
                g = overt.grad(f)
                (overt.jit(g) if kind == "jit of grad" else g)(*args)
        assert any(line in note for note in caught.value.__notes__)
