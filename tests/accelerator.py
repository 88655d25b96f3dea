"""The basics on the accelerator of this machine, checked and timed: `python -m tests.accelerator`.

Prints a line for each check and ends with status 1 when one fails. Takes about a minute.
"""

from __future__ import annotations

import gzip
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import numpy

import overt
import overt.numpy as np
from overt import lax, random

CHECKS: list[Callable[[], str]] = []


def check(function: Callable[[], str]) -> Callable[[], str]:
    CHECKS.append(function)
    return function


def close(actual: object, expected: object, tolerance: float = 1e-4) -> None:
    numpy.testing.assert_allclose(numpy.asarray(actual), expected, tolerance, tolerance)


def seconds(function: Callable[[], object], repeats: int = 10) -> float:
    """The shortest time of a call that waits for its result."""
    overt.block_until_ready(function())
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        overt.block_until_ready(function())
        best = min(best, time.perf_counter() - start)
    return best


@check
def devices() -> str:
    found = overt.devices()
    assert overt.default_backend() != "cpu", "there is no accelerator, or its plugin is missing"
    assert np.ones(3).devices() == {found[0]}
    return f"{len(found)} x {found[0].device_kind}"


@check
def eager_operations() -> str:
    x = np.arange(1000.0)
    close(np.sum(np.sin(x) * 2 + x), numpy.sum(numpy.sin(numpy.arange(1000.0)) * 2 + 499.5))
    return f"{1e6 * seconds(lambda: x + 1):.0f} microseconds an addition"


@check
def matrix_product() -> str:
    n = 256 if overt.default_backend() == "cpu" else 4096
    x = random.normal(random.key(0), (n, n), dtype=np.bfloat16)
    product = overt.jit(lambda x: x @ x)
    close(product(np.eye(n, dtype=np.bfloat16))[:2, :2], numpy.eye(2))
    return f"{2 * n**3 / seconds(lambda: product(x)) / 1e12:.0f} TFLOP/s in bfloat16"


@check
def loops_and_derivatives() -> str:
    def newton(a):
        x = a
        while np.abs(x * x - a) > 1e-5 * a:
            x = 0.5 * (x + a / x)
        return x

    a = np.array([2.0, 3.0, 100.0])
    close(overt.jit(overt.vmap(newton))(a), numpy.sqrt(a))
    close(overt.jit(overt.vmap(overt.grad(newton)))(a), 0.5 / numpy.sqrt(a))
    run = overt.jit(lambda x: lax.fori_loop(0, 10_000, lambda i, x: x * 0.999 + 1e-3, x))
    return f"{1e6 * seconds(lambda: run(1.0)) / 10_000:.1f} microseconds an iteration"


@check
def linear_algebra() -> str:
    m = numpy.random.default_rng(0).normal(size=(64, 64)).astype("float32")
    a = m @ m.T + 64 * numpy.eye(64, dtype="float32")
    close(np.linalg.cholesky(a) @ np.linalg.cholesky(a).T, a)
    close(np.linalg.solve(a, m), numpy.linalg.solve(a, m), 1e-3)
    w, v = np.linalg.eigh(a)
    close(v * w @ v.T, a, 1e-3)
    q, r = np.linalg.qr(m)
    close(q @ r, m, 1e-3)
    u, s, vh = np.linalg.svd(m)
    close(u * s @ vh, m, 1e-3)
    return "cholesky, solve, eigh, qr, svd"


@check
def random_bits_are_those_of_the_cpu() -> str:
    here = random.normal(random.key(0), (1000,))
    with overt.default_device(overt.devices("cpu")[0]):
        close(here, random.normal(random.key(0), (1000,)), 1e-5)
    return "threefry"


@check
def callbacks() -> str:
    seen: list[float] = []

    def f(x):
        overt.debug.callback(lambda v: seen.append(float(v)), x)
        return x * 2

    overt.block_until_ready(overt.jit(f)(3.0))
    overt.effects_barrier()
    assert seen == [3.0], seen
    return "a Python function was called"


@check
def donation_and_transfers() -> str:
    x = np.ones((1024, 1024))
    overt.jit(lambda x: x + 1, donate_argnums=0)(x)
    assert x.is_deleted()
    host = numpy.ones((64, 1024, 1024), "float32")
    up = seconds(lambda: overt.device_put(host), 3)
    device = overt.device_put(host)
    start = time.perf_counter()
    numpy.asarray(device)
    down = time.perf_counter() - start
    return f"{host.nbytes / up / 1e9:.1f} GB/s up, {host.nbytes / down / 1e9:.1f} GB/s down"


@check
def export_and_profile() -> str:
    made = overt.export.export(overt.jit(np.sin))(overt.ShapeDtypeStruct((3,), np.float32))
    close(overt.export.deserialize(made.serialize()).call(np.arange(3.0)), numpy.sin([0, 1, 2]))
    with tempfile.TemporaryDirectory() as folder:
        with overt.profiler.trace(folder, create_perfetto_trace=True):
            overt.block_until_ready(np.ones((64, 64)) @ np.ones((64, 64)))
        size = sum(p.stat().st_size for p in Path(folder).rglob("*.xplane.pb"))
    assert size and gzip.decompress(overt.profiler.device_memory_profile())
    return f"a trace of {size:,} bytes"


def main() -> int:
    failed = 0
    for function in CHECKS:
        start = time.perf_counter()
        try:
            said = function()
        except Exception:
            failed += 1
            said = "FAILED\n" + traceback.format_exc()
        name = function.__name__.replace("_", " ")
        print(f"{name:34} {time.perf_counter() - start:6.1f} s  {said}", flush=True)
    print(f"{len(CHECKS) - failed} of {len(CHECKS)}")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
