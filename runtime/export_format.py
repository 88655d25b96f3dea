"""The bytes of an exported function: a JSON header and StableHLO, checked by a digest.

    bytes    what
    14       b"overt.export\\r\\n"
    4        version of the format, little endian
    8        length of the header, little endian
    ...      header: JSON in UTF-8
    ...      payloads, one after the other; the header lists their lengths
    32       SHA-256 of everything before

Nothing in it is code that Python would run: reading a blob only parses it.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Sequence
from typing import Any

__all__ = [
    "VERSION", "maximum_supported_calling_convention_version",
    "minimum_supported_calling_convention_version", "pack", "unpack",
]  # fmt: skip

MAGIC = b"overt.export\r\n"  # a file changed by a text mode transfer is noticed at once
VERSION = 1
minimum_supported_calling_convention_version = maximum_supported_calling_convention_version = 1
_NUMBERS = struct.Struct("<IQ")
_DIGEST = 32


def pack(header: dict[str, Any], payloads: Sequence[bytes]) -> bytearray:
    """A blob of a header and payloads."""
    text = json.dumps({**header, "payloads": [len(p) for p in payloads]}).encode()
    blob = bytearray(MAGIC + _NUMBERS.pack(VERSION, len(text)) + text)
    for payload in payloads:
        blob += payload
    return blob + hashlib.sha256(blob).digest()


def unpack(blob: Any) -> tuple[dict[str, Any], list[bytes]]:
    """(header, payloads) of a blob.

    Errors: ValueError that says what is wrong with it.

    >>> unpack(b"something else")
    Traceback (most recent call last):
    ValueError: this is no exported function: it does not start as one (got b'something else')
    """
    data = bytes(blob)
    if not data.startswith(MAGIC):
        raise ValueError(
            f"this is no exported function: it does not start as one (got {data[:14]!r})"
        )
    if len(data) < len(MAGIC) + _NUMBERS.size + _DIGEST:
        raise ValueError("this exported function is cut short")
    version, length = _NUMBERS.unpack_from(data, len(MAGIC))
    if version != VERSION:
        raise ValueError(
            f"this function was exported in version {version} of the format; this Overt reads "
            f"version {VERSION}"
        )
    body, digest = data[:-_DIGEST], data[-_DIGEST:]
    if hashlib.sha256(body).digest() != digest:
        raise ValueError("this exported function is damaged: its bytes are not those written")
    start = len(MAGIC) + _NUMBERS.size
    header = json.loads(body[start : start + length])
    payloads, start = [], start + length
    for size in header["payloads"]:
        payloads.append(body[start : start + size])
        start += size
    return header, payloads
