"""Collectives: what the lanes of a `vmap` with an axis name tell each other.

Inside `vmap(f, axis_name="i")` each function here sees all lanes of the axis "i".  A result that is
the same in every lane has no lanes of its own.

Errors: NameError for the name of an axis that no enclosing `vmap` has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import overt.runtime.numpy as np
from overt.runtime.aval import aval_of
from overt.runtime.batching import AXES
from overt.runtime.errors import BatchedPredicateError
from overt.runtime.lanes import Lanes, spread
from overt.runtime.masks import active_lanes
from overt.runtime.parts import NUMBERS
from overt.runtime.primitive import Rule
from overt.runtime.tree import tree_map


def _axis(name: Any) -> tuple[int, int]:
    """Level and size of a named axis."""
    axes = AXES.get()
    if name not in axes:
        raise NameError(
            f"there is no axis named {name!r}; give it with vmap(..., axis_name={name!r})"
        )
    return axes[name]


def _refuse_masked(name: str, level: int) -> None:
    mask = active_lanes()
    while isinstance(mask, Lanes):
        if mask.level == level:
            raise BatchedPredicateError(
                f"{name} inside a branch or loop that only some lanes of its axis are in: what "
                "the other lanes would contribute is not defined; call it before, and use np.where"
            )
        mask = mask.value


class Collective:
    """An operation on an array and all its lanes of a named axis.

    `over(value, size, **params)` gives (result, whether it differs between lanes) from the array
    with the lanes in front.  `moved(params)` are the parameters for an array with one more axis in
    front; `alone` replaces `over` for values that are the same in all lanes.
    """

    elementwise = False

    def __init__(
        self,
        name: str,
        over: Callable,
        vjp: Callable,
        moved: Callable = lambda params: params,
        alone: Callable | None = None,
        linear: bool = True,
    ) -> None:
        self.name = self.__name__ = name
        self.over, self.moved, self.alone = over, moved, alone
        self.rule = Rule(name, ("x",), linear=linear, vjp=(vjp,))

    def __call__(self, x: Any, *, axis_name: Any, **params: Any) -> Any:
        level, size = _axis(axis_name)
        own = getattr(x, "level", 0)
        if own > level:  # lanes of an inner vmap, or a value under differentiation inside it
            return x.handle(self, (x,), {"axis_name": axis_name, **params})
        _refuse_masked(self.name, level)
        if own < level:
            if self.alone is not None:
                return self.alone(x, size, **params)
            value = spread(x, size)
        else:
            value = x.value
        result, mapped = self.over(value, size, **params)
        return Lanes(result, level) if mapped else result

    def batch(self, values: Any, axes: Any, size: int, *, axis_name: Any, **params: Any) -> Any:
        """The lanes of another axis are in front."""
        return self(values[0], axis_name=axis_name, **self.moved(params)), 0


def _names(axis_name: Any) -> tuple[Any, ...]:
    return tuple(axis_name) if isinstance(axis_name, (tuple, list)) else (axis_name,)


def _only_axis(function: str, axis_name: Any) -> Any:
    names = _names(axis_name)
    if len(names) != 1:
        raise NotImplementedError(f"{function} goes over one named axis, got {names}")
    return names[0]


def _whole_axis(function: str, groups: Any) -> None:
    if groups is not None:
        raise NotImplementedError(
            f"{function}: axis_index_groups needs lanes on several devices; use nested vmaps with "
            "an axis name each"
        )


# reductions ---------------------------------------------------------------------------------------


def _total(x: Any, size: int) -> Any:
    if isinstance(x, NUMBERS):
        return x * size
    return np.sum(np.asarray(x)[None], 0) * size


_psum = Collective(
    "psum",
    lambda value, size: (np.sum(value, 0), False),
    lambda g, out, x, *, axis_name: _psum(g, axis_name=axis_name),
    alone=_total,
)


def _extreme(name: str, reduce: Callable) -> Collective:
    """A reduction whose derivative goes to the lanes that attain it, in equal parts."""

    def vjp(g: Any, out: Any, x: Any, *, axis_name: Any) -> Any:
        chosen = np.equal(x, out).astype(g.dtype)
        share = _psum(g, axis_name=axis_name) / _psum(chosen, axis_name=axis_name)
        return chosen * share

    over = lambda value, size: (reduce(value, 0), False)
    return Collective(name, over, vjp, alone=lambda x, size: x, linear=False)


_pmax = _extreme("pmax", np.max)
_pmin = _extreme("pmin", np.min)


def _reduced(name: str, collective: Collective, x: Any, axis_name: Any, groups: Any) -> Any:
    _whole_axis(name, groups)

    def one(leaf: Any) -> Any:
        for axis in _names(axis_name):
            leaf = collective(leaf, axis_name=axis)
        return leaf

    return tree_map(one, x)


def psum(x: Any, axis_name: Any, *, axis_index_groups: Any = None) -> Any:
    """The sum over all lanes of a named axis, or of several; `psum(1, name)` counts them.

    >>> import overt, overt.numpy as np
    >>> share = overt.vmap(lambda x: x / overt.lax.psum(x, "i"), axis_name="i")
    >>> print(share(np.array([1.0, 3.0])))
    [0.25 0.75]
    """
    return _reduced("psum", _psum, x, axis_name, axis_index_groups)


def pmean(x: Any, axis_name: Any, *, axis_index_groups: Any = None) -> Any:
    """The mean over all lanes of a named axis.

    >>> import overt
    >>> print(overt.vmap(lambda x: x - pmean(x, "i"), axis_name="i")(np.arange(3.0)))
    [-1.  0.  1.]
    """
    size = axis_size(axis_name)
    return tree_map(
        lambda leaf: leaf / size, psum(x, axis_name, axis_index_groups=axis_index_groups)
    )


def pmax(x: Any, axis_name: Any, *, axis_index_groups: Any = None) -> Any:
    """The largest value over all lanes of a named axis.

    >>> import overt
    >>> print(overt.vmap(lambda x: pmax(x, "i"), axis_name="i")(np.arange(3)))
    [2 2 2]
    """
    return _reduced("pmax", _pmax, x, axis_name, axis_index_groups)


def pmin(x: Any, axis_name: Any, *, axis_index_groups: Any = None) -> Any:
    """The smallest value over all lanes of a named axis.

    >>> import overt
    >>> print(overt.vmap(lambda x: pmin(x, "i"), axis_name="i")(np.arange(3)))
    [0 0 0]
    """
    return _reduced("pmin", _pmin, x, axis_name, axis_index_groups)


def axis_size(axis_name: Any) -> int:
    """How many lanes a named axis has, as a Python integer.

    >>> import overt
    >>> print(overt.vmap(lambda x: x / axis_size("i"), axis_name="i")(np.arange(4.0)))
    [0.   0.25 0.5  0.75]
    """
    size = 1
    for name in _names(axis_name):
        size *= _axis(name)[1]
    return size


def axis_index(axis_name: Any) -> Any:
    """The number of the lane on a named axis; of several, as if they were one, the last fastest.

    >>> import overt, overt.numpy as np
    >>> print(overt.vmap(lambda x: x + overt.lax.axis_index("i"), axis_name="i")(np.zeros(3)))
    [0. 1. 2.]
    """
    index = None
    for name in _names(axis_name):
        level, size = _axis(name)
        here = Lanes(np.arange(size, dtype="int32"), level)
        index = here if index is None else index * size + here
    return index


# moving data --------------------------------------------------------------------------------------


def _gathered(value: Any, size: int, *, axis: int, tiled: bool) -> Any:
    value = np.moveaxis(value, 0, axis)
    if tiled:
        shape = value.shape
        value = np.reshape(value, (*shape[:axis], size * shape[axis + 1], *shape[axis + 2 :]))
    return value, False


def _scattered(value: Any, size: int, *, axis: int, tiled: bool) -> Any:
    total = np.sum(value, 0)
    n = total.shape[axis]
    if n % size or not (tiled or n == size):
        raise ValueError(
            f"psum_scatter over {size} lanes needs {'a multiple of ' if tiled else ''}{size} "
            f"elements along axis {axis}, got {n}"
        )
    if tiled:
        shape = total.shape
        total = np.reshape(total, (*shape[:axis], size, n // size, *shape[axis + 1 :]))
    return np.moveaxis(total, axis, 0), True


def _one_further(params: dict[str, Any]) -> dict[str, Any]:
    return {k: v + 1 if k in ("axis", "split", "concat") else v for k, v in params.items()}


_all_gather = Collective(
    "all_gather", _gathered, lambda g, out, x, **how: _psum_scatter(g, **how), _one_further
)
_psum_scatter = Collective(
    "psum_scatter", _scattered, lambda g, out, x, **how: _all_gather(g, **how), _one_further
)


def all_gather(
    x: Any, axis_name: Any, *, axis_index_groups: Any = None, axis: int = 0, tiled: bool = False,
    to: str = "varying",
) -> Any:  # fmt: skip
    """The values of all lanes in one array, along a new axis, or one after the other if `tiled`.

    >>> import overt
    >>> print(overt.vmap(lambda x: all_gather(x, "i"), axis_name="i")(np.arange(2)))
    [[0 1]
     [0 1]]
    """
    _whole_axis("all_gather", axis_index_groups)
    name = _only_axis("all_gather", axis_name)

    def one(leaf: Any) -> Any:
        rank = len(aval_of(leaf).shape)
        place = axis % (rank if tiled else rank + 1)
        return _all_gather(leaf, axis_name=name, axis=place, tiled=tiled)

    return tree_map(one, x)


def psum_scatter(
    x: Any, axis_name: Any, *, scatter_dimension: int = 0, axis_index_groups: Any = None,
    tiled: bool = False,
) -> Any:  # fmt: skip
    """Each lane's part, along an axis, of the sum over all lanes.

    >>> import overt
    >>> print(overt.vmap(lambda x: psum_scatter(x, "i"), axis_name="i")(np.arange(4).reshape(2, 2)))
    [2 4]
    """
    _whole_axis("psum_scatter", axis_index_groups)
    name = _only_axis("psum_scatter", axis_name)

    def one(leaf: Any) -> Any:
        place = scatter_dimension % len(aval_of(leaf).shape)
        return _psum_scatter(leaf, axis_name=name, axis=place, tiled=tiled)

    return tree_map(one, x)


def _permuted(value: Any, size: int, *, perm: tuple[tuple[int, int], ...]) -> Any:
    source = dict((to, start) for start, to in perm)
    rows = [value[source[i]] if i in source else np.zeros_like(value[0]) for i in range(size)]
    return np.stack(rows), True


_ppermute = Collective(
    "ppermute",
    _permuted,
    lambda g, out, x, *, perm, **how: _ppermute(g, perm=tuple((b, a) for a, b in perm), **how),
)


def ppermute(x: Any, axis_name: Any, perm: Sequence[tuple[int, int]]) -> Any:
    """Values sent from lane to lane by pairs (from, to); lanes that nothing is sent to get zeros.

    >>> import overt, overt.numpy as np
    >>> shift = lambda x: overt.lax.ppermute(x, "i", [(0, 1), (1, 2)])
    >>> print(overt.vmap(shift, axis_name="i")(np.array([1.0, 2.0, 3.0])))
    [0. 1. 2.]
    """
    name = _only_axis("ppermute", axis_name)
    size = axis_size(name)
    pairs = tuple((int(a), int(b)) for a, b in perm)
    for ends in zip(*pairs, strict=True):
        if len(set(ends)) != len(ends) or not all(0 <= end < size for end in ends):
            raise ValueError(f"ppermute sends from and to different lanes below {size}, got {perm}")
    return tree_map(lambda leaf: _ppermute(leaf, axis_name=name, perm=pairs), x)


def pshuffle(x: Any, axis_name: Any, perm: Sequence[int]) -> Any:
    """Each lane gets the value of the lane `perm` says.

    >>> import overt
    >>> print(overt.vmap(lambda x: pshuffle(x, "i", [2, 0, 1]), axis_name="i")(np.arange(3)))
    [2 0 1]
    """
    if sorted(perm) != list(range(axis_size(axis_name))):
        raise ValueError(f"pshuffle needs a permutation of the lanes, got {list(perm)}")
    return ppermute(x, axis_name, [(start, to) for to, start in enumerate(perm)])


def _exchanged(value: Any, size: int, *, split: int, concat: int, tiled: bool) -> Any:
    # value: the lanes, then the axes of one lane
    n = value.shape[split + 1]
    if n % size or not (tiled or n == size):
        raise ValueError(f"all_to_all over {size} lanes cannot split an axis of length {n}")
    if not tiled:
        value = np.moveaxis(value, split + 1, 0)  # who gets it, who had it, the other axes
        return np.moveaxis(value, 1, concat + 1), True
    shape = value.shape
    value = np.reshape(value, (*shape[: split + 1], size, n // size, *shape[split + 2 :]))
    value = np.moveaxis(value, split + 1, 0)
    value = np.moveaxis(value, 1, concat + 1)
    shape = value.shape
    joined = shape[concat + 1] * shape[concat + 2]
    return np.reshape(value, (*shape[: concat + 1], joined, *shape[concat + 3 :])), True


_all_to_all = Collective(
    "all_to_all",
    _exchanged,
    lambda g, out, x, *, split, concat, **how: _all_to_all(g, split=concat, concat=split, **how),
    _one_further,
)


def all_to_all(
    x: Any, axis_name: Any, split_axis: int, concat_axis: int, *, axis_index_groups: Any = None,
    tiled: bool = False,
) -> Any:  # fmt: skip
    """Each lane's value cut along an axis, one part to every lane; the parts got are put together.

    Without `tiled` the axis that is cut has the length of the named axis and disappears, and the
    parts got are stacked along a new one.

    >>> import overt
    >>> f = lambda x: all_to_all(x, "i", split_axis=0, concat_axis=0)
    >>> print(overt.vmap(f, axis_name="i")(np.arange(4).reshape(2, 2)))
    [[0 2]
     [1 3]]
    """
    _whole_axis("all_to_all", axis_index_groups)
    name = _only_axis("all_to_all", axis_name)

    def one(leaf: Any) -> Any:
        rank = len(aval_of(leaf).shape)
        return _all_to_all(
            leaf, axis_name=name, split=split_axis % rank, concat=concat_axis % rank, tiled=tiled
        )

    return tree_map(one, x)


def pswapaxes(x: Any, axis_name: Any, axis: int, *, axis_index_groups: Any = None) -> Any:
    """A named axis and an axis of the arrays exchanged; both have one length.

    >>> import overt
    >>> f = lambda x: pswapaxes(x, "i", 0)
    >>> print(overt.vmap(f, axis_name="i")(np.arange(4).reshape(2, 2)))
    [[0 2]
     [1 3]]
    """
    return all_to_all(x, axis_name, axis, axis, axis_index_groups=axis_index_groups)


_from_one = Collective(
    "pbroadcast",
    lambda value, size, *, source: (value[source], False),
    lambda g, out, x, *, axis_name, source: np.where(
        np.equal(axis_index(axis_name), source), _psum(g, axis_name=axis_name), 0
    ),
    alone=lambda x, size, *, source: x,
)


def pbroadcast(x: Any, axis_name: Any, source: int) -> Any:
    """The value of one lane, in all of them.

    >>> import overt
    >>> print(overt.vmap(lambda x: pbroadcast(x, "i", 1), axis_name="i")(np.arange(3)))
    [1 1 1]
    """
    name = _only_axis("pbroadcast", axis_name)
    if not 0 <= source < axis_size(name):
        raise ValueError(f"pbroadcast: there is no lane {source} of {axis_size(name)}")
    return tree_map(lambda leaf: _from_one(leaf, axis_name=name, source=int(source)), x)
