// Graphs: nodes of work and what they wait for. A graph that can be launched is a copy of the nodes
// in an order in which each comes after those that it waits for.

#pragma once

#include "runtime.h"

// cudaGraphNodeType
enum kind {
    KERNEL_NODE,
    COPY_NODE,
    FILL_NODE,
    CALL_NODE,
    GRAPH_NODE,
    EMPTY_NODE,
    WAIT_NODE,
    RECORD_NODE,
};

// cudaKernelNodeParams, cudaMemsetParams, cudaHostNodeParams
struct kernel_parameters {
    const void *function;
    struct dim3 grid, block;
    unsigned shared;
    void **arguments, **extra;
};
struct fill_parameters {
    void *address;
    size_t pitch;
    unsigned value, unit;
    size_t width, rows; // width in units
};
struct call_parameters {
    void (*function)(void *);
    void *data;
};

// What a node does. The values of a kernel's parameters and an inner graph are its own.
struct work {
    enum kind kind;
    union {
        struct {
            const void *function;
            struct kernel *kernel;
            struct shape shape;
            void *block;
        } launch;
        struct {
            struct region to, source;
            size_t width, rows;
        } copy;
        struct box_copy box;
        struct fill_parameters fill;
        struct call_parameters call;
        struct graph *graph;
        event_t event;
    } of;
    bool boxed; // a copy of a box
};

int work_launch(struct work *work, const struct kernel_parameters *parameters);
struct work work_copy_bytes(void *to, const void *source, size_t bytes);
struct work work_duplicate(const struct work *work);
void work_free(struct work *work);
int work_perform(const struct work *work, stream_t stream);

struct node {
    struct node *next;
    struct graph *graph;
    struct work work;
    struct node **after; // which it waits for
    size_t count;
    struct node *origin; // in a copy of a graph: what it is a copy of
    bool disabled, placed;
};

struct graph {
    struct node *first, **last;
};

struct graph *graph_new(void);
void graph_free(struct graph *graph);
struct node *graph_add(struct graph *graph, struct work work, struct node *const *after,
                       size_t count);
void node_wait_for(struct node *node, struct node *other);
struct node *graph_copy_of(const struct graph *graph, const struct node *origin);
int graph_perform(const struct graph *graph, stream_t stream);
struct graph *graph_duplicate(const struct graph *graph);
