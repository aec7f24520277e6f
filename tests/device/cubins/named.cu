// Barriers whose numbers and counts of threads are computed.
extern "C" {

__device__ __forceinline__ void meet(int barrier, int threads)
{
    asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

__device__ __forceinline__ void announce(int barrier, int threads)
{
    asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

// Each pair of warps hands values on: the even one fills a buffer that the odd one empties. Pair p
// has the barriers first + 2 p, full, and first + 2 p + 1, empty.
__global__ void handed_on(int* out, int first, int both, int turns)
{
    __shared__ int buffer[4][32];
    int pair = threadIdx.x / 64, lane = threadIdx.x % 32;
    int full = first + 2 * pair, empty = full + 1, sum = 0;
    if (threadIdx.x / 32 % 2) {
        for (int turn = 0; turn < turns; ++turn) {
            meet(full, both);
            sum += buffer[pair][lane];
            announce(empty, both);
        }
    } else {
        for (int turn = 0; turn < turns; ++turn) {
            if (turn > 0) {
                meet(empty, both);
            }
            buffer[pair][lane] = (turn + 1) * lane + pair;
            announce(full, both);
        }
        meet(empty, both);
    }
    out[threadIdx.x] = sum;
}

// Groups of warps count their odd values, each at a barrier of its own.
__global__ void counted(int* out, const int* values, int threads)
{
    int barrier = threadIdx.x / threads + 1, count;
    asm volatile("{ .reg .pred odd; setp.ne.u32 odd, %1, 0;\n"
                 "barrier.red.popc.u32 %0, %2, %3, odd; }"
                 : "=r"(count)
                 : "r"(values[threadIdx.x] & 1), "r"(barrier), "r"(threads)
                 : "memory");
    out[threadIdx.x] = count;
}

// All of the CTA at a barrier of which only the number is computed, in place of one that is known.
__global__ void everybody(int* out, int number)
{
    __shared__ int values[256];
    values[threadIdx.x] = threadIdx.x;
    asm volatile("bar.sync %0;" ::"r"(number) : "memory");
    out[threadIdx.x] = values[blockDim.x - 1 - threadIdx.x];
}

__global__ void everybody_known(int* out, int number)
{
    __shared__ int values[256];
    values[threadIdx.x] = threadIdx.x;
    asm volatile("{ .reg .b32 r; mov.b32 r, %0; bar.sync 5; }" ::"r"(number) : "memory");
    out[threadIdx.x] = values[blockDim.x - 1 - threadIdx.x];
}
}
