// One lane of a warp copies to a ring of one place, while the others of its warp wait at the barrier behind
// it: the copies come before that barrier, though these lanes come to it first.

__device__ void await(unsigned barrier, unsigned phase) {
    unsigned done = 0;
    while (!done) {
        asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, "
                     "1, 0, p;}"
                     : "=r"(done)
                     : "r"(barrier), "r"(phase)
                     : "memory");
    }
}

extern "C" __global__ void ring(int steps, const unsigned *in, unsigned *out) {
    __shared__ __align__(128) unsigned place[32];
    __shared__ __align__(8) unsigned long long barriers[2];
    unsigned full = __cvta_generic_to_shared(barriers), empty = full + 8;
    unsigned to = __cvta_generic_to_shared(place);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(full) : "memory");
        asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(empty) : "memory");
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int t = 0; t < steps; t++) {
            if (t > 0) {
                await(empty, (t - 1) & 1);
            }
            asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 128;" ::"r"(full) : "memory");
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], "
                         "128, [%2];" ::"r"(to),
                         "l"(in + t * 32), "r"(full)
                         : "memory");
        }
    } else if (threadIdx.x >= 32) {
        unsigned sum = 0;
        for (int t = 0; t < steps; t++) {
            await(full, t & 1);
            sum = sum * 3 + place[threadIdx.x - 32];
            asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(empty) : "memory");
        }
        out[threadIdx.x - 32] = sum;
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        out[threadIdx.x + 32] = out[threadIdx.x] + 1;
    }
}
