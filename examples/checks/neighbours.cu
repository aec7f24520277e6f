// Three mistakes, one for each check of `lockstep run --check`: nvcc -ptx -lineinfo -arch=sm_75
extern "C" __global__ void neighbours(int n, const float *in, float *out)
{
    __shared__ float tile[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n)
        tile[threadIdx.x] = in[i];
    // __syncthreads() is missing: a race
    float right = tile[(threadIdx.x + 1) % 64]; // and nobody wrote what is behind the nth
    if (i <= n)
        out[i] = right; // one element too many
}
