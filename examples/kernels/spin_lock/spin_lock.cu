// Deposits to accounts under one lock each. Threads of one warp wait for each other, which ends
// because every thread of a warp makes progress (Volta and later).

__device__ void acquire(int *lock) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
}

__device__ void release(int *lock) {
    __threadfence();
    atomicExch(lock, 0);
}

extern "C" __global__ void spin_lock(int n, int accounts, const int *__restrict__ amounts,
                                     int *locks, volatile int *balances) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int account = i % accounts;
        acquire(&locks[account]);
        balances[account] = balances[account] + amounts[i];
        release(&locks[account]);
    }
}
