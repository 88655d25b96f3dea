"""What `overt.source` shows: the text of the module that runs instead of a function."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

from overt.runtime.custom import custom_jvp, custom_vjp
from overt.transformer import transformed
from overt.transformer.held import LinearFunction, closed
from overt.transformer.identity import Checkpoint
from overt.transformer.modules import standalone
from overt.transformer.pullbacks import VjpFunction
from overt.transformer.transformed import Transformed


class Tangent(Transformed):
    """A function of primals and their tangents, as `jvp` calls it: `f(x, y, x_dot, y_dot)`."""

    suffix = "jvp"
    chain = "jvp"

    def source(self) -> Any:
        from overt.rewrites.forward import jvp

        return jvp(transformed.source_of(self.__wrapped__))


class Pulled(Transformed):
    """The forward and the backward function of a function, as `vjp` calls them."""

    suffix = "vjp"
    chain = "vjp"

    def source(self) -> Any:
        from overt.rewrites.reverse import pullback_pair

        return joined(*pullback_pair(transformed.source_of(self.__wrapped__)))


def joined(*sources: Any) -> Any:
    """Sources of one module as one, its last function that of the last."""
    from overt.rewrites import core

    functions = {f.name: f for source in sources for f in source.functions}
    imports = frozenset().union(*(source.imports for source in sources))
    return core.replace(sources[-1], functions=tuple(functions.values()), imports=imports)


def shown(fn: Any) -> str:
    """The text of the module that Overt generates for a transformed function.

    Also of what `linearize` and `vjp` return, of functions with a derivative of their own, and of
    `functools.partial(overt.jvp, f)`.

    >>> import overt
    >>> print(overt.source(overt.grad(lambda x: x * x)))
    def function_grad(x):
        return 2.0 * x
    <BLANKLINE>
    >>> overt.source(len)
    Traceback (most recent call last):
    TypeError: overt.source needs a function made by grad, jit, ...; got <built-in function len>
    """
    if isinstance(fn, types.MethodType) and isinstance(fn.__func__, Transformed):
        fn = fn.__func__
    if isinstance(fn, types.FunctionType):
        made = fn.__dict__.get("__overt__")
        return made.text if made is not None else standalone(transformed.source_of(fn))
    source = source_shown(fn)
    return source if isinstance(source, str) else standalone(source)


def source_shown(fn: Any) -> Any:
    """The source, or the text, of anything that has one."""
    if isinstance(fn, functools.partial):
        made = forms().get(fn.func)
        if made is not None and fn.args:
            return made(fn.args[0]).printed_source()
        return shown(fn.func)
    if isinstance(fn, Checkpoint):
        return with_comment(
            fn.printed_source(), "# Its derivative keeps the arguments and computes the rest again."
        )
    if isinstance(fn, Transformed):
        return fn.printed_source()
    if isinstance(fn, LinearFunction):
        return Tangent(closed(fn.function)).printed_source()
    if isinstance(fn, VjpFunction):
        return of_pullback(fn.pull)
    if isinstance(fn, custom_jvp):
        return with_rules(fn, fn.jvp)
    if isinstance(fn, custom_vjp):
        return with_rules(fn, fn.fwd, fn.bwd)
    raise TypeError(f"overt.source needs a function made by grad, jit, ...; got {fn!r}")


def forms() -> dict[Any, Callable[[Any], Transformed]]:
    """What the functions that take a function and its arguments at once make of the function."""
    from overt.transformer import jacobians

    return {jacobians.jvp: Tangent, jacobians.linearize: Tangent, jacobians.vjp: Pulled}


def of_pullback(pull: Any) -> str:
    """The module with the backward function that a pullback calls."""
    while hasattr(pull, "bwd"):
        pull = pull.bwd
    made = getattr(pull, "__dict__", {}).get("__overt__")
    if made is None:
        raise TypeError(
            "overt.source shows no text of this pullback: what it undoes was recorded while it ran"
        )
    return made.text


def with_rules(fn: Any, *rules: Any) -> Any:
    """A function and the derivative that it was given."""
    fn.check()
    main = with_comment(source_of(fn.fun), f"# Its derivative is {joined_names(rules)}.")
    return joined(*(source_of(rule) for rule in rules), main)


def source_of(fn: Any) -> Any:
    return transformed.source_of(fn.__wrapped__ if isinstance(fn, Transformed) else fn)


def joined_names(rules: tuple[Any, ...]) -> str:
    return " and ".join(f"`{getattr(rule, '__name__', 'a function')}`" for rule in rules)


def with_comment(source: Any, text: str) -> Any:
    """The source with a comment above its function."""
    from overt.rewrites import core

    main = source.main
    origin = core.replace(main.origin, above=(*main.origin.above, text))
    return core.replace(
        source, functions=(*source.functions[:-1], core.replace(main, origin=origin))
    )
