"""Optimizers as triples of functions: make a state, update it with gradients, read parameters.

An optimizer is written for one array and works on trees of them. Sizes of steps are numbers or
functions of the number of the step, such as the schedules here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import overt.runtime.numpy as np
from overt.runtime.called import call
from overt.runtime.tree import (
    register_pytree_node,
    tree_flatten,
    tree_leaves,
    tree_map,
    tree_unflatten,
)

__all__ = [
    "JoinPoint", "Optimizer", "OptimizerState", "adagrad", "adam", "adamax", "clip_grads",
    "constant", "exponential_decay", "inverse_time_decay", "l2_norm", "make_schedule", "momentum",
    "nesterov", "optimizer", "pack_optimizer_state", "piecewise_constant", "polynomial_decay",
    "rmsprop", "rmsprop_momentum", "sgd", "sm3", "unpack_optimizer_state",
]  # fmt: skip

Schedule = Callable[[Any], Any]


class OptimizerState(NamedTuple):
    """The states of all parameters, and how they belong together."""

    packed_state: tuple[Any, ...]  # for each parameter the leaves of its state
    tree_def: Any
    subtree_defs: tuple[Any, ...]


register_pytree_node(
    OptimizerState,
    lambda state: ((state.packed_state,), (state.tree_def, state.subtree_defs)),
    lambda structure, children: OptimizerState(children[0], *structure),
)


class Optimizer(NamedTuple):
    """`init_fn(params)`, `update_fn(step, grads, state)`, `params_fn(state)`."""

    init_fn: Callable[[Any], OptimizerState]
    update_fn: Callable[[Any, Any, OptimizerState], OptimizerState]
    params_fn: Callable[[OptimizerState], Any]


class JoinPoint:
    """Marks in an unpacked state where the parameters' tree ends and one parameter's state begins.

    It is no tree node, so that functions of trees stop here.
    """

    def __init__(self, subtree: Any):
        self.subtree = subtree

    def __repr__(self) -> str:
        return f"JoinPoint({self.subtree!r})"


def optimizer(opt_maker: Callable) -> Callable[..., Optimizer]:
    """Make an optimizer of trees from one of single arrays.

    `opt_maker` returns `init(x)`, `update(step, gradient, state)` and `get_params(state)`.

    >>> @optimizer
    ... def descent(size):
    ...     return lambda x: x, lambda i, g, x: x - size * g, lambda x: x
    >>> init, update, params = descent(0.5)
    >>> params(update(0, {"w": 2.0}, init({"w": 3.0})))
    {'w': 2.0}
    """

    @functools.wraps(opt_maker)
    def made(*args: Any, **kwargs: Any) -> Optimizer:
        init, update, get_params = opt_maker(*args, **kwargs)

        def init_all(params: Any) -> OptimizerState:
            leaves, definition = tree_flatten(params)
            return _packed([call(init, x) for x in leaves], definition)

        def update_all(i: Any, grads: Any, state: OptimizerState) -> OptimizerState:
            gradients, definition = tree_flatten(grads)
            if definition != state.tree_def:
                raise TypeError(
                    "the gradients are not a tree like the parameters that the optimizer was made "
                    f"for: {definition} is not {state.tree_def}"
                )
            new = [
                call(update, i, g, s) for g, s in zip(gradients, _states(state), strict=True)
            ]  # fmt: skip
            found = _packed(new, definition)
            for before, after in zip(state.subtree_defs, found.subtree_defs, strict=True):
                if before != after:
                    raise TypeError(
                        f"update must return a state like the one it is given: {after} is not "
                        f"{before}"
                    )
            return found

        def params_of(state: OptimizerState) -> Any:
            return tree_unflatten(state.tree_def, [call(get_params, s) for s in _states(state)])

        return Optimizer(init_all, update_all, params_of)

    return made


def _packed(states: list[Any], definition: Any) -> OptimizerState:
    pairs = [tree_flatten(state) for state in states]
    return OptimizerState(
        tuple(tuple(leaves) for leaves, _ in pairs), definition, tuple(kind for _, kind in pairs)
    )


def _states(state: OptimizerState) -> list[Any]:
    pairs = zip(state.subtree_defs, state.packed_state, strict=True)
    return [tree_unflatten(definition, leaves) for definition, leaves in pairs]


def unpack_optimizer_state(opt_state: OptimizerState) -> Any:
    """The state as a tree of `JoinPoint`, one for each parameter: a form that can be stored.

    >>> init, _, _ = momentum(0.1, 0.9)
    >>> unpack_optimizer_state(init({"w": 3.0}))["w"].subtree[0]
    3.0
    """
    marked = [JoinPoint(state) for state in _states(opt_state)]
    return tree_unflatten(opt_state.tree_def, marked)


def pack_optimizer_state(marked_pytree: Any) -> OptimizerState:
    """The state from what `unpack_optimizer_state` returns.

    >>> init, _, params = momentum(0.1, 0.9)
    >>> params(pack_optimizer_state(unpack_optimizer_state(init({"w": 3.0}))))
    {'w': 3.0}
    """
    marked, definition = tree_flatten(marked_pytree)
    if not all(isinstance(x, JoinPoint) for x in marked):
        raise TypeError("every leaf must be a JoinPoint, as unpack_optimizer_state makes them")
    return _packed([x.subtree for x in marked], definition)


# schedules ----------------------------------------------------------------------------------------


def make_schedule(scalar_or_schedule: Any) -> Schedule:
    """A schedule: as given, or that of a constant number.

    >>> make_schedule(0.1)(5)
    0.1
    """
    if callable(scalar_or_schedule):
        return lambda i: call(scalar_or_schedule, i)
    if np.ndim(scalar_or_schedule) == 0:
        return constant(scalar_or_schedule)
    raise TypeError(f"a step size is a number or a function of the step, not {scalar_or_schedule}")


def constant(step_size: Any) -> Schedule:
    """Steps of one size.

    >>> constant(0.1)(5)
    0.1
    """
    return lambda i: step_size


def exponential_decay(step_size: Any, decay_steps: Any, decay_rate: Any) -> Schedule:
    """Steps that shrink by `decay_rate` every `decay_steps`.

    >>> exponential_decay(8.0, 10, 0.5)(20)
    2.0
    """
    return lambda i: step_size * decay_rate ** (i / decay_steps)


def inverse_time_decay(
    step_size: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False
) -> Schedule:
    """Steps of size `step_size / (1 + decay_rate * i / decay_steps)`, i / decay_steps rounded down
    with `staircase`.

    >>> inverse_time_decay(8.0, 10, 1.0)(30)
    2.0
    """
    if staircase:
        return lambda i: step_size / (1 + decay_rate * np.floor(i / decay_steps))
    return lambda i: step_size / (1 + decay_rate * i / decay_steps)


def polynomial_decay(
    step_size: Any, decay_steps: Any, final_step_size: Any, power: Any = 1.0
) -> Schedule:
    """Steps that go from `step_size` to `final_step_size` by a power of the time that is left.

    >>> float(polynomial_decay(3.0, 10, 1.0)(5))
    2.0
    """

    def size(i: Any) -> Any:
        left = 1 - np.minimum(i, decay_steps) / decay_steps
        return left**power * (step_size - final_step_size) + final_step_size

    return size


def piecewise_constant(boundaries: Any, values: Any) -> Schedule:
    """`values[k]` after k of the `boundaries`, of which there is one less.

    >>> float(piecewise_constant([10, 20], [3.0, 2.0, 1.0])(15))
    2.0
    """
    boundaries, values = np.asarray(boundaries), np.asarray(values)
    if boundaries.ndim != 1 or values.ndim != 1:
        raise ValueError("piecewise_constant: boundaries and values must be sequences of numbers")
    if boundaries.shape[0] != values.shape[0] - 1:
        raise ValueError("piecewise_constant: there must be one more of values than of boundaries")
    return lambda i: values[np.sum(i > boundaries)]


# gradients ----------------------------------------------------------------------------------------


def l2_norm(tree: Any) -> Any:
    """The Euclidean norm of all numbers of a tree.

    >>> float(l2_norm({"a": 3.0, "b": 4.0}))
    5.0
    """
    return np.sqrt(sum(np.vdot(x, x) for x in tree_leaves(tree)))


def clip_grads(grad_tree: Any, max_norm: Any) -> Any:
    """Gradients scaled so that their norm is at most `max_norm`.

    >>> print(clip_grads([3.0, 4.0], 1.0)[1])
    0.8
    """
    norm = l2_norm(grad_tree)
    return tree_map(lambda g: np.where(norm < max_norm, g, g * (max_norm / norm)), grad_tree)


# optimizers ---------------------------------------------------------------------------------------


@optimizer
def sgd(step_size: Any) -> Any:
    """Steps down the gradient.

    >>> init, update, params = sgd(0.5)
    >>> params(update(0, 2.0, init(3.0)))
    2.0
    """
    size = make_schedule(step_size)
    return lambda x0: x0, lambda i, g, x: x - size(i) * g, lambda x: x


@optimizer
def momentum(step_size: Any, mass: Any) -> Any:
    """Steps down a running sum of gradients, which fades by `mass`.

    Source: Polyak, "Some methods of speeding up the convergence of iteration methods", 1964.
    """
    size = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, velocity = state
        velocity = mass * velocity + g
        return x - size(i) * velocity, velocity

    return _beside_zeros, update, _first


@optimizer
def nesterov(step_size: Any, mass: Any) -> Any:
    """As `momentum`, with the gradient where the running sum leads to.

    Source: Sutskever, Martens, Dahl and Hinton, 2013.
    """
    size = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, velocity = state
        velocity = mass * velocity + g
        return x - size(i) * (mass * velocity + g), velocity

    return _beside_zeros, update, _first


@optimizer
def adagrad(step_size: Any, momentum: Any = 0.9) -> Any:
    """Gradients over the root of the sum of all their squares so far.

    Source: Duchi, Hazan and Singer, "Adaptive subgradient methods", 2011.
    """
    size = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, squares, mean = state
        squares = squares + np.square(g)
        mean = (1 - momentum) * (g * _inverse_root(squares)) + momentum * mean
        return x - size(i) * mean, squares, mean

    return _beside_two_zeros, update, _first


def _inverse_root(x: Any) -> Any:
    """`1 / sqrt(x)`, 0 where x is not positive."""
    positive = x > 0
    return np.where(positive, 1 / np.sqrt(np.where(positive, x, 1)), 0)


@optimizer
def rmsprop(step_size: Any, gamma: Any = 0.9, eps: Any = 1e-8) -> Any:
    """Gradients over the root of a running mean of their squares.

    Source: Tieleman and Hinton, "Lecture 6.5: rmsprop", 2012.
    """
    size = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, squares = state
        squares = squares * gamma + np.square(g) * (1 - gamma)
        return x - size(i) * g / np.sqrt(squares + eps), squares

    return _beside_zeros, update, _first


@optimizer
def rmsprop_momentum(step_size: Any, gamma: Any = 0.9, eps: Any = 1e-8, momentum: Any = 0.9) -> Any:
    """`rmsprop` with a running sum of its steps, which fades by `momentum`."""
    size = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, squares, velocity = state
        squares = squares * gamma + np.square(g) * (1 - gamma)
        velocity = momentum * velocity + size(i) * g / np.sqrt(squares + eps)
        return x - velocity, squares, velocity

    return _beside_two_zeros, update, _first


@optimizer
def adam(step_size: Any, b1: Any = 0.9, b2: Any = 0.999, eps: Any = 1e-8) -> Any:
    """Running means of gradients and of their squares, both without their bias to zero.

    Source: Kingma and Ba, "Adam: a method for stochastic optimization", 2014.

    >>> init, update, params = adam(0.5)
    >>> print(np.round(params(update(0, 8.0, init(np.array(3.0)))), 3))
    2.5
    """
    size = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, mean, squares = state
        mean = (1 - b1) * g + b1 * mean
        squares = (1 - b2) * np.square(g) + b2 * squares
        mean_here = mean / (1 - np.asarray(b1, mean.dtype) ** (i + 1))
        squares_here = squares / (1 - np.asarray(b2, mean.dtype) ** (i + 1))
        return x - size(i) * mean_here / (np.sqrt(squares_here) + eps), mean, squares

    return _beside_two_zeros, update, _first


@optimizer
def adamax(step_size: Any, b1: Any = 0.9, b2: Any = 0.999, eps: Any = 1e-8) -> Any:
    """As `adam`, with the greatest gradient of late in place of the mean square.

    Source: Kingma and Ba, 2014, section 7.
    """
    size = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, mean, greatest = state
        mean = (1 - b1) * g + b1 * mean
        greatest = np.maximum(b2 * greatest, np.abs(g))
        unbiased = size(i) / (1 - np.asarray(b1, mean.dtype) ** (i + 1))
        return x - unbiased * mean / (greatest + eps), mean, greatest

    return _beside_two_zeros, update, _first


@optimizer
def sm3(step_size: Any, momentum: Any = 0.9) -> Any:
    """As `adagrad`, keeping one number a row and a column instead of one a parameter.

    Source: Anil, Gupta, Koren and Singer, "Memory-efficient adaptive optimization", 2019.
    """
    size = make_schedule(step_size)

    def init(x0: Any) -> Any:
        lengths = np.shape(x0) or (1,)
        dtype = np.result_type(x0)
        return x0, np.zeros_like(x0), [np.zeros(length, dtype) for length in lengths]

    def update(i: Any, g: Any, state: Any) -> Any:
        x, mean, covers = state
        ndim = np.ndim(x)
        bounds = [
            np.reshape(cover, [-1 if axis == along else 1 for axis in range(ndim)])
            for along, cover in enumerate(covers)
        ]
        squares = functools.reduce(np.minimum, bounds) + np.square(g)
        mean = (1 - momentum) * (g * _inverse_root(squares)) + momentum * mean
        covers = [
            np.max(squares, [axis for axis in range(ndim) if axis != along])
            if ndim else np.reshape(squares, 1)
            for along in range(len(covers))
        ]  # fmt: skip
        return x - size(i) * mean, mean, covers

    return init, update, _first


def _beside_zeros(x0: Any) -> Any:
    return x0, np.zeros_like(x0)


def _beside_two_zeros(x0: Any) -> Any:
    return x0, np.zeros_like(x0), np.zeros_like(x0)


def _first(state: Any) -> Any:
    return state[0]
