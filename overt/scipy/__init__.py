"""The part of SciPy that Overt offers, each module of it found when it is first used."""

from overt.runtime.later import found_later as _found_later

__all__ = [
    "cluster",
    "fft",
    "integrate",
    "interpolate",
    "linalg",
    "ndimage",
    "optimize",
    "signal",
    "sparse",
    "spatial",
    "special",
    "stats",
]
__getattr__, __dir__ = _found_later(globals(), {name: f"{__name__}.{name}" for name in __all__})
