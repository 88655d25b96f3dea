"""The command line: `overt grad model.py:loss -o loss_grad.py`, and looking at what Overt does.

overt grad|value_and_grad|jvp|vjp|jacfwd|jacrev|hessian|vmap|jit FILE.py:FUNCTION
                                 generated code; joined by +, such as vmap+grad or jit+jvp
overt show FILE.py:FUNCTION      the function as the passes see it
overt diff grad FILE.py:FUNCTION the original beside the generated code
overt hlo FILE.py:FUNCTION --args 'f32[8,3]' i32      the staged program
overt compile --target cpu|cuda:h200|tpu:v5e:2x2 FILE.py:FUNCTION --args 'f32[8,3]'
                                 the program for a chip, its cost and memory; also compile+grad
overt check FILE.py              what cannot be rewritten, and why
overt port FILE.py               a JAX script as one for Overt, and the names that Overt lacks
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

from overt import __version__
from overt.rewrites.refusal import Refusal

TRANSFORMATIONS = (
    "grad", "value_and_grad", "jvp", "vjp", "jacfwd", "jacrev", "hessian", "vmap", "jit",
)  # fmt: skip
TITLES = {
    "grad": "Gradient", "value_and_grad": "Value and gradient", "jvp": "Derivative along tangents",
    "vjp": "Pullback", "jacfwd": "Jacobian by forward mode", "jacrev": "Jacobian by reverse mode",
    "hessian": "Hessian", "vmap": "Batched form", "jit": "Lifted form",
}  # fmt: skip


class Mistake(Exception):
    """Something the user can put right; shown without a traceback."""


def main(arguments: list[str] | None = None) -> int:
    """Run a command; the exit status."""
    given = sys.argv[1:] if arguments is None else arguments
    try:
        return run(given)
    except Mistake as mistake:
        print(f"overt: {mistake}", file=sys.stderr)
        return 2
    except Refusal as refusal:
        print(f"overt: {refusal}", file=sys.stderr)
        return 1


def run(arguments: list[str]) -> int:
    options = parser().parse_args(arguments)
    if options.command == "check":
        return check(options.target[0])
    if options.command == "port":
        return ported(options.target[0], options.output)
    steps = options.command.split("+")
    if options.command == "diff":
        if len(options.target) != 2:
            raise Mistake("diff needs a transformation and a function: overt diff grad FILE.py:f")
        steps = ["diff", *options.target[0].split("+")]
    elif len(options.target) != 1:
        raise Mistake(f"expected one FILE.py:FUNCTION, got {' '.join(options.target)}")
    head = steps[0] if steps[0] in ("show", "diff", "hlo", "compile") else ""
    unknown = [s for s in steps[1 if head else 0 :] if s not in TRANSFORMATIONS]
    if unknown:
        raise Mistake(
            f"unknown command {unknown[0]!r}; known: {', '.join(TRANSFORMATIONS)}, show, diff, "
            "hlo, compile, check, port, and compositions such as vmap+grad"
        )
    if head in ("hlo", "compile"):  # neither runs anything, so an accelerator is left alone
        os.environ.setdefault("OVERT_PLATFORMS", "cpu")
    function, path = find(options.target[-1])
    if head in ("hlo", "compile"):
        write(program(head, function, steps[1:], options), options.output)
        return 0
    source = transform(function, steps[1 if head else 0 :], options)
    if head == "diff":
        write(side_by_side(function, source), options.output)
        return 0
    from overt.transformer.modules import standalone

    write(standalone(source, title(steps, options, path)), options.output)
    return 0


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="overt", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("command", help="a transformation, several joined by +, or a command")
    made.add_argument("target", nargs="+", metavar="FILE.py:FUNCTION")
    made.add_argument("--argnums", default="0", help="arguments to differentiate, such as 0,1")
    made.add_argument("--in-axes", default="0", help="batched axes, such as 0,None")
    made.add_argument("--has-aux", action="store_true", help="the function returns (value, aux)")
    made.add_argument(
        "--args", nargs="*", default=[],
        help="for hlo and compile: f32[8,3], i32[], literals, or containers of them",
    )  # fmt: skip
    made.add_argument(
        "--target", dest="chip", default="cpu", help="for compile: cpu, cuda:h200, tpu:v5e:2x2"
    )
    made.add_argument("-o", "--output", help="write to this file instead of the terminal")
    made.add_argument("--version", action="version", version=f"overt {__version__}")
    return made


def write(text: str, output: str | None) -> None:
    if output is None:
        print(text, end="" if text.endswith("\n") else "\n", flush=True)
        return
    try:
        Path(output).write_text(text, "utf-8")
    except OSError as error:
        raise Mistake(f"{output} cannot be written: {error.strerror}") from None


# --- the user's function


def find(target: str) -> tuple[Any, str]:
    """The function that FILE.py:FUNCTION names, and its file."""
    path, colon, name = target.rpartition(":")
    if not colon or not name:
        raise Mistake(f"expected FILE.py:FUNCTION, got {target!r}")
    module = load_module(path)
    found: Any = module
    for part in name.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise Mistake(f"there is no function {name!r} in {path}") from None
    if not callable(found):
        raise Mistake(f"{name!r} in {path} is not a function but a {type(found).__name__}")
    return found, path


def load_module(path: str) -> Any:
    """Import a file by its path."""
    file = Path(path)
    if not file.is_file():
        raise Mistake(f"there is no file {path!r}")
    folder = str(file.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        raise Mistake(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        raise Mistake(f"{path}:{error.lineno}: {error.msg}") from None
    except Exception as error:
        raise Mistake(f"{path} cannot be imported: {type(error).__name__}: {error}") from None
    return module


# --- what is asked for


def numbers(text: str, what: str) -> Any:
    """`0`, `0,1` or `0,None` as an int or a tuple."""
    try:
        found = ast.literal_eval(f"({text})")
    except (ValueError, SyntaxError):
        raise Mistake(f"{what} must be numbers such as 0 or 0,1, got {text!r}") from None
    parts = found if isinstance(found, tuple) else (found,)
    if not all(isinstance(p, int) or p is None for p in parts):
        raise Mistake(f"{what} must be numbers such as 0 or 0,1, got {text!r}")
    return found


def applied(function: Any, steps: list[str], options: argparse.Namespace) -> Any:
    """The function with transformations applied, the last one first."""
    import overt
    from overt.transformer.shown import Pulled, Tangent

    argnums = numbers(options.argnums, "--argnums")
    axes = numbers(options.in_axes, "--in-axes")
    for step in reversed(steps):
        if step in ("grad", "value_and_grad"):
            function = getattr(overt, step)(function, argnums=argnums, has_aux=options.has_aux)
        elif step == "vmap":
            function = overt.vmap(function, in_axes=axes)
        elif step in ("hessian", "jacfwd", "jacrev"):
            function = getattr(overt, step)(function, argnums=argnums)
        elif step == "jvp":
            function = Tangent(function)
        elif step == "vjp":
            if step is not steps[0]:
                raise Mistake("vjp gives two functions, so it can only come first in a composition")
            function = Pulled(function)
        else:
            function = overt.jit(function)
    return function


def transform(function: Any, steps: list[str], options: argparse.Namespace) -> Any:
    """The source that the transformations make of a function."""
    from overt.transformer import transformed

    if not steps:
        return transformed.source_of(function)
    return applied(function, steps, options).printed_source()


def title(steps: list[str], options: argparse.Namespace, path: str) -> str:
    """What a generated module says of itself."""
    target = options.target[-1]
    name = target.rpartition(":")[2]
    kinds = [TITLES.get(s, "") for s in steps if s in TITLES]
    what = " of the ".join(k if i == 0 else k.lower() for i, k in enumerate(kinds)) or "Core form"
    extra = ""
    if options.argnums != "0":
        extra += f" --argnums {options.argnums}"
    if options.in_axes != "0":
        extra += f" --in-axes {options.in_axes}"
    if options.has_aux:
        extra += " --has-aux"
    file = Path(path).name
    return (
        f"{what} of `{name}` in {file}.\n\n"
        f"Generated by Overt {__version__}: overt {options.command} {file}:{name}{extra}\n"
    )


def side_by_side(function: Any, source: Any) -> str:
    """The user's lines beside the generated ones."""
    from overt.rewrites.emit import module_text
    from overt.transformer.diff import beside
    from overt.transformer.load import load
    from overt.transformer.transformed import target_of

    origins: list[Any] = []
    text = module_text(source, "", origins)
    base = target_of(function).function
    if base is None:
        raise Mistake("only a Python function can be shown beside its generated code")
    loaded = load(base)
    last = loaded.node.end_lineno or loaded.node.lineno
    lines = {n: loaded.file.lines[n - 1] for n in range(loaded.node.lineno, last + 1)}
    width = shutil.get_terminal_size((160, 40)).columns
    generated = text.splitlines()
    start = next((i for i, t in enumerate(generated) if t.startswith("def ")), 0)
    return beside(lines, generated[start:], origins[start:], width)


ARRAY = re.compile(
    r"\b(bf16|pred|bool|[fiuc]\d+|float\d+|int\d+|uint\d+|complex\d+)(?:\[([\d, ]*)\]|\b(?!\[))"
)
SHORT = {"f": "float", "i": "int", "u": "uint", "c": "complex"}


def parse_argument(text: str) -> Any:
    """`f32[8,3]` as a shape and dtype, also inside containers; else a Python literal.

    >>> parse_argument("f32[8,3]")
    ShapeDtypeStruct(shape=(8, 3), dtype=float32)
    >>> parse_argument("{'w': f32[2], 'n': (i32, 3)}")["n"]
    (ShapeDtypeStruct(shape=(), dtype=int32), 3)
    """
    kinds: list[Any] = []

    def place(found: re.Match) -> str:
        kinds.append(parse_kind(*found.groups()))
        return f"b'{len(kinds) - 1}'"

    try:
        tree = ast.literal_eval(ARRAY.sub(place, text.strip()))
    except (ValueError, SyntaxError):
        raise Mistake(f"an argument is written like f32[8,3], i32 or 2.5; got {text!r}") from None
    from overt.runtime.tree import tree_map

    return tree_map(lambda x: kinds[int(x)] if type(x) is bytes else x, tree)


def parse_kind(dtype: str, dims: str | None) -> Any:
    """A dtype as HLO writes it and sizes, as a shape and dtype."""
    from overt.transformer.stages import ShapeDtypeStruct

    if dtype == "bf16":
        import ml_dtypes

        kind: Any = ml_dtypes.bfloat16
    elif dtype in ("pred", "bool"):
        kind = bool
    else:
        letter, digits = re.fullmatch(r"([a-z]+)(\d+)", dtype).groups()  # type: ignore[union-attr]
        kind = SHORT.get(letter, letter) + digits
    shape = tuple(int(d) for d in (dims or "").split(",") if d.strip())
    try:
        return ShapeDtypeStruct(shape, kind)
    except TypeError:
        raise Mistake(f"there is no dtype {dtype!r}") from None


def program(head: str, function: Any, steps: list[str], options: argparse.Namespace) -> str:
    """The program for arguments of the given kinds: StableHLO, or compiled for a target."""
    import overt

    arguments = [parse_argument(text) for text in options.args]
    function = applied(function, steps, options)
    try:
        if head == "hlo":
            return overt.jit(function).lower(*arguments).as_text()
        from overt.transformer.targets import compiled_for, report

        return report(compiled_for(function, arguments, options.chip), options.chip)
    except Refusal:
        raise
    except (TypeError, ValueError, NotImplementedError, RuntimeError) as error:
        notes = "\n".join(getattr(error, "__notes__", ()))
        kind = "staged" if head == "hlo" else "compiled"
        raise Mistake(f"the program cannot be {kind}: {error}\n{notes}".rstrip()) from None


def check(path: str) -> int:
    """Report on every function of a file; 1 if one cannot be rewritten."""
    from overt.transformer.check import check_file

    if not Path(path).is_file():
        raise Mistake(f"there is no file {path!r}")
    try:
        findings = check_file(path)
    except SyntaxError as error:
        raise Mistake(f"{path}:{error.lineno}: {error.msg}") from None
    for line, name, refusal in findings:
        print(f"{path}:{line}: {name}: {'ok' if refusal is None else 'refused'}")
        if refusal is not None:
            print("    " + str(refusal).replace("\n", "\n    "))
    refused = sum(f.refusal is not None for f in findings)
    print(f"{len(findings) - refused} of {len(findings)} functions can be rewritten")
    return 1 if refused else 0


def ported(path: str, output: str | None) -> int:
    """Write a JAX script with Overt's names; 1 if it uses some that Overt lacks."""
    from libcst import ParserSyntaxError

    from overt.transformer.port import port

    try:
        text, missing = port(Path(path).read_text("utf-8"))
    except OSError as error:
        raise Mistake(f"{path} cannot be read: {error.strerror}") from None
    except ParserSyntaxError as error:
        raise Mistake(f"{path}:{error.editor_line}: {error.message}") from None
    write(text, output)
    for name in missing:
        print(f"{path}:{name.line}: Overt has no {name.name}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
