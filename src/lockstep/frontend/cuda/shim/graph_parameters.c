// Nodes of all kinds by one structure (cudaGraphNodeParams): added to a graph, given other parameters.

#include <string.h>

#include "graph.h"

enum { MOVED = 1 }; // cudaGraphChildGraphOwnership: the node gets the graph itself

// cudaGraphNodeParams: "CUDA Runtime API", data structures.
struct node_parameters {
    int kind, reserved[3];
    union {
        long long all[29];
        struct kernel_parameters kernel;
        struct {
            int flags, reserved[3];
            struct box_copy box;
        } copy;
        struct fill_parameters fill;
        struct call_parameters call;
        struct {
            struct graph *graph;
            int ownership;
        } child;
        event_t event;
        struct allocation_parameters allocation;
        void *freed;
        struct conditional_parameters condition;
    } of;
    long long unused;
};

static int child(struct work *work, struct node_parameters *given) {
    struct graph *graph = given->of.child.graph;
    if (!graph || graph_has(graph, CONDITION_NODE)) {
        return INVALID_VALUE;
    }
    bool moved = given->of.child.ownership == MOVED;
    if (!moved && graph_has_memory(graph)) {
        return NOT_SUPPORTED;
    }
    work->of.graph = moved ? graph : graph_duplicate(graph);
    return work->of.graph ? SUCCESS : INVALID_VALUE;
}

// What a node of these parameters does. `graph`: where it is added, or NULL where it has a place.
static int described(struct work *work, struct graph *graph, struct node_parameters *given) {
    *work = (struct work){.kind = (enum kind)given->kind};
    switch (given->kind) {
    case KERNEL_NODE:
        return work_launch(work, &given->of.kernel);
    case COPY_NODE:
        work->of.box = given->of.copy.box;
        work->boxed = true;
        return SUCCESS;
    case FILL_NODE:
        work->of.fill = given->of.fill;
        return SUCCESS;
    case CALL_NODE:
        work->of.call = given->of.call;
        return SUCCESS;
    case GRAPH_NODE:
        return child(work, given);
    case EMPTY_NODE:
        return SUCCESS;
    case WAIT_NODE:
    case RECORD_NODE:
        work->of.event = given->of.event;
        return SUCCESS;
    case ALLOCATE_NODE:
        return graph ? work_allocation(work, &given->of.allocation) : INVALID_VALUE;
    case FREE_NODE:
        return graph ? work_release(work, graph, given->of.freed) : INVALID_VALUE;
    case CONDITION_NODE:
        return graph ? work_condition(work, graph, &given->of.condition) : INVALID_VALUE;
    default:
        return gpu_unsupported("a graph's node of a rare kind");
    }
}

static int add(struct node **out, struct graph *graph, struct node *const *after, size_t count,
               struct node_parameters *given) {
    struct work work;
    int status = out && graph && given ? described(&work, graph, given) : INVALID_VALUE;
    if (!status) {
        *out = graph_add(graph, work, after, count);
    }
    return report(status);
}

#if RUNTIME < 13
API int cudaGraphAddNode(struct node **out, struct graph *graph, struct node *const *after,
                         size_t count, struct node_parameters *given) {
    return add(out, graph, after, count, given);
}

API int cudaGraphAddNode_v2(struct node **out, struct graph *graph, struct node *const *after,
                            const void *edges, size_t count, struct node_parameters *given) {
#else
API int cudaGraphAddNode(struct node **out, struct graph *graph, struct node *const *after,
                         const void *edges, size_t count, struct node_parameters *given) {
#endif
    (void)edges;
    return add(out, graph, after, count, given);
}

API int cudaGraphExecNodeSetParams(struct graph *graph, struct node *node,
                                   struct node_parameters *given) {
    struct work work;
    int status = node && given ? described(&work, NULL, given) : INVALID_VALUE;
    return status ? report(status) : node_replace(graph, node, work);
}

API int cudaGraphNodeSetParams(struct node *node, struct node_parameters *given) {
    return cudaGraphExecNodeSetParams(NULL, node, given);
}

// Nodes that allocate and free

API int cudaGraphAddMemAllocNode(struct node **out, struct graph *graph, struct node **after,
                                 size_t count, struct allocation_parameters *given) {
    struct work work;
    int status = out && graph && given ? work_allocation(&work, given) : INVALID_VALUE;
    if (!status) {
        *out = graph_add(graph, work, after, count);
    }
    return report(status);
}

API int cudaGraphAddMemFreeNode(struct node **out, struct graph *graph, struct node **after,
                                size_t count, void *address) {
    struct work work;
    int status = out && graph ? work_release(&work, graph, address) : INVALID_VALUE;
    if (!status) {
        *out = graph_add(graph, work, after, count);
    }
    return report(status);
}

API int cudaGraphMemAllocNodeGetParams(struct node *node, struct allocation_parameters *out) {
    if (!node || node->work.kind != ALLOCATE_NODE) {
        return report(INVALID_VALUE);
    }
    *out = node->work.of.allocation.parameters;
    return SUCCESS;
}

API int cudaGraphMemFreeNodeGetParams(struct node *node, void **out) {
    if (!node || node->work.kind != FREE_NODE) {
        return report(INVALID_VALUE);
    }
    *out = node->work.of.freed->address;
    return SUCCESS;
}
