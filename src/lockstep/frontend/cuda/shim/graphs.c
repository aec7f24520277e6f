// Graphs as programs of either API see them: made, asked, copied, instantiated, updated, launched.

#include "graph_api.h"

enum { UPDATE_FAILURE = 910 };

API int NAME(GraphCreate)(struct graph **graph, unsigned flags) {
    if (!graph || flags) {
        return answer(INVALID_VALUE);
    }
    *graph = graph_new();
    return SUCCESS;
}

API int NAME(GraphDestroy)(struct graph *graph) {
    if (!graph_lives(graph) || graph->inner || graph_is_captured(graph)) {
        return answer(INVALID_VALUE);
    }
    graph_free(graph);
    return SUCCESS;
}

API int NAME(GraphExecDestroy)(struct graph *graph) {
    if (!graph_can_launch(graph)) {
        return answer(INVALID_VALUE);
    }
    graph_free(graph);
    return SUCCESS;
}

API int NAME(GraphClone)(struct graph **out, struct graph *graph) {
    if (!out || !graph_lives(graph)) {
        return answer(INVALID_VALUE);
    }
    if (graph_has_memory(graph)) {
        return answer(NOT_SUPPORTED);
    }
    *out = graph_duplicate(graph);
    return *out ? SUCCESS : answer(INVALID_VALUE);
}

API int NAME(GraphNodeFindInClone)(struct node **out, struct node *origin, struct graph *clone) {
    if (!out || !graph_lives(clone)) {
        return answer(INVALID_VALUE);
    }
    *out = graph_copy_of(clone, origin);
    return *out ? SUCCESS : answer(INVALID_VALUE);
}

API int NAME(GraphNodeGetType)(struct node *node, int *kind) {
    if (!kind || !node_lives(node)) {
        return answer(INVALID_VALUE);
    }
    *kind = (int)node->work.kind;
    return SUCCESS;
}

// Graphs that can be launched.

API int NAME(GraphInstantiateWithFlags)(struct graph **out, struct graph *graph,
                                        unsigned long long flags) {
    return answer(graph_instantiate(out, graph, flags));
}

#if RUNTIME > 11
API int NAME(GraphInstantiate)(struct graph **out, struct graph *graph, unsigned long long flags) {
    return answer(graph_instantiate(out, graph, flags));
}
#else
API int NAME(GraphInstantiate)(struct graph **out, struct graph *graph, struct node **problem,
                               char *text, size_t bytes) {
    if (problem) {
        *problem = NULL;
    }
    if (text && bytes) {
        *text = 0;
    }
    return answer(graph_instantiate(out, graph, 0));
}
#endif
#ifndef RUNTIME
ALSO(cuGraphInstantiate_v2, cuGraphInstantiate);
#endif

// cudaGraphInstantiateParams and cudaGraphInstantiateResult
struct instantiation {
    unsigned long long flags;
    stream_t upload;
    struct node *problem;
    int result;
};

API int NAME(GraphInstantiateWithParams)(struct graph **out, struct graph *graph,
                                         struct instantiation *how) {
    if (!how) {
        return answer(INVALID_VALUE);
    }
    int status = graph_instantiate(out, graph, how->flags);
    how->problem = NULL;
    how->result = status != SUCCESS;
    return answer(status);
}

API int NAME(GraphExecGetFlags)(const struct graph *graph, unsigned long long *flags) {
    if (!flags || !graph_can_launch(graph)) {
        return answer(INVALID_VALUE);
    }
    *flags = graph->flags;
    return SUCCESS;
}

// cudaGraphExecUpdateResultInfo, CUgraphExecUpdateResultInfo
struct update_result {
    int result;
    struct node *node, *from;
};

#if RUNTIME > 11 || !defined RUNTIME
API int NEW_NAME(GraphExecUpdate)(struct graph *out, struct graph *graph,
                                  struct update_result *about) {
    if (!about || !graph_can_launch(out) || !graph_lives(graph)) {
        return answer(INVALID_VALUE);
    }
    int result = graph_update(out, graph);
    *about = (struct update_result){.result = result};
    return result ? answer(UPDATE_FAILURE) : SUCCESS;
}
#endif

#if RUNTIME < 12
API int NAME(GraphExecUpdate)(struct graph *out, struct graph *graph, struct node **node,
                              int *result) {
    if (!node || !result || !graph_can_launch(out) || !graph_lives(graph)) {
        return answer(INVALID_VALUE);
    }
    *node = NULL;
    *result = graph_update(out, graph);
    return *result ? answer(UPDATE_FAILURE) : SUCCESS;
}
#endif

API int NAME(GraphUpload)(struct graph *graph, stream_t stream) {
    int status = graph_can_launch(graph) ? stream_check(stream) : INVALID_VALUE;
    return status ? answer(status) : SUCCESS;
}

API int NAME(GraphLaunch)(struct graph *graph, stream_t stream) {
    return answer(graph_launch(graph, handle_of(stream)));
}

API int NAME(GraphNodeSetEnabled)(struct graph *graph, struct node *node, unsigned enabled) {
    struct node *found = graph_can_launch(graph) ? graph_copy_of(graph, node) : NULL;
    if (found) {
        found->disabled = !enabled;
    }
    return found ? SUCCESS : answer(INVALID_VALUE);
}

API int NAME(GraphNodeGetEnabled)(struct graph *graph, struct node *node, unsigned *enabled) {
    struct node *found = graph_can_launch(graph) ? graph_copy_of(graph, node) : NULL;
    int status = found ? GIVE(enabled, !found->disabled) : INVALID_VALUE;
    return status ? answer(status) : SUCCESS;
}
