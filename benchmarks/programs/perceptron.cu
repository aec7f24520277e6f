// A layer of a perceptron: its forward pass, in which a block of 16 x 16 threads sums the products of
// 16 inputs in shared memory, and the change of its weights after an error, with momentum.

#define TILE 16

extern "C" __global__ void perceptron_forward(int outputs, const float *input, const float *weight,
                                              float *partial) {
    __shared__ float given[TILE];
    __shared__ float product[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    if (x == 0) {
        given[y] = input[row];
    }
    __syncthreads();
    product[y][x] = weight[row * outputs + column] * given[y];
    __syncthreads();
    for (int half = TILE / 2; half > 0; half /= 2) {
        if (y < half) {
            product[y][x] += product[y + half][x];
        }
        __syncthreads();
    }
    if (y == 0) {
        partial[blockIdx.y * outputs + column] = product[0][x];
    }
}

extern "C" __global__ void perceptron_adjust(int outputs, const float *input, const float *error,
                                             float *weight, float *change) {
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    int at = row * outputs + column;
    float step = 0.3f * error[column] * input[row] + 0.3f * change[at];
    weight[at] += step;
    change[at] = step;
}
