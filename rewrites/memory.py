"""What one rewriting has found out of functions, so that each is looked at once.

A chain of helpers is asked the same for each of its links; what was answered holds as long as no
name changes its meaning, and so for one rewriting only.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

# By the question and the identities of what it is about; these are held, lest they be reused.
ANSWERS: ContextVar[dict[tuple[Any, ...], tuple[Any, ...]] | None] = ContextVar(
    "overt_answers", default=None
)


def known(question: str, *about: Any) -> Any:
    """What was answered before; None for nothing."""
    answers = ANSWERS.get()
    found = answers.get((question, *map(id, about))) if answers is not None else None
    return found[-1] if found is not None else None


def keep(question: str, *about: Any, answer: Any) -> None:
    answers = ANSWERS.get()
    if answers is not None:
        answers[question, *map(id, about)] = (*about, answer)
