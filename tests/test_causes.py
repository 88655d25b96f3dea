"""What an exception has once it was raised: its cause, and what it says."""

from __future__ import annotations

from typing import Any

import pytest

import overt
from tests.ways import assert_every_way


class Failed(Exception):
    def __init__(self, said: str, value: Any) -> None:
        super().__init__(said)
        self.value = value


def of_tables(x: Any) -> Any:
    def inner(k: int) -> Any:
        try:
            return [x, x * x][k]
        except IndexError as error:
            raise Failed(f"no {k}", k) from error

    total = 0.0
    for k in range(4):
        try:
            total += inner(k)
        except Failed as error:
            total += error.value * x + len(str(error)) * 0.1
            if error.__cause__ is None:
                total += 100.0
        else:
            total *= 1.5
        finally:
            total += 0.25
    return total


def test_every_way() -> None:
    assert_every_way(of_tables)


def test_a_compiled_program_raises_with_the_cause() -> None:
    def f(x: Any) -> Any:
        if x < 0.0:
            cause = KeyError("a")
            raise ValueError("negative") from cause
        return x

    with pytest.raises(ValueError, match="negative") as raised:
        overt.jit(f)(-1.0)
    assert isinstance(raised.value.__cause__, KeyError)
