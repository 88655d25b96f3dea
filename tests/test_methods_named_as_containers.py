"""Methods of the user's objects with the names that methods of containers have."""

from dataclasses import dataclass
from typing import Any

import pytest

import overt
from tests.ways import assert_every_way

pytestmark = pytest.mark.usefixtures("quiet_x64")


@overt.tree_util.register_dataclass
@dataclass
class Synapse:
    weight: Any
    trace: Any

    def update(self, spike):
        if self.trace > 1.0:
            return Synapse(self.weight + spike, self.trace)
        return Synapse(self.weight * spike, self.trace + spike)


class Account:
    def __init__(self, held):
        self.held = held

    def add(self, amount):
        return Account(self.held + amount if amount > 0.5 else self.held * amount)

    def pop(self):
        return self.held**2


def objects_in_a_dictionary(x):
    synapses = {"in": Synapse(x, 0.5), "out": Synapse(2.0 * x, 1.5)}
    for spike in (0.4, 0.9, 0.3):
        synapses = {name: s.update(spike * x) for name, s in synapses.items()}
    return synapses["in"].weight * synapses["out"].weight


def objects_in_a_list(x):
    synapses = [Synapse(x, 0.5), Synapse(2.0 * x, 1.5)]
    for spike in (0.4, 0.9, 0.3):
        synapses = [s.update(spike * x) for s in synapses]
    return synapses[0].weight * synapses[1].weight


def objects_of_a_plain_class(x):
    accounts = [Account(x), Account(2.0 * x)]
    accounts = [a.add(x * k) for k, a in enumerate(accounts)]
    return sum(a.add(0.1).held for a in accounts) + accounts[0].pop()


@pytest.mark.parametrize(
    "f", [objects_in_a_dictionary, objects_in_a_list, objects_of_a_plain_class]
)
def test_comprehensions(f):
    assert_every_way(f)
