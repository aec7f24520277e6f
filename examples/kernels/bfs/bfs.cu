// Breadth-first search, level by level, over masks of vertices: one thread a vertex.

struct Vertex {
    int first, edges; // its edges are targets[first] to targets[first + edges - 1]
};

// Visit the neighbours of the frontier. Several threads may reach one vertex: all write the same.
extern "C" __global__ void bfs(const Vertex *vertices, const int *targets, unsigned char *frontier,
                               unsigned char *next, const unsigned char *visited, int *depth,
                               int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n || !frontier[v]) {
        return;
    }
    frontier[v] = 0;
    for (int i = vertices[v].first; i < vertices[v].first + vertices[v].edges; i++) {
        int w = targets[i];
        if (!visited[w]) {
            depth[w] = depth[v] + 1;
            next[w] = 1;
        }
    }
}

// Make the vertices just reached the frontier, and say whether there are any.
extern "C" __global__ void bfs_advance(unsigned char *frontier, unsigned char *next,
                                       unsigned char *visited, int *any, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n && next[v]) {
        frontier[v] = 1;
        visited[v] = 1;
        *any = 1;
        next[v] = 0;
    }
}
