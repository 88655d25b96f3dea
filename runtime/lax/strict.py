"""The elementwise functions of `lax`: NumPy's, less their promotion of dtypes and ranks.

Array operands must have one dtype and one shape; Python numbers adapt to them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import overt.runtime.numpy as np
from overt.runtime import dtypes
from overt.runtime.aval import aval_of
from overt.runtime.lax.kinds import AccuracyMode, RoundingMethod, Tolerance
from overt.runtime.numpy.rounding import from_parts
from overt.runtime.numpy.zeros import over, times
from overt.runtime.primitive import Primitive, rule_of
from overt.runtime.scipy import incomplete_slopes, special
from overt.runtime.scipy.special import expit

KINDS = {"b": "boolean", "i": "integer", "u": "integer", "f": "floating", "c": "complex"}


def check_same_dtypes(name: str, operands: tuple[Any, ...]) -> None:
    """Errors: TypeError naming the dtypes, unless they are one; numbers need only fit it."""
    avals = [aval_of(x) for x in operands]
    strong = list(dict.fromkeys(a.dtype for a in avals if not a.weak))
    if len(strong) == 1:
        wanted = strong[0]
        wrong = [a.dtype for a in avals if a.weak and not _fits(a.dtype, wanted)]
    else:
        wanted, *wrong = strong or list(dict.fromkeys(a.dtype for a in avals))
    if wrong:
        raise TypeError(
            f"lax.{name} needs operands of one dtype, got "
            f"{' and '.join(t.name for t in dict.fromkeys([wanted, *wrong]))}; convert one of "
            "them, or use the function of overt.numpy, which promotes dtypes"
        )


def _fits(weak: Any, dtype: Any) -> bool:
    return dtypes.result_kind((weak, True), (dtype, False))[0] == dtype


def check_same_shapes(name: str, operands: tuple[Any, ...]) -> None:
    """Errors: TypeError unless the shapes are one; scalars and lengths of 1 fit any."""
    shapes = list(dict.fromkeys(shape for x in operands if (shape := np.shape(x))))
    if len(set(map(len, shapes))) > 1:
        raise TypeError(f"lax.{name} needs operands of one rank, got shapes {shapes}")


def _check(name: str, kinds: str, operands: tuple[Any, ...]) -> None:
    if len(operands) > 1:
        check_same_dtypes(name, operands)
        check_same_shapes(name, operands)
    for x in operands:
        dtype = aval_of(x).dtype
        # a Python int may stand for a float beside one
        if dtypes.category(dtype) not in kinds and (len(operands) == 1 or np.ndim(x)):
            wanted = ", ".join(dict.fromkeys(KINDS[kind] for kind in kinds))
            raise TypeError(f"lax.{name} does not accept dtype {dtype}; it takes {wanted}")


# Functions that may be told how exact to be; ours are as exact as they can whatever is asked for.
_TOLERANT = frozenset("cbrt cos exp exp2 expm1 log log1p logistic rsqrt sin sqrt tan tanh".split())


# Names of the operands, where they are not x and y.
_NAMES = {
    "nextafter": ("x1", "x2"), "polygamma": ("m", "x"), "igamma": ("a", "x"),
    "igammac": ("a", "x"), "igamma_grad_a": ("a", "x"), "random_gamma_grad": ("a", "x"),
    "betainc": ("a", "b", "x"), "zeta": ("x", "q"),
}  # fmt: skip


def _strict(name: str, function: Callable, kinds: str = "iufc") -> Callable[..., Any]:
    accepted: set[tuple] = set()
    rule = rule_of(function)
    names = _NAMES.get(name, ("x", "y"))[: len(rule.arrays) if rule else None]

    def strict(*operands: Any, accuracy: Any = None, out_dtype: Any = None, **named: Any) -> Any:
        if named:
            operands += tuple(named.pop(n) for n in names[len(operands) :] if n in named)
            if named:
                raise TypeError(f"lax.{name} has no parameter {next(iter(named))!r}")
        if accuracy is not None and not (
            name in _TOLERANT and isinstance(accuracy, (AccuracyMode, Tolerance))
        ):
            raise TypeError(f"lax.{name} cannot be told accuracy={accuracy!r}")
        avals = tuple([aval_of(x) for x in operands])
        if avals not in accepted:
            _check(name, kinds, operands)
            accepted.add(avals)
        if out_dtype is not None:
            if name != "mul":
                raise TypeError(f"lax.{name} has no parameter 'out_dtype'")
            operands = tuple(np.astype(x, out_dtype) for x in operands)
        return function(*operands)

    strict.__name__ = strict.__qualname__ = name
    strict.__module__ = __name__
    strict.__doc__ = f"`{getattr(function, '__name__', name)}` without promotion of dtypes."
    strict.rule = rule  # type: ignore[attr-defined]
    return strict


_div = Primitive(
    "lax_div",
    elementwise=True,
    lower=lambda b, x, y, *, avals, out: (
        b.quotient(x, y) if dtypes.is_inexact(out.dtype) else b.binary("divide", x, y)
    ),
    vjp=(lambda g, out, x, y: over(g, y), lambda g, out, x, y: -times(g, out / y)),
    doc="Quotient; of integers, rounded towards zero.",
)

_rem = Primitive(
    "lax_rem",
    elementwise=True,
    lower="remainder",
    vjp=(lambda g, out, x, y: g, lambda g, out, x, y: -times(g, np.trunc(x / y))),
    doc="What `div` leaves, with the sign of the dividend; x itself for an integer divisor 0.",
)

_shift_right_logical = Primitive(
    "lax_shift_right_logical",
    elementwise=True,
    lower="shift_right_logical",
    vjp=(None, None),
    arrays=("x", "n"),
    doc="Bits moved right, zeros moved in.",
)

_shift_right_arithmetic = Primitive(
    "lax_shift_right_arithmetic",
    elementwise=True,
    lower="shift_right_arithmetic",
    vjp=(None, None),
    arrays=("x", "n"),
    doc="Bits moved right, copies of the sign moved in.",
)

_clz = Primitive(
    "lax_clz",
    elementwise=True,
    lower="count_leading_zeros",
    vjp=(None,),
    doc="How many of the leading bits are zero.",
)

_mulhi = Primitive(
    "lax_mulhi",
    elementwise=True,
    lower="chlo.mulhi",
    vjp=(None, None),
    arrays=("x", "y"),
    doc="The upper half of the bits of a product.",
)

_away_from_zero = Primitive(
    "lax_round_away_from_zero",
    elementwise=True,
    lower="round_nearest_afz",
    vjp=(None,),
    arrays=("x",),
    doc="The nearest integer; half way between two, the one further from zero.",
)

_population_count = Primitive(
    "lax_population_count",
    elementwise=True,
    lower="popcnt",
    vjp=(None,),
    doc="How many bits are set.",
)

_logistic = Primitive(
    "lax_logistic",
    elementwise=True,
    float_only=True,
    lower="logistic",
    vjp=(lambda g, out, x: times(g, out * expit(-x)),),
    doc="1 / (1 + exp(-x)).",
)

REAL, FLOAT, INTEGER, ANY = "iuf", "fc", "iub", "biufc"

abs = _strict("abs", np.abs)
acos = _strict("acos", np.arccos, FLOAT)
acosh = _strict("acosh", np.arccosh, FLOAT)
add = _strict("add", np.add)
asin = _strict("asin", np.arcsin, FLOAT)
asinh = _strict("asinh", np.arcsinh, FLOAT)
atan = _strict("atan", np.arctan, FLOAT)
atan2 = _strict("atan2", np.arctan2, FLOAT)
atanh = _strict("atanh", np.arctanh, FLOAT)
bessel_i0e = _strict("bessel_i0e", special.i0e, "f")
bessel_i1e = _strict("bessel_i1e", special.i1e, "f")
betainc = _strict("betainc", special.betainc, "f")
bitwise_and = _strict("bitwise_and", np.bitwise_and, INTEGER)
bitwise_not = _strict("bitwise_not", np.invert, INTEGER)
bitwise_or = _strict("bitwise_or", np.bitwise_or, INTEGER)
bitwise_xor = _strict("bitwise_xor", np.bitwise_xor, INTEGER)
cbrt = _strict("cbrt", np.cbrt, "f")
ceil = _strict("ceil", np.ceil, "f")
clz = _strict("clz", _clz, "iu")
conj = _strict("conj", np.conj, FLOAT)
cos = _strict("cos", np.cos, FLOAT)
cosh = _strict("cosh", np.cosh, FLOAT)
digamma = _strict("digamma", special.digamma, "f")
div = _strict("div", _div)
eq = _strict("eq", np.equal, ANY)
erf = _strict("erf", special.erf, "f")
erf_inv = _strict("erf_inv", special.erfinv, "f")
erfc = _strict("erfc", special.erfc, "f")
exp = _strict("exp", np.exp, FLOAT)
exp2 = _strict("exp2", np.exp2, FLOAT)
expm1 = _strict("expm1", np.expm1, FLOAT)
floor = _strict("floor", np.floor, "f")
ge = _strict("ge", np.greater_equal, ANY)
gt = _strict("gt", np.greater, ANY)
igamma = _strict("igamma", special.gammainc, "f")
igamma_grad_a = _strict("igamma_grad_a", incomplete_slopes.igamma_grad_a, "f")
igammac = _strict("igammac", special.gammaincc, "f")
imag = _strict("imag", np.imag, "c")
is_finite = _strict("is_finite", np.isfinite, FLOAT)
le = _strict("le", np.less_equal, ANY)
lgamma = _strict("lgamma", special.gammaln, "f")
log = _strict("log", np.log, FLOAT)
log1p = _strict("log1p", np.log1p, FLOAT)
logistic = _strict("logistic", _logistic, FLOAT)
lt = _strict("lt", np.less, ANY)
max = _strict("max", np.maximum, ANY)
min = _strict("min", np.minimum, ANY)
mul = _strict("mul", np.multiply)
mulhi = _strict("mulhi", _mulhi, "iu")
ne = _strict("ne", np.not_equal, ANY)
neg = _strict("neg", np.negative)
nextafter = _strict("nextafter", np.nextafter, "f")
polygamma = _strict("polygamma", special.polygamma, "f")
population_count = _strict("population_count", _population_count, "iu")
pow = _strict("pow", np.power)
random_gamma_grad = _strict("random_gamma_grad", incomplete_slopes.random_gamma_grad, "f")
real = _strict("real", np.real, FLOAT)
reciprocal = _strict("reciprocal", np.reciprocal, FLOAT)
rem = _strict("rem", _rem, REAL)
rsqrt = _strict("rsqrt", np.rsqrt, FLOAT)
shift_left = _strict("shift_left", np.left_shift, "iu")
shift_right_arithmetic = _strict("shift_right_arithmetic", _shift_right_arithmetic, "iu")
shift_right_logical = _strict("shift_right_logical", _shift_right_logical, "iu")
sign = _strict("sign", np.sign)
sin = _strict("sin", np.sin, FLOAT)
sinh = _strict("sinh", np.sinh, FLOAT)
sqrt = _strict("sqrt", np.sqrt, FLOAT)
square = _strict("square", np.square)
sub = _strict("sub", np.subtract)
tan = _strict("tan", np.tan, FLOAT)
tanh = _strict("tanh", np.tanh, FLOAT)
zeta = _strict("zeta", special.zeta, "f")


_rounded = {
    RoundingMethod.AWAY_FROM_ZERO: _strict("round", _away_from_zero, "f"),
    RoundingMethod.TO_NEAREST_EVEN: _strict("round", np.round, "f"),
}


def round(x: Any, rounding_method: RoundingMethod = RoundingMethod.AWAY_FROM_ZERO) -> Any:
    """The nearest integers; numbers half way between two go where the method says.

    >>> print(round(np.array([0.5, 2.5, -2.5])))
    [ 1.  3. -3.]
    """
    return _rounded[RoundingMethod(rounding_method)](x)


def complex(x: Any, y: Any) -> Any:
    """The complex number x + iy.

    >>> print(complex(np.array(1.0), np.array(2.0)))
    (1+2j)
    """
    check_same_dtypes("complex", (x, y))
    check_same_shapes("complex", (x, y))
    return from_parts(x, y)


def integer_pow(x: Any, y: int) -> Any:
    """`x` to a power that is a Python integer.

    >>> print(integer_pow(np.array([2.0, 3.0]), -1))
    [0.5        0.33333334]
    """
    return np.power(x, int(y))


def clamp(min: Any, x: Any, max: Any) -> Any:
    """`x`, but not below `min` and not above `max`.

    >>> print(clamp(0.0, np.array([-1.0, 0.5, 3.0]), 1.0))
    [0.  0.5 1. ]
    """
    check_same_dtypes("clamp", (min, x, max))
    return np.clip(x, min, max)


def select(pred: Any, on_true: Any, on_false: Any) -> Any:
    """Elements of `on_true` where `pred` holds, else of `on_false`.

    Shapes: both cases have one shape; `pred` has it too or is a scalar.

    >>> print(select(np.array([True, False]), np.array([1, 2]), np.array([3, 4])))
    [1 4]
    """
    check_same_dtypes("select", (on_true, on_false))
    if np.shape(on_true) != np.shape(on_false):
        shapes = f"{np.shape(on_true)} and {np.shape(on_false)}"
        raise TypeError(f"lax.select needs two cases of one shape, got {shapes}")
    return np.where(pred, on_true, on_false)


def select_n(which: Any, *cases: Any) -> Any:
    """Elements of the case whose number `which` holds there.

    >>> print(select_n(np.array([0, 2]), np.array([1, 2]), np.array([3, 4]), np.array([5, 6])))
    [1 6]
    """
    check_same_dtypes("select_n", cases)
    result = cases[-1]
    for number in reversed(range(len(cases) - 1)):
        result = np.where(np.equal(which, number), cases[number], result)
    return result
