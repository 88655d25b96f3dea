"""Fit the parameters of an ordinary differential equation by gradients through its solver.

Shows reverse mode through a loop that steps a Runge-Kutta solver and stores each state into an
array that was allocated before it, as one writes it in NumPy. Foxes eat rabbits (Lotka and
Volterra); from the populations over time we recover the birth rate and the appetite that produced
them.

    python examples/ode.py
"""

from __future__ import annotations

import overt
import overt.numpy as np

STEPS = 100
DT = 0.1


def velocity(state, rates):
    """The rates of change of rabbits and foxes."""
    rabbits, foxes = state
    birth, appetite = rates
    return np.array([birth * rabbits - appetite * rabbits * foxes, 0.5 * rabbits * foxes - foxes])


def simulate(start, rates):
    """The populations at every step, by the classical Runge-Kutta method.

    Shapes: start [2], rates [2] -> [STEPS, 2].
    """
    path = np.zeros((STEPS, 2))
    state = start
    for step in range(STEPS):
        k1 = velocity(state, rates)
        k2 = velocity(state + 0.5 * DT * k1, rates)
        k3 = velocity(state + 0.5 * DT * k2, rates)
        k4 = velocity(state + DT * k3, rates)
        state = state + DT / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        path[step] = state
    return path


def misfit(rates, start, observed):
    """The mean squared distance between the simulated and the observed populations."""
    return np.mean((simulate(start, rates) - observed) ** 2)


def fit(start, observed, guess, steps=200, report=print):
    """Gradient descent with steps of a length that adapts: longer after a success, else shorter."""
    misfit_and_gradient = overt.jit(overt.value_and_grad(misfit))
    rates, length = guess, 0.05
    error, gradient = misfit_and_gradient(rates, start, observed)
    for step in range(steps):
        if step % 20 == 0:
            birth, appetite = rates
            report(
                f"step {step:3d}  misfit {error:.2e}  birth {birth:.4f}  appetite {appetite:.4f}"
            )
        trial = rates - length * gradient
        trial_error, trial_gradient = misfit_and_gradient(trial, start, observed)
        if trial_error < error:
            rates, error, gradient = trial, trial_error, trial_gradient
            length = 1.3 * length
        else:
            length = 0.5 * length
        if error < 1e-9:
            report(f"step {step:3d}  misfit {error:.2e}: close enough")
            break
    return rates


def main():
    start = np.array([1.0, 1.0])
    truth = np.array([1.1, 0.7])
    observed = overt.jit(simulate)(start, truth)
    rates = fit(start, observed, guess=np.array([0.9, 0.9]))
    print(f"found {rates[0]:.4f} and {rates[1]:.4f}; the truth is {truth[0]} and {truth[1]}")
    assert np.allclose(rates, truth, atol=2e-3)


if __name__ == "__main__":
    main()
