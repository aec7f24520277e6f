// Nodes that copy to and from symbols, and what they copy then; ranges of managed memory in batches.

#include "check.h"

__device__ int symbol[8];

__global__ void twice(int *to) {
    to[threadIdx.x] = 2 * symbol[threadIdx.x];
}

static void nodes() {
    int source[8], other[8], back[8], out[8], *p;
    for (int k = 0; k < 8; k++) {
        source[k] = k;
        other[k] = 100 + k;
    }
    CK(cudaMalloc(&p, sizeof out));
    cudaGraph_t g;
    cudaGraphNode_t to, kernel, from;
    CK(cudaGraphCreate(&g, 0));
    CK(cudaGraphAddMemcpyNodeToSymbol(&to, g, nullptr, 0, symbol, source, 32, 0,
                                      cudaMemcpyHostToDevice));
    void *arguments[] = {&p};
    cudaKernelNodeParams how = {(void *)twice, 1, 8, 0, arguments, nullptr};
    CK(cudaGraphAddKernelNode(&kernel, g, &to, 1, &how));
    CK(cudaGraphAddMemcpyNodeFromSymbol(&from, g, &kernel, 1, back, symbol, 32, 0,
                                        cudaMemcpyDeviceToHost));
    cudaGraphExec_t x;
    CK(cudaGraphInstantiateWithFlags(&x, g, 0));
    CK(cudaGraphExecMemcpyNodeSetParamsToSymbol(x, to, symbol, other, 16, 16,
                                                cudaMemcpyHostToDevice));
    CK(cudaGraphExecMemcpyNodeSetParamsFromSymbol(x, from, back, symbol, 8, 24,
                                                  cudaMemcpyDeviceToHost));
    CK(cudaMemcpyToSymbol(symbol, source, 32));
    CK(cudaGraphLaunch(x, 0));
    CK(cudaMemcpy(out, p, 32, cudaMemcpyDefault));
    OK(out[3] == 6 && out[4] == 200 && out[7] == 206 && back[0] == 102 && back[1] == 103);

    CK(cudaGraphMemcpyNodeSetParamsToSymbol(to, symbol, other, 32, 0, cudaMemcpyHostToDevice));
    CK(cudaGraphMemcpyNodeSetParamsFromSymbol(from, back, symbol, 4, 0, cudaMemcpyDeviceToHost));
    IS(cudaGraphMemcpyNodeSetParamsToSymbol(to, symbol, other, 32, 4, cudaMemcpyHostToDevice),
       cudaErrorInvalidValue);
    IS(cudaGraphMemcpyNodeSetParamsToSymbol(kernel, symbol, other, 4, 0, cudaMemcpyHostToDevice),
       cudaErrorInvalidValue);
    CK(cudaGraphInstantiateWithFlags(&x, g, 0));
    CK(cudaGraphLaunch(x, 0));
    CK(cudaDeviceSynchronize());
    OK(back[0] == 100);
    cudaGetLastError();
}

static void batches() {
#if CUDART_VERSION >= 13000
    void *ranges[3];
    size_t sizes[] = {4096, 8192, 4096}, first[] = {0, 2};
    for (int k = 0; k < 3; k++)
        CK(cudaMallocManaged(&ranges[k], sizes[k]));
    cudaMemLocation places[] = {{cudaMemLocationTypeDevice, 0}, {cudaMemLocationTypeHost, 0}};
    CK(cudaMemPrefetchBatchAsync(ranges, sizes, 3, places, first, 2, 0, 0));
    for (int k = 0; k < 3; k++) {
        int place = -9;
        CK(cudaMemRangeGetAttribute(&place, 4, cudaMemRangeAttributeLastPrefetchLocation,
                                    ranges[k], sizes[k]));
        OK(place == (k < 2 ? 0 : cudaCpuDeviceId));
    }
    CK(cudaMemDiscardBatchAsync(ranges, sizes, 3, 0, 0));
    CK(cudaMemDiscardAndPrefetchBatchAsync(ranges, sizes, 3, places, first, 1, 0, 0));
    void *device;
    CK(cudaMalloc(&device, 64));
    IS(cudaMemDiscardBatchAsync(&device, sizes, 1, 0, 0), cudaErrorInvalidValue);
    IS(cudaMemPrefetchBatchAsync(ranges, sizes, 3, places, &sizes[0], 1, 0, 0),
       cudaErrorInvalidValue);
    cudaGetLastError();
#endif
}

int main() {
    nodes();
    batches();
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    size_t width;
    CK(cudaDeviceGetTexture1DLinearMaxWidth(&width, &format, 0));
    OK(width == 1 << 28);
    return finish();
}
