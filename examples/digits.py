"""Train a small network on scikit-learn's handwritten digits, in plain Python.

Shows that a loss with a native `for` loop over its layers needs nothing but `overt.value_and_grad`
and `overt.jit`, that parameters are a list of pairs of arrays, and that training is an ordinary
loop: mini-batches, a learning rate that falls, early stopping by `break`.

    python examples/digits.py
"""

from __future__ import annotations

import time

import numpy
from sklearn.datasets import load_digits

import overt
import overt.numpy as np
from overt import random

SIZES = (64, 128, 64, 10)
BATCH = 64
EPOCHS = 60
PATIENCE = 8


def initial(key, sizes):
    """Weights of He's normal distribution and zero biases, a pair for each layer."""
    params = []
    for rows, columns in zip(sizes[:-1], sizes[1:], strict=True):
        key, own = random.split(key)
        w = random.normal(own, (rows, columns)) * np.sqrt(2.0 / rows)
        params.append((w, np.zeros(columns)))
    return params


def scores(params, images):
    """The unnormalised log-probability of each digit for each image."""
    hidden = images
    for w, b in params[:-1]:
        hidden = np.maximum(hidden @ w + b, 0.0)
    w, b = params[-1]
    return hidden @ w + b


def loss(params, images, labels):
    """The mean cross-entropy of a batch."""
    z = scores(params, images)
    z = z - np.max(z, axis=1, keepdims=True)  # so that exp cannot overflow
    log_p = z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))
    picked = log_p[np.arange(len(labels)), labels]
    return -np.mean(picked)


loss_and_gradient = overt.jit(overt.value_and_grad(loss))


@overt.jit
def momentum_step(params, velocity, gradient, rate):
    """One step of gradient descent with momentum; the new parameters and velocity."""
    new_params, new_velocity = [], []
    for (w, b), (vw, vb), (dw, db) in zip(params, velocity, gradient, strict=True):
        vw = 0.9 * vw - rate * dw
        vb = 0.9 * vb - rate * db
        new_params.append((w + vw, b + vb))
        new_velocity.append((vw, vb))
    return new_params, new_velocity


@overt.jit
def accuracy(params, images, labels):
    """The fraction of images whose best score is that of their label."""
    return np.mean(np.argmax(scores(params, images), axis=1) == labels)


def split(seed):
    """The digits, shuffled: four fifths to train on, a fifth held out."""
    digits = load_digits()
    images = (digits.data / 16.0).astype(numpy.float32)
    labels = digits.target.astype(numpy.int32)
    order = numpy.random.default_rng(seed).permutation(len(labels))
    images, labels = images[order], labels[order]
    held_out = len(labels) // 5
    return (images[held_out:], labels[held_out:]), (images[:held_out], labels[:held_out])


def train(seed=0, report=print):
    """Train until the held-out accuracy has stopped improving; the best accuracy."""
    (images, labels), (test_images, test_labels) = split(seed)
    shuffle = numpy.random.default_rng(seed)
    params = initial(random.key(seed), SIZES)
    velocity = [(np.zeros_like(w), np.zeros_like(b)) for w, b in params]
    best, best_epoch = 0.0, 0
    start = time.perf_counter()
    for epoch in range(EPOCHS):
        order = shuffle.permutation(len(labels))
        rate = 0.1 * 0.95**epoch
        total, batches = 0.0, 0
        for first in range(0, len(order) - BATCH + 1, BATCH):
            rows = order[first : first + BATCH]
            value, gradient = loss_and_gradient(params, images[rows], labels[rows])
            params, velocity = momentum_step(params, velocity, gradient, rate)
            total, batches = total + float(value), batches + 1
        correct = float(accuracy(params, test_images, test_labels))
        seconds = time.perf_counter() - start
        report(
            f"epoch {epoch:2d}  loss {total / batches:.4f}  held out {correct:.2%}  {seconds:.1f} s"
        )
        if correct > best:
            best, best_epoch = correct, epoch
        if epoch - best_epoch >= PATIENCE:
            report(f"no better for {PATIENCE} epochs: stopping early")
            break
    report(f"best held-out accuracy {best:.2%}")
    return best


if __name__ == "__main__":
    assert train() >= 0.96
