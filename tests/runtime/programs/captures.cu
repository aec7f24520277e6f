// Stream capture: what spoils it, and kernels of captured graphs as the program names them.

#include "check.h"

__global__ void add(int *p, int v) {
    p[threadIdx.x] += v;
}
__global__ void multiply(int *p, int v) {
    p[threadIdx.x] *= v;
}

static cudaStreamCaptureStatus state_of(cudaStream_t s) {
    cudaStreamCaptureStatus state;
    CK(cudaStreamIsCapturing(s, &state));
    return state;
}

// Nobody can wait for what does not run: the capture is over, and all that can be done is to end it.
static void spoiled(cudaStream_t s, int *p) {
    cudaEvent_t e;
    CK(cudaEventCreate(&e));
    static int told = 0;
    for (int how = 0; how < 5; how++) {
        CK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
        add<<<1, 32, 0, s>>>(p, 1);
        CK(cudaEventRecord(e, s));
        switch (how) {
        case 0:
            IS(cudaStreamSynchronize(s), cudaErrorStreamCaptureUnsupported);
            break;
        case 1:
            IS(cudaStreamQuery(s), cudaErrorStreamCaptureUnsupported);
            break;
        case 2:
            IS(cudaEventSynchronize(e), cudaErrorCapturedEvent);
            break;
        case 3:
            IS(cudaEventQuery(e), cudaErrorCapturedEvent);
            break;
        case 4:
            IS(cudaStreamAddCallback(
                   s, [](cudaStream_t, cudaError_t, void *) { told++; }, nullptr, 0),
               cudaErrorStreamCaptureUnsupported);
            break;
        }
        OK(state_of(s) == cudaStreamCaptureStatusInvalidated);
        add<<<1, 32, 0, s>>>(p, 1);
        IS(cudaGetLastError(), cudaErrorStreamCaptureInvalidated);
        IS(cudaMemsetAsync(p, 0, 4, s), cudaErrorStreamCaptureInvalidated);
        void *memory;
        IS(cudaMallocAsync(&memory, 4, s), cudaErrorStreamCaptureInvalidated);
        cudaGraph_t g = (cudaGraph_t)p;
        IS(cudaStreamEndCapture(s, &g), cudaErrorStreamCaptureInvalidated);
        OK(g == nullptr && state_of(s) == cudaStreamCaptureStatusNone);
    }
    OK(told == 0);
    // the event no longer belongs to the capture once it is recorded elsewhere
    CK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    CK(cudaEventRecord(e, s));
    cudaStream_t other;
    CK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    CK(cudaEventRecord(e, other));
    CK(cudaEventSynchronize(e));
    cudaGraph_t g;
    CK(cudaStreamEndCapture(s, &g));
    CK(cudaGraphDestroy(g));
    cudaGetLastError();
}

// Programs look for their kernels in what was captured, to give them other arguments.
static void found_again(cudaStream_t s, int *p) {
    CK(cudaMemset(p, 0, 128));
    CK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    add<<<1, 32, 0, s>>>(p, 2);
    multiply<<<1, 32, 0, s>>>(p, 3);
    cudaGraph_t g;
    CK(cudaStreamEndCapture(s, &g));
    cudaGraphExec_t x;
    CK(cudaGraphInstantiateWithFlags(&x, g, 0));
    cudaGraphNode_t nodes[2];
    size_t count = 2;
    CK(cudaGraphGetNodes(g, nodes, &count));
    int found = 0;
    for (size_t k = 0; k < count; k++) {
        cudaKernelNodeParams known;
        CK(cudaGraphKernelNodeGetParams(nodes[k], &known));
        int factor = 5;
        void *arguments[] = {&p, &factor};
        if (known.func == (void *)multiply) {
            found++;
            known.kernelParams = arguments;
        }
        CK(cudaGraphExecKernelNodeSetParams(x, nodes[k], &known)); // also what it was
    }
    CK(cudaGraphLaunch(x, s));
    CK(cudaStreamSynchronize(s));
    int out;
    CK(cudaMemcpy(&out, p, 4, cudaMemcpyDefault));
    OK(found == 1 && out == 10);
}

// A graph of the program's own needs no other name when capturing ends; one made for it is lost.
static void without_a_place(cudaStream_t s, int *p) {
    cudaGraph_t g;
    CK(cudaGraphCreate(&g, 0));
    IS(cudaStreamEndCapture(s, nullptr), cudaErrorIllegalState);
#if CUDART_VERSION >= 12000
    CK(cudaStreamBeginCaptureToGraph(s, g, nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed));
    add<<<1, 32, 0, s>>>(p, 2);
    CK(cudaStreamEndCapture(s, nullptr));
    size_t count;
    CK(cudaGraphGetNodes(g, nullptr, &count));
    OK(count == 1 && state_of(s) == cudaStreamCaptureStatusNone);
#endif
    CK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    add<<<1, 32, 0, s>>>(p, 2);
    CK(cudaStreamEndCapture(s, nullptr));
    OK(state_of(s) == cudaStreamCaptureStatusNone);
    CK(cudaGraphDestroy(g));
    cudaGetLastError();
}

int main() {
    int *p;
    CK(cudaMalloc(&p, 128));
    CK(cudaMemset(p, 0, 128));
    cudaStream_t s;
    CK(cudaStreamCreate(&s));
    spoiled(s, p);
    found_again(s, p);
    without_a_place(s, p);
    // no event at all
    IS(cudaEventQuery(0), cudaErrorInvalidResourceHandle);
    IS(cudaEventSynchronize(0), cudaErrorInvalidResourceHandle);
    IS(cudaEventRecord(0, s), cudaErrorInvalidResourceHandle);
    IS(cudaStreamWaitEvent(s, 0, 0), cudaErrorInvalidResourceHandle);
    IS(cudaEventDestroy(0), cudaErrorInvalidResourceHandle);
    return finish();
}
