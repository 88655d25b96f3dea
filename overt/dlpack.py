"""Arrays shared with other libraries without copying."""

from overt.runtime.interop import from_dlpack, is_supported_dtype

__all__ = ["from_dlpack", "is_supported_dtype"]
