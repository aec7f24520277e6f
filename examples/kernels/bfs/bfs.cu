// Breadth-first search, level by level, over masks of vertices: one thread a vertex.

// Visit the neighbours of the frontier. Several threads may reach one vertex: all write the same.
extern "C" __global__ void bfs(int n, const int *__restrict__ first,
                               const int *__restrict__ targets, unsigned char *frontier,
                               unsigned char *next, const unsigned char *__restrict__ visited,
                               int *depth) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n || !frontier[v]) {
        return;
    }
    frontier[v] = 0;
    for (int edge = first[v]; edge < first[v + 1]; edge++) {
        int w = targets[edge];
        if (!visited[w]) {
            depth[w] = depth[v] + 1;
            next[w] = 1;
        }
    }
}

// Make the vertices just reached the frontier, and say whether there are any.
extern "C" __global__ void bfs_advance(int n, unsigned char *frontier, unsigned char *next,
                                       unsigned char *visited, int *any) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n && next[v]) {
        frontier[v] = 1;
        visited[v] = 1;
        next[v] = 0;
        *any = 1;
    }
}
