import numpy as np

from lockstep.kernels import Check, blocks, builtin

CLUSTERS, DIMENSIONS, ITERATIONS = 8, 4, 2


def clouds(rng, n):
    """Points about the corners of a cube, far from each other's: shape (n, dimensions)."""
    corner = np.arange(n)[:, None] % CLUSTERS >> np.arange(DIMENSIONS) & 1
    return (8 * corner + rng.random((n, DIMENSIONS))).astype(np.float32)


def lloyd(points, centroids):
    """Labels and centroids after the iterations."""
    for _ in range(ITERATIONS):
        distance = ((points[:, None, :] - centroids[None]) ** 2).sum(axis=2)
        labels = distance.argmin(axis=1)
        means = [points[labels == k].mean(axis=0) for k in np.unique(labels)]
        centroids = centroids.copy()
        centroids[np.unique(labels)] = means
    return labels, centroids


@builtin(size=20_000, small=700, unit="points in four dimensions, eight clusters")
def kmeans(device, module, rng, n):
    """k-means clustering: nearest centroids, then their means, twice."""
    points = clouds(rng, n)
    start = points[np.arange(CLUSTERS) % n]
    values, centroids = device.array(np.ascontiguousarray(points.T)), device.array(start)
    labels = device.empty(n, np.int32)
    sums = device.array(np.zeros((CLUSTERS, DIMENSIONS), np.float32))
    counts = device.array(np.zeros(CLUSTERS, np.int32))
    for _ in range(ITERATIONS):
        module["kmeans"][blocks(n, 128), 128](n, values, centroids, labels, sums, counts)
        module["kmeans_update"][1, CLUSTERS * DIMENSIONS](centroids, sums, counts)
    yield Check("labels", labels, lambda: lloyd(points, start)[0])
    yield Check("centroids", centroids, lambda: lloyd(points, start)[1], rtol=1e-4)
