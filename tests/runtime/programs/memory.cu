// Memory in all forms: mapped, registered, managed, symbols, rectangles, boxes, pools, arrays.

#include "check.h"
__global__ void twice(float *p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] *= 2;
}
__constant__ float coef[4];
__device__ int total;
__managed__ int mg = 3;
__device__ float table[2][3] = {{1, 2, 3}, {4, 5, 6}};
__global__ void use(float *o) {
    o[threadIdx.x] = coef[threadIdx.x & 3] + table[threadIdx.x & 1][threadIdx.x % 3];
    atomicAdd(&total, 1);
    if (!threadIdx.x)
        mg += 4;
}
int main() {
    // zero copy
    float *h, *d;
    CK(cudaHostAlloc(&h, 1024, cudaHostAllocMapped | cudaHostAllocPortable));
    for (int i = 0; i < 256; i++)
        h[i] = i;
    CK(cudaHostGetDevicePointer(&d, h, 0));
    twice<<<1, 256>>>(d, 256);
    CK(cudaDeviceSynchronize());
    OK(h[255] == 510);
    unsigned fl;
    CK(cudaHostGetFlags(&fl, h));
    OK(fl & cudaHostAllocMapped);
    // registered
    std::vector<float> own(4096, 1.0f);
    CK(cudaHostRegister(own.data(), own.size() * 4, cudaHostRegisterMapped));
    float *od;
    CK(cudaHostGetDevicePointer(&od, own.data(), 0));
    twice<<<16, 256>>>(od, 4096);
    CK(cudaDeviceSynchronize());
    OK(own[4095] == 2);
    CK(cudaHostUnregister(own.data()));
    // managed
    float *m;
    CK(cudaMallocManaged(&m, 4096));
    for (int i = 0; i < 1024; i++)
        m[i] = 1;
    twice<<<8, 128>>>(m, 1024);
    CK(cudaDeviceSynchronize());
    OK(m[1023] == 2);
#if CUDART_VERSION < 13000
    CK(cudaMemPrefetchAsync(m, 4096, 0, 0));
    CK(cudaMemAdvise(m, 4096, cudaMemAdviseSetReadMostly, 0));
#else
    cudaMemLocation loc = {cudaMemLocationTypeDevice, 0};
    CK(cudaMemPrefetchAsync(m, 4096, loc, 0, 0));
    CK(cudaMemPrefetchAsync(&mg, sizeof mg, loc, 0, 0));
    IS(cudaMemPrefetchAsync(d, 1024, loc, 0, 0), cudaErrorInvalidValue);
    IS(cudaMemAdvise(own.data(), 4096, cudaMemAdviseSetReadMostly, loc), cudaErrorInvalidValue);
    CK(cudaMemAdvise(m, 4096, cudaMemAdviseSetReadMostly, loc));
#endif

    cudaPointerAttributes at;
    CK(cudaPointerGetAttributes(&at, m));
    OK(at.type == cudaMemoryTypeManaged);
    CK(cudaPointerGetAttributes(&at, h));
    OK(at.type == cudaMemoryTypeHost);
    CK(cudaPointerGetAttributes(&at, own.data()));
    OK(at.type == cudaMemoryTypeUnregistered);
    // symbols
    float c[4] = {1, 2, 3, 4};
    CK(cudaMemcpyToSymbol(coef, c, sizeof c));
    IS(cudaMemcpyToSymbol(coef, c, 8, 12), cudaErrorInvalidValue);
    IS(cudaMemcpyFromSymbol(c, coef, 4, -4), cudaErrorInvalidValue);
    float *o;
    CK(cudaMalloc(&o, 128));
    use<<<1, 32>>>(o);
    float r[32];
    CK(cudaMemcpy(r, o, 128, cudaMemcpyDeviceToHost));
    OK(r[5] == 2 + 6);
    int t;
    CK(cudaMemcpyFromSymbol(&t, total, 4));
    OK(t == 32);
    OK(mg == 7);
    void *sa;
    size_t ss;
    CK(cudaGetSymbolAddress(&sa, table));
    CK(cudaGetSymbolSize(&ss, table));
    OK(ss == 24);
    cudaStream_t st;
    CK(cudaStreamCreate(&st));
    CK(cudaMemcpyToSymbolAsync(total, &t, 4, 0, cudaMemcpyHostToDevice, st));
    // 2D / 3D
    size_t pitch;
    char *p2;
    CK(cudaMallocPitch((void **)&p2, &pitch, 100, 10));
    char img[10][100], back[10][100];
    for (int i = 0; i < 1000; i++)
        img[i / 100][i % 100] = i * 7;
    CK(cudaMemcpy2D(p2, pitch, img, 100, 100, 10, cudaMemcpyHostToDevice));
    CK(cudaMemcpy2D(back, 100, p2, pitch, 100, 10, cudaMemcpyDeviceToHost));
    OK(!memcmp(img, back, 1000));
    IS(cudaMemcpy2D(back, 10, p2, pitch, 100, 10, cudaMemcpyDeviceToHost),
       cudaErrorInvalidPitchValue);
    cudaExtent ex = make_cudaExtent(64, 4, 3);
    cudaPitchedPtr p3;
    CK(cudaMalloc3D(&p3, ex));
    CK(cudaMemset3D(p3, 9, ex));
    cudaMemcpy3DParms cp = {};
    char box[3][4][64] = {};
    cp.srcPtr = p3;
    cp.dstPtr = make_cudaPitchedPtr(box, 64, 64, 4);
    cp.extent = ex;
    cp.kind = cudaMemcpyDeviceToHost;
    CK(cudaMemcpy3D(&cp));
    OK(box[2][3][63] == 9);
    cp.dstPos = make_cudaPos(1, 1, 1);
    cp.extent = make_cudaExtent(2, 2, 2);
    CK(cudaMemset3D(p3, 5, ex));
    CK(cudaMemcpy3DAsync(&cp, st));
    CK(cudaStreamSynchronize(st));
    OK(box[1][1][1] == 5 && box[1][1][3] == 9 && box[2][2][2] == 5);
    // pools
    int *q;
    CK(cudaMallocAsync(&q, 4096, st));
    CK(cudaMemsetAsync(q, 1, 4096, st));
    int hq;
    CK(cudaMemcpyAsync(&hq, q, 4, cudaMemcpyDeviceToHost, st));
    CK(cudaStreamSynchronize(st));
    OK(hq == 0x01010101);
    CK(cudaFreeAsync(q, st));
    cudaMemPool_t pool;
    CK(cudaDeviceGetDefaultMemPool(&pool, 0));
    unsigned long long thr = ~0ull;
    CK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &thr));
    thr = 0;
    CK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &thr));
    OK(thr == ~0ull);
    cudaMemPoolProps pp = {};
    pp.allocType = cudaMemAllocationTypePinned;
    pp.location.type = cudaMemLocationTypeDevice;
    cudaMemPool_t own2;
    CK(cudaMemPoolCreate(&own2, &pp));
    CK(cudaMallocFromPoolAsync((void **)&q, 64, own2, st));
    CK(cudaFreeAsync(q, st));
    CK(cudaMemPoolTrimTo(own2, 0));
    CK(cudaMemPoolDestroy(own2));
    size_t fr, to;
    CK(cudaMemGetInfo(&fr, &to));
    void *big;
    IS(cudaMalloc(&big, to * 2), cudaErrorMemoryAllocation);
    IS(cudaGetLastError(), cudaErrorMemoryAllocation);
    IS(cudaFree((void *)0x1234), cudaErrorInvalidValue);
    CK(cudaFree(0));
    cudaGetLastError();
    IS(cudaMemcpy(r, o, 128, (cudaMemcpyKind)9), cudaErrorInvalidMemcpyDirection);
    IS(cudaMemcpy(o, r, 129, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    IS(cudaMemset(nullptr, 0, 4), cudaErrorInvalidValue);
    // array
    cudaArray_t arr;
    cudaChannelFormatDesc cd = cudaCreateChannelDesc<float>();
    CK(cudaMallocArray(&arr, &cd, 16, 8));
    float src[128], dst[128];
    for (int i = 0; i < 128; i++)
        src[i] = i;
    CK(cudaMemcpy2DToArray(arr, 0, 0, src, 64, 64, 8, cudaMemcpyHostToDevice));
    CK(cudaMemcpy2DFromArray(dst, 64, arr, 0, 0, 64, 8, cudaMemcpyDeviceToHost));
    OK(!memcmp(src, dst, 512));
    cudaExtent ae;
    unsigned af;
    cudaChannelFormatDesc got;
    CK(cudaArrayGetInfo(&got, &ae, &af, arr));
    OK(ae.width == 16 && ae.height == 8 && got.x == 32);
    CK(cudaFreeArray(arr));
    // each kind of memory has a function of its own to free it
    IS(cudaFreeHost(m), cudaErrorInvalidValue);
    IS(cudaFree(h), cudaErrorInvalidValue);
    IS(cudaFreeAsync(h, 0), cudaErrorInvalidValue);
    CK(cudaFreeHost(h));
    CK(cudaFree(m));
    CK(cudaDeviceReset());
    // the pool counts what it gave
    cudaMemAccessFlags access;
    cudaMemLocation here = {cudaMemLocationTypeDevice, 0};
    unsigned long long now, most;
    void *x, *y;
    CK(cudaMemPoolGetAccess(&access, pool, &here));
    OK(access == cudaMemAccessFlagsProtReadWrite);
    CK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &now));
    unsigned long long before = now;
    CK(cudaMallocAsync(&x, 1 << 20, 0));
    CK(cudaMallocAsync(&y, 1 << 16, 0));
    CK(cudaFreeAsync(x, 0));
    CK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &now));
    CK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &most));
    OK(now - before == 1 << 16 && most - before >= (1 << 20) + (1 << 16));
    most = 0;
    CK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &most));
    CK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &most));
    OK(most == now);
    IS(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &most), cudaErrorInvalidValue);
    cudaGetLastError();
    CK(cudaMemPoolTrimTo(pool, 0));
    CK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &most));
    OK(most == now);
    CK(cudaFree(y));
    CK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &now));
    OK(now == before);
    return finish();
}
