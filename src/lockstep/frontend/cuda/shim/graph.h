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
    ALLOCATE_NODE = 10,
    FREE_NODE,
    CONDITION_NODE = 13,
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

// cudaMemAllocNodeParams
struct allocation_parameters {
    char pool[88]; // cudaMemPoolProps
    const void *accesses;
    size_t access_count, bytes;
    void *address;
};
// cudaConditionalNodeParams
struct conditional_parameters {
    uint64_t handle;
    unsigned kind, size;
    struct graph **bodies; // made with the node, its own
};

// Memory that nodes allocate and free (graph_memory.c). `live`: programs may use it.
struct graph_memory {
    struct graph_memory *next;
    void *address;
    size_t bytes;
    unsigned references; // of nodes
    unsigned instances;  // of graphs that allocate it and can be launched: one at most
    bool live;
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
        struct {
            struct allocation_parameters parameters;
            struct graph_memory *memory;
        } allocation;
        struct graph_memory *freed;
        struct conditional_parameters condition;
    } of;
    bool boxed; // a copy of a box
};

int work_allocation(struct work *work, struct allocation_parameters *given);
int work_release(struct work *work, const struct graph *graph, const void *address);
int work_condition(struct work *work, struct graph *graph, struct conditional_parameters *given);
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
    struct condition *conditions; // whose handles it has
    const struct graph *around;   // of a body: the graph that has its node
    unsigned long long flags;     // cudaGraphInstantiateFlags, of one that can be launched
    bool instance;
};

struct graph *graph_new(void);
void graph_free(struct graph *graph);
struct node *graph_add(struct graph *graph, struct work work, struct node *const *after,
                       size_t count);
void node_free(struct node *node);
void node_wait_for(struct node *node, struct node *other);
struct node *graph_copy_of(const struct graph *graph, const struct node *origin);
int graph_perform(const struct graph *graph, stream_t stream);
struct graph *graph_duplicate(const struct graph *graph);
bool graph_has(const struct graph *graph, enum kind kind); // also in a graph within it
bool graph_has_memory(const struct graph *graph);          // nodes that allocate or free

// In a graph that can be launched the copy of the node is meant; `graph` is NULL in other cases.
int node_replace(struct graph *graph, struct node *node, struct work work);

int graph_memory_new(size_t bytes, struct graph_memory **out);
struct graph_memory *graph_memory_at(const void *address);
struct graph_memory *graph_memory_share(struct graph_memory *memory);
void graph_memory_drop(struct graph_memory *memory);
int graph_memory_begin(struct graph_memory *memory);
int graph_memory_end(struct graph_memory *memory);

void conditions_share(struct graph *to, const struct graph *from);
void conditions_drop(struct graph *graph);
int conditions_begin(const struct graph *graph);
void conditional_duplicate(struct conditional_parameters *condition);
void conditional_free(struct conditional_parameters *condition);
int conditional_perform(const struct conditional_parameters *condition, stream_t stream);
bool conditional_is_right(const struct conditional_parameters *condition);
bool graph_is_body(const struct graph *graph);
