// Modified Gram-Schmidt, a = q r, in three launches a column: the column's norm, the column of q,
// and the columns right of it without their parts along it.

#define BLOCK 256

// One block.
extern "C" __global__ void gramschmidt_norm(int rows, int columns, int k, const float *a,
                                            float *r) {
    __shared__ float part[BLOCK];
    float sum = 0.0f;
    for (int i = threadIdx.x; i < rows; i += BLOCK) {
        sum += a[i * columns + k] * a[i * columns + k];
    }
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int half = BLOCK / 2; half; half /= 2) {
        if (threadIdx.x < half) {
            part[threadIdx.x] += part[threadIdx.x + half];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        r[k * columns + k] = sqrtf(part[0]);
    }
}

// A thread a row.
extern "C" __global__ void gramschmidt_column(int rows, int columns, int k, const float *a,
                                              const float *r, float *q) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows) {
        q[i * columns + k] = a[i * columns + k] / r[k * columns + k];
    }
}

// A thread a column right of k.
extern "C" __global__ void gramschmidt_project(int rows, int columns, int k, float *a, float *r,
                                               const float *q) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j <= k || j >= columns) {
        return;
    }
    float along = 0.0f;
    for (int i = 0; i < rows; i++) {
        along += q[i * columns + k] * a[i * columns + j];
    }
    r[k * columns + j] = along;
    for (int i = 0; i < rows; i++) {
        a[i * columns + j] -= q[i * columns + k] * along;
    }
}
