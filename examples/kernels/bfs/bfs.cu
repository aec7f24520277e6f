// Breadth-first search, level by level, over masks of vertices: one thread a vertex.

// Visit the neighbours of the frontier. Several threads may reach one vertex: all write the same.
extern "C" __global__ void bfs(int n, const int *__restrict__ first, const int *__restrict__ targets,
                               bool *frontier, bool *next, const bool *__restrict__ visited,
                               int *depth) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n || !frontier[v]) {
        return;
    }
    frontier[v] = false;
    for (int edge = first[v]; edge < first[v + 1]; edge++) {
        int w = targets[edge];
        if (!visited[w]) {
            depth[w] = depth[v] + 1;
            next[w] = true;
        }
    }
}

// Make the vertices just reached the frontier, and say whether there are any.
extern "C" __global__ void bfs_advance(int n, bool *frontier, bool *next, bool *visited, int *any) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n && next[v]) {
        frontier[v] = true;
        visited[v] = true;
        next[v] = false;
        *any = 1;
    }
}
