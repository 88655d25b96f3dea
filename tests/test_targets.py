"""Compiling from the command line and for chips that are not here; plugins and their absence."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import overt
import overt.numpy as np
from overt.backend import client, topology
from overt.experimental import topologies
from overt.transformer.command_line import Mistake, main, parse_argument

MODEL = """\
import overt.numpy as np


def loss(params, x):
    for w, b in params:
        x = np.tanh(x @ w + b)
    return np.mean(x)
"""
LAYERS = "[(f32[8,4], f32[4]), (f32[4,2], f32[2])]"


@pytest.fixture
def model(tmp_path, monkeypatch):
    (tmp_path / "net.py").write_text(MODEL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setenv("OVERT_PLATFORMS", "cpu")
    yield tmp_path
    sys.modules.pop("net", None)


@pytest.mark.parametrize("command", ["compile", "compile+grad", "compile+value_and_grad"])
def test_compile_prints_cost_memory_and_program(model, capsys, command):
    assert main([command, "net.py:loss", "--args", LAYERS, "f32[16,8]"]) == 0
    head, _, program = capsys.readouterr().out.partition("\n\n")
    rows = dict(line.split(None, 1) for line in head.splitlines())
    assert rows["target"] == "cpu" and int(rows["operations"].split()[0].replace(",", "")) > 1000
    assert f"arguments {4 * (8 * 4 + 4 + 4 * 2 + 2 + 16 * 8)}," in rows["memory"]
    assert program.startswith("HloModule")


def test_arguments_in_containers():
    params, n = parse_argument("({'w': f32[2, 3], 'k': bf16}, -3)")
    assert params["w"].shape == (2, 3) and params["k"].dtype == np.bfloat16 and n == -3
    assert parse_argument("pred[2]").dtype == bool and parse_argument("'text'") == "text"
    for wrong in ("f32[2", "f33[2]", "what?", "f32[a]"):
        with pytest.raises(Mistake):
            parse_argument(wrong)


@pytest.mark.parametrize(
    ("target", "reason"),
    [("abacus", "a target is cpu, cuda:h200"), ("cuda", "a target is cpu, cuda:h200"),
     ("cpu:3", "a target is cpu"), ("tpu:v5e:2x2", "no plugin for tpu is installed"),
     ("cuda:h200", "no plugin for cuda is installed")],
)  # fmt: skip
def test_targets_that_cannot_be_had(model, capsys, monkeypatch, target, reason):
    monkeypatch.setattr(client, "plugin_path", lambda platform: None)
    arguments = ["compile", "net.py:loss", "--target", target, "--args", LAYERS, "f32[16,8]"]
    assert main(arguments) == 2
    shown = capsys.readouterr().err
    assert reason in shown and "Traceback" not in shown


def test_topologies(monkeypatch):
    assert topologies.get_attached_topology("cpu").devices == overt.local_devices(backend="cpu")
    with pytest.raises(ValueError, match="needs a platform"):
        topologies.get_topology_desc("h200")
    monkeypatch.setattr(client, "plugin_path", lambda platform: None)
    with pytest.raises(RuntimeError, match=r"pip install 'overt\[cuda12\]'"):
        topologies.get_topology_desc("h200", "cuda")


def test_descriptions_of_gpus(tmp_path):
    for name in topology.GPUS:
        text = topology.gpu_target(name, tmp_path / "xla_cuda12" / "plugin.so")
        assert text.count("{") == text.count("}") == 4 and "major: 12" in text
    with pytest.raises(ValueError, match="known: a100, h100, h200"):
        topology.gpu_target("voodoo", tmp_path)


def test_plugins_are_found_without_importing_them(tmp_path):
    package = tmp_path / "jax_plugins" / "xla_cuda12"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise SystemExit('imported')")
    (package / "xla_cuda_plugin.so").write_bytes(b"")
    code = "from overt.backend import client; print(client.plugin_path('cuda'))"
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    assert done.stdout.strip() == str(package / "xla_cuda_plugin.so"), done.stderr


def test_tpus_are_told_from_other_devices_of_their_vendor(tmp_path):
    assert not client.has_tpu(tmp_path)
    for name, vendor, device in (("0", "0x1ae0", "0x0042"), ("1", "0x10de", "0x0063")):
        folder = tmp_path / "sys/bus/pci/devices" / name
        folder.mkdir(parents=True)
        (folder / "vendor").write_text(vendor + "\n")
        (folder / "device").write_text(device + "\n")
    assert not client.has_tpu(tmp_path)
    (folder / "vendor").write_text("0x1ae0\n")
    assert client.has_tpu(tmp_path)


def run(code: str, **variables: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True,
        env={**os.environ, **variables},
    )  # fmt: skip


def test_an_accelerator_that_was_asked_for_and_is_missing():
    for platform in ("cuda", "tpu"):
        done = run("import overt.numpy as np; np.ones(3)", OVERT_PLATFORMS=platform)
        last = done.stderr.splitlines()[-1]
        assert last.startswith("RuntimeError") and f"no plugin for {platform} is installed" in last
        assert "pip install" in last
    done = run("import overt; print(overt.default_backend())", OVERT_PLATFORMS="cuda,cpu")
    assert done.stdout.strip() == "cpu"


def test_variables_of_xla_reach_it():
    code = (
        "from jaxlib import xla_client\n"
        "made = xla_client.generate_pjrt_gpu_plugin_options()\n"
        "print(made['preallocate'], made['memory_fraction'], made['allocator'])\n"
    )
    done = run(
        code, XLA_PYTHON_CLIENT_PREALLOCATE="false", XLA_PYTHON_CLIENT_MEM_FRACTION=".25",
        XLA_PYTHON_CLIENT_ALLOCATOR="platform",
    )  # fmt: skip
    assert done.stdout.split() == ["False", "0.25", "platform"]
    done = run("import overt.numpy as np; np.ones(3)", XLA_FLAGS="--xla_no_such_flag")
    assert done.returncode and "xla_no_such_flag" in done.stderr
