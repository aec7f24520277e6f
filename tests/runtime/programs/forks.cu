// Captured forks and joins: the graph has the dependences of the streams, and nothing crosses into
// what is captured.

#include "check.h"

__global__ void add(int *p, int v) {
    p[threadIdx.x] += v;
}
__global__ void sum(int *to, const int *a, const int *b) {
    to[threadIdx.x] = 10 * a[threadIdx.x] + b[threadIdx.x];
}

struct Streams {
    cudaStream_t a, b;
    cudaEvent_t fork, join;
    explicit Streams(unsigned flags) {
        CK(cudaStreamCreateWithFlags(&a, flags));
        CK(cudaStreamCreateWithFlags(&b, flags));
        CK(cudaEventCreate(&fork));
        CK(cudaEventCreate(&join));
    }
    void begin(cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
        CK(cudaStreamBeginCapture(a, mode));
    }
    void forks() {
        CK(cudaEventRecord(fork, a));
        CK(cudaStreamWaitEvent(b, fork, 0));
    }
    void joins() {
        CK(cudaEventRecord(join, b));
        CK(cudaStreamWaitEvent(a, join, 0));
    }
    int end() {
        cudaGraph_t g;
        int status = cudaStreamEndCapture(a, &g);
        OK(!status == !!g);
        cudaGetLastError();
        return status;
    }
};

static bool is_edge(cudaGraph_t g, cudaGraphNode_t from, cudaGraphNode_t to) {
    cudaGraphNode_t froms[16], tos[16];
    size_t count = 16;
    CK(cudaGraphGetEdges(g, froms, tos NO_DATA, &count));
    bool found = false;
    for (size_t k = 0; k < count; k++)
        found |= froms[k] == from && tos[k] == to;
    return found;
}

static void diamond(int *p) {
    Streams s(cudaStreamNonBlocking);
    s.begin();
    add<<<1, 32, 0, s.a>>>(p, 1);
    s.forks();
    add<<<1, 32, 0, s.a>>>(p, 2);
    add<<<1, 32, 0, s.b>>>(p + 32, 5);
    add<<<1, 32, 0, s.b>>>(p + 32, 1);
    s.joins();
    sum<<<1, 32, 0, s.a>>>(p + 64, p, p + 32);
    cudaGraph_t g;
    CK(cudaStreamEndCapture(s.a, &g));
    cudaGraphNode_t n[8];
    size_t count = 8, edges = 0, roots = 8;
    CK(cudaGraphGetNodes(g, n, &count));
    CK(cudaGraphGetEdges(g, nullptr, nullptr NO_DATA, &edges));
    CK(cudaGraphGetRootNodes(g, nullptr, &roots));
    OK(count == 5 && edges == 5 && roots == 1);
    OK(is_edge(g, n[0], n[1]) && is_edge(g, n[0], n[2]) && is_edge(g, n[2], n[3]));
    OK(is_edge(g, n[1], n[4]) && is_edge(g, n[3], n[4]) && !is_edge(g, n[1], n[2]));
    cudaGraphExec_t x;
    CK(cudaGraphInstantiateWithFlags(&x, g, 0));
    for (int k = 0; k < 3; k++)
        CK(cudaGraphLaunch(x, s.a));
    CK(cudaStreamSynchronize(s.a));
    int out;
    CK(cudaMemcpy(&out, p + 64, 4, cudaMemcpyDefault));
    OK(out == 10 * 9 + 18);
    CK(cudaGraphExecDestroy(x));
    CK(cudaGraphDestroy(g));
}

// What the manual forbids, and what becomes of the capture.
static void forbidden(int *p) {
    Streams s(cudaStreamNonBlocking), other(cudaStreamNonBlocking);
    cudaGraph_t g = nullptr;
    s.begin(); // a fork that does not join
    s.forks();
    add<<<1, 32, 0, s.b>>>(p, 1);
    IS(s.end(), cudaErrorStreamCaptureUnjoined);
    s.begin(); // without work of its own there is nothing to join
    add<<<1, 32, 0, s.a>>>(p, 1);
    s.forks();
    CK(s.end());
    s.begin(); // it ends where it began
    s.forks();
    IS(cudaStreamEndCapture(s.b, &g), cudaErrorStreamCaptureUnmatched);
    CK(s.end());
    s.begin(); // an event that no captured stream recorded
    CK(cudaEventRecord(other.fork, other.a));
    IS(cudaStreamWaitEvent(s.a, other.fork, 0), cudaErrorStreamCaptureIsolation);
    IS(s.end(), cudaErrorStreamCaptureInvalidated);
    s.begin(); // two captures do not become one
    other.begin();
    CK(cudaEventRecord(s.fork, s.a));
    IS(cudaStreamWaitEvent(other.a, s.fork, 0), cudaErrorStreamCaptureMerge);
    IS(s.end(), cudaErrorStreamCaptureInvalidated);
    IS(other.end(), cudaErrorStreamCaptureInvalidated);
    cudaGetLastError();
}

// The legacy stream and blocking streams wait for each other, in all modes.
static void legacy(int *p) {
    Streams s(cudaStreamDefault), free(cudaStreamNonBlocking);
    int host[32], v = 1;
    void *arguments[] = {&p, &v};
    cudaEvent_t e;
    CK(cudaEventCreate(&e));
    for (int mode = 0; mode < 3; mode++)
        for (int how = 0; how < 8; how++) {
            s.begin((cudaStreamCaptureMode)mode);
            add<<<1, 32, 0, s.a>>>(p, 1);
            int status = how == 0   ? cudaMemcpy(host, p, 4, cudaMemcpyDefault)
                         : how == 1 ? cudaMemset(p, 0, 4)
                         : how == 2 ? cudaLaunchKernel(add, 1, 32, arguments, 0, cudaStreamLegacy)
                         : how == 3 ? cudaStreamSynchronize(0)
                         : how == 4 ? cudaStreamQuery(0)
                         : how == 5 ? cudaEventRecord(e, 0)
                         : how == 6 ? cudaStreamWaitEvent(0, e, 0)
                                    : cudaMemcpyAsync(host, p, 4, cudaMemcpyDefault, 0);
            IS(status, cudaErrorStreamCaptureImplicit);
            IS(s.end(), cudaErrorStreamCaptureInvalidated);
        }
    free.begin(cudaStreamCaptureModeRelaxed); // a stream that does not wait for it
    CK(cudaMemset(p, 0, 4));
    add<<<1, 32>>>(p, 1);
    CK(cudaStreamSynchronize(0));
    CK(free.end());
}

// Events that stay the program's: nodes that record them and wait for them.
static void external(int *p) {
    Streams s(cudaStreamNonBlocking);
    IS(cudaEventRecordWithFlags(s.fork, s.a, cudaEventRecordExternal), cudaErrorInvalidValue);
    s.begin();
    CK(cudaStreamWaitEvent(s.a, s.join, cudaEventWaitExternal));
    add<<<1, 32, 0, s.a>>>(p, 1);
    CK(cudaEventRecordWithFlags(s.fork, s.a, cudaEventRecordExternal));
    cudaGraph_t g;
    CK(cudaStreamEndCapture(s.a, &g));
    cudaGraphNode_t n[4];
    size_t count = 4;
    CK(cudaGraphGetNodes(g, n, &count));
    cudaGraphNodeType type;
    OK(count == 3);
    CK(cudaGraphNodeGetType(n[0], &type));
    OK(type == cudaGraphNodeTypeWaitEvent);
    CK(cudaGraphNodeGetType(n[2], &type));
    OK(type == cudaGraphNodeTypeEventRecord);
    cudaGraphExec_t x;
    CK(cudaGraphInstantiateWithFlags(&x, g, 0));
    CK(cudaEventRecord(s.join, s.b));
    CK(cudaGraphLaunch(x, s.a));
    CK(cudaEventSynchronize(s.fork));
    cudaGetLastError();
}

int main() {
    int *p;
    CK(cudaMalloc(&p, 512));
    CK(cudaMemset(p, 0, 512));
    diamond(p);
    forbidden(p);
    legacy(p);
    external(p);
    return finish();
}
