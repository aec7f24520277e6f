// Merge sort: an element's place in the merged run is its place in its own run plus the number of
// elements before it in the other. Short runs are merged in shared memory.

#define BLOCK 256

// How many of the `count` sorted values come before `value`; equal ones do if `after_equal`.
__device__ int rank_in(const int *values, int count, int value, bool after_equal) {
    int low = 0, high = count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (values[middle] < value || (after_equal && values[middle] == value)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// Where element i goes when neighbouring runs of `run` elements are merged.
__device__ int merged_place(int n, int run, const int *values, int i) {
    int mine = i / run * run;
    bool second = (i / run) % 2 == 1; // equal elements of the first run come first
    int other = second ? mine - run : mine + run;
    int count = max(0, min(run, n - other));
    int first = second ? other : mine;
    return first + (i - mine) + rank_in(values + other, count, values[i], second);
}

extern "C" __global__ void merge_sort_block(int n, int *values) {
    __shared__ int runs[2][BLOCK];
    int t = threadIdx.x, base = blockIdx.x * BLOCK;
    int count = min(BLOCK, n - base), from = 0;
    if (t < count) {
        runs[0][t] = values[base + t];
    }
    for (int run = 1; run < BLOCK; run *= 2) {
        __syncthreads();
        if (t < count) {
            runs[1 - from][merged_place(count, run, runs[from], t)] = runs[from][t];
        }
        from = 1 - from;
    }
    __syncthreads();
    if (t < count) {
        values[base + t] = runs[from][t];
    }
}

extern "C" __global__ void merge_sort(int n, int run, const int *__restrict__ values,
                                      int *__restrict__ merged) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        merged[merged_place(n, run, values, i)] = values[i];
    }
}
