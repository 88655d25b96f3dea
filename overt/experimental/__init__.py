"""What may still change."""

from overt.runtime.config import disable_x64, enable_x64
from overt.transformer.callbacks import io_callback

__all__ = ["disable_x64", "enable_x64", "io_callback"]
