// Nodes of all kinds by one structure (cudaGraphNodeParams, CUgraphNodeParams): added to a graph, given
// other parameters; nodes that allocate, free and decide. As programs of either API see them.

#include "graph_api.h"

enum { MOVED = 1 }; // cudaGraphChildGraphOwnership: the node gets the graph itself

// "CUDA Runtime API" and "CUDA Driver API", data structures.
struct node_parameters {
    int kind, reserved[3];
    union {
        long long all[29];
        struct kernel_given kernel;
        struct {
            int flags, others[3]; // of the driver API: the context
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
        struct {
            const void *context;
            unsigned count;
            const struct memory_operation *list;
            unsigned flags;
        } operations;
    } of;
    long long unused;
};

// One within the other, or the same.
static bool holds(const struct graph *outer, const struct graph *graph) {
    bool found = outer == graph;
    for (const struct node *node = outer->first; node && !found; node = node->next) {
        const struct work *work = &node->work;
        found = work->kind == GRAPH_NODE && holds(work->of.graph, graph);
        for (unsigned k = 0; work->kind == CONDITION_NODE && k < work->of.condition.size; k++) {
            found = found || holds(work->of.condition.bodies[k], graph);
        }
    }
    return found;
}

// A graph that moves has nobody yet, and does not go into itself.
static bool can_move(const struct graph *graph, const struct graph *to) {
    return to && graph_lives(graph) && !graph->inner && !graph_is_captured(graph) &&
           !holds(graph, to);
}

static int child(struct work *work, const struct graph *to, struct node_parameters *given) {
    struct graph *graph = given->of.child.graph;
    if (given->of.child.ownership != MOVED) {
        return describe_child(work, graph);
    }
    work->of.graph = graph;
    return can_move(graph, to) && !graph_has(graph, CONDITION_NODE) ? SUCCESS : INVALID_VALUE;
}

// What a node of these parameters does. `graph`: where it is added, or NULL where it has a place.
static int described(struct work *work, struct graph *graph, struct node_parameters *given) {
    *work = (struct work){.kind = (enum kind)given->kind};
    switch (given->kind) {
    case KERNEL_NODE:
        return describe_kernel(work, &given->of.kernel);
    case COPY_NODE:
        return describe_copy(work, &given->of.copy.box);
    case FILL_NODE:
        work->of.fill = given->of.fill;
        return SUCCESS;
    case CALL_NODE:
        work->of.call = given->of.call;
        return work->of.call.function ? SUCCESS : INVALID_VALUE;
    case GRAPH_NODE:
        return child(work, graph, given);
    case EMPTY_NODE:
        return SUCCESS;
    case WAIT_NODE:
    case RECORD_NODE:
        return describe_event(work, work->kind, given->of.event);
    case ALLOCATE_NODE:
        return graph ? work_allocation(work, &given->of.allocation) : INVALID_VALUE;
    case FREE_NODE:
        return graph ? work_release(work, graph, given->of.freed) : INVALID_VALUE;
    case OPERATIONS_NODE:
        return work_operations(work, given->of.operations.list, given->of.operations.count);
    case CONDITION_NODE:
        return graph ? work_condition(work, graph, &given->of.condition) : INVALID_VALUE;
    default:
        return gpu_unsupported("a graph's node of a rare kind");
    }
}

static int add(struct node **out, struct graph *graph, struct node *const *after, size_t count,
               struct node_parameters *given) {
    struct work work;
    bool right = given && can_add_node(out, graph, after, count);
    int status = right ? described(&work, graph, given) : INVALID_VALUE;
    return status ? answer(status) : add_node(out, graph, after, count, work);
}

#if RUNTIME < 13
API int NAME(GraphAddNode)(struct node **out, struct graph *graph, struct node *const *after,
                           size_t count, struct node_parameters *given) {
    return add(out, graph, after, count, given);
}
#endif

API int WITH_DATA(GraphAddNode)(struct node **out, struct graph *graph, struct node *const *after,
                                const void *edges, size_t count, struct node_parameters *given) {
    (void)edges;
    return add(out, graph, after, count, given);
}

static int replace(struct graph *graph, struct node *node, struct node_parameters *given) {
    struct work work;
    int status = node && given ? described(&work, NULL, given) : INVALID_VALUE;
    return status ? status : node_replace(graph, node, work);
}

API int NAME(GraphExecNodeSetParams)(struct graph *graph, struct node *node,
                                     struct node_parameters *given) {
    return answer(graph_can_launch(graph) ? replace(graph, node, given) : INVALID_VALUE);
}

API int NAME(GraphNodeSetParams)(struct node *node, struct node_parameters *given) {
    return answer(replace(NULL, node, given));
}

// Nodes that allocate and free

API int NAME(GraphAddMemAllocNode)(struct node **out, struct graph *graph, struct node **after,
                                   size_t count, struct allocation_parameters *given) {
    struct work work;
    bool right = given && can_add_node(out, graph, after, count);
    int status = right ? work_allocation(&work, given) : INVALID_VALUE;
    return status ? answer(status) : add_node(out, graph, after, count, work);
}

API int NAME(GraphAddMemFreeNode)(struct node **out, struct graph *graph, struct node **after,
                                  size_t count, void *address) {
    struct work work;
    bool right = can_add_node(out, graph, after, count);
    int status = right ? work_release(&work, graph, address) : INVALID_VALUE;
    return status ? answer(status) : add_node(out, graph, after, count, work);
}

API int NAME(GraphMemAllocNodeGetParams)(struct node *node, struct allocation_parameters *out) {
    if (!out || !node_is(node, ALLOCATE_NODE)) {
        return answer(INVALID_VALUE);
    }
    *out = node->work.of.allocation.parameters;
    return SUCCESS;
}

API int NAME(GraphMemFreeNodeGetParams)(struct node *node, void **out) {
    if (!out || !node_is(node, FREE_NODE)) {
        return answer(INVALID_VALUE);
    }
    *out = node->work.of.freed->address;
    return SUCCESS;
}

static int check(int device) {
    return gpu_check(device);
}

API int NAME(DeviceGetGraphMemAttribute)(int device, int attribute, uint64_t *value) {
    int status = check(device);
    return answer(status ? status : graph_memory_get(attribute, value));
}

API int NAME(DeviceSetGraphMemAttribute)(int device, int attribute, const uint64_t *value) {
    int status = check(device);
    return answer(status ? status : graph_memory_set(attribute, value));
}

API int NAME(DeviceGraphMemTrim)(int device) {
    int status = check(device);
    if (!status) {
        graph_memory_trim();
    }
    return answer(status);
}

// Conditions

API int NAME(GraphConditionalHandleCreate)(uint64_t *handle, struct graph *graph,
#ifndef RUNTIME
                                           context_t context,
#endif
                                           unsigned initial, unsigned flags) {
#ifndef RUNTIME
    (void)context;
#endif
    return answer(condition_new(handle, graph, initial, flags));
}
