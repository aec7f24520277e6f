// The nodes of graphs that are built one by one: added, asked for their parameters, given others, in
// a graph or in one that was made from it to be launched. As programs of either API see them.

#include <stdlib.h>
#include <string.h>

#include "graph_api.h"

bool can_add_node(struct node **out, const struct graph *graph, struct node *const *after,
                  size_t count) {
    return out && graph_lives(graph) && graph_has_nodes(graph, after, count);
}

int add_node(struct node **out, struct graph *graph, struct node *const *after, size_t count,
             struct work work) {
    if (!can_add_node(out, graph, after, count)) {
        work_free(&work);
        return answer(INVALID_VALUE);
    }
    *out = graph_add(graph, gpu_current(), work, after, count);
    return SUCCESS;
}

static int replace(struct node *node, struct work work) {
    return answer(node_replace(NULL, node, work));
}

static int replace_in(struct graph *graph, struct node *node, struct work work) {
    if (!graph_can_launch(graph)) {
        work_free(&work);
        return answer(INVALID_VALUE);
    }
    return answer(node_replace(graph, node, work));
}

// Kernels

static struct kernel *named_by(const struct kernel_given *given) {
    const void *function = given->common.function;
#ifdef RUNTIME
    return kernel_of(function);
#else
    return handle_get(KERNEL_HANDLE, function ? function : given->kernel);
#endif
}

int describe_kernel(struct work *work, const struct kernel_given *given) {
    if (!given) {
        return INVALID_VALUE;
    }
    return work_launch(work, named_by(given), &given->common);
}

API int NEW_NAME(GraphAddKernelNode)(struct node **out, struct graph *graph, struct node **after,
                                     size_t count, const struct kernel_given *given) {
    struct work work;
    int status = describe_kernel(&work, given);
    return status ? answer(status) : add_node(out, graph, after, count, work);
}

API int NEW_NAME(GraphExecKernelNodeSetParams)(struct graph *graph, struct node *node,
                                               const struct kernel_given *given) {
    struct work work;
    int status = describe_kernel(&work, given);
    return status ? answer(status) : replace_in(graph, node, work);
}

API int NEW_NAME(GraphKernelNodeSetParams)(struct node *node, const struct kernel_given *given) {
    struct work work;
    int status = describe_kernel(&work, given);
    return status ? answer(status) : replace(node, work);
}

// The runtime API knows a kernel by its stub, also one that was captured: programs look for theirs.
static const void *name_of(const struct node *node) {
    const struct kernel *kernel = node->work.of.launch.kernel;
#ifdef RUNTIME
    return kernel->stub ? kernel->stub : kernel;
#else
    return kernel;
#endif
}

// The arguments that are returned are the node's own: valid until the node is changed or destroyed.
static int kernel_parameters_of(const struct node *node, struct kernel_parameters *out) {
    if (!out || !node_is(node, KERNEL_NODE)) {
        return INVALID_VALUE;
    }
    const struct kernel *kernel = node->work.of.launch.kernel;
    const struct shape *shape = &node->work.of.launch.shape;
    *out = (struct kernel_parameters){
        .function = name_of(node),
        .shared = (unsigned)shape->dynamic_shared,
        .arguments = calloc(kernel->facts.parameters + 1, sizeof(void *)),
    };
    memcpy(out->grid, shape->grid, sizeof out->grid);
    memcpy(out->block, shape->block, sizeof out->block);
    for (uint64_t k = 0; k < kernel->facts.parameters; k++) {
        out->arguments[k] = (char *)node->work.of.launch.block + kernel->parameters[2 * k];
    }
    return SUCCESS;
}

API int NEW_NAME(GraphKernelNodeGetParams)(struct node *node, struct kernel_given *out) {
    struct kernel_given found = {0};
    int status = out ? kernel_parameters_of(node, &found.common) : INVALID_VALUE;
    if (!status) {
        *out = found;
    }
    return answer(status);
}

#ifndef RUNTIME
// Before CUDA 12 the structure ended earlier.

API int cuGraphAddKernelNode(struct node **out, struct graph *graph, struct node **after,
                             size_t count, const struct kernel_parameters *given) {
    if (!given) {
        return INVALID_VALUE;
    }
    struct kernel_given whole = {.common = *given};
    return cuGraphAddKernelNode_v2(out, graph, after, count, &whole);
}

API int cuGraphExecKernelNodeSetParams(struct graph *graph, struct node *node,
                                       const struct kernel_parameters *given) {
    if (!given) {
        return INVALID_VALUE;
    }
    struct kernel_given whole = {.common = *given};
    return cuGraphExecKernelNodeSetParams_v2(graph, node, &whole);
}

API int cuGraphKernelNodeSetParams(struct node *node, const struct kernel_parameters *given) {
    if (!given) {
        return INVALID_VALUE;
    }
    struct kernel_given whole = {.common = *given};
    return cuGraphKernelNodeSetParams_v2(node, &whole);
}

API int cuGraphKernelNodeGetParams(struct node *node, struct kernel_parameters *out) {
    return translate(kernel_parameters_of(node, out));
}
#endif

// Copies; a context, where the driver API has one, comes last and changes nothing, as with fills.

int describe_copy(struct work *work, const struct box_copy *given) {
    _Static_assert(sizeof *given <= BOX_PARAMETERS, "room for what programs get back");
    if (!given) {
        return INVALID_VALUE;
    }
    *work = (struct work){.kind = COPY_NODE, .of.copy.by = THIS_API};
    memcpy(work->of.copy.parameters, given, sizeof *given);
    return box_of(&work->of.copy.box, given);
}

API int NAME(GraphAddMemcpyNode)(struct node **out, struct graph *graph, struct node **after,
                                 size_t count, const struct box_copy *copy) {
    struct work work;
    int status = describe_copy(&work, copy);
    return status ? answer(status) : add_node(out, graph, after, count, work);
}

API int NAME(GraphExecMemcpyNodeSetParams)(struct graph *graph, struct node *node,
                                           const struct box_copy *copy) {
    struct work work;
    int status = describe_copy(&work, copy);
    return status ? answer(status) : replace_in(graph, node, work);
}

API int NAME(GraphMemcpyNodeSetParams)(struct node *node, const struct box_copy *copy) {
    struct work work;
    int status = describe_copy(&work, copy);
    return status ? answer(status) : replace(node, work);
}

API int NAME(GraphMemcpyNodeGetParams)(struct node *node, struct box_copy *out) {
    if (!out || !node_is(node, COPY_NODE) || node->work.of.copy.by != THIS_API) {
        return answer(INVALID_VALUE);
    }
    memcpy(out, node->work.of.copy.parameters, sizeof *out);
    return SUCCESS;
}

// Fills

static struct work filled(const struct fill_parameters *fill) {
    return (struct work){.kind = FILL_NODE, .of.fill = *fill};
}

API int NAME(GraphAddMemsetNode)(struct node **out, struct graph *graph, struct node **after,
                                 size_t count, const struct fill_parameters *fill) {
    return fill ? add_node(out, graph, after, count, filled(fill)) : answer(INVALID_VALUE);
}

API int NAME(GraphMemsetNodeSetParams)(struct node *node, const struct fill_parameters *fill) {
    return fill ? replace(node, filled(fill)) : answer(INVALID_VALUE);
}

API int NAME(GraphExecMemsetNodeSetParams)(struct graph *graph, struct node *node,
                                           const struct fill_parameters *fill) {
    return fill ? replace_in(graph, node, filled(fill)) : answer(INVALID_VALUE);
}

API int NAME(GraphMemsetNodeGetParams)(struct node *node, struct fill_parameters *out) {
    if (!out || !node_is(node, FILL_NODE)) {
        return answer(INVALID_VALUE);
    }
    *out = node->work.of.fill;
    return SUCCESS;
}

// Functions of the host

static bool is_call(const struct call_parameters *call) {
    return call && call->function;
}

static struct work called(const struct call_parameters *call) {
    return (struct work){.kind = CALL_NODE, .of.call = *call};
}

API int NAME(GraphAddHostNode)(struct node **out, struct graph *graph, struct node **after,
                               size_t count, const struct call_parameters *call) {
    return is_call(call) ? add_node(out, graph, after, count, called(call))
                         : answer(INVALID_VALUE);
}

API int NAME(GraphHostNodeSetParams)(struct node *node, const struct call_parameters *call) {
    return is_call(call) ? replace(node, called(call)) : answer(INVALID_VALUE);
}

API int NAME(GraphExecHostNodeSetParams)(struct graph *graph, struct node *node,
                                         const struct call_parameters *call) {
    return is_call(call) ? replace_in(graph, node, called(call)) : answer(INVALID_VALUE);
}

API int NAME(GraphHostNodeGetParams)(struct node *node, struct call_parameters *out) {
    if (!out || !node_is(node, CALL_NODE)) {
        return answer(INVALID_VALUE);
    }
    *out = node->work.of.call;
    return SUCCESS;
}

// Others

API int NAME(GraphAddEmptyNode)(struct node **out, struct graph *graph, struct node **after,
                                size_t count) {
    return add_node(out, graph, after, count, (struct work){.kind = EMPTY_NODE});
}

int describe_child(struct work *work, const struct graph *child) {
    bool lives = graph_lives(child);
    if (lives && graph_has_memory(child)) {
        return NOT_SUPPORTED;
    }
    bool right = lives && !graph_has(child, CONDITION_NODE);
    *work = (struct work){.kind = GRAPH_NODE, .of.graph = right ? graph_duplicate(child) : NULL};
    return work->of.graph ? SUCCESS : INVALID_VALUE;
}

API int NAME(GraphAddChildGraphNode)(struct node **out, struct graph *graph, struct node **after,
                                     size_t count, struct graph *child) {
    struct work work;
    bool right = can_add_node(out, graph, after, count);
    int status = right ? describe_child(&work, child) : INVALID_VALUE;
    return status ? answer(status) : add_node(out, graph, after, count, work);
}

API int NAME(GraphChildGraphNodeGetGraph)(struct node *node, struct graph **out) {
    if (!out || !node_is(node, GRAPH_NODE)) {
        return answer(INVALID_VALUE);
    }
    *out = node->work.of.graph;
    return SUCCESS;
}

int describe_event(struct work *work, enum kind kind, event_t event) {
    *work = (struct work){.kind = kind, .of.event = handle_of(event)};
    return handle_get(EVENT_HANDLE, event) ? SUCCESS : INVALID_VALUE;
}

API int NAME(GraphAddEventRecordNode)(struct node **out, struct graph *graph, struct node **after,
                                      size_t count, event_t event) {
    struct work work;
    int status = describe_event(&work, RECORD_NODE, event);
    return status ? answer(status) : add_node(out, graph, after, count, work);
}

API int NAME(GraphAddEventWaitNode)(struct node **out, struct graph *graph, struct node **after,
                                    size_t count, event_t event) {
    struct work work;
    int status = describe_event(&work, WAIT_NODE, event);
    return status ? answer(status) : add_node(out, graph, after, count, work);
}

static int event_of(struct node *node, enum kind kind, event_t *event) {
    if (!event || !node_is(node, kind)) {
        return answer(INVALID_VALUE);
    }
    *event = (event_t)(uintptr_t)node->work.of.event;
    return SUCCESS;
}

API int NAME(GraphEventRecordNodeGetEvent)(struct node *node, event_t *event) {
    return event_of(node, RECORD_NODE, event);
}

API int NAME(GraphEventWaitNodeGetEvent)(struct node *node, event_t *event) {
    return event_of(node, WAIT_NODE, event);
}

API int NAME(GraphExecEventRecordNodeSetEvent)(struct graph *graph, struct node *node,
                                               event_t event) {
    struct work work;
    int status = describe_event(&work, RECORD_NODE, event);
    return status ? answer(status) : replace_in(graph, node, work);
}

API int NAME(GraphExecEventWaitNodeSetEvent)(struct graph *graph, struct node *node,
                                             event_t event) {
    struct work work;
    int status = describe_event(&work, WAIT_NODE, event);
    return status ? answer(status) : replace_in(graph, node, work);
}

API int NAME(GraphEventRecordNodeSetEvent)(struct node *node, event_t event) {
    struct work work;
    int status = describe_event(&work, RECORD_NODE, event);
    return status ? answer(status) : replace(node, work);
}

API int NAME(GraphEventWaitNodeSetEvent)(struct node *node, event_t event) {
    struct work work;
    int status = describe_event(&work, WAIT_NODE, event);
    return status ? answer(status) : replace(node, work);
}

API int NAME(GraphExecChildGraphNodeSetParams)(struct graph *graph, struct node *node,
                                               struct graph *child) {
    struct work work;
    int status = describe_child(&work, child);
    return status ? answer(status) : replace_in(graph, node, work);
}
