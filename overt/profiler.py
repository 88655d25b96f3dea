"""Where time and device memory go."""

from typing import TYPE_CHECKING

from overt.runtime.later import found_later as _found_later

__all__ = [
    "ProfileData", "ProfileEvent", "ProfileOptions", "ProfilePlane", "StepTraceAnnotation",
    "TraceAnnotation", "annotate_function", "device_memory_profile", "register_subprocess",
    "save_device_memory_profile", "start_server", "start_trace", "stop_server", "stop_trace",
    "trace",
]  # fmt: skip

if TYPE_CHECKING:
    from overt.runtime.profiler import *

__getattr__, __dir__ = _found_later(globals(), dict.fromkeys(__all__, "overt.runtime.profiler"))
