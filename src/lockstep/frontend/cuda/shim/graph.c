// Graphs: made of nodes, copied, instantiated, updated, launched.

#include <stdlib.h>

#include "graph.h"

// cudaGraphExecUpdateResult
enum {
    UPDATED = 0,
    TOPOLOGY_CHANGED = 2,
    NODE_TYPE_CHANGED = 3,
    PARAMETERS_CHANGED = 5,
    FUNCTION_CHANGED = 7,
};
enum { AUTO_FREE_ON_LAUNCH = 1, INVALIDATED_CAPTURE = 901 };

struct graph *graph_new(void) {
    struct graph *graph = calloc(1, sizeof *graph);
    graph->last = &graph->first;
    handle_add(GRAPH_HANDLE, graph);
    return graph;
}

void node_free(struct node *node) {
    handle_take(NODE_HANDLE, node);
    work_free(&node->work);
    free(node->after);
    free(node);
}

void graph_free(struct graph *graph) {
    if (!graph) {
        return;
    }
    handle_take(GRAPH_HANDLE, graph);
    for (struct node *node = graph->first, *next; node; node = next) {
        next = node->next;
        if (graph->instance && node->work.kind == ALLOCATE_NODE) {
            node->work.of.allocation.memory->instances--;
        }
        node_free(node);
    }
    conditions_drop(graph);
    graph_drop_owned(graph);
    plan_free(graph->plan);
    free(graph);
}

bool graph_has_nodes(const struct graph *graph, struct node *const *nodes, size_t count) {
    size_t k = 0;
    while (nodes && k < count && node_lives(nodes[k]) && nodes[k]->graph == graph) {
        k++;
    }
    return k == count;
}

static bool own(struct graph *graph) {
    if (graph) {
        graph->inner = true;
    }
    return graph != NULL;
}

// Programs cannot destroy the graphs that a node has: they go with it. False: one is missing, as
// graphs are that have no order.
static bool own_graphs(const struct work *work) {
    bool whole = work->kind != GRAPH_NODE || own(work->of.graph);
    for (unsigned k = 0; work->kind == CONDITION_NODE && k < work->of.condition.size; k++) {
        whole = own(work->of.condition.bodies[k]) && whole;
    }
    return whole;
}

static bool comes_after(const struct node *node, const struct node *other) {
    for (size_t k = 0; k < node->count; k++) {
        if (node->after[k] == other) {
            return true;
        }
    }
    return false;
}

void node_wait_for(struct node *node, struct node *other) {
    node->after = realloc(node->after, (node->count + 1) * sizeof *node->after);
    node->after[node->count++] = other;
}

struct node *graph_add(struct graph *graph, int device, struct work work,
                       struct node *const *after, size_t count) {
    struct node *node = calloc(1, sizeof *node);
    node->graph = graph;
    node->device = device;
    node->work = work;
    own_graphs(&work);
    handle_add(NODE_HANDLE, node);
    for (size_t k = 0; k < count; k++) {
        node_wait_for(node, after[k]);
    }
    *graph->last = node;
    graph->last = &node->next;
    return node;
}

struct node *graph_copy_of(const struct graph *graph, const struct node *origin) {
    struct node *node = origin ? graph->first : NULL;
    while (node && node->origin != origin) {
        node = node->next;
    }
    return node;
}

bool graph_has(const struct graph *graph, enum kind kind) {
    for (const struct node *node = graph->first; node; node = node->next) {
        const struct work *work = &node->work;
        bool found = work->kind == kind || (work->kind == GRAPH_NODE && graph_has(work->of.graph, kind));
        for (unsigned k = 0; work->kind == CONDITION_NODE && k < work->of.condition.size; k++) {
            found = found || graph_has(work->of.condition.bodies[k], kind);
        }
        if (found) {
            return true;
        }
    }
    return false;
}

bool graph_has_memory(const struct graph *graph) {
    return graph_has(graph, ALLOCATE_NODE) || graph_has(graph, FREE_NODE);
}

static bool is_ready(const struct node *node) {
    for (size_t k = 0; k < node->count; k++) {
        if (!node->after[k]->placed) {
            return false;
        }
    }
    return true;
}

// The next node in an order of a graph in which nodes come after those that they wait for.
static struct node *next_ready(const struct graph *graph) {
    struct node *node = graph->first;
    while (node && (node->placed || !is_ready(node))) {
        node = node->next;
    }
    return node;
}

static void forget_order(const struct graph *graph) {
    for (struct node *node = graph->first; node; node = node->next) {
        node->placed = false;
    }
}

// The copy's nodes are in an order in which they can be performed; NULL if there is none.
struct graph *graph_duplicate(const struct graph *graph) {
    struct graph *copy = graph_new();
    size_t left = 0;
    bool whole = true;
    forget_order(graph);
    for (struct node *node = graph->first; node; node = node->next) {
        left++;
    }
    for (struct node *node; (node = next_ready(graph)); left--) {
        struct node *same = graph_add(copy, node->device, work_duplicate(&node->work), NULL, 0);
        for (size_t k = 0; k < node->count; k++) {
            node_wait_for(same, graph_copy_of(copy, node->after[k]));
        }
        whole = own_graphs(&same->work) && whole;
        same->origin = node;
        same->disabled = node->disabled;
        node->placed = true;
    }
    conditions_share(copy, graph);
    graph_share_owned(copy, graph);
    if (left || !whole) {
        graph_free(copy);
        return NULL;
    }
    return copy;
}

int node_replace(struct graph *graph, struct node *node, struct work work) {
    struct node *found = graph ? graph_copy_of(graph, node) : node_lives(node) ? node : NULL;
    if (!found || found->work.kind != work.kind) {
        work_free(&work);
        return INVALID_VALUE;
    }
    work_free(&found->work);
    found->work = work;
    own_graphs(&work);
    return SUCCESS;
}

static bool is_right(const struct graph *graph) {
    for (const struct node *node = graph->first; node; node = node->next) {
        const struct work *work = &node->work;
        if ((work->kind == CONDITION_NODE && !conditional_is_right(&work->of.condition)) ||
            (work->kind == ALLOCATE_NODE && work->of.allocation.memory->instances)) {
            return false;
        }
    }
    return true;
}

int graph_instantiate(struct graph **out, struct graph *graph, unsigned long long flags) {
    if (!out || !graph_lives(graph)) {
        return INVALID_VALUE;
    }
    if (!is_right(graph)) {
        return NOT_SUPPORTED;
    }
    *out = graph_duplicate(graph);
    if (!*out) {
        return INVALID_VALUE;
    }
    (*out)->instance = true;
    (*out)->flags = flags;
    for (const struct node *node = (*out)->first; node; node = node->next) {
        if (node->work.kind == ALLOCATE_NODE) {
            node->work.of.allocation.memory->instances++;
        }
    }
    return SUCCESS;
}

static size_t size_of(const struct graph *graph) {
    size_t size = 0;
    for (const struct node *node = graph->first; node; node = node->next) {
        size++;
    }
    return size;
}

// Of graphs with as many nodes: whether these wait for each other in the same way.
static bool are_alike(const struct graph *out, const struct graph *graph) {
    const struct node *b = graph->first;
    for (struct node *a = out->first; a; a = a->next, b = b->next) {
        a->twin = b;
    }
    for (const struct node *a = out->first; a; a = a->next) {
        for (size_t k = 0; k < a->count; k++) {
            if (a->count != a->twin->count || !comes_after(a->twin, a->after[k]->twin)) {
                return false;
            }
        }
        if (!a->count != !a->twin->count) {
            return false;
        }
    }
    return true;
}

static int compare(const struct graph *out, const struct graph *graph) {
    if (size_of(out) != size_of(graph)) {
        return TOPOLOGY_CHANGED; // whatever the nodes are
    }
    if (!are_alike(out, graph)) {
        return TOPOLOGY_CHANGED;
    }
    const struct node *a = out->first, *b = graph->first;
    for (; a; a = a->next, b = b->next) {
        if (a->work.kind != b->work.kind) {
            return NODE_TYPE_CHANGED;
        }
        if (a->device != b->device) {
            return a->work.kind == KERNEL_NODE ? FUNCTION_CHANGED : PARAMETERS_CHANGED;
        }
        const struct work *one = &a->work, *two = &b->work;
        if ((one->kind == ALLOCATE_NODE &&
             one->of.allocation.memory != two->of.allocation.memory) ||
            (one->kind == FREE_NODE && one->of.freed != two->of.freed)) {
            return PARAMETERS_CHANGED;
        }
    }
    return UPDATED;
}

// The nodes of the new graph take the places of those they resemble.
int graph_update(struct graph *out, const struct graph *graph) {
    struct graph *copy = graph_duplicate(graph);
    int result = copy ? compare(out, copy) : TOPOLOGY_CHANGED;
    if (result == UPDATED) {
        struct node *to = out->first;
        for (struct node *from = copy->first; from; from = from->next, to = to->next) {
            struct work old = to->work;
            to->work = from->work;
            from->work = old;
        }
    }
    graph_free(copy);
    return result;
}

// Memory that the last launch left: it is freed if that was agreed, else no launch can follow.
static int free_memory(const struct graph *graph) {
    int status = SUCCESS;
    for (const struct node *node = graph->first; node && !status; node = node->next) {
        if (node->work.kind == ALLOCATE_NODE && node->work.of.allocation.memory->live) {
            status = graph->flags & AUTO_FREE_ON_LAUNCH
                         ? graph_memory_end(node->work.of.allocation.memory)
                         : INVALID_VALUE;
        }
    }
    return status;
}

// On the device of the stream.
static int launch(struct graph *graph, uint64_t stream) {
    int forbidden = capture_forbids_legacy(stream);
    if (forbidden || capture_of(stream).invalid) {
        return forbidden ? forbidden : INVALIDATED_CAPTURE;
    }
    if (capture_of(stream).graph) { // a node of the graph that is captured
        if (graph_has_memory(graph) || graph_has(graph, CONDITION_NODE)) {
            return NOT_SUPPORTED;
        }
        struct work work = {.kind = GRAPH_NODE, .of.graph = graph_duplicate(graph)};
        return capture_add(stream, work) ? SUCCESS : INVALID_VALUE;
    }
    if (stream_is_held(stream) && !graph_has_memory(graph) && !graph_has(graph, CONDITION_NODE)) {
        struct work work = {.kind = GRAPH_NODE, .of.graph = graph_duplicate(graph)};
        return held_add(stream, work);
    }
    int status = stream_is_held(stream) ? held_resolve(stream, 0) : SUCCESS;
    status = status ? status : free_memory(graph);
    status = status ? status : conditions_begin(graph);
    status = status ? status : graph_perform(graph, stream);
    held_progress();
    return status;
}

int graph_launch(struct graph *graph, uint64_t stream) {
    if (!graph_can_launch(graph)) {
        return INVALID_VALUE;
    }
    if (stream_check((void *)(uintptr_t)stream)) {
        return INVALID_HANDLE;
    }
    int device = gpu_current();
    gpu_set_current(device_of((void *)(uintptr_t)stream));
    int status = launch(graph, stream);
    gpu_set_current(device);
    return status;
}
