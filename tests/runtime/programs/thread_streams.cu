// With a default stream for each thread there is no legacy stream: nothing waits for what others
// capture, and the default stream itself is captured.

#include <atomic>
#include <cuda.h>
#include <thread>
#include <unistd.h>
#include "check.h"

__global__ void add(int *p, int v) {
    p[threadIdx.x] += v;
}
__global__ void store(unsigned *p, unsigned v) {
    *p = v;
}

// Each thread has a default stream of its own, that it captures, ...
static void captures() {
    std::atomic<int> begun(0), ended(0);
    int *places;
    CK(cudaMalloc(&places, 2 * 128));
    CK(cudaMemset(places, 0, 2 * 128));
    auto capture = [&](int id) {
        cudaGraph_t g;
        size_t nodes = 0;
        CK(cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeThreadLocal));
        begun++;
        while (begun < 2) {
        }
        for (int k = 0; k <= id; k++) {
            add<<<1, 32, 0, cudaStreamPerThread>>>(places + 32 * id, 1);
        }
        ended++;
        while (ended < 2) {
        }
        CK(cudaStreamEndCapture(cudaStreamPerThread, &g));
        CK(cudaGraphGetNodes(g, nullptr, &nodes));
        OK((int)nodes == id + 1);
        CK(cudaGraphDestroy(g));
    };
    std::thread one(capture, 0), two(capture, 1);
    one.join();
    two.join();
    CK(cudaFree(places));
}

// ... and in which it may wait for what others do in theirs.
static void waits() {
    unsigned *words, there = 0;
    CK(cudaMalloc(&words, 8));
    CK(cudaMemset(words, 0, 8));
    CK(cudaDeviceSynchronize());
    std::atomic<bool> waiting(false);
    std::thread one([&] {
        CK(cuStreamWaitValue32(CU_STREAM_PER_THREAD, (CUdeviceptr)words, 1,
                               CU_STREAM_WAIT_VALUE_EQ));
        store<<<1, 1, 0, cudaStreamPerThread>>>(words + 1, 7);
        waiting = true;
        CK(cudaStreamSynchronize(cudaStreamPerThread));
    });
    std::thread two([&] {
        while (!waiting) {
        }
        store<<<1, 1, 0, cudaStreamPerThread>>>(words, 1);
        CK(cudaStreamSynchronize(cudaStreamPerThread));
    });
    one.join();
    two.join();
    CK(cudaMemcpy(&there, words + 1, 4, cudaMemcpyDefault));
    OK(there == 7);
}

// A capture belongs to the thread that began it, also when that has ended.
static void owners() {
    cudaStream_t s;
    cudaGraph_t g;
    CK(cudaStreamCreate(&s));
    std::thread([&] { CK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal)); }).join();
    std::thread([&] { IS(cudaStreamEndCapture(s, &g), cudaErrorStreamCaptureWrongThread); }).join();
}

int main() {
    alarm(300); // what hangs ends
    captures();
    waits();
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
    owners();
    cudaGetLastError();
    return finish();
}
