// Stream capture and graphs: what a program enqueues while it captures is kept, in order, and done at
// each launch of the graph. Graphs that are built node by node are not supported.

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

enum kind { LAUNCH, COPY, FILL };
enum { CAPTURING = 1, ILLEGAL_STATE = 401, CAPTURE_UNSUPPORTED = 900 };

struct node {
    struct node *next;
    enum kind kind;
    struct kernel *kernel;
    struct shape shape;
    void *block; // the parameters' values
    struct region to, source;
    size_t width, rows;
    uint64_t value;
};

struct graph {
    struct node *first, **last;
};

static struct graph *current; // being captured
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

bool capture_active(uint64_t stream) {
    return stream && current;
}

static int add(struct node node) {
    struct node *kept = malloc(sizeof *kept);
    *kept = node;
    kept->next = NULL;
    pthread_mutex_lock(&lock);
    *current->last = kept;
    current->last = &kept->next;
    pthread_mutex_unlock(&lock);
    return SUCCESS;
}

int capture_launch(struct kernel *kernel, const struct shape *shape, void **arguments) {
    int status = kernel_find(kernel);
    return status ? status
                  : add((struct node){.kind = LAUNCH,
                                      .kernel = kernel,
                                      .shape = *shape,
                                      .block = kernel_block(kernel, arguments)});
}

int capture_copy(struct region to, struct region source, size_t width, size_t rows) {
    return add((struct node){
        .kind = COPY, .to = to, .source = source, .width = width, .rows = rows});
}

int capture_fill(struct region to, uint64_t value, size_t width, size_t rows) {
    return add(
        (struct node){.kind = FILL, .to = to, .value = value, .width = width, .rows = rows});
}

API int cudaStreamBeginCapture(stream_t stream, int mode) {
    (void)mode;
    if (!stream || current) {
        return report(stream ? ILLEGAL_STATE : CAPTURE_UNSUPPORTED);
    }
    struct graph *graph = calloc(1, sizeof *graph);
    graph->last = &graph->first;
    current = graph;
    return SUCCESS;
}

API int cudaStreamEndCapture(stream_t stream, struct graph **graph) {
    (void)stream;
    *graph = current;
    current = NULL;
    return *graph ? SUCCESS : report(ILLEGAL_STATE);
}

API int cudaStreamIsCapturing(stream_t stream, int *capturing) {
    *capturing = capture_active(handle_of(stream)) ? CAPTURING : 0;
    return SUCCESS;
}

// A graph that can be launched shares the nodes; they live as long as the program. Later parameters
// differ between versions, and none of them matters here.
API int cudaGraphInstantiate(struct graph **out, struct graph *graph) {
    if (!graph) {
        return report(INVALID_VALUE);
    }
    *out = malloc(sizeof **out);
    **out = *graph;
    return SUCCESS;
}

API int cudaGraphInstantiateWithFlags(struct graph **out, struct graph *graph) {
    return cudaGraphInstantiate(out, graph);
}

API int cudaGraphExecUpdate(struct graph *out, struct graph *graph) {
    *out = *graph;
    return SUCCESS;
}

API int cudaGraphUpload(struct graph *graph, stream_t stream) {
    (void)graph, (void)stream;
    return SUCCESS;
}

API int cudaGraphDestroy(struct graph *graph) {
    free(graph);
    return SUCCESS;
}

API int cudaGraphExecDestroy(struct graph *graph) {
    free(graph);
    return SUCCESS;
}

static int perform(const struct node *node, stream_t stream) {
    struct shape shape = node->shape;
    shape.stream = handle_of(stream);
    switch (node->kind) {
    case LAUNCH:
        return kernel_launch(node->kernel, &shape, NULL, node->block,
                             node->kernel->facts.parameter_bytes);
    case COPY:
        return copy_rectangle(node->to, node->source, node->width, node->rows);
    default:
        return fill_rectangle(node->to, node->value, 1, node->width, node->rows);
    }
}

API int cudaGraphLaunch(struct graph *graph, stream_t stream) {
    int status = graph ? SUCCESS : INVALID_VALUE;
    for (struct node *node = graph ? graph->first : NULL; node && !status; node = node->next) {
        status = perform(node, stream);
    }
    return report(status);
}
