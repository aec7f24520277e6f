// One step of the 7-point heat equation: threads own columns and march along z, the three planes
// that a point needs held in registers. The border keeps its values.

extern "C" __global__ void stencil3d(int nx, int ny, int nz, float alpha,
                                     const float *__restrict__ in, float *__restrict__ out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nx || y >= ny) {
        return;
    }
    int plane = nx * ny, at = y * nx + x;
    bool inside = x > 0 && x < nx - 1 && y > 0 && y < ny - 1;
    float below = 0.0f, here = in[at];
    for (int z = 0; z < nz; z++, at += plane) {
        float above = z < nz - 1 ? in[at + plane] : 0.0f;
        float value = here;
        if (inside && z > 0 && z < nz - 1) {
            float around = in[at - 1] + in[at + 1] + in[at - nx] + in[at + nx];
            value += alpha * (around + below + above - 6.0f * here);
        }
        out[at] = value;
        below = here;
        here = above;
    }
}
