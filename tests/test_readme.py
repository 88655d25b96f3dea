"""The pages run: README and docs are what they say, or this fails.

The Python blocks of a page, one after the other, are one file: `tour.py` for the README, `PAGE.py`
for `docs/PAGE.md`. A block whose first line is `# NAME.py` is written to that file instead. Shell
blocks run in the same folder, but for those that install. A `text` block is what the block before
it prints. `python -m tests.test_readme` writes the present outputs into the pages.
"""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import io
import linecache
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import overt.runtime
from overt.rewrites.expressions import NOT_SUPPORTED

TOP = Path(__file__).parent.parent
PAGES = {"README.md": "tour"} | {f"docs/{p.name}": p.stem for p in (TOP / "docs").glob("*.md")}
DECISIONS = [f"docs/decisions/{p.name}" for p in (TOP / "docs/decisions").glob("*.md")]
LANGUAGE = TOP / "docs/language.md"
API = TOP / "docs/api.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"# (\w+\.py)\n")


class Block(NamedTuple):
    """A fenced block of a page: its language, its text and where the text is in the page."""

    language: str
    text: str
    start: int
    end: int


class Page:
    """A page, its blocks run in order in one folder."""

    def __init__(self, name: str, folder: Path) -> None:
        self.path, self.folder = TOP / name, folder
        self.file = folder / f"{PAGES[name]}.py"
        self.text = self.path.read_text()
        self.names: dict[str, Any] = {"__name__": PAGES[name], "__file__": str(self.file)}
        self.code = ""
        self.blocks = [Block(m[1], m[2], *m.span(2)) for m in BLOCK.finditer(self.text)]

    def outputs(self) -> list[tuple[Block, str]]:
        """Each `text` block with what the block before it printed."""
        found, printed = [], ""
        for block in self.blocks:
            if block.language == "text":
                found.append((block, printed))
            elif block.language == "python":
                printed = self.run_python(block.text)
            elif block.language == "sh" and "pip install" not in block.text:
                printed = self.run_shell(block.text)
        return found

    def run_python(self, text: str) -> str:
        """Run a block as the next lines of the page's file, or write the file that it names."""
        if named := FILE.match(text):
            (self.folder / named[1]).write_text(text[named.end() :].lstrip("\n"))
            return ""
        before = self.code.count("\n")
        self.code += text + "\n"
        self.file.write_text(self.code)
        linecache.checkcache(str(self.file))
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            code = compile("\n" * before + text, str(self.file), "exec", dont_inherit=True)
            exec(code, self.names)
        return self.plain(printed.getvalue())

    def run_shell(self, text: str) -> str:
        """Run a shell block; what it prints, errors included."""
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["sh", "-c", text],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=self.folder,
            env={**os.environ, "PATH": path},
        )
        return self.plain(done.stdout)

    def plain(self, printed: str) -> str:
        """The text without the folder that the page happens to run in."""
        return printed.replace(f"{self.folder}{os.sep}", "").rstrip() + "\n"


@pytest.mark.parametrize("name", PAGES)
def test_page(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for block, printed in Page(name, tmp_path).outputs():
        assert printed == block.text, "if this is meant: python -m tests.test_readme"


@pytest.mark.parametrize("name", [*PAGES, *DECISIONS])
def test_links(name):
    page = TOP / name
    for target in re.findall(r"\]\(([^)#:]+)[)#]", page.read_text()):
        assert (page.parent / target).exists(), target


def said(node: ast.expr) -> str:
    """The text of an argument; `…` for what is only known when it is said."""
    if isinstance(node, ast.JoinedStr):
        return "".join(str(v.value) if isinstance(v, ast.Constant) else "…" for v in node.values)
    return str(node.value) if isinstance(node, ast.Constant) else ""


def refusals() -> str:
    """The reasons and ways out in the code, as a list."""
    found = set()
    for folder in ("rewrites", "transformer"):
        for path in (TOP / folder).glob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if not isinstance(node, ast.Call):
                    continue
                name = getattr(node.func, "id", getattr(node.func, "attr", ""))
                first = {"Refusal": 0, "refuse": 1}.get(name)
                if first is not None:
                    given = [said(a) for a in node.args[first : first + 2]] + ["", ""]
                    found.add((given[0], given[1]))
    lines = [f"- {reason}. {way_out}".rstrip() for reason, way_out in sorted(found) if reason]
    return "\n".join(lines) + "\n"


def kinds() -> str:
    """What `NOT_SUPPORTED` holds, as a list."""
    return "".join(f"- {kind}\n" for kind in sorted(set(NOT_SUPPORTED.values())))


def section(text: str, name: str) -> tuple[int, int]:
    """Where the written part of a page is."""
    head, tail = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    return text.index(head) + len(head), text.index(tail)


@pytest.mark.parametrize(("name", "written"), [("refusals", refusals), ("kinds", kinds)])
def test_refusals(name, written):
    text = LANGUAGE.read_text()
    assert text[slice(*section(text, name))] == written(), "run python -m tests.test_readme"


def api() -> str:
    """What `docs/api.py` writes."""
    spec = importlib.util.spec_from_file_location("api_page", TOP / "docs/api.py")
    assert spec and spec.loader
    generator = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generator)
    return generator.page()


def test_page_of_public_names_is_what_its_generator_writes():
    assert API.read_text() == api(), "run python -m tests.test_readme docs/api.md"


def test_every_page_is_in_the_index():
    index = (TOP / "docs/index.md").read_text()
    for name in PAGES:
        assert name in ("README.md", "docs/index.md") or f"({Path(name).name})" in index, name


def test_names_of_generated_code_exist():
    table = LANGUAGE.read_text().partition("## Names that generated code uses")[2]
    for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE):
        for name in re.findall(r"`(\w+)", row):
            assert name in ("x_bar", "x_dot") or hasattr(overt.runtime, name), name


def rewrite(name: str) -> None:
    """Write the present outputs into a page."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        page = Page(name, Path(folder).resolve())
        text = page.text
        for block, printed in reversed(page.outputs()):
            text = text[: block.start] + printed + text[block.end :]
        if page.path == LANGUAGE:
            for part, written in (("refusals", refusals), ("kinds", kinds)):
                start, end = section(text, part)
                text = text[:start] + written() + text[end:]
        page.path.write_text(api() if page.path == API else text)
        os.chdir(TOP)


if __name__ == "__main__":
    for page_name in sys.argv[1:] or PAGES:
        rewrite(page_name)
