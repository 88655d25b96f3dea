import numpy as np


def bilinear(x, a, y):
    return np.einsum("i,ij,j->", x, a, y) + np.linalg.norm(x)


# inputs: (np.array([1.0, 2.0]), np.array([[0.3, 1.0], [1.0, -1.0]]), np.array([2.0, 0.5])),
# output


from overt.runtime import norm_dot


def bilinear_jvp(x, a, y, x_dot, a_dot, y_dot):
    norm_x = np.linalg.norm(x)
    einsum_value_dot = (
        np.einsum("i,ij,j->", x_dot, a, y)
        + np.einsum("i,ij,j->", x, a_dot, y)
        + np.einsum("i,ij,j->", x, a, y_dot)
    )
    return np.einsum("i,ij,j->", x, a, y) + norm_x, einsum_value_dot + norm_dot(x_dot, norm_x, x)
