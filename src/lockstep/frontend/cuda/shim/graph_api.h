// The functions of graphs, which both APIs have: a source that includes this is compiled for each, as
// cudaGraphLaunch and as cuGraphLaunch. RUNTIME is defined in the runtime API alone.

#pragma once

#include "graph.h"

#ifdef RUNTIME
#include "runtime.h"
#define NAME(call) cuda##call
#define NEW_NAME(call) cuda##call
#define answer(status) report(status)
#define THIS_API RUNTIME_API

struct kernel_given {
    struct kernel_parameters common;
};
#else
#include "driver.h"
#define NAME(call) cu##call
#define NEW_NAME(call) cu##call##_v2 // of a function whose structures have grown
#define answer(status) translate(status)
#define THIS_API DRIVER_API

// CUDA_KERNEL_NODE_PARAMS
struct kernel_given {
    struct kernel_parameters common;
    struct kernel *kernel; // counts if there is no function
    context_t context;
};
#endif

// Programs may give data of each edge, which says how kernels overlap: not here. Those of the runtime
// API of CUDA 13 always do, others by functions of another name.
#if RUNTIME > 12
#define WITH_DATA(call) NAME(call)
#else
#define WITH_DATA(call) NAME(call##_v2)
#endif

int describe_kernel(struct work *work, const struct kernel_given *given); // graph_nodes.c
int describe_copy(struct work *work, const struct box_copy *given);
int describe_child(struct work *work, const struct graph *child);
int describe_event(struct work *work, enum kind kind, event_t event);
// To be asked before the node is described: what is allocated for that may take the place of a graph
// that is gone.
bool can_add_node(struct node **out, const struct graph *graph, struct node *const *after,
                  size_t count);
int add_node(struct node **out, struct graph *graph, struct node *const *after, size_t count,
             struct work work);
