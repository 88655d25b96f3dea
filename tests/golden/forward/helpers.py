# inputs: (0.7, 0.4),
def scaled(v, k=2.0):
    return v * k


def helpers(x, y):
    pairs = {"x": x, "y": [y, 1.0]}
    first = scaled(pairs["x"], k=y)
    a, b = pairs["y"]
    a, b = b, a * y
    return first * a + b
# output


def scaled_jvp(v, k, v_dot, k_dot):
    return v * k, v_dot * k + k_dot * v


def helpers_jvp(x, y, x_dot, y_dot):
    pairs = {"x": x, "y": [y, 1.0]}
    pairs_dot = {"x": x_dot, "y": [y_dot, 0.0]}
    first, first_dot = scaled_jvp(pairs["x"], y, pairs_dot["x"], y_dot)
    a, b = pairs["y"]
    a_dot, b_dot = pairs_dot["y"]
    b_dot_1 = a_dot * y + y_dot * a
    a, b = b, a * y
    return first * a + b, first_dot * a + b_dot * first + b_dot_1
