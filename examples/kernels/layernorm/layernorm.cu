// Layer normalisation: rows to mean 0 and variance 1, then scaled and shifted. One warp a row,
// four columns a lane at a time, so the number of columns is a multiple of four.

__device__ float warp_sum(float value) {
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_xor_sync(0xffffffffu, value, offset);
    }
    return value;
}

extern "C" __global__ void layernorm(int rows, int columns, float epsilon,
                                     const float4 *__restrict__ x, const float4 *__restrict__ scale,
                                     const float4 *__restrict__ shift, float4 *__restrict__ y) {
    int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x, quads = columns / 4;
    if (row >= rows) {
        return;
    }
    const float4 *from = x + (size_t)row * quads;
    float sum = 0.0f, squares = 0.0f;
    for (int i = lane; i < quads; i += warpSize) {
        float4 v = from[i];
        sum += (v.x + v.y) + (v.z + v.w);
    }
    float mean = warp_sum(sum) / columns;
    for (int i = lane; i < quads; i += warpSize) {
        float4 v = from[i];
        v.x -= mean, v.y -= mean, v.z -= mean, v.w -= mean;
        squares += (v.x * v.x + v.y * v.y) + (v.z * v.z + v.w * v.w);
    }
    float factor = rsqrtf(warp_sum(squares) / columns + epsilon);
    for (int i = lane; i < quads; i += warpSize) {
        float4 v = from[i], s = scale[i], b = shift[i];
        v.x = (v.x - mean) * factor * s.x + b.x;
        v.y = (v.y - mean) * factor * s.y + b.y;
        v.z = (v.z - mean) * factor * s.z + b.z;
        v.w = (v.w - mean) * factor * s.w + b.w;
        y[(size_t)row * quads + i] = v;
    }
}
