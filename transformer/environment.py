"""What a report of a problem should say about where it happened."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import version


def print_environment_info(return_string: bool = False) -> str | None:
    """Print versions, devices and settings; with `return_string`, return the text.

    >>> print_environment_info(return_string=True).startswith("overt: ")
    True
    """
    import numpy

    import overt
    from overt.runtime.config import DEFAULTS, WATCHED, config

    defaults = DEFAULTS | WATCHED
    changed = [f"{name}={config.read(name)!r}" for name in defaults
               if config.read(name) != defaults[name]]  # fmt: skip
    variables = [f"{k}={v}" for k, v in sorted(os.environ.items())
                 if k.startswith(("OVERT_", "XLA_", "JAX_", "CUDA_VISIBLE"))]  # fmt: skip
    devices = overt.local_devices()
    lines = {
        "overt": overt.__version__,
        "jaxlib": version("jaxlib"),
        "numpy": numpy.__version__,
        "python": sys.version.replace("\n", " "),
        "device info": f"{devices[0].device_kind}-{overt.device_count()}, "
        f"{len(devices)} local devices",
        "process_count": overt.process_count(),
        "platform": platform.platform(),
        "settings": ", ".join(changed) or "all as by default",
        "environment": ", ".join(variables) or "nothing set",
    }
    text = "\n".join(f"{name}: {value}" for name, value in lines.items())
    if return_string:
        return text
    print(text)
    return None
