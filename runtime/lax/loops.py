"""Control flow as functions. They are plain Python, which the passes read as they read the user's.

Staged, the loops stay loops and branches become branches; derivatives and `vmap` go through them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import overt.runtime as runtime
import overt.runtime.numpy as np
from overt.runtime.cotangents import part
from overt.runtime.dtypes import is_bool
from overt.runtime.lax.alternatives import check_branches, check_index
from overt.runtime.lax.rows import as_arrays, empty_rows, records_of, stacked
from overt.runtime.lax.shapes import concatenate
from overt.runtime.lax.slicing import slice_in_dim
from overt.runtime.numpy.movement import shape_of, with_rule
from overt.runtime.saved import Saved
from overt.runtime.tree import keystr, tree_flatten_with_path, tree_leaves, tree_map, tree_structure

NOTHING = object()


def cond(
    pred: Any, true_fun: Callable, false_fun: Callable, *operands: Any, operand: Any = NOTHING
) -> Any:
    """`true_fun(*operands)` if `pred` holds, else `false_fun(*operands)`.

    One operand may be given by keyword.

    >>> cond(True, lambda x: x + 1, lambda x: x - 1, 5)
    6
    """
    if operand is not NOTHING:
        operands = (*operands, operand)
    check_branches("cond", (true_fun, false_fun), operands, pred)
    if pred:
        return true_fun(*operands)
    return false_fun(*operands)


def switch(index: Any, branches: Sequence[Callable], *operands: Any) -> Any:
    """The branch of that number applied to the operands; an index out of range means the nearest.

    Errors: TypeError naming the place where branches give different structures.

    >>> switch(2, [lambda x: x, lambda x: 2 * x, lambda x: 3 * x], 5)
    15
    """
    check_index(index, branches)
    check_branches("switch", branches, operands)
    if len(branches) == 1:
        return branches[0](*operands)
    middle = len(branches) // 2
    if index < middle:
        return switch(index, branches[:middle], *operands)
    return switch(index - middle, branches[middle:], *operands)


def while_loop(cond_fun: Callable, body_fun: Callable, init_val: Any) -> Any:
    """The value that `body_fun` leaves, applied again and again while `cond_fun` holds.

    Errors: TypeError if `body_fun` returns another structure than it was given, and for a
    `cond_fun` that does not give one bool.

    >>> print(while_loop(lambda x: x < 10, lambda x: x * 2, 3))
    12
    """
    val = as_arrays(init_val)
    while one_bool(cond_fun(val)):
        new = body_fun(val)
        check_structure("while_loop", val, new)
        val = new
    return val


def fori_loop(lower: Any, upper: Any, body_fun: Callable, init_val: Any, unroll: Any = None) -> Any:
    """`val = body_fun(i, val)` for i from `lower` to `upper`, less the upper one.

    >>> print(fori_loop(0, 5, lambda i, x: x + i, 0))
    10
    """
    val = as_arrays(init_val)
    for i in range(lower, upper):
        new = body_fun(i, val)
        check_structure("fori_loop", val, new)
        val = new
    return val


def scan(
    f: Callable,
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: Any = 1,
) -> tuple[Any, Any]:
    """`carry, y = f(carry, x)` for every row x of `xs`; the last carry, and the ys in arrays.

    `xs` is an array or a tree of them; without it, `f` is called `length` times with None.

    Errors: TypeError if the carry changes its structure, ValueError if lengths differ.

    >>> carry, ys = scan(lambda c, x: (c + x, c), 0, np.arange(4))
    >>> int(carry), ys.tolist()
    (6, [0, 0, 1, 3])
    """
    empty = empty_scan(f, init, xs, length)
    carry = as_arrays(init)
    saved = Saved()
    for x, _ in numbered_rows(xs, length, reverse):
        new, y = f(carry, x)
        check_structure("scan", carry, new)
        carry = new
        saved = saved.pushed(as_arrays(y))
    return carry, stacked(saved, reverse, empty)


def map(f: Callable, xs: Any, *, batch_size: int | None = None) -> Any:
    """`f` of every row of `xs`, one after the other, in arrays.

    With `batch_size` that many rows are taken at once, as by `vmap`; the rows that are left over
    are the last batch.

    Errors: ValueError for a `batch_size` below 1.

    >>> map(lambda x: x * x, np.arange(4)).tolist()
    [0, 1, 4, 9]
    """
    if batch_size is not None:
        return in_batches(f, xs, batch_size)
    empty = empty_map(f, xs)
    saved = Saved()
    for x, _ in numbered_rows(xs, None, False):
        saved = saved.pushed(as_arrays(f(x)))
    return stacked(saved, False, empty)


def in_batches(f: Callable, xs: Any, size: int) -> Any:
    """`map` over blocks of `size` rows, and `vmap` over the rows of each."""
    n, all_rows = batches(xs, size), runtime.vmap(f)
    if n == 0:
        return all_rows(xs)
    whole = map(
        all_rows, tree_map(lambda x: np.reshape(x[: n * size], (n, size, *x.shape[1:])), xs)
    )
    whole = tree_map(lambda x: np.reshape(x, (n * size, *x.shape[2:])), whole)
    if n * size == length_along(xs, 0):
        return whole
    rest = all_rows(tree_map(lambda x: x[n * size :], xs))
    return tree_map(lambda x, y: np.concatenate([x, y]), whole, rest)


def batches(xs: Any, size: int) -> int:
    """How many blocks of `size` rows there are."""
    if size < 1:
        raise ValueError(f"map: batch_size must be 1 or more, not {size}")
    return length_along(xs, 0) // size


def associative_scan(fn: Callable, elems: Any, reverse: bool = False, axis: int = 0) -> Any:
    """Running results of an associative function along an axis, in some 2 log(n) whole-array steps.

    Source: G. Blelloch, "Prefix sums and their applications", 1990.

    >>> associative_scan(np.multiply, np.array([1, 2, 3, 4])).tolist()
    [1, 2, 6, 24]
    """
    elems = flipped(elems, axis) if reverse else elems
    elems = scanned(fn, elems, axis)
    return flipped(elems, axis) if reverse else elems


def scanned(fn: Callable, elems: Any, axis: int) -> Any:
    """Running results: those of pairs, and between them those with one element more."""
    n = length_along(elems, axis)
    if n < 2:
        return elems
    pairs = fn(every_other(elems, 0, n - 1, axis), every_other(elems, 1, n, axis))
    odd = scanned(fn, pairs, axis)
    even = between(elems, 0, 1, axis)
    if n > 2:
        before = between(odd, 0, (n - 1) // 2, axis)
        even = joined(even, fn(before, every_other(elems, 2, n, axis)), axis)
    return interleaved(even, odd, n, axis)


# parts of the above -------------------------------------------------------------------------------


@with_rule(("elems",))
def length_along(elems: Any, axis: int) -> int:
    """The length of an axis that all arrays of a tree share. Errors: ValueError if it differs."""
    lengths = {np.shape(x)[axis] for x in tree_leaves(elems)}
    if len(lengths) != 1:
        raise ValueError(f"associative_scan needs arrays of one length, got {sorted(lengths)}")
    return lengths.pop()


def every_other(tree: Any, start: int, stop: int, axis: int) -> Any:
    """Every second element along an axis of every array in a tree."""
    return tree_map(lambda x: slice_in_dim(x, start, stop, 2, axis), tree)


def interleaved(even: Any, odd: Any, n: int, axis: int) -> Any:
    """The elements of two trees in turn, `n` in all."""
    return tree_map(lambda x, y: interleave(x, y, n, axis), even, odd)


def interleave(x: Any, y: Any, n: int, axis: int) -> Any:
    """The elements of two arrays in turn."""
    axis, m = axis % np.ndim(x), n // 2
    pairs = np.stack([slice_in_dim(x, 0, m, 1, axis), slice_in_dim(y, 0, m, 1, axis)], axis + 1)
    shape = pairs.shape
    both = np.reshape(pairs, (*shape[:axis], 2 * m, *shape[axis + 2 :]))
    if n % 2 == 0:
        return both
    return np.concatenate([both, slice_in_dim(x, m, m + 1, 1, axis)], axis)


def between(tree: Any, start: int, stop: int | None, axis: int) -> Any:
    """A slice along an axis of every array in a tree."""
    return tree_map(lambda x: slice_in_dim(x, start, stop, 1, axis), tree)


def joined(head: Any, tail: Any, axis: int) -> Any:
    """The arrays of two trees one after the other."""
    return tree_map(lambda x, y: concatenate([x, y], axis), head, tail)


def flipped(tree: Any, axis: int) -> Any:
    """The arrays of a tree in the opposite order along an axis."""
    return tree_map(lambda x: np.flip(x, axis), tree)


def scan_length(xs: Any, length: int | None) -> int:
    """How many steps a scan has. Errors: ValueError where that is unclear."""
    shapes = [np.shape(x) for x in tree_leaves(xs)]
    if () in shapes:
        raise ValueError("scan and map go over the rows of arrays, but xs holds a scalar")
    lengths = {shape[0] for shape in shapes}
    if length is not None:
        lengths.add(int(length))
    if len(lengths) != 1:
        raise ValueError(
            "scan needs the length of its loop from xs or from length=, and only one; "
            f"got {sorted(lengths) or 'neither'}"
        )
    return lengths.pop()


@with_rule(
    ("xs",),
    linear=True,
    vjp=(lambda g, out, xs, *, length, backwards: part(stacked(g, backwards), 0),),
)
def numbered_rows(xs: Any, length: int | None, backwards: bool) -> Saved:
    """Records (x, number), one a row; the number is there for an `xs` without any arrays."""
    return records_of((xs, np.arange(scan_length(xs, length))), backwards)


@with_rule(("f", "init", "xs"))
def empty_scan(f: Callable, init: Any, xs: Any, length: int | None) -> Any:
    """The ys of a scan without steps; None if it has steps."""
    if scan_length(xs, length):
        return None
    return empty_rows(f(init, _row_of_zeros(xs))[1])


@with_rule(("f", "xs"))
def empty_map(f: Callable, xs: Any) -> Any:
    """What `map` returns for no rows; None if there are rows."""
    return None if scan_length(xs, None) else empty_rows(f(_row_of_zeros(xs)))


def _row_of_zeros(xs: Any) -> Any:
    return tree_map(lambda x: np.zeros(np.shape(x)[1:], np.result_type(x)), xs)


def one_bool(test: Any) -> Any:
    """The test of a loop itself. Errors: TypeError if it is no bool, or an array of several."""
    if shape_of(test) or not is_bool(np.result_type(test)):
        raise TypeError(
            "lax.while_loop: cond_fun must give one bool (shape (), dtype bool), but gave "
            f"{np.result_type(test)} of shape {shape_of(test)}; compare, or use np.any or np.all"
        )
    return test


def check_structure(name: str, before: Any, after: Any) -> None:
    """Errors: TypeError naming the place, if the carry of a loop changes structure or shape."""
    same = tree_structure(before) == tree_structure(after)
    leaves = zip(tree_leaves(before), tree_leaves(after), strict=False)
    if same and all(same_shape(x, y) for x, y in leaves):
        return
    old, new = (dict(tree_flatten_with_path(tree)[0]) for tree in (before, after))
    if same:
        place = next(p for p, x in old.items() if not same_shape(x, new[p]))
        raise TypeError(
            f"lax.{name}: the loop changes the shape of its carry at carry{keystr(place)}: it "
            f"starts as {shape_of(old[place])} and becomes {shape_of(new[place])}"
        )
    places = [path for path in (*old, *new) if (path in old) != (path in new)]
    path = keystr(places[0]) if places else ""
    raise TypeError(
        f"lax.{name}: the loop changes the structure of its carry at carry{path}: it starts as "
        f"{_described(before)} and becomes {_described(after)}"
    )


def same_shape(x: Any, y: Any) -> bool:
    return shape_of(x) == shape_of(y)


def _described(tree: Any) -> str:
    return str(tree_structure(tree)).removeprefix("PyTreeDef(").removesuffix(")")


# The passes read these as they read the user's functions; everything else here they call as it is.
for _function in (
    cond, switch, while_loop, fori_loop, scan, map, associative_scan, scanned,
):  # fmt: skip
    setattr(_function, "__overt_plain__", True)  # noqa: B010  functions have no such attribute
