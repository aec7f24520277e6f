// Exchanges between lanes, votes, barriers, special registers, clocks and sleeping.
typedef unsigned long long u64;
#define FULL 0xffffffffu
#define SHUFFLES(tag, T)                                                                         \
    extern "C" __global__ void shuffle_##tag(T *a, int n) {                                      \
        T v = a[threadIdx.x];                                                                    \
        v += __shfl_sync(FULL, v, n) + __shfl_sync(FULL, v, 5) + __shfl_sync(FULL, v, 3, 8);     \
        v += __shfl_up_sync(FULL, v, 1) + __shfl_up_sync(FULL, v, n, 16);                        \
        v += __shfl_down_sync(FULL, v, 2) + __shfl_down_sync(FULL, v, n);                        \
        v += __shfl_xor_sync(FULL, v, 16) + __shfl_xor_sync(0xff, v, n, 8);                      \
        a[threadIdx.x] = v;                                                                      \
    }
SHUFFLES(i32, int)
SHUFFLES(f32, float)
SHUFFLES(f64, double)
SHUFFLES(u64, u64)
extern "C" __global__ void shuffle_predicate(int *a, int n, int w) {
    int v = a[threadIdx.x], p;
    asm volatile("{.reg .pred q; shfl.sync.up.b32 %0|q, %1, %2, %3, -1; selp.s32 %0, %0, 7, q;}" : "=r"(p) : "r"(v), "r"(n), "r"(w));
    asm volatile("{.reg .pred q; shfl.sync.idx.b32 %0|q, %1, 3, %2, -1; @!q add.s32 %0, %0, 7;}" : "=r"(v) : "r"(p), "r"(w));
    asm volatile("{.reg .pred q; shfl.sync.down.b32 %0|q, %1, %2, 0x1f0f, -1; @q add.s32 %0, %0, 7;}" : "=r"(v) : "r"(v), "r"(w));
    a[threadIdx.x] = v + p;
}
extern "C" __global__ void votes(unsigned *a, int n) {
    unsigned v = a[threadIdx.x], r = 0;
    r += __ballot_sync(FULL, v > 3) + __any_sync(FULL, v == n) * 2 + __all_sync(FULL, v < 9) * 4;
    r += __ballot_sync(v | 1, !(v & 1)) + __activemask();
    if (__any_sync(FULL, v == 77)) r++;
    if (__all_sync(FULL, v == 78)) r += 2;
    a[threadIdx.x] = r;
}
extern "C" __global__ void uniform_vote(unsigned *a, int n) {
    int r;
    asm volatile("{.reg .pred p, q; setp.eq.s32 p, %1, 3; vote.sync.uni.pred q, p, -1; selp.s32 %0, 1, 0, q;}" : "=r"(r) : "r"(n + a[threadIdx.x]));
    a[threadIdx.x] = r;
}
extern "C" __global__ void matches(unsigned *a, u64 *b) {
    int all;
    unsigned v = a[threadIdx.x];
    u64 w = b[threadIdx.x];
    a[threadIdx.x] = __match_any_sync(FULL, v) + __match_any_sync(FULL, w) + __match_all_sync(FULL, v, &all) + all;
    b[threadIdx.x] = __match_all_sync(FULL, w, &all) + all;
}
#if __CUDA_ARCH__ >= 800
extern "C" __global__ void reductions(unsigned *a, int *b) {
    unsigned v = a[threadIdx.x];
    int w = b[threadIdx.x];
    a[threadIdx.x] = __reduce_add_sync(FULL, v) + __reduce_min_sync(FULL, v) + __reduce_max_sync(FULL, v) + __reduce_and_sync(FULL, v) + __reduce_or_sync(FULL, v) + __reduce_xor_sync(FULL, v);
    b[threadIdx.x] = __reduce_add_sync(FULL, w) + __reduce_min_sync(FULL, w) + __reduce_max_sync(FULL, w);
}
#endif
extern "C" __global__ void barriers(int *a, int n) {
    __shared__ int s[256];
    int i = threadIdx.x, v = a[i];
    s[i] = v;
    __syncthreads();
    v += s[i ^ 1] + __syncthreads_count(v > 2) + __syncthreads_and(v > 3) * 2 + __syncthreads_or(v > 4) * 4;
    asm volatile("bar.sync 3;" ::: "memory");
    asm volatile("bar.sync 4, 128;" ::: "memory");
    asm volatile("bar.arrive 5, 64;" ::: "memory");
    asm volatile("bar.sync %0;" ::"r"(n) : "memory");
    asm volatile("bar.sync %0, %1;" ::"r"(n), "r"(n * 32) : "memory");
    asm volatile("bar.sync 6, %0;" ::"r"(n * 32) : "memory");
    asm volatile("bar.arrive %0, 96;" ::"r"(n) : "memory");
    asm volatile("bar.arrive %0, %1;" ::"r"(n), "r"(n * 64) : "memory");
    asm volatile("barrier.sync 7, 64;" ::: "memory");
    asm volatile("{.reg .pred p, q; setp.gt.s32 p, %1, 7; bar.red.popc.u32 %0, 8, 64, p; bar.red.and.pred q, 9, p; @q add.s32 %0, %0, 1; bar.red.or.pred q, %2, 96, !p; @q add.s32 %0, %0, 2;}" : "=r"(v) : "r"(v), "r"(n));
    __syncwarp();
    __syncwarp(0xff);
    __syncwarp(v | 1);
    a[i] = v;
}
extern "C" __global__ void specials(unsigned *a, u64 *b) {
    unsigned v = 0, t;
#define READ(name) asm volatile("mov.u32 %0, %%" #name ";" : "=r"(t)); v += t * 3;
    READ(laneid) READ(warpid) READ(nwarpid) READ(smid) READ(nsmid) READ(clock) READ(clock_hi)
    READ(lanemask_eq) READ(lanemask_lt) READ(lanemask_le) READ(lanemask_gt) READ(lanemask_ge)
    READ(tid.x) READ(tid.y) READ(tid.z) READ(ntid.x) READ(ctaid.x) READ(ctaid.y) READ(ctaid.z)
    READ(nctaid.x) READ(nctaid.z) READ(total_smem_size) READ(dynamic_smem_size) READ(globaltimer_lo)
    READ(globaltimer_hi) READ(pm0) READ(pm3) READ(envreg3)
    u64 g, c, w;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(g));
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(c));
    asm volatile("mov.u64 %0, %%gridid;" : "=l"(w));
    a[threadIdx.x] = v;
    b[threadIdx.x] = g + c + w + clock64();
    __nanosleep(100);
    __nanosleep(v);
    if (v == 5) asm volatile("trap;");
    if (v == 6) __brkpt();
    if (v == 7) asm volatile("exit;");
    if (v == 9) asm volatile("pmevent 3;");
}
#if __CUDA_ARCH__ >= 900
extern "C" __global__ void __cluster_dims__(2, 1, 1) cluster(unsigned *a) {
    unsigned v = 0, t;
    READ(cluster_ctaid.x) READ(cluster_nctaid.x) READ(cluster_ctarank) READ(cluster_nctarank) READ(clusterid.x) READ(nclusterid.x) READ(aggr_smem_size)
    __shared__ unsigned s[32];
    s[threadIdx.x] = v;
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
    asm volatile("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;" ::: "memory");
    asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
    unsigned address = (unsigned)__cvta_generic_to_shared(s), other, value;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(other) : "r"(address), "r"(v & 1));
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(other));
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(other + 4), "r"(value));
    asm volatile("atom.shared::cluster.add.u32 %0, [%1], %2;" : "=r"(value) : "r"(other), "r"(v));
    asm volatile("red.shared::cluster.add.u32 [%0], %1;" ::"r"(other + 4), "r"(value));
    asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(t) : "r"(other));
    asm volatile("{.reg .pred p; elect.sync %0|p, -1; @p add.u32 %0, %0, 1;}" : "=r"(v));
    asm volatile("griddepcontrol.launch_dependents; griddepcontrol.wait;" ::: "memory");
    a[threadIdx.x] = v + value + t;
}
#endif
