// The nodes of graphs that are built one by one: added, asked for their parameters, given others, in
// a graph or in one that was made from it to be launched.

#include <stdlib.h>

#include "graph.h"

static int add(struct node **out, struct graph *graph, struct node **after, size_t count,
               struct work work) {
    if (!graph) {
        return report(INVALID_VALUE);
    }
    *out = graph_add(graph, work, after, count);
    return SUCCESS;
}

int node_replace(struct graph *graph, struct node *node, struct work work) {
    struct node *found = graph ? graph_copy_of(graph, node) : node;
    if (!found || found->work.kind != work.kind) {
        work_free(&work);
        return report(INVALID_VALUE);
    }
    work_free(&found->work);
    found->work = work;
    return SUCCESS;
}

// Kernels

API int cudaGraphAddKernelNode(struct node **out, struct graph *graph, struct node **after,
                               size_t count, const struct kernel_parameters *parameters) {
    struct work work;
    int status = work_launch(&work, parameters);
    return status ? report(status) : add(out, graph, after, count, work);
}

API int cudaGraphExecKernelNodeSetParams(struct graph *graph, struct node *node,
                                         const struct kernel_parameters *parameters) {
    struct work work;
    int status = work_launch(&work, parameters);
    return status ? report(status) : node_replace(graph, node, work);
}

API int cudaGraphKernelNodeSetParams(struct node *node,
                                     const struct kernel_parameters *parameters) {
    return cudaGraphExecKernelNodeSetParams(NULL, node, parameters);
}

// The arguments that are returned are the node's own: valid until the node is changed or destroyed.
API int cudaGraphKernelNodeGetParams(struct node *node, struct kernel_parameters *out) {
    if (node->work.kind != KERNEL_NODE) {
        return report(INVALID_VALUE);
    }
    const struct kernel *kernel = node->work.of.launch.kernel;
    const struct shape *shape = &node->work.of.launch.shape;
    *out = (struct kernel_parameters){
        .function = node->work.of.launch.function,
        .grid = {shape->grid[0], shape->grid[1], shape->grid[2]},
        .block = {shape->block[0], shape->block[1], shape->block[2]},
        .shared = (unsigned)shape->dynamic_shared,
        .arguments = calloc(kernel->facts.parameters + 1, sizeof(void *)),
    };
    for (uint64_t k = 0; k < kernel->facts.parameters; k++) {
        out->arguments[k] = (char *)node->work.of.launch.block + kernel->parameters[2 * k];
    }
    return SUCCESS;
}

// Copies

static struct work boxed(const struct box_copy *copy) {
    return (struct work){.kind = COPY_NODE, .of.box = *copy, .boxed = true};
}

API int cudaGraphAddMemcpyNode(struct node **out, struct graph *graph, struct node **after,
                               size_t count, const struct box_copy *copy) {
    return add(out, graph, after, count, boxed(copy));
}

API int cudaGraphMemcpyNodeSetParams(struct node *node, const struct box_copy *copy) {
    return node_replace(NULL, node, boxed(copy));
}

API int cudaGraphExecMemcpyNodeSetParams(struct graph *graph, struct node *node,
                                         const struct box_copy *copy) {
    return node_replace(graph, node, boxed(copy));
}

API int cudaGraphMemcpyNodeGetParams(struct node *node, struct box_copy *out) {
    if (node->work.kind != COPY_NODE || !node->work.boxed) {
        return report(INVALID_VALUE);
    }
    *out = node->work.of.box;
    return SUCCESS;
}

API int cudaGraphAddMemcpyNode1D(struct node **out, struct graph *graph, struct node **after,
                                 size_t count, void *to, const void *source, size_t bytes,
                                 int kind) {
    (void)kind;
    return add(out, graph, after, count, work_copy_bytes(to, source, bytes));
}

API int cudaGraphMemcpyNodeSetParams1D(struct node *node, void *to, const void *source,
                                       size_t bytes, int kind) {
    (void)kind;
    return node_replace(NULL, node, work_copy_bytes(to, source, bytes));
}

API int cudaGraphExecMemcpyNodeSetParams1D(struct graph *graph, struct node *node, void *to,
                                           const void *source, size_t bytes, int kind) {
    (void)kind;
    return node_replace(graph, node, work_copy_bytes(to, source, bytes));
}

API int cudaGraphAddMemcpyNodeToSymbol(struct node **out, struct graph *graph,
                                       struct node **after, size_t count, const void *shadow,
                                       const void *source, size_t bytes, size_t offset, int kind) {
    (void)kind;
    void *address;
    int status = cudaGetSymbolAddress(&address, shadow);
    return status ? status
                  : add(out, graph, after, count,
                        work_copy_bytes((char *)address + offset, source, bytes));
}

API int cudaGraphAddMemcpyNodeFromSymbol(struct node **out, struct graph *graph,
                                         struct node **after, size_t count, void *to,
                                         const void *shadow, size_t bytes, size_t offset,
                                         int kind) {
    (void)kind;
    void *address;
    int status = cudaGetSymbolAddress(&address, shadow);
    return status ? status
                  : add(out, graph, after, count,
                        work_copy_bytes(to, (char *)address + offset, bytes));
}

// Fills

static struct work filled(const struct fill_parameters *fill) {
    return (struct work){.kind = FILL_NODE, .of.fill = *fill};
}

API int cudaGraphAddMemsetNode(struct node **out, struct graph *graph, struct node **after,
                               size_t count, const struct fill_parameters *fill) {
    return add(out, graph, after, count, filled(fill));
}

API int cudaGraphMemsetNodeSetParams(struct node *node, const struct fill_parameters *fill) {
    return node_replace(NULL, node, filled(fill));
}

API int cudaGraphExecMemsetNodeSetParams(struct graph *graph, struct node *node,
                                         const struct fill_parameters *fill) {
    return node_replace(graph, node, filled(fill));
}

API int cudaGraphMemsetNodeGetParams(struct node *node, struct fill_parameters *out) {
    if (node->work.kind != FILL_NODE) {
        return report(INVALID_VALUE);
    }
    *out = node->work.of.fill;
    return SUCCESS;
}

// Functions of the host

static struct work called(const struct call_parameters *call) {
    return (struct work){.kind = CALL_NODE, .of.call = *call};
}

API int cudaGraphAddHostNode(struct node **out, struct graph *graph, struct node **after,
                             size_t count, const struct call_parameters *call) {
    return add(out, graph, after, count, called(call));
}

API int cudaGraphHostNodeSetParams(struct node *node, const struct call_parameters *call) {
    return node_replace(NULL, node, called(call));
}

API int cudaGraphExecHostNodeSetParams(struct graph *graph, struct node *node,
                                       const struct call_parameters *call) {
    return node_replace(graph, node, called(call));
}

API int cudaGraphHostNodeGetParams(struct node *node, struct call_parameters *out) {
    if (node->work.kind != CALL_NODE) {
        return report(INVALID_VALUE);
    }
    *out = node->work.of.call;
    return SUCCESS;
}

// Others

API int cudaGraphAddEmptyNode(struct node **out, struct graph *graph, struct node **after,
                              size_t count) {
    return add(out, graph, after, count, (struct work){.kind = EMPTY_NODE});
}

API int cudaGraphAddChildGraphNode(struct node **out, struct graph *graph, struct node **after,
                                   size_t count, struct graph *child) {
    if (child && graph_has_memory(child)) {
        return report(NOT_SUPPORTED);
    }
    bool right = child && !graph_has(child, CONDITION_NODE);
    struct graph *copy = right ? graph_duplicate(child) : NULL;
    struct work work = {.kind = GRAPH_NODE, .of.graph = copy};
    return copy ? add(out, graph, after, count, work) : report(INVALID_VALUE);
}

API int cudaGraphChildGraphNodeGetGraph(struct node *node, struct graph **out) {
    *out = node->work.kind == GRAPH_NODE ? node->work.of.graph : NULL;
    return *out ? SUCCESS : report(INVALID_VALUE);
}

API int cudaGraphAddEventRecordNode(struct node **out, struct graph *graph, struct node **after,
                                    size_t count, event_t event) {
    return add(out, graph, after, count, (struct work){.kind = RECORD_NODE, .of.event = event});
}

API int cudaGraphAddEventWaitNode(struct node **out, struct graph *graph, struct node **after,
                                  size_t count, event_t event) {
    return add(out, graph, after, count, (struct work){.kind = WAIT_NODE, .of.event = event});
}

static int event_of(struct node *node, enum kind kind, event_t *event) {
    if (!node || node->work.kind != kind) {
        return report(INVALID_VALUE);
    }
    *event = node->work.of.event;
    return SUCCESS;
}

API int cudaGraphEventRecordNodeGetEvent(struct node *node, event_t *event) {
    return event_of(node, RECORD_NODE, event);
}

API int cudaGraphEventWaitNodeGetEvent(struct node *node, event_t *event) {
    return event_of(node, WAIT_NODE, event);
}

API int cudaGraphExecEventRecordNodeSetEvent(struct graph *graph, struct node *node,
                                             event_t event) {
    return node_replace(graph, node, (struct work){.kind = RECORD_NODE, .of.event = event});
}

API int cudaGraphExecEventWaitNodeSetEvent(struct graph *graph, struct node *node, event_t event) {
    return node_replace(graph, node, (struct work){.kind = WAIT_NODE, .of.event = event});
}

API int cudaGraphEventRecordNodeSetEvent(struct node *node, event_t event) {
    return cudaGraphExecEventRecordNodeSetEvent(NULL, node, event);
}

API int cudaGraphEventWaitNodeSetEvent(struct node *node, event_t event) {
    return cudaGraphExecEventWaitNodeSetEvent(NULL, node, event);
}

API int cudaGraphExecChildGraphNodeSetParams(struct graph *graph, struct node *node,
                                             struct graph *child) {
    struct graph *copy = child ? graph_duplicate(child) : NULL;
    struct work work = {.kind = GRAPH_NODE, .of.graph = copy};
    return copy ? node_replace(graph, node, work) : report(INVALID_VALUE);
}
