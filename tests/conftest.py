"""What tests share: 64-bit numbers on request and one setting for hypothesis."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from overt.runtime.config import enable_x64

settings.register_profile(
    "overt",
    deadline=None,
    derandomize=True,
    max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.load_profile("overt")


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
