// Graphs of the driver API: built, captured, updated, with memory and conditions, shared with the
// runtime API.

#include "check.h"

#include <cuda.h>

__global__ void add(int *p, int v) {
    p[threadIdx.x] += v;
}
__global__ void mul(int *p, int v) {
    p[threadIdx.x] *= v;
}
__global__ void count_down(cudaGraphConditionalHandle h, int *n) {
    *n -= 1;
    cudaGraphSetConditional(h, *n > 0);
}

static CUcontext context;
static CUstream s;
static CUdeviceptr p; // 32 ints
static int out[32], calls;

static void CUDA_CB called(void *data) {
    calls += *(int *)data;
}

template <class F> static CUfunction function(F *f) {
    cudaFunction_t found;
    CK(cudaGetFuncBySymbol(&found, (void *)f));
    return (CUfunction)found;
}

static CUDA_KERNEL_NODE_PARAMS kernel(CUfunction f, void **arguments, unsigned threads = 32) {
    return {f, 1, 1, 1, threads, 1, 1, 0, arguments, NULL, NULL, NULL};
}

static CUDA_MEMCPY3D row(CUdeviceptr to, const void *host_source, CUdeviceptr source, void *host) {
    CUDA_MEMCPY3D copy = {};
    copy.srcMemoryType = host_source ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    copy.srcHost = host_source;
    copy.srcDevice = source;
    copy.dstMemoryType = host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    copy.dstHost = host;
    copy.dstDevice = to;
    copy.WidthInBytes = 128;
    copy.Height = copy.Depth = 1;
    return copy;
}

static int run(CUgraph g, int times = 1) {
    CUgraphExec e;
    CK(cuGraphInstantiate(&e, g, 0));
    for (int i = 0; i < times; i++)
        CK(cuGraphLaunch(e, s));
    CK(cuStreamSynchronize(s));
    CK(cuGraphExecDestroy(e));
    CK(cuMemcpyDtoH(out, p, 128));
    return out[5];
}

static void built() {
    CUgraph g, clone, parent;
    CUgraphNode fill, up, k1, k2, host, empty, down, record, wait, child, found;
    CUgraphExec e;
    CUevent event;
    int h[32], got[32] = {}, one = 1, v = 3, w = 2;
    for (int i = 0; i < 32; i++)
        h[i] = i;
    CK(cuGraphCreate(&g, 0));
    CK(cuEventCreate(&event, 0));
    CUDA_MEMSET_NODE_PARAMS zeros = {p, 0, 0, 2, 64, 1};
    CK(cuGraphAddMemsetNode(&fill, g, NULL, 0, &zeros, context));
    CUDA_MEMCPY3D copy = row(p, h, 0, NULL), back = row(0, NULL, p, got), same;
    CK(cuGraphAddMemcpyNode(&up, g, &fill, 1, &copy, context));
    CK(cuGraphMemcpyNodeGetParams(up, &same));
    OK(!memcmp(&same, &copy, sizeof same));
    void *args[] = {&p, &v}, *args2[] = {&p, &w};
    CUDA_KERNEL_NODE_PARAMS first = kernel(function(add), args), then = kernel(NULL, args2), about;
    then.kern = (CUkernel)function(mul);
    CK(cuGraphAddKernelNode(&k2, g, NULL, 0, &then)); // before the one that it waits for
    CK(cuGraphAddKernelNode(&k1, g, &up, 1, &first));
    CK(cuGraphAddDependencies(g, &k1, &k2 NO_DATA, 1));
    CUDA_HOST_NODE_PARAMS call = {called, &one};
    CK(cuGraphAddHostNode(&host, g, &k2, 1, &call));
    CK(cuGraphAddEmptyNode(&empty, g, &host, 1));
    CK(cuGraphAddEventRecordNode(&record, g, &empty, 1, event));
    CK(cuGraphAddEventWaitNode(&wait, g, &record, 1, event));
    CK(cuGraphAddMemcpyNode(&down, g, &wait, 1, &back, context));
    size_t count = 0;
    CK(cuGraphGetNodes(g, NULL, &count));
    OK(count == 9);
    CK(cuGraphGetRootNodes(g, NULL, &count));
    OK(count == 1);
    CK(cuGraphGetEdges(g, NULL, NULL NO_DATA, &count));
    OK(count == 8);
    CUgraphNodeType type;
    CK(cuGraphNodeGetType(record, &type));
    OK(type == CU_GRAPH_NODE_TYPE_EVENT_RECORD);
    CK(cuGraphInstantiate(&e, g, 0));
    CK(cuGraphUpload(e, s));
    CK(cuGraphLaunch(e, s));
    CK(cuStreamSynchronize(s));
    OK(got[5] == (5 + 3) * 2 && calls == 1);
    v = 100;
    CK(cuGraphExecKernelNodeSetParams(e, k1, &first));
    CK(cuGraphLaunch(e, s));
    OK(got[5] == (5 + 100) * 2);
    CK(cuGraphKernelNodeGetParams(k1, &about));
    OK(about.func == function(add) && about.blockDimX == 32 && *(int *)about.kernelParams[1] == 3);
    CK(cuGraphKernelNodeSetParams(k1, &first));
    w = 5;
    CK(cuGraphKernelNodeSetParams(k2, &then));
    CUgraphExecUpdateResultInfo info;
    CK(cuGraphExecUpdate(e, g, &info));
    CK(cuGraphLaunch(e, s));
    OK(got[5] == (5 + 100) * 5 && info.result == CU_GRAPH_EXEC_UPDATE_SUCCESS);
    CK(cuGraphNodeSetEnabled(e, k2, 0));
    CK(cuGraphLaunch(e, s));
    OK(got[5] == 105 && calls == 4);
    CK(cuGraphClone(&clone, g));
    CK(cuGraphNodeFindInClone(&found, down, clone));
    CK(cuGraphDestroyNode(found));
    IS(cuGraphExecUpdate(e, clone, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    CK(cuGraphCreate(&parent, 0));
    CK(cuGraphAddEmptyNode(&child, parent, NULL, 0));
    IS(cuGraphExecUpdate(e, parent, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    OK(info.result == CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    CK(cuGraphDestroy(parent));
    CK(cuGraphCreate(&parent, 0));
    CK(cuGraphAddChildGraphNode(&child, parent, NULL, 0, clone));
    OK(run(parent) == 525 && calls == 5);
    IS(cuGraphMemsetNodeSetParams(k1, &zeros), CUDA_ERROR_INVALID_VALUE);
    CK(cuGraphExecDestroy(e));
    CK(cuGraphDestroy(parent));
    CK(cuGraphDestroy(clone));
    CK(cuGraphDestroy(g));
    CK(cuEventDestroy(event));
}

// Two streams and everything that can be enqueued; nothing is done before the graph is launched.
static void captured() {
    CUstream t;
    CUevent fork, join;
    CUgraph g, into;
    CUdeviceptr own;
    int h[32] = {7, 7, 7, 7, 7, 7}, one = 1, v = 1, before = calls;
    CK(cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
    CK(cuEventCreate(&fork, 0));
    CK(cuEventCreate(&join, 0));
    CK(cuMemsetD32(p, 1, 32));
    void *args[] = {&p, &v};
    struct {
        CUdeviceptr p;
        int v;
    } block = {p, 10};
    size_t bytes = sizeof block;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &block, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    IS(cuStreamBeginCapture(NULL, CU_STREAM_CAPTURE_MODE_GLOBAL),
       CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CK(cuMemAllocAsync(&own, 128, s));
    CK(cuMemcpyHtoDAsync(own, h, 128, s));
    CK(cuMemcpyDtoDAsync(p, own, 128, s));
    CK(cuMemFreeAsync(own, s));
    CK(cuLaunchKernel(function(add), 1, 1, 1, 32, 1, 1, 0, s, args, NULL));
    CK(cuLaunchKernel(function(add), 1, 1, 1, 32, 1, 1, 0, s, NULL, extra));
    CK(cuEventRecord(fork, s));
    CK(cuStreamWaitEvent(t, fork, 0));
    CK(cuMemsetD16Async(p, 9, 2, t)); // the first int
    CK(cuEventRecord(join, t));
    CK(cuStreamWaitEvent(s, join, 0));
    CK(cuLaunchHostFunc(s, called, &one));
    CUstreamCaptureStatus state;
    const CUgraphNode *last;
    size_t count;
    CK(cuStreamGetCaptureInfo(t, &state, NULL, &into, &last NO_DATA, &count));
    OK(state == CU_STREAM_CAPTURE_STATUS_ACTIVE && count == 1);
    CK(cuStreamEndCapture(s, &g));
    OK(g == into);
    CK(cuStreamIsCapturing(t, &state));
    OK(state == CU_STREAM_CAPTURE_STATUS_NONE);
    IS(cuStreamEndCapture(s, &into), CUDA_ERROR_ILLEGAL_STATE);
    CK(cuGraphGetNodes(g, NULL, &count));
    OK(count == 8);
    CK(cuMemcpyDtoH(out, p, 128));
    OK(out[0] == 1 && out[5] == 1 && calls == before);
    OK(run(g, 2) == 18 && out[0] == 9 + (9 << 16) && calls == before + 2);
    CK(cuGraphDestroy(g));
    // who waits for a stream that is captured spoils the capture
    CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CK(cuEventRecord(fork, s));
    CK(cuStreamWaitEvent(t, fork, 0));
    IS(cuStreamSynchronize(t), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    IS(cuEventQuery(fork), CUDA_ERROR_CAPTURED_EVENT);
    IS(cuStreamEndCapture(s, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    OK(!g);
    IS(cuEventQuery(NULL), CUDA_ERROR_INVALID_HANDLE);
    IS(cuMemFreeHost((void *)p), CUDA_ERROR_INVALID_VALUE);
    CK(cuStreamDestroy(t));
}

static uint64_t memory_in_use() {
    cuuint64_t value;
    CK(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &value));
    return value;
}

static void memory() {
    CUgraph g;
    CUgraphNode node;
    CUgraphExec e;
    CUDA_MEM_ALLOC_NODE_PARAMS want = {}, got;
    want.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    want.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    want.bytesize = 4096;
    CK(cuGraphCreate(&g, 0));
    CK(cuGraphAddMemAllocNode(&node, g, NULL, 0, &want));
    CK(cuGraphMemAllocNodeGetParams(node, &got));
    OK(want.dptr && got.dptr == want.dptr);
    CK(cuGraphInstantiate(&e, g, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
    CK(cuGraphLaunch(e, s));
    CK(cuGraphLaunch(e, s));
    OK(memory_in_use() == 4096);
    CK(cuMemFree(want.dptr));
    OK(memory_in_use() == 0);
    IS(cuMemFree(want.dptr), CUDA_ERROR_INVALID_VALUE);
    CK(cuDeviceGraphMemTrim(0));
    CK(cuGraphExecDestroy(e));
    CK(cuGraphDestroy(g));
}

static void loop() {
    CUgraph g;
    CUgraphNode node;
    CUgraphConditionalHandle h;
    int n = 3, v = 2;
    CK(cuMemcpyHtoD(p, &n, 4));
    CK(cuGraphCreate(&g, 0));
    CK(cuGraphConditionalHandleCreate(&h, g, context, 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
    CUgraphNodeParams what = {CU_GRAPH_NODE_TYPE_CONDITIONAL};
    what.conditional.handle = h;
    what.conditional.type = CU_GRAPH_COND_TYPE_WHILE;
    what.conditional.size = 1;
    CK(cuGraphAddNode(&node, g, NULL NO_DATA, 0, &what));
    CUgraph body = what.conditional.phGraph_out[0];
    CUdeviceptr second = p + 20;
    void *args[] = {&h, &p}, *args2[] = {&second, &v};
    CUgraphNodeParams step = {CU_GRAPH_NODE_TYPE_KERNEL};
    CUDA_KERNEL_NODE_PARAMS adding = kernel(function(add), args2, 1);
    memcpy(&step.kernel, &adding, sizeof adding);
    CK(cuGraphAddNode(&node, body, NULL NO_DATA, 0, &step));
    CUDA_KERNEL_NODE_PARAMS counting = kernel(function(count_down), args, 1);
    CK(cuGraphAddKernelNode(&node, body, &node, 1, &counting));
    CK(cuMemsetD32(second, 0, 1));
    OK(run(g) == 6);
    CK(cuGraphDestroy(g));
}

// A graph and a stream are the same in both APIs.
static void of_both() {
    cudaGraph_t g, outer;
    cudaGraphExec_t e;
    CK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    add<<<1, 32, 0, s>>>((int *)p, 4);
    CUstreamCaptureStatus state;
    CK(cuStreamIsCapturing(s, &state));
    OK(state == CU_STREAM_CAPTURE_STATUS_ACTIVE);
    CK(cuMemsetD32Async(p, 1, 1, s));
    CK(cudaStreamEndCapture(s, &g));
    CK(cuMemsetD32(p, 0, 32));
    OK(run(g, 3) == 12 && out[0] == 1);
    // a launch in a captured stream is a node
    CK(cudaGraphInstantiate(&e, g, 0));
    CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    CK(cudaGraphLaunch(e, s));
    CK(cuGraphLaunch(e, s));
    CK(cuStreamEndCapture(s, &outer));
    OK(run(outer) == 20);
    CUgraphNode nodes[2];
    CUgraphNodeType type;
    CUgraph child;
    size_t count = 2;
    CK(cuGraphGetNodes(outer, nodes, &count));
    CK(cuGraphNodeGetType(nodes[1], &type));
    OK(count == 2 && type == CU_GRAPH_NODE_TYPE_GRAPH);
    CK(cuGraphChildGraphNodeGetGraph(nodes[1], &child));
    CK(cudaGraphGetNodes(child, NULL, &count));
    OK(count == 2);
}

int main() {
    CUdevice device;
    CK(cuInit(0));
    CK(cuDeviceGet(&device, 0));
    CK(cuDevicePrimaryCtxRetain(&context, device));
    CK(cuCtxSetCurrent(context));
    CK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    CK(cuMemAlloc(&p, 128));
    built();
    captured();
    memory();
    loop();
    of_both();
    return finish();
}
