// What graphs have besides nodes and edges, as programs of either API see it: objects of the program's
// that they own, attributes of their kernels, a picture.

#include <stdio.h>
#include <string.h>

#include "graph_api.h"

enum { MOVE = 1 }; // cudaGraphUserObjectMove: the graph gets references that the program had

API int NAME(UserObjectCreate)(struct user_object **out, void *data, void (*end)(void *),
                               unsigned references, unsigned flags) {
    if (!out || !end || !references || flags != 1) { // cudaUserObjectNoDestructorSync
        return answer(INVALID_VALUE);
    }
    *out = user_object_new(data, end, references);
    return SUCCESS;
}

API int NAME(UserObjectRetain)(struct user_object *object, unsigned count) {
    if (!count || !handle_get(USER_OBJECT_HANDLE, object)) {
        return answer(INVALID_VALUE);
    }
    user_object_retain(object, count);
    return SUCCESS;
}

API int NAME(UserObjectRelease)(struct user_object *object, unsigned count) {
    bool right = count && handle_get(USER_OBJECT_HANDLE, object);
    return answer(right ? user_object_release(object, count) : INVALID_VALUE);
}

API int NAME(GraphRetainUserObject)(struct graph *graph, struct user_object *object,
                                    unsigned count, unsigned flags) {
    if (!graph_lives(graph) || !handle_get(USER_OBJECT_HANDLE, object) || !count || flags > MOVE) {
        return answer(INVALID_VALUE);
    }
    if (!(flags & MOVE)) {
        user_object_retain(object, count);
    }
    graph_own(graph, object, count);
    return SUCCESS;
}

API int NAME(GraphReleaseUserObject)(struct graph *graph, struct user_object *object,
                                     unsigned count) {
    return answer(graph_lives(graph) && count ? graph_disown(graph, object, count) : INVALID_VALUE);
}

// Attributes of kernels; those on which nothing depends are not kept.

typedef __typeof__(((struct launch_attribute *)0)->value) attribute_t;

API int NAME(GraphKernelNodeSetAttribute)(struct node *node, int attribute,
                                          const attribute_t *value) {
    if (!node_is(node, KERNEL_NODE) || !value) {
        return answer(INVALID_VALUE);
    }
    const struct launch_attribute given = {.id = attribute, .value = *value};
    return answer(launch_attributes(&given, 1, &node->work.of.launch.shape));
}

API int NAME(GraphKernelNodeGetAttribute)(struct node *node, int attribute, attribute_t *value) {
    if (!node_is(node, KERNEL_NODE) || !value) {
        return answer(INVALID_VALUE);
    }
    const struct shape *shape = &node->work.of.launch.shape;
    memset(value, 0, sizeof *value);
    if (attribute == COOPERATIVE) {
        value->number = shape->cooperative;
    } else if (attribute == CLUSTER_DIMENSION) {
        memcpy(value->cluster, shape->cluster, sizeof shape->cluster);
    }
    return SUCCESS;
}

API int NAME(GraphKernelNodeCopyAttributes)(struct node *source, struct node *to) {
    if (!node_is(source, KERNEL_NODE) || !node_is(to, KERNEL_NODE)) {
        return answer(INVALID_VALUE);
    }
    const struct shape *from = &source->work.of.launch.shape;
    struct shape *shape = &to->work.of.launch.shape;
    shape->cooperative = from->cooperative;
    memcpy(shape->cluster, from->cluster, sizeof shape->cluster);
    return SUCCESS;
}

static const char *label_of(const struct node *node) {
    static const char *const labels[] = {
        [COPY_NODE] = "memcpy",        [FILL_NODE] = "memset",
        [CALL_NODE] = "host",          [GRAPH_NODE] = "graph",
        [EMPTY_NODE] = "empty",        [WAIT_NODE] = "event wait",
        [RECORD_NODE] = "event record", [ALLOCATE_NODE] = "allocate",
        [OPERATIONS_NODE] = "memory operations",
        [FREE_NODE] = "free",          [CONDITION_NODE] = "conditional",
    };
    const struct work *work = &node->work;
    return work->kind == KERNEL_NODE ? work->of.launch.kernel->name : labels[work->kind];
}

static int number_of(const struct graph *graph, const struct node *node) {
    int number = 0;
    for (const struct node *other = graph->first; other && other != node; other = other->next) {
        number++;
    }
    return number;
}

API int NAME(GraphDebugDotPrint)(struct graph *graph, const char *path, unsigned flags) {
    (void)flags;
    FILE *file = graph_lives(graph) && path ? fopen(path, "w") : NULL;
    if (!file) {
        return answer(INVALID_VALUE);
    }
    fprintf(file, "digraph dot {\n");
    for (const struct node *node = graph->first; node; node = node->next) {
        int number = number_of(graph, node);
        fprintf(file, "    n%d [label=\"%d: %s\"];\n", number, number, label_of(node));
        for (size_t k = 0; k < node->count; k++) {
            fprintf(file, "    n%d -> n%d;\n", number_of(graph, node->after[k]), number);
        }
    }
    fprintf(file, "}\n");
    return fclose(file) ? answer(INVALID_VALUE) : SUCCESS;
}
