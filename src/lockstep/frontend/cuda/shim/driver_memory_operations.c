// The driver API's operations on words of memory in streams.

#include "graph_api.h"

enum { WAIT_32 = 1, WRITE_32, WAIT_64 = 4, WRITE_64 }; // CUstreamBatchMemOpType

static int operate(stream_t stream, unsigned kind, pointer_t address, uint64_t value,
                   unsigned flags) {
    struct memory_operation one = {kind, address, value, flags, 0, 0};
    return translate(stream_operate(handle_of(stream), &one, 1));
}

API int cuStreamWaitValue32(stream_t stream, pointer_t address, uint32_t value, unsigned flags) {
    return operate(stream, WAIT_32, address, value, flags);
}
ALSO(cuStreamWaitValue32_v2, cuStreamWaitValue32);

API int cuStreamWaitValue64(stream_t stream, pointer_t address, uint64_t value, unsigned flags) {
    return operate(stream, WAIT_64, address, value, flags);
}
ALSO(cuStreamWaitValue64_v2, cuStreamWaitValue64);

API int cuStreamWriteValue32(stream_t stream, pointer_t address, uint32_t value, unsigned flags) {
    return operate(stream, WRITE_32, address, value, flags);
}
ALSO(cuStreamWriteValue32_v2, cuStreamWriteValue32);

API int cuStreamWriteValue64(stream_t stream, pointer_t address, uint64_t value, unsigned flags) {
    return operate(stream, WRITE_64, address, value, flags);
}
ALSO(cuStreamWriteValue64_v2, cuStreamWriteValue64);

API int cuStreamBatchMemOp(stream_t stream, unsigned count, const struct memory_operation *list,
                           unsigned flags) {
    return translate(flags ? INVALID_VALUE : stream_operate(handle_of(stream), list, count));
}
ALSO(cuStreamBatchMemOp_v2, cuStreamBatchMemOp);

// Nodes of graphs

// CUDA_BATCH_MEM_OP_NODE_PARAMS
struct operations_given {
    context_t context;
    unsigned count;
    struct memory_operation *list;
    unsigned flags;
};

static int describe(struct work *work, const struct operations_given *given) {
    return given ? work_operations(work, given->list, given->count) : INVALID_VALUE;
}

API int cuGraphAddBatchMemOpNode(struct node **out, struct graph *graph, struct node **after,
                                 size_t count, const struct operations_given *given) {
    struct work work;
    int status = describe(&work, given);
    return status ? status : add_node(out, graph, after, count, work);
}

API int cuGraphBatchMemOpNodeGetParams(struct node *node, struct operations_given *out) {
    if (!out || !node_is(node, OPERATIONS_NODE)) {
        return INVALID_VALUE;
    }
    *out = (struct operations_given){.count = node->work.of.operations.count,
                                     .list = node->work.of.operations.list};
    return SUCCESS;
}

API int cuGraphBatchMemOpNodeSetParams(struct node *node, const struct operations_given *given) {
    struct work work;
    int status = describe(&work, given);
    return status ? status : translate(node_replace(NULL, node, work));
}

API int cuGraphExecBatchMemOpNodeSetParams(struct graph *graph, struct node *node,
                                           const struct operations_given *given) {
    struct work work;
    int status = graph_can_launch(graph) ? describe(&work, given) : INVALID_VALUE;
    return status ? status : translate(node_replace(graph, node, work));
}
