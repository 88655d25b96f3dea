"""Clusters: `overt.scipy.cluster.vq`."""

from overt.scipy.cluster import vq as vq
