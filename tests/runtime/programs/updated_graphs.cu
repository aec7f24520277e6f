// Updating a graph that can be launched: one with other branches is refused.

#include "check.h"

__global__ void add(int *p, int v) {
    p[threadIdx.x] += v;
}

// Three kernels: the third behind the second, or beside it.
static cudaGraph_t made(int *p, bool chain, int v) {
    cudaGraph_t g;
    CK(cudaGraphCreate(&g, 0));
    cudaGraphNode_t n[3];
    for (int k = 0; k < 3; k++) {
        int *place = p + 32 * k;
        void *arguments[] = {&place, &v};
        cudaKernelNodeParams how = {(void *)add, 1, 32, 0, arguments, nullptr};
        CK(cudaGraphAddKernelNode(&n[k], g, k ? &n[chain ? k - 1 : 0] : nullptr, k > 0, &how));
    }
    return g;
}

static int update(cudaGraphExec_t x, cudaGraph_t g) {
#if CUDART_VERSION >= 12000
    cudaGraphExecUpdateResultInfo about;
    int status = cudaGraphExecUpdate(x, g, &about);
    OK((about.result == cudaGraphExecUpdateErrorTopologyChanged) == (status != 0));
#else
    cudaGraphNode_t node;
    cudaGraphExecUpdateResult about;
    int status = cudaGraphExecUpdate(x, g, &node, &about);
#endif
    cudaGetLastError();
    return status;
}

int main() {
    int *p, out[96];
    CK(cudaMalloc(&p, sizeof out));
    CK(cudaMemset(p, 0, sizeof out));
    for (bool chain : {false, true}) {
        cudaGraphExec_t x;
        CK(cudaGraphInstantiateWithFlags(&x, made(p, chain, 1), 0));
        CK(cudaGraphLaunch(x, 0));
        IS(update(x, made(p, !chain, 10)), cudaErrorGraphExecUpdateFailure);
        CK(update(x, made(p, chain, 100)));
        CK(cudaGraphLaunch(x, 0));
        CK(cudaGraphExecDestroy(x));
    }
    CK(cudaMemcpy(out, p, sizeof out, cudaMemcpyDefault));
    for (int k : out)
        OK(k == 202);
    return finish();
}
