// Memory pools: each counts what is its own, the device has a current one.

#include "check.h"

static unsigned long long of(cudaMemPool_t pool, cudaMemPoolAttr attribute) {
    unsigned long long value = 0;
    CK(cudaMemPoolGetAttribute(pool, attribute, &value));
    return value;
}

int main() {
    const size_t mega = 1 << 20;
    cudaMemPool_t usual, own, current;
    cudaStream_t s;
    CK(cudaStreamCreate(&s));
    CK(cudaDeviceGetDefaultMemPool(&usual, 0));
    cudaMemPoolProps how = {};
    how.allocType = cudaMemAllocationTypePinned;
    how.location = {cudaMemLocationTypeDevice, 0};
    CK(cudaMemPoolCreate(&own, &how));
    OK(own != usual);
    unsigned long long threshold = mega;
    CK(cudaMemPoolSetAttribute(own, cudaMemPoolAttrReleaseThreshold, &threshold));
    OK(of(own, cudaMemPoolAttrReleaseThreshold) == mega);
    OK(of(usual, cudaMemPoolAttrReleaseThreshold) == 0);

    void *a, *b, *c;
    CK(cudaMallocFromPoolAsync(&a, mega, own, s));
    CK(cudaMallocAsync(&b, 4096, s));
    OK(of(own, cudaMemPoolAttrUsedMemCurrent) == mega);
    OK(of(usual, cudaMemPoolAttrUsedMemCurrent) == 4096);
    CK(cudaDeviceGetMemPool(&current, 0));
    OK(current == usual);
    CK(cudaDeviceSetMemPool(0, own));
    CK(cudaDeviceGetMemPool(&current, 0));
    OK(current == own);
    CK(cudaMallocAsync(&c, mega, s));
    OK(of(own, cudaMemPoolAttrUsedMemCurrent) == 2 * mega);
    CK(cudaFreeAsync(a, s));
    CK(cudaFree(b));
    OK(of(own, cudaMemPoolAttrUsedMemCurrent) == mega);
    OK(of(own, cudaMemPoolAttrUsedMemHigh) == 2 * mega);
    OK(of(usual, cudaMemPoolAttrUsedMemCurrent) == 0);
    CK(cudaMemPoolTrimTo(own, 3 * mega / 2));
    OK(of(own, cudaMemPoolAttrReservedMemCurrent) == 3 * mega / 2);
    CK(cudaMemPoolTrimTo(own, 0));
    OK(of(own, cudaMemPoolAttrReservedMemCurrent) == mega);

    // what is allocated outlives its pool, and the device has its first one again
    IS(cudaMemPoolDestroy(usual), cudaErrorInvalidValue);
    CK(cudaMemPoolDestroy(own));
    IS(cudaMemPoolDestroy(own), cudaErrorInvalidValue);
    IS(cudaMallocFromPoolAsync(&a, 64, own, s), cudaErrorInvalidValue);
    CK(cudaDeviceGetMemPool(&current, 0));
    OK(current == usual);
    CK(cudaMemsetAsync(c, 1, mega, s));
    CK(cudaFreeAsync(c, s));
    how.maxSize = 4 * mega;
    CK(cudaMemPoolCreate(&own, &how));
    IS(cudaMallocFromPoolAsync(&a, 16 * mega, own, s), cudaErrorMemoryAllocation);
    CK(cudaMallocFromPoolAsync(&a, 3 * mega, own, s));
    IS(cudaMallocFromPoolAsync(&b, 2 * mega, own, s), cudaErrorMemoryAllocation);
    CK(cudaFreeAsync(a, s));
    CK(cudaMallocFromPoolAsync(&b, 4 * mega, own, s));
    CK(cudaFreeAsync(b, s));
    cudaGetLastError();
    how.location.id = 7;
    IS(cudaMemPoolCreate(&own, &how), cudaErrorInvalidDevice);
    cudaGetLastError();
    return finish();
}
