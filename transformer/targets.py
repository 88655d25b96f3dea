"""`overt compile`: a function compiled for a chip, which need not be in this machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from overt.transformer.jit import Jitted
from overt.transformer.stages import Compiled, Described

PLATFORMS = {"gpu": "cuda"}


def compiled_for(function: Callable, arguments: list[Any], target: str) -> Compiled | Described:
    """The program of a function for arguments of given kinds, compiled for a target.

    Targets are "cpu", "cuda:h200" (or another GPU that `backend.topology` describes) and
    "tpu:v5e:2x2".

    Errors: ValueError for another target, RuntimeError when its plugin is not installed.
    """
    platform, _, name = target.partition(":")
    platform = PLATFORMS.get(platform, platform)
    if platform not in ("cpu", "cuda", "tpu") or bool(name) == (platform == "cpu"):
        raise ValueError(f"a target is cpu, cuda:h200 or tpu:v5e:2x2, got {target!r}")
    lowered = Jitted(function).trace(*arguments).lower(lowering_platforms=(platform,))
    if platform == "cpu":
        return lowered.compile()
    from overt.backend.topology import described_devices

    return lowered.compile_for(described_devices(platform, name)[0])


def report(compiled: Compiled | Described, target: str) -> str:
    """What a compiled program costs, the memory it takes, and its text."""
    cost, memory = compiled.cost_analysis(), compiled.memory_analysis()
    lines = [
        f"target      {target}",
        f"operations  {cost.get('flops', 0):,.0f} and "
        f"{cost.get('transcendentals', 0):,.0f} transcendental ones",
        f"traffic     {cost.get('bytes accessed', 0):,.0f} bytes",
        f"memory      arguments {memory.argument_size_in_bytes:,}, "
        f"results {memory.output_size_in_bytes:,}, temporary {memory.temp_size_in_bytes:,}, "
        f"code {memory.generated_code_size_in_bytes:,} bytes",
    ]
    return "\n".join(lines) + "\n\n" + compiled.as_text()
