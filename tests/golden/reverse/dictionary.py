import numpy as np


def energy(params, x):
    y = np.tanh(x @ params["w"] + params["b"])
    return np.sum(y**2)


# inputs: ({"w": np.array([[0.1, 0.2], [0.3, -0.4]]), "b": np.array([0.5, 0.1])}, np.array([1.0, 2.0])),
# output


from overt.runtime import matmul_bar_y, with_items


def energy_grad(params, x):
    # forward
    w = params["w"]
    y = np.tanh(x @ w + params["b"])
    # reverse
    total_bar = 2 * y * (1 - y**2)
    return with_items(params, w=matmul_bar_y(total_bar, x, w), b=total_bar)
