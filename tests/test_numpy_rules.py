"""Every rule can be read and run: its names resolve where generated code looks for them."""

from __future__ import annotations

import builtins
import dis
import gc
import inspect
import types
from collections.abc import Iterator

import pytest

import overt.runtime
import tests.modules  # noqa: F401
from overt.runtime.primitive import REGISTRY, Composite, Rule


def declared() -> dict[str, tuple[Rule, object]]:
    """The rules of all primitives, composites and functions that carry one, by name."""
    found: dict[str, tuple[Rule, object]] = {p.name: (p.rule, p) for p in REGISTRY.values()}
    for x in gc.get_objects():
        if isinstance(x, (Composite, types.FunctionType)):
            rule = getattr(x, "rule", None)
            if isinstance(rule, Rule):
                found[f"{x.__module__}.{x.__name__}"] = rule, x
    return dict(sorted(found.items()))


RULES = declared()


def functions_of(rule: Rule) -> Iterator[types.FunctionType]:
    vjps = rule.vjp if isinstance(rule.vjp, tuple) else (rule.vjp,)
    yield from (f for f in (*vjps, rule.jvp) if f is not None)


def global_names(f: types.FunctionType) -> set[str]:
    """The names a rule's text uses: of a lambda those in its body, else its own."""
    if f.__code__.co_name != "<lambda>":
        return {f.__code__.co_name}
    return {i.argval for i in dis.get_instructions(f.__code__) if i.opname == "LOAD_GLOBAL"}


@pytest.mark.parametrize("name", [n for n, (rule, _) in RULES.items() if rule.vjp or rule.jvp])
def test_rule(name):
    rule, function = RULES[name]
    if isinstance(rule.vjp, tuple):
        assert len(rule.vjp) == len(rule.arrays), f"{name}: one rule for each of {rule.arrays}"
    parameters = {} if name.isidentifier() else inspect.signature(function).parameters
    spread = any(p.kind is p.VAR_POSITIONAL for p in parameters.values())
    static = set() if spread else set(parameters) - set(rule.arrays)
    for f in functions_of(rule):
        for used in global_names(f) - {"np"}:
            there = getattr(overt.runtime, used, None) is not None or hasattr(builtins, used)
            assert there, f"{name}: its rule uses {used}, which overt.runtime does not offer"
        own = inspect.signature(f).parameters.values()
        if any(p.kind is p.VAR_KEYWORD for p in own) or not static:
            continue
        wanted = {p.name for p in own if p.kind is p.KEYWORD_ONLY}
        assert wanted == static, f"{name}: its rule takes {wanted}, it has the parameters {static}"
