"""Sizes that are not known yet: polynomials of named dimensions, as in `x: float32[b, 2*b]`.

They add, multiply and divide like whole numbers.  A comparison that the bounds of the names decide
has its answer; one whose answer depends on the sizes is an error, except that two sizes that are
not the same are taken to differ, which whoever fills in the sizes has to check (`assumptions`).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy

from overt.runtime.aval import Aval
from overt.runtime.errors import InconclusiveDimensionOperation
from overt.runtime.parts import is_array
from overt.runtime.primitive import GRAPH, Primitive

if TYPE_CHECKING:
    from overt.runtime.symbolic_shapes import SymbolicScope

__all__ = ["Dim", "evaluate", "is_symbolic_dim"]

# A size is a sum of terms: a tuple of (factor, power) pairs -> its whole-number coefficient.
# A factor is a name or an `Operation`.
Terms = dict[tuple[tuple[Any, int], ...], int]
_ASSUMED: ContextVar[dict[str, Dim] | None] = ContextVar("overt_assumed", default=None)
# Where a size of one needs no care: what is done for other sizes is right for it too.
_CAREFREE = (
    "primitive.broadcast_shapes", "primitive._prepared", "shaping.broadcast_shapes",
    "shaping.broadcast_to", "derivatives.fitted", "einsum.lean",
    "selecting.aligned_index", "index_plan.add",
)  # fmt: skip


class Operation:
    """A division with a remainder, or the larger or smaller of two sizes."""

    def __init__(self, name: str, left: Any, right: Any) -> None:
        self.name, self.left, self.right = name, left, right
        self.text = f"{name}({left}, {right})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Operation) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __str__(self) -> str:
        return self.text


OPERATIONS = {
    "floordiv": lambda x, y: x // y,
    "mod": lambda x, y: x % y,
    "max": lambda x, y: x if x >= y else y,
    "min": lambda x, y: x if x <= y else y,
}


class Dim:
    """A size that is not known yet."""

    __slots__ = ("terms", "scope", "_hash")
    symbolic = True

    def __init__(self, terms: Terms, scope: SymbolicScope) -> None:
        self.terms, self.scope = terms, scope
        self._hash = hash((id(scope), frozenset(terms.items())))

    # --- arithmetic

    def __add__(self, other: Any) -> Any:
        if not _is_size(other):
            return self._as_value("__add__", other)
        terms = dict(self.terms)
        for term, k in _terms(other).items():
            terms[term] = terms.get(term, 0) + k
        return _sized(terms, self.scope)

    __radd__ = __add__

    def __neg__(self) -> Any:
        return self * -1

    def __sub__(self, other: Any) -> Any:
        if not _is_size(other):
            return self._as_value("__sub__", other)
        return self + (-other)

    def __rsub__(self, other: Any) -> Any:
        return other + -self if _is_size(other) else self._as_value("__rsub__", other)

    def __mul__(self, other: Any) -> Any:
        if not _is_size(other):
            return self._as_value("__mul__", other)
        terms: Terms = {}
        for a, k in self.terms.items():
            for b, n in _terms(other).items():
                term = _product(a, b)
                terms[term] = terms.get(term, 0) + k * n
        return _sized(terms, self.scope)

    __rmul__ = __mul__

    def __pow__(self, power: Any) -> Any:
        if type(power) is not int or power < 0:
            return self._as_value("__pow__", power)
        return math.prod([self] * power)

    def __floordiv__(self, other: Any) -> Any:
        if not _is_size(other):
            return self._as_value("__floordiv__", other)
        other = _plain(other)
        exact = _quotient(self, other)
        return exact if exact is not None else operation("floordiv", self, other, self.scope)

    def __rfloordiv__(self, other: Any) -> Any:
        if not _is_size(other):
            return self._as_value("__rfloordiv__", other)
        return 0 if other == 0 else operation("floordiv", other, self, self.scope)

    def __mod__(self, other: Any) -> Any:
        if not _is_size(other):
            return self._as_value("__mod__", other)
        other = _plain(other)
        if _quotient(self, other) is not None:
            return 0
        rest: Any = self
        if type(other) is int:
            rest = _sized({t: k % other for t, k in self.terms.items()}, self.scope)
            if type(rest) is int:
                return rest % other
        return operation("mod", rest, other, self.scope)

    def __rmod__(self, other: Any) -> Any:
        if not _is_size(other):
            return self._as_value("__rmod__", other)
        return operation("mod", other, self, self.scope)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __truediv__(self, other: Any) -> Any:
        return self.value() / (other.value() if isinstance(other, Dim) else other)

    def __rtruediv__(self, other: Any) -> Any:
        return other / self.value()

    def _as_value(self, name: str, other: Any) -> Any:
        if isinstance(other, (float, complex, numpy.generic, numpy.ndarray)) or is_array(other):
            return getattr(self.value(), name)(other)
        return NotImplemented

    # --- comparisons

    def __eq__(self, other: object) -> bool:
        if other is self:
            return True
        if not _is_size(other) or (type(other) is Dim and other.scope is not self.scope):
            return False
        rest = self - other
        if type(rest) is int:
            return rest == 0
        low, high = rest.bound()
        if low <= 0 <= high:
            _assume(rest)
        return False

    def __ne__(self, other: object) -> bool:
        return not self.__eq__(other)

    def __hash__(self) -> int:
        return self._hash

    def _at_least(self, other: Any, text: str) -> bool:
        rest = self - other
        low, high = (rest, rest) if type(rest) is int else rest.bound()
        if low >= 0:
            return True
        if high < 0:
            return False
        raise InconclusiveDimensionOperation(
            f"whether {text} depends on the sizes that are filled in later; say what is known of "
            "them with constraints=, such as ['b >= 8'], or write the function without the "
            "comparison"
        )

    def __ge__(self, other: Any) -> bool:
        if not _is_size(other):
            return self.value() >= other
        return self._at_least(other, f"{self} >= {other}")

    def __gt__(self, other: Any) -> bool:
        if not _is_size(other):
            return self.value() > other
        return self._at_least(other + 1, f"{self} > {other}")

    def __le__(self, other: Any) -> bool:
        if not _is_size(other):
            return self.value() <= other
        return not self._at_least(other + 1, f"{self} <= {other}")

    def __lt__(self, other: Any) -> bool:
        if not _is_size(other):
            return self.value() < other
        return not self._at_least(other, f"{self} < {other}")

    def __bool__(self) -> bool:
        return self != 0

    def bound(self) -> tuple[float, float]:
        """The smallest and the largest that this can be."""
        low = high = 0.0
        for term, k in self.terms.items():
            a, b = 1.0, 1.0
            for factor, power in term:
                for _ in range(power):
                    x, y = _factor_bound(factor, self.scope)
                    ends = [_times(p, q) for p in (a, b) for q in (x, y)]
                    a, b = min(ends), max(ends)
            ends = [_times(k, a), _times(k, b)]
            low, high = low + min(ends), high + max(ends)
        for term, k in self.terms.items():
            least, most = self._without_division(term, k)
            low, high = max(low, least), min(high, most)
        for known in self.scope.at_least:
            if known is not self:
                rest = self - known if _smaller(self, known) else None
                if type(rest) is int:
                    low = max(low, rest)
                opposite = self + known if _smaller(self, known) else None
                if type(opposite) is int:
                    high = min(high, opposite)
        return low, high

    def _without_division(self, term: Any, k: int) -> tuple[float, float]:
        """Bounds by what `term` is: x % n, or x // n between (x - n + 1) / n and x / n."""
        factor = term[0][0] if len(term) == 1 and term[0][1] == 1 else None
        unknown = -math.inf, math.inf
        if not isinstance(factor, Operation) or factor.name not in ("floordiv", "mod"):
            return unknown
        n = factor.right
        others = _sized({t: m for t, m in self.terms.items() if t != term}, self.scope)
        if factor.name == "mod":  # from 0 to n - 1
            if _bound(n)[0] < 1:
                return unknown
            ends = _bound(others), _bound(others + (n - 1) * k)
            return min(a for a, _ in ends), max(b for _, b in ends)
        if type(n) is not int or n < 1:
            return unknown
        least, most = _bound(others * n + factor.left * k)
        lost = k * (n - 1)
        return (least - max(lost, 0)) / n, (most - min(lost, 0)) / n

    # --- as numbers

    def __index__(self) -> int:
        raise InconclusiveDimensionOperation(
            f"the size {self} is needed as a number, but it is filled in later; operations that "
            "need their sizes when they are written down cannot be exported for any size"
        )

    __int__ = __float__ = __index__  # type: ignore[assignment]

    def value(self) -> Any:
        """This size as an array, in the program being staged."""
        graph = GRAPH.get()
        if graph is None:
            self.__index__()
        # Of an argument, so that nobody takes it for a value that is known.
        return dimension(graph.root.inputs[0], length=self)

    def __str__(self) -> str:
        parts: list[str] = []
        for term, k in sorted(self.terms.items(), key=lambda item: (-len(item[0]), str(item[0]))):
            text = "*".join(str(f) for f, power in term for _ in range(power))
            whole = f"{abs(k)}*{text}" if text and abs(k) != 1 else text or str(abs(k))
            sign = "-" if k < 0 else "+"
            parts.append(f" {sign} {whole}" if parts else ("-" if k < 0 else "") + whole)
        return "".join(parts)

    __repr__ = __str__


def _assume(rest: Dim) -> None:
    """Note that a size was taken to be different from zero, except where that does not matter."""
    assumed = _ASSUMED.get()
    if assumed is None:
        return
    codes = [sys._getframe(i).f_code for i in (2, 3, 4)]
    if not any(f"{Path(c.co_filename).stem}.{c.co_name}" in _CAREFREE for c in codes):
        assumed[str(rest)] = rest


def _is_size(x: Any) -> bool:
    return type(x) in (int, Dim) or isinstance(x, numpy.integer)


def _plain(x: Any) -> Any:
    return x if type(x) is Dim else int(x)


def _terms(x: Any) -> Terms:
    return x.terms if type(x) is Dim else {(): int(x)}


def _sized(terms: Terms, scope: SymbolicScope) -> Any:
    kept = {term: k for term, k in terms.items() if k}
    if not kept:
        return 0
    if list(kept) == [()]:
        return kept[()]
    return Dim(kept, scope)


def _product(a: tuple, b: tuple) -> tuple:
    powers: dict[Any, int] = {}
    for factor, power in (*a, *b):
        powers[factor] = powers.get(factor, 0) + power
    return tuple(sorted(powers.items(), key=lambda item: str(item[0])))


def _times(x: float, y: float) -> float:
    return 0.0 if x == 0 or y == 0 else x * y


def _smaller(a: Dim, b: Dim) -> bool:
    """Whether two sums are of the same terms, numbers aside, so that their difference is one."""
    return {t for t in a.terms if t} == {t for t in b.terms if t}


def single_factor(x: Any) -> Any:
    """The one factor that a size is; None for any other."""
    if type(x) is Dim and len(x.terms) == 1:
        ((term, k),) = x.terms.items()
        if k == 1 and len(term) == 1 and term[0][1] == 1:
            return term[0][0]
    return None


def _quotient(x: Dim, y: Any) -> Any:
    """x / y where y divides every term of x, or x is a multiple of y."""
    if type(y) is int and y:
        if all(k % y == 0 for k in x.terms.values()):
            return _sized({t: k // y for t, k in x.terms.items()}, x.scope)
        return None
    if type(y) is not Dim:
        return None
    ((first, n), *others) = y.terms.items()
    if others:
        k = x.terms.get(first, 0)
        whole = k // n if n and k % n == 0 else 0
        return whole if whole and x.terms == _terms(y * whole) else None
    terms: Terms = {}
    for term, k in x.terms.items():
        powers = dict(term)
        for factor, power in first:
            powers[factor] = powers.get(factor, 0) - power
        if k % n or any(p < 0 for p in powers.values()):
            return None
        terms[tuple((f, p) for f, p in powers.items() if p)] = k // n
    return _sized(terms, x.scope)


def operation(name: str, left: Any, right: Any, scope: SymbolicScope) -> Any:
    made = Operation(name, left, right)
    if made in scope.equal:
        return scope.equal[made]
    return Dim({((made, 1),): 1}, scope)


def _factor_bound(factor: Any, scope: SymbolicScope) -> tuple[float, float]:
    if isinstance(factor, str):
        low: float = 1.0
        high = math.inf
        for known in scope.at_least:
            others = {t: k for t, k in known.terms.items() if t}
            if list(others) == [((factor, 1),)]:
                k, rest = others[(factor, 1),], known.terms.get((), 0)
                if k > 0:
                    low = max(low, -(rest // k))
                else:
                    high = min(high, rest // -k)
        return low, high
    (a, b), (c, d) = (_bound(x) for x in (factor.left, factor.right))
    if factor.name in ("max", "min"):
        choose = max if factor.name == "max" else min
        return choose(a, c), choose(b, d)
    if c <= 0:
        return -math.inf, math.inf
    if factor.name == "mod":
        return 0.0, d - 1
    least = math.floor(a / (d if a >= 0 else c)) if math.isfinite(a) else a
    most = math.floor(b / (c if b >= 0 else d)) if math.isfinite(b) else b
    return least, most


def _bound(x: Any) -> tuple[float, float]:
    return x.bound() if type(x) is Dim else (x, x)


# --- filling in


def evaluate(x: Any, sizes: dict[str, Any]) -> Any:
    """A size with the names filled in."""
    if type(x) is not Dim:
        return x
    total: Any = 0
    for term, k in x.terms.items():
        value: Any = k
        for factor, power in term:
            if isinstance(factor, str):
                found = sizes[factor]
            else:
                left, right = evaluate(factor.left, sizes), evaluate(factor.right, sizes)
                found = OPERATIONS[factor.name](left, right)
            value = value * found**power
        total = total + value
    return total


def names_of(x: Any) -> Iterator[str]:
    """The names that a size depends on."""
    for term in x.terms if type(x) is Dim else ():
        for factor, _ in term:
            if isinstance(factor, str):
                yield factor
            else:
                yield from names_of(factor.left)
                yield from names_of(factor.right)


@contextmanager
def assumptions() -> Iterator[dict[str, Dim]]:
    """What code in the block takes to be different from zero, by its text."""
    found: dict[str, Dim] = {}
    token = _ASSUMED.set(found)
    try:
        yield found
    finally:
        _ASSUMED.reset(token)


def is_symbolic_dim(p: Any) -> bool:
    """Whether a size is one that is not known yet.

    >>> from overt.runtime.symbolic_shapes import symbolic_shape
    >>> b, three = symbolic_shape("b, 3")
    >>> is_symbolic_dim(b), is_symbolic_dim(three)
    (True, False)
    """
    return type(p) is Dim


def _lower_dimension(b: Any, x: Any, *, avals: Any, out: Any, length: Any) -> Any:
    return b.full((), length.__index__(), out.dtype)


dimension = Primitive(
    "dimension",
    shape=lambda x, *, length: Aval((), numpy.dtype("int32"), True),
    lower=_lower_dimension,
    zero_derivative=True,
    batch=lambda values, axes, size, *, length: (dimension(values[0], length=length), None),
    doc="A size as a number of the program.",
)
