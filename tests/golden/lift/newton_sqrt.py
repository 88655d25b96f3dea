import numpy as np

# inputs: (2.0,), (50.0,)


def newton_sqrt(a):
    x = a
    while np.abs(x * x - a) > 1e-6 * a:
        x = 0.5 * (x + a / x)      # Heron's step
    return x
# output


from overt.runtime import while_loop


def newton_sqrt_lifted(a):
    x = a

    def test(x):
        return np.abs(x * x - a) > 1e-6 * a

    def body(x):
        return 0.5 * (x + a / x)  # Heron's step

    return while_loop(test, body, x)
