// Two matrix products in a row, D = alpha A B C + beta D, by one general kernel without tiles:
// out = alpha left right + beta out.

extern "C" __global__ void mm2(int rows, int columns, int depth, float alpha, float beta,
                               const float *__restrict__ left, const float *__restrict__ right,
                               float *__restrict__ out) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= rows || j >= columns) {
        return;
    }
    float sum = 0.0f;
    for (int k = 0; k < depth; k++) {
        sum += left[i * depth + k] * right[k * columns + j];
    }
    out[i * columns + j] = alpha * sum + (beta == 0.0f ? 0.0f : beta * out[i * columns + j]);
}
