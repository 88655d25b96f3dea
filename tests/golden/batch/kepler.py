import numpy as np

# inputs: (np.array([0.1, 1.0, 2.5]), np.array([0.6, 0.1, 0.3])),
# in_axes: (0, 0)


def kepler(mean_anomaly, ecc):
    E = mean_anomaly
    step = 1.0
    while np.abs(step) > 1e-6:
        step = (E - ecc * np.sin(E) - mean_anomaly) / (1.0 - ecc * np.cos(E))
        E = E - step
    return E
# output


from overt.runtime import any_lane, batched


@batched(in_axes=(0, 0))
def kepler_batched(mean_anomaly, ecc):  # mean_anomaly, ecc: batch on axis 0
    E = mean_anomaly
    step = 1.0
    active = np.abs(step) > 1e-6
    while any_lane(active):
        step = (E - ecc * np.sin(E) - mean_anomaly) / (1.0 - ecc * np.cos(E))
        E = np.where(active, E - step, E)
        active = active & (np.abs(step) > 1e-6)
    return E
