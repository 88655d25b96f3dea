"""What a namespace of the array API standard says of itself.

Source: Python array API standard, version 2024.12, "inspection API".
"""

from __future__ import annotations

from typing import Any

import numpy

from overt.runtime import config, dtypes

__all__ = ["__array_api_version__", "__array_namespace_info__", "api_versions"]

__array_api_version__ = "2024.12"
api_versions = ("2021.12", "2022.12", "2023.12", "2024.12")

_NAMES = {
    "bool": "bool", "signed integer": "int8 int16 int32 int64",
    "unsigned integer": "uint8 uint16 uint32 uint64", "real floating": "float32 float64",
    "complex floating": "complex64 complex128",
}  # fmt: skip
_JOINED = {
    "integral": ("signed integer", "unsigned integer"),
    "numeric": ("signed integer", "unsigned integer", "real floating", "complex floating"),
}


class NamespaceInfo:
    """Devices, dtypes and capabilities of `overt.numpy`.

    >>> import overt.numpy as np
    >>> np.__array_namespace_info__().default_dtypes()["real floating"]
    dtype('float32')
    """

    def capabilities(self) -> dict[str, Any]:
        """What depends on values and works outside compiled functions, and the largest rank."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Any:
        """The device that new arrays are made on."""
        from overt.backend import client
        from overt.runtime import interop

        chosen = config.current().default_device
        return client.default_device() if chosen is None else interop.as_device(chosen)

    def devices(self) -> list[Any]:
        """All devices of this process."""
        from overt.backend import client

        return list(client.local_devices())

    def default_dtypes(self, *, device: Any = None) -> dict[str, numpy.dtype]:
        """The dtypes that Python numbers become, and that of indices."""
        return {
            "real floating": dtypes.float_type(),
            "complex floating": dtypes.complex_type(),
            "integral": dtypes.int_type(),
            "indexing": dtypes.int_type(),
        }

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, numpy.dtype]:
        """Dtypes by name, of one kind or of several; those that are turned off are left out.

        Errors: ValueError for a kind that the standard does not have.
        """
        if isinstance(kind, tuple):
            parts = [self.dtypes(kind=one) for one in kind]
            return {name: dtype for part in parts for name, dtype in part.items()}
        if kind is not None and kind not in _NAMES and kind not in _JOINED:
            raise ValueError(f"{kind!r} is no kind of dtype; one of {[*_NAMES, *_JOINED]} is")
        kinds = tuple(_NAMES) if kind is None else _JOINED.get(kind, (kind,))
        found = {n: numpy.dtype(n) for each in kinds for n in _NAMES[each].split()}
        return {n: dtype for n, dtype in found.items() if dtypes.canonicalize(dtype) == dtype}


def __array_namespace_info__() -> NamespaceInfo:  # noqa: N807
    """What this namespace says of itself: devices, dtypes, capabilities."""
    return NamespaceInfo()
