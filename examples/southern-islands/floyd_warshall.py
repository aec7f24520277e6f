"""FloydWarshall of AMD's APP SDK 2.5: shortest paths between all nodes, a launch for each node.

python examples/southern-islands/floyd_warshall.py --binaries DIR [--size N] [--timing]
"""

import numpy as np

from lockstep.kernels import Check

BINARY = "FloydWarshall_Kernels.bin"


def run(device, module, rng, size):
    """Paths between ``size`` nodes, at most 256: a group is a row of the matrix."""
    nodes = min(size, 256)
    distances = rng.integers(1, 200, (nodes, nodes), dtype=np.uint32)
    np.fill_diagonal(distances, 0)
    paths = np.repeat(np.arange(nodes, dtype=np.uint32)[:, None], nodes, 1)
    shortest, through = device.array(distances), device.array(paths)
    for node in range(nodes):
        module["floydWarshallPass"][nodes * nodes, nodes](shortest, through, nodes, node)
    yield Check("distances", shortest, lambda: closure(distances, paths)[0])
    yield Check("paths", through, lambda: closure(distances, paths)[1])


def closure(distances, paths):
    """Shortest distances, and the last node that made each shorter."""
    distances, paths = distances.copy(), paths.copy()
    for node in range(len(distances)):
        indirect = distances[:, node, None] + distances[None, node]
        paths[indirect < distances] = node
        distances = np.minimum(distances, indirect)
    return distances, paths


if __name__ == "__main__":
    from host import main

    main(__doc__, run, BINARY, 256, "nodes")
