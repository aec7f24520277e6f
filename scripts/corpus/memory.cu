// Loads, stores, atomics, cache hints, fences and asynchronous copies, in all widths and spaces.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
typedef unsigned long long u64;

#define COPY(tag, T)                                                                             \
    extern "C" __global__ void copy_##tag(T *__restrict__ out, const T *__restrict__ in, int n) { \
        __shared__ T tile[128];                                                                  \
        T local[8];                                                                              \
        int i = threadIdx.x;                                                                     \
        tile[i] = in[i];                                                                         \
        __syncthreads();                                                                         \
        for (int k = 0; k < 8; k++) local[k] = tile[(i + k * n) & 127];                          \
        out[i] = local[n & 7];                                                                   \
        out[i + 3] = tile[127 - i];                                                              \
        out[i * 5 + 1024] = __ldg(in + i + 64);                                                  \
        ((volatile T *)out)[i + 256] = ((volatile const T *)in)[i + 64];                         \
    }
COPY(i8, signed char)
COPY(u8, unsigned char)
COPY(i16, short)
COPY(u16, unsigned short)
COPY(i32, int)
COPY(f64, double)
#define VECTOR(tag, T)                                                                           \
    extern "C" __global__ void copy_##tag(T *__restrict__ out, const T *__restrict__ in, int n) { \
        __shared__ T tile[128];                                                                  \
        int i = threadIdx.x;                                                                     \
        tile[i] = in[i];                                                                         \
        __syncthreads();                                                                         \
        out[i] = tile[(i + n) & 127];                                                            \
        out[i + 129] = tile[127 - i];                                                            \
        out[i + 1024] = __ldg(in + i + 64);                                                      \
        __stcs(out + i, __ldcs(in + i + 1));                                                     \
        __stcg(out + i + 7, __ldcg(in + i + 2));                                                 \
        __stwt(out + i + 9, __ldcv(in + i + 3));                                                 \
        __stwb(out + i + 9, __ldlu(in + i + 3));                                                 \
        __stcg(out + i + 11, __ldca(in + i + 4));                                                \
    }
VECTOR(char2, char2)
VECTOR(uchar4, uchar4)
VECTOR(short2, short2)
VECTOR(ushort4, ushort4)
VECTOR(int2, int2)
VECTOR(int4, int4)
VECTOR(float2, float2)
VECTOR(float4, float4)
VECTOR(double2, double2)
VECTOR(longlong2, longlong2)

__constant__ int table[256];
__constant__ double numbers[64];
__constant__ unsigned char bytes[64];
__constant__ short2 shorts[64];
extern "C" __global__ void constants(int *out, double *d, int n) {
    int i = threadIdx.x;
    out[i] = table[i] + table[n] + table[5] * table[n + 3] + bytes[i] + bytes[n] + bytes[3];
    d[i] = numbers[i] * numbers[n] + numbers[7];
    out[i + 32] = shorts[i].x + shorts[n].y;
}
extern "C" __global__ void generic(int *a, int n) {
    __shared__ int s[64];
    int l[4] = {n, n + 1, n + 2, n + 3};
    int *p = n & 1 ? s : n & 2 ? a : l;
    for (int k = 0; k < n; k++) p[k & 3] += p[(k + 1) & 3];
    atomicAdd(p, 5);
    unsigned char *q = (unsigned char *)p;
    q[n] = q[n + 1] + q[3];
    *(long long *)(q + 8) += 7;
    a[threadIdx.x] = p[threadIdx.x & 3] + __isGlobal(p) + __isShared(p) * 2 + __isLocal(p) * 4 + __isConstant(p) * 8;
}
extern "C" __global__ void stack(int *out, int n) {
    char c[64];
    short h[64];
    long long l[32];
    int4 q[16];
    for (int i = 0; i < n; i++) { c[i & 63] = i * n; h[(i * 3) & 63] = i; l[(i * 5) & 31] = i * n; q[(i * 7) & 15] = make_int4(i, n, i, n); }
    for (int i = 0; i < n; i++) out[i] = c[(i * 7) & 63] + h[(i + n) & 63] + l[(i ^ n) & 31] + q[(i + 3) & 15].y + (unsigned char)c[i & 3] + (unsigned short)h[i & 7];
}

#define ATOMICS(tag, T, suffix)                                                                  \
    extern "C" __global__ void atomics_##tag##suffix(T *a, T *out, T v) {                        \
        __shared__ T s[32];                                                                      \
        int i = threadIdx.x;                                                                     \
        out[i] = atomicAdd##suffix(a + i, v) + atomicExch##suffix(a + i + 1, v) + atomicCAS##suffix(a + i + 2, v, (T)3); \
        out[i + 1] = atomicMin##suffix(a, v) + atomicMax##suffix(a, v);                          \
        out[i + 2] = atomicAnd##suffix(a, v) + atomicOr##suffix(a, v) + atomicXor##suffix(a, v); \
        out[i + 3] = atomicAdd##suffix(s + i, v) + atomicExch##suffix(s + i, v) + atomicCAS##suffix(s, v, (T)3); \
        out[i + 4] = atomicMin##suffix(s, v) + atomicMax##suffix(s, v);                          \
        out[i + 5] = atomicAnd##suffix(s, v) + atomicOr##suffix(s, v) + atomicXor##suffix(s, v); \
        atomicAdd##suffix(a + 9, v);                                                             \
        atomicMin##suffix(a + 9, v);                                                             \
        atomicMax##suffix(a + 9, v);                                                             \
        atomicAnd##suffix(a + 9, v);                                                             \
        atomicOr##suffix(a + 9, v);                                                              \
        atomicXor##suffix(a + 9, v);                                                             \
        atomicAdd##suffix(s + 9, v);                                                             \
        atomicAdd##suffix(s + 9, (T)1);                                                          \
        atomicAdd##suffix(a + 19, (T)1);                                                         \
    }
ATOMICS(i32, int, )
ATOMICS(u32, unsigned, )
ATOMICS(i32, int, _system)
ATOMICS(u32, unsigned, _block)
ATOMICS(u64, u64, )
ATOMICS(u64, u64, _system)
extern "C" __global__ void atomics_rest(unsigned *u, float *f, double *d, unsigned short *h, __half2 *h2, __half *h1, unsigned *out, float *fo) {
    __shared__ float sf[4];
    __shared__ unsigned su[4];
    __shared__ double sd[4];
    int i = threadIdx.x;
    out[i] = atomicInc(u, 7) + atomicDec(u, 7) + atomicInc(su, 9) + atomicDec(su, 9) + atomicSub(u, 3);
    fo[i] = atomicAdd(f, 2.f) + atomicAdd(sf, 3.f) + atomicExch(f, 2.f);
    d[i] = atomicAdd(d, 2.) + atomicAdd(sd, 2.);
    atomicAdd(f, 5.f);
    atomicAdd(d, 5.);
    atomicInc(u, 5);
    atomicDec(u, 5);
    atomicAdd_block(f, 1.f);
    atomicAdd_system(f, 1.f);
    out[i + 9] = atomicCAS(h, (unsigned short)1, (unsigned short)2);
    atomicAdd(h2, __half2(1.f, 2.f));
    atomicAdd(h1, __half(1.f));
    h2[i] = atomicAdd(h2, h2[i + 3]);
    __threadfence();
    __threadfence_block();
    __threadfence_system();
#if __CUDA_ARCH__ >= 800
    atomicAdd((__nv_bfloat162 *)h2, __nv_bfloat162(1.f, 2.f));
#endif
#if __CUDA_ARCH__ >= 900
    float4 v = atomicAdd((float4 *)f, make_float4(1, 2, 3, 4));
    float2 w = atomicAdd((float2 *)f + 9, make_float2(1, 2));
    f[i + 5] = v.x + w.y;
#endif
}

#define LOAD(id, type, c, text)                                                                  \
    extern "C" __global__ void load_##id(unsigned *out, const unsigned *p, u64 policy) {         \
        unsigned v;                                                                              \
        asm volatile(text : "=r"(v) : "l"(p + threadIdx.x), "l"(policy) : "memory");             \
        out[threadIdx.x] = v;                                                                    \
    }
#define ORDERED(scope)                                                                           \
    LOAD(acquire_##scope, , , "ld.acquire." #scope ".global.u32 %0, [%1];")                      \
    LOAD(relaxed_##scope, , , "ld.relaxed." #scope ".global.u32 %0, [%1];")                      \
    LOAD(store_##scope, , , "ld.u32 %0, [%1]; st.release." #scope ".global.u32 [%1], %0; st.relaxed." #scope ".u32 [%1+8], %0;") \
    LOAD(atom_##scope, , , "ld.u32 %0, [%1]; atom.acq_rel." #scope ".global.add.u32 %0, [%1], %0; red.relaxed." #scope ".global.max.u32 [%1], %0;") \
    LOAD(fence_##scope, , , "ld.u32 %0, [%1]; fence.acq_rel." #scope "; st.u32 [%1], %0; fence.sc." #scope ";") \
    LOAD(cas_##scope, , , "ld.u32 %0, [%1]; atom.acquire." #scope ".cas.b32 %0, [%1], %0, 7; atom.release." #scope ".exch.b32 %0, [%1+4], %0;")
ORDERED(cta)
ORDERED(gpu)
ORDERED(sys)
LOAD(volatile_, , , "ld.volatile.global.u32 %0, [%1];")
LOAD(ca, , , "ld.global.ca.u32 %0, [%1];")
LOAD(cg, , , "ld.global.cg.u32 %0, [%1];")
LOAD(cs, , , "ld.global.cs.u32 %0, [%1];")
LOAD(lu, , , "ld.global.lu.u32 %0, [%1];")
LOAD(cv, , , "ld.global.cv.u32 %0, [%1];")
LOAD(nc, , , "ld.global.nc.u32 %0, [%1];")
LOAD(pf, , , "prefetch.global.L1 [%1]; prefetch.global.L2 [%1+256]; prefetchu.L1 [%1]; ld.u32 %0, [%1];")
#if __CUDA_ARCH__ >= 750
LOAD(l64, , , "ld.global.L2::64B.u32 %0, [%1];")
LOAD(l128, , , "ld.global.L2::128B.u32 %0, [%1];")
LOAD(first, , , "ld.global.L1::evict_first.u32 %0, [%1];")
LOAD(last, , , "ld.global.L1::evict_last.u32 %0, [%1];")
LOAD(noalloc, , , "ld.global.L1::no_allocate.u32 %0, [%1];")
LOAD(unchanged, , , "ld.global.L1::evict_unchanged.u32 %0, [%1];")
LOAD(stfirst, , , "ld.u32 %0, [%1]; st.global.L1::evict_first.u32 [%1], %0; st.global.L1::evict_last.u32 [%1+4], %0;  st.global.L1::no_allocate.u32 [%1+8], %0;")
#endif
#if __CUDA_ARCH__ >= 800
LOAD(l256, , , "ld.global.L2::256B.u32 %0, [%1];")
LOAD(policy, , , "ld.global.L2::cache_hint.u32 %0, [%1], %2; st.global.L2::cache_hint.u32 [%1], %0, %2; red.global.add.L2::cache_hint.u32 [%1], %0, %2;")
LOAD(fraction, , , "{.reg .b64 q; createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 q, 0.5; ld.global.L2::cache_hint.L2::128B.u32 %0, [%1], q;}")
LOAD(range, , , "{.reg .b64 q; createpolicy.range.global.L2::evict_last.L2::evict_first.b64 q, [%1], 4096, 8192; ld.global.L2::cache_hint.u32 %0, [%1], q;}")
LOAD(applypriority, , , "applypriority.global.L2::evict_normal [%1], 128; discard.global.L2 [%1], 128; ld.u32 %0, [%1];")
LOAD(mmio, , , "ld.mmio.relaxed.sys.global.u32 %0, [%1]; st.mmio.relaxed.sys.global.u32 [%1], %0;")
extern "C" __global__ void async(float *out, const float *in, int n, u64 policy) {
    __shared__ float4 tile[256];
    unsigned to = (unsigned)__cvta_generic_to_shared(tile + threadIdx.x);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(in));
    asm volatile("cp.async.ca.shared.global [%0+16], [%1+16], 8;" ::"r"(to), "l"(in));
    asm volatile("cp.async.ca.shared.global [%0+32], [%1+32], 16;" ::"r"(to), "l"(in));
    asm volatile("cp.async.cg.shared.global [%0+48], [%1+48], 16;" ::"r"(to), "l"(in + n));
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(to), "l"(in));
    asm volatile("cp.async.cg.shared.global.L2::256B [%0], [%1], 16;" ::"r"(to), "l"(in));
    asm volatile("cp.async.ca.shared.global.L2::64B [%0], [%1], 16;" ::"r"(to), "l"(in));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(in), "r"(n));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(to), "l"(in), "r"(n));
    asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(to), "l"(in), "l"(policy));
    asm volatile("cp.async.commit_group;");
    asm volatile("{.reg .pred p; setp.gt.s32 p, %2, 0; @p cp.async.cg.shared.global [%0], [%1], 16; cp.async.cg.shared.global [%0], [%1], 16, p;}" ::"r"(to), "l"(in), "r"(n));
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_group 1;");
    asm volatile("cp.async.wait_group 0;");
    asm volatile("cp.async.wait_all;");
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x ^ 1].x;
}
extern "C" __global__ void barrier_objects(u64 *out, const float *in, int n) {
    __shared__ u64 b[4];
    __shared__ float tile[64];
    unsigned a = (unsigned)__cvta_generic_to_shared(b), to = (unsigned)__cvta_generic_to_shared(tile);
    u64 state;
    unsigned done, pending;
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(a), "r"(n));
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(a));
    asm volatile("mbarrier.arrive.noComplete.shared.b64 %0, [%1], 2;" : "=l"(state) : "r"(a + 8));
    asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];" : "=l"(state) : "r"(a + 16));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(in));
    asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(a));
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0+8];" ::"r"(a));
    asm volatile("{.reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}" : "=r"(done) : "r"(a), "l"(state));
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(pending) : "l"(state));
    asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(a));
    out[threadIdx.x] = state + done + pending + tile[threadIdx.x];
}
#endif
extern "C" __global__ void wide_atomics(u64 *a, long long *l, double *d) {
again:
    atomicMin(l, 3LL); atomicMax(l + 1, 4LL); atomicMin(a, 5ULL); atomicMax(a + 1, 6ULL); atomicExch(a + 2, 7ULL); atomicCAS(a + 3, 8ULL, 9ULL);
    if (a[0] == 77) { a[0] = 1; goto again; }
    a[threadIdx.x] = atomicMax(l + 3, 4LL) + atomicMin(l + 4, 9LL);
}
