"""`with caught(ValueError) as error:` is the `try` of rewritten code; `if error:` its `except`."""

from __future__ import annotations

from typing import Any

from overt.runtime.errors import StagingError
from overt.runtime.primitive import GRAPH

__all__ = ["caught"]


class caught:
    """Catches exceptions of some types in a block; true afterwards if there was one.

    Errors: Overt's own are never caught.  StagingError where an exception would be handled while a
    loop or branch is compiled, since it may concern one iteration only.

    >>> with caught(KeyError, IndexError) as error:
    ...     [1, 2][5]
    >>> bool(error), error.was(0), error.was(1), type(error.value)
    (True, False, True, <class 'IndexError'>)
    """

    def __init__(self, *types: Any):
        self.types = types
        self.value: BaseException | None = None

    def __enter__(self) -> caught:
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> bool:
        if error is None or not any(isinstance(error, t) for t in self.types):
            return False
        if type(error).__module__.partition(".")[0] == "overt":
            return False
        graph = GRAPH.get()
        if graph is not None and graph.parent is not None and self.types != (BaseException,):
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

    def has_no_derivative(self) -> None:
        """Refuse to go backwards through a block that an exception left."""
        if self.value is not None:
            error = self.value
            raise NotImplementedError(
                f"an exception was handled ({type(error).__name__}: {error}), so what the `try` "
                "block did cannot be differentiated; test for the condition with `if` instead"
            ) from error
