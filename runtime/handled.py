"""`with caught(ValueError) as error:` is the `try` of rewritten code; `if error:` its `except`."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

from overt.runtime.errors import EndedInBlock, StagingError
from overt.runtime.primitive import GRAPH

__all__ = ["CATCHING", "caught", "is_ended", "refuse_if_caught", "unended"]

ARITHMETIC = (ArithmeticError, FloatingPointError, OverflowError, ZeroDivisionError)

# The types of exceptions that blocks around the code that is run would handle.
CATCHING: ContextVar[tuple[type, ...]] = ContextVar("overt_catching", default=())


def refuse_if_caught(kind: type) -> None:
    """Refuse an exception that depends on the data, where a `try` would go on after it."""
    if issubclass(kind, CATCHING.get()):
        raise StagingError(
            f"`try` cannot handle this {kind.__name__}: whether it is raised is known only when "
            "the program runs, or differs between lanes, and what raises it (a method, a function "
            "of another file or in a variable) is not followed; ask for the condition with `if` "
            "instead"
        )


def in_region() -> bool:
    """Whether code is staged that a compiled program runs in some cases only, or repeatedly."""
    graph = GRAPH.get()
    return graph is not None and graph.parent is not None


REGIONS = frozenset(("_staged", "_by_lane", "roll"))


def came_out_of_region(trace: Any) -> bool:
    """Whether an exception was raised in what a program, or a lane, runs in some cases only."""
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_name in REGIONS and trace.tb_frame.f_globals["__name__"].endswith(
            ("overt.runtime.branches", "overt.runtime.rolled")
        ):
            return True
        trace = trace.tb_next
    return False


class caught:
    """Catches exceptions of some types in a block, or of all; true afterwards if there was one.

    Errors: Overt's own are never caught.  StagingError where an exception would be handled while a
    loop or branch is compiled, since it may concern one iteration only.

    >>> with caught(KeyError, IndexError) as error:
    ...     [1, 2][5]
    >>> bool(error), error.was(0), error.was(1), type(error.value)
    (True, False, True, <class 'IndexError'>)
    """

    def __init__(self, *types: Any):
        self.types = types
        kinds = [kind for t in types for kind in (t if type(t) is tuple else (t,))]
        self.handled = tuple(kind for kind in kinds if isinstance(kind, type))
        self.value: BaseException | None = None

    def __enter__(self) -> caught:
        if in_region() and any(kind in ARITHMETIC for kind in self.handled):
            raise StagingError(
                "an exception of arithmetic is handled in a loop or branch of the compiled "
                "program, where numbers raise none; ask for the condition with `if` instead"
            )
        self.outer = CATCHING.set((*CATCHING.get(), *self.handled))
        return self

    def __eq__(self, other: object) -> bool:
        return type(other) is caught and (self.types, self.value) == (other.types, other.value)

    __hash__ = object.__hash__

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> bool:
        CATCHING.reset(self.outer)
        if error is None or self.types and not any(isinstance(error, t) for t in self.types):
            return False
        if is_ours(error):
            return False
        if self.types and (in_region() or came_out_of_region(trace)):
            raise StagingError(
                "an exception is handled in a loop or branch of the compiled program, where it may "
                f"concern one iteration only: {type(error).__name__}: {error}"
            ) from error
        self.value = error
        return True

    def __bool__(self) -> bool:
        return self.value is not None

    def was(self, position: int) -> bool:
        """Whether the exception is of the type at `position` and of none before it."""
        if self.value is None:
            return False
        found = [i for i, t in enumerate(self.types) if isinstance(self.value, t)]
        return found[0] == position

    def raise_again(self) -> None:
        """Raise what was caught, if anything was."""
        if self.value is not None:
            raise self.value


def is_ours(error: BaseException) -> bool:
    """Whether Overt says something by an exception, which the user's code must not handle."""
    return type(error).__module__.partition(".")[0] == "overt"


def is_ended(manager: Any, error: BaseException) -> bool:
    """Whether a context manager ends an exception that its block has raised."""
    ended = manager.__exit__(type(error), error, error.__traceback__)
    return bool(ended) and not is_ours(error)


class unended:
    """A context manager of the user's, in a place where it must not end an exception.

    Errors: NotImplementedError where it does: what a block has done by then is not followed.

    >>> import contextlib
    >>> with unended(contextlib.nullcontext(3)) as three:
    ...     print(three)
    3
    """

    def __init__(self, manager: Any):
        self.manager = manager

    def __enter__(self) -> Any:
        return self.manager.__enter__()

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> Any:
        ended = self.manager.__exit__(kind, error, trace)
        if error is None or is_ours(error) or not ended:
            return False
        raise EndedInBlock(
            f"a context manager of the class {type(self.manager).__name__} ends this "
            f"{type(error).__name__}: {error}; write `try` and `except` instead"
        ) from error
