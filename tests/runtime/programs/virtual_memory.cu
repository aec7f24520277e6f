// Virtual memory of the driver API: addresses are reserved, memory is made, mapped there, moved.

#include "check.h"

#include <cuda.h>

typedef CUmemGenericAllocationHandle handle_t;

__global__ void add(int *p, int v) {
    p[blockIdx.x * blockDim.x + threadIdx.x] += v;
}

static CUmemAllocationProp properties;
static size_t unit;

static handle_t memory(size_t units) {
    handle_t made;
    CK(cuMemCreate(&made, units * unit, &properties, 0));
    return made;
}

static void map(CUdeviceptr at, size_t units, handle_t made) {
    CUmemAccessDesc access = {properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CK(cuMemMap(at, units * unit, 0, made, 0));
    CK(cuMemSetAccess(at, units * unit, &access, 1));
}

static int first(CUdeviceptr at) {
    int value;
    CK(cuMemcpyDtoH(&value, at, sizeof value));
    return value;
}

int main() {
    CK(cudaFree(0));
    int able = 0;
    CK(cuDeviceGetAttribute(&able, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0));
    OK(able);
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CK(cuMemGetAllocationGranularity(&unit, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    OK(unit && (unit & (unit - 1)) == 0);

    CUdeviceptr start;
    CK(cuMemAddressReserve(&start, 4 * unit, 0, 0, 0));
    OK(start % unit == 0);
    IS(cuMemAddressReserve(&start, unit + 1, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
    handle_t two = memory(2), one = memory(1), none;
    IS(cuMemCreate(&none, 100, &properties, 0), CUDA_ERROR_INVALID_VALUE);
    map(start, 2, two); // memory that grows: 2, then 3 of 4 units
    map(start + 2 * unit, 1, one);
    IS(cuMemMap(start + unit, unit, 0, memory(1), 0), CUDA_ERROR_INVALID_VALUE); // is taken
    CUmemAccessDesc access = {properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    IS(cuMemSetAccess(start, 4 * unit, &access, 1), CUDA_ERROR_INVALID_VALUE); // not all of it
    int n = int(3 * unit / sizeof(int));
    CK(cuMemsetD32(start, 5, n));
    add<<<n / 256, 256>>>((int *)start, 37);
    OK(first(start) == 42 && first(start + 3 * unit - 4) == 42);

    unsigned long long flags = 0;
    CK(cuMemGetAccess(&flags, &properties.location, start + unit));
    OK(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    IS(cuMemGetAccess(&flags, &properties.location, start + 3 * unit), CUDA_ERROR_INVALID_VALUE);
    handle_t again;
    CUmemAllocationProp told;
    CK(cuMemRetainAllocationHandle(&again, (void *)(start + unit + 8)));
    OK(again == two);
    CK(cuMemGetAllocationPropertiesFromHandle(&told, again));
    OK(told.type == properties.type && told.location.type == properties.location.type);
    CK(cuMemRelease(again));

    IS(cuMemAddressFree(start, 4 * unit), CUDA_ERROR_INVALID_VALUE); // something is mapped
    IS(cuMemUnmap(start, unit), CUDA_ERROR_INVALID_VALUE);           // a part of one
    CK(cuMemUnmap(start, 3 * unit));
    map(start + 3 * unit, 1, one); // what it holds goes with it
    OK(first(start + 3 * unit) == 42);
    CK(cuMemsetD32(start + 3 * unit, 7, 1));
    map(start, 2, two);
    OK(first(start) == 42 && first(start + 3 * unit) == 7);
    CK(cuMemRelease(one)); // it lives until it is unmapped
    add<<<1, 1>>>((int *)(start + 3 * unit), 1);
    OK(first(start + 3 * unit) == 8);
    CK(cuMemUnmap(start + 3 * unit, unit));
    CK(cuMemUnmap(start, 2 * unit));
    CK(cuMemRelease(two));
    handle_t large = memory(3); // first a part of it, then all
    map(start, 1, large);
    CK(cuMemsetD32(start, 9, 1));
    CK(cuMemUnmap(start, unit));
    map(start, 3, large);
    OK(first(start) == 9 && first(start + 2 * unit) == 0);
    CK(cuMemUnmap(start, 3 * unit));
    CK(cuMemRelease(large));
    CK(cuMemAddressFree(start, 4 * unit));
    IS(cuMemAddressFree(start, 4 * unit), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemMap(start, unit, 0, memory(1), 0), CUDA_ERROR_INVALID_VALUE); // nothing is reserved
    return finish();
}
