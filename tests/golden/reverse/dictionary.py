import numpy as np


def energy(params, x):
    y = np.tanh(x @ params["w"] + params["b"])
    return np.sum(y**2)


# inputs: ({"w": np.array([[0.1, 0.2], [0.3, -0.4]]), "b": np.array([0.5, 0.1])}, np.array([1.0, 2.0])),
# output


from overt.runtime import matmul_bar_y, with_items


def energy_grad(params, x):
    # forward
    y = np.tanh(x @ params["w"] + params["b"])
    # reverse
    total_bar = 2 * y * (1 - y**2)
    w_bar = matmul_bar_y(total_bar, x, params["w"])
    return with_items(params, w=w_bar, b=total_bar)
