// Barriers that are objects in shared memory, as cuda::barrier uses them.
#include <cuda/barrier>

using Barrier = cuda::barrier<cuda::thread_scope_block>;

// Each round the threads exchange what they wrote: by arriving and waiting, then in two steps.
extern "C" __global__ void rounds(int *out, int count) {
    __shared__ Barrier barrier;
    __shared__ int own[256];
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < count; k++) {
        own[threadIdx.x] = threadIdx.x + k;
        barrier.arrive_and_wait();
        sum += own[(threadIdx.x + 33) % blockDim.x];
        auto token = barrier.arrive();
        barrier.wait(std::move(token));
    }
    out[threadIdx.x] = sum;
}

// The first warp makes what the others use, a buffer at a time; parities tell whose turn it is.
extern "C" __global__ void pipeline(int *out, int count) {
    __shared__ Barrier full, empty;
    __shared__ int buffer[32];
    if (threadIdx.x == 0) {
        init(&full, blockDim.x);
        init(&empty, blockDim.x);
    }
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < count; k++) {
        if (threadIdx.x < 32) {
            if (k > 0) empty.wait_parity((k - 1) & 1);
            buffer[threadIdx.x] = 100 * k + threadIdx.x;
            (void)full.arrive();
            (void)empty.arrive();
        } else {
            (void)full.arrive();
            full.wait_parity(k & 1);
            sum += buffer[threadIdx.x % 32];
            (void)empty.arrive();
        }
    }
    out[threadIdx.x] = sum;
}

// Thread k takes part in k + 1 phases; at the end of each one the last to leave counts it.
extern "C" __global__ void dropping(int *out) {
    __shared__ Barrier barrier;
    __shared__ int phases[128];
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    phases[threadIdx.x] = 0;
    __syncthreads();
    for (int k = 0; k < threadIdx.x; k++) {
        barrier.arrive_and_wait();
        atomicAdd(&phases[k], 1);
    }
    barrier.arrive_and_drop();
    __syncthreads();
    out[threadIdx.x] = phases[threadIdx.x];
}

// One thread of each warp arrives for all of its warp.
extern "C" __global__ void counted(int *out) {
    __shared__ Barrier barrier;
    __shared__ int own[256];
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    for (int k = 0; k < 3; k++) {
        own[threadIdx.x] = 10 * threadIdx.x + k;
        __syncwarp();
        if (threadIdx.x % 32 == 0) (void)barrier.arrive(32);
        barrier.wait_parity(k & 1);
        out[blockDim.x * k + threadIdx.x] = own[blockDim.x - 1 - threadIdx.x];
        __syncthreads();
    }
}

// Copies that arrive when they are complete.
extern "C" __global__ void copies(int *out, const int *in) {
    __shared__ alignas(16) int own[1024];
    __shared__ Barrier barrier;
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    int k = 4 * threadIdx.x;
    cuda::memcpy_async(own + k, in + k, cuda::aligned_size_t<16>(16), barrier);
    barrier.arrive_and_wait();
    for (int n = 0; n < 4; n++) out[k + n] = own[(5 * (k + n)) % (4 * blockDim.x)];
}

// One bulk copy, of which the thread that started it tells the number of bytes.
extern "C" __global__ void bulk(int *out, const int *in, int bytes) {
#if __CUDA_ARCH__ >= 900
    __shared__ alignas(128) int own[2048];
    __shared__ Barrier barrier;
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    Barrier::arrival_token token;
    if (threadIdx.x == 0) {
        cuda::device::memcpy_async_tx(own, in, cuda::aligned_size_t<16>(bytes), barrier);
        token = cuda::device::barrier_arrive_tx(barrier, 1, bytes);
    } else {
        token = barrier.arrive();
    }
    barrier.wait(std::move(token));
    for (int k = threadIdx.x; k < bytes / 4; k += blockDim.x) out[k] = own[k ^ 3];
#endif
}

// A phase lasts until the announced bytes have come, which the second warp says twice.
extern "C" __global__ void announced(int *out) {
#if __CUDA_ARCH__ >= 900
    __shared__ alignas(8) unsigned long long barrier;
    __shared__ volatile int said;
    unsigned place = (unsigned)__cvta_generic_to_shared(&barrier);
    if (threadIdx.x == 0) {
        said = 0;
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(place));
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned long long state;
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 %0, [%1], 64;"
                     : "=l"(state) : "r"(place) : "memory");
        int over = 0;
        while (!over) {
            asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2;"
                         "selp.u32 %0, 1, 0, p; }"
                         : "=r"(over) : "r"(place), "l"(state) : "memory");
        }
        out[0] = said;
        asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(over) : "l"(state));
        out[1] = over;
    } else if (threadIdx.x == 32) {
        for (int k = 1; k < 3; k++) {
            __nanosleep(2000);
            said = k;
            asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 32;"
                         :: "r"(place) : "memory");
        }
    }
#endif
}

// Arrivals of two each, which tell what was missing; then copies that arrive, counted before or not.
extern "C" __global__ void parts(int *out, const int *in) {
#if __CUDA_ARCH__ >= 800
    __shared__ alignas(8) unsigned long long barriers[3];
    __shared__ int own[64];
    unsigned first = (unsigned)__cvta_generic_to_shared(barriers);
    unsigned target = (unsigned)__cvta_generic_to_shared(own) + 4 * threadIdx.x;
    unsigned long long state;
    int missing = 0;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 96;" :: "r"(first));
        asm volatile("mbarrier.init.shared.b64 [%0], 32;" :: "r"(first + 8));
        asm volatile("mbarrier.init.shared.b64 [%0], 32;" :: "r"(first + 16));
    }
    __syncthreads();
    asm volatile("mbarrier.arrive.noComplete.shared.b64 %0, [%1], 2;"
                 : "=l"(state) : "r"(first) : "memory");
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(missing) : "l"(state));
    out[threadIdx.x] = missing;
    __syncwarp();
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(first) : "memory");
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(target), "l"(in + threadIdx.x));
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" :: "r"(first + 8) : "memory");
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;"
                 :: "r"(target + 128), "l"(in + 32 + threadIdx.x));
    asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" :: "r"(first + 16) : "memory");
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(first + 16) : "memory");
    for (int k = 0; k < 3; k++) {
        int over = 0;
        while (!over) {
            asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2;"
                         "selp.u32 %0, 1, 0, p; }"
                         : "=r"(over) : "r"(first + 8 * k), "l"(state) : "memory");
        }
        if (threadIdx.x == 0) {
            asm volatile("mbarrier.inval.shared.b64 [%0];" :: "r"(first + 8 * k));
        }
        __syncwarp();
    }
    out[32 + threadIdx.x] = own[threadIdx.x ^ 1];
    out[64 + threadIdx.x] = own[32 + (threadIdx.x ^ 1)];
#endif
}
