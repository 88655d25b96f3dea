"""Ordinary differential equations."""

from overt.runtime.ode import odeint

__all__ = ["odeint"]
