"""The one registry of primitives: each has its rules, and its example runs."""

from __future__ import annotations

import builtins
import dis
import doctest
import sys
import types

import pytest

import overt.numpy as np
import overt.runtime
import tests.modules
from overt.runtime.primitive import REGISTRY, Rule
from overt.runtime.undefined import Undefined

# Regions: their derivative is that of the code they were staged from.  LAPACK's own packed forms:
# `qr` has the derivative, these say that they have none, as in JAX.  A callback's derivative is
# for the user to give.
WITHOUT_DERIVATIVE = {
    "while_", "case_", "pure_callback", "qr_packed", "pivoted_qr_packed", "householder_product",
    "times_reflections", "hessenberg_form", "schur_form", "tridiagonal_form",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_primitive_is_complete(name):
    primitive = REGISTRY[name]
    assert primitive.__doc__, "what does it compute?"
    if not (primitive.effect or name in WITHOUT_DERIVATIVE):
        assert primitive.rule.differentiable, "no derivative: give vjp=, jvp= or zero_derivative="
        if primitive.rule.arrays:
            assert primitive.elementwise or primitive.batch, "no batching rule"
        if primitive.rule.linear:
            assert primitive.rule.vjp is not None, "linear, but without a transpose"


@pytest.mark.parametrize("name", sorted(n for n, p in REGISTRY.items() if ">>>" in p.__doc__))
def test_example_of_a_primitive(name):
    primitive = REGISTRY[name]
    ours = {k: getattr(np, k) for k in np.__all__ if not hasattr(builtins, k)}
    test = doctest.DocTestParser().get_doctest(
        primitive.__doc__, {**ours, "np": np, name: primitive}, name, None, 0
    )
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert runner.run(test).failed == 0


def names_in(code):
    """The global names that a rule and the functions inside it mention, attributes left out."""
    for part in dis.get_instructions(code):
        if part.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield part.argval
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from names_in(inner)


def test_names_in_rules_can_be_imported_by_generated_code():
    missing = set()
    for module in (sys.modules[name] for name in tests.modules.NAMES):
        for public, function in vars(module).items():
            if public.startswith("_") or function is Undefined:
                continue
            if not isinstance(getattr(function, "rule", None), Rule):
                continue
            rule = function.rule
            rules = rule.vjp if isinstance(rule.vjp, tuple) else (rule.vjp,)
            for text in (*rules, rule.jvp):
                if getattr(text, "__name__", "") != "<lambda>":
                    continue
                for name in names_in(text.__code__):
                    known = name in overt.runtime._PLACES or name in overt.runtime._HOOKS
                    if name != "np" and name in text.__globals__ and not known:
                        missing.add(f"{name} in the rule of {rule.name}")
    assert not missing, sorted(missing)


def test_names_for_generated_code_are_no_modules():
    """`overt.runtime.x` is the module x as soon as anybody has imported that."""
    modules = {name.removeprefix("overt.runtime.") for name in tests.modules.NAMES}
    assert not modules & set(overt.runtime._PLACES)
