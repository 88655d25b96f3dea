"""Functions that say themselves how they are mapped: `custom_vmap` and `sequential_vmap`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from overt.runtime import dtypes
from overt.runtime.array import Array, DeviceArray
from overt.runtime.aval import aval_of
from overt.runtime.closures import captured_leaves
from overt.runtime.custom import CustomRule
from overt.runtime.dual import Dual, jvp_call
from overt.runtime.lanes import Lanes, has_lanes, spread
from overt.runtime.levels import topmost
from overt.runtime.record import Recorded, vjp_call
from overt.runtime.tree import prefix_leaves, tree_flatten, tree_map

__all__ = ["custom_vmap", "sequential_rule"]


class custom_vmap(CustomRule):  # noqa: N801
    """A function whose way under `vmap` is given with `def_vmap`."""

    def __init__(self, fun: Callable):
        super().__init__(fun)
        self.rule: Callable | None = None

    def def_vmap(self, vmap_rule: Callable) -> Callable:
        """Give the rule: `rule(axis_size, in_batched, *args) -> (results, out_batched)`.

        Mapped arguments and results have the lanes on axis 0; `in_batched` and `out_batched` are
        trees that say which are mapped.
        """
        self.rule = vmap_rule
        return vmap_rule

    def check(self) -> None:
        """It is differentiated as its function and its rule are."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.rule is None:
            raise AttributeError(
                f"no batching rule was defined for {self.__name__}: give one with def_vmap"
            )
        args = self.positional(args, kwargs)
        leaves, definition = tree_flatten(args)
        top = topmost(leaves)
        if type(top) is Lanes:
            return self._mapped(top, leaves, definition)
        if isinstance(top, (Dual, Recorded)) and any(map(has_lanes, leaves)):
            # What the function has captured is not among the arguments of its rule.
            if not captured_leaves(self.fun, _is_followed):
                return super().__call__(*args)
        return self.fun(*args)

    def _mapped(self, top: Lanes, leaves: list[Any], definition: Any) -> Any:
        mapped = [type(x) is Lanes and x.level == top.level for x in leaves]
        values = [x.value if m else x for x, m in zip(leaves, mapped, strict=True)]
        out = self._by_rule(top.lanes, definition.unflatten(mapped), definition.unflatten(values))
        results, flags, out_definition = out
        return out_definition.unflatten(
            Lanes(x, top.level) if flag else x for x, flag in zip(results, flags, strict=True)
        )

    def _by_rule(self, lanes: int, mapped: Any, args: tuple) -> tuple[list, list, Any]:
        assert self.rule is not None
        answer = self.rule(lanes, mapped, *args)
        if not isinstance(answer, (tuple, list)) or len(answer) != 2:
            raise TypeError(
                f"the vmap rule of {self.__name__} must return a pair (results, out_batched), "
                f"not {type(answer).__name__}"
            )
        out, out_mapped = answer
        results, definition = tree_flatten(out)
        flags = prefix_leaves(_same_sequences(out_mapped, out), out)
        for x, flag in zip(results, flags, strict=True):
            shape = aval_of(x).shape
            if flag and (not shape or shape[0] != lanes):
                raise ValueError(
                    f"the vmap rule of {self.__name__} says that a result of shape {shape} is "
                    f"mapped, but its axis 0 does not hold the {lanes} lanes"
                )
        return results, flags, definition

    def _every_lane(self, lanes: int) -> Callable:
        """The function on arguments that all are mapped, with results that all are."""

        def run(*args: Any) -> Any:
            everything = tree_map(lambda _: True, args)
            results, flags, definition = self._by_rule(lanes, everything, args)
            return definition.unflatten(
                x if flag else spread(x, lanes) for x, flag in zip(results, flags, strict=True)
            )

        return run

    def forward(
        self, fixed: tuple, primals: tuple, tangents: tuple, active: Any = None
    ) -> tuple[Any, Any]:
        dots = tree_map(lambda dot: dot if dot.dtype != dtypes.float0 else None, tangents)
        return self._derived(jvp_call)(primals, dots)

    def reverse(self, fixed: tuple, primals: tuple, active: Any = None) -> tuple[Any, Callable]:
        pulled = self._derived(lambda run, xs, bars: vjp_call(run, *xs)[1](bars))
        return self(*primals), lambda bars: pulled(primals, bars)

    def _derived(self, derive: Callable) -> custom_vmap:
        """`derive(fun, xs, others)` of the function, and of its rule in lanes."""
        one = custom_vmap(lambda xs, others: derive(self.fun, xs, others))

        def rule(lanes: int, mapped: Any, xs: Any, others: Any) -> tuple[Any, Any]:
            def whole(x: Any, is_mapped: bool) -> Any:
                return x if is_mapped else spread(x, lanes)

            xs, others = tree_map(whole, (xs, others), tuple(mapped))
            return derive(self._every_lane(lanes), xs, others), True

        one.def_vmap(rule)
        return one


def sequential_rule(fun: Callable) -> Callable:
    """The rule of a function that is called for one lane after another."""

    def rule(lanes: int, mapped: Any, *args: Any) -> tuple[Any, bool]:
        from overt.runtime import lax

        leaves, definition = tree_flatten(args)
        flags = tree_flatten(tuple(mapped))[0]

        def one(own: list[Any]) -> Any:
            rest = iter(own)
            pairs = zip(leaves, flags, strict=True)
            return fun(*definition.unflatten(next(rest) if m else x for x, m in pairs))

        return lax.map(one, [x for x, m in zip(leaves, flags, strict=True) if m]), True

    return rule


def _same_sequences(spec: Any, out: Any) -> Any:
    """A list of flags for a tuple of results, or the other way round, as that kind of sequence."""
    if isinstance(spec, list) and isinstance(out, tuple):
        return tuple(spec)
    return list(spec) if isinstance(spec, tuple) and isinstance(out, list) else spec


def _is_followed(x: Any) -> bool:
    return isinstance(x, Array) and not isinstance(x, DeviceArray)
