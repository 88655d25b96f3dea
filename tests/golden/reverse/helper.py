import numpy as np


def sigmoid(z):
    return 1.0 / (1.0 + np.exp(-z))


def loss(w, x):
    return np.sum(sigmoid(w * x) ** 2)


# inputs: (0.3, np.array([1.0, -2.0])),
# output


from overt.runtime import sum_to


def sigmoid_bwd(z, out_bar):
    exp_value = np.exp(-z)
    total = 1.0 + exp_value
    return out_bar / total / total * exp_value


def loss_grad(w, x):
    product = w * x
    return sum_to(sigmoid_bwd(product, 2 * sigmoid(product)) * x, w)
