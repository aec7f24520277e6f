// The shared memory that CUDA keeps for itself, as cooperative groups find it; built with -G.

extern "C" __global__ void reserved(int *out) {
    __shared__ int own[32];
    unsigned kept;
    asm volatile("mov.u32 %0, %%reserved_smem_offset_1;" : "=r"(kept));
    kept += 4 * threadIdx.x;
    own[threadIdx.x] = 100;
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(kept), "r"(threadIdx.x) : "memory");
    int found;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(found) : "r"(kept) : "memory");
    out[threadIdx.x] = own[threadIdx.x] + found;
}
