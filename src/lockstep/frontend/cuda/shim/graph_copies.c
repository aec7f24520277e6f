// Nodes of graphs that copy bytes in a row, which the runtime API alone has.

#include "graph_api.h"

static struct work copied(void *to, const void *source, size_t bytes) {
    return work_copy((struct region){to, bytes}, (struct region){(void *)source, bytes}, bytes, 1);
}

API int cudaGraphAddMemcpyNode1D(struct node **out, struct graph *graph, struct node **after,
                                 size_t count, void *to, const void *source, size_t bytes,
                                 int kind) {
    (void)kind;
    return add_node(out, graph, after, count, copied(to, source, bytes));
}

API int cudaGraphMemcpyNodeSetParams1D(struct node *node, void *to, const void *source,
                                       size_t bytes, int kind) {
    (void)kind;
    return report(node_replace(NULL, node, copied(to, source, bytes)));
}

API int cudaGraphExecMemcpyNodeSetParams1D(struct graph *graph, struct node *node, void *to,
                                           const void *source, size_t bytes, int kind) {
    (void)kind;
    return report(graph_can_launch(graph) ? node_replace(graph, node, copied(to, source, bytes))
                                          : INVALID_VALUE);
}

API int cudaGraphAddMemcpyNodeToSymbol(struct node **out, struct graph *graph, struct node **after,
                                       size_t count, const void *shadow, const void *source,
                                       size_t bytes, size_t offset, int kind) {
    (void)kind;
    void *address;
    int status = inside_symbol(&address, shadow, offset, bytes);
    return status ? status
                  : add_node(out, graph, after, count,
                             copied(address, source, bytes));
}

API int cudaGraphAddMemcpyNodeFromSymbol(struct node **out, struct graph *graph,
                                         struct node **after, size_t count, void *to,
                                         const void *shadow, size_t bytes, size_t offset,
                                         int kind) {
    (void)kind;
    void *address;
    int status = inside_symbol(&address, shadow, offset, bytes);
    return status ? status
                  : add_node(out, graph, after, count,
                             copied(to, address, bytes));
}

// Other symbols for such a node; `graph` is NULL but for one that can be launched.

static int copy_to(struct graph *graph, struct node *node, const void *shadow, const void *source,
                   size_t bytes, size_t offset) {
    void *address;
    int status = inside_symbol(&address, shadow, offset, bytes);
    return status ? status : report(node_replace(graph, node, copied(address, source, bytes)));
}

static int copy_from(struct graph *graph, struct node *node, void *to, const void *shadow,
                     size_t bytes, size_t offset) {
    void *address;
    int status = inside_symbol(&address, shadow, offset, bytes);
    return status ? status : report(node_replace(graph, node, copied(to, address, bytes)));
}

API int cudaGraphMemcpyNodeSetParamsToSymbol(struct node *node, const void *shadow,
                                             const void *source, size_t bytes, size_t offset,
                                             int kind) {
    (void)kind;
    return copy_to(NULL, node, shadow, source, bytes, offset);
}

API int cudaGraphMemcpyNodeSetParamsFromSymbol(struct node *node, void *to, const void *shadow,
                                               size_t bytes, size_t offset, int kind) {
    (void)kind;
    return copy_from(NULL, node, to, shadow, bytes, offset);
}

API int cudaGraphExecMemcpyNodeSetParamsToSymbol(struct graph *graph, struct node *node,
                                                 const void *shadow, const void *source,
                                                 size_t bytes, size_t offset, int kind) {
    (void)kind;
    return graph_can_launch(graph) ? copy_to(graph, node, shadow, source, bytes, offset)
                                   : report(INVALID_VALUE);
}

API int cudaGraphExecMemcpyNodeSetParamsFromSymbol(struct graph *graph, struct node *node, void *to,
                                                   const void *shadow, size_t bytes, size_t offset,
                                                   int kind) {
    (void)kind;
    return graph_can_launch(graph) ? copy_from(graph, node, to, shadow, bytes, offset)
                                   : report(INVALID_VALUE);
}
