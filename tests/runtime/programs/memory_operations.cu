// Streams that wait for words of memory and write them: what is behind a wait takes place when the
// word is there, whoever writes it, and in the order of its stream.

#include <cuda.h>
#include <thread>
#include "check.h"

__global__ void add(int *p, int v) {
    p[threadIdx.x] += v;
}
__global__ void store(unsigned *flag, unsigned v) {
    *flag = v;
}

static int *p;
static unsigned *flags; // in pinned memory
static CUdeviceptr flag, wide;
static cudaStream_t a, b;
static cudaEvent_t e;

static int value() {
    int out;
    CK(cudaMemcpyAsync(&out, p, 4, cudaMemcpyDefault, b));
    CK(cudaStreamSynchronize(b));
    return out;
}

static void clear() {
    CK(cudaMemset(p, 0, 128));
    CK(cudaMemset((void *)flag, 0, 16));
    CK(cudaMemset((void *)wide, 0, 16));
    CK(cudaDeviceSynchronize());
}

// Conditions that hold already, or do not.
static void conditions() {
    struct {
        unsigned there, want, how;
        bool holds;
    } cases[] = {{5, 5, CU_STREAM_WAIT_VALUE_GEQ, true}, {4, 5, CU_STREAM_WAIT_VALUE_GEQ, false},
                 {3, 0xfffffff0u, CU_STREAM_WAIT_VALUE_GEQ, true}, // it has wrapped around
                 {5, 5, CU_STREAM_WAIT_VALUE_EQ, true}, {6, 5, CU_STREAM_WAIT_VALUE_EQ, false},
                 {6, 2, CU_STREAM_WAIT_VALUE_AND, true}, {4, 2, CU_STREAM_WAIT_VALUE_AND, false},
                 {1, 2, CU_STREAM_WAIT_VALUE_NOR, true}, {~2u, 2, CU_STREAM_WAIT_VALUE_NOR, false}};
    for (auto &c : cases) {
        clear();
        CK(cuStreamWriteValue32(b, flag, c.there, 0));
        CK(cuStreamWaitValue32(a, flag, c.want, c.how));
        CK(cuStreamWriteValue32(a, flag + 8, 1, 0));
        unsigned done = 2, enough[] = {c.want, c.want, c.want, 0};
        CK(cudaMemcpyAsync(&done, (void *)(flag + 8), 4, cudaMemcpyDefault, b));
        CK(cudaStreamSynchronize(b));
        OK(done == c.holds);
        IS(cudaStreamQuery(a), c.holds ? cudaSuccess : cudaErrorNotReady);
        CK(cuStreamWriteValue32(b, flag, enough[c.how], 0));
        CK(cudaStreamSynchronize(a));
    }
    cudaGetLastError();
}

// Kernels, copies, fills, events and functions behind a wait.
static void order() {
    clear();
    static int log[4], host = 7;
    CK(cuStreamWaitValue64(a, wide, 1ull << 40, CU_STREAM_WAIT_VALUE_EQ));
    add<<<1, 32, 0, a>>>(p, 1);
    CK(cudaMemcpyAsync(p, &host, 4, cudaMemcpyDefault, a)); // pageable: what is there now
    host = 1000;
    CK(cudaMemsetAsync(p + 1, 1, 4, a));
    CK(cudaLaunchHostFunc(a, [](void *to) { *(int *)to = 1; }, log));
    add<<<1, 32, 0, a>>>(p, 10);
    CK(cudaEventRecord(e, a));
    CK(cudaStreamWaitEvent(b, e, 0)); // and b waits with it
    add<<<1, 32, 0, b>>>(p, 100);
    CK(cudaStreamAddCallback(
        b, [](cudaStream_t s, cudaError_t status, void *to) { log[1] = s == b && !status; }, log,
        0));
    IS(cudaEventQuery(e), cudaErrorNotReady);
    cudaEvent_t before;
    float time;
    CK(cudaEventCreate(&before));
    CK(cudaEventRecord(before, 0));
    IS(cudaEventElapsedTime(&time, before, e), cudaErrorNotReady);
    OK(log[0] == 0 && log[1] == 0);
    cudaStream_t c;
    CK(cudaStreamCreateWithFlags(&c, cudaStreamNonBlocking));
    CK(cuStreamWriteValue64(c, wide, 1ull << 40, 0));
    CK(cudaStreamSynchronize(c));
    CK(cudaEventQuery(e));
    CK(cudaDeviceSynchronize());
    CK(cudaEventElapsedTime(&time, before, e));
    OK(log[0] == 1 && log[1] == 1 && value() == 117);
    CK(cudaStreamDestroy(c));
    cudaGetLastError();
}

// A kernel, another thread, and a program that only writes pinned memory.
static void writers() {
    clear();
    CK(cuStreamWaitValue32(a, flag, 3, CU_STREAM_WAIT_VALUE_GEQ));
    add<<<1, 32, 0, a>>>(p, 1);
    store<<<1, 1, 0, b>>>((unsigned *)flag, 3);
    CK(cudaStreamSynchronize(a));
    OK(value() == 1);
    flags[0] = 0;
    CK(cuStreamWaitValue32(a, (CUdeviceptr)flags, 1, CU_STREAM_WAIT_VALUE_EQ));
    add<<<1, 32, 0, a>>>(p, 1);
    OK(value() == 1);
    *(volatile unsigned *)flags = 1;
    CK(cudaStreamSynchronize(a));
    OK(value() == 2);
    CK(cuStreamWaitValue32(a, (CUdeviceptr)flags, 2, CU_STREAM_WAIT_VALUE_EQ));
    add<<<1, 32, 0, a>>>(p, 1);
    std::thread writer([] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        *(volatile unsigned *)flags = 2;
    });
    CK(cudaStreamSynchronize(a));
    writer.join();
    OK(value() == 3);
    for (int k = 0; k < 500; k++) { // threads that write, and end, while the stream is looked at
        flags[0] = 0;
        CK(cuStreamWaitValue32(a, (CUdeviceptr)flags, 1, CU_STREAM_WAIT_VALUE_EQ));
        std::thread brief([k] {
            std::this_thread::sleep_for(std::chrono::microseconds(100 + k * 37 % 1500));
            *(volatile unsigned *)flags = 1;
        });
        CK(cudaStreamSynchronize(a));
        brief.join();
    }
}

// An event that is recorded again: who waited for it before waits for the record of then, and who asks
// asks for the last one. One that is destroyed ends when the last of those who wait for it does.
static void events() {
    clear();
    cudaEvent_t again, gone;
    cudaStream_t c;
    CK(cudaEventCreate(&again));
    CK(cudaStreamCreateWithFlags(&c, cudaStreamNonBlocking));
    CK(cuStreamWaitValue32(a, flag, 1, CU_STREAM_WAIT_VALUE_EQ));
    CK(cudaEventRecord(again, a));
    CK(cudaStreamWaitEvent(b, again, 0));
    add<<<1, 32, 0, b>>>(p, 1);
    CK(cuStreamWriteValue32(b, flag + 4, 1, 0));
    CK(cuStreamWaitValue32(c, flag + 4, 1, CU_STREAM_WAIT_VALUE_EQ));
    CK(cudaEventRecord(again, c)); // b must not wait for this: it comes after what b does
    CK(cudaMemset((void *)flag, 1, 1));
    CK(cudaStreamSynchronize(c));
    CK(cudaStreamSynchronize(b));
    CK(cudaEventSynchronize(again));
    OK(value() == 1);
    clear();
    CK(cuStreamWaitValue32(a, flag, 1, CU_STREAM_WAIT_VALUE_EQ));
    CK(cudaEventRecord(again, a));
    CK(cudaEventRecord(again, c));
    CK(cudaEventQuery(again));
    CK(cudaEventSynchronize(again));
    CK(cudaMemset((void *)flag, 1, 1));
    CK(cudaStreamSynchronize(a));
    for (int first = 0; first < 2; first++) {
        clear();
        CK(cudaEventCreate(&gone));
        CK(cudaEventRecord(gone, c));
        CK(cuStreamWaitValue32(a, flag, 1, CU_STREAM_WAIT_VALUE_EQ));
        CK(cuStreamWaitValue32(b, flag + 4, 1, CU_STREAM_WAIT_VALUE_EQ));
        CK(cudaStreamWaitEvent(a, gone, 0));
        CK(cudaStreamWaitEvent(b, gone, 0));
        CK(cudaEventDestroy(gone));
        for (int k = 0; k < 2; k++) {
            bool is_a = k == first;
            CK(cudaMemset((void *)(flag + (is_a ? 0 : 4)), 1, 1));
            CK(cudaStreamSynchronize(is_a ? a : b));
        }
    }
    CK(cudaStreamDestroy(c));
}

// Streams that the legacy stream waits for, and a stream that ends while it waits.
static void relations() {
    clear();
    cudaStream_t blocking;
    CK(cudaStreamCreate(&blocking));
    CK(cuStreamWaitValue32(blocking, flag, 1, CU_STREAM_WAIT_VALUE_EQ));
    add<<<1, 32, 0, blocking>>>(p, 1);
    add<<<1, 32>>>(p, 10);
    OK(value() == 0);
    CK(cudaStreamDestroy(blocking));
    CK(cuStreamWriteValue32(b, flag, 1, 0));
    CK(cudaDeviceSynchronize());
    OK(value() == 11);
}

static void batch() {
    clear();
    CUstreamBatchMemOpParams list[3] = {};
    list[0].operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    list[0].waitValue.address = flag;
    list[0].waitValue.value = 1;
    list[0].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
    list[1].operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
    list[1].writeValue.address = wide;
    list[1].writeValue.value64 = 0x123456789abcull;
    list[2].operation = CU_STREAM_MEM_OP_BARRIER;
    CK(cuStreamBatchMemOp(a, 3, list, 0));
    unsigned long long out = 1;
    CK(cudaMemcpyAsync(&out, (void *)wide, 8, cudaMemcpyDefault, b));
    CK(cudaStreamSynchronize(b));
    OK(out == 0);
    CK(cuStreamWriteValue32(b, flag, 1, 0));
    CK(cudaStreamSynchronize(a));
    CK(cudaMemcpy(&out, (void *)wide, 8, cudaMemcpyDefault));
    OK(out == 0x123456789abcull);
    IS(cuStreamBatchMemOp(a, 0, list, 0), CUDA_ERROR_INVALID_VALUE);
    IS(cuStreamWriteValue32(a, flag + 2, 1, 0), CUDA_ERROR_INVALID_VALUE);
    IS(cuStreamWriteValue32(a, 0, 1, 0), CUDA_ERROR_INVALID_VALUE);
    list[0].operation = (CUstreamBatchMemOpType)17;
    IS(cuStreamBatchMemOp(a, 1, list, 0), CUDA_ERROR_INVALID_VALUE);
}

// In a graph: captured, and a node by itself.
static void graph() {
    clear();
    cudaGraph_t g;
    CK(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
    CK(cuStreamWriteValue32(a, flag, 9, 0));
    CK(cuStreamWaitValue32(a, flag, 9, CU_STREAM_WAIT_VALUE_EQ));
    add<<<1, 32, 0, a>>>(p, 1);
    CK(cudaStreamEndCapture(a, &g));
    cudaGraphNode_t nodes[3];
    size_t count = 3;
    CK(cudaGraphGetNodes(g, nodes, &count));
    CUgraphNodeType type;
    CK(cuGraphNodeGetType(nodes[1], &type));
    OK(count == 3 && type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
    CUDA_BATCH_MEM_OP_NODE_PARAMS known;
    CK(cuGraphBatchMemOpNodeGetParams(nodes[0], &known));
    OK(known.count == 1 && known.paramArray[0].writeValue.value == 9);
    CUstreamBatchMemOpParams other = known.paramArray[0];
    other.writeValue.address = flag + 8;
    known.paramArray = &other;
    cudaGraphNode_t fourth;
    CK(cuGraphAddBatchMemOpNode(&fourth, g, &nodes[2], 1, &known));
    CUgraphNodeParams any = {};
    any.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
    any.memOp.count = 1;
    any.memOp.paramArray = &other;
    other.writeValue.address = flag + 4;
    other.writeValue.value = 3;
    cudaGraphNode_t fifth;
#if CUDA_VERSION >= 13000
    CK(cuGraphAddNode(&fifth, g, &fourth, nullptr, 1, &any));
#else
    CK(cuGraphAddNode(&fifth, g, &fourth, 1, &any));
#endif
    cudaGraphExec_t x;
    CK(cudaGraphInstantiateWithFlags(&x, g, 0));
    CK(cudaGraphLaunch(x, a));
    unsigned out = 0;
    CK(cudaMemcpyAsync(&out, (void *)(flag + 4), 4, cudaMemcpyDefault, a));
    CK(cudaStreamSynchronize(a));
    OK(out == 3);
    CK(cudaMemcpyAsync(&out, (void *)(flag + 8), 4, cudaMemcpyDefault, a));
    CK(cudaStreamSynchronize(a));
    OK(out == 9 && value() == 1);
    clear(); // a launch behind a wait
    CK(cuStreamWaitValue32(a, flag + 12, 1, CU_STREAM_WAIT_VALUE_EQ));
    CK(cudaGraphLaunch(x, a));
    OK(value() == 0);
    CK(cuStreamWriteValue32(b, flag + 12, 1, 0));
    CK(cudaDeviceSynchronize());
    OK(value() == 1);
}

int main(int count, char **) {
    CK(cudaMalloc(&p, 128));
    CK(cudaMalloc((void **)&flag, 16));
    CK(cudaMalloc((void **)&wide, 16));
    CK(cudaMallocHost(&flags, 16));
    CK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    CK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    CK(cudaEventCreate(&e));
    if (count > 1) { // nobody writes
        CK(cuStreamWaitValue32(a, flag, 77, CU_STREAM_WAIT_VALUE_EQ));
        add<<<1, 32, 0, a>>>(p, 1);
        IS(cudaDeviceSynchronize(), cudaErrorLaunchTimeout);
        IS(cudaFree(p), cudaErrorLaunchTimeout);
        return finish();
    }
    int can = 0;
    CK(cudaDeviceGetAttribute(&can, (cudaDeviceAttr)122, 0));
    OK(can);
    conditions();
    order();
    writers();
    events();
    relations();
    batch();
    graph();
    return finish();
}
