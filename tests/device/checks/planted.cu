// Kernels with planted mistakes, and their right twins, for one block of 128 threads: see README.md.
#define KERNEL extern "C" __global__ void
#define ME threadIdx.x
#define BARRIER(number, threads) asm volatile("bar.sync " #number ", " #threads ";" ::: "memory")
#define ARRIVE(number, threads) asm volatile("bar.arrive " #number ", " #threads ";" ::: "memory")

static __device__ unsigned in_shared(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

static __device__ void copy_word(int *to, const int *from)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(in_shared(to)), "l"(from));
    asm volatile("cp.async.wait_all;" ::: "memory");
}

static __device__ void meet(long long *object)
{
    unsigned address = in_shared(object);
    asm volatile("{\n .reg .b64 state; .reg .pred over;\n"
                 " mbarrier.arrive.shared.b64 state, [%0];\n"
                 "AGAIN: mbarrier.test_wait.shared.b64 over, [%0], state;\n"
                 " @!over bra AGAIN;\n}" ::"r"(address)
                 : "memory");
}

template <bool right> static __device__ float block_sum(float v)
{
    __shared__ float part[32];
    for (int d = 16; d; d >>= 1)
        v += __shfl_xor_sync(~0u, v, d);
    if (right)
        __syncthreads();
    if (ME % 32 == 0)
        part[ME / 32] = v; // races with the read of the call before
    __syncthreads();
    if (ME == 0)
        part[0] = part[0] + part[1] + part[2] + part[3];
    __syncthreads();
    return part[0];
}

KERNEL race_sums(float *x)
{
    float sum = block_sum<false>(x[ME]);
    x[ME] = block_sum<false>(sum + ME);
}

KERNEL right_sums(float *x)
{
    float sum = block_sum<true>(x[ME]);
    x[ME] = block_sum<true>(sum + ME);
}

KERNEL race_histogram(int *x)
{
    __shared__ int bins[8];
    if (ME < 8)
        bins[ME] = 0;
    __syncthreads();
    atomicAdd(&bins[x[ME] & 7], 1);
    // a barrier is missing
    x[ME] = bins[ME % 8];
}

KERNEL right_histogram(float *x)
{
    __shared__ float bins[8];
    if (ME < 8)
        bins[ME] = 0;
    __syncthreads();
    atomicAdd(&bins[ME & 7], x[ME]);
    __syncthreads();
    x[ME] = bins[ME % 8];
}

template <bool right> static __device__ void through_flag(int *x)
{
    __shared__ volatile int ready;
    __shared__ int tile[32];
    if (ME == 0)
        ready = 0;
    __syncthreads();
    if (ME < 32) {
        tile[ME] = x[ME];
        __syncwarp();
        if (right)
            __threadfence_block();
        if (ME == 0)
            ready = 1;
    } else {
        while (!ready) {
        }
        if (right)
            __threadfence_block();
        x[ME] = tile[ME % 32]; // if nothing says that it was written before the flag
    }
}

KERNEL race_flag(int *x)
{
    through_flag<false>(x);
}

KERNEL right_flag(int *x)
{
    through_flag<true>(x);
}

KERNEL race_half(int *x)
{
    __shared__ int tile[128];
    tile[ME] = x[ME];
    if (ME < 64) {
        BARRIER(1, 64); // for the first two warps alone
        x[ME] = tile[127 - ME];
    }
}

KERNEL right_hand_over(int *x)
{
    __shared__ int tile[64];
    if (ME < 64) {
        tile[ME] = x[ME];
        ARRIVE(1, 128);
    } else {
        BARRIER(1, 128);
        x[ME] = tile[127 - ME];
    }
}

KERNEL race_paths(int *x)
{
    __shared__ int word;
    word = 1;
    __syncthreads();
    if (x[ME] == 5)
        word = ME;
    else if (ME < 32)
        x[ME] = word;
}

KERNEL right_warp(int *x)
{
    __shared__ int tile[128];
    tile[ME] = x[ME];
    __syncwarp();
    int sum = tile[ME ^ 1];
    __syncwarp();
    if (ME % 32 == 0)
        tile[ME] = 7;
    __syncwarp();
    x[ME] = sum + tile[ME / 32 * 32];
}

KERNEL race_same_word(int *x)
{
    __shared__ int words[128];
    words[ME / 2] = x[ME] + ME;
    __syncthreads();
    x[ME] = words[ME / 2];
}

KERNEL right_flags(int *x)
{
    __shared__ int found;
    if (ME == 0)
        found = 0;
    __syncthreads();
    if (x[ME] >= 0)
        found = 1; // all write the same
    __syncthreads();
    x[ME] = found;
}

KERNEL race_copy(int *x)
{
    __shared__ int tile[128];
    copy_word(&tile[ME], &x[ME]);
    x[ME] = tile[(ME + 40) % 128]; // of another thread, which may not have waited
}

KERNEL right_copy(int *x)
{
    __shared__ int tile[128];
    copy_word(&tile[ME], &x[ME]);
    __syncthreads();
    x[ME] = tile[(ME + 40) % 128];
}

KERNEL right_object(int *x)
{
    __shared__ long long object;
    __shared__ int tile[128];
    if (ME == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 128;" ::"r"(in_shared(&object)));
    __syncthreads();
    for (int k = 0; k < 3; k++) {
        tile[ME] = x[ME] + k;
        meet(&object);
        x[ME] = tile[127 - ME];
        meet(&object);
    }
}

KERNEL right_lock(int *x)
{
    __shared__ int lock, sum;
    if (ME == 0)
        lock = sum = 0;
    __syncthreads();
    for (bool done = false; !done;) {
        if (atomicCAS(&lock, 0, 1) == 0) {
            __threadfence_block();
            sum += x[ME];
            __threadfence_block();
            atomicExch(&lock, 0);
            done = true;
        }
    }
    __syncthreads();
    x[ME] = sum;
}

KERNEL memory_past(int *x)
{
    x[ME + 1] = ME; // of 128
}

KERNEL memory_before(int *x)
{
    x[ME] = x[(int)ME - 1];
}

KERNEL memory_misaligned(int *x)
{
    x[ME] = *(int *)((char *)x + ME % 2);
}

KERNEL memory_shared(int *x)
{
    extern __shared__ int room[]; // 256 bytes
    room[ME] = x[ME];
    x[ME] = room[ME];
}

KERNEL memory_vector(int4 *x)
{
    int4 four = x[ME / 3]; // 42 * 16 bytes are behind 512
    if (four.x == -1)
        x[0] = four;
}

KERNEL init_shared(int *x)
{
    __shared__ int tile[128];
    if (ME != 77)
        tile[ME] = x[ME];
    __syncthreads();
    x[ME] = tile[ME];
}

KERNEL init_bytes(unsigned char *x)
{
    __shared__ __align__(4) unsigned char tile[512];
    tile[4 * ME] = tile[4 * ME + 1] = tile[4 * ME + 2] = x[ME];
    __syncthreads();
    x[ME] = ((int *)tile)[ME] & 0xff;
}

KERNEL init_next(int *x)
{
    x[ME] = x[ME + 128]; // the second half of 256
}
