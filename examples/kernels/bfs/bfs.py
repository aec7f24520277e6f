import numpy as np

from lockstep.kernels import Check, blocks, builtin

BLOCK = 512


def random_graph(rng, n):
    """Vertices as (first edge, edges), and the targets of edges: 0 to 8 a vertex, to any other."""
    edges = rng.integers(0, 9, n)
    first = np.cumsum(edges) - edges
    targets = rng.integers(0, n, max(edges.sum(), 1), dtype=np.int32)
    return np.stack([first, edges], axis=1).astype(np.int32), targets


def depths(vertices, targets):
    """Distances from vertex 0; -1 where there is no way."""
    depth = np.full(len(vertices), -1, np.int32)
    frontier, level = np.array([0]), 0
    while len(frontier):
        depth[frontier] = level
        reached = [targets[first : first + edges] for first, edges in vertices[frontier]]
        frontier = np.unique(np.concatenate(reached))
        frontier, level = frontier[depth[frontier] < 0], level + 1
    return depth


@builtin(size=20_000, small=1_200, unit="vertices, four edges each on average")
def bfs(device, module, rng, n):
    """Breadth-first search of a random graph, level by level."""
    vertices, targets = random_graph(rng, n)
    start = (np.arange(n) == 0).astype(np.uint8)
    graph = device.array(vertices), device.array(targets)
    frontier, visited = device.array(start), device.array(start)
    following = device.array(np.zeros(n, np.uint8))
    depth = device.array(start.astype(np.int32) - 1)
    found = device.array(np.ones(1, np.int32))
    grid = blocks(n, BLOCK)
    while found.numpy()[0]:
        found.copy_from(np.zeros(1, np.int32))
        module["bfs"][grid, BLOCK](*graph, frontier, following, visited, depth, n)
        module["bfs_advance"][grid, BLOCK](frontier, following, visited, found, n)
    return Check("depth", depth, lambda: depths(vertices, targets))
