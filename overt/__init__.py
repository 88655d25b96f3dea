"""Overt differentiates, batches and compiles Python by rewriting its source.

Names are found when they are first asked for, so that importing Overt is quick.

>>> import overt
>>> float(overt.grad(lambda x: x**3)(2.0))
12.0
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_NAMES = {
    "overt.backend.execute": "Device",
    "overt.runtime.array": "Array",
    "overt.runtime.config": "check_tracer_leaks checking_leaks config debug_infs "
    "debug_key_reuse debug_nans default_device default_matmul_precision default_prng_impl "
    "enable_checks enable_custom_prng enable_custom_vjp_by_custom_transpose enable_x64 "
    "explain_cache_misses legacy_prng_key log_compiles no_execution no_tracing "
    "numpy_dtype_promotion numpy_rank_promotion thread_guard threefry_partitionable "
    "transfer_guard "
    "transfer_guard_device_to_device transfer_guard_device_to_host "
    "transfer_guard_host_to_device",
    "overt.transformer.environment": "print_environment_info",
    "overt.runtime.dtypes": "float0",
    "overt.runtime.interop": "default_backend devices live_arrays local_devices",
    "overt.runtime.lax": "stop_gradient",
    "overt.transformer.callbacks": "pure_callback",
    "overt.transformer.custom": "custom_gradient custom_jvp custom_vjp",
    "overt.transformer.evaluate": "block_until_ready clear_caches copy_to_host_async "
    "device_count device_get device_put disable_jit ds effects_barrier ensure_compile_time_eval "
    "eval_shape host_count host_id host_ids local_device_count process_count "
    "process_index process_indices typeof",
    "overt.transformer.gradients": "grad value_and_grad",
    "overt.runtime.places": "named_scope",
    "overt.runtime.checkpointing": "checkpoint_policies",
    "overt.transformer.identity": "checkpoint named_call",
    "overt.transformer.jacobians": "hessian jacfwd jacobian jacrev jvp linearize vjp",
    "overt.transformer.jit": "jit",
    "overt.transformer.linear": "closure_convert fwd_and_bwd linear_transpose",
    "overt.transformer.make_jaxpr": "make_jaxpr",
    "overt.transformer.stages": "ShapeDtypeStruct xla_computation",
    "overt.transformer.vectorize": "vmap",
}
_PLACES = {name: (module, name) for module, names in _NAMES.items() for name in names.split()}
_PLACES["remat"] = ("overt.transformer.identity", "checkpoint")
_PLACES["source"] = ("overt.transformer.shown", "shown")
_SUBMODULES = (
    "custom_batching custom_derivatives debug dlpack dtypes errors example_libraries experimental "
    "export flatten_util image lax nn numpy ops profiler random scipy stages test_util tree "
    "tree_util typing ad_checkpoint core extend"
)
_MODULES = frozenset(_SUBMODULES.split())

__all__ = [*sorted(_PLACES), *sorted(_MODULES)]


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        module, attribute = _PLACES[name]
        value = getattr(importlib.import_module(module), attribute)
    elif name in _MODULES:
        value = importlib.import_module(f"overt.{name}")
    else:
        raise AttributeError(f"module 'overt' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLACES, *_MODULES})
