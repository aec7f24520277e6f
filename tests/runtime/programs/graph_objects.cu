// What graphs own of a program, attributes of their kernels, their pictures; and libraries of the
// runtime API, whose kernels are loaded by name.

#include "check.h"

#include <string>


__global__ void add(int *p, int v) {
    p[threadIdx.x] += v;
}

static int ended[2];

static void CUDART_CB end(void *data) {
    ++*(int *)data;
}

static cudaGraph_t one_kernel(int *p, cudaGraphNode_t *node) {
    cudaGraph_t graph;
    cudaGraphNode_t fill;
    int v = 3;
    void *arguments[] = {&p, &v};
    cudaKernelNodeParams kernel = {(void *)add, dim3(1), dim3(32), 0, arguments, NULL};
    cudaMemsetParams zeros = {};
    zeros.dst = p, zeros.elementSize = 4, zeros.width = 32, zeros.height = 1;
    CK(cudaGraphCreate(&graph, 0));
    CK(cudaGraphAddMemsetNode(&fill, graph, NULL, 0, &zeros));
    CK(cudaGraphAddKernelNode(node, graph, &fill, 1, &kernel));
    return graph;
}

static void objects(cudaGraph_t graph) {
    cudaUserObject_t a, b;
    CK(cudaUserObjectCreate(&a, &ended[0], end, 2, cudaUserObjectNoDestructorSync));
    CK(cudaUserObjectCreate(&b, &ended[1], end, 1, cudaUserObjectNoDestructorSync));
    IS(cudaUserObjectCreate(&b, NULL, NULL, 1, cudaUserObjectNoDestructorSync), cudaErrorInvalidValue);
    CK(cudaGraphRetainUserObject(graph, a, 1, cudaGraphUserObjectMove)); // 1 of its 2
    CK(cudaGraphRetainUserObject(graph, b, 3, 0));                       // 3 and the program's
    CK(cudaGraphReleaseUserObject(graph, b, 2));
    IS(cudaGraphReleaseUserObject(graph, b, 2), cudaErrorInvalidValue);
    CK(cudaUserObjectRelease(a, 1));
    CK(cudaUserObjectRetain(b, 1));
    CK(cudaUserObjectRelease(b, 2));
    OK(!ended[0] && !ended[1]); // the graph has both
    cudaGraphExec_t instance;
    CK(cudaGraphInstantiate(&instance, graph, 0));
    CK(cudaGraphReleaseUserObject(graph, a, 1));
    OK(!ended[0]); // the instance has it
    CK(cudaGraphLaunch(instance, 0));
    CK(cudaDeviceSynchronize());
    CK(cudaGraphExecDestroy(instance));
    OK(ended[0] == 1 && !ended[1]);
}

static void attributes(cudaGraph_t graph, cudaGraphNode_t node) {
    cudaKernelNodeAttrValue value = {}, told = {};
    value.cooperative = 1;
    CK(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeCooperative, &value));
    CK(cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributeCooperative, &told));
    OK(told.cooperative == 1);
    cudaGraphNode_t copy;
    cudaKernelNodeParams same;
    CK(cudaGraphKernelNodeGetParams(node, &same));
    CK(cudaGraphAddKernelNode(&copy, graph, &node, 1, &same));
    CK(cudaGraphKernelNodeCopyAttributes(node, copy));
    CK(cudaGraphKernelNodeGetAttribute(copy, cudaLaunchAttributeCooperative, &told));
    OK(told.cooperative == 1);
    size_t count = 0;
    CK(cudaGraphGetRootNodes(graph, NULL, &count));
    cudaGraphNode_t root;
    CK(cudaGraphGetRootNodes(graph, &root, &count));
    IS(cudaGraphKernelNodeSetAttribute(root, cudaLaunchAttributeCooperative, &value),
       cudaErrorInvalidValue);
}

static void picture(cudaGraph_t graph, const char *path) {
    CK(cudaGraphDebugDotPrint(graph, path, 0));
    char text[1000] = {};
    FILE *file = fopen(path, "r");
    OK(file && fread(text, 1, sizeof text - 1, file));
    fclose(file);
    std::string all = text;
    OK(all.find("n0 [label=\"0: memset\"]") != all.npos && all.find("n0 -> n1;") != all.npos);
    OK(all.find("n1 [label=\"1: _Z3addPii\"]") != all.npos);
    IS(cudaGraphDebugDotPrint(graph, "/nowhere/at/all", 0), cudaErrorInvalidValue);
}

static const char PTX[] = R"(
.version 7.0
.target sm_70
.address_size 64
.global .align 4 .u32 step = 11;
.visible .entry more(.param .u64 p)
{
    .reg .u64 %p;
    .reg .u32 %a, %b;
    ld.param.u64 %p, [p];
    ld.u32 %a, [%p];
    ld.global.u32 %b, [step];
    add.u32 %a, %a, %b;
    st.u32 [%p], %a;
    ret;
}
)";

static void library(int *p) {
#if CUDART_VERSION >= 12080
    cudaLibrary_t loaded;
    cudaKernel_t kernel;
    CK(cudaLibraryLoadData(&loaded, PTX, NULL, NULL, 0, NULL, NULL, 0));
    CK(cudaLibraryGetKernel(&kernel, loaded, "more"));
    CK(cudaMemset(p, 0, 4));
    void *arguments[] = {&p}, *step;
    size_t bytes;
    CK(cudaLaunchKernel((void *)kernel, dim3(1), dim3(1), arguments, 0, 0));
    CK(cudaLibraryGetGlobal(&step, &bytes, loaded, "step"));
    int value = 100;
    OK(bytes == 4);
    CK(cudaMemcpy(step, &value, 4, cudaMemcpyHostToDevice));
    CK(cudaLaunchKernel((void *)kernel, dim3(1), dim3(1), arguments, 0, 0));
    CK(cudaMemcpy(&value, p, 4, cudaMemcpyDeviceToHost));
    OK(value == 111);
    const auto dynamic = cudaFuncAttributeMaxDynamicSharedMemorySize;
    IS(cudaLaunchKernel((void *)kernel, 1, 1, arguments, 70000, 0), cudaErrorInvalidValue);
    CK(cudaKernelSetAttributeForDevice(kernel, dynamic, 70000, 0));
    CK(cudaLaunchKernel((void *)kernel, 1, 1, arguments, 70000, 0));
    IS(cudaKernelSetAttributeForDevice(kernel, dynamic, 70000, 9), cudaErrorInvalidDevice);
    IS(cudaLibraryGetKernel(&kernel, loaded, "less"), cudaErrorSymbolNotFound);
    IS(cudaLibraryLoadFromFile(&loaded, "/nowhere", NULL, NULL, 0, NULL, NULL, 0),
       cudaErrorFileNotFound);
    CK(cudaLibraryUnload(loaded));
#endif
}

int main(int argc, char **argv) {
    int *p;
    cudaGraphNode_t node;
    CK(cudaMalloc(&p, 128));
    cudaGraph_t graph = one_kernel(p, &node);
    objects(graph);
    attributes(graph, node);
    picture(graph, (std::string(argv[0]) + ".dot").c_str());
    CK(cudaGraphDestroy(graph));
    OK(ended[1] == 1);
    library(p);
    return finish();
}
