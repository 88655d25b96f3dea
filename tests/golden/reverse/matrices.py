import numpy as np


def misfit(a, b, y):
    residual = np.einsum("ij,kj->ik", a, b) - y
    scale = np.linalg.det(a @ a.T)
    return np.sum(np.linalg.solve(scale * y.T @ y, residual.T) ** 2)


# inputs: (np.array([[1.0, 2.0, 0.5], [0.0, 1.0, -1.0]]), np.array([[0.3, 1.0, 2.0], [1.0, -1.0, 0.5]]), np.array([[2.0, 0.5], [-1.0, 1.0]])),
# output


import overt.numpy as np
from overt.runtime import cofactors, matmul_bar_x, matmul_bar_y, solve_bar_a, solve_bar_b, sum_to


def misfit_grad(a, b, y):
    # forward
    einsum_value = np.einsum("ij,kj->ik", a, b)
    residual = einsum_value - y
    a_T = a.T
    product = a @ a_T
    scale = np.linalg.det(product)
    product_1 = scale * y.T
    product_2 = product_1 @ y
    residual_T = residual.T
    solve_value = np.linalg.solve(product_2, residual_T)
    # reverse
    solve_value_bar = 2 * solve_value
    product_bar = solve_bar_a(solve_value_bar, solve_value, product_2, residual_T)
    scale_bar = sum_to(matmul_bar_x(product_bar, product_1, y) * y.T, scale)
    product_bar = np.expand_dims(scale_bar, (-1, -2)) * cofactors(product)
    residual_bar = solve_bar_b(solve_value_bar, solve_value, product_2, residual_T).T
    a_bar = matmul_bar_x(product_bar, a, a_T) + matmul_bar_y(product_bar, a, a_T).T
    einsum_value_bar = sum_to(residual_bar, einsum_value)
    return a_bar + sum_to(np.einsum("ik,kj->ij", einsum_value_bar, b), a)
