"""Density estimated from a sample by a normal distribution around each of its points."""

from __future__ import annotations

from typing import Any

import overt.runtime.numpy as np
from overt.runtime import random
from overt.runtime.primitive import composite
from overt.runtime.scipy.error_functions import floating, ndtr
from overt.runtime.scipy.special import logsumexp
from overt.runtime.scipy.stats.normal import multivariate_normal
from overt.runtime.tree_registry import register_pytree_node_class

__all__ = ["gaussian_kde"]


@composite(arrays=("points", "dataset", "weights", "covariance"))
def _log_density(points: Any, dataset: Any, weights: Any, covariance: Any) -> Any:
    """Logarithm of the density at each column of `points`."""
    kernels = multivariate_normal.logpdf(points.T[:, None], dataset.T, covariance)
    return logsumexp(kernels, 1, b=weights)


@register_pytree_node_class
class gaussian_kde:
    """Estimate of a density from a sample, by Gaussian kernels.

    `dataset` has shape (d, n), or (n,) for one variable.  `bw_method` is 'scott' (also None),
    'silverman', a number, or a function of this object that gives the number: the width of the
    kernels in units of the sample's covariance.  `weights` of shape (n,) need not add up to one.
    Source: D. W. Scott, Multivariate Density Estimation, 1992.

    >>> estimate = gaussian_kde(np.array([0.0, 1.0, 2.0]))
    >>> print(np.round(estimate(np.array([1.0])), 4))
    [0.3182]
    """

    neff: Any
    dataset: Any
    weights: Any
    covariance: Any
    inv_cov: Any

    def __init__(self, dataset: Any, bw_method: Any = None, weights: Any = None):
        dataset = np.atleast_2d(floating(dataset))
        if np.iscomplexobj(dataset):
            raise NotImplementedError("gaussian_kde: the sample is complex; split it into parts")
        if dataset.size < 2:
            raise ValueError("gaussian_kde: the sample must have more than one number")
        d, n = dataset.shape
        if weights is None:
            weights = np.full(n, 1 / n, dataset.dtype)
        else:
            weights = np.atleast_1d(floating(weights)).astype(dataset.dtype)
            if weights.shape != (n,):
                raise ValueError(f"gaussian_kde: weights of {n} points, not of {weights.shape}")
            weights = weights / np.sum(weights)
        self.dataset, self.weights = dataset, weights
        self.neff = 1 / np.sum(weights**2)
        spread = np.atleast_2d(np.cov(dataset, rowvar=True, bias=False, aweights=weights))
        self.covariance = spread * self._width(bw_method) ** 2
        self.inv_cov = np.linalg.inv(spread) / self._width(bw_method) ** 2

    def _width(self, bw_method: Any) -> Any:
        if bw_method is None or (isinstance(bw_method, str) and bw_method == "scott"):
            return self.neff ** (-1 / (self.d + 4))
        if isinstance(bw_method, str) and bw_method == "silverman":
            return (self.neff * (self.d + 2) / 4) ** (-1 / (self.d + 4))
        if callable(bw_method):
            return bw_method(self)
        if isinstance(bw_method, str) or np.ndim(bw_method):
            raise ValueError(
                "gaussian_kde: bw_method is 'scott', 'silverman', a number or a function, "
                f"not {bw_method!r}"
            )
        return bw_method

    @property
    def d(self) -> int:
        """How many variables there are."""
        return self.dataset.shape[0]

    @property
    def n(self) -> int:
        """How many points there are."""
        return self.dataset.shape[1]

    def tree_flatten(self) -> tuple[tuple, None]:
        """Its arrays."""
        return (self.neff, self.dataset, self.weights, self.covariance, self.inv_cov), None

    @classmethod
    def tree_unflatten(cls, _: None, children: Any) -> gaussian_kde:
        """The estimate of these arrays."""
        estimate = object.__new__(cls)
        names = ("neff", "dataset", "weights", "covariance", "inv_cov")
        vars(estimate).update(zip(names, children, strict=True))
        return estimate

    def _columns(self, points: Any) -> Any:
        """The points as columns."""
        points = np.atleast_2d(floating(points))
        if points.shape[0] != self.d and points.shape == (1, self.d):
            points = points.T
        if points.ndim != 2 or points.shape[0] != self.d:
            raise ValueError(
                f"gaussian_kde: points of {self.d} variables have shape ({self.d}, m), "
                f"not {points.shape}"
            )
        return points

    def logpdf(self, x: Any) -> Any:
        """Logarithm of the density at the points `x`, of shape (d, m) or (m,)."""
        return _log_density(self._columns(x), self.dataset, self.weights, self.covariance)

    def evaluate(self, points: Any) -> Any:
        """Density at the points, of shape (d, m) or (m,)."""
        return np.exp(self.logpdf(points))

    def __call__(self, points: Any) -> Any:
        """The same as `evaluate`."""
        return self.evaluate(points)

    def pdf(self, x: Any) -> Any:
        """The same as `evaluate`."""
        return self.evaluate(x)

    def integrate_gaussian(self, mean: Any, cov: Any) -> Any:
        """Integral of the density times a normal density."""
        mean, cov = np.atleast_1d(floating(mean)), np.atleast_2d(floating(cov))
        if mean.shape != (self.d,) or cov.shape != (self.d, self.d):
            raise ValueError(
                f"gaussian_kde: a normal distribution of {self.d} variables, not one with mean "
                f"{mean.shape} and covariance {cov.shape}"
            )
        kernels = multivariate_normal.pdf(self.dataset.T, mean, self.covariance + cov)
        return np.sum(kernels * self.weights, -1)

    def integrate_box_1d(self, low: Any, high: Any) -> Any:
        """Probability of the interval from `low` to `high`, for one variable."""
        if self.d != 1:
            raise ValueError("gaussian_kde: integrate_box_1d is for one variable")
        if np.ndim(low) or np.ndim(high):
            raise ValueError("gaussian_kde: the limits of integrate_box_1d are numbers")
        width = np.sqrt(self.covariance[0, 0])
        below = [ndtr((limit - self.dataset[0]) / width) for limit in (low, high)]
        return np.sum(self.weights * (below[1] - below[0]))

    def integrate_kde(self, other: Any) -> Any:
        """Integral of the product with another estimate."""
        if self.d != other.d:
            raise ValueError(f"gaussian_kde: estimates of {self.d} and of {other.d} variables")
        cov = self.covariance + other.covariance
        kernels = multivariate_normal.pdf(self.dataset.T[:, None], other.dataset.T, cov)
        return np.sum(kernels * self.weights[:, None] * other.weights)

    def resample(self, key: Any, shape: Any = ()) -> Any:
        """Points drawn from the estimate, of shape (d, *shape)."""
        index_key, noise_key = random.split(key)
        chosen = random.choice(index_key, self.n, shape=shape, p=self.weights)
        noise = random.multivariate_normal(
            noise_key, np.zeros(self.d, self.covariance.dtype), self.covariance, shape=shape
        )
        return self.dataset[:, chosen] + np.moveaxis(noise, -1, 0)

    def integrate_box(self, low_bounds: Any, high_bounds: Any, maxpts: Any = None) -> Any:
        """Refused: there is no distribution function of several normal variables here."""
        raise NotImplementedError(
            "gaussian_kde.integrate_box: only intervals of one variable, by integrate_box_1d"
        )

    def set_bandwidth(self, bw_method: Any = None) -> Any:
        """Refused: an estimate does not change."""
        raise NotImplementedError(
            "gaussian_kde.set_bandwidth: an estimate does not change; make another one with "
            "gaussian_kde(dataset, bw_method, weights)"
        )
