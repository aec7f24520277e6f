// Graphs: built node by node, changed, cloned, nested, captured, updated.

#include "check.h"

cudaError_t update(cudaGraphExec_t executable, cudaGraph_t graph) {
#if CUDART_VERSION >= 12000
    cudaGraphExecUpdateResultInfo info;
    return cudaGraphExecUpdate(executable, graph, &info);
#else
    cudaGraphNode_t node;
    cudaGraphExecUpdateResult result;
    return cudaGraphExecUpdate(executable, graph, &node, &result);
#endif
}

__global__ void add(int *p, int v) {
    p[threadIdx.x] += v;
}
__global__ void mul(int *p, int v) {
    p[threadIdx.x] *= v;
}
static int calls = 0;
void CUDART_CB hf(void *d) {
    calls += *(int *)d;
}
int main() {
    int *p;
    CK(cudaMalloc(&p, 128));
    int h[32], out[32];
    for (int i = 0; i < 32; i++)
        h[i] = i;
    int one = 1;
    cudaGraph_t g;
    CK(cudaGraphCreate(&g, 0));
    cudaGraphNode_t up, ms, k1, k2, hn, down, em;
    cudaMemsetParams mp = {};
    mp.dst = p;
    mp.value = 0;
    mp.elementSize = 4;
    mp.width = 32;
    mp.height = 1;
    CK(cudaGraphAddMemsetNode(&ms, g, nullptr, 0, &mp));
    CK(cudaGraphAddMemcpyNode1D(&up, g, &ms, 1, p, h, 128, cudaMemcpyHostToDevice));
    int v = 3;
    void *args[] = {&p, &v};
    cudaKernelNodeParams kp = {};
    kp.func = (void *)add;
    kp.gridDim = 1;
    kp.blockDim = 32;
    kp.kernelParams = args;
    // k2 is added first and depends on k1 through an edge that is added later
    int w = 2;
    void *args2[] = {&p, &w};
    cudaKernelNodeParams kp2 = kp;
    kp2.func = (void *)mul;
    kp2.kernelParams = args2;
    CK(cudaGraphAddKernelNode(&k2, g, nullptr, 0, &kp2));
    CK(cudaGraphAddKernelNode(&k1, g, &up, 1, &kp));
    CK(cudaGraphAddDependencies(g, &k1, &k2 NO_DATA, 1));
    cudaHostNodeParams hp = {hf, &one};
    CK(cudaGraphAddHostNode(&hn, g, &k2, 1, &hp));
    CK(cudaGraphAddEmptyNode(&em, g, &hn, 1));
    cudaMemcpy3DParms cp = {};
    cp.srcPtr = make_cudaPitchedPtr(p, 128, 32, 1);
    cp.dstPtr = make_cudaPitchedPtr(out, 128, 32, 1);
    cp.extent = make_cudaExtent(128, 1, 1);
    cp.kind = cudaMemcpyDeviceToHost;
    CK(cudaGraphAddMemcpyNode(&down, g, &em, 1, &cp));
    size_t nn = 0;
    CK(cudaGraphGetNodes(g, nullptr, &nn));
    OK(nn == 7);
    size_t nr = 0;
    CK(cudaGraphGetRootNodes(g, nullptr, &nr));
    OK(nr == 1);
    size_t ne = 0;
    CK(cudaGraphGetEdges(g, nullptr, nullptr NO_DATA, &ne));
    OK(ne == 6);
    cudaGraphNodeType ty;
    CK(cudaGraphNodeGetType(k1, &ty));
    OK(ty == cudaGraphNodeTypeKernel);
    CK(cudaGraphNodeGetType(hn, &ty));
    OK(ty == cudaGraphNodeTypeHost);
    cudaGraphExec_t x;
    CK(cudaGraphInstantiateWithFlags(&x, g, 0));
    cudaStream_t s;
    CK(cudaStreamCreate(&s));
    CK(cudaGraphUpload(x, s));
    CK(cudaGraphLaunch(x, s));
    CK(cudaStreamSynchronize(s));
    OK(out[5] == (5 + 3) * 2);
    OK(calls == 1);
    v = 100;
    CK(cudaGraphExecKernelNodeSetParams(x, k1, &kp));
    CK(cudaGraphLaunch(x, s));
    CK(cudaStreamSynchronize(s));
    OK(out[5] == (5 + 100) * 2);
    CK(cudaGraphKernelNodeSetParams(k1, &kp));
    cudaKernelNodeParams gp;
    CK(cudaGraphKernelNodeGetParams(k1, &gp));
    OK(gp.func == (void *)add);
    w = 5;
    CK(cudaGraphKernelNodeSetParams(k2, &kp2));
    CK(update(x, g));
    CK(cudaGraphLaunch(x, s));
    CK(cudaStreamSynchronize(s));
    OK(out[5] == (5 + 100) * 5);
    int h2[32] = {7};
    CK(cudaGraphExecMemcpyNodeSetParams1D(x, up, p, h2, 128, cudaMemcpyHostToDevice));
    CK(cudaGraphLaunch(x, s));
    CK(cudaStreamSynchronize(s));
    OK(out[0] == 107 * 5);
    cudaGraph_t cl;
    CK(cudaGraphClone(&cl, g));
    cudaGraphExec_t x2;
    CK(cudaGraphInstantiateWithFlags(&x2, cl, 0));
    CK(cudaGraphLaunch(x2, s));
    CK(cudaStreamSynchronize(s));
    OK(out[5] == 105 * 5);
    // child graph
    cudaGraph_t parent;
    CK(cudaGraphCreate(&parent, 0));
    cudaGraphNode_t child;
    CK(cudaGraphAddChildGraphNode(&child, parent, nullptr, 0, g));
    cudaGraphExec_t x3;
    CK(cudaGraphInstantiateWithFlags(&x3, parent, 0));
    out[5] = 0;
    CK(cudaGraphLaunch(x3, s));
    CK(cudaStreamSynchronize(s));
    OK(out[5] == 525);
    // capture with fork and join, host function
    cudaStream_t t;
    CK(cudaStreamCreate(&t));
    cudaEvent_t e, f;
    CK(cudaEventCreate(&e));
    CK(cudaEventCreate(&f));
    CK(cudaMemset(p, 0, 128));
    CK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    cudaStreamCaptureStatus cs;
    CK(cudaStreamIsCapturing(s, &cs));
    OK(cs == cudaStreamCaptureStatusActive);
    add<<<1, 32, 0, s>>>(p, 1);
    CK(cudaEventRecord(e, s));
    CK(cudaStreamWaitEvent(t, e, 0));
    add<<<1, 32, 0, t>>>(p, 2);
    CK(cudaEventRecord(f, t));
    CK(cudaStreamWaitEvent(s, f, 0));
    CK(cudaLaunchHostFunc(s, hf, &one));
    CK(cudaMemcpyAsync(out, p, 128, cudaMemcpyDeviceToHost, s));
    cudaGraph_t cg;
    CK(cudaStreamEndCapture(s, &cg));
    OK(calls == 6);
    out[3] = -1;
    cudaGraphExec_t x4;
    CK(cudaGraphInstantiateWithFlags(&x4, cg, 0));
    for (int k = 0; k < 3; k++)
        CK(cudaGraphLaunch(x4, s));
    CK(cudaStreamSynchronize(s));
    OK(out[3] == 9);
    OK(calls == 9);
    // update an executable with a new capture
    CK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    add<<<1, 32, 0, s>>>(p, 10);
    CK(cudaMemcpyAsync(out, p, 128, cudaMemcpyDeviceToHost, s));
    cudaGraph_t cg2;
    CK(cudaStreamEndCapture(s, &cg2));
    IS(update(x4, cg2), cudaErrorGraphExecUpdateFailure);
    cudaGetLastError();
    cudaGraphExec_t x5;
    CK(cudaGraphInstantiateWithFlags(&x5, cg2, 0));
    CK(cudaGraphLaunch(x5, s));
    CK(cudaStreamSynchronize(s));
    OK(out[3] == 19);
    CK(cudaGraphDestroyNode(down));
    CK(cudaGraphExecDestroy(x));
    CK(cudaGraphDestroy(g));
    CK(cudaGraphDestroy(cg));
    return finish();
}
