// Graphs with conditional nodes: if, if and else, while, switch, one within another.

#include "check.h"

typedef cudaGraphConditionalHandle handle_t;

__global__ void choose(handle_t h, const int *p) {
    cudaGraphSetConditional(h, *p);
}
__global__ void add(int *p, int v) {
    *p += v;
}
__global__ void count_down(handle_t h, int *n) {
    *n -= 1;
    cudaGraphSetConditional(h, *n > 0);
}

static int *cell[3]; // in device memory

static void set(int k, int value) {
    CK(cudaMemcpy(cell[k], &value, 4, cudaMemcpyHostToDevice));
}
static int get(int k) {
    int value;
    CK(cudaMemcpy(&value, cell[k], 4, cudaMemcpyDeviceToHost));
    return value;
}

template <class... A>
static cudaGraphNode_t kernel(cudaGraph_t g, const cudaGraphNode_t *after, void (*f)(A...), A... a) {
    void *arguments[] = {&a...};
    cudaKernelNodeParams k = {};
    k.func = (void *)f;
    k.gridDim = k.blockDim = dim3(1);
    k.kernelParams = arguments;
    cudaGraphNode_t node;
    CK(cudaGraphAddKernelNode(&node, g, after, after != NULL, &k));
    return node;
}

static cudaGraph_t *condition(cudaGraph_t g, const cudaGraphNode_t *after, handle_t h,
                              cudaGraphConditionalNodeType type, unsigned size,
                              cudaGraphNode_t *node) {
    cudaGraphNodeParams p = {cudaGraphNodeTypeConditional};
    p.conditional.handle = h;
    p.conditional.type = type;
    p.conditional.size = size;
    CK(cudaGraphAddNode(node, g, after NO_DATA, after != NULL, &p));
    return p.conditional.phGraph_out;
}

static void launch(cudaGraph_t g, int times = 1) {
    cudaGraphExec_t e;
    CK(cudaGraphInstantiate(&e, g, 0));
    for (int i = 0; i < times; i++)
        CK(cudaGraphLaunch(e, 0));
    CK(cudaDeviceSynchronize());
    CK(cudaGraphExecDestroy(e));
}

static void if_and_else() {
    cudaGraph_t g;
    cudaGraphNode_t node;
    handle_t h;
    CK(cudaGraphCreate(&g, 0));
    CK(cudaGraphConditionalHandleCreate(&h, g, 0, 0));
    cudaGraphNode_t first = kernel(g, NULL, choose, h, (const int *)cell[0]);
    cudaGraph_t *body = condition(g, &first, h, cudaGraphCondTypeIf, 2, &node);
    kernel(body[0], NULL, add, cell[1], 1);
    kernel(body[1], NULL, add, cell[1], 100);
    kernel(g, &node, add, cell[2], 1);
    set(1, 0), set(2, 0);
    for (int value : {1, 0, 7}) {
        set(0, value);
        launch(g);
    }
    OK(get(1) == 102 && get(2) == 3);
    cudaGraphNodeType kind;
    CK(cudaGraphNodeGetType(node, &kind));
    OK(kind == cudaGraphNodeTypeConditional);
    CK(cudaGraphDestroy(g));
}

// The value that a launch begins with; an if within a loop, which captures fill.
static void loop() {
    cudaGraph_t g, got;
    cudaGraphNode_t node;
    handle_t h, odd;
    cudaStream_t s;
    CK(cudaStreamCreate(&s));
    CK(cudaGraphCreate(&g, 0));
    CK(cudaGraphConditionalHandleCreate(&h, g, 1, cudaGraphCondAssignDefault));
    cudaGraph_t body = condition(g, NULL, h, cudaGraphCondTypeWhile, 1, &node)[0];
    CK(cudaGraphConditionalHandleCreate(&odd, body, 0, 0));
    CK(cudaStreamBeginCaptureToGraph(s, body, NULL, NULL, 0, cudaStreamCaptureModeGlobal));
    add<<<1, 1, 0, s>>>(cell[1], 1);
    choose<<<1, 1, 0, s>>>(odd, cell[0]);
    cudaStreamCaptureStatus state;
    cudaGraph_t into;
    const cudaGraphNode_t *before;
    size_t count;
    CK(cudaStreamGetCaptureInfo(s, &state, NULL, &into, &before NO_DATA, &count));
    OK(state == cudaStreamCaptureStatusActive && into == body && count == 1);
    cudaGraph_t inner = condition(body, before, odd, cudaGraphCondTypeIf, 1, &node)[0];
    CK(cudaStreamUpdateCaptureDependencies(s, &node NO_DATA, 1, cudaStreamSetCaptureDependencies));
    count_down<<<1, 1, 0, s>>>(h, cell[0]);
    CK(cudaStreamEndCapture(s, &got));
    OK(got == body);
    kernel(inner, NULL, add, cell[2], 10);
    set(0, 3), set(1, 0), set(2, 0);
    launch(g);
    OK(get(0) == 0 && get(1) == 3 && get(2) == 30);
    launch(g, 2); // a body that comes first: once each
    OK(get(0) == -2 && get(1) == 5);
    CK(cudaGraphDestroy(g));
    CK(cudaStreamDestroy(s));
}

static void cases() {
    cudaGraph_t g;
    cudaGraphNode_t node;
    handle_t h;
    CK(cudaGraphCreate(&g, 0));
    CK(cudaGraphConditionalHandleCreate(&h, g, 0, 0));
    cudaGraphNode_t first = kernel(g, NULL, choose, h, (const int *)cell[0]);
    cudaGraph_t *body = condition(g, &first, h, cudaGraphCondTypeSwitch, 3, &node);
    for (int k = 0; k < 3; k++)
        kernel(body[k], NULL, add, cell[1], k == 0 ? 1 : k == 1 ? 10 : 100);
    set(1, 0);
    for (int value : {2, 0, 3, 1, -1, 2}) {
        set(0, value);
        launch(g);
    }
    OK(get(1) == 211);
    CK(cudaGraphDestroy(g));
}

static void refused() {
    cudaGraph_t g, other;
    cudaGraphNode_t node;
    cudaGraphExec_t e;
    handle_t h;
    CK(cudaGraphCreate(&g, 0));
    CK(cudaGraphCreate(&other, 0));
    IS(cudaGraphConditionalHandleCreate(&h, g, 0, 6), cudaErrorInvalidValue);
    CK(cudaGraphConditionalHandleCreate(&h, g, 0, 0));
    cudaGraphNodeParams p = {cudaGraphNodeTypeConditional};
    p.conditional.handle = h;
    p.conditional.type = cudaGraphCondTypeWhile;
    p.conditional.size = 2;
    IS(cudaGraphAddNode(&node, g, NULL NO_DATA, 0, &p), cudaErrorInvalidValue);
    p.conditional.size = 1;
    IS(cudaGraphAddNode(&node, other, NULL NO_DATA, 0, &p), cudaErrorInvalidValue);
    CK(cudaGraphAddNode(&node, g, NULL NO_DATA, 0, &p));
    cudaGraph_t body = p.conditional.phGraph_out[0];
    cudaHostNodeParams call = {[](void *) {}, NULL};
    CK(cudaGraphAddHostNode(&node, body, NULL, 0, &call));
    OK(cudaGraphInstantiate(&e, g, 0) != cudaSuccess); // the host can take no part in it
    OK(cudaGraphAddChildGraphNode(&node, other, NULL, 0, g) != cudaSuccess);
    cudaGetLastError();
    CK(cudaGraphDestroy(g));
    CK(cudaGraphDestroy(other));
}

int main() {
    for (int *&c : cell)
        CK(cudaMalloc(&c, 4));
    if_and_else();
    loop();
    cases();
    refused();
    return finish();
}
