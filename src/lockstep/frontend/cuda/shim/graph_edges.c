// The edges of graphs, and lists of nodes, as programs of either API see them.

#include "graph_api.h"

// Both ends of each edge are nodes of the graph.
static bool are_edges(const struct graph *graph, struct node *const *from, struct node *const *to,
                      size_t count) {
    return graph_lives(graph) && graph_has_nodes(graph, from, count) &&
           graph_has_nodes(graph, to, count);
}

static int connect(const struct graph *graph, struct node *const *from, struct node *const *to,
                   size_t count) {
    if (!are_edges(graph, from, to, count)) {
        return answer(INVALID_VALUE);
    }
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

static int remove_edges(const struct graph *graph, struct node *const *from,
                        struct node *const *to, size_t count) {
    if (!are_edges(graph, from, to, count)) {
        return answer(INVALID_VALUE);
    }
    if (graph_has_memory(graph)) {
        return answer(NOT_SUPPORTED);
    }
    for (size_t k = 0; k < count; k++) {
        disconnect(to[k], from[k]);
    }
    return SUCCESS;
}

API int NAME(GraphDestroyNode)(struct node *node) {
    if (!node_lives(node) || graph_is_captured(node->graph)) {
        return answer(INVALID_VALUE);
    }
    struct graph *graph = node->graph;
    if (graph_has_memory(graph)) {
        return answer(NOT_SUPPORTED);
    }
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

API int NAME(GraphGetNodes)(struct graph *graph, struct node **nodes, size_t *count) {
    if (!count || !graph_lives(graph)) {
        return answer(INVALID_VALUE);
    }
    size_t room = *count;
    *count = 0;
    for (struct node *node = graph->first; node; node = node->next) {
        listed((void **)nodes, room, count, node);
    }
    finish_list((void **)nodes, room, count);
    return SUCCESS;
}

API int NAME(GraphGetRootNodes)(struct graph *graph, struct node **nodes, size_t *count) {
    if (!count || !graph_lives(graph)) {
        return answer(INVALID_VALUE);
    }
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

static int edges(const struct graph *graph, struct node **from, struct node **to, size_t *count) {
    if (!count || !from != !to || !graph_lives(graph)) {
        return answer(INVALID_VALUE);
    }
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

static int before(const struct node *node, struct node **others, size_t *count) {
    if (!count || !node_lives(node)) {
        return answer(INVALID_VALUE);
    }
    size_t room = *count;
    *count = 0;
    for (size_t k = 0; k < node->count; k++) {
        listed((void **)others, room, count, node->after[k]);
    }
    finish_list((void **)others, room, count);
    return SUCCESS;
}

static int behind(const struct node *node, struct node **others, size_t *count) {
    if (!count || !node_lives(node)) {
        return answer(INVALID_VALUE);
    }
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

#if RUNTIME < 13
API int NAME(GraphAddDependencies)(struct graph *graph, struct node **from, struct node **to,
                                   size_t count) {
    return connect(graph, from, to, count);
}

API int NAME(GraphRemoveDependencies)(struct graph *graph, struct node **from, struct node **to,
                                      size_t count) {
    return remove_edges(graph, from, to, count);
}

API int NAME(GraphGetEdges)(struct graph *graph, struct node **from, struct node **to,
                            size_t *count) {
    return edges(graph, from, to, count);
}

API int NAME(GraphNodeGetDependencies)(struct node *node, struct node **others, size_t *count) {
    return before(node, others, count);
}

API int NAME(GraphNodeGetDependentNodes)(struct node *node, struct node **others, size_t *count) {
    return behind(node, others, count);
}
#endif

API int WITH_DATA(GraphAddDependencies)(struct graph *graph, struct node **from, struct node **to,
                                        const void *data, size_t count) {
    (void)data;
    return connect(graph, from, to, count);
}

API int WITH_DATA(GraphRemoveDependencies)(struct graph *graph, struct node **from,
                                           struct node **to, const void *data, size_t count) {
    (void)data;
    return remove_edges(graph, from, to, count);
}

API int WITH_DATA(GraphGetEdges)(struct graph *graph, struct node **from, struct node **to,
                                 void *data, size_t *count) {
    (void)data;
    return edges(graph, from, to, count);
}

API int WITH_DATA(GraphNodeGetDependencies)(struct node *node, struct node **others, void *data,
                                            size_t *count) {
    (void)data;
    return before(node, others, count);
}

API int WITH_DATA(GraphNodeGetDependentNodes)(struct node *node, struct node **others, void *data,
                                              size_t *count) {
    (void)data;
    return behind(node, others, count);
}
