// What was said of managed memory, streams and contexts is told to who asks; copies in batches.

#include <cuda.h>

#include "check.h"

static const cudaMemLocation ON_DEVICE = {cudaMemLocationTypeDevice, 0};
static const cudaMemLocation ON_HOST = {cudaMemLocationTypeHost, 0};

static int told(cudaMemRangeAttribute attribute, const void *address, size_t bytes) {
    int answer = -9;
    CK(cudaMemRangeGetAttribute(&answer, sizeof answer, attribute, address, bytes));
    return answer;
}

static void advice() {
    char *m;
    const size_t half = 1 << 16, all = 2 * half;
    CK(cudaMallocManaged(&m, all));
    OK(told(cudaMemRangeAttributeReadMostly, m, all) == 0);
    OK(told(cudaMemRangeAttributePreferredLocation, m, all) == cudaInvalidDeviceId);
    CK(cudaMemAdvise(m, half, cudaMemAdviseSetReadMostly, ON_DEVICE));
    OK(told(cudaMemRangeAttributeReadMostly, m, half) == 1);
    OK(told(cudaMemRangeAttributeReadMostly, m, all) == 0);
    CK(cudaMemAdvise(m, all, cudaMemAdviseSetPreferredLocation, ON_HOST));
    CK(cudaMemAdvise(m + half, half, cudaMemAdviseSetPreferredLocation, ON_DEVICE));
    OK(told(cudaMemRangeAttributePreferredLocation, m, half) == cudaCpuDeviceId);
    OK(told(cudaMemRangeAttributePreferredLocation, m + half, half) == 0);
    OK(told(cudaMemRangeAttributePreferredLocation, m, all) == cudaInvalidDeviceId);
    CK(cudaMemPrefetchAsync(m, all, ON_DEVICE, 0, nullptr));
    OK(told(cudaMemRangeAttributeLastPrefetchLocation, m, all) == 0);
    CK(cudaMemAdvise(m, all, cudaMemAdviseSetAccessedBy, ON_DEVICE));
    CK(cudaMemAdvise(m, half, cudaMemAdviseSetAccessedBy, ON_HOST));
    int devices[3];
    CK(cudaMemRangeGetAttribute(devices, 12, cudaMemRangeAttributeAccessedBy, m, half));
    OK(devices[0] == 0 && devices[1] == cudaCpuDeviceId && devices[2] == cudaInvalidDeviceId);
    CK(cudaMemRangeGetAttribute(devices, 12, cudaMemRangeAttributeAccessedBy, m, all));
    OK(devices[0] == 0 && devices[1] == cudaInvalidDeviceId);
    int mostly, preferred;
    void *data[] = {&mostly, &preferred};
    size_t sizes[] = {4, 4};
    cudaMemRangeAttribute asked[] = {cudaMemRangeAttributeReadMostly,
                                     cudaMemRangeAttributePreferredLocationType};
    CK(cudaMemRangeGetAttributes(data, sizes, asked, 2, m, half));
    OK(mostly == 1 && preferred == cudaMemLocationTypeHost);
    CK(cudaFree(m));
    CK(cudaMallocManaged(&m, all));
    OK(told(cudaMemRangeAttributeReadMostly, m, half) == 0);
    void *device;
    CK(cudaMalloc(&device, all));
    IS(cudaMemRangeGetAttribute(&mostly, 4, asked[0], device, all), cudaErrorInvalidValue);
}

static void batches() {
    int h[60], back[60] = {}, *d;
    for (int i = 0; i < 60; i++)
        h[i] = i * i;
    CK(cudaMalloc(&d, 2 * sizeof h));
    void *to[] = {d + 30, d};
    const void *from[] = {h + 30, h};
    size_t bytes[] = {120, 120}, first = 0;
    cudaMemcpyAttributes how = {};
    how.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    cudaStream_t s;
    CK(cudaStreamCreate(&s));
    CK(cudaMemcpyBatchAsync(to, from, bytes, 2, &how, &first, 1, s));
    CK(cudaStreamSynchronize(s));
    cudaMemcpy3DPeerParms box = {};
    box.srcPtr = make_cudaPitchedPtr(d, 20, 20, 4);
    box.dstPtr = make_cudaPitchedPtr(d + 60, 20, 20, 4);
    box.extent = make_cudaExtent(20, 4, 3);
    CK(cudaMemcpy3DPeer(&box));
    CK(cudaMemcpy(back, d + 60, sizeof back, cudaMemcpyDeviceToHost));
    OK(!memcmp(back, h, sizeof h));
    box.dstDevice = 7;
    IS(cudaMemcpy3DPeerAsync(&box, s), cudaErrorInvalidDevice);
}

static void attributes() {
    cudaStream_t one, other;
    CK(cudaStreamCreate(&one));
    CK(cudaStreamCreate(&other));
    cudaStreamAttrValue set = {}, found = {};
    set.accessPolicyWindow.num_bytes = 4096;
    set.accessPolicyWindow.hitRatio = 0.5f;
    CK(cudaStreamSetAttribute(one, cudaStreamAttributeAccessPolicyWindow, &set));
    CK(cudaStreamGetAttribute(other, cudaStreamAttributeAccessPolicyWindow, &found));
    OK(found.accessPolicyWindow.num_bytes == 0);
    CK(cudaStreamCopyAttributes(other, one));
    CK(cudaStreamGetAttribute(other, cudaStreamAttributeAccessPolicyWindow, &found));
    OK(found.accessPolicyWindow.num_bytes == 4096 && found.accessPolicyWindow.hitRatio == 0.5f);
}

// The runtime makes the context of its device the current one.
static void contexts() {
    CUcontext current, popped;
    CUdevice device = -1;
    OK(cuInit(0) == 0 && cuCtxGetCurrent(&current) == 0 && !current);
    OK(cuCtxGetDevice(&device) == CUDA_ERROR_INVALID_CONTEXT);
    CK(cudaFree(nullptr));
    CK(cudaDeviceSynchronize());
    OK(cuCtxGetCurrent(&current) == 0 && current);
    OK(cuCtxGetDevice(&device) == 0 && device == 0);
    OK(cuCtxPopCurrent(&popped) == 0 && popped == current);
    OK(cuCtxGetCurrent(&popped) == 0 && !popped);
    OK(cuCtxPushCurrent(current) == 0 && cuCtxGetCurrent(&popped) == 0 && popped == current);
    CUcontext made;
    OK(cuCtxCreate(&made, nullptr, 0, 0) == 0 && made != current);
    OK(cuCtxPopCurrent(&popped) == 0 && popped == made && cuCtxDestroy(made) == 0);
    OK(cuCtxGetCurrent(&popped) == 0 && popped == current); // is still where it was
    OK(cuCtxDestroy(made) == CUDA_ERROR_INVALID_CONTEXT);
    OK(cuCtxSetCurrent(made) == CUDA_ERROR_INVALID_CONTEXT);
}

// What has no place is refused, and so are flags that mean nothing.
static void nowhere() {
    cudaStream_t s;
    cudaEvent_t e;
    CK(cudaEventCreate(&e));
    IS(cudaGetDeviceCount(nullptr), cudaErrorInvalidValue);
    IS(cudaGetDeviceProperties(nullptr, 0), cudaErrorInvalidValue);
    IS(cudaGetDevice(nullptr), cudaErrorInvalidValue);
    IS(cudaStreamCreate(nullptr), cudaErrorInvalidValue);
    IS(cudaStreamCreateWithFlags(&s, 99), cudaErrorInvalidValue);
    IS(cudaStreamCreateWithPriority(nullptr, 0, 0), cudaErrorInvalidValue);
    IS(cudaLaunchHostFunc(0, nullptr, nullptr), cudaErrorInvalidValue);
    IS(cudaEventCreate(nullptr), cudaErrorInvalidValue);
    IS(cudaEventCreateWithFlags(&e, 0xFF), cudaErrorInvalidValue);
    IS(cudaEventElapsedTime(nullptr, e, e), cudaErrorInvalidValue);
    CK(cudaEventDestroy(e));
    cudaGetLastError();
}

// What the driver tells of contexts, devices and pointers by older and newer names.
static void driver() {
    CUcontext context, other;
    CUdevice device = 9;
    unsigned long long one, two;
    CUdevprop properties;
    char id[32];
    CK(cuCtxGetCurrent(&context));
    CK(cuCtxCreate_v4(&other, nullptr, 0, 0));
    CK(cuCtxGetId(context, &one));
    CK(cuCtxGetId(nullptr, &two));
    OK(one != two);
    CK(cuCtxDestroy(other));
    IS(cuCtxGetId(other, &two), CUDA_ERROR_INVALID_CONTEXT);
    CK(cuDeviceGetProperties(&properties, 0));
    OK(properties.maxThreadsPerBlock == 1024 && properties.SIMDWidth == 32);
    OK(properties.maxThreadsDim[2] == 64 && properties.textureAlign == 512);
    CK(cuDeviceGetPCIBusId(id, sizeof id, 0));
    CK(cuDeviceGetByPCIBusId(&device, id));
    OK(device == 0);
    IS(cuDeviceGetByPCIBusId(&device, "0000:7f:00.0"), CUDA_ERROR_INVALID_VALUE);
    cudaStream_t s;
    CK(cudaStreamCreate(&s));
    CK(cuStreamGetDevice(s, &(device = 9)));
    OK(device == 0);
    CUdeviceptr p;
    CK(cuMemAlloc(&p, 64));
    CK(cuPointerGetAttribute(&other, CU_POINTER_ATTRIBUTE_CONTEXT, p));
    OK(other == context);
    IS(cuMemsetD32(p + 2, 1, 1), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemsetD2D16(p, 5, 1, 2, 2), CUDA_ERROR_INVALID_VALUE);
    CK(cuMemsetD16(p + 2, 1, 1));
    CUevent e;
    IS(cuEventCreate(&e, CU_EVENT_INTERPROCESS), CUDA_ERROR_INVALID_VALUE);
    CK(cuEventCreate(&e, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
    void *function;
    CK(cuGetProcAddress("cuCtxGetDevice", &function, 13000, 0, nullptr));
    CK(((CUresult(*)(CUdevice *, CUcontext))function)(&(device = 9), context));
    OK(device == 0);
}

int main() {
    contexts();
    nowhere();
    advice();
    batches();
    attributes();
    driver();
    return finish();
}
