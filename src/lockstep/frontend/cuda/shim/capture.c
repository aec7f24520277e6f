// Stream capture: what a program enqueues in a stream that is captured becomes a node of a graph. A
// stream that waits for an event of a captured stream is captured with it. The nodes of a graph keep
// the order of their calls, each after the one before, unless the program says what comes next.

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "graph.h"

enum { ADD_DEPENDENCIES = 0 }; // cudaStreamUpdateCaptureDependenciesFlags
enum { CAPTURING = 1, MOST = 256, ILLEGAL_STATE = 401, UNSUPPORTED_CAPTURE = 900 };

// Streams that are captured, and events that were recorded in them, with their graph.
static struct captured {
    uint64_t handle;
    struct graph *graph;
    bool began;           // capturing began in this stream; its entry has the following
    struct node **after;  // which the next node waits for
    size_t after_count;
    unsigned long long id;
} captured[MOST];
static size_t count;
static unsigned long long captures;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct captured *find(uint64_t handle) {
    for (size_t k = 0; handle && k < count; k++) {
        if (captured[k].handle == handle) {
            return &captured[k];
        }
    }
    return NULL;
}

static struct captured *beginning(const struct graph *graph) {
    for (size_t k = 0; k < count; k++) {
        if (captured[k].graph == graph && captured[k].began) {
            return &captured[k];
        }
    }
    return NULL;
}

static bool enter(uint64_t handle, struct graph *graph, bool began) {
    struct captured *known = find(handle);
    if (!known && count == MOST) {
        return false;
    }
    known = known ? known : &captured[count++];
    *known = (struct captured){.handle = handle, .graph = graph, .began = began};
    return true;
}

bool capture_active(uint64_t stream) {
    pthread_mutex_lock(&lock);
    bool active = find(stream) != NULL;
    pthread_mutex_unlock(&lock);
    return active;
}

static void set_after(struct captured *first, struct node *const *after, size_t count, bool keep) {
    size_t old = keep ? first->after_count : 0;
    first->after = realloc(first->after, (old + count + 1) * sizeof *first->after);
    if (count) {
        memcpy(first->after + old, after, count * sizeof *after);
    }
    first->after_count = old + count;
}

static int add(uint64_t stream, struct work work) {
    pthread_mutex_lock(&lock);
    struct captured *first = beginning(find(stream)->graph);
    struct node *node = graph_add(first->graph, work, first->after, first->after_count);
    set_after(first, &node, 1, false);
    pthread_mutex_unlock(&lock);
    return SUCCESS;
}

int capture_launch(struct kernel *kernel, const struct shape *shape, void **arguments) {
    int status = kernel_find(kernel);
    if (status) {
        return status;
    }
    struct work work = {.kind = KERNEL_NODE};
    work.of.launch.function = kernel;
    work.of.launch.kernel = kernel;
    work.of.launch.shape = *shape;
    work.of.launch.block = kernel_block(kernel, arguments);
    return add(shape->stream, work);
}

int capture_copy(stream_t stream, struct region to, struct region source, size_t width,
                 size_t rows) {
    struct work work = {.kind = COPY_NODE};
    work.of.copy.to = to;
    work.of.copy.source = source;
    work.of.copy.width = width;
    work.of.copy.rows = rows;
    return add(handle_of(stream), work);
}

int capture_box(stream_t stream, const struct box_copy *copy) {
    struct work work = {.kind = COPY_NODE, .of.box = *copy, .boxed = true};
    return add(handle_of(stream), work);
}

int capture_fill(stream_t stream, struct region to, uint64_t value, size_t width, size_t rows) {
    struct fill_parameters fill = {to.address, to.pitch, (unsigned)value, 1, width, rows};
    return add(handle_of(stream), (struct work){.kind = FILL_NODE, .of.fill = fill});
}

int capture_call(stream_t stream, void (*function)(void *), void *data) {
    struct call_parameters call = {function, data};
    return add(handle_of(stream), (struct work){.kind = CALL_NODE, .of.call = call});
}

int capture_allocate(stream_t stream, size_t bytes, void **address) {
    struct allocation_parameters given = {.bytes = bytes};
    struct work work;
    int status = work_allocation(&work, &given);
    *address = given.address;
    return report(status ? status : add(handle_of(stream), work));
}

int capture_free(stream_t stream, void *address) {
    struct work work;
    pthread_mutex_lock(&lock);
    const struct graph *graph = find(handle_of(stream))->graph;
    pthread_mutex_unlock(&lock);
    int status = work_release(&work, graph, address);
    return report(status ? status : add(handle_of(stream), work));
}

bool capture_event(stream_t stream, event_t event) {
    pthread_mutex_lock(&lock);
    const struct captured *from = find(handle_of(stream));
    bool done = from && enter(handle_of(event), from->graph, false);
    pthread_mutex_unlock(&lock);
    return done;
}

bool capture_wait(stream_t stream, event_t event) {
    pthread_mutex_lock(&lock);
    const struct captured *from = find(handle_of(event));
    bool done = from && (find(handle_of(stream)) || enter(handle_of(stream), from->graph, false));
    pthread_mutex_unlock(&lock);
    return done;
}

// The mode says which other calls are illegal meanwhile: none is here.
static int begin(stream_t stream, struct graph *graph, struct node *const *after, size_t n) {
    if (!stream) {
        return UNSUPPORTED_CAPTURE;
    }
    pthread_mutex_lock(&lock);
    bool fresh = !find(handle_of(stream)) && (!graph || !beginning(graph));
    graph = fresh && !graph ? graph_new() : graph;
    fresh = fresh && enter(handle_of(stream), graph, true);
    if (fresh) {
        struct captured *first = find(handle_of(stream));
        set_after(first, after, n, false);
        first->id = ++captures;
    }
    pthread_mutex_unlock(&lock);
    return fresh ? SUCCESS : ILLEGAL_STATE;
}

API int cudaStreamBeginCapture(stream_t stream, int mode) {
    (void)mode;
    return report(begin(stream, NULL, NULL, 0));
}

API int cudaStreamBeginCaptureToGraph(stream_t stream, struct graph *graph,
                                      struct node *const *after, const void *edges, size_t nodes,
                                      int mode) {
    (void)edges, (void)mode;
    return report(graph ? begin(stream, graph, after, nodes) : INVALID_VALUE);
}

API int cudaStreamEndCapture(stream_t stream, struct graph **graph) {
    pthread_mutex_lock(&lock);
    const struct captured *first = find(handle_of(stream));
    *graph = first && first->began ? first->graph : NULL;
    size_t kept = 0;
    for (size_t k = 0; k < count; k++) {
        if (!*graph || captured[k].graph != *graph) {
            captured[kept++] = captured[k];
        } else {
            free(captured[k].after);
        }
    }
    count = kept;
    pthread_mutex_unlock(&lock);
    return *graph ? SUCCESS : report(ILLEGAL_STATE);
}

API int cudaStreamIsCapturing(stream_t stream, int *capturing) {
    *capturing = capture_active(handle_of(stream)) ? CAPTURING : 0;
    return SUCCESS;
}

// What is known of a stream: each place may be NULL, and where nothing is captured only the first is
// filled in.
struct information {
    int *capturing;
    unsigned long long *id;
    struct graph **graph;
    struct node ***after;
    const void **edges;
    size_t *count;
};

static int inform(stream_t stream, struct information to) {
    pthread_mutex_lock(&lock);
    const struct captured *known = find(handle_of(stream));
    const struct captured *first = known ? beginning(known->graph) : NULL;
    if (to.capturing) {
        *to.capturing = first ? CAPTURING : 0;
    }
    if (first && to.id) {
        *to.id = first->id;
    }
    if (first && to.graph) {
        *to.graph = first->graph;
    }
    if (first && to.after) {
        *to.after = first->after;
    }
    if (to.edges) {
        *to.edges = NULL; // all edges are plain ones
    }
    if (first && to.count) {
        *to.count = first->after_count;
    }
    pthread_mutex_unlock(&lock);
    return to.capturing ? SUCCESS : report(INVALID_VALUE);
}

API int cudaStreamGetCaptureInfo_v3(stream_t stream, int *capturing, unsigned long long *id,
                                    struct graph **graph, struct node ***after, const void **edges,
                                    size_t *nodes) {
    return inform(stream, (struct information){capturing, id, graph, after, edges, nodes});
}

#if RUNTIME < 13
API int cudaStreamGetCaptureInfo(stream_t stream, int *capturing, unsigned long long *id) {
    return inform(stream, (struct information){.capturing = capturing, .id = id});
}
#else
API int cudaStreamGetCaptureInfo(stream_t stream, int *capturing, unsigned long long *id,
                                 struct graph **graph, struct node ***after, const void **edges,
                                 size_t *nodes) {
    return inform(stream, (struct information){capturing, id, graph, after, edges, nodes});
}
#endif

API int cudaStreamGetCaptureInfo_v2(stream_t stream, int *capturing, unsigned long long *id,
                                    struct graph **graph, struct node ***after, size_t *nodes) {
    return inform(stream, (struct information){capturing, id, graph, after, NULL, nodes});
}

static int update(stream_t stream, struct node **after, size_t n, unsigned flags) {
    pthread_mutex_lock(&lock);
    const struct captured *known = find(handle_of(stream));
    struct captured *first = known ? beginning(known->graph) : NULL;
    if (first) {
        set_after(first, after, n, flags == ADD_DEPENDENCIES);
    }
    pthread_mutex_unlock(&lock);
    return report(first ? SUCCESS : ILLEGAL_STATE);
}

API int cudaStreamUpdateCaptureDependencies_v2(stream_t stream, struct node **after,
                                               const void *edges, size_t n, unsigned flags) {
    (void)edges;
    return update(stream, after, n, flags);
}

#if RUNTIME < 13
API int cudaStreamUpdateCaptureDependencies(stream_t stream, struct node **after, size_t n,
                                            unsigned flags) {
    return update(stream, after, n, flags);
}
#else
API int cudaStreamUpdateCaptureDependencies(stream_t stream, struct node **after,
                                            const void *edges, size_t n, unsigned flags) {
    (void)edges;
    return update(stream, after, n, flags);
}
#endif

API int cudaThreadExchangeStreamCaptureMode(int *mode) {
    *mode = 0;
    return SUCCESS;
}
