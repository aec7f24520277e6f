// Graphs as programs see them: made, connected, asked, copied, instantiated, updated, launched.

#include <stdlib.h>
#include <string.h>

#include "graph.h"

enum { UPDATE_FAILURE = 910 };
// cudaGraphExecUpdateResult
enum { UPDATED = 0, TOPOLOGY_CHANGED = 2, NODE_TYPE_CHANGED = 3 };

struct graph *graph_new(void) {
    struct graph *graph = calloc(1, sizeof *graph);
    graph->last = &graph->first;
    return graph;
}

static void node_free(struct node *node) {
    work_free(&node->work);
    free(node->after);
    free(node);
}

void graph_free(struct graph *graph) {
    for (struct node *node = graph ? graph->first : NULL, *next; node; node = next) {
        next = node->next;
        node_free(node);
    }
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
    *out = graph ? graph_duplicate(graph) : NULL;
    return *out ? SUCCESS : report(INVALID_VALUE);
}

API int cudaGraphNodeFindInClone(struct node **out, struct node *origin, struct graph *clone) {
    *out = graph_copy_of(clone, origin);
    return *out ? SUCCESS : report(INVALID_VALUE);
}

// Edges. Programs of CUDA 13 give data of each edge, which says how kernels overlap: not here.
#if RUNTIME > 12
#define EDGE_DATA , void *data
#define UNUSED_DATA (void)data
#else
#define EDGE_DATA
#define UNUSED_DATA
#endif

API int cudaGraphAddDependencies(struct graph *graph, struct node **from, struct node **to EDGE_DATA,
                                 size_t count) {
    UNUSED_DATA;
    (void)graph;
    for (size_t k = 0; k < count; k++) {
        node_wait_for(to[k], from[k]);
    }
    return SUCCESS;
}

static void disconnect(struct node *node, const struct node *other) {
    size_t kept = 0;
    for (size_t k = 0; k < node->count; k++) {
        if (node->after[k] != other) {
            node->after[kept++] = node->after[k];
        }
    }
    node->count = kept;
}

API int cudaGraphRemoveDependencies(struct graph *graph, struct node **from,
                                    struct node **to EDGE_DATA, size_t count) {
    UNUSED_DATA;
    (void)graph;
    for (size_t k = 0; k < count; k++) {
        disconnect(to[k], from[k]);
    }
    return SUCCESS;
}

API int cudaGraphDestroyNode(struct node *node) {
    struct graph *graph = node->graph;
    struct node **place = &graph->first;
    while (*place && *place != node) {
        disconnect(*place, node);
        place = &(*place)->next;
    }
    for (struct node *later = node->next; later; later = later->next) {
        disconnect(later, node);
    }
    *place = node->next;
    if (!*place) {
        graph->last = place;
    }
    node_free(node);
    return SUCCESS;
}

// Lists: with no place for it, how long it is; else as much of it as there is room for.
static void listed(void **list, size_t room, size_t *count, void *item) {
    if (list && *count < room) {
        list[*count] = item;
    }
    ++*count;
}

static void finish_list(void **list, size_t room, size_t *count) {
    for (size_t k = *count; list && k < room; k++) {
        list[k] = NULL;
    }
    *count = list && *count > room ? room : *count;
}

API int cudaGraphGetNodes(struct graph *graph, struct node **nodes, size_t *count) {
    size_t room = *count;
    *count = 0;
    for (struct node *node = graph->first; node; node = node->next) {
        listed((void **)nodes, room, count, node);
    }
    finish_list((void **)nodes, room, count);
    return SUCCESS;
}

API int cudaGraphGetRootNodes(struct graph *graph, struct node **nodes, size_t *count) {
    size_t room = *count;
    *count = 0;
    for (struct node *node = graph->first; node; node = node->next) {
        if (node->count == 0) {
            listed((void **)nodes, room, count, node);
        }
    }
    finish_list((void **)nodes, room, count);
    return SUCCESS;
}

API int cudaGraphGetEdges(struct graph *graph, struct node **from, struct node **to EDGE_DATA,
                          size_t *count) {
    UNUSED_DATA;
    size_t room = *count, same = 0;
    *count = 0;
    for (struct node *node = graph->first; node; node = node->next) {
        for (size_t k = 0; k < node->count; k++) {
            listed((void **)from, room, count, node->after[k]);
            listed((void **)to, room, &same, node);
        }
    }
    finish_list((void **)to, room, &same);
    finish_list((void **)from, room, count);
    return SUCCESS;
}

API int cudaGraphNodeGetDependencies(struct node *node, struct node **others EDGE_DATA,
                                     size_t *count) {
    UNUSED_DATA;
    size_t room = *count;
    *count = 0;
    for (size_t k = 0; k < node->count; k++) {
        listed((void **)others, room, count, node->after[k]);
    }
    finish_list((void **)others, room, count);
    return SUCCESS;
}

API int cudaGraphNodeGetDependentNodes(struct node *node, struct node **others EDGE_DATA,
                                       size_t *count) {
    UNUSED_DATA;
    size_t room = *count;
    *count = 0;
    for (struct node *other = node->graph->first; other; other = other->next) {
        for (size_t k = 0; k < other->count; k++) {
            if (other->after[k] == node) {
                listed((void **)others, room, count, other);
            }
        }
    }
    finish_list((void **)others, room, count);
    return SUCCESS;
}

API int cudaGraphNodeGetType(struct node *node, int *kind) {
    *kind = (int)node->work.kind;
    return SUCCESS;
}

// Graphs that can be launched. Later parameters differ between versions; none of them matters here.

API int cudaGraphInstantiate(struct graph **out, struct graph *graph) {
    return cudaGraphClone(out, graph);
}

API int cudaGraphInstantiateWithFlags(struct graph **out, struct graph *graph) {
    return cudaGraphClone(out, graph);
}

API int cudaGraphInstantiateWithParams(struct graph **out, struct graph *graph) {
    return cudaGraphClone(out, graph);
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

API int cudaGraphLaunch(struct graph *graph, stream_t stream) {
    return report(graph ? graph_perform(graph, stream) : INVALID_VALUE);
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
