// nvcc -fatbin -gencode arch=compute_75,code=[sm_75,compute_75] -gencode arch=compute_80,code=sm_80 \
//     -gencode arch=compute_90,code=sm_90 -o grid_sync.fatbin grid_sync.cu

#include <cooperative_groups.h>

// Twice, each thread takes what the thread opposite to it in the grid has written.
extern "C" __global__ void reverse(int *a, int *b, int n) {
    auto grid = cooperative_groups::this_grid();
    int i = (int)grid.thread_rank();
    a[i] = i;
    grid.sync();
    b[i] = a[n - 1 - i] + (int)grid.size();
    grid.sync();
    a[i] = b[n - 1 - i];
}
