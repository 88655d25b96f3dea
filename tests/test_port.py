"""`overt port`: a JAX script as one for Overt, run beside the original."""

from __future__ import annotations

import runpy

import numpy
import pytest

from overt.transformer.command_line import main
from overt.transformer.port import Missing, port

SCRIPT = '''\
"""Fits a line; jax is named here, too."""
import os; os.environ["JAX_ENABLE_CHECKS"] = "1"   # two statements
import jax, functools
import jax.numpy as jnp
import jax.scipy.stats
from jax import (grad,   # the gradient
    jit as compiled, )
from jax.scipy.special import logsumexp

config = jax.config
config.update('jax_numpy_rank_promotion', "allow")


@functools.partial(jax.jit, static_argnums=0)
def loss(jax_like, w: jax.Array):
    return jax_like * jnp.sum(w**2) + logsumexp( w ) - jax.scipy.stats.norm.logpdf(w).sum()


def named_like_it(jax):
    return jax.sin


def deeper():
    import jax
    return jax.vmap(lambda x: jax.lax.mul(x, x))(jnp.arange(3.0))


result = compiled(grad(loss, argnums=1), static_argnums=0)(2.0, jnp.array([0.5, 1.5]))
found = [result, deeper(), jax.random.key_data(jax.random.key(3))]
setting = jax.config.jax_numpy_rank_promotion, named_like_it.__code__.co_varnames
'''


def test_script_gives_what_jax_gives(tmp_path):
    pytest.importorskip("jax")
    text, missing = port(SCRIPT)
    assert missing == []
    (tmp_path / "ours.py").write_text(text)
    (tmp_path / "theirs.py").write_text(SCRIPT)
    ours, wanted = (runpy.run_path(str(tmp_path / f"{n}.py")) for n in ("ours", "theirs"))
    assert "jax" not in ours and "overt" not in wanted
    assert ours["setting"] == wanted["setting"] == ("allow", ("jax",))
    for a, b in zip(ours["found"], wanted["found"], strict=True):
        numpy.testing.assert_allclose(numpy.asarray(a), numpy.asarray(b), rtol=1e-6)


def test_only_names_are_changed():
    text = port(SCRIPT)[0]
    undone = text.replace("overt", "jax").replace("OVERT", "JAX")
    assert undone == SCRIPT
    kept = ["jax is named here, too", "def named_like_it(jax):\n    return jax.sin", "jax_like * "]
    assert all(part in text for part in kept)


def test_other_scripts_are_left_alone():
    text = "from . import jax\nfrom .jax import grad\nimport numpy as jax\njax.sin(1.0)  # it\n"
    assert port(text) == (text, [])
    text = "import {}.numpy as jax\njax.sin(1.0)\n"
    assert port(text.format("jax")) == (text.format("overt"), [])


@pytest.mark.parametrize(
    "line, name",
    [
        ("from jax import pmap", "jax.pmap"),
        ("import jax.experimental.pallas as pl", "jax.experimental.pallas"),
        ("import jax; jax.lax.fuo(1)", "jax.lax.fuo"),
        ("import jax.numpy as jnp; y = jnp.linalg.nrm(x).T", "jax.numpy.linalg.nrm"),
    ],
)
def test_names_that_are_missing(line, name):
    assert port(f"# first\n{line}\n")[1] == [Missing(2, name)]


def test_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old.py").write_text("from jax import grad, pmap\n")
    assert main(["port", "old.py", "-o", "new.py"]) == 1
    assert capsys.readouterr().err == "old.py:1: Overt has no jax.pmap\n"
    assert (tmp_path / "new.py").read_text() == "from overt import grad, pmap\n"
    (tmp_path / "old.py").write_text("import jax\n")
    assert main(["port", "old.py"]) == 0
    assert capsys.readouterr().out == "import overt\n"


def test_mistakes(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.py").write_text("import jax\ndef f(:\n")
    assert main(["port", "broken.py"]) == 2
    assert capsys.readouterr().err.startswith("overt: broken.py:2: ")
    assert main(["port", "absent.py"]) == 2
    assert "absent.py cannot be read: No such file" in capsys.readouterr().err
