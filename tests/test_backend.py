"""Clients, compiling, running, other libraries in the same process."""

import os
import subprocess
import sys

import numpy
import pytest

import overt.numpy as np
from overt.backend import client, execute, module
from overt.backend.types import kind, tensor
from overt.runtime.aval import Aval


def in_new_process(code, **environment):
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120,
        env={**os.environ, **environment},
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def test_types_go_both_ways():
    for name in ("bool", "int8", "uint64", "float16", "complex128"):
        type_ = tensor((2, 3), numpy.dtype(name))
        assert kind(type_) == ((2, 3), numpy.dtype(name))


def test_a_program_by_hand():
    aval = Aval((3,), numpy.dtype("float32"))
    made, callbacks = module.build("twice", [aval], lambda b, x: [b.binary("add", x[0], x[0])])
    assert "@twice" in module.text(made) and not callbacks
    run = execute.compile_module(made, [aval])
    (y,) = run([execute.put(numpy.ones(3, numpy.float32), aval)])
    assert execute.to_numpy(y).tolist() == [2, 2, 2]


def test_constants():
    import ml_dtypes

    cases = [
        numpy.array([True, False, True]), numpy.array(True), numpy.ones((2, 3), bool),
        numpy.arange(6, dtype=numpy.int8), numpy.zeros((0, 2), numpy.float32),
        numpy.array([1.5, 2], ml_dtypes.bfloat16), numpy.array(2, ml_dtypes.bfloat16),
        numpy.array([1 + 2j], numpy.complex64), numpy.array([[2**63]], numpy.uint64),
        numpy.array([1, 2], ml_dtypes.float8_e4m3fn), numpy.array([-1, 2], ml_dtypes.int4),
    ]  # fmt: skip
    avals = [Aval(a.shape, a.dtype) for a in cases]
    made, _ = module.build("constants", [], lambda b, _: [b.constant(a) for a in cases])
    for got, want in zip(execute.compile_module(made, avals)([]), cases, strict=True):
        got = execute.to_numpy(got)
        assert got.dtype == want.dtype and got.shape == want.shape
        assert (got.astype(complex) == want.astype(complex)).all()


def test_splats_stay_one_line():
    made, _ = module.build("splat", [], lambda b, _: [b.constant(numpy.ones((1000, 1000)))])
    assert len(module.text(made)) < 500


@pytest.mark.parametrize("order", ["jax first", "jax last"])
def test_jax_in_the_same_process(order):
    pytest.importorskip("jax")
    use_jax = (
        "import jax, jax.numpy as jnp, numpy\n"
        "a = jnp.arange(3.)\n"
        "assert jax.jit(lambda x: x * 2)(a).tolist() == [0, 2, 4]\n"
        "assert jax.grad(lambda x: (x ** 2).sum())(a).tolist() == [0, 2, 4]\n"
        "assert jnp.linalg.eigh(jnp.eye(2))[0].tolist() == [1, 1]\n"
    )
    use_overt = (
        "import overt.numpy as np, numpy\n"
        "x = np.arange(3.)\n"
        "assert (x + 1).tolist() == [1, 2, 3] and type(x).__module__.startswith('overt')\n"
        "assert np.linalg.eigh(np.eye(2))[0].tolist() == [1, 1]\n"
    )
    both = (
        "assert jnp.asarray(x).tolist() == [0, 1, 2] and np.asarray(a).tolist() == [0, 1, 2]\n"
        "assert repr(jnp.arange(2)) == 'Array([0, 1], dtype=int32)'\n"
        "print('fine')\n"
    )
    parts = (use_jax, use_overt) if order == "jax first" else (use_overt, use_jax)
    assert in_new_process("".join(parts) * 2 + both).endswith("fine")


def test_xla_flags_are_honoured(tmp_path):
    in_new_process(
        "import overt.numpy as np; print(np.sin(np.ones(3)))",
        XLA_FLAGS=f"--xla_dump_to={tmp_path} --xla_dump_hlo_as_text",
    )
    assert any(tmp_path.iterdir())


def test_several_cpu_devices():
    code = (
        "import overt.numpy as np\n"
        "from overt.runtime import interop, config\n"
        "a, b = interop.devices()\n"
        "x = interop.device_put(np.ones(3), b)\n"
        "assert (x + np.ones(3)).device is b and (x + x).committed\n"
        "with config.default_device(b):\n"
        "    assert np.ones(3).device is b\n"
        "try: x + interop.device_put(np.ones(3), a)\n"
        "except ValueError as e: print('refused')\n"
    )
    assert in_new_process(code, OVERT_NUM_CPU_DEVICES="2") == "refused"


def test_platforms():
    assert client.default_platform() in ("cpu", "cuda", "tpu")
    with pytest.raises(RuntimeError, match="quantum"):
        client.client("quantum")


def test_jax_is_never_imported():
    code = (
        "import sys, pickle, numpy, overt.numpy as np\n"
        "from overt.runtime import interop\n"
        "from overt.runtime.host import host_callback\n"
        "from overt.runtime.staging import stage\n"
        "x = np.arange(3.0)\n"
        "print(x, repr(np.ones(2, 'bfloat16')), np.linalg.eigh(np.eye(2)), float(x[1]), list(x))\n"
        "numpy.asarray(np.ones((200, 200))), numpy.from_dlpack(x)\n"
        "interop.from_dlpack(numpy.ones(3)), pickle.loads(pickle.dumps(x))\n"
        "interop.device_put(x, interop.devices()[0]), np.ones(3).delete()\n"
        "stage(lambda a: list(host_callback(lambda v: v, [a.aval], a)), [x.aval]).run([x])\n"
        "assert 'jax' not in sys.modules\n"
    )
    in_new_process(code)


def test_importing_is_light():
    code = (
        "import sys, overt, overt.numpy\n"
        "heavy = [m for m in ('jax', 'libcst', 'scipy', 'jaxlib.mlir', 'jaxlib.xla_client')"
        " if m in sys.modules]\n"
        "print(heavy)"
    )
    assert in_new_process(code) == "[]"


def test_only_the_backend_knows_jaxlib():
    import pathlib

    root = pathlib.Path(__file__).parent.parent
    for folder in ("runtime", "rewrites", "transformer"):
        for path in (root / folder).rglob("*.py"):
            text = path.read_text()
            assert "import jaxlib" not in text and "from jaxlib" not in text, path


def test_eager_results_are_ours():
    assert type(np.ones(3) + 1).__module__ == "overt.runtime.array"


def test_compiled_programs_are_kept_on_disk(tmp_path):
    code = "import overt.numpy as np; print(np.std(np.arange(5.0)))"
    folder = tmp_path / "cache"
    settings = {
        "OVERT_COMPILATION_CACHE_DIR": str(folder),
        "OVERT_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    }
    first = in_new_process(code, **settings)
    names = sorted(p.name for p in folder.iterdir())
    assert names and folder.stat().st_mode & 0o077 == 0
    assert in_new_process(code, **settings) == first
    assert sorted(p.name for p in folder.iterdir()) == names


def test_a_cache_open_to_others_is_not_used(tmp_path):
    code = "import overt.numpy as np; print(np.arange(3) + 1)"
    tmp_path.chmod(0o777)
    in_new_process(code, OVERT_COMPILATION_CACHE_DIR=str(tmp_path))
    assert not list(tmp_path.iterdir())
