"""The one command that checks everything: format, lint, types, tests, doctests and examples.

Run from the top of the repository: `python -m tests`; what follows is passed on to pytest, which
otherwise uses every core.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

CHECKS = {
    "format": ["ruff", "format", "--check", "."],
    "lint": ["ruff", "check", "."],
    "types": ["mypy"],
    "tests": ["pytest"],
}


def main(arguments: list[str]) -> int:
    """Run every check, also after one has failed; the number of failures is the result."""
    failed = []
    for name, (tool, *options) in CHECKS.items():
        print(f"== {name}", flush=True)
        command = [sys.executable, "-m", tool, *options]
        if name == "tests":
            command += arguments or ["-n", str(os.cpu_count() or 1)]
        if subprocess.run(command, cwd=Path(__file__).parent.parent).returncode:
            failed.append(name)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return len(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
