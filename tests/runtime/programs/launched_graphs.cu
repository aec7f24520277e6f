// Kernels that launch graphs are refused; the graphs, and other kernels, are not.

#include "check.h"

__global__ void add(int *p, int v) {
    p[threadIdx.x] += v;
}
__global__ void launch(cudaGraphExec_t x) {
    cudaGraphLaunch(x, cudaStreamGraphFireAndForget);
}
__global__ void stop(cudaGraphDeviceNode_t node) {
    cudaGraphKernelNodeSetEnabled(node, false);
    cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch);
}

int main() {
    int *p, out;
    CK(cudaMalloc(&p, 128));
    CK(cudaMemset(p, 0, 128));
    cudaStream_t s;
    CK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    cudaGraph_t g;
    CK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    add<<<1, 32, 0, s>>>(p, 1);
    CK(cudaStreamEndCapture(s, &g));
    cudaGraphExec_t x;
    CK(cudaGraphInstantiate(&x, g, cudaGraphInstantiateFlagDeviceLaunch));
    CK(cudaGraphUpload(x, s));
    CK(cudaGraphLaunch(x, s));
    launch<<<1, 1, 0, s>>>(x);
    IS(cudaGetLastError(), cudaErrorNotSupported);
    stop<<<1, 1, 0, s>>>(nullptr);
    IS(cudaGetLastError(), cudaErrorNotSupported);
    CK(cudaStreamSynchronize(s));
    CK(cudaMemcpy(&out, p, 4, cudaMemcpyDefault));
    OK(out == 1);
    return finish();
}
