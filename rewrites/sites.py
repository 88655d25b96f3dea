"""Sites: the objects of a function, known by the expression that makes them or brings them.

What an object holds, in which of its attributes, and how much of it a name stands for.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from overt.rewrites import core
from overt.rewrites.core import Function

FRESH, DERIVING, PASSING, HOLDING, VIEWING, COPYING, CHANGES, MAKING, UNKNOWN = (
    "fresh deriving passing holding viewing copying changes making unknown".split()
)
ITEMS = ""  # the field of what a container holds in any place
DEPTH = 4  # of what parameters hold; deeper things are one
DEEP = "deep"  # what is made in calls of calls of calls
WHOLE, PART, ITEM, MAYBE = range(4)  # MAYBE the whole of it


class Ref(NamedTuple):
    """An object, a part of its memory (`a[1:]`, `a.T`), or an item if it is an array (`a[i]`).

    `MAYBE` is said of what an unknown function may give back.
    """

    site: Any
    view: int = WHOLE


Refs = frozenset[Ref]
NOTHING: Refs = frozenset()


class Change(NamedTuple):
    """A change of an object; of what an attribute holds, with the objects whose attribute it is."""

    ref: Ref
    owners: frozenset[Any] = frozenset()


class Call(NamedTuple):
    """A call of an object, with the objects that it is given."""

    callee: Ref
    args: tuple[Refs, ...]


class Known:
    """What is known of callees, beside the function's own text."""

    steps: list[int]  # how many objects of callees may still be looked at

    def kind(self, call: ast.Call) -> str:
        """What the result shares with what the call is given."""
        return UNKNOWN

    def callees(self, call: ast.Call) -> list[tuple[Function, int]]:
        """The functions that it surely runs one of; their first parameters to be given."""
        return []

    def functions(self, node: ast.expr) -> list[tuple[Function, int]]:
        """The functions that a name of the module, or a member, stands for or holds."""
        return []

    def data(self, name: str) -> str:
        """What a name outside of the function brings: "container", "object", or "" for else."""
        return ""

    def summary(self, function: Function) -> Summary:
        return Summary()


@dataclass
class Summary:
    """What a call of a function does, in terms of its parameters' sites."""

    result: Refs = NOTHING
    held: dict[tuple[Any, str], Refs] = field(default_factory=dict)
    changed: dict[Ref, bool] = field(default_factory=dict)  # surely, or only if it is an array
    calls: list[Call] = field(default_factory=list)  # of what the parameters bring
    twins: frozenset[Any] = frozenset()
    changers: dict[Any, Refs] = field(default_factory=dict)  # closures that change what they see
    params: tuple[core.Param, ...] = ()
    parts: tuple[Refs, ...] = ()  # of a result that is a tuple


class Objects:
    """The objects of one function: what names stand for them, what they hold, which change."""

    def __init__(self) -> None:
        self.points: dict[str, Refs] = {}
        self.held: dict[Any, dict[str, Refs]] = {}  # by object and place in it
        self.changed: dict[Change, bool] = {}
        self.functions: dict[Any, tuple[Function, Refs | None]] = {}  # with a bound first argument
        self.changers: dict[Any, Refs] = {}  # methods that change containers, as values
        self.calls: dict[tuple[Any, Any], Call] = {}
        self.running: set[Any] = set()  # functions whose call is being looked at
        self.plain: set[Any] = set()  # sites of arrays and numbers, which hold nothing
        self.containers: set[Any] = set()  # sites of what is no array
        self.repeated: set[Any] = set()  # sites of several objects: in a loop or comprehension
        self.parts: dict[Any, list[Refs]] = {}  # of calls that give a tuple
        self.twins: set[Any] = set()  # containers that may hold one object in several places
        self.stores: dict[tuple[Any, Any], set[Any]] = {}  # of an object in a container
        self.arrays: set[Any] = set()  # sites of what surely is an array, if of no axes
        self.partials: set[Any] = set()  # sites of objects that are built from their arguments
        self.derivatives: set[Any] = set()  # sites of functions whose results are new
        self.called: set[int] = set()  # callees
        self.now = 0  # statements before this one; of a loop, all are one
        self.times: dict[int, int] = {}  # of statements, by their identity
        self.since: dict[tuple[Any, Any], int] = {}  # when a container first holds an object
        self.loops = 0
        self.given: set[str] = set()  # names from outside
        self.bound: set[str] = set()  # names of comprehensions
        self.grown = True

    def give(self, name: str, refs: Refs) -> None:
        old = self.points.get(name, NOTHING)
        if not refs <= old:
            self.points[name] = old | refs
            self.grown = True

    def hold(self, site: Any, place: str, refs: Refs) -> None:
        if site in self.plain:
            return
        places = self.held.setdefault(site, {})
        old = places.get(place, NOTHING)
        if not refs <= old:
            for r in refs:
                self.since[site, r.site] = min(self.since.get((site, r.site), self.now), self.now)
            places[place] = old | refs
            self.grown = True

    def change(
        self, refs: Iterable[Ref], surely: bool = True, owners: frozenset[Any] = frozenset()
    ) -> None:
        for r in refs:
            change = Change(r, owners)
            surely = surely and not (is_made(r.site) and r.site[1] == DEEP)
            if not self.changed.get(change, False) and (surely or change not in self.changed):
                self.changed[change] = surely
                self.grown = True

    def container(self, site: Any, refs: Refs, place: str = ITEMS, *parts: Refs) -> Refs:
        """A new container; of `parts`, no two may be one object."""
        self.containers.add(site)
        if self.loops:
            self.repeated.add(site)
        self.hold(site, place, refs)
        for r in refs:
            self.stores.setdefault((site, r.site), set()).add(site)
        if not disjoint(parts):
            self.twin(site)
        return frozenset([Ref(site)])

    def twin(self, site: Any) -> None:
        if site not in self.twins:
            self.twins.add(site)
            self.grown = True

    def twin_as(self, site: Any, refs: Refs) -> None:
        """A container with the items of others is one like them."""
        if any(r.site in self.twins for r in refs):
            self.twin(site)

    def store(self, site: Any, refs: Refs, by: int) -> None:
        """A statement puts an object into a container, which may hold it already."""
        for r in refs:
            places = self.stores.setdefault((site, r.site), set())
            places.add(by)
            if len(places) > 1 or self.loops and r.site not in self.repeated:
                self.twin(site)

    def new(self, site: Any) -> Refs:
        """A new array or number."""
        self.plain.add(site)
        if self.loops:
            self.repeated.add(site)
        return frozenset([Ref(site)])

    def inner(self, site: Any, place: str) -> Refs:
        """What an object holds at a place, so far as is known."""
        places = self.held.get(site, {})
        found = places.get(place, NOTHING) | places.get(ITEMS, NOTHING)
        if is_given(site):
            found |= {Ref(site if depth(site) >= DEPTH else ("inside", site, place))}
        return found

    def items(self, refs: Refs) -> Refs:
        """What may be read from objects with an index."""
        found: set[Ref] = set()
        for r in refs:
            for place in self.held.get(r.site, ()):
                found |= self.inner(r.site, place)
            if r.site not in self.containers:
                found.add(Ref(r.site, ITEM))
            if r.site not in self.containers or is_given(r.site):
                found |= self.inner(r.site, ITEMS)
        return frozenset(found)

    def item(self, refs: Refs, index: int) -> Refs:
        """What may be read from objects with a known index."""
        found: set[Ref] = set()
        for r in refs:
            placed = r.site in self.containers and str(index) in self.held.get(r.site, ())
            found |= self.inner(r.site, str(index)) if placed else self.items(frozenset([r]))
        return frozenset(found)

    def reach(
        self, refs: Iterable[Ref], without: Collection[Any] = (), until: int | None = None
    ) -> dict[Any, int]:
        """All sites that may be reached from objects, with how much of each.

        Not through the objects `without`, nor through what is only held after `until`.
        """
        found: dict[Any, int] = {}
        pending = list(refs)
        while pending:
            r = pending.pop()
            if r.site in without:
                continue
            if r.site in found and (found[r.site] <= r.view):
                continue
            found[r.site] = r.view
            for held in self.held.get(r.site, {}).values():
                pending += [h for h in held if until is None or self.since[r.site, h.site] <= until]
        return found

    def places_of(self, sites: Iterable[Any], root: Refs) -> int:
        """In how many places an object may be held by what can be reached from another one."""
        wanted = set(sites)
        around = self.reach(root)
        count = 0
        for site in around:
            several = site in self.repeated and not wanted <= self.repeated
            for refs in self.held.get(site, {}).values():
                if any(r.site in wanted for r in refs):
                    count += 2 if several or site in self.twins else 1
        return count


def is_given(site: Any) -> bool:
    """Whether an object comes from outside of the function."""
    return isinstance(site, tuple) and site[0] in ("given", "inside")


def holders_of(site: Any) -> list[Any]:
    """The objects from outside that hold one, or hold its holders."""
    return [site[1], *holders_of(site[1])] if site[0] == "inside" else []


def is_attribute_of_given(site: Any) -> bool:
    """Whether an attribute of an object from outside of the function holds an object."""
    if not is_given(site) or site[0] == "given":
        return False
    return site[2].isidentifier() or is_attribute_of_given(site[1])


def disjoint(parts: Iterable[Refs]) -> bool:
    """Whether no two of several objects may be one."""
    seen: set[Any] = set()
    for refs in parts:
        sites = {r.site for r in refs}
        if sites & seen:
            return False
        seen |= sites
    return True


def is_made(site: Any) -> bool:
    """Whether an object is made by a function that is called, at a place of the text."""
    return isinstance(site, tuple) and len(site) == 2 and isinstance(site[0], tuple)


def depth(site: Any) -> int:
    return 1 + depth(site[1]) if isinstance(site, tuple) and site[0] == "inside" else 0
