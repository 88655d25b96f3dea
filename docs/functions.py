"""Writes docs/functions.md: what holds for each function of `overt.numpy`, from its declaration.

python docs/functions.py > docs/functions.md
"""

from __future__ import annotations

import types
from typing import Any

import overt.numpy as np
from overt.runtime.primitive import Composite, Primitive, Rule

HEAD = """# Functions of `overt.numpy`

This page is written by `docs/functions.py` from the declarations themselves, and a test compares
the two. *Derivative*: "rule" is a rule of its own (linear functions are their own tangent), "parts"
means that the derivative is that of the functions it is made of, "zero" that it is zero wherever
there is one, "none" that the result is no array of floats. *Batches*: what `vmap` does with it:
each element on its own, a rule of its own, or the batches of its parts. *Checked*: what
`tests/test_table.py` compares: values with NumPy; derivatives of both modes with finite
differences; batches with a loop, compiled.
"""


def rule_of(f: Any) -> Rule | None:
    rule = getattr(f, "rule", None)
    return rule if isinstance(rule, Rule) else None


def derivative(f: Any, checked: str) -> str:
    rule = rule_of(f)
    if rule is not None and rule.zero:
        return "zero"
    if rule is not None and rule.linear:
        return "rule, linear"
    if rule is not None and (rule.vjp is not None or rule.jvp is not None):
        return "rule"
    return "parts" if "derivatives" in checked or isinstance(f, Composite) else "none"


def batches(f: Any) -> str:
    if isinstance(f, Primitive):
        return "elementwise" if f.elementwise else "rule"
    return "rule" if isinstance(f, Composite) and f.batch is not None else "parts"


def checked(case: str) -> str:
    kind = "" if case.startswith("np.") else case.partition(" ")[0]
    if kind == "d":
        return "value, derivatives, batches"
    if kind == "v":
        return "value, batches"
    return "value" if case.startswith("np.") else case


def page(cases: dict[str, str], same: dict[str, str]) -> str:
    """The text of docs/functions.md."""
    lines = [HEAD, "| function | derivative | batches | checked |", "|---|---|---|---|"]
    for name in sorted(np.__all__):
        f = getattr(np, name)
        if not callable(f) or isinstance(f, type | types.ModuleType):
            continue
        if name in same:
            lines.append(f"| `{name}` | as `{same[name]}` | | |")
            continue
        found = checked(cases[name])
        lines.append(f"| `{name}` | {derivative(f, found)} | {batches(f)} | {found} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    import sys
    from pathlib import Path

    sys.path.insert(0, str(Path(__file__).parent.parent))
    from tests.table import CASES, SAME

    sys.stdout.write(page(CASES, SAME))
