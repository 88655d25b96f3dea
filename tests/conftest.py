"""What tests share: 64-bit numbers on request and one setting for hypothesis."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import overt
from overt.runtime.config import enable_x64

settings.register_profile(
    "overt",
    deadline=None,
    derandomize=True,
    max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.load_profile("overt")


class FewPrograms:
    """Lets go of compiled programs now and then.

    Each holds some of the 65,530 pieces of memory that Linux maps for a process; past them LLVM
    crashes.
    """

    done = 0

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_teardown(self) -> None:
        self.done += 1
        if self.done % 40 == 0 and MAPS.exists():
            with MAPS.open("rb") as maps:
                if sum(1 for _ in maps) > 20_000:
                    overt.clear_caches()
                    gc.collect()


MAPS = Path("/proc/self/maps")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(FewPrograms())


@pytest.fixture(scope="session", autouse=True)
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Generated modules go to a folder of the test run."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("cache")
        folder.chmod(0o700)
        patch.setenv("OVERT_CACHE_DIR", str(folder))
        yield


@pytest.fixture
def x64() -> Iterator[None]:
    """64-bit dtypes while a test runs."""
    with enable_x64(True):
        yield


@pytest.fixture
def quiet_x64(x64: None) -> Iterator[None]:
    """64-bit dtypes, and no word of derivatives that are recorded."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
