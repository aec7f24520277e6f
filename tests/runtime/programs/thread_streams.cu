// With a default stream for each thread there is no legacy stream: nothing waits for what others
// capture, and the default stream itself is captured.

#include "check.h"

__global__ void add(int *p, int v) {
    p[threadIdx.x] += v;
}

int main() {
    int *p, out[32];
    cudaStream_t s;
    cudaGraph_t g;
    CK(cudaMalloc(&p, 128));
    CK(cudaMemset(p, 0, 128));
    CK(cudaStreamCreate(&s));
    CK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    add<<<1, 32, 0, s>>>(p, 1);
    add<<<1, 32>>>(p, 10); // at once
    CK(cudaGetLastError());
    CK(cudaMemcpy(out, p, 128, cudaMemcpyDefault));
    CK(cudaStreamSynchronize(0));
    OK(out[31] == 10);
    IS(cudaMemsetAsync(p, 0, 4, cudaStreamLegacy), cudaErrorStreamCaptureImplicit);
    IS(cudaStreamEndCapture(s, &g), cudaErrorStreamCaptureInvalidated);

    CK(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal));
    add<<<1, 32>>>(p, 100);
    cudaStreamCaptureStatus state;
    CK(cudaStreamIsCapturing(cudaStreamPerThread, &state));
    OK(state == cudaStreamCaptureStatusActive);
    CK(cudaStreamEndCapture(0, &g));
    cudaGraphExec_t x;
    CK(cudaGraphInstantiateWithFlags(&x, g, 0));
    CK(cudaGraphLaunch(x, 0));
    CK(cudaMemcpy(out, p, 128, cudaMemcpyDefault));
    OK(out[31] == 110);

    CK(cudaStreamBeginCapture(0, cudaStreamCaptureModeRelaxed));
    IS(cudaMemcpy(out, p, 128, cudaMemcpyDefault), cudaErrorStreamCaptureUnsupported);
    IS(cudaStreamEndCapture(0, &g), cudaErrorStreamCaptureInvalidated);
    cudaGetLastError();
    return finish();
}
