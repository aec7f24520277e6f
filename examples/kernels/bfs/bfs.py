import numpy as np

from lockstep.kernels import Check, blocks, builtin

BLOCK = 256


def random_graph(rng, n):
    """Edges in compressed rows: each vertex has 0 to 8, to any other."""
    degrees = rng.integers(0, 9, n)
    first = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int32)
    return first, rng.integers(0, n, first[-1], dtype=np.int32)


def depths(first, targets, n):
    """Distances from vertex 0; -1 where there is no way."""
    depth = np.full(n, -1, np.int32)
    frontier, level = np.array([0]), 0
    while len(frontier):
        depth[frontier] = level
        reached = [targets[first[v] : first[v + 1]] for v in frontier]
        frontier = np.unique(np.concatenate(reached))
        frontier, level = frontier[depth[frontier] < 0], level + 1
    return depth


@builtin(size=20_000, small=500, unit="vertices, four edges each on average")
def bfs(device, module, rng, n):
    """Breadth-first search of a random graph, level by level."""
    first, targets = random_graph(rng, n)
    start = (np.arange(n) == 0).astype(np.uint8)
    edges = device.array(first), device.array(np.append(targets, np.int32(0)))
    frontier, visited = device.array(start), device.array(start)
    following = device.array(np.zeros(n, np.uint8))
    depth = device.array(np.where(start > 0, 0, -1).astype(np.int32))
    found = device.array(np.ones(1, np.int32))
    grid = blocks(n, BLOCK)
    while found.numpy()[0]:
        found.copy_from(np.zeros(1, np.int32))
        module["bfs"][grid, BLOCK](n, *edges, frontier, following, visited, depth)
        module["bfs_advance"][grid, BLOCK](n, frontier, following, visited, found)
    return Check("depth", depth, lambda: depths(first, targets, n))
