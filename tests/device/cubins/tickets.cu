// Tickets that lanes take together, as the compiler has it, while others of their warp do so, too.
__device__ unsigned taken;

__device__ __noinline__ unsigned take(const unsigned *in)
{
    unsigned number = in[threadIdx.x];
    return number + atomicAdd(&taken, 1u);
}

extern "C" __global__ void tickets(const unsigned *in, unsigned *out)
{
    __syncthreads();
    out[threadIdx.x] = threadIdx.x % 3 ? take(in) * 2 : take(in + 64) * 3;
}
