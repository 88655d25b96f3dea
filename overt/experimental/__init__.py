"""What may still change."""

from overt.runtime.later import found_later

_PLACES = {
    "checkify": "overt.experimental.checkify",
    "jet": "overt.experimental.jet",
    "ode": "overt.experimental.ode",
    "sparse": "overt.experimental.sparse",
    "topologies": "overt.experimental.topologies",
    "disable_x64": "overt.runtime.config",
    "enable_x64": "overt.runtime.config",
    "io_callback": "overt.transformer.callbacks",
}
__all__ = [*_PLACES]
__getattr__, __dir__ = found_later(globals(), _PLACES)
