import numpy as np


# inputs: (np.array([[0.3, 0.1], [-0.2, 0.5]]), np.array([[0.3, 1.2], [-0.4, 0.6]])),
def recurrence(w, xs):
    h = np.zeros(2)
    total = 0.0
    for x in xs:
        h = np.tanh(w @ h + x)  # cell
        total = total + np.sum(h, axis=0)
    return h, total / len(xs)
# output


from overt.runtime import zero_dot


def recurrence_jvp(w, xs, w_dot, xs_dot):
    h = np.zeros(2)
    total = 0.0
    h_dot = zero_dot(h)
    total_dot = 0.0
    for x, x_dot in zip(xs, xs_dot):
        h_new = np.tanh(w @ h + x)  # cell
        h_dot = (w_dot @ h + w @ h_dot + x_dot) * (1 - h_new**2)
        total = total + np.sum(h_new, axis=0)
        total_dot = total_dot + np.sum(h_dot, axis=0)
        h = h_new
    len_xs = len(xs)
    return (h, total / len_xs), (h_dot, total_dot / len_xs)
