"""Compile every example for chips that are not here: `python -m tests.plugins [FOLDER]`.

The plugins for CUDA and TPU are installed into a virtual environment of their own (in FOLDER, which
is kept, or in a temporary folder). Needs a network; the tests of pytest leave it out.
"""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

TOP = Path(__file__).parent.parent
TARGETS = ("cpu", "cuda:h200", "tpu:v5e:2x2")
LAYERS = "[(f32[64,128], f32[128]), (f32[128,10], f32[10])]"
# (transformation, function, kinds of arguments)
PROGRAMS = [
    ("", "newton.py:anomaly", ["f32", "f32"]),
    ("grad", "newton.py:anomaly", ["f32", "f32"]),
    ("vmap", "newton.py:anomaly", ["f32[100]", "f32[100]"]),
    ("", "ode.py:simulate", ["f32[2]", "f32[2]"]),
    ("value_and_grad", "ode.py:misfit", ["f32[2]", "f32[2]", "f32[100,2]"]),
    ("", "raymarch.py:trace", ["f32[3]", "f32[3]"]),
    ("grad", "raymarch.py:trace", ["f32[3]", "f32[3]"]),
    ("", "digits.py:loss", [LAYERS, "f32[64,64]", "i32[64]"]),
    ("value_and_grad", "digits.py:loss", [LAYERS, "f32[64,64]", "i32[64]"]),
]


def environment(folder: Path) -> Path:
    """The Python of a virtual environment with the plugins of this jaxlib's version."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    minor = ".".join(importlib.metadata.version("jaxlib").split(".")[:2])
    install = [str(python), "-m", "pip", "install", "--quiet"]
    needs = [f"jaxlib=={minor}.*", "libcst", "numpy", "scikit-learn", "libtpu"]
    subprocess.run([*install, *needs], check=True)
    # Without their dependencies: those are CUDA itself and jax, which compiling does not need.
    cuda = [f"jax-cuda12-{part}=={minor}.*" for part in ("pjrt", "plugin")]
    subprocess.run([*install, "--no-deps", *cuda], check=True)
    return python


def compiled(python: Path, step: str, function: str, kinds: list[str], target: str) -> str | None:
    """Compile one function for one chip; None, or what went wrong."""
    command = "compile+" + step if step else "compile"
    done = subprocess.run(
        [str(python), "-m", "overt.transformer.command_line", command, "--target", target,
         str(TOP / "examples" / function), "--args", *kinds],
        capture_output=True, text=True, timeout=600,
        env={**os.environ, "PYTHONPATH": str(TOP)},
    )  # fmt: skip
    if done.returncode or "HloModule" not in done.stdout or "operations" not in done.stdout:
        return (done.stderr or done.stdout).strip()[-2000:]
    return None


def main(arguments: list[str]) -> int:
    """Compile everything; the number of programs that were not compiled."""
    with tempfile.TemporaryDirectory() as temporary:
        python = environment(Path(arguments[0] if arguments else temporary).resolve())
        failed = 0
        for step, function, kinds in PROGRAMS:
            for target in TARGETS:
                problem = compiled(python, step, function, kinds, target)
                failed += problem is not None
                print(f"{target:12} {step:15} {function:22} {problem or 'compiled'}", flush=True)
    count = len(PROGRAMS) * len(TARGETS)
    print(f"{count - failed} of {count} compiled")
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
