// What is said of the device.

#include "check.h"
int main() {
    int n;
    CK(cudaGetDeviceCount(&n));
    OK(n == 1);
    cudaDeviceProp p;
    CK(cudaGetDeviceProperties(&p, 0));
    int drv, rt;
    CK(cudaDriverGetVersion(&drv));
    CK(cudaRuntimeGetVersion(&rt));
    OK(drv >= rt && rt >= 11000);
    for (int a = 1; a < 140; a++) {
        int v;
        cudaError_t e = cudaDeviceGetAttribute(&v, (cudaDeviceAttr)a, 0);
        CK(e);
    }
    int clk;
    CK(cudaDeviceGetAttribute(&clk, cudaDevAttrClockRate, 0));
    OK(clk > 100000);
    char bus[32];
    CK(cudaDeviceGetPCIBusId(bus, 32, 0));
    int d;
    CK(cudaDeviceGetByPCIBusId(&d, bus));
    cudaDeviceProp want = {};
    want.major = 7;
    CK(cudaChooseDevice(&d, &want));
    IS(cudaSetDevice(3), cudaErrorInvalidDevice);
    IS(cudaGetLastError(), cudaErrorInvalidDevice);
    IS(cudaGetDeviceProperties(&p, 1), cudaErrorInvalidDevice);
    int can;
    CK(cudaDeviceCanAccessPeer(&can, 0, 0));
    OK(!can);
    IS(cudaDeviceEnablePeerAccess(0, 0), cudaErrorInvalidDevice);
    IS(cudaDeviceCanAccessPeer(&can, 0, 1), cudaErrorInvalidDevice);
    IS(cudaDeviceGetP2PAttribute(&can, cudaDevP2PAttrAccessSupported, 0, 0), cudaErrorInvalidDevice);
    IS(cudaDeviceGetAttribute(&can, (cudaDeviceAttr)9999, 0), cudaErrorInvalidValue);
    IS(cudaDeviceGetAttribute(&can, (cudaDeviceAttr)0, 0), cudaErrorInvalidValue);
    cudaGetLastError();
    size_t v;
    CK(cudaDeviceGetLimit(&v, cudaLimitMallocHeapSize));
    CK(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
    CK(cudaDeviceGetLimit(&v, cudaLimitStackSize));
    OK(v == 4096);
    IS(cudaDeviceSetLimit((cudaLimit)77, 1), cudaErrorUnsupportedLimit);
    size_t free, total;
    CK(cudaMemGetInfo(&free, &total));
    CK(cudaGetDeviceProperties(&p, 0));
    OK(total == p.totalGlobalMem && total == 80ull << 30 && free <= total);
    void *most;
    IS(cudaMalloc(&most, total + 1), cudaErrorMemoryAllocation);
    CK(cudaMalloc(&most, total / 2));
    CK(cudaMemset((char *)most + total / 2 - 64, 1, 64));
    size_t left;
    CK(cudaMemGetInfo(&left, &total));
    OK(free - left >= total / 2);
    CK(cudaFree(most));
    int lo, hi;
    CK(cudaDeviceGetStreamPriorityRange(&lo, &hi));
    unsigned f;
    CK(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
    CK(cudaGetDeviceFlags(&f));
    CK(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
    OK(!strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue"));
    OK(!strcmp(cudaGetErrorString((cudaError_t)12345), "unrecognized error code"));
    OK(!strcmp(cudaGetErrorName(cudaErrorGraphExecUpdateFailure),
               "cudaErrorGraphExecUpdateFailure"));
    OK(!strcmp(cudaGetErrorString(cudaErrorStreamCaptureUnjoined),
               "capturing stream has unjoined work"));
    cudaExternalMemory_t external;
    cudaExternalMemoryHandleDesc described = {};
    IS(cudaImportExternalMemory(&external, &described), cudaErrorNotSupported);
    return finish();
}
