// 3 x 3 x 3 convolution of a volume with weights that depend on how many axes a neighbour is away
// (centre, face, edge, corner); one thread a cell, the border becomes zero.

extern "C" __global__ void conv3d(int nx, int ny, int nz, float centre, float face, float edge,
                                  float corner, const float *__restrict__ in,
                                  float *__restrict__ out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= nx || y >= ny || z >= nz) {
        return;
    }
    float weight[4] = {centre, face, edge, corner}, sum = 0.0f;
    if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1 && z > 0 && z < nz - 1) {
#pragma unroll
        for (int n = 0; n < 27; n++) {
            int i = n % 3 - 1, j = n / 3 % 3 - 1, k = n / 9 - 1;
            sum += weight[i * i + j * j + k * k] * in[((z + k) * ny + y + j) * nx + x + i];
        }
    }
    out[(z * ny + y) * nx + x] = sum;
}
