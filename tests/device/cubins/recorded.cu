// Programs of which recorded traces exist: a vector addition, and the two kernels of a
// breadth-first search with flags for the nodes, in the shape of Rodinia 2.0's.
extern "C" __global__ void add(const float *a, const float *b, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i] + 0.0f;
}

struct Node {
  int first;
  int edges;
};

extern "C" __global__ void expand(Node *nodes, int *targets, bool *frontier, bool *next,
                                  bool *seen, int *distance, int n) {
  int i = blockIdx.x * 512 + threadIdx.x;
  if (i >= n || !frontier[i]) return;
  frontier[i] = false;
  for (int k = nodes[i].first; k < nodes[i].first + nodes[i].edges; ++k) {
    int target = targets[k];
    if (!seen[target]) {
      distance[target] = distance[i] + 1;
      next[target] = true;
    }
  }
}

extern "C" __global__ void advance(bool *frontier, bool *next, bool *seen, bool *again, int n) {
  int i = blockIdx.x * 512 + threadIdx.x;
  if (i >= n || !next[i]) return;
  frontier[i] = true;
  seen[i] = true;
  *again = true;
  next[i] = false;
}
