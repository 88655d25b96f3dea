"""Small libraries that show how to build on Overt: `optimizers` and `stax`."""

from overt.runtime.later import found_later as _found_later

__all__ = ["optimizers", "stax"]
__getattr__, __dir__ = _found_later(globals(), {name: f"{__name__}.{name}" for name in __all__})
