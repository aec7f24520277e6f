// Graphs that allocate and free memory: captured and built, launched again, freed elsewhere.

#include "check.h"

#include <cstdint>

__global__ void put(int *p, int v) {
    p[threadIdx.x] = v + (int)threadIdx.x;
}
__global__ void add(int *to, const int *from, int n) {
    atomicAdd(to, from[n]);
}

static uint64_t memory_of_graphs(cudaGraphMemAttributeType which) {
    uint64_t value = 0;
    CK(cudaDeviceGetGraphMemAttribute(0, which, &value));
    return value;
}

static int value_of(const int *sum) {
    int value;
    CK(cudaMemcpy(&value, sum, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

static void captured(cudaStream_t s, int *sum) {
    cudaGraph_t g, clone;
    cudaGraphExec_t e, second;
    int *p;
    CK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    CK(cudaMallocAsync(&p, 4096, s));
    put<<<1, 32, 0, s>>>(p, 5);
    add<<<1, 1, 0, s>>>(sum, p, 7);
    IS(cudaFreeAsync(sum, s), cudaErrorInvalidValue); // no graph's
    cudaGetLastError();
    CK(cudaFreeAsync(p, s));
    IS(cudaFreeAsync(p, s), cudaErrorInvalidValue); // twice
    cudaGetLastError();
    CK(cudaStreamEndCapture(s, &g));
    size_t count = 0;
    CK(cudaGraphGetNodes(g, NULL, &count));
    OK(count == 4);
    cudaGraphNode_t nodes[4];
    CK(cudaGraphGetNodes(g, nodes, &count));
    cudaGraphNodeType kind;
    CK(cudaGraphNodeGetType(nodes[0], &kind));
    OK(kind == cudaGraphNodeTypeMemAlloc);
    CK(cudaGraphNodeGetType(nodes[3], &kind));
    OK(kind == cudaGraphNodeTypeMemFree);
    cudaMemAllocNodeParams about;
    CK(cudaGraphMemAllocNodeGetParams(nodes[0], &about));
    OK(about.dptr == p && about.bytesize == 4096);
    void *freed;
    CK(cudaGraphMemFreeNodeGetParams(nodes[3], &freed));
    OK(freed == p);
    // what such graphs do not do
    OK(cudaGraphClone(&clone, g) != cudaSuccess);
    OK(cudaGraphDestroyNode(nodes[3]) != cudaSuccess);
    CK(cudaGraphInstantiateWithFlags(&e, g, 0));
    OK(cudaGraphInstantiateWithFlags(&second, g, 0) != cudaSuccess);
    cudaGetLastError();
    CK(cudaGraphLaunch(e, s));
    CK(cudaGraphLaunch(e, s));
    CK(cudaStreamSynchronize(s));
    OK(value_of(sum) == 24);
    OK(memory_of_graphs(cudaGraphMemAttrUsedMemCurrent) == 0);
    OK(memory_of_graphs(cudaGraphMemAttrUsedMemHigh) == 4096);
    OK(memory_of_graphs(cudaGraphMemAttrReservedMemCurrent) >= 4096);
    CK(cudaDeviceGraphMemTrim(0));
    OK(memory_of_graphs(cudaGraphMemAttrReservedMemCurrent) == 0);
    uint64_t zero = 0;
    CK(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &zero));
    OK(memory_of_graphs(cudaGraphMemAttrUsedMemHigh) == 0);
    IS(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &zero),
       cudaErrorInvalidValue);
    cudaGetLastError();
    CK(cudaGraphExecDestroy(e));
    CK(cudaGraphInstantiateWithFlags(&e, g, 0)); // the other one has gone
    CK(cudaGraphExecDestroy(e));
    CK(cudaGraphDestroy(g));
}

// Memory that outlives its graph's launch, and even the graph.
static void built(cudaStream_t s, int *sum) {
    cudaGraph_t g;
    cudaGraphExec_t e;
    cudaGraphNode_t a, k;
    CK(cudaGraphCreate(&g, 0));
    cudaMemAllocNodeParams want = {};
    want.poolProps.allocType = cudaMemAllocationTypePinned;
    want.poolProps.location.type = cudaMemLocationTypeDevice;
    want.bytesize = 1 << 20;
    CK(cudaGraphAddMemAllocNode(&a, g, NULL, 0, &want));
    int *p = (int *)want.dptr, v = 9;
    OK(p != NULL);
    void *arguments[] = {&p, &v};
    cudaKernelNodeParams kernel = {};
    kernel.func = (void *)put;
    kernel.gridDim = kernel.blockDim = dim3(1);
    kernel.kernelParams = arguments;
    CK(cudaGraphAddKernelNode(&k, g, &a, 1, &kernel));
    CK(cudaGraphInstantiateWithFlags(&e, g, 0));
    CK(cudaGraphLaunch(e, s));
    CK(cudaStreamSynchronize(s));
    OK(value_of(p) == 9);
    OK(memory_of_graphs(cudaGraphMemAttrUsedMemCurrent) == 1 << 20);
    IS(cudaGraphLaunch(e, s), cudaErrorInvalidValue); // it has not been freed
    cudaGetLastError();
    CK(cudaFreeAsync(p, s));
    CK(cudaGraphLaunch(e, s));
    CK(cudaGraphExecDestroy(e));
    // a launch frees what the one before left
    CK(cudaFree(p));
    CK(cudaGraphInstantiateWithFlags(&e, g, cudaGraphInstantiateFlagAutoFreeOnLaunch));
#if CUDART_VERSION >= 12000
    unsigned long long flags = 0;
    CK(cudaGraphExecGetFlags(e, &flags));
    OK(flags == cudaGraphInstantiateFlagAutoFreeOnLaunch);
#endif
    for (int i = 0; i < 3; i++)
        CK(cudaGraphLaunch(e, s));
    CK(cudaGraphExecDestroy(e));
    CK(cudaGraphDestroy(g));
    OK(value_of(p) == 9);
    CK(cudaFree(p));
    OK(memory_of_graphs(cudaGraphMemAttrUsedMemCurrent) == 0);
    IS(cudaFree(p), cudaErrorInvalidValue);
    cudaGetLastError();
    (void)sum;
}

#if CUDART_VERSION >= 12030
// One graph allocates, another one frees.
static void shared(cudaStream_t s) {
    cudaGraph_t make, drop;
    cudaGraphExec_t first, last;
    cudaGraphNode_t n;
    cudaGraphNodeParams want = {cudaGraphNodeTypeMemAlloc};
    want.alloc.poolProps.allocType = cudaMemAllocationTypePinned;
    want.alloc.poolProps.location.type = cudaMemLocationTypeDevice;
    want.alloc.bytesize = 512;
    CK(cudaGraphCreate(&make, 0));
    CK(cudaGraphCreate(&drop, 0));
    CK(cudaGraphAddNode(&n, make, NULL NO_DATA, 0, &want));
    CK(cudaGraphAddMemFreeNode(&n, drop, NULL, 0, want.alloc.dptr));
    CK(cudaGraphInstantiateWithFlags(&first, make, 0));
    CK(cudaGraphInstantiateWithFlags(&last, drop, 0));
    for (int i = 0; i < 2; i++) {
        CK(cudaGraphLaunch(first, s));
        OK(memory_of_graphs(cudaGraphMemAttrUsedMemCurrent) == 512);
        CK(cudaGraphLaunch(last, s));
    }
    OK(memory_of_graphs(cudaGraphMemAttrUsedMemCurrent) == 0);
    CK(cudaGraphExecDestroy(first));
    CK(cudaGraphExecDestroy(last));
    CK(cudaGraphDestroy(make));
    CK(cudaGraphDestroy(drop));
}
#endif

int main() {
    cudaStream_t s;
    int *sum;
    size_t before, after, total;
    CK(cudaStreamCreate(&s));
    CK(cudaMalloc(&sum, 4));
    CK(cudaMemset(sum, 0, 4));
    CK(cudaMemGetInfo(&before, &total));
    captured(s, sum);
    built(s, sum);
#if CUDART_VERSION >= 12030
    shared(s);
#endif
    CK(cudaMemGetInfo(&after, &total));
    OK(before - after < 1 << 16); // code that was loaded
    return finish();
}
