"""Functions as programs that outlive the process: exported, kept as bytes, called elsewhere."""

from overt.runtime.later import found_later as _found_later
from overt.runtime.later import places_of as _places_of

_PLACES = {
    **_places_of(
        "overt.runtime",
        {
            "dimensions": "is_symbolic_dim",
            "symbolic_shapes": "SymbolicScope symbolic_shape",
            "exported": "DisabledSafetyCheck Exported deserialize",
            "export_format": "maximum_supported_calling_convention_version "
            "minimum_supported_calling_convention_version",
            "export_trees": "register_namedtuple_serialization register_pytree_node_serialization",
        },
    ),
    **_places_of(
        "overt.transformer", {"exporting": "default_export_platform export symbolic_args_specs"}
    ),
}

__all__ = sorted(_PLACES)
__getattr__, __dir__ = _found_later(globals(), _PLACES)
