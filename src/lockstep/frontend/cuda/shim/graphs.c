// Graphs as programs see them: made, connected, asked, copied, instantiated, updated, launched.

#include <stdlib.h>
#include <string.h>

#include "graph.h"

enum { UPDATE_FAILURE = 910 };
// cudaGraphExecUpdateResult
enum { UPDATED = 0, TOPOLOGY_CHANGED = 2, NODE_TYPE_CHANGED = 3, PARAMETERS_CHANGED = 5 };
enum { AUTO_FREE_ON_LAUNCH = 1 };

struct graph *graph_new(void) {
    struct graph *graph = calloc(1, sizeof *graph);
    graph->last = &graph->first;
    return graph;
}

void node_free(struct node *node) {
    work_free(&node->work);
    free(node->after);
    free(node);
}

void graph_free(struct graph *graph) {
    if (!graph) {
        return;
    }
    for (struct node *node = graph->first, *next; node; node = next) {
        next = node->next;
        if (graph->instance && node->work.kind == ALLOCATE_NODE) {
            node->work.of.allocation.memory->instances--;
        }
        node_free(node);
    }
    conditions_drop(graph);
    free(graph);
}

void node_wait_for(struct node *node, struct node *other) {
    node->after = realloc(node->after, (node->count + 1) * sizeof *node->after);
    node->after[node->count++] = other;
}

struct node *graph_add(struct graph *graph, struct work work, struct node *const *after,
                       size_t count) {
    struct node *node = calloc(1, sizeof *node);
    node->graph = graph;
    node->work = work;
    for (size_t k = 0; k < count; k++) {
        node_wait_for(node, after[k]);
    }
    *graph->last = node;
    graph->last = &node->next;
    return node;
}

struct node *graph_copy_of(const struct graph *graph, const struct node *origin) {
    struct node *node = graph->first;
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
    forget_order(graph);
    for (struct node *node = graph->first; node; node = node->next) {
        left++;
    }
    for (struct node *node; (node = next_ready(graph)); left--) {
        struct node *same = graph_add(copy, work_duplicate(&node->work), NULL, 0);
        for (size_t k = 0; k < node->count; k++) {
            node_wait_for(same, graph_copy_of(copy, node->after[k]));
        }
        same->origin = node;
        node->placed = true;
    }
    conditions_share(copy, graph);
    if (left) {
        graph_free(copy);
        return NULL;
    }
    return copy;
}

int graph_perform(const struct graph *graph, stream_t stream) {
    int status = SUCCESS;
    for (struct node *node = graph->first; node && !status; node = node->next) {
        status = node->disabled ? SUCCESS : work_perform(&node->work, stream);
    }
    return status;
}

API int cudaGraphCreate(struct graph **graph, unsigned flags) {
    (void)flags;
    *graph = graph_new();
    return SUCCESS;
}

API int cudaGraphDestroy(struct graph *graph) {
    graph_free(graph);
    return SUCCESS;
}

API int cudaGraphExecDestroy(struct graph *graph) {
    graph_free(graph);
    return SUCCESS;
}

API int cudaGraphClone(struct graph **out, struct graph *graph) {
    if (graph && graph_has_memory(graph)) {
        return report(NOT_SUPPORTED);
    }
    *out = graph ? graph_duplicate(graph) : NULL;
    return *out ? SUCCESS : report(INVALID_VALUE);
}

API int cudaGraphNodeFindInClone(struct node **out, struct node *origin, struct graph *clone) {
    *out = graph_copy_of(clone, origin);
    return *out ? SUCCESS : report(INVALID_VALUE);
}

API int cudaGraphNodeGetType(struct node *node, int *kind) {
    *kind = (int)node->work.kind;
    return SUCCESS;
}

// Graphs that can be launched.

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

static int instantiate(struct graph **out, struct graph *graph, unsigned long long flags) {
    if (!graph || !is_right(graph)) {
        return graph ? NOT_SUPPORTED : INVALID_VALUE;
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

API int cudaGraphInstantiateWithFlags(struct graph **out, struct graph *graph,
                                      unsigned long long flags) {
    return report(instantiate(out, graph, flags));
}

#if RUNTIME > 11
API int cudaGraphInstantiate(struct graph **out, struct graph *graph, unsigned long long flags) {
    return report(instantiate(out, graph, flags));
}
#else
API int cudaGraphInstantiate(struct graph **out, struct graph *graph, struct node **problem,
                             char *text, size_t bytes) {
    if (problem) {
        *problem = NULL;
    }
    if (text && bytes) {
        *text = 0;
    }
    return report(instantiate(out, graph, 0));
}
#endif

// cudaGraphInstantiateParams and cudaGraphInstantiateResult
struct instantiation {
    unsigned long long flags;
    stream_t upload;
    struct node *problem;
    int result;
};

API int cudaGraphInstantiateWithParams(struct graph **out, struct graph *graph,
                                       struct instantiation *how) {
    int status = instantiate(out, graph, how->flags);
    how->problem = NULL;
    how->result = status != SUCCESS;
    return report(status);
}

API int cudaGraphExecGetFlags(const struct graph *graph, unsigned long long *flags) {
    *flags = graph->flags;
    return SUCCESS;
}

static int compare(const struct graph *out, const struct graph *graph) {
    const struct node *a = out->first, *b = graph->first;
    for (; a && b; a = a->next, b = b->next) {
        if (a->work.kind != b->work.kind) {
            return NODE_TYPE_CHANGED;
        }
        if (a->count != b->count) {
            return TOPOLOGY_CHANGED;
        }
        const struct work *one = &a->work, *two = &b->work;
        if ((one->kind == ALLOCATE_NODE &&
             one->of.allocation.memory != two->of.allocation.memory) ||
            (one->kind == FREE_NODE && one->of.freed != two->of.freed)) {
            return PARAMETERS_CHANGED;
        }
    }
    return a || b ? TOPOLOGY_CHANGED : UPDATED;
}

// The nodes of the new graph take the places of those they resemble.
static int update(struct graph *out, const struct graph *graph) {
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

#if RUNTIME > 11
struct update_result {
    int result;
    struct node *node, *from;
};

API int cudaGraphExecUpdate(struct graph *out, struct graph *graph, struct update_result *about) {
    int result = update(out, graph);
    *about = (struct update_result){.result = result};
    return result ? report(UPDATE_FAILURE) : SUCCESS;
}
#else
API int cudaGraphExecUpdate(struct graph *out, struct graph *graph, struct node **node,
                            int *result) {
    *node = NULL;
    *result = update(out, graph);
    return *result ? report(UPDATE_FAILURE) : SUCCESS;
}
#endif

API int cudaGraphUpload(struct graph *graph, stream_t stream) {
    (void)graph, (void)stream;
    return SUCCESS;
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

API int cudaGraphLaunch(struct graph *graph, stream_t stream) {
    int status = graph ? free_memory(graph) : INVALID_VALUE;
    status = status ? status : conditions_begin(graph);
    return report(status ? status : graph_perform(graph, stream));
}

API int cudaGraphNodeSetEnabled(struct graph *graph, struct node *node, unsigned enabled) {
    struct node *found = graph_copy_of(graph, node);
    if (found) {
        found->disabled = !enabled;
    }
    return found ? SUCCESS : report(INVALID_VALUE);
}

API int cudaGraphNodeGetEnabled(struct graph *graph, struct node *node, unsigned *enabled) {
    struct node *found = graph_copy_of(graph, node);
    *enabled = found && !found->disabled;
    return found ? SUCCESS : report(INVALID_VALUE);
}
