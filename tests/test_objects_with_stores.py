"""Classes that store as they say; loops that a method ends which changes its object."""

from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy
import pytest

import overt
import overt.numpy as np
from tests.ways import assert_every_way

Reading = namedtuple("Reading", ["level", "slope"])


class Ledger:
    """Accounts in an array; every store is counted."""

    def __init__(self, n: int) -> None:
        self.amounts, self.stores = np.zeros(n), []

    def __getitem__(self, place: Any) -> Any:
        return self.amounts[place]

    def __setitem__(self, place: Any, amount: Any) -> None:
        self.stores.append(place)
        self.amounts[place] = amount

    def move(self, source: int, target: int, amount: Any) -> None:
        self[source] -= amount
        self[target] = self[target] + 0.5 * amount

    def level(self) -> None:
        self[:2], self[2] = self[1:], self[0] * self[1]


class Named(Ledger):
    """Inherits the stores, and keeps a table too."""

    def __init__(self, n: int) -> None:
        super().__init__(n)
        self.notes: dict[str, Any] = {}

    def open(self, name: str, amount: Any) -> None:
        self[len(self.notes)] = amount
        self.notes[name] = amount * 2.0


def transfers(x):
    ledger = Ledger(3)
    ledger[1] = x
    for amount in (x, x * x, 0.3):
        ledger.move(1, 2, amount)
    ledger.level()
    return np.sum(ledger.amounts**2 * np.array([1.0, 2.0, 3.0])) + len(ledger.stores) * x


def transfers_by_hand(x):
    a = [0.0, x, 0.0]
    for amount in (x, x * x, 0.3):
        a[1] -= amount
        a[2] += 0.5 * amount
    a = [a[1], a[2], a[0] * a[1]]
    return a[0] ** 2 + 2.0 * a[1] ** 2 + 3.0 * a[2] ** 2 + 9 * x


def named_accounts(x):
    book = Named(2)
    book.open("first", x)
    book.open("second", x * x)
    return book[0] * book[1] + book.notes["second"]


class Tank:
    """Fills until it runs over."""

    def __init__(self, level: Any) -> None:
        self.level, self.spilled = level, 0.0

    def pour(self, amount: Any) -> Any:
        if self.level + amount > 1.0:
            self.spilled = self.spilled + self.level + amount - 1.0
            self.level = 1.0
            return True
        self.level = self.level + 0.9 * amount
        return False

    def is_over(self, amount: Any) -> Any:
        if self.level < 0.9:
            self.level = self.level + amount
        return self.level * amount > 0.6


def poured(x):
    tank, poured = Tank(x), 0
    for amount in numpy.array([0.3, 0.4, 0.5, 0.6]):
        poured += 1
        if tank.pour(amount * x):
            break
    return tank.level * tank.spilled + tank.level * poured + amount


def only_poured(x):
    tank = Tank(0.1 * x)
    for amount in numpy.array([0.3, 0.4, 0.5, 0.6]):
        if tank.is_over(amount * x):
            break
    return tank.level**2


@dataclass
class Cell:
    """Charges, and fires above one."""

    leak: Any
    charge: Any = 0.0

    def receives(self, current: Any) -> Any:
        self.charge = self.leak * self.charge + current
        fires = self.charge > 1.0
        if fires:
            self.charge = self.charge - 1.0
        return fires


def cells(x):
    first, second = Cell(x), Cell(0.8)
    for current in numpy.array([0.5, 0.9, 0.8]):
        if first.receives(current * x):
            second.receives(0.7 + 0.1 * x)
    return first.charge + second.charge * 2.0 * x


def readings(x):
    reading = Reading(x, slope=x * x)
    table = dict(zip(Reading._fields, reading, strict=True))
    later, earlier = reversed(reading)
    return table["level"] * table["slope"] + 3.0 * later - earlier


def accounts_by_hand(x):
    return x**3 + 2.0 * x**2


BY_HAND = {transfers: transfers_by_hand, named_accounts: accounts_by_hand}
PROGRAMS = [transfers, named_accounts, poured, only_poured, cells, readings]


@pytest.mark.parametrize("f", PROGRAMS)
def test_every_way(f: Callable[[Any], Any]) -> None:
    assert_every_way(f, (0.47, 1.73), BY_HAND.get(f, f))


@pytest.mark.parametrize("f", list(BY_HAND))
def test_statement_by_statement(f: Callable[[Any], Any]) -> None:
    with overt.disable_jit():
        assert numpy.allclose(overt.jit(f)(0.7), BY_HAND[f](0.7))
