// Graphs: nodes of work and what they wait for. A graph that can be launched is a copy of the nodes
// in an order in which each comes after those that it waits for. Both APIs have the same graphs, and
// structures of the same layout to describe their nodes.

#pragma once

#include "gpu.h"

// cudaGraphNodeType, CUgraphNodeType
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
    OPERATIONS_NODE, // on words of memory
    CONDITION_NODE,
};

// cudaKernelNodeParams, with which CUDA_KERNEL_NODE_PARAMS begins
struct kernel_parameters {
    const void *function;
    unsigned grid[3], block[3], shared;
    void **arguments, **extra;
};
// cudaMemsetParams, CUDA_MEMSET_NODE_PARAMS
struct fill_parameters {
    void *address;
    size_t pitch;
    unsigned value, unit;
    size_t width, rows; // width in units
};
// cudaHostNodeParams, CUDA_HOST_NODE_PARAMS
struct call_parameters {
    void (*function)(void *);
    void *data;
};
// cudaMemAllocNodeParams, CUDA_MEM_ALLOC_NODE_PARAMS
struct allocation_parameters {
    char pool[88]; // cudaMemPoolProps
    const void *accesses;
    size_t access_count, bytes;
    void *address;
};
// cudaConditionalNodeParams, CUDA_CONDITIONAL_NODE_PARAMS
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

// Who described a copy by a structure that programs get back, each API having its own.
enum described_by { NOBODY, RUNTIME_API, DRIVER_API };
enum { BOX_PARAMETERS = 200 }; // bytes of the longer one, CUDA_MEMCPY3D

// CUstreamBatchMemOpParams: what is waited for, or written
struct memory_operation {
    unsigned kind;
    uint64_t address, value;
    unsigned flags;
    uint64_t alias, unused;
};

// What a node does. The values of a kernel's parameters and an inner graph are its own.
struct work {
    enum kind kind;
    union {
        struct {
            struct kernel *kernel;
            struct shape shape;
            void *block;
        } launch;
        struct {
            struct box box;
            enum described_by by;
            char parameters[BOX_PARAMETERS];
        } copy;
        struct fill_parameters fill;
        struct call_parameters call;
        struct graph *graph;
        uint64_t event;
        struct {
            struct allocation_parameters parameters;
            struct graph_memory *memory;
        } allocation;
        struct graph_memory *freed;
        struct conditional_parameters condition;
        struct {
            struct memory_operation *list;
            unsigned count;
        } operations;
    } of;
};

int work_allocation(struct work *work, struct allocation_parameters *given);
int work_release(struct work *work, const struct graph *graph, const void *address);
int work_condition(struct work *work, struct graph *graph, struct conditional_parameters *given);
int work_operations(struct work *work, const struct memory_operation *list, unsigned count);
int work_launch(struct work *work, struct kernel *kernel, const struct kernel_parameters *given);
struct work work_copy(struct region to, struct region source, size_t width, size_t rows);
struct work work_duplicate(const struct work *work);
void work_free(struct work *work);
int work_perform(const struct work *work, uint64_t stream);

struct node {
    struct node *next;
    struct graph *graph;
    struct work work;
    struct node **after; // which it waits for
    size_t count;
    int device;          // on which the work is done
    struct node *origin; // in a copy of a graph: what it is a copy of
    bool disabled, placed;
    size_t step;             // of the graph's plan
    const struct node *twin; // while graphs are compared
};

struct graph {
    struct node *first, **last;
    struct condition *conditions; // whose handles it has
    struct owned *owned;          // the program's objects
    const struct graph *around;   // of a body: the graph that has its node
    unsigned long long flags;     // cudaGraphInstantiateFlags, of one that can be launched
    bool instance, inner;         // can be launched; is a node's own
    struct plan *plan;            // how its nodes are performed, once they were
};

// Graphs and their nodes (graph.c)

static inline bool graph_lives(const struct graph *graph) {
    return handle_get(GRAPH_HANDLE, graph) && !graph->instance;
}
static inline bool graph_can_launch(const struct graph *graph) {
    return handle_get(GRAPH_HANDLE, graph) && graph->instance;
}
static inline bool node_lives(const struct node *node) {
    return handle_get(NODE_HANDLE, node) != NULL;
}
static inline bool node_is(const struct node *node, enum kind kind) {
    return node_lives(node) && node->work.kind == kind;
}

// Whether all of an array are nodes of the graph; without one, none may be asked for.
bool graph_has_nodes(const struct graph *graph, struct node *const *nodes, size_t count);

struct graph *graph_new(void);
void graph_free(struct graph *graph);
struct node *graph_add(struct graph *graph, int device, struct work work,
                       struct node *const *after, size_t count);
void node_free(struct node *node);
void node_wait_for(struct node *node, struct node *other);
struct node *graph_copy_of(const struct graph *graph, const struct node *origin);
int graph_perform(struct graph *graph, uint64_t stream); // of the thread's device (graph_plan.c)
void plan_free(struct plan *plan);
struct graph *graph_duplicate(const struct graph *graph);
bool graph_has(const struct graph *graph, enum kind kind); // also in a graph within it
bool graph_has_memory(const struct graph *graph);          // nodes that allocate or free

// In a graph that can be launched the copy of the node is meant; `graph` is NULL in other cases.
int node_replace(struct graph *graph, struct node *node, struct work work);

int graph_instantiate(struct graph **out, struct graph *graph, unsigned long long flags);
int graph_update(struct graph *out, const struct graph *graph); // a cudaGraphExecUpdateResult
int graph_launch(struct graph *graph, uint64_t stream);

// Objects of the program that graphs own (user_objects.c)

struct user_object *user_object_new(void *data, void (*end)(void *), unsigned references);
void user_object_retain(struct user_object *object, unsigned count);
int user_object_release(struct user_object *object, unsigned count);
void graph_own(struct graph *graph, struct user_object *object, unsigned count);
int graph_disown(struct graph *graph, struct user_object *object, unsigned count);
void graph_share_owned(struct graph *to, const struct graph *from);
void graph_drop_owned(struct graph *graph);

// Stream capture (capture.c): what is known of a stream; where nothing is captured all is zero.
struct capture {
    unsigned long long id;
    struct graph *graph;
    struct node **after; // which the next node waits for
    size_t count;
    bool invalid; // it can only be ended, and gives no graph
};
int capture_begin(uint64_t stream, int mode, struct graph *graph, struct node *const *after,
                  size_t count);
int capture_end(uint64_t stream, struct graph **graph);
struct capture capture_of(uint64_t stream);
int capture_set_after(uint64_t stream, struct node *const *after, size_t count, bool keep);
bool capture_add(uint64_t stream, struct work work); // false: the stream is not captured
bool capture_record(uint64_t stream, uint64_t event, int *status);
bool capture_wait(uint64_t stream, uint64_t event, int *status);
int capture_spoil(uint64_t handle, int status); // the status if it is captured, which it was till now
bool graph_is_captured(const struct graph *graph);   // into which streams are captured now

// Operations on words of memory (memory_operations.c)

// Does it in a stream that is not captured, or keeps it: it is not the caller's any more (enqueue.c).
int stream_work(uint64_t stream, struct work work);
int stream_operate(uint64_t stream, const struct memory_operation *list, unsigned count);
int memory_operations_perform(const struct memory_operation *list, unsigned count, uint64_t stream);
int memory_operation_test(const struct memory_operation *operation, bool *ready);
void memory_operation_describe(const struct memory_operation *operation, char *text, size_t size);

// Streams that wait for a value in memory, or for a function (held.c)

struct host_call;

int held_add(uint64_t stream, struct work work);
int held_value(uint64_t stream, const struct memory_operation *value);
void held_await(uint64_t stream, uint64_t event);
void held_free(uint64_t stream, uint64_t address);
void held_progress(void);     // does what can be done by now
unsigned held_advances(void); // how often something was done
bool held_is_any(void);       // on the device that is set
bool held_is_calling(void);   // a function of the program, which may take any time
void held_describe(char *text, size_t size);
void held_abandon(void);
int held_take_error(void); // the first one of what was done

// Waiting for them (patience.c)

int held_poll(const struct memory_operation *value);

void held_call(uint64_t stream, struct host_call *call); // what follows waits for it

// Functions of the program (host_functions.c). Who starts one drops it.

struct host_call *host_call_start(const struct call_parameters *what);
bool host_call_wait(struct host_call *call);  // for a moment; whether it has returned
bool host_call_leave(struct host_call *call); // the same at once
void host_call_drop(struct host_call *call);

// Memory of graphs (graph_memory.c)

int graph_memory_new(size_t bytes, struct graph_memory **out);
struct graph_memory *graph_memory_at(const void *address);
struct graph_memory *graph_memory_share(struct graph_memory *memory);
void graph_memory_drop(struct graph_memory *memory);
int graph_memory_begin(struct graph_memory *memory);
int graph_memory_end(struct graph_memory *memory);
int graph_memory_get(int attribute, uint64_t *value); // cudaGraphMemAttributeType
int graph_memory_set(int attribute, const uint64_t *value);
void graph_memory_trim(void);

// Conditions (graph_conditions.c)

int condition_new(uint64_t *handle, struct graph *graph, unsigned initial, unsigned flags);
void conditions_share(struct graph *to, const struct graph *from);
void conditions_drop(struct graph *graph);
int conditions_begin(const struct graph *graph);
void conditional_duplicate(struct conditional_parameters *condition);
void conditional_free(struct conditional_parameters *condition);
int conditional_perform(const struct conditional_parameters *condition, uint64_t stream);
bool conditional_is_right(const struct conditional_parameters *condition);
bool graph_is_body(const struct graph *graph);
