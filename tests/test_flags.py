"""Settings: each does what it says, by update, environment, `with` block and flag of absl."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import queue
import subprocess
import sys
import tempfile
import threading
import traceback
import types

import numpy as onp
import pytest

import overt
import overt.numpy as np
from overt import config, errors, lax, random
from overt.runtime.config import CHOICES, DEFAULTS, WATCHED


def told(error):
    """Everything that is printed of an exception."""
    return "".join(traceback.format_exception(error))


def in_process(code, **environment):
    with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False) as script:
        script.write(code)
    done = subprocess.run(
        [sys.executable, script.name], env={**os.environ, **environment},
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


# --- how they are set


def test_every_setting_can_be_updated_and_read():
    for name, value in (DEFAULTS | WATCHED).items():
        if name != "platforms":
            before = config.read(name)
            config.update(f"overt_{name}", before)
            config.update(f"jax_{name}", before)
            assert config.values[f"overt_{name}"] == before == getattr(config, f"jax_{name}")
        del value
    with pytest.raises(AttributeError, match="there is no setting 'overt_nonsense'"):
        config.update("overt_nonsense", 1)


@pytest.mark.parametrize("name", [*CHOICES, "debug_nans", "enable_checks"])
def test_values_are_checked(name):
    with pytest.raises(ValueError, match=f"{name} cannot be 'nonsense'"):
        config.update(name, "nonsense")
    with pytest.raises(ValueError, match="one of"), getattr(overt, name)("nonsense"):
        pass


def test_environment_variables():
    code = "import overt; c = overt.config; print(c.enable_x64, c.debug_nans, c.transfer_guard)"
    names = {"OVERT_ENABLE_X64": "1", "OVERT_DEBUG_NANS": "true", "OVERT_TRANSFER_GUARD": "log"}
    assert in_process(code, **names) == ["True", "True", "log"]
    code = "import overt; print(overt.devices()[0].platform, overt.config.platforms)"
    assert in_process(code, OVERT_PLATFORMS="cpu") == ["cpu", "cpu"]
    code = "import overt; overt.config.update('overt_platforms', 'cpu'); print(overt.devices())"
    assert "cpu" in in_process(code, OVERT_PLATFORMS="tpu")[0].lower()
    with pytest.raises(RuntimeError, match="already"):
        overt.devices() and config.update("overt_platforms", "tpu")


def test_blocks_nest_and_end():
    with overt.enable_x64(True):
        assert np.arange(3.0).dtype == "float64"
        with overt.enable_x64(False):
            assert np.arange(3.0).dtype == "float32"
        assert overt.jit(lambda: np.arange(3.0))().dtype == "float64"
    assert np.arange(3.0).dtype == "float32"
    config.update("overt_enable_x64", True)
    try:
        assert np.arange(3).dtype == "int64"
    finally:
        config.update("overt_enable_x64", False)


class Flags(types.ModuleType):
    """As much of `absl.flags` as settings need."""

    def __init__(self):
        super().__init__("absl.flags")
        self.defined = {}
        self.FLAGS = self

    def define(self, name, default, doc):
        self.defined[name] = types.SimpleNamespace(value=default, present=0)

    DEFINE_bool = DEFINE_integer = DEFINE_float = DEFINE_string = define

    def __getitem__(self, name):
        return self.defined[name]

    def __call__(self, arguments, known_only=False):
        for text in arguments[1:]:
            name, _, value = text.removeprefix("--").partition("=")
            if name in self.defined:
                flag = self.defined[name]
                flag.value, flag.present = (value or True), 1


def test_absl_flags(monkeypatch):
    flags, later = Flags(), []
    app = types.SimpleNamespace(call_after_init=later.append)
    absl = types.ModuleType("absl")
    absl.flags, absl.app = flags, app
    monkeypatch.setitem(sys.modules, "absl", absl)
    monkeypatch.setattr(
        sys, "argv", ["x", "--overt_debug_nans", "--overt_numpy_rank_promotion=warn", "--other"]
    )
    try:
        config.parse_flags_with_absl()
        assert config.debug_nans is True and config.numpy_rank_promotion == "warn"
        assert set(flags.defined) == {f"overt_{n}" for n in DEFAULTS | WATCHED} and later
    finally:
        config.update("debug_nans", False)
        config.update("numpy_rank_promotion", "allow")


# --- NaNs and infinities


def loop(x):
    total = 0.0
    for i in range(3):
        total = total + np.log(x - i)  # breaks at i == 2
    return total


def test_debug_nans_names_the_line():
    line = "total = total + np.log(x - i)"
    runs = [loop, overt.jit(loop), overt.grad(loop), overt.jit(overt.value_and_grad(loop))]
    with overt.debug_nans(True):
        for f in runs:
            with pytest.raises(FloatingPointError, match="nan") as caught:
                f(1.5)
            assert line in told(caught.value), f
        for f in (overt.vmap(loop), overt.jit(overt.vmap(loop))):
            with pytest.raises(FloatingPointError, match="nan") as caught:
                f(np.array([3.0, 1.5]))
            assert line in told(caught.value)
        assert onp.isfinite(overt.jit(loop)(5.0))
    assert onp.isnan(overt.jit(loop)(1.5))


def test_debug_nans_in_the_backward_pass_and_infinities():
    def f(x):
        y = np.sqrt(x)
        return y * 0.0

    with overt.debug_nans(True):
        for g in (overt.grad(f), overt.jit(overt.grad(f)), overt.grad(overt.jit(f))):
            with pytest.raises(FloatingPointError) as caught:
                g(0.0)
            assert "y = np.sqrt(x)" in told(caught.value)
    with overt.debug_infs(True):
        for g in (lambda x: 1.0 / x, overt.jit(lambda x: 1.0 / x)):
            with pytest.raises(FloatingPointError, match="inf") as caught:
                g(np.array(0.0))
            assert "1.0 / x" in told(caught.value)
        assert float(overt.jit(lambda x: x / 2)(1.0)) == 0.5


def test_effects_happen_once_when_the_line_is_looked_for():
    seen = []

    @overt.jit
    def f(x):
        print("before", x)
        overt.debug.callback(lambda v: seen.append(float(v)), x)
        return np.log(x)

    out = io.StringIO()
    with overt.debug_nans(True), contextlib.redirect_stdout(out), pytest.raises(FloatingPointError):
        f(-1.0)
    assert out.getvalue() == "before -1.0\n" and seen == [-1.0]


# --- staging


def test_disable_jit_runs_statements():
    seen = []

    @overt.jit
    def f(x, n):
        for _ in range(n):
            seen.append(type(x).__name__)
            x = x * 2
        return x

    with overt.disable_jit():
        assert float(f(np.array(1.0), 3)) == 8.0 and seen == ["DeviceArray"] * 3
    with overt.disable_jit(False):
        assert float(overt.jit(lambda x: x * 2)(1.0)) == 2.0


def test_log_compiles_and_explain_cache_misses(caplog):
    scale = 2.0

    @overt.jit
    def f(x, flip=False):
        return -x * scale if flip else x * scale

    with overt.log_compiles(True), caplog.at_level(logging.WARNING, "overt"):
        f(np.ones(3))
    assert "compiling f for (float32[3]" in caplog.text
    caplog.clear()
    with overt.explain_cache_misses(True), caplog.at_level(logging.WARNING, "overt"):
        g = overt.jit(lambda x, power: x**power * scale, static_argnames="power")
        g(np.ones(3), power=2)
        g(np.ones(4), power=2)
        g(np.ones(4, int), power=2)
        g(np.ones(4), power=3)
        g([np.ones(4)][0], power=2)
        scale = 3.0
        g(np.ones(4), power=2)
        with overt.default_matmul_precision("highest"):
            g(np.ones(4), power=2)
    texts = [record.getMessage().partition(": ")[2] for record in caplog.records]
    assert "not staged before" in texts[0]
    assert "argument 'x' was float32[3], is float32[4]" in texts[1]
    assert "argument 'x' was float32[4], is int32[4]" in texts[2]
    assert "argument 'power' was 2, is 3" in texts[3]
    assert "was 2.0, is 3.0" in texts[4]
    assert "default_matmul_precision was None, is 'highest'" in texts[5] and len(texts) == 6


STASH = queue.SimpleQueue()  # that it changes, nobody can see


def keeps(x):
    doubled = x * 2
    STASH.put(doubled)
    return doubled


def test_values_that_outlive_their_program():
    overt.jit(keeps)(1.0)
    kept = STASH.get()
    with pytest.raises(errors.UnexpectedTracerError, match="outlived") as caught:
        float(kept)
    assert "doubled = x * 2" in str(caught.value) and os.path.basename(__file__) in str(
        caught.value
    )
    with pytest.raises(errors.UnexpectedTracerError, match="outlived"):
        kept + 1
    del kept
    with overt.checking_leaks(), pytest.raises(errors.UnexpectedTracerError) as caught:
        overt.jit(keeps)(1.0)
    assert "doubled = x * 2" in str(caught.value) and "SimpleQueue" in str(caught.value)
    STASH.get()
    with overt.check_tracer_leaks(True):
        assert float(overt.jit(lambda x: lax.fori_loop(0, 3, lambda i, v: v * 2, x))(1.0)) == 8.0
        assert float(overt.jit(overt.grad(loop))(5.0)) > 0


def test_enable_checks():
    with overt.enable_checks(True):
        assert float(overt.jit(loop)(5.0)) == pytest.approx(onp.log(60.0), 1e-5)


# --- numbers


def test_rank_promotion():
    x, y = np.ones((4, 3)), np.ones(3)
    f = overt.jit(lambda x, y: x + y)
    for run in (lambda: x + y, lambda: f(x, y), lambda: overt.vmap(lambda a: x + a)(x[None, 0])):
        with overt.numpy_rank_promotion("raise"), pytest.raises(ValueError, match="rank"):
            run()
        with overt.numpy_rank_promotion("warn"), pytest.warns(UserWarning, match="rank"):
            run()
    with overt.numpy_rank_promotion("raise"):
        assert (x + 1.0).shape == (4, 3) and (x + np.array(2.0)).shape == (4, 3)


def test_matmul_precision():
    x = np.ones((3, 3))
    text = lambda **how: overt.jit(lambda x: np.matmul(x, x, **how)).lower(x).as_text()
    assert "HIGHEST" not in text() and "HIGHEST" in text(precision="highest")
    with overt.default_matmul_precision("float32"):
        assert "HIGHEST" in text() and "HIGHEST" not in text(precision="default")
    with overt.default_matmul_precision("tensorfloat32"):
        assert "HIGH" in text()


def test_random_generators():
    assert random.key_data(random.key(0)).shape == (2,)
    with overt.default_prng_impl("rbg"):
        key = random.key(0)
        assert random.key_data(key).shape == (4,) and random.uniform(key, (3,)).shape == (3,)
    with overt.debug_key_reuse(True):
        key = random.key(7)
        random.normal(key)
        with pytest.raises(errors.KeyReuseError):
            random.normal(key)


# --- places


def test_transfers_to_the_device():
    x, host = np.arange(3.0), onp.ones(3, "float32")
    double = overt.jit(lambda x: x * 2)
    double(x), double(host)
    implicit = [lambda: x + host, lambda: double(host), lambda: np.asarray(host), lambda: x + 1]
    with overt.transfer_guard("disallow"):
        for f in implicit:
            with pytest.raises(RuntimeError, match="Disallowed host-to-device transfer"):
                f()
        moved = overt.device_put(host)
        assert (double(moved) == double(moved)).shape == (3,)
        with overt.transfer_guard("allow"):
            assert (x + host).shape == (3,)
    with overt.transfer_guard_host_to_device("disallow_explicit"):
        with pytest.raises(errors.TransferError, match="disallow_explicit"):
            overt.device_put(host)
        with pytest.raises(errors.TransferError):
            double(host)
    with overt.transfer_guard_device_to_host("disallow"):
        assert float((x + host)[0]) == 1.0  # another direction; on CPU, arrays are on the host
    config.update("overt_transfer_guard", "disallow")
    try:
        with pytest.raises(errors.TransferError), overt.transfer_guard_device_to_host("log"):
            x + host
        with overt.transfer_guard_host_to_device("allow"):
            x + host
    finally:
        config.update("overt_transfer_guard", "allow")


def test_transfers_are_logged(caplog):
    x, host = np.arange(3.0), onp.ones(3, "float32")
    with caplog.at_level(logging.WARNING, "overt"):
        with overt.transfer_guard("log"):
            overt.device_put(host)
            assert not caplog.records
            x + host
        assert "host-to-device transfer of float32[3]" in caplog.records[0].getMessage()
        with overt.transfer_guard("log_explicit"):
            overt.device_put(host)
        assert len(caplog.records) == 2


TWO = """
import overt, overt.numpy as np
first, second = overt.devices()
x, y = overt.device_put(np.ones(3), second), np.ones(3)
with overt.default_device(second):
    assert np.ones(3).devices() == {second} == overt.jit(lambda: np.ones(3))().devices()
assert np.ones(3).devices() == {first}
with overt.transfer_guard_device_to_device("disallow"):
    try:
        x + y
    except overt.errors.TransferError as error:
        print("refused", "device-to-device" in str(error))
    z = x + overt.device_put(y, second)
with overt.transfer_guard_device_to_device("disallow_explicit"):
    try:
        overt.device_put(y, second)
    except overt.errors.TransferError:
        print("refused")
print(z.devices() == {second})
"""


def test_several_devices():
    assert in_process(TWO, OVERT_NUM_CPU_DEVICES="2") == ["refused", "True", "refused", "True"]


def test_transfers_to_the_host(monkeypatch):
    """As on an accelerator, whose arrays are not in the host's memory."""
    from overt.runtime.array import DeviceArray

    away = types.SimpleNamespace(platform="cuda")
    for read in (onp.asarray, float, str, bool, int, DeviceArray.tolist):
        x = np.ones(()) + 1
        with monkeypatch.context() as patch, overt.transfer_guard_device_to_host("disallow"):
            patch.setattr(DeviceArray, "device", property(lambda self: away))
            with pytest.raises(errors.TransferError, match="device-to-host.*device_get"):
                read(x)
            assert overt.device_get(x).tolist() == 2.0 and str(x) == "2.0"
    x = np.ones(()) + 1
    with monkeypatch.context() as patch, overt.transfer_guard("disallow_explicit"):
        patch.setattr(DeviceArray, "device", property(lambda self: away))
        with pytest.raises(errors.TransferError, match="disallow_explicit"):
            overt.device_get(x)


def test_compilation_cache(tmp_path):
    code = f"""
import overt, overt.numpy as np, os
overt.config.update("overt_compilation_cache_dir", {str(tmp_path / "cache")!r})
overt.config.update("overt_persistent_cache_min_compile_time_secs", 0)
overt.jit(lambda x: np.sin(x) @ x.T)(np.ones((8, 8)))
print(len(os.listdir({str(tmp_path / "cache")!r})))
"""
    first = in_process(code)
    assert int(first[0]) > 0 and in_process(code) == first


def test_environment_info(capsys):
    with overt.debug_nans(True):
        text = overt.print_environment_info(return_string=True)
        assert overt.print_environment_info() is None
    assert capsys.readouterr().out == text + "\n"
    for word in ("overt:", "jaxlib:", "numpy:", "python:", "device info: cpu", "debug_nans=True"):
        assert word in text


def test_thread_guard():
    found = []

    def guarded():
        try:
            with overt.thread_guard():
                found.append(float(np.sin(1.0)))
        except RuntimeError as error:
            found.append(str(error))

    def elsewhere(run):
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()

    with overt.thread_guard(True), overt.thread_guard(True):
        assert overt.config.overt_thread_guard
        elsewhere(lambda: found.append(float(overt.jit(np.sin)(0.0))))  # of one process: allowed
        elsewhere(guarded)
    elsewhere(guarded)
    assert found[0] == 0.0 and "another thread" in found[1] and found[2] == float(np.sin(1.0))
    with overt.enable_custom_vjp_by_custom_transpose(True):
        assert overt.config.enable_custom_vjp_by_custom_transpose
