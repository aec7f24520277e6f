// Kernels whose results tell when their instructions were executed.

// Cycles that a chain of dependent loads takes.
extern "C" __global__ void chain(const unsigned long long *at, long long *cycles) {
    unsigned long long next = at[0];
    long long start = clock64();
    for (int k = 0; k < 16; k++) {
        next = *(const volatile unsigned long long *)next;
    }
    long long end = clock64() + (next == 0);
    *cycles = end - start;
}

// Block 1 works for a while, writes a value and a flag; block 0 waits for the flag.
extern "C" __global__ void handshake(volatile int *flag, volatile int *value, long long *times) {
    if (blockIdx.x == 1) {
        int sum = 0;
        for (int k = 0; k < 500; k++) {
            sum += *value;
        }
        *value = 42 + sum;
        times[0] = clock64();
        __threadfence();
        *flag = 1;
    } else {
        while (*flag == 0) {
        }
        times[1] = clock64();
        value[1] = *value;
    }
}

// Waits until the global timer has moved by some nanoseconds, and counts its turns.
extern "C" __global__ void timeout(unsigned long long nanoseconds, int *turns) {
    unsigned long long start, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    int count = 0;
    do {
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
        count++;
    } while (now - start < nanoseconds);
    *turns = count;
}

// Each thread takes the one lock in its turn, inside a branch that half of the warp takes.
extern "C" __global__ void turns(int *lock, volatile int *order) {
    int lane = threadIdx.x;
    if (lane % 2 == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {
        }
        int place = order[0];
        order[1 + place] = lane;
        order[0] = place + 1;
        __threadfence();
        atomicExch(lock, 0);
    }
    __syncwarp();
    order[33 + lane] = lane;
}

// Some threads of a warp name all of it, while the others wait at the block's barrier.
extern "C" __global__ void apart(int *out) {
    __shared__ int own[64];
    int k = threadIdx.x;
    own[k] = k;
    if (k % 32 < 8) {
        __syncwarp(0xffffffff);
        own[k] += 100;
    }
    __syncthreads();
    out[k] = own[k ^ 1];
}
