"""Transfers between host and devices, watched by `transfer_guard`."""

from __future__ import annotations

import logging
from typing import Any

from overt.runtime.config import guard_level
from overt.runtime.errors import TransferError

LOG = logging.getLogger("overt")
WAYS_OUT = {
    "host_to_device": "give it to device_put first",
    "device_to_host": "ask for it by device_get",
    "device_to_device": "move it by device_put",
}


def transferred(direction: str, what: Any, explicit: bool = False) -> None:
    """Note a transfer; explicit ones are those that the user asks for by device_put and device_get.

    Errors: TransferError where the guard of the direction forbids it.
    """
    level = guard_level(direction)
    if level == "allow" or explicit and not level.endswith("_explicit"):
        return
    text = f"{direction.replace('_', '-')} transfer of {what}"
    if level.startswith("log"):
        LOG.warning(text)
        return
    way_out = "" if explicit else f"; {WAYS_OUT[direction]}"
    raise TransferError(f"Disallowed {text} (transfer_guard is {level!r}){way_out}")
