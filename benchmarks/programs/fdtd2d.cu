// Two-dimensional finite differences in the time domain, after Yee: in each step the two components
// of the electric field, then the magnetic one. Arrays of rows x columns, a thread a cell.

extern "C" __global__ void fdtd2d_ey(int rows, int columns, float pulse, float *ey,
                                     const float *hz) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= rows || j >= columns) {
        return;
    }
    int at = i * columns + j;
    ey[at] = i ? ey[at] - 0.5f * (hz[at] - hz[at - columns]) : pulse;
}

extern "C" __global__ void fdtd2d_ex(int rows, int columns, float *ex, const float *hz) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < rows && 0 < j && j < columns) {
        int at = i * columns + j;
        ex[at] -= 0.5f * (hz[at] - hz[at - 1]);
    }
}

extern "C" __global__ void fdtd2d_hz(int rows, int columns, const float *ex, const float *ey,
                                     float *hz) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < rows - 1 && j < columns - 1) {
        int at = i * columns + j;
        hz[at] -= 0.7f * (ex[at + 1] - ex[at] + ey[at + columns] - ey[at]);
    }
}
