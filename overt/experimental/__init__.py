"""What may still change."""

from overt.transformer.callbacks import io_callback

__all__ = ["io_callback"]
