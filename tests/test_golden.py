"""Golden files: what each pass makes of small functions, and that it behaves.

A case is a file `golden/<pass>/<idea>.py`: functions, the last being the one rewritten; a line
`# inputs: (1.0, 2.0), (3.0, 4.0)` with arguments to try; `# output`; and the text expected.
`python -m tests.test_golden` writes the present outputs into the files.
"""

from __future__ import annotations

import ast
import copy
import difflib
import json
import linecache
import os
import subprocess
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import astunparse
import numpy
import pytest

from overt.rewrites import core
from overt.rewrites.batch import batch
from overt.rewrites.emit import module_text
from overt.rewrites.forward import jvp
from overt.rewrites.lift import lift
from overt.rewrites.reverse import gradient
from overt.runtime.aval import aval_of
from overt.runtime.config import enable_x64
from overt.runtime.staging import stage
from overt.runtime.tree import tree_flatten, tree_map, tree_unflatten
from overt.transformer import load

FOLDER = Path(__file__).parent / "golden"
CASES = sorted(str(p.relative_to(FOLDER).with_suffix("")) for p in FOLDER.glob("*/*.py"))
OUTPUT = "# output\n"


class Case:
    """One golden file, read."""

    def __init__(self, name: str) -> None:
        self.name, self.path = name, FOLDER / f"{name}.py"
        text = self.path.read_text()
        self.source, _, self.expected = text.partition(OUTPUT)
        self.expected = self.expected.lstrip("\n")
        self.kind = name.partition("/")[0]

    def option(self, key: str) -> Any:
        """What a line `# key: value` says, evaluated where the functions are."""
        for line in self.source.splitlines():
            if line.startswith(f"# {key}: "):
                return eval(line.partition(": ")[2], vars(self.module()))
        return None

    def code(self) -> str:
        """The functions alone, without the lines that describe the test."""
        lines = self.source.splitlines(keepends=True)
        return "".join(
            "\n" if line.startswith(("# inputs:", "# in_axes:", "# argnums:", "# order:")) else line
            for line in lines
        )

    def module(self) -> types.ModuleType:
        return module_of(self.code(), f"<golden>/{self.name}.py")

    def function(self) -> types.FunctionType:
        return last_function(self.code(), self.module())

    def output(self) -> str:
        return module_text(self.rewritten(self.function()))

    def rewritten(self, function: types.FunctionType) -> core.Source:
        return self.passed(source_of(function))

    def passed(self, source: core.Source) -> core.Source:
        if self.kind == "lift":
            return lift(source, source_of)
        if self.kind == "batch":
            return batch(source, self.option("in_axes"), source_of)
        if self.kind == "forward":
            return jvp(source)
        if self.kind == "reverse":
            argnums = self.option("argnums") or 0
            return gradient(source, argnums) if not self.again else gradient(gradient(source), 0)
        return source

    @property
    def again(self) -> bool:
        """Whether the file shows the second derivative."""
        return self.option("order") == 2

    def inputs(self) -> list[tuple[Any, ...]]:
        return list(self.option("inputs"))


def module_of(text: str, file: str) -> types.ModuleType:
    """Text as a module, its lines known to `linecache`."""
    module = types.ModuleType("golden")
    extend(module, text, file)
    return module


def extend(module: types.ModuleType, text: str, file: str) -> None:
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), vars(module))


def last_function(text: str, module: types.ModuleType) -> types.FunctionType:
    names = [s.name for s in ast.parse(text).body if isinstance(s, ast.FunctionDef)]
    return getattr(module, names[-1])


def source_of(function: Any) -> core.Source:
    loaded = load.load(function)
    function = load.core_of(loaded)
    return core.Source((function,), loaded.namespace, load=lambda f: load.core_of(load.load(f)))


def same(found: Any, wanted: Any) -> None:
    """The same containers, the same numbers."""
    if isinstance(wanted, tuple | list):
        assert type(found) is type(wanted) and len(found) == len(wanted)
        for a, b in zip(found, wanted, strict=True):
            same(a, b)
    elif isinstance(wanted, dict):
        assert type(found) is type(wanted) and list(found) == list(wanted)
        for key in wanted:
            same(found[key], wanted[key])
    elif wanted is None or isinstance(wanted, str):
        assert found == wanted
    else:
        numpy.testing.assert_allclose(numpy.asarray(found), wanted, rtol=1e-5, atol=1e-6)


def exact(x: Any) -> Any:
    """Lists and dictionaries of numbers as they are, numbers as float64."""
    return numpy.float64(x) if isinstance(x, float) else x


def differences(function: Any, args: tuple[Any, ...], argnums: Any, order: int) -> Any:
    """The gradient by fourth-order central differences in float64."""
    if isinstance(argnums, tuple):
        return tuple(differences(function, args, n, order) for n in argnums)
    leaves, definition = tree_flatten(args[argnums])
    found = []
    for place, leaf in enumerate(leaves):
        slope = numpy.zeros(numpy.shape(leaf))
        for index in numpy.ndindex(slope.shape):

            def along(step: float, place: int = place, index: tuple[int, ...] = index) -> float:
                moved = [numpy.array(x, dtype=float) for x in leaves]
                moved[place][index] += step
                whole = list(copy.deepcopy(args))
                plain = [x if x.shape else float(x) for x in moved]
                whole[argnums] = tree_unflatten(definition, plain)
                return float(function(*whole))

            h = 1e-4 if order == 1 else 1e-3
            if order == 1:
                near, far = along(h) - along(-h), along(2 * h) - along(-2 * h)
                slope[index] = (8 * near - far) / (12 * h)
            else:
                near, far = along(h) + along(-h), along(2 * h) + along(-2 * h)
                slope[index] = (16 * near - far - 30 * along(0.0)) / (12 * h * h)
        found.append(slope)
    return tree_unflatten(definition, found)


def is_number(x: Any) -> bool:
    return isinstance(x, float | int | numpy.ndarray) and not isinstance(x, bool)


def staged(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """The function's value, with its numbers known only when the program runs."""
    leaves, definition = tree_flatten(args)
    open_places = [i for i, x in enumerate(leaves) if is_number(x)]
    made: list[Any] = []

    def flat(*values: Any) -> list[Any]:
        filled = list(leaves)
        for i, x in zip(open_places, values, strict=True):
            filled[i] = x
        results, structure = tree_flatten(function(*tree_unflatten(definition, filled)))
        made.append(structure)
        return results

    arrays = [numpy.asarray(leaves[i]) for i in open_places]
    results = stage(flat, [aval_of(x) for x in arrays]).run(arrays)
    return tree_unflatten(made[-1], results)


@pytest.fixture(scope="session")
def elsewhere() -> dict[str, str]:
    """The outputs of another process, whose hashes are different."""
    program = "import json, tests.test_golden as t; print(json.dumps(t.outputs()))"
    environment = {**os.environ, "PYTHONHASHSEED": "77"}
    root = Path(__file__).parent.parent
    found = subprocess.run(
        [sys.executable, "-c", program], env=environment, cwd=root, capture_output=True, text=True
    )
    assert not found.returncode, found.stderr
    return json.loads(found.stdout.splitlines()[-1])


def tree_difference(wanted: str, found: str) -> str:
    """Where the syntax trees differ; text alone may differ in its layout only."""
    trees = [astunparse.dump(ast.parse(text)).splitlines() for text in (wanted, found)]
    return "\n".join(difflib.unified_diff(*trees, lineterm="")) or "only the layout differs"


def outputs() -> dict[str, str]:
    return {name: Case(name).output() for name in CASES}


@pytest.mark.parametrize("name", CASES)
def test_text(name: str, elsewhere: dict[str, str]) -> None:
    case = Case(name)
    text = case.output()
    assert text == case.expected, tree_difference(case.expected, text)
    assert elsewhere[name] == text


@pytest.mark.parametrize("name", CASES)
def test_output_is_input(name: str) -> None:
    case = Case(name)
    text = case.output()
    output = output_function(case, text)
    source = source_of(getattr(output, "function", output))
    again = module_text(lift(source, source_of) if case.kind == "batch" else case.passed(source))
    compile(again, "<again>", "exec")
    if case.kind == "normalize":
        assert functions_of(again) == functions_of(text)


def functions_of(text: str) -> str:
    """A module without its imports: a module that is read again has them already."""
    return text[text.index("def ") :]


@pytest.mark.parametrize("name", CASES)
def test_behaviour(name: str) -> None:
    case = Case(name)
    with enable_x64(case.kind in ("reverse", "forward")):
        output = output_function(case, case.output())
        for args in case.inputs():
            for wanted, found in trials(case, output, args):
                same(found, wanted)


def output_function(case: Case, text: str) -> Any:
    """The main function of a generated module, among the functions of its input."""
    module = case.module()
    extend(module, text, f"<golden output {case.name}>")
    return last_function(text, module)


def trials(case: Case, output: Any, args: tuple[Any, ...]) -> Iterator[tuple[Any, Any]]:
    """Pairs of what is right and what the output gives."""
    function = case.function()
    if case.kind == "reverse":
        order = 2 if case.again else 1
        argnums = case.option("argnums") or 0
        yield differences(function, args, argnums, order), output(*map(exact, copy.deepcopy(args)))
        return
    if case.kind == "forward":
        yield along_tangents(function, output, args)
        return
    if case.kind != "batch":
        wanted = function(*copy.deepcopy(args))
        yield wanted, output(*copy.deepcopy(args))
        if case.kind == "lift":
            yield wanted, staged(output, copy.deepcopy(args))
        return
    in_axes = case.option("in_axes")
    size = next(len(a) for a, axis in zip(args, in_axes, strict=True) if axis is not None)
    found = output(*copy.deepcopy(args))
    for k in range(size):
        lane = [a if axis is None else a[k] for a, axis in zip(args, in_axes, strict=True)]
        yield function(*copy.deepcopy(lane)), tree_map(lambda x, k=k: x[k], found)


def along_tangents(function: Any, output: Any, args: tuple[Any, ...]) -> tuple[Any, Any]:
    """Value and tangent, the tangent also by fourth-order central differences in float64."""
    leaves, definition = tree_flatten(args)
    dots = [numpy.cos(numpy.arange(1.0, numpy.size(x) + 1)).reshape(numpy.shape(x)) for x in leaves]

    def moved(step: float) -> list[Any]:
        new = [numpy.asarray(x + step * dot) for x, dot in zip(leaves, dots, strict=True)]
        plain = [x if x.shape else float(x) for x in new]
        return tree_flatten(function(*tree_unflatten(definition, plain)))[0]

    h = 1e-4
    slopes = [
        (8 * (a - b) - (c - d)) / (12 * h)
        for a, b, c, d in zip(moved(h), moved(-h), moved(2 * h), moved(-2 * h), strict=True)
    ]
    value = function(*copy.deepcopy(args))
    wanted = value, tree_unflatten(tree_flatten(value)[1], slopes)
    tangents = map(exact, tree_unflatten(definition, dots))
    return wanted, output(*map(exact, copy.deepcopy(args)), *tangents)


if __name__ == "__main__":
    for name in CASES:
        case = Case(name)
        case.path.write_text(f"{case.source}{OUTPUT}\n\n{case.output()}")
