"""Einstein summation, contracted pair by pair in a good order."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any

import numpy

from overt.runtime.numpy.movement import permute, shape_of, with_rule
from overt.runtime.numpy.products import product
from overt.runtime.numpy.zeros import reached
from overt.runtime.primitive import composite

__all__ = ["einsum", "einsum_path"]


def cotangents_written(subscripts: Any, count: int) -> list[str] | None:
    """The text of each operand's cotangent: another einsum, where the formula allows that.

    >>> cotangents_written("ij,jk->ik", 2)[0]
    "sum_to(np.einsum('ik,jk->ij', reached_by('jk,ik', x1, g), reached_by('ik,jk', g, x1)), x0)"
    """
    if not isinstance(subscripts, str):
        return None
    left, arrow, right = subscripts.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != count:
        return None
    if not arrow:
        letters = "".join(terms)
        right = "".join(c for c in sorted(set(letters)) if letters.count(c) == 1)
    texts = []
    for k, term in enumerate(terms):
        rest = [j for j in range(count) if j != k]
        known = {*right, *"".join(terms[j] for j in rest)}
        if "." in subscripts or len(set(term)) < len(term) or not set(term) <= known:
            operands = "".join(f"x{j}, " for j in range(count))
            texts.append(f"einsum_back({k}, g, {subscripts!r}, {operands}zeros_win=True)")
            continue
        formula = ",".join([right, *(terms[j] for j in rest)]) + f"->{term}"
        operands = "".join(f", reached_by('{right},{terms[j]}', g, x{j})" for j in rest)
        g = "g"  # which is multiplied by another cotangent, where this is a second derivative
        for j in rest:
            g = f"reached_by('{terms[j]},{right}', x{j}, {g})"
        texts.append(f"sum_to(np.einsum({formula!r}, {g}{operands}), x{k})")
    return texts


@with_rule(
    arrays=("subscripts", "operands"),
    vjp=lambda g, out, subscripts, *operands, **how: [
        None,
        *einsum_bar(g, subscripts, *operands),
    ],
    written=cotangents_written,
)
def einsum(
    subscripts: Any, /, *operands: Any, out: Any = None, optimize: Any = "optimal",
    precision: Any = None, preferred_element_type: Any = None,
) -> Any:  # fmt: skip
    """Products of elements summed over the letters that the result lacks.

    >>> einsum("ij,j->i", np.array([[1, 2], [3, 4]]), np.array([1, 1]))
    Array([3, 7], dtype=int32)
    """
    formula, parts = canonical(subscripts, operands)
    return contraction(parts, formula, precision, preferred_element_type)


def einsum_path(subscripts: Any, /, *operands: Any, optimize: Any = "greedy") -> Any:
    """The order in which `einsum` would contract, as NumPy reports it.

    >>> einsum_path("ij,jk->ik", np.ones((2, 2)), np.ones((2, 2)))[0]
    ['einsum_path', (0, 1)]
    """
    shapes = [numpy.broadcast_to(numpy.float32(0), shape_of(x)) for x in operands]
    return numpy.einsum_path(subscripts, *shapes, optimize=optimize)


# reading the formula ------------------------------------------------------------------------------


def canonical(subscripts: Any, operands: Sequence[Any]) -> tuple[str, list[Any]]:
    """Formula "ab,bc->ac" without ellipsis or blanks, and its operands as arrays."""
    if not isinstance(subscripts, str):
        subscripts, operands = from_lists([subscripts, *operands])
    parts = [np.asarray(x) for x in operands]
    left, arrow, right = subscripts.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(parts):
        raise ValueError(f"einsum: {len(terms)} terms in {subscripts!r} for {len(parts)} operands")
    free = [c for c in string.ascii_letters if c not in subscripts]
    longest = 0
    widths = []
    for term, part in zip(terms, parts, strict=True):
        named = len(term.replace("...", ""))
        width = part.ndim - named
        if width < 0 or (width and "..." not in term):
            raise ValueError(f"einsum: term {term!r} does not fit an operand of shape {part.shape}")
        widths.append(width)
        longest = max(longest, width)
    dots = "".join(free[:longest])
    terms = [
        term.replace("...", dots[longest - width :] if width else "")
        for term, width in zip(terms, widths, strict=True)
    ]
    if arrow:
        right = right.replace("...", dots)
    else:
        letters = "".join(terms)
        right = dots + "".join(
            c for c in sorted(set(letters)) if letters.count(c) == 1 and c not in dots
        )
    if unknown := set(right) - set("".join(terms)):
        raise ValueError(f"einsum: {sorted(unknown)} occur in the result of {subscripts!r} only")
    if len(set(right)) != len(right):
        raise ValueError(f"einsum: the result of {subscripts!r} has a letter twice")
    return ",".join(terms) + "->" + right, parts


def from_lists(arguments: list[Any]) -> tuple[str, list[Any]]:
    """From `einsum(x, [0, 1], y, [1, 2], [0, 2])` to a formula and operands."""

    def letters(places: Any) -> str:
        return "".join("..." if k is Ellipsis else string.ascii_letters[k] for k in places)

    operands = arguments[: len(arguments) // 2 * 2 : 2]
    formula = ",".join(letters(places) for places in arguments[1::2][: len(operands)])
    if len(arguments) % 2:
        formula += "->" + letters(arguments[-1])
    return formula, operands


def sizes_of(terms: Sequence[str], shapes: Sequence[tuple[int, ...]]) -> dict[str, int]:
    """Length of every letter. Errors: ValueError where two operands disagree."""
    sizes: dict[str, int] = {}
    for term, shape in zip(terms, shapes, strict=True):
        for letter, n in zip(term, shape, strict=True):
            if sizes.setdefault(letter, n) != n and n != 1:
                if sizes[letter] != 1:
                    raise ValueError(
                        f"einsum: letter {letter!r} has length {sizes[letter]} and {n}"
                    )
                sizes[letter] = n
    return sizes


# contracting --------------------------------------------------------------------------------------


@composite(arrays=("operands",))
def contraction(operands: Any, formula: str, precision: Any, dtype: Any) -> Any:
    """What a canonical formula means, one pair of operands at a time."""
    left, _, right = formula.partition("->")
    terms = left.split(",")
    shapes = [x.shape for x in operands]
    return contracted(terms, list(operands), right, sizes_of(terms, shapes), precision, dtype)


def contracted(
    terms: list[str], operands: list[Any], right: str, sizes: dict[str, int],
    precision: Any = None, dtype: Any = None,
) -> Any:  # fmt: skip
    """Sum of products; letters of the result that no operand has are broadcast to `sizes`."""
    pairs = [lean(term, x, sizes) for term, x in zip(terms, operands, strict=True)]
    for first, second in contraction_order(pairs, right, sizes):
        left, other = pairs[first], pairs[second]
        pairs = [pair for k, pair in enumerate(pairs) if k not in (first, second)]
        needed = set(right).union(*(term for term, _ in pairs))
        pairs.append(multiplied(left, other, needed, precision, dtype))
    ((term, x),) = pairs
    term, x = summed(term, x, set(right))
    order = [term.index(letter) for letter in right if letter in term]
    x = permute(x, axes=tuple(order)) if order != list(range(len(order))) else x
    missing = [k for k, letter in enumerate(right) if letter not in term]
    if missing:
        x = np.broadcast_to(np.expand_dims(x, tuple(missing)), tuple(sizes[c] for c in right))
    return x if dtype is None else x.astype(dtype)


def lean(term: str, x: Any, sizes: dict[str, int]) -> tuple[str, Any]:
    """An operand without repeated letters (its diagonal) and without broadcast axes."""
    for letter in dict.fromkeys(term):
        while term.count(letter) > 1:
            first = term.index(letter)
            second = term.index(letter, first + 1)
            x = np.diagonal(x, 0, first, second)
            term = term[:first] + term[first + 1 : second] + term[second + 1 :] + letter
    short = tuple(
        k for k, letter in enumerate(term) if x.shape[k] != sizes[letter] and x.shape[k] == 1
    )
    if short:
        x = np.squeeze(x, short)
        term = "".join(letter for k, letter in enumerate(term) if k not in short)
    return term, x


def contraction_order(pairs: list[Any], right: str, sizes: dict[str, int]) -> list[tuple[int, int]]:
    """Which two operands to contract, step by step; the result of a step comes last."""
    count = len(pairs)
    if count < 3:
        return [(0, 1)] * (count - 1)
    stand_ins = [
        numpy.broadcast_to(numpy.float32(0), tuple(max(sizes[c], 1) for c in term))
        for term, _ in pairs
    ]
    known = {letter for term, _ in pairs for letter in term}
    formula = ",".join(t for t, _ in pairs) + "->" + "".join(c for c in right if c in known)
    path = numpy.einsum_path(formula, *stand_ins, optimize="optimal" if count < 6 else "greedy")[0]
    if any(len(step) != 2 for step in path[1:]):
        return [(0, 1)] * (count - 1)
    return [(step[0], step[1]) for step in path[1:]]


def summed(term: str, x: Any, needed: set[str]) -> tuple[str, Any]:
    """Without the letters that nothing else needs."""
    gone = tuple(k for k, letter in enumerate(term) if letter not in needed)
    if not gone:
        return term, x
    return "".join(letter for letter in term if letter in needed), np.sum(x, axis=gone)


def multiplied(
    first: Any, second: Any, needed: set[str], precision: Any, dtype: Any
) -> tuple[str, Any]:
    """The product of two operands, summed over the letters that nothing else needs."""
    a, x = summed(first[0], first[1], needed | set(second[0]))
    b, y = summed(second[0], second[1], needed | set(first[0]))
    shared = [letter for letter in a if letter in b]
    batch = [letter for letter in shared if letter in needed]
    over = [letter for letter in shared if letter not in needed]
    axes = [
        (tuple(a.index(c) for c in letters), tuple(b.index(c) for c in letters))
        for letters in (batch, over)
    ]
    rest = [c for c in a if c not in shared] + [c for c in b if c not in shared]
    return "".join(batch + rest), product(x, y, axes[0], axes[1], precision, dtype)


# derivative ---------------------------------------------------------------------------------------


def einsum_bar(g: Any, subscripts: Any, *operands: Any) -> list[Any]:
    """Cotangents of all operands of `einsum(subscripts, *operands)`."""
    count = len(canonical(subscripts, operands)[1])
    return [einsum_back(k, g, subscripts, *operands, zeros_win=True) for k in range(count)]


@with_rule(
    arrays=("terms", "g", "x"),
    vjp=(None, None, lambda h, out, terms, g, x: reached_by(terms, g, h)),
    jvp=lambda dots, out, terms, g, x: reached_by(terms, g, dots[2]),
)
def reached_by(terms: str, g: Any, x: Any) -> Any:
    """`reached`, by the letters of the axes of g and x.

    >>> reached_by("ik,jk", np.array([[0.0, 1.0]]), np.array([[np.inf, 2.0]]))
    Array([[0., 2.]], dtype=float32)
    """
    ours, letters = terms.split(",")
    letters = "".join(dict.fromkeys(letters)) if len(set(letters)) < len(letters) else letters
    gone = tuple(k for k, c in enumerate(ours) if c not in letters)
    kept = [c for c in ours if c in letters]
    met = np.any(np.asarray(g) != 0, gone)
    order = sorted(range(len(kept)), key=lambda k: letters.index(kept[k]))
    met = np.transpose(met, order) if kept else met
    lengths = iter(met.shape)
    met = np.reshape(met, [next(lengths) if c in kept else 1 for c in letters])
    return reached(x, met)


def einsum_back(k: int, g: Any, subscripts: Any, *operands: Any, zeros_win: bool = False) -> Any:
    """Cotangent of operand k of `einsum(subscripts, *operands)`.

    With `zeros_win`, what of the others only zeros of g meet may be infinite or NaN.
    """
    formula, parts = canonical(subscripts, operands)
    left, _, right = formula.partition("->")
    terms = left.split(",")
    sizes = sizes_of(terms, [x.shape for x in parts])
    others = [t for j, t in enumerate(terms) if j != k]
    rest = [p for j, p in enumerate(parts) if j != k]
    if zeros_win:
        rest = [reached_by(f"{right},{t}", g, p) for t, p in zip(others, rest, strict=True)]
    letters = "".join(dict.fromkeys(terms[k]))
    bar = contracted([right, *others], [g, *rest], letters, sizes)
    return sum_to(spread_diagonal(bar, letters, terms[k], sizes), parts[k])


def spread_diagonal(bar: Any, letters: str, term: str, sizes: dict[str, int]) -> Any:
    """From one axis a letter to as many as the term has, zero off the diagonal."""
    places = {letter: [k for k, c in enumerate(term) if c == letter] for letter in letters}
    shape = tuple(sizes[c] for c in term)
    first = [places[letter][0] for letter in letters]
    lengths = [sizes[c] if k in first else 1 for k, c in enumerate(term)]
    result = np.broadcast_to(np.reshape(bar, lengths), shape)
    for letter, axes in places.items():
        for axis in axes[1:]:
            n = sizes[letter]
            here = np.reshape(np.arange(n), [n if k == axes[0] else 1 for k in range(len(term))])
            there = np.reshape(np.arange(n), [n if k == axis else 1 for k in range(len(term))])
            result = np.where(here == there, result, 0)
    return result


from overt.runtime import numpy as np  # noqa: E402
from overt.runtime.derivatives import sum_to  # noqa: E402
