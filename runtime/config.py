"""Settings: process-wide defaults, environment variables, and overrides local to a context.

>>> from overt.runtime.config import config, enable_x64
>>> with enable_x64(True):
...     config.enable_x64
True
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

# name -> (default, names under which `config.update` and the environment know it)
DEFAULTS: dict[str, Any] = {
    "enable_x64": False,
    "disable_jit": False,
    "debug_nans": False,
    "debug_infs": False,
    "numpy_rank_promotion": "allow",
    "numpy_dtype_promotion": "standard",
    "default_matmul_precision": None,
    "default_device": None,
    "default_prng_impl": "threefry2x32",
    "threefry_partitionable": False,
    "log_compiles": False,
    "check_tracer_leaks": False,
    "platforms": None,
    "compilation_cache_dir": None,
    "enable_custom_prng": False,
    "legacy_prng_key": "allow",
    "debug_key_reuse": False,
    "no_execution": False,
}
# Settings that no program depends on, so that changing one compiles nothing again.
WATCHED: dict[str, Any] = {
    "enable_checks": False,
    "explain_cache_misses": False,
    "no_tracing": False,
    "thread_guard": False,
    "enable_custom_vjp_by_custom_transpose": False,
    "transfer_guard": "allow",
    "transfer_guard_host_to_device": None,
    "transfer_guard_device_to_host": None,
    "transfer_guard_device_to_device": None,
    "enable_compilation_cache": True,
    "compilation_cache_max_size": -1,
    "compilation_cache_include_metadata_in_key": False,
    "persistent_cache_min_compile_time_secs": 1.0,
    "persistent_cache_min_entry_size_bytes": 0,
    "raise_persistent_cache_errors": False,
}

# Those of one direction; None stands for what `transfer_guard` says.
GUARDS = tuple(name for name in WATCHED if name.startswith("transfer_guard_"))
_LEVELS = ("allow", "log", "disallow", "log_explicit", "disallow_explicit")
CHOICES: dict[str, tuple[Any, ...]] = {
    "numpy_rank_promotion": ("allow", "warn", "raise"),
    "numpy_dtype_promotion": ("standard", "strict"),
    "default_matmul_precision": (
        None, "default", "fastest", "bfloat16", "high", "bfloat16_3x", "tensorfloat32", "highest",
        "float32",
    ),
    "default_prng_impl": ("threefry2x32", "rbg", "unsafe_rbg"),
    "legacy_prng_key": ("allow", "warn", "error"),
    "transfer_guard": _LEVELS,
    **dict.fromkeys(GUARDS, (None, *_LEVELS)),
}  # fmt: skip


class Settings:
    """One immutable combination of values; equal combinations are one object, so it keys caches."""

    __slots__ = (*DEFAULTS, "items")
    table: dict[tuple, Settings] = {}

    def __new__(cls, values: dict[str, Any]) -> Settings:
        key = tuple((type(v), v) for v in values.values())
        found = cls.table.get(key)
        if found is None:
            found = object.__new__(cls)
            for name, value in values.items():
                setattr(found, name, value)
            found.items = values
            found = cls.table.setdefault(key, found)
        return found

    def replaced(self, name: str, value: Any) -> Settings:
        return Settings({**self.items, name: value})


def _from_environment(name: str, default: Any) -> Any:
    text = os.environ.get(f"OVERT_{name.upper()}")
    if text is None:
        return default
    if isinstance(default, bool):
        return text.lower() in ("1", "true", "yes", "on")
    return checked(name, type(default)(text) if isinstance(default, (int, float)) else text)


def checked(name: str, value: Any) -> Any:
    """A value of a setting. Errors: ValueError for one that it does not have."""
    choices = CHOICES.get(name)
    if choices is None and isinstance((DEFAULTS | WATCHED)[name], bool):
        choices = (True, False)
    if choices is not None and value not in choices:
        raise ValueError(
            f"{name} cannot be {value!r}; it is one of {', '.join(map(repr, choices))}"
        )
    return value


def _setting_name(name: str) -> str:
    short = name.removeprefix("overt_").removeprefix("jax_")
    if short not in DEFAULTS and short not in WATCHED:
        known = ", ".join((*DEFAULTS, *WATCHED))
        raise AttributeError(f"there is no setting {name!r}; known: {known}")
    return short


_watched_base = {name: _from_environment(name, value) for name, value in WATCHED.items()}
_watched: ContextVar[dict[str, Any]] = ContextVar("overt_watched", default={})  # noqa: B039
_base = Settings({name: _from_environment(name, value) for name, value in DEFAULTS.items()})
# Overrides of this context: (base they were computed from, their values, the combination).
_overrides: ContextVar[tuple[Settings, dict[str, Any], Settings] | None] = ContextVar(
    "overt_settings", default=None
)


def current() -> Settings:
    """The settings in force in this context."""
    found = _overrides.get()
    if found is None:
        return _base
    base, values, combined = found
    if base is not _base:
        combined = Settings({**_base.items, **values})
        _overrides.set((_base, values, combined))
    return combined


class Config:
    """Reads settings as attributes; `update` changes one for the whole process.

    >>> config.update("overt_numpy_rank_promotion", "allow")
    >>> config.numpy_rank_promotion
    'allow'
    """

    def __getattr__(self, name: str) -> Any:
        name = _setting_name(name)
        if name in WATCHED:
            return _watched.get().get(name, _watched_base[name])
        return getattr(current(), name)

    def update(self, name: str, value: Any) -> None:
        """Change a setting for the whole process; names may carry the prefix `overt_`."""
        global _base
        name = _setting_name(name)
        checked(name, value)
        if name in WATCHED:
            _watched_base.update(_with_directions(name, value))
            return
        if name == "platforms":
            from overt.backend import client

            client.choose(value)
        _base = _base.replaced(name, value)

    def read(self, name: str) -> Any:
        """The value of a setting."""
        return getattr(self, name)

    @property
    def x64_enabled(self) -> bool:
        """Whether 64-bit dtypes are on."""
        return current().enable_x64

    @property
    def values(self) -> dict[str, Any]:
        """All settings and their values, by their full names."""
        return {f"overt_{name}": getattr(self, name) for name in (*DEFAULTS, *WATCHED)}

    def config_with_absl(self) -> None:
        """Make every setting a flag of absl, `--overt_enable_x64` and the like."""
        from absl import app, flags

        define = {bool: flags.DEFINE_bool, int: flags.DEFINE_integer, float: flags.DEFINE_float}
        for name, default in (DEFAULTS | WATCHED).items():
            make = define.get(type(default), flags.DEFINE_string)
            make(f"overt_{name}", self.read(name), f"The setting {name} of Overt.")
        app.call_after_init(lambda: self.complete_absl_config(flags))

    def complete_absl_config(self, absl_flags: Any) -> None:
        """Take over what absl has parsed."""
        for name in (*DEFAULTS, *WATCHED):
            flag = absl_flags.FLAGS[f"overt_{name}"]
            if flag.present:
                self.update(name, flag.value)

    def parse_flags_with_absl(self) -> None:
        """Make settings flags of absl and parse the command line at once."""
        import sys

        from absl import flags

        self.config_with_absl()
        flags.FLAGS(sys.argv, known_only=True)
        self.complete_absl_config(flags)


config = Config()


@contextmanager
def override(name: str, value: Any) -> Iterator[None]:
    """Change one setting inside a `with` block, for this thread or task alone."""
    name = _setting_name(name)
    checked(name, value)
    if name in WATCHED:
        outer = _watched.set({**_watched.get(), **_with_directions(name, value)})
        try:
            yield
        finally:
            _watched.reset(outer)
        return
    found = _overrides.get()
    values = {**(found[1] if found else {}), name: value}
    token = _overrides.set((_base, values, Settings({**_base.items, **values})))
    try:
        yield
    finally:
        _overrides.reset(token)


def _with_directions(name: str, value: Any) -> dict[str, Any]:
    """A setting; `transfer_guard` puts an end to what its directions were set to."""
    return {name: value, **(dict.fromkeys(GUARDS) if name == "transfer_guard" else {})}


def guard_level(direction: str) -> str:
    """What is done about transfers in a direction, such as "host_to_device"."""
    name, here = f"transfer_guard_{direction}", _watched.get()
    level = here[name] if name in here else _watched_base[name]
    return level or here.get("transfer_guard") or _watched_base["transfer_guard"]


def _switch(name: str, doc: str) -> Callable[..., Any]:
    def switch(value: Any = True) -> Any:
        return override(name, value)

    switch.__name__ = switch.__qualname__ = name
    switch.__doc__ = doc
    return switch


enable_x64 = _switch("enable_x64", "64-bit dtypes inside a `with` block.")


disable_jit = _switch("disable_jit", "Run `jit` functions statement by statement in a block.")
debug_nans = _switch("debug_nans", "Raise FloatingPointError at the first NaN in a `with` block.")
debug_infs = _switch("debug_infs", "Raise FloatingPointError at the first infinity in a block.")
log_compiles = _switch("log_compiles", "Log every compilation inside a `with` block.")
numpy_rank_promotion = _switch("numpy_rank_promotion", "'allow', 'warn' or 'raise' in a block.")
numpy_dtype_promotion = _switch("numpy_dtype_promotion", "'standard' or 'strict' in a block.")
default_matmul_precision = _switch("default_matmul_precision", "Precision of products in a block.")
default_device = _switch("default_device", "The device that new arrays go to inside a block.")
default_prng_impl = _switch("default_prng_impl", "Random number generator of new keys in a block.")
threefry_partitionable = _switch("threefry_partitionable", "The partitionable random stream.")
transfer_guard = _switch("transfer_guard", "'allow', 'log' or 'disallow' transfers in a block.")
transfer_guard_host_to_device = _switch(GUARDS[0], "`transfer_guard` for transfers to a device.")
transfer_guard_device_to_host = _switch(GUARDS[1], "`transfer_guard` for transfers to the host.")
transfer_guard_device_to_device = _switch(GUARDS[2], "`transfer_guard` between devices.")
check_tracer_leaks = _switch(
    "check_tracer_leaks", "Raise UnexpectedTracerError where a symbolic value outlives its staging."
)
checking_leaks = check_tracer_leaks
enable_checks = _switch("enable_checks", "Verify every program that is staged in a block.")
enable_custom_prng = _switch("enable_custom_prng", "`PRNGKey` makes typed keys in a block.")
legacy_prng_key = _switch("legacy_prng_key", "'allow', 'warn' or 'error' on raw keys in a block.")
debug_key_reuse = _switch("debug_key_reuse", "Raise KeyReuseError where a key is used again.")
explain_cache_misses = _switch("explain_cache_misses", "Log why `jit` stages a function again.")
no_tracing = _switch("no_tracing", "Raise RuntimeError where `jit` would stage a function.")
no_execution = _switch("no_execution", "Raise RuntimeError where a program would be run.")


enable_custom_vjp_by_custom_transpose = _switch(
    "enable_custom_vjp_by_custom_transpose",
    "Changes nothing: there is one implementation of `custom_vjp`, with the same derivatives.",
)
_guarding: list[int] = []  # the threads of the blocks of `thread_guard`


@contextmanager
def thread_guard(value: bool = True) -> Iterator[None]:
    """Keep operations of several processes to the thread of a block; all of Overt's are of one.

    Errors: RuntimeError in a second thread, while another one is guarded.
    """
    thread = threading.get_ident()
    with override("thread_guard", value):
        if not value:
            yield
            return
        if _guarding and _guarding[-1] != thread:
            raise RuntimeError("another thread is in a block of thread_guard; there can be one")
        _guarding.append(thread)
        try:
            yield
        finally:
            _guarding.pop()


def disable_x64() -> Any:
    """32-bit dtypes inside a `with` block."""
    return enable_x64(False)
